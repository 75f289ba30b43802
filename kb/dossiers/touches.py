"""The commits of git trees that change a file, or what is in a folder."""

from __future__ import annotations

from msgspec import Struct

from patchlore.kb.git_reading import Places
from patchlore.kb.store import Archive


class FileTouch(Struct, kw_only=True):
    """A commit of a git tree that changes the file, and the trees that have it."""

    sha: str
    subject: str
    commit_time: int | None
    trees: list[str]


_OF_PATHS = (
    " FROM git_commit AS c WHERE c.id IN (SELECT git_commit FROM git_file WHERE path IN"
    " (SELECT value FROM json_each(?)))"
)


def count_touches(archive: Archive, paths: str) -> int:
    """Return how many commits change one of ``paths``, a JSON list of rows of ``path``."""
    return int(archive.value(f"SELECT count(*){_OF_PATHS}", (paths,)))


def touches(archive: Archive, paths: str, limit: int) -> list[FileTouch]:
    """Return the newest commits that change one of ``paths``, so many (below 0: all)."""
    places = Places(archive)
    rows = archive.execute(
        f"SELECT c.sha, c.subject, c.commit_time, c.place{_OF_PATHS}"
        " ORDER BY c.commit_time DESC, c.id DESC LIMIT ?",
        (paths, limit),
    ).fetchall()
    return [
        FileTouch(
            sha=sha,
            subject=subject,
            commit_time=time,
            trees=[place.tree for place in places.of(number)],
        )
        for sha, subject, time, number in rows
    ]

"""CVEs of rows, and what records say of each: where it came from, what ended it in which tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from patchlore.kb.backports import Row
from patchlore.kb.backports import full_sha as complete
from patchlore.kb.export.patches import full_sha
from patchlore.kb.git_reading import Places, trees_with
from patchlore.kb.store import Archive
from patchlore.kb.versions import Version, parse_version, rank

_T = TypeVar("_T")

#: So many variables fit into a statement of every SQLite.
_MANY = 500


class Pair(Struct, kw_only=True, frozen=True):
    """What a record says of a CVE: versions as written; None: not known, or not fixed."""

    introduced_version: str | None
    introduced: str | None
    fixed_version: str | None
    fixed: str | None

    @property
    def trees(self) -> tuple[str | None, str | None]:
        """The stable trees of the two versions."""
        return _tree(self.introduced_version), _tree(self.fixed_version)


def is_mainline(version: Version) -> bool:
    """Whether a version is one of mainline's (5.10, 2.6.32), no release of a stable tree."""
    return version.major < 3 or not version.patch


class Own(Struct, kw_only=True):
    """A commit and the version that has it first, as dyads name them."""

    sha: str
    version: str | None


def cves_of(archive: Archive, rows: Sequence[Row]) -> list[list[str]]:
    """Return the CVEs of each row, sorted: those that its mails, commits or a record name.

    One that a record rejects is none any more.
    """
    messages: dict[int, list[str]] = {}
    commits: dict[str, list[str]] = {}
    ids = {message for row in rows for message in _messages(row)}
    for chunk in _chunks(sorted(ids)):
        # A mail that lists CVEs of many patches says nothing of one of them.
        for message, name in archive.execute(
            "SELECT cve.message, cve.name FROM cve JOIN message AS m ON m.id = cve.message"
            f" WHERE cve.message IN ({_marks(chunk)})"
            " AND (m.is_patch OR m.notice IN ('added', 'failed', 'review'))",
            chunk,
        ):
            messages.setdefault(message, []).append(name)
    shas = {sha for row in rows for sha in _commits(row)}
    for part in _chunks(sorted(shas)):
        for sha, name in archive.execute(
            "SELECT c.sha, v.name FROM git_cve AS v JOIN git_commit AS c ON c.id = v.git_commit"
            f" WHERE c.sha IN ({_marks(part)})"
            f" UNION SELECT fixed, cve FROM vulnerability WHERE fixed IN ({_marks(part)})",
            [*part, *part],
        ):
            commits.setdefault(sha, []).append(name)
    rejected = {
        name
        for (name,) in archive.execute("SELECT DISTINCT cve FROM vulnerability WHERE is_rejected")
    }
    return [
        sorted(
            {name for message in _messages(row) for name in messages.get(message, ())}.union(
                *(commits.get(sha, ()) for sha in _commits(row))
            ).difference(rejected),
            key=_cve_key,
        )
        for row in rows
    ]


def pairs_of(archive: Archive, cve: str) -> list[Pair]:
    """Return what the newest record of a CVE says, in its order; nothing for a rejected one."""
    newest = archive.value(
        "SELECT v.message FROM vulnerability AS v JOIN message AS m ON m.id = v.message"
        " WHERE v.cve = ? ORDER BY m.timestamp DESC, m.id DESC LIMIT 1",
        (cve,),
    )
    return [
        Pair(introduced_version=row[0], introduced=row[1], fixed_version=row[2], fixed=row[3])
        for row in archive.execute(
            "SELECT introduced_version, introduced, fixed_version, fixed FROM vulnerability"
            " WHERE cve = ? AND message = ? AND NOT is_rejected ORDER BY position",
            (cve, newest),
        )
    ]


def fixes_of(archive: Archive, row: Row) -> list[tuple[str, str | None]]:
    """Return what the row's commit fixes as its mails and commits write it: commit and title."""
    found: dict[str, str | None] = {}
    for message in _messages(row):
        for sha, subject in archive.execute(
            "SELECT sha, subject FROM commit_ref WHERE message = ? AND relation = 'fixes'"
            " AND NOT quoted ORDER BY position",
            (message,),
        ):
            found[sha] = found.get(sha) or subject
    for commit in _commits(row):
        for sha, subject in archive.execute(
            "SELECT r.sha, r.subject FROM git_commit_ref AS r JOIN git_commit AS c"
            " ON c.id = r.git_commit WHERE c.sha = ? AND r.relation = 'fixes' ORDER BY r.position",
            (commit,),
        ):
            found[sha] = found.get(sha) or subject
    return list(found.items())


class Introductions:
    """Finds what brought the faults that rows fix; places of commits are read once for all."""

    def __init__(self, archive: Archive) -> None:
        """Take the archive."""
        self._archive = archive
        self._places = Places(archive)
        self._known: dict[tuple[str, str], Own] = {}

    def of(self, row: Row) -> list[Own]:
        """Return the commits that the row's commit fixes, those known in full, with versions.

        As the tags ``Fixes:`` of its patches and of the commit itself say.
        """
        shas = [sha for sha, _ in fixes_of(self._archive, row)]
        whole = dict.fromkeys(found for sha in shas if (found := _whole(self._archive, sha)))
        return [self._in_tree(sha, row.tree) for sha in whole]

    def _in_tree(self, sha: str, tree: str) -> Own:
        found = self._known.get((sha, tree))
        if found is None:
            found = self._known[sha, tree] = self._look_up(sha, tree)
        return found

    def _look_up(self, sha: str, tree: str) -> Own:
        """The commit by which a commit came into a tree: its backport there, else itself."""
        backports = self._archive.execute(
            "SELECT c.sha, c.place FROM git_commit_ref AS r JOIN git_commit AS c"
            " ON c.id = r.git_commit WHERE r.sha = ? AND r.relation = 'upstream'"
            " AND coalesce(r.kind, '') <> 'request' ORDER BY c.commit_time, c.id",
            (sha,),
        )
        for own, number in backports.fetchall():
            for place in self._places.of(number):
                if place.tree == tree and place.since:
                    return Own(sha=own, version=place.since.removeprefix("v"))
        number = self._archive.value("SELECT place FROM git_commit WHERE sha = ?", (sha,))
        versions = [
            version
            for place in self._places.of(number)
            if (version := parse_version(place.since or "")) is not None
        ]
        if not versions:
            return Own(sha=sha, version=None)
        first = min(versions)
        third = f".{first.patch}" if first.patch else ""
        return Own(sha=sha, version=f"{first.major}.{first.minor}{third}")


def own_of(archive: Archive, row: Row) -> Own | None:
    """Return the tree's own commit of a row and the release that has it; None: not known."""
    for event in reversed(row.events):
        if event.commit and event.kind in ("released", "queued"):
            return Own(sha=event.commit, version=event.release)
    return None


def upstream_version(archive: Archive, sha: str) -> str | None:
    """Return the mainline release or candidate that has a commit first, as ``6.7-rc1``."""
    for item in trees_with(archive, [sha]):
        if item.how == "itself" and item.tag and rank(item.tree) is None:
            return item.tag.removeprefix("v")
    return None


def _whole(archive: Archive, sha: str) -> str | None:
    return sha if len(sha) == 40 else complete(archive, sha)


def _messages(row: Row) -> list[int]:
    """The mails that carry the row's patch: what others fix that speak of it is their matter."""
    ids = [event.message for event in row.events if event.message and event.is_of_patch]
    return list(dict.fromkeys(ids))


def _commits(row: Row) -> list[str]:
    return [sha for sha in row.commits if sha != row.sha or full_sha(row)]


def _tree(version: str | None) -> str | None:
    found = None if version is None else parse_version(version)
    return None if found is None else found.tree


def _cve_key(name: str) -> tuple[str, int, str]:
    year, _, number = name.removeprefix("CVE-").partition("-")
    return (year, int(number) if number.isdigit() else 0, name)


def _chunks(values: Sequence[_T]) -> Iterable[Sequence[_T]]:
    for start in range(0, len(values), _MANY):
        yield values[start : start + _MANY]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))

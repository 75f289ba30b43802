"""``Cc: stable`` notes that name versions, by the commit that they are for."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct

from patchlore.kb.fix_graph import Upstream
from patchlore.kb.merge import title_hash
from patchlore.kb.store import Archive
from patchlore.kb.versions import Interval


class Note(Struct, kw_only=True):
    """A note with a range of versions, and where it stands."""

    interval: Interval
    range: str
    #: Row id and key of the mail; 0 and the commit.
    message: int
    key: str
    commit: str | None
    timestamp: int | None
    line: int | None


class NoteRanges:
    """The notes of an archive that say from which version on, or up to which one."""

    def __init__(self, archive: Archive, commits: Iterable[Upstream]) -> None:
        """Read those of commits: in their messages, and in postings of their titles."""
        self._by_commit: dict[str, list[Note]] = {}
        by_id = {commit.id: commit for commit in commits if commit.id}
        known = "n.range IS NOT NULL AND coalesce(n.low, n.high) IS NOT NULL"
        for id_, low, high, text, line in archive.execute(
            f"SELECT git_commit, low, high, range, line FROM git_stable_note AS n WHERE {known}"
        ):
            commit = by_id.get(id_)
            if commit is not None:
                note = Note(
                    interval=Interval(low, high),
                    range=text,
                    message=0,
                    key=commit.sha,
                    commit=commit.sha,
                    timestamp=commit.time,
                    line=line,
                )
                self._by_commit.setdefault(commit.sha, []).append(note)
        titles: dict[int, list[str]] = {}
        for commit in commits:
            hashed = title_hash(commit.subject)
            if commit.sha not in self._by_commit and hashed is not None:
                titles.setdefault(hashed, []).append(commit.sha)
        for hashed, low, high, text, line, message, key, time in archive.execute(
            "SELECT m.title_hash, n.low, n.high, n.range, n.line, m.id, m.key, m.timestamp"
            " FROM stable_note AS n CROSS JOIN mail AS m ON m.id = n.message"
            f" WHERE {known} AND m.is_patch AND m.title_hash IN (SELECT value FROM json_each(?))"
            " ORDER BY m.timestamp, m.id, n.position",
            (json.dumps(sorted(titles)),),
        ):
            note = Note(
                interval=Interval(low, high),
                range=text,
                message=message,
                key=key,
                commit=None,
                timestamp=time,
                line=line,
            )
            for sha in titles[hashed]:
                self._by_commit.setdefault(sha, []).append(note)

    def elsewhere(self, sha: str, tree_rank: int | None) -> Note | None:
        """Return a note that asks for other trees, when none of the commit asks for this one."""
        notes = self._by_commit.get(sha, ())
        if tree_rank is None or any(note.interval.holds(tree_rank) for note in notes):
            return None
        return next(iter(notes), None)

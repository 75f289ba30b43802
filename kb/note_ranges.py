"""``Cc: stable`` notes that name versions, by the commit that they are for."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct

from patchlore.kb.fix_graph import Upstream
from patchlore.kb.merge import title_hash
from patchlore.kb.store import Archive
from patchlore.kb.versions import Interval, left_out


class Note(Struct, kw_only=True):
    """A note with a range of versions, and where it stands."""

    interval: Interval
    range: str | None
    comment: str | None
    #: Row id and key of the mail; 0 and the commit.
    message: int
    key: str
    commit: str | None
    timestamp: int | None
    line: int | None

    @property
    def is_bounded(self) -> bool:
        """Whether it names a version."""
        return self.interval.low is not None or self.interval.high is not None

    @property
    def words(self) -> str:
        """The note as it is told."""
        return f"Cc: stable # {self.range or self.comment}"


class NoteRanges:
    """The notes of an archive that speak of versions: for which trees, and for which not."""

    def __init__(self, archive: Archive, commits: Iterable[Upstream]) -> None:
        """Read those of commits: in their messages, and in postings of their titles."""
        self._by_commit: dict[str, list[Note]] = {}
        by_id = {commit.id: commit for commit in commits if commit.id}
        known = "(coalesce(n.low, n.high) IS NOT NULL OR n.comment IS NOT NULL)"
        for id_, low, high, text, comment, line in archive.execute(
            "SELECT git_commit, low, high, range, comment, line FROM git_stable_note AS n"
            f" WHERE {known}"
        ):
            commit = by_id.get(id_)
            if commit is not None:
                note = Note(
                    interval=Interval(low, high),
                    range=text,
                    comment=comment,
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
        for hashed, low, high, text, comment, line, message, key, time in archive.execute(
            "SELECT m.title_hash, n.low, n.high, n.range, n.comment, n.line, m.id,"
            " m.key, m.timestamp FROM stable_note AS n CROSS JOIN mail AS m ON m.id = n.message"
            f" WHERE {known} AND m.is_patch AND m.title_hash IN (SELECT value FROM json_each(?))"
            " ORDER BY m.timestamp, m.id, n.position",
            (json.dumps(sorted(titles)),),
        ):
            note = Note(
                interval=Interval(low, high),
                range=text,
                comment=comment,
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
        notes = [note for note in self._by_commit.get(sha, ()) if note.range and note.is_bounded]
        if tree_rank is None or any(note.interval.holds(tree_rank) for note in notes):
            return None
        return next(iter(notes), None)

    def refused(self, sha: str, tree_rank: int | None) -> Note | None:
        """Return a note that says that the commit is not for this tree ("5.10+ but not 6.1")."""
        for note in self._by_commit.get(sha, ()):
            if _holds(left_out(note.range, note.comment).refused, tree_rank):
                return note
        return None

    def doubted(self, sha: str, tree_rank: int | None) -> Note | None:
        """Return a note that says something of this tree that is not understood."""
        for note in self._by_commit.get(sha, ()):
            if _holds(left_out(note.range, note.comment).doubted, tree_rank):
                return note
        return None


def _holds(intervals: Iterable[Interval], tree_rank: int | None) -> bool:
    return tree_rank is not None and any(interval.holds(tree_rank) for interval in intervals)

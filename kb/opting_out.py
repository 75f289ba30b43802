"""``Cc: stable+noautosel``: patches whose authors ask not to pick them automatically.

https://docs.kernel.org/process/stable-kernel-rules.html, option 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchlore.ingest.commit_message import read_commit
from patchlore.kb.backport_row import Row
from patchlore.kb.edges_reading import commit_of
from patchlore.kb.fix_graph import Upstream
from patchlore.kb.store import Archive

_SIGN = b"stable+noautosel"


class OptOut(Struct, kw_only=True):
    """What a mail or commit says with stable+noautosel, and the line."""

    why: str
    #: Row id and key of the mail; 0 and the commit.
    message: int
    key: str
    commit: str | None
    timestamp: int | None
    line: int | None
    text: str
    subject: str | None = None


class OptOuts:
    """The opt-outs of an archive: of mails by their row id and by the commit they became."""

    def __init__(self, archive: Archive) -> None:
        """Read those of mails: few."""
        self._archive = archive
        rows = archive.execute(
            "SELECT id, key, timestamp, no_autosel, primary_upstream,"
            " coalesce(commit_subject, clean_subject) FROM mail"
            " WHERE no_autosel IS NOT NULL AND is_patch AND NOT is_reply ORDER BY timestamp, id"
        ).fetchall()
        #: Mail by row id, with the commit that it became where that is known.
        self.mails: dict[int, tuple[OptOut, str | None]] = {}
        self._by_commit: dict[str, OptOut] = {}
        for id_, key, timestamp, why, upstream, subject in rows:
            sha = upstream or commit_of(archive, id_)
            line, text = _line_of(archive, id_, why)
            made = OptOut(
                why=why,
                message=id_,
                key=key,
                commit=None,
                timestamp=timestamp,
                line=line,
                text=text,
                subject=subject,
            )
            self.mails[id_] = (made, sha)
            if sha is not None:
                self._by_commit[sha] = made

    def told(self, row: Row) -> OptOut | None:
        """Return the opt-out that a mail of a row, or of its commit, has."""
        for event in row.events:
            if event.message in self.mails:
                return self.mails[event.message][0]
        return self._by_commit.get(row.sha or "")

    def of(self, row: Row, commit: Upstream | None) -> OptOut | None:
        """Return the opt-out of a row: of one of its mails or of its commit."""
        told = self.told(row)
        if told is not None or commit is None:
            return told
        return next((out for _, out in self.of_commits([commit])), None)

    def of_commits(self, commits: Sequence[Upstream]) -> Iterator[tuple[str, OptOut]]:
        """Yield (commit, opt-out) for those of commits that opt out."""
        ids = {commit.id: commit for commit in commits if commit.id}
        for commit in commits:
            if commit.sha in self._by_commit:
                yield commit.sha, self._by_commit[commit.sha]
                ids.pop(commit.id, None)
        for id_, data in self._data_of(ids):
            if _SIGN in data:
                yield from _of_object(ids[id_], data)

    def _data_of(self, ids: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        decompress = self._archive.codec.decompress
        for id_, data in self._archive.execute(
            "SELECT c.id, c.data FROM json_each(?) AS j JOIN git_commit AS c ON c.id = j.value"
            " WHERE c.data IS NOT NULL",
            (json.dumps(sorted(ids)),),
        ):
            yield id_, decompress(data)


def _of_object(commit: Upstream, data: bytes) -> Iterator[tuple[str, OptOut]]:
    message = read_commit(data).message
    if message.no_autosel is None:  # named in prose
        return
    found = next((item for item in message.evidence if item.fact == "no_autosel"), None)
    yield (
        commit.sha,
        OptOut(
            why=message.no_autosel,
            message=0,
            key=commit.sha,
            commit=commit.sha,
            timestamp=commit.time,
            line=found.line if found else None,
            text=found.text if found else message.no_autosel,
        ),
    )


def _line_of(archive: Archive, message: int, why: str) -> tuple[int | None, str]:
    for item in archive.message(message).evidence:
        if item.fact == "no_autosel":
            return item.line, item.text
    return None, f"Cc: stable+noautosel # {why}" if why else "Cc: stable+noautosel"

"""Filters of a backport list: by path, author, CVE, bug, how it came, how sure it is."""

from __future__ import annotations

import fnmatch

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.backports import Row
from patchlore.kb.reading import Bug
from patchlore.kb.store import Archive


class Filters(Struct, kw_only=True):
    """What rows must meet; None or False asks for nothing."""

    #: A shell pattern for a path that one of the row's patches touches (``drivers/net/*``).
    path: str | None = None
    #: Part of the name or address of the patch's author.
    author: str | None = None
    cve: str | None = None
    bug: Bug | None = None
    #: Only what AUTOSEL picked.
    autosel: bool = False
    #: The weakest evidence that is taken.
    evidence: Confidence | None = None

    def keep(self, archive: Archive, row: Row) -> bool:
        """Whether a row meets all filters: any of its mails may meet each."""
        messages = list(dict.fromkeys(event.message for event in row.events))
        commits = [event for event in row.events if event.commit]
        if self.autosel and not any(event.kind == "autosel" for event in row.events):
            return False
        if self.evidence is not None and CONFIDENCES.index(
            row.event.confidence
        ) > CONFIDENCES.index(self.evidence):
            return False
        return (
            (self.path is None or any(self._touches(archive, id_) for id_ in messages))
            and (
                self.author is None
                or any(self._is_by(archive, id_) for id_ in messages)
                or any(self.author.casefold() in (e.author or "").casefold() for e in commits)
            )
            and (
                self.cve is None
                or any(self._names_cve(archive, id_) for id_ in messages)
                or any(self._commit_names_cve(archive, event.commit) for event in commits)
            )
            and (self.bug is None or any(self._names_bug(archive, id_) for id_ in messages))
        )

    def _touches(self, archive: Archive, message: int) -> bool:
        rows = archive.execute(
            "SELECT path.text FROM file JOIN path ON path.id IN (file.path, file.old_path)"
            " WHERE file.message = ? AND file.kind <> 'quoted'",
            (message,),
        )
        return any(fnmatch.fnmatchcase(path, self.path or "*") for (path,) in rows)

    def _is_by(self, archive: Archive, message: int) -> bool:
        row = archive.execute(
            "SELECT author_name, author_email, author_masked FROM mail WHERE id = ?", (message,)
        ).fetchone()
        wanted = (self.author or "").casefold()
        return row is not None and any(wanted in (text or "").casefold() for text in row)

    def _names_cve(self, archive: Archive, message: int) -> bool:
        return bool(
            archive.value(
                "SELECT 1 FROM cve WHERE name = ? AND message = ?",
                ((self.cve or "").upper(), message),
            )
        )

    def _commit_names_cve(self, archive: Archive, sha: str | None) -> bool:
        return bool(
            archive.value(
                "SELECT 1 FROM git_cve JOIN git_commit ON git_commit.id = git_commit"
                " WHERE git_cve.name = ? AND sha = ?",
                ((self.cve or "").upper(), sha),
            )
        )

    def _names_bug(self, archive: Archive, message: int) -> bool:
        bug = self.bug
        return bug is not None and bool(
            archive.value(
                "SELECT 1 FROM bug_ref WHERE message = ? AND tracker = ? AND number = ?"
                " AND (? IS NULL OR component IS NULL OR component = ?) AND strength <= 2",
                (message, bug.tracker, bug.number, bug.component, bug.component),
            )
        )

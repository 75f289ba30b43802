"""The events that decide where nothing has happened yet: what a line means for a tree, in words."""

from __future__ import annotations

from msgspec.structs import replace

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.backport_row import Row
from patchlore.kb.contents import CERTAIN, MEDIUM, Presence
from patchlore.kb.events import BY_DEPENDENT, Event
from patchlore.kb.fix_graph import Ref, Target, Upstream
from patchlore.kb.note_ranges import Note
from patchlore.kb.opting_out import OptOut
from patchlore.kb.standing import TAKES_BACK

#: Rules by which a commit is needed, and by which it is not.
BY_BACKPORT = "fixes a backport of the tree"
BY_BASE = "fixes a commit of the tree"
BY_NEEDED = "fixes a commit that is needed"
BY_REVERT = "reverts a commit of the tree"
BY_CVE = "CVE record"
BY_NOTE = "Cc: stable note"
BY_AGAIN = "applies a commit again"
NOT_THERE = "what it fixes is not in the tree"
ALREADY_THERE = "what it applies again is in the tree"
UNDONE = "reverted upstream"
ASKED_ELSEWHERE = "Cc: stable note for other trees"
OPT_OUT = "stable+noautosel"

#: What is said of a commit that is needed, where something else builds on that.
NEEDED_ITSELF = "needed itself"

_MAIL_ONLY = ", as far as mail tells"


class Verdicts:
    """Makes such events for one tree."""

    def __init__(self, tree: str, *, is_complete: bool) -> None:
        """Take the tree (its one name) and whether all that it has is known."""
        self._tree = tree
        self._is_complete = is_complete

    def affected(
        self,
        sha: str | None,
        subject: str | None,
        ref: Ref,
        found: Presence,
        time: int | None = None,
    ) -> Event:
        """Return the event that says that the tree has, or is to have, what a commit repairs."""
        named = found.sha[:12]
        if ref.relation == "introduced":
            rule, verb = BY_CVE, f"{ref.cve}: repairs {named}"
        elif found.words.startswith(NEEDED_ITSELF) and ref.relation == "fixes":
            rule, verb = BY_NEEDED, f"fixes {named}"
        elif ref.relation == "fixes":
            rule, verb = (BY_BACKPORT if found.is_backport else BY_BASE), f"fixes {named}"
        else:
            rule, verb = BY_REVERT, f"reverts {named}"
        return self._event(
            "affected",
            sha,
            subject,
            ref,
            rule=rule,
            reason=f"{verb}, {found.words}{self._proviso()}",
            confidence=max(ref.confidence, found.confidence, self._doubt()),
            time=time,
        )

    def asked(self, row: Row, asked: Event) -> Event:
        """Return the event that says that a merged commit is wanted by its note or a request."""
        how = f"Cc: stable # {asked.range}" if asked.rule == "cc-stable" else "asked for"
        doubt = max(CONFIDENCES.index(asked.confidence), self._doubt())
        return Event(
            kind="affected",
            tree=self._tree,
            sha=row.sha,
            subject=row.subject,
            timestamp=asked.timestamp,
            message=asked.message,
            key=asked.key,
            commit=asked.commit,
            by=asked.by,
            range=asked.range,
            line=asked.line,
            text=asked.text,
            rule=BY_NOTE,
            reason=f"merged upstream, wanted here ({how}){self._proviso()}",
            confidence=CONFIDENCES[doubt],
        )

    def again(self, commit: Upstream, origin: Upstream, wanted: Event) -> Event:
        """Return the event that says that a commit is wanted as one that it applies again was."""
        reason = f"applies {origin.sha[:12]} again: that {wanted.words()}"
        return replace(
            wanted,
            sha=commit.sha,
            subject=commit.subject,
            rule=BY_AGAIN,
            reason=reason,
            author=None,
        )

    def undone(self, row: Row, ref: Ref, reason: str) -> Event:
        """Return the event that says that a commit was taken back upstream, as a line tells."""
        return self._event(
            "reverted",
            row.sha,
            row.subject,
            ref,
            rule=UNDONE,
            reason=reason,
            confidence=ref.confidence,
        )

    def applied_already(self, row: Row, origin: Target, found: Presence) -> Event:
        """Return the event that says that the tree has what a commit applies again."""
        event = replace(row.event, kind="not-affected", rule=ALREADY_THERE)
        event.reason = f"applies {origin.sha[:12]} again, {found.words} and not reverted here"
        event.confidence = CONFIDENCES[found.confidence]
        return event

    def not_affected(self, row: Row, ref: Ref, doubt: int, asked: Event | None = None) -> Event:
        """Return the event that says that the tree lacks what a commit fixes or reverts.

        ``asked`` is the nomination that asks for the commit all the same.
        """
        proviso = _MAIL_ONLY if doubt >= MEDIUM else ""
        verb = "reverts" if ref.relation in TAKES_BACK else "fixes"
        if asked is not None:
            proviso += f"; asked for all the same (Cc: stable # {asked.range})"
        return self._event(
            "not-affected",
            row.sha,
            row.subject,
            ref,
            rule=NOT_THERE,
            reason=f"{verb} {ref.target.sha[:12]}, which the tree does not have{proviso}",
            confidence=doubt,
        )

    def asked_elsewhere(self, row: Row, note: Note) -> Event:
        """Return the event that says that a commit is wanted in other trees alone."""
        return self._by_note(
            "not-affected", row, note, f"wanted in other trees ({note.words}); but it {row.reason}"
        )

    def refused(self, row: Row, note: Note) -> Event:
        """Return the event that says that a commit's own note leaves this tree out."""
        return self._by_note(
            "not-affected", row, note, f"not for this tree ({note.words}); but it {row.reason}"
        )

    def doubted(self, row: Row, note: Note) -> Event:
        """Return the event that says that nobody can tell whether a note leaves this tree out."""
        reason = f"its note says something of this tree ({note.words}); but it {row.reason}"
        return self._by_note("nominated", row, note, reason)

    def _by_note(self, kind: str, row: Row, note: Note, reason: str) -> Event:
        return Event(
            kind=kind,
            tree=self._tree,
            sha=row.sha,
            subject=row.subject,
            timestamp=note.timestamp,
            message=note.message,
            key=note.key,
            commit=note.commit,
            range=note.range,
            line=note.line,
            text=note.words,
            rule=ASKED_ELSEWHERE if kind == "not-affected" else BY_NOTE,
            reason=reason,
            confidence="high",
        )

    def opted_out(self, sha: str | None, subject: str | None, said: OptOut) -> Event:
        """Return the event that says that the author of a commit opts out."""
        return Event(
            kind="opted-out",
            tree=self._tree,
            sha=sha,
            subject=subject,
            timestamp=said.timestamp,
            message=said.message,
            key=said.key,
            commit=said.commit,
            line=said.line,
            text=said.text,
            rule=OPT_OUT,
            reason="not for automatic selection" + (f": {said.why}" if said.why else ""),
        )

    def prerequisite(
        self, commit: Upstream, dependent: str, ref: Ref, *, is_lacking: bool = True
    ) -> Row:
        """Return a row for a commit that another one builds on, as a line says.

        Its state is unknown where the tree may have had it from the start.
        """
        how = "Stable-dep-of" if ref.relation == "stable-dep-of" else "Cc: stable note"
        proviso = self._proviso() if is_lacking else "; the tree may have it from the start"
        event = self._event(
            "affected",
            commit.sha,
            commit.subject,
            ref,
            rule=BY_DEPENDENT,
            reason=f"{dependent[:12]} builds on it ({how}){proviso}",
            confidence=max(ref.confidence, self._doubt()),
        )
        row = self.row(commit, event)
        row.state = "needed" if is_lacking else "unknown"
        return row

    def row(self, commit: Upstream, event: Event) -> Row:
        """Return a row of a commit of which nobody has told yet."""
        return Row(
            tree=self._tree,
            state="needed",
            sha=commit.sha,
            subject=commit.subject,
            reason=event.words(),
            event=event,
            events=[event],
        )

    def _event(
        self,
        kind: str,
        sha: str | None,
        subject: str | None,
        ref: Ref,
        *,
        rule: str,
        reason: str,
        confidence: int,
        time: int | None = None,
    ) -> Event:
        return Event(
            kind=kind,
            tree=self._tree,
            sha=sha,
            subject=subject,
            timestamp=ref.timestamp if time is None else time,
            message=ref.message,
            key=ref.key,
            commit=ref.commit,
            line=ref.line,
            text=ref.text,
            rule=rule,
            reason=reason,
            confidence=CONFIDENCES[confidence],
        )

    def _doubt(self) -> int:
        return CERTAIN if self._is_complete else MEDIUM

    def _proviso(self) -> str:
        return "" if self._is_complete else _MAIL_ONLY

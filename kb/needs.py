"""What a tree needs: which commits upstream repair something that it has, and which do not.

The rules, each of which names itself in the event that decides (docs/backports.md):
a commit is needed where what it fixes or reverts is in the tree, where its
``Cc: stable`` note covers the tree, where a CVE record says so, or where another
commit that is needed builds on it.  What a tree has comes from patchlore.kb.contents;
where that is not known the state is unknown, never needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.backport_row import Row
from patchlore.kb.contents import CERTAIN, MEDIUM, Contents, Presence
from patchlore.kb.events import Event
from patchlore.kb.fix_graph import Graph, Ref, Target, Upstream
from patchlore.kb.merge import title_hash
from patchlore.kb.opting_out import OptOut, OptOuts
from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_for
from patchlore.kb.versions import rank

#: Rules by which a commit is needed, and by which it is not.
BY_BACKPORT = "fixes a backport of the tree"
BY_BASE = "fixes a commit of the tree"
BY_NEEDED = "fixes a commit that is needed"
BY_REVERT = "reverts a commit of the tree"
BY_CVE = "CVE record"
BY_NOTE = "Cc: stable note"
BY_DEPENDENT = "prerequisite"
NOT_THERE = "what it fixes is not in the tree"
ASKED_ELSEWHERE = "Cc: stable note for other trees"
OPT_OUT = "stable+noautosel"

#: Relations of a commit to what it repairs.
_REPAIRS = ("fixes", "introduced")

#: States that events leave open: nobody has done anything yet.
_OPEN = ("nominated", "unknown")

#: What is said of a commit that is needed, where something else builds on that.
_NEEDED_ITSELF = "needed itself"

#: States of commits that may come into the tree: what repairs them is noted.
_MAY_COME = ("in-flight", "nominated", "failed")

_MAIL_ONLY = ", as far as mail tells"


class Needs:
    """Judges commits for one tree."""

    def __init__(
        self, archive: Archive, tree: str, graph: Graph, contents: Contents, rows: Sequence[Row]
    ) -> None:
        """Take what was read of the archive and the rows that events make."""
        self._archive = archive
        self._tree = tree
        self._rank = rank(tree)
        self._trees = trees_for(archive)
        self.graph = graph
        self.contents = contents
        open_rows = [row for row in rows if row.state in _OPEN]
        self._refs = graph.refs_of_mails(
            {event.message for row in open_rows for event in row.events if event.message}
        )
        self.opt_outs = OptOuts(archive)
        #: The lines by which rows are in need: commit upstream to (line, what the tree has).
        self.grounds: dict[str, tuple[Ref, Presence]] = {}
        graph.resolve(row.sha for row in rows if row.sha)

    # -- rows that events made --------------------------------------------------------

    def judge(self, row: Row) -> None:
        """Set the state of a row whose events leave it open, and note what it repairs."""
        commit = None if row.sha is None else self.graph.commits.get(row.sha)
        refs = [ref for ref in (commit.refs if commit else ()) if ref.relation in _REPAIRS]
        refs = refs or [
            ref
            for message in dict.fromkeys(event.message for event in row.events)
            for ref in self._refs.get(message, ())
        ]
        ground = self._ground(refs)
        if ground is not None and row.sha is not None:
            self.grounds[row.sha] = ground
        if row.state not in _OPEN or self._settle_present(row):
            return
        asked = next((e for e in row.events if e.kind == "nominated" and not e.names_no_tree), None)
        gone = None if commit is None else self.reverted_by(commit)
        is_merged = commit is not None and gone is None
        if gone is not None:
            row.notes.append(f"reverted upstream by {gone.sha[:12]}")
        opt_out = None if asked is not None else self.opt_outs.of(row, commit)
        if ground is not None and (commit is None or self._is_after_base(commit, ground, row)):
            if opt_out is not None:
                self._set(row, self._opted_out(row.sha, row.subject, opt_out))
            elif is_merged:
                self._set(row, self._affected(row.sha, row.subject, *ground))
            elif commit is None and row.state == "unknown":
                # It says for no tree, but this one has what it fixes.
                event = self._affected(row.sha, row.subject, *ground)
                event.reason = f"{event.reason}; not known to be merged"
                self._set(row, event)
                row.state = "nominated"
        elif asked is not None:
            if is_merged:
                self._set(row, self._asked(row, asked))
        elif (absent := self._absent(refs)) is not None:
            self._set(row, self._not_affected(row, *absent))
        elif opt_out is not None:
            self._set(row, self._opted_out(row.sha, row.subject, opt_out))

    def _settle_present(self, row: Row) -> bool:
        """Whether the tree has the commit, as its version or a CVE record tells."""
        if row.sha is None:
            return False
        target = self.graph.targets.get(row.sha) or Target(row.sha)
        found = self.contents.find(target)
        if found is None:
            return False
        record = self.contents.record_of(target.sha)
        event = Event(
            kind="released",
            tree=self._tree,
            sha=row.sha,
            subject=row.subject,
            timestamp=record.timestamp if record else target.time or row.events[0].timestamp,
            message=record.message if record else 0,
            key=record.key if record else target.sha,
            commit=None if record else target.sha,
            release=record.fixed_version if record else None,
            line=record.line if record else None,
            text=record.text if record else target.subject,
            rule=BY_CVE if record else "commit in the tree",
            reason=found.words,
        )
        row.events.append(event)
        row.state, row.event, row.reason = "released", event, event.words()
        return True

    def _set(self, row: Row, event: Event) -> None:
        row.state = {"affected": "needed"}.get(event.kind, event.kind)
        event.author = row.author
        row.event, row.reason = event, event.words()

    # -- rows of their own -------------------------------------------------------------

    def missing(self, known: Mapping[str, Row]) -> list[Row]:
        """Return rows of commits that repair what the tree has, and of their own repairs.

        ``known`` are the rows that there are, by commit.
        """
        found: dict[str, Row] = {}
        todo: list[Upstream] = []
        for commit in self.graph.commits.values():
            if commit.sha not in known:
                self._add(commit, self._reason(commit), found, todo)
        # Repairs of what is needed are needed with it, and those of them.
        for row in known.values():
            needed = self.graph.commits.get(row.sha or "")
            if needed is not None and row.state == "needed":
                todo.append(needed)
        done = set()
        while todo:
            commit = todo.pop()
            if commit.sha in done:
                continue
            done.add(commit.sha)
            for other, ref in self.graph.named_by.get(commit.sha, ()):
                if ref.relation in _REPAIRS and other.sha not in known:
                    where = Presence(commit.sha, _NEEDED_ITSELF, True, CERTAIN)
                    self._add(other, (ref, where), found, todo)
        for row in known.values():
            if row.state in _MAY_COME:
                self._note_repairs(row)
        self._drop_misnamed(found)
        for sha, out in self.opt_outs.of_commits([self.graph.commits[sha] for sha in found]):
            self._set(found[sha], self._opted_out(sha, found[sha].subject, out))
        return list(found.values())

    def _note_repairs(self, row: Row) -> None:
        """Note what repairs a commit that may come into the tree, so that both come."""
        told = set()
        for other, ref in self.graph.named_by.get(row.sha or "", ()):
            if ref.relation not in _REPAIRS or other.sha in told or self.reverted_by(other):
                continue
            told.add(other.sha)
            target = Target(other.sha, other.place, other.id or None)
            if self.contents.find(target) is None:
                title = f' ("{other.subject}")' if other.subject else ""
                row.notes.append(f"fixed upstream by {other.sha[:12]}{title}: take both")

    def _drop_misnamed(self, found: dict[str, Row]) -> None:
        """Drop commits that only a marker names, and that the mainline has under other digits.

        A slip of the pen in one tree's backport is nothing that another tree lacks.
        """
        hashes: dict[int, list[str]] = {}
        for sha, row in found.items():
            hashed = title_hash(row.subject)
            if not self.graph.commits[sha].id and hashed is not None:
                hashes.setdefault(hashed, []).append(sha)
        for hashed, place in self._archive.execute(
            "SELECT c.title_hash, c.place FROM json_each(?) AS j CROSS JOIN git_commit AS c"
            " ON c.title_hash = j.value",
            (json.dumps(sorted(hashes)),),
        ).fetchall():
            if self.contents.is_upstream(place):
                for sha in hashes.pop(hashed, ()):
                    found.pop(sha)

    def opted_out(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows of patches that opt out and that no row has: those not known to be useless.

        Only of patches that came after the tree's first release, while it was kept.
        """
        known = {row.sha for row in rows if row.sha}
        known_mails = {event.message for row in rows for event in row.events}
        self._refs.update(self.graph.refs_of_mails(set(self.opt_outs.mails) - set(self._refs)))
        self.graph.resolve(sha for _, sha in self.opt_outs.mails.values() if sha)
        found = []
        for message, (out, sha) in self.opt_outs.mails.items():
            if message in known_mails or sha in known or self._rank is None:
                continue
            refs = self._refs.get(message, [])
            if self._absent(refs) is not None or not self._trees.can_want(
                self._tree, out.timestamp
            ):
                continue
            if sha is not None and self.contents.find(self.graph.targets[sha]) is not None:
                continue
            event = self._opted_out(sha, out.subject, out)
            found.append(
                Row(
                    tree=self._tree,
                    state="opted-out",
                    sha=sha,
                    subject=out.subject,
                    reason=event.words(),
                    event=event,
                    events=[event],
                )
            )
            if sha is not None:
                known.add(sha)
        return found

    def _reason(self, commit: Upstream) -> tuple[Ref, Presence] | None:
        """Why a tree that may lack a commit needs it: the line, and what the tree has."""
        if not commit.refs:
            return None
        ground = self._ground([ref for ref in commit.refs if ref.relation in _REPAIRS])
        if ground is not None:
            return ground
        partial = {ref.target.sha for ref in commit.refs if ref.relation == "partial-revert"}
        return self._ground(
            [
                ref
                for ref in commit.refs
                if ref.relation in ("reverts", "reverted-upstream")
                and ref.target.sha not in partial
            ]
        )

    def _add(
        self,
        commit: Upstream,
        ground: tuple[Ref, Presence] | None,
        found: dict[str, Row],
        todo: list[Upstream],
    ) -> None:
        if ground is None or commit.sha in found or self.reverted_by(commit) is not None:
            return
        target = Target(commit.sha, commit.place, commit.id or None)
        if self.contents.find(target) is not None or not self._is_after_base(commit, ground, None):
            return
        row = self._row(commit, self._affected(commit.sha, commit.subject, *ground, commit.time))
        found[commit.sha] = row
        self.grounds[commit.sha] = ground
        todo.append(commit)

    def prerequisite(self, commit: Upstream, dependent: str, ref: Ref) -> Row:
        """Return a row for a commit that another one builds on, as a line of that says."""
        event = self._event(
            "affected",
            commit.sha,
            commit.subject,
            ref,
            rule=BY_DEPENDENT,
            reason=f"{dependent[:12]} builds on it (Cc: stable note){self._proviso()}",
            confidence=max(ref.confidence, self._doubt()),
        )
        return self._row(commit, event)

    def _row(self, commit: Upstream, event: Event) -> Row:
        return Row(
            tree=self._tree,
            state="needed",
            sha=commit.sha,
            subject=commit.subject,
            reason=event.words(),
            event=event,
            events=[event],
        )

    # -- rules ---------------------------------------------------------------------------

    def _ground(self, refs: Iterable[Ref]) -> tuple[Ref, Presence] | None:
        """The first line that names something that the tree has; a backport goes first."""
        best: tuple[Ref, Presence] | None = None
        for ref in refs:
            found = self.contents.find_named(ref)
            if found is not None and (best is None or (found.is_backport > best[1].is_backport)):
                best = (ref, found)
        return best

    def _absent(self, refs: Sequence[Ref]) -> tuple[Ref, int] | None:
        """The first of lines all of which name what the tree lacks, and how sure that is."""
        doubts = [self.contents.lacks(ref) for ref in refs]
        known = [doubt for doubt in doubts if doubt is not None]
        if not refs or len(known) < len(doubts):
            return None
        return refs[0], max(max(known), *(ref.confidence for ref in refs))

    def _is_after_base(
        self, commit: Upstream, ground: tuple[Ref, Presence], row: Row | None
    ) -> bool:
        """Whether a commit came after the version that the tree is made from.

        A tree whose repository was read is asked itself.  Else: its own version is
        newer, it repairs a backport, or it was nominated after the tree's first release.
        """
        if self.contents.is_complete or ground[1].is_backport:
            return True
        first = self.contents.first_version(commit)
        if first is not None and self._rank is not None:
            return first > self._rank
        nominated = [e.timestamp for e in row.events if e.kind == "nominated"] if row else []
        begin = self._trees.first_releases.get(self._tree)
        return begin is not None and any(time is not None and time >= begin for time in nominated)

    def reverted_by(self, commit: Upstream) -> Upstream | None:
        """Return the commit upstream that took a commit back, unless that was taken back, too."""
        return self._reverted_by(commit, set())

    def _reverted_by(self, commit: Upstream, seen: set[str]) -> Upstream | None:
        if commit.sha in seen:  # two commits that claim to revert each other
            return None
        seen.add(commit.sha)
        for other, ref in self.graph.named_by.get(commit.sha, ()):
            if ref.relation not in ("reverts", "reverted-upstream") or not other.id:
                continue
            partial = any(
                item.relation == "partial-revert" and item.target.sha == commit.sha
                for item in other.refs
            )
            if not partial and self._reverted_by(other, seen) is None:
                return other
        return None

    def _affected(
        self,
        sha: str | None,
        subject: str | None,
        ref: Ref,
        found: Presence,
        time: int | None = None,
    ) -> Event:
        named = found.sha[:12]
        if ref.relation == "introduced":
            rule, verb = BY_CVE, f"{ref.cve}: repairs {named}"
        elif found.words == _NEEDED_ITSELF and ref.relation == "fixes":
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

    def _asked(self, row: Row, asked: Event) -> Event:
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

    def _not_affected(self, row: Row, ref: Ref, doubt: int) -> Event:
        proviso = _MAIL_ONLY if doubt >= MEDIUM else ""
        return self._event(
            "not-affected",
            row.sha,
            row.subject,
            ref,
            rule=NOT_THERE,
            reason=f"fixes {ref.target.sha[:12]}, which the tree does not have{proviso}",
            confidence=doubt,
        )

    def _opted_out(self, sha: str | None, subject: str | None, said: OptOut) -> Event:
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
        return CERTAIN if self.contents.is_complete else MEDIUM

    def _proviso(self) -> str:
        return "" if self.contents.is_complete else _MAIL_ONLY

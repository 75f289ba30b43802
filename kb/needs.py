"""What a tree needs: which commits upstream repair something that it has, and which do not.

The rules, each of which names itself in the event that decides (docs/backports.md):
a commit is needed where what it fixes or reverts is in the tree, where its
``Cc: stable`` note covers the tree, where a CVE record says so, or where another
commit that is needed builds on it.  What a tree has comes from patchlore.kb.contents;
where that is not known the state is unknown, never needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from patchlore.kb.backport_row import Row
from patchlore.kb.contents import CERTAIN, Contents, Presence
from patchlore.kb.events import Event
from patchlore.kb.fix_graph import Graph, Ref, Target, Upstream
from patchlore.kb.note_ranges import NoteRanges
from patchlore.kb.opting_out import OptOuts
from patchlore.kb.standing import Standing
from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_for
from patchlore.kb.verdicts import BY_CVE, Verdicts
from patchlore.kb.versions import rank

#: Relations of a commit to what it repairs.
REPAIRS = ("fixes", "introduced")

#: States that events leave open: nobody has done anything yet.
_OPEN = ("nominated", "unknown")


class Spared(NamedTuple):
    """What a row was before it was not affected, who asks for it, and what it fixes."""

    state: str
    event: Event
    reason: str
    asked: Event | None
    refs: Sequence[Ref]


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
        self.verdicts = Verdicts(tree, is_complete=contents.is_complete)
        open_rows = [row for row in rows if row.state in _OPEN]
        self._refs = graph.refs_of_mails(
            {event.message for row in open_rows for event in row.events if event.message}
        )
        self.opt_outs = OptOuts(archive)
        self.standing = Standing(graph)
        #: The lines by which rows are in need: commit upstream to (line, what the tree has).
        self.grounds: dict[str, tuple[Ref, Presence]] = {}
        #: Rows of commits that the tree lacks what they fix of, by commit.
        self.spared: dict[str | None, Spared] = {}
        #: Commits that apply again what rows ask for: their sha to the event that says so.
        self.again: dict[str, Event] = {}
        graph.resolve(row.sha for row in rows if row.sha)

    # -- rows that events made --------------------------------------------------------

    def judge(self, row: Row) -> None:
        """Set the state of a row whose events leave it open, and note what it repairs."""
        commit = None if row.sha is None else self.graph.commits.get(row.sha)
        refs = [] if commit is None else self.wants(commit)
        refs = refs or [
            ref
            for message in dict.fromkeys(event.message for event in row.events)
            for ref in self._refs.get(message, ())
            if row.sha not in (ref.target.sha, *ref.target.upstream)
        ]
        stands = None if commit is None else self.standing.now(commit)
        ground = self.ground(refs) if commit is None else self.reason(commit, refs)
        if ground is not None and row.sha is not None and stands is commit:
            self.grounds[row.sha] = ground
        if row.state not in _OPEN:
            if commit is not None and stands is None and row.state in ("in-flight", "failed"):
                row.notes.append(self._words_of_revert(commit))
            return
        if self._settle_present(row):
            return
        asked = next((e for e in row.events if e.kind == "nominated" and not e.names_no_tree), None)
        if commit is not None and stands is not commit:
            self._settle_undone(row, commit, stands, ground, asked)
            return
        if commit is not None and (there := self.applied_already(commit)) is not None:
            self.settle(row, self.verdicts.applied_already(row, *there))
            return
        absent = None if ground is not None else self.absent(refs)
        by_note = asked is not None and asked.rule == "cc-stable"
        opt_out = None if asked is not None else self.opt_outs.of(row, commit)
        if ground is not None and (commit is None or self.is_after_base(commit, ground, row)):
            if opt_out is not None:
                self.settle(row, self.verdicts.opted_out(row.sha, row.subject, opt_out))
            elif commit is not None:
                self.settle(row, self.affected(commit, ground))
            elif row.state == "unknown":
                # It says for no tree, but this one has what it fixes.
                event = self.verdicts.affected(row.sha, row.subject, *ground)
                event.reason = f"{event.reason}; not known to be merged"
                self.settle(row, event)
                row.state = "nominated"
        elif absent is not None and (asked is None or (by_note and absent[1] == CERTAIN)):
            before = Spared(row.state, row.event, row.reason, asked, refs)
            self.settle(row, self.verdicts.not_affected(row, *absent, asked))
            self.spared[row.sha] = before
        elif asked is not None:
            if absent is not None:
                row.notes.append(self.verdicts.not_affected(row, *absent).words())
            if commit is not None:
                self.settle(row, self.verdicts.asked(row, asked))
        elif opt_out is not None:
            self.settle(row, self.verdicts.opted_out(row.sha, row.subject, opt_out))

    def _settle_undone(
        self,
        row: Row,
        commit: Upstream,
        stands: Upstream | None,
        ground: tuple[Ref, Presence] | None,
        asked: Event | None,
    ) -> None:
        """Set the state of a row whose commit was taken back upstream, maybe applied again."""
        if stands is not None:
            if ground is not None:
                wanted = self.verdicts.affected(stands.sha, stands.subject, *ground)
            elif asked is not None:
                wanted = self.verdicts.asked(row, asked)
            else:
                return
            self.again[stands.sha] = self.verdicts.again(stands, commit, wanted)
            if ground is not None:
                self.grounds[stands.sha] = ground
        taker = self.standing.reverted_by(commit) or stands
        lines = [] if taker is None else self.standing.taken_back(taker)
        if lines:
            self.settle(row, self.verdicts.undone(row, lines[0], self._words_of_revert(commit)))

    def _words_of_revert(self, commit: Upstream) -> str:
        """What became of a commit upstream, in words."""
        revert, stands = self.standing.reverted_by(commit), self.standing.now(commit)
        if revert is not None:
            return f"reverted upstream by {revert.sha[:12]}"
        by = "another commit" if stands is None else stands.sha[:12]
        return f"reverted upstream, and applied again by {by}"

    def applied_already(self, commit: Upstream) -> tuple[Target, Presence] | None:
        """Return what a commit applies again, where the tree has that and never took it back."""
        for target in self.standing.origins(commit):
            found = self.contents.find(target)
            if found is not None:
                return target, found
        return None

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

    def spare(self, commits: Sequence[Upstream], rows: Mapping[str, Row]) -> None:
        """Take needed rows for not affected whose notes ask for other trees alone.

        Not where the tree took what they fix as a backport: of that a note upstream,
        which counts the versions of the mainline, knows nothing.
        """
        ranges = self.heed(commits, rows)
        for commit in commits:
            row, ground = rows.get(commit.sha), self.grounds.get(commit.sha)
            if row is None or row.state != "needed" or ground is None or ground[1].is_backport:
                continue
            note = ranges.elsewhere(commit.sha, self._rank)
            if note is not None:
                self.settle(row, self.verdicts.asked_elsewhere(row, note))

    def heed(self, commits: Iterable[Upstream], rows: Mapping[str, Row]) -> NoteRanges:
        """Take needed rows out of need whose notes leave out this very tree; return all notes.

        Where a note speaks of the tree in words that are not understood nothing is known.
        """
        ranges = NoteRanges(self._archive, commits)
        for sha, row in rows.items():
            if row.state != "needed" or any(
                event.kind == "nominated" and event.rule != "cc-stable" for event in row.events
            ):
                continue  # somebody asks for it by name
            refused = ranges.refused(sha, self._rank)
            doubted = None if refused else ranges.doubted(sha, self._rank)
            if refused is not None:
                self.settle(row, self.verdicts.refused(row, refused))
            elif doubted is not None:
                self.settle(row, self.verdicts.doubted(row, doubted))
                row.state = "unknown"
        return ranges

    def settle(self, row: Row, event: Event) -> None:
        """Set the state of a row by an event that decides."""
        row.state = {"affected": "needed"}.get(event.kind, event.kind)
        event.author = row.author
        row.event, row.reason = event, event.words()

    # -- rules ---------------------------------------------------------------------------

    def reason(self, commit: Upstream, refs: Sequence[Ref]) -> tuple[Ref, Presence] | None:
        """Why a tree wants a commit, by these lines of it: the line, and what the tree has.

        What applies a commit again is wanted where its revert was taken, too.
        """
        ground = self.ground(refs)
        if ground is None and self.standing.origins(commit):
            ground = self.ground(self.standing.taken_back(commit))
        return ground

    def _as_applied_again(self, ref: Ref) -> Presence | None:
        """That the tree has what a line names by a commit that applied it again upstream."""
        commit = self.graph.commits.get(ref.target.sha)
        stands = None if commit is None else self.standing.now(commit)
        if stands is None or stands is commit:
            return None
        found = self.contents.find(Target(stands.sha, stands.place, stands.id or None))
        if found is not None:
            found.words = f"applied again by {stands.sha[:12]}, {found.words}"
            found.sha = ref.target.sha
        return found

    def wants(self, commit: Upstream) -> list[Ref]:
        """Return the lines of a commit by what of which a tree may want it.

        What it repairs, or what that does which it applies again.  Of a revert that which
        it takes back goes first: where that is missing, there is nothing to revert.
        """
        if not commit.refs:
            return []
        origins = self.standing.origins(commit)
        undone = self.standing.undone(commit)
        repairs = [ref for ref in commit.refs if ref.relation in REPAIRS]
        if undone:
            lacking = all(self.contents.lacks_surely(ref) for ref in undone)
            return undone if lacking else [*repairs, *undone]
        for target in origins:
            origin = self.graph.commits.get(target.sha)
            repairs += [ref for ref in origin.refs if ref.relation in REPAIRS] if origin else []
        return repairs

    def ground(self, refs: Iterable[Ref]) -> tuple[Ref, Presence] | None:
        """The first line that names something that the tree has; a backport goes first."""
        best: tuple[Ref, Presence] | None = None
        for ref in refs:
            found = self.contents.find_named(ref) or self._as_applied_again(ref)
            if found is not None and (best is None or (found.is_backport > best[1].is_backport)):
                best = (ref, found)
        return best

    def affected(
        self, commit: Upstream, ground: tuple[Ref, Presence], time: int | None = None
    ) -> Event:
        """Return the event that says that a commit is needed, for its own sake or as one again."""
        event = self.verdicts.affected(commit.sha, commit.subject, *ground, time)
        for target in self.standing.origins(commit):
            origin = self.graph.commits.get(target.sha)
            if origin is not None and any(ref is ground[0] for ref in origin.refs):
                return self.verdicts.again(commit, origin, event)
        return event

    def absent(self, refs: Sequence[Ref]) -> tuple[Ref, int] | None:
        """The first of lines all of which name what the tree lacks, and how sure that is."""
        doubts = [self.contents.lacks(ref) for ref in refs]
        known = [doubt for doubt in doubts if doubt is not None]
        if not refs or len(known) < len(doubts):
            return None
        return refs[0], max(max(known), *(ref.confidence for ref in refs))

    def is_after_base(
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

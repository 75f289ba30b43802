"""Rows of commits that no event tells of: repairs of what a tree has, and what those need."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from patchlore.kb.backport_row import Row
from patchlore.kb.contents import CERTAIN, Presence
from patchlore.kb.fix_graph import Ref, Target, Upstream
from patchlore.kb.merge import title_hash
from patchlore.kb.needs import REPAIRS, Needs
from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_for
from patchlore.kb.verdicts import NEEDED_ITSELF
from patchlore.kb.versions import rank

#: States of commits that may come into the tree: what repairs them is noted.
_MAY_COME = ("in-flight", "nominated", "failed")


class Closure:
    """Finds what belongs into the list of a tree beside the rows that events make."""

    def __init__(self, archive: Archive, tree: str, needs: Needs) -> None:
        """Take the archive, the tree (its one name) and what judges commits for it."""
        self._archive = archive
        self._tree = tree
        self._needs = needs
        self._graph = needs.graph
        self._contents = needs.contents

    def missing(self, known: Mapping[str, Row]) -> list[Row]:
        """Return rows of commits that repair what the tree has, and of their own repairs.

        ``known`` are the rows that there are, by commit.
        """
        found: dict[str, Row] = {}
        for commit in self._graph.commits.values():
            if commit.sha not in known:
                self._add(commit, self._needs.reason(commit, self._needs.wants(commit)), found)
        self._add_again(known, found)
        self._drop_misnamed(found)
        self._spare(found, list(found))
        self._reconsider(known)
        everything = {**known, **found}
        made = [*found.values(), *self.repairs(list(everything.values()), everything)]
        for row in known.values():
            if row.state in _MAY_COME:
                self._note_repairs(row)
        return made

    def repairs(self, rows: Sequence[Row], known: Mapping[str, Row]) -> list[Row]:
        """Return rows of commits that repair needed ones of ``rows``, and of their own repairs.

        Repairs of what is needed are needed with it.  ``known`` are the rows that there
        are, by commit.
        """
        found: dict[str, Row] = {}
        todo = [row for row in rows if row.state == "needed"]
        while todo:
            new: list[str] = []
            settled: list[Row] = []
            for row in todo:
                for other, ref, where in self._repairing(row.sha or ""):
                    there = known.get(other.sha)
                    if there is None:
                        new += [other.sha] if self._add(other, (ref, where), found) else []
                    elif self._is_open(there, other):
                        event = self._needs.verdicts.affected(
                            other.sha, there.subject, ref, where, other.time
                        )
                        self._needs.settle(there, event)
                        self._needs.grounds[other.sha] = (ref, where)
                        settled.append(there)
            new += self._add_again(known, found)
            self._spare(found, new)
            todo = [found[sha] for sha in new if found[sha].state == "needed"] + settled
        return list(found.values())

    def _is_open(self, row: Row, commit: Upstream) -> bool:
        """Whether a row was left open, or for want of what it fixes, which is needed itself."""
        if row.state == "not-affected":
            is_open = row.sha in self._needs.spared
        else:
            is_open = row.state == "unknown"
        if not is_open or self._needs.standing.now(commit) is not commit:
            return False
        return self._needs.opt_outs.of(row, commit) is None

    def _reconsider(self, known: Mapping[str, Row]) -> None:
        """Let rows be as they were that lack what they fix, where that may come into the tree."""
        for sha, spared in self._needs.spared.items():
            row = known.get(sha or "")
            causes = [known.get(ref.target.sha) for ref in spared.refs if ref.relation in REPAIRS]
            if row is None or row.state != "not-affected":
                continue
            if any(cause is not None and cause.state in _MAY_COME for cause in causes):
                row.state, row.event, row.reason = spared.state, spared.event, spared.reason
                if spared.asked is not None and row.sha in self._graph.commits:
                    self._needs.settle(row, self._needs.verdicts.asked(row, spared.asked))

    def _repairing(self, sha: str) -> Iterator[tuple[Upstream, Ref, Presence]]:
        """The commits that repair one, or since it is upstream what it applies again."""
        for other, ref in self._graph.named_by.get(sha, ()):
            if ref.relation in REPAIRS:
                yield other, ref, Presence(sha, NEEDED_ITSELF, True, CERTAIN)
        commit = self._graph.commits.get(sha)
        if commit is None:
            return
        words = f"{NEEDED_ITSELF} as {sha[:12]}"
        for target in self._needs.standing.origins(commit):
            for other, ref in self._graph.named_by.get(target.sha, ()):
                if ref.relation in REPAIRS and (other.time or 0) >= (commit.time or 0):
                    yield other, ref, Presence(target.sha, words, True, CERTAIN)

    def _add_again(self, known: Mapping[str, Row], found: dict[str, Row]) -> list[str]:
        """Let commits be needed that apply again what rows ask for and upstream reverted once.

        Returns those that have got a row.
        """
        new = []
        for sha, event in self._needs.again.items():
            commit, row = self._graph.commits[sha], known.get(sha)
            if row is not None:
                if row.state in ("nominated", "unknown"):
                    self._needs.settle(row, event)
            elif sha not in found and not self._is_there(commit):
                found[sha] = self._needs.verdicts.row(commit, event)
                new.append(sha)
        return new

    def _is_there(self, commit: Upstream) -> bool:
        """Whether the tree has a commit, or that which it applies again."""
        target = Target(commit.sha, commit.place, commit.id or None)
        if self._contents.find(target) is not None:
            return True
        return self._needs.applied_already(commit) is not None

    def _spare(self, found: Mapping[str, Row], shas: Sequence[str]) -> None:
        """Take rows out of need whose authors opt out, or ask for other trees alone."""
        if not shas:
            return
        commits = [self._graph.commits[sha] for sha in shas]
        for sha, out in self._needs.opt_outs.of_commits(commits):
            event = self._needs.verdicts.opted_out(sha, found[sha].subject, out)
            self._needs.settle(found[sha], event)
        self._needs.spare(commits, found)

    def _add(
        self, commit: Upstream, ground: tuple[Ref, Presence] | None, found: dict[str, Row]
    ) -> bool:
        """Add a row of a commit that is needed on this ground; whether it was one."""
        if ground is None or commit.sha in found or self._is_there(commit):
            return False
        stands = self._needs.standing.now(commit)
        if stands is None or not self._needs.is_after_base(commit, ground, None):
            return False
        verdicts = self._needs.verdicts
        if stands is not commit:
            event = verdicts.affected(stands.sha, stands.subject, *ground)
            self._needs.again.setdefault(stands.sha, verdicts.again(stands, commit, event))
            self._needs.grounds.setdefault(stands.sha, ground)
            return False
        event = self._needs.affected(commit, ground, commit.time)
        found[commit.sha] = verdicts.row(commit, event)
        self._needs.grounds[commit.sha] = ground
        return True

    def _note_repairs(self, row: Row) -> None:
        """Note what repairs a commit that may come into the tree, so that both come."""
        told = set()
        standing = self._needs.standing
        for other, ref in self._graph.named_by.get(row.sha or "", ()):
            if ref.relation not in REPAIRS or other.sha in told:
                continue
            takes_back = any(item.target.sha == row.sha for item in standing.taken_back(other))
            if takes_back or standing.now(other) is not other:
                continue
            told.add(other.sha)
            target = Target(other.sha, other.place, other.id or None)
            if self._contents.find(target) is None:
                title = f' ("{other.subject}")' if other.subject else ""
                row.notes.append(f"fixed upstream by {other.sha[:12]}{title}: take both")

    def _drop_misnamed(self, found: dict[str, Row]) -> None:
        """Drop commits that only a marker names, and that the mainline has under other digits.

        A slip of the pen in one tree's backport is nothing that another tree lacks.
        """
        hashes: dict[int, list[str]] = {}
        for sha, row in found.items():
            hashed = title_hash(row.subject)
            if not self._graph.commits[sha].id and hashed is not None:
                hashes.setdefault(hashed, []).append(sha)
        for hashed, place in self._archive.execute(
            "SELECT c.title_hash, c.place FROM json_each(?) AS j CROSS JOIN git_commit AS c"
            " ON c.title_hash = j.value",
            (json.dumps(sorted(hashes)),),
        ).fetchall():
            if self._contents.is_upstream(place):
                for sha in hashes.pop(hashed, ()):
                    found.pop(sha)

    def opted_out(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows of patches that opt out and that no row has: those not known to be useless.

        Only of patches that came after the tree's first release, while it was kept.
        """
        known = {row.sha for row in rows if row.sha}
        known_mails = {event.message for row in rows for event in row.events}
        refs_of = self._graph.refs_of_mails(self._needs.opt_outs.mails)
        self._graph.resolve(sha for _, sha in self._needs.opt_outs.mails.values() if sha)
        trees = trees_for(self._archive)
        found = []
        for message, (out, sha) in self._needs.opt_outs.mails.items():
            if message in known_mails or sha in known or rank(self._tree) is None:
                continue
            refs = refs_of.get(message, [])
            if self._needs.absent(refs) is not None or not trees.can_want(
                self._tree, out.timestamp
            ):
                continue
            if sha is not None and self._contents.find(self._graph.targets[sha]) is not None:
                continue
            event = self._needs.verdicts.opted_out(sha, out.subject, out)
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

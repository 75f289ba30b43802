"""Which commits still stand upstream: what was taken back there, and what applied it again."""

from __future__ import annotations

from collections.abc import Iterator

from patchlore.kb.fix_graph import Graph, Ref, Target, Upstream

#: Relations of a commit to what it takes back.
TAKES_BACK = ("reverts", "reverted-upstream")


class Standing:
    """Reverts among commits upstream, and reverts of those.

    A partial revert takes nothing back: what is left of the commit stands.
    """

    def __init__(self, graph: Graph) -> None:
        """Take who names whom."""
        self._graph = graph
        #: What any commit takes back: few.
        self._undone = {
            sha
            for sha, named in graph.named_by.items()
            if any(ref.relation in TAKES_BACK for _, ref in named)
        }

    def reverted_by(self, commit: Upstream) -> Upstream | None:
        """Return the commit upstream that took a commit back, unless that was taken back, too."""
        return self._reverted_by(commit, {commit.sha})

    def now(self, commit: Upstream) -> Upstream | None:
        """Return the commit by which a change is upstream now; None where it was taken back.

        That is the commit itself, or the newest that applied it again.
        """
        seen: set[str] = set()
        while commit.sha in self._undone and commit.sha not in seen:
            seen.add(commit.sha)
            if self.reverted_by(commit) is not None:
                return None
            again = [
                other
                for revert in self._undoers(commit)
                for other in self._undoers(revert)
                if self.reverted_by(other) is None
            ]
            if not again:
                return commit
            commit = max(again, key=lambda other: (other.time or 0, other.id, other.sha))
        return commit

    def taken_back(self, commit: Upstream) -> list[Ref]:
        """Return the lines of a commit that name what it takes back as a whole."""
        if all(ref.relation not in TAKES_BACK for ref in commit.refs):
            return []
        partial = {ref.target.sha for ref in commit.refs if ref.relation == "partial-revert"}
        return [
            ref
            for ref in commit.refs
            if ref.relation in TAKES_BACK and ref.target.sha not in partial
        ]

    def origins(self, commit: Upstream) -> list[Target]:
        """Return what a commit applies again by reverting a revert; nothing for a revert.

        A revert of a commit that applied another one again is a revert of both.
        """
        lines = self._chain(commit)
        if len(lines) % 2:
            return []
        return [ref.target for level in lines[1::2] for ref in level]

    def undone(self, commit: Upstream) -> list[Ref]:
        """Return the lines that name what a revert takes back; nothing for what applies again."""
        lines = self._chain(commit)
        return [ref for level in lines[::2] for ref in level] if len(lines) % 2 else []

    def _chain(self, commit: Upstream) -> list[list[Ref]]:
        """The lines that name what a commit takes back; those for what that took back; …"""
        found: list[list[Ref]] = []
        seen = {commit.sha}
        level = [commit]
        while level:
            lines = [ref for one in level for ref in self.taken_back(one)]
            lines = [ref for ref in lines if ref.target.sha not in seen]
            seen.update(ref.target.sha for ref in lines)
            found += [lines] if lines else []
            level = [other for ref in lines for other in self._known(ref.target)]
        return found

    def _known(self, target: Target) -> Iterator[Upstream]:
        """The commits upstream that a line means, as far as the tree lacks them."""
        for sha in (target.sha, *target.upstream):
            if sha in self._graph.commits:
                yield self._graph.commits[sha]

    def _undoers(self, commit: Upstream) -> Iterator[Upstream]:
        """The commits upstream that take a commit back, whatever became of them."""
        for other, ref in self._graph.named_by.get(commit.sha, ()):
            if ref.relation in TAKES_BACK and ref in self.taken_back(other):
                yield other

    def _reverted_by(self, commit: Upstream, seen: set[str]) -> Upstream | None:
        for other in self._undoers(commit):
            # Two commits that claim to revert each other say nothing.
            if other.sha not in seen and self._reverted_by(other, {*seen, other.sha}) is None:
                return other
        return None

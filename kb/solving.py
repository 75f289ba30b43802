"""From the rows that events make to the whole list: needs, closure, order, notes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from patchlore.kb.backport_row import Row
from patchlore.kb.contents import Contents
from patchlore.kb.fix_graph import Graph
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.needs import Needs
from patchlore.kb.ordering import in_order, note_gaps
from patchlore.kb.requirements import add_neighbours, add_requirements
from patchlore.kb.stable_rules import StableRules
from patchlore.kb.store import Archive


class Solved:
    """The list of a tree, and what it was made with."""

    def __init__(
        self, archive: Archive, tree: str, rows: Sequence[Row], as_of: int | None = None
    ) -> None:
        """Complete the rows that events make; ``as_of`` is the day to judge by (default: now)."""
        places = GitPlaces(archive, tree)
        graph = Graph(archive, places)
        landed = {
            row.sha: row.event for row in rows if row.sha and row.state in ("released", "queued")
        }
        contents = Contents(archive, tree, places, graph, landed)
        self.needs = needs = Needs(archive, tree, graph, contents, rows)
        for row in rows:
            needs.judge(row)
        rows = [*rows, *needs.opted_out(rows)]
        rows += needs.missing({row.sha: row for row in rows if row.sha})
        rows += add_requirements(needs, tree, rows)
        add_neighbours(archive, needs, rows)
        rules = StableRules(
            archive, tree, places, needs, int(time.time()) if as_of is None else as_of
        )
        rules.note(rows)
        self.rows = in_order(rows, self._key)
        note_gaps(self.rows)

    def _key(self, row: Row) -> tuple[object, ...]:
        """Upstream's order where it is known, else that in which commits were heard of."""
        commit = self.needs.graph.commits.get(row.sha or "")
        first = row.events[0]
        known = commit.time if commit is not None and commit.id else None
        when = first.timestamp if known is None else known
        return (
            row.state == "unknown",
            when or 0,
            commit.id if commit else 0,
            first.message,
            row.sha or "",
        )

"""From the rows that events make to the whole list: needs, closure, order, notes."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from patchlore.kb.backport_row import Row
from patchlore.kb.closure import Closure
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
        self,
        archive: Archive,
        tree: str,
        rows: Sequence[Row],
        as_of: int | None = None,
        beside: Sequence[Row] = (),
    ) -> None:
        """Complete the rows that events make; ``as_of`` is the day to judge by (default: now).

        ``beside`` are rows for commits of which the tree may know nothing: those that it
        has, or that have a row, are left out.
        """
        places = GitPlaces(archive, tree)
        graph = Graph(archive, places)
        landed = {
            row.sha: row.event for row in rows if row.sha and row.state in ("released", "queued")
        }
        contents = Contents(archive, tree, places, graph, landed)
        self.needs = needs = Needs(archive, tree, graph, contents, rows)
        for row in rows:
            needs.judge(row)
        judged = {row.sha: row for row in rows if row.sha in graph.commits and row.sha}
        needs.heed([graph.commits[sha] for sha in judged], judged)
        closure = Closure(archive, tree, needs)
        rows = [*rows, *closure.opted_out(rows)]
        by_sha = {row.sha: row for row in rows if row.sha}
        rows += closure.missing(by_sha)
        rows += self._lacking(beside, rows, places, tree)
        by_sha = {row.sha: row for row in rows if row.sha}
        todo = rows
        while todo:  # what is required may have been repaired since, which requires more
            made = add_requirements(archive, needs, tree, todo, by_sha)
            todo = closure.repairs(made, by_sha)
            by_sha.update((row.sha, row) for row in todo if row.sha)
            rows += [*made, *todo]
        _add_authors(archive, graph, rows)
        add_neighbours(archive, needs, rows)
        rules = StableRules(
            archive, tree, places, needs, int(time.time()) if as_of is None else as_of
        )
        rules.note(rows)
        for row in rows:
            if row.subject is None and row.sha in graph.commits:
                row.subject = graph.commits[row.sha].subject
            if row.sha in graph.naming_themselves:
                row.notes.append("it says to fix or to revert itself: that line counts for nothing")
        # What another row builds on stands before that, whatever is known of it.
        self._required = {item.sha for row in rows for item in row.requires}
        self.rows = in_order(rows, self._key)
        note_gaps(self.rows)

    def _lacking(
        self, beside: Sequence[Row], rows: Sequence[Row], places: GitPlaces, tree: str
    ) -> list[Row]:
        """Those of further rows whose commit neither the tree has nor a row, judged."""
        known = {row.sha for row in rows}
        targets = self.needs.graph.resolve(row.sha for row in beside if row.sha)
        found = []
        for row in beside:
            target = targets[row.sha or ""]
            there = self.needs.contents.find(target) is not None
            if row.sha not in known and not there and not places.is_base(target.place, tree):
                self.needs.judge(row)
                found.append(row)
        return found

    def _key(self, row: Row) -> tuple[object, ...]:
        """Upstream's order where it is known, else that in which commits were heard of."""
        commit = self.needs.graph.commits.get(row.sha or "")
        first = row.events[0]
        known = commit.time if commit is not None and commit.id else None
        when = first.timestamp if known is None else known
        return (
            row.state == "unknown" and row.sha not in self._required,
            when or 0,
            commit.id if commit else 0,
            first.message,
            row.sha or "",
        )


def _add_authors(archive: Archive, graph: Graph, rows: Sequence[Row]) -> None:
    """Name the author in the events of rows that no event of history made."""
    by_id: dict[int, list[Row]] = {}
    by_mail: dict[int, list[Row]] = {}
    for row in rows:
        commit = graph.commits.get(row.sha or "")
        if row.author is None and commit is not None:
            if commit.id:
                by_id.setdefault(commit.id, []).append(row)
            elif commit.mails:
                by_mail.setdefault(commit.mails[0], []).append(row)
    for table, wanted in (("git_commit", by_id), ("message", by_mail)):
        for id_, author in archive.execute(
            "SELECT t.id, coalesce(nullif(p.name, ''), nullif(p.email, ''), p.masked)"
            f" FROM json_each(?) AS j CROSS JOIN {table} AS t ON t.id = j.value"
            " JOIN person AS p ON p.id = t.author",
            (json.dumps(sorted(wanted)),),
        ):
            for row in wanted[id_]:
                row.event.author = author

"""What one stable tree has over another: the fixes that whoever changes trees would lose."""

from __future__ import annotations

from patchlore.kb.backport_row import Row
from patchlore.kb.backports import event_rows
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.solving import Solved
from patchlore.kb.store import Archive
from patchlore.kb.versions import short_name, tree_name

#: States that say that a tree has a commit, or will with its next release.
_HAS = ("released", "queued")


def compare(archive: Archive, one: str, other: str, *, as_of: int | None = None) -> list[Row]:
    """Return rows of ``other`` for the commits upstream that ``one`` has and ``other`` has not.

    Both are any spelling of the name of a tree; ``as_of`` is as for a list.  A commit
    of which the other tree's list has a row has its state there; one that neither the
    list nor the tree's repository knows is judged as those of a list are; where nothing
    follows it is ``unknown``, with what happened in ``one`` as the event that decides.
    """
    one, other = tree_name(one), tree_name(other)
    there = Solved(archive, other, event_rows(archive, other), as_of)
    known = {row.sha: row for row in there.rows if row.sha}
    contents, graph = there.needs.contents, there.needs.graph
    taken = [row for row in event_rows(archive, one) if row.sha and row.state in _HAS]
    targets = graph.resolve(row.sha for row in taken if row.sha)
    places = GitPlaces(archive, other)
    found: list[Row] = []
    for row in taken:
        sha = row.sha or ""
        words = f"{short_name(one)} has it: {row.reason}"
        mine = known.get(sha)
        if mine is None:
            target = targets[sha]
            present = contents.find(target) is not None
            if present or places.is_base(target.place, other):
                continue
            mine = Row(
                tree=other,
                state="unknown",
                sha=sha,
                subject=row.subject,
                reason=f"{words}; nothing is known of {short_name(other)}",
                event=row.event,
                events=[row.event],  # what was asked for one tree was not asked for the other
            )
            there.needs.judge(mine)
            if mine.state != "unknown":
                mine.notes.insert(0, words)
        elif mine.state in _HAS:
            continue
        else:
            mine.notes.insert(0, words)
        found.append(mine)
    return there.in_order(found)

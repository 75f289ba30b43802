"""What one stable tree has over another: the fixes that whoever changes trees would lose."""

from __future__ import annotations

from patchlore.kb.backport_row import Row
from patchlore.kb.backports import event_rows
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
    words = {
        row.sha: (row, f"{short_name(one)} has it: {row.reason}")
        for row in event_rows(archive, one)
        if row.sha and row.state in _HAS
    }
    beside = [
        Row(
            tree=other,
            state="unknown",
            sha=sha,
            subject=row.subject,
            reason=f"{told}; nothing is known of {short_name(other)}",
            event=row.event,
            events=[row.event],  # what was asked for one tree was not asked for the other
        )
        for sha, (row, told) in words.items()
    ]
    found = []
    for row in Solved(archive, other, event_rows(archive, other), as_of, beside).rows:
        if row.sha in words and row.state not in _HAS:
            told = words[row.sha][1]
            if not row.reason.startswith(told):
                row.notes.insert(0, told)
            found.append(row)
    return found

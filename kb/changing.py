"""What is new in a list or changed its state since a day: the list as it was then."""

from __future__ import annotations

from collections.abc import Iterable

from patchlore.kb.backports import Row, decide, event_rows
from patchlore.kb.merge import even_out
from patchlore.kb.solving import Solved
from patchlore.kb.store import Archive

#: What stands for the state before of a row that was not there yet.
NEW = "new"


def changed_since(archive: Archive, rows: Iterable[Row], since: int) -> list[Row]:
    """Return the rows, all of one tree, that are new or have another state since a time.

    Each of them gets its ``state_before``.  A state that a person's file sets is of no
    day: there what it would be without is compared.
    """
    rows = list(rows)
    before = states_at(archive, rows[0].tree, since) if rows else {}
    for row in rows:
        row.state_before = before.get(row.sha or _title(row)) or before.get(_title(row)) or NEW
    return [
        row
        for row in rows
        if row.state_before != (row.state if row.override is None else row.override.was)
    ]


def states_at(archive: Archive, tree: str, moment: int) -> dict[str, str]:
    """Return the states that the commits of a tree had just before a time (seconds).

    The list is made anew of the events before it.  What is concluded from a line
    (needed, not affected, opted out) was so if the line was there.  Commits stand
    by their ids; nominations of which no commit is known by their titles.
    """
    found: dict[str, str] = {}
    for row in Solved(archive, tree, event_rows(archive, tree, moment), moment).rows:
        state: str | None = row.state
        if (row.event.timestamp or 0) >= moment:
            events = [event for event in row.events if (event.timestamp or 0) < moment]
            state = decide(events)[0] if events else None
        if state is not None:
            found[row.sha or _title(row)] = state
    return found


def _title(row: Row) -> str:
    return f"title {even_out(row.subject)}"

"""What is new in a list or changed its state since a day: the states as they were then."""

from __future__ import annotations

from patchlore.kb.backports import Row, decide
from patchlore.kb.events import VERDICTS

#: What stands for the state before of a row that was not there yet.
NEW = "new"

#: States that events leave open, so that a verdict can settle them.
_OPEN = ("unknown", "nominated")


def state_at(row: Row, moment: int) -> str:
    """Return the state that a row had just before a time (seconds), or NEW.

    It follows from the events before, as the present one does from all.  What is
    concluded from a line that stood there before (needed, not affected, opted out)
    was so then, too, where the events of that time left it open.
    """
    before = [event for event in row.events if (event.timestamp or 0) < moment]
    concluded = row.event.kind in VERDICTS and (row.event.timestamp or 0) < moment
    if not before:
        return _own_state(row) if concluded else NEW
    state, _ = decide(before)
    return _own_state(row) if concluded and state in _OPEN else state


def has_changed(row: Row, since: int) -> bool:
    """Whether a row is new or has another state since a time; notes what it was before."""
    row.state_before = state_at(row, since)
    return row.state_before != _own_state(row)


def _own_state(row: Row) -> str:
    """The state of a row before a person's file set it: that one is of no day."""
    return row.state if row.override is None else row.override.was

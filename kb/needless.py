"""What a person's word on some rows means for others: prerequisites nobody needs, new gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from patchlore.kb.backport_row import Row
from patchlore.kb.backports import decide
from patchlore.kb.events import BY_DEPENDENT
from patchlore.kb.ordering import gap
from patchlore.kb.requirements import FIXED, REVERTED, TO_TAKE
from patchlore.kb.verdicts import BY_NEEDED

#: States of a commit whose own repairs a tree wants.
_REPAIRED = (*TO_TAKE, "released")


def after_overrides(before: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Return ``rows``, with the states that a person set, without what is now of no use.

    ``before`` are the same rows with the states from before.  What was needed for the
    sake of others alone is needed no more where none of those is to be taken; and what
    builds on a row that is not to be taken says so.
    """
    rows = list(rows)
    while True:
        was, now = _needless(before), _needless(rows)
        gone = now - was
        if not gone:
            break
        kept = []
        for row in rows:
            if row.sha not in gone:
                kept.append(row)
            elif row.events != [row.event]:  # somebody has spoken of it, too
                row.state, row.event = decide(row.events)
                row.reason = row.event.words()
                kept.append(row)
        rows = kept
    _note(rows)
    return rows


def _needless(rows: Sequence[Row]) -> set[str | None]:
    """The rows that are needed for the sake of others, none of which is to be taken."""
    states: Mapping[str | None, str] = {row.sha: row.state for row in rows}
    wanted = {
        item.sha
        for row in rows
        if row.state in TO_TAKE
        for item in row.requires
        if item.why not in (FIXED, REVERTED)
    }
    found = set()
    for row in rows:
        if row.state not in ("needed", "unknown") or row.override is not None:
            continue
        if row.event.rule == BY_DEPENDENT and row.sha not in wanted:
            found.add(row.sha)
        elif row.event.rule == BY_NEEDED:
            repaired = [states.get(item.sha) for item in row.requires if item.why == FIXED]
            if not any(state in _REPAIRED for state in repaired):
                found.add(row.sha)
    return found


def _note(rows: Sequence[Row]) -> None:
    """Note on rows that are to be taken which of what they require a person took out."""
    overridden = {row.sha: row for row in rows if row.override is not None}
    for row in rows:
        for item in row.requires if row.state in TO_TAKE else ():
            other = overridden.get(item.sha)
            if other is None or item.is_present:
                continue
            found = gap(item, other)
            head = f"gap: needs {item.sha[:12]}"
            row.notes = [note for note in row.notes if not note.startswith(head)]
            row.notes += [found] if found else []

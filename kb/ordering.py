"""The order in which commits are to be taken, each after what it requires; what is odd about it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from patchlore.kb.backport_row import Requirement, Row

#: States that say that a row's commit is in the tree, or will be.
_COMING = ("released", "queued", "in-flight", "needed", "nominated", "failed")


def in_order(rows: Sequence[Row], key: Callable[[Row], tuple[object, ...]]) -> list[Row]:
    """Return rows sorted by ``key``, but each behind the rows of the commits that it requires.

    Rows that require each other stay in the order of ``key``; a note says so.
    """
    rows = sorted(rows, key=key)
    place = {row.sha: number for number, row in enumerate(rows) if row.sha}
    needs: list[set[int]] = []
    for number, row in enumerate(rows):
        known = {place[item.sha] for item in row.requires if item.sha in place}
        needs.append(known - {number})
    if not any(needs):
        return rows
    wanted_by: dict[int, list[int]] = {}
    for number, known in enumerate(needs):
        for other in known:
            wanted_by.setdefault(other, []).append(number)
    ready = [number for number, known in enumerate(needs) if not known]
    heapq.heapify(ready)
    left = {number for number, known in enumerate(needs) if known}
    ordered = []
    while ready or left:
        if not ready:
            stuck = _in_cycle(min(left), needs)
            names = ", ".join((rows[other].sha or "")[:12] for other in sorted(needs[stuck]))
            rows[stuck].notes.append(f"order: needs {names}, which in turn needs it (a cycle)")
            needs[stuck] = set()
            left.discard(stuck)
            ready.append(stuck)
        number = heapq.heappop(ready)
        ordered.append(rows[number])
        for waiting in wanted_by.get(number, ()):
            if waiting in left:
                needs[waiting].discard(number)
                if not needs[waiting]:
                    left.discard(waiting)
                    heapq.heappush(ready, waiting)
    return ordered


def _in_cycle(start: int, needs: Sequence[set[int]]) -> int:
    """Return a row that needs itself over others; one is reached from any that can't be placed."""
    seen: set[int] = set()
    number = start
    while number not in seen:
        seen.add(number)
        number = min(needs[number])
    return number


def note_gaps(rows: Sequence[Row]) -> None:
    """Note on rows what they require that neither the tree has nor the list, and wrong orders."""
    by_sha = {row.sha: row for row in rows if row.sha}
    for row in rows:
        for item in row.requires:
            other = by_sha.get(item.sha)
            if item.is_present:
                continue
            found = gap(item, other)
            if found is not None:
                row.notes.append(found)
            elif other is not None and _stands_behind(row, other):
                is_taken = other.state not in ("needed", "nominated")
                words = f"was {other.event.words()}" if is_taken else f"is {other.state}"
                row.notes.append(
                    f"wrong order: needs {_named(item.sha, item.subject)}, which {words}"
                )


def gap(item: Requirement, other: Row | None) -> str | None:
    """Return the note on what is required and not to be had; ``other`` is its row, if any."""
    if other is not None and other.state in _COMING:
        return None
    if item.is_present is None:
        words = "which may be missing"
    elif other is not None:
        words = f"which is {other.state}"
    else:
        words = "which neither the tree has nor the list"
    return f"gap: needs {_named(item.sha, item.subject)}, {words}"


def _stands_behind(row: Row, other: Row) -> bool:
    """Whether a row came into the tree, or was posted for it, before ``other`` that it needs."""
    first, second = row.patch, other.patch
    if first is not None and second is not None and first.message != second.message:
        same_series = (
            (first.parts, first.version, first.by) == (second.parts, second.version, second.by)
            and first.parts is not None
            and abs((first.timestamp or 0) - (second.timestamp or 0)) < 86400
        )
        if same_series:
            return (first.part or 0) < (second.part or 0)
    taken = ("queued", "released")
    if row.state not in taken:
        return False
    if other.state not in taken:
        return True
    return (row.event.release or "") != (other.event.release or "") and (
        row.event.timestamp or 0
    ) < (other.event.timestamp or 0)


def _named(sha: str, subject: str | None) -> str:
    return f'{sha[:12]} ("{subject}")' if subject else sha[:12]

"""What formats for people say of a row: proof, what happened before, order, trial."""

from __future__ import annotations

from patchlore.kb.backports import Requirement, Row
from patchlore.kb.changing import NEW
from patchlore.kb.outcomes import LACKING, Tried
from patchlore.kb.text import day, printable, proof

_TRIED = {
    "applies": "applies",
    "applies-3way": "applies with a 3-way merge",
    "conflict": "conflict",
    "no-patch": "not tried: no patch that can be applied",
    "already-there": "already there",
    LACKING: "not tried: the repository lacks objects",
}


def proof_of(row: Row) -> str:
    """Return what proves the row's state: a line of a mail, a commit or a person's file."""
    if row.override is not None:
        place = f"{row.override.file}:{row.override.line}"
        return f"{printable(place)}: {printable(row.override.text).strip()}"
    event = row.event
    return proof(event.key, event.line, event.text, event.confidence)


def who(row: Row) -> str:
    """Return who did what decides the state; nothing where that is not known."""
    return "" if row.override is not None or row.event.by is None else printable(row.event.by)


def earlier(row: Row) -> list[str]:
    """Return what else happened, oldest first: ``2023-12-08 added to the queue``."""
    told = [
        f"{day(event.timestamp)} {printable(event.words())}"
        for event in row.events
        if row.override is not None or (event.key, event.kind) != (row.event.key, row.event.kind)
    ]
    return list(dict.fromkeys(told))


def requirement(need: Requirement) -> str:
    """Return a requirement in words: ``1234… "tick: begin" (Stable-dep-of), in the tree``."""
    title = f' "{printable(need.subject)}"' if need.subject else ""
    present = {True: ", in the tree", False: ", not in the tree", None: ""}[need.is_present]
    return f"{printable(need.sha)}{title} ({printable(need.why)}){present}"


def trial(tried: Tried) -> str:
    """Return what a trial gave: ``conflict in tick.c, tock.c``."""
    words = _TRIED.get(tried.result, tried.result)
    if tried.conflicts:
        words += f" in {', '.join(printable(path) for path in tried.conflicts)}"
    return f"{words} ({printable(tried.words)})" if tried.words else words


def more(row: Row) -> list[str]:
    """Return the further lines about a row, each with a word in front that says what it is."""
    lines = []
    if row.state_before is not None:
        lines.append("new" if row.state_before == NEW else f"before: {row.state_before}")
    lines += [f"first: {requirement(need)}" for need in row.requires]
    lines += [f"note: {printable(text)}" for text in row.notes]
    if row.tried is not None:
        lines.append(f"tried: {trial(row.tried)}")
    return lines

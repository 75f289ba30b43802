"""Backport lists for a terminal: dense, each row with the line that proves it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO

from patchlore.kb.backports import STATES, Row
from patchlore.kb.export.telling import earlier, more, proof_of, who
from patchlore.kb.store import Archive
from patchlore.kb.text import count, day, printable, shorten
from patchlore.kb.versions import short_name

_WIDTH = 100


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write rows as text."""
    states = Counter(row.state for row in rows)
    told = ", ".join(f"{states[state]:,} {state}" for state in STATES if states[state])
    lines = [
        f"{short_name(tree)}: {count(len(rows), 'upstream commit')}"
        + (f" ({told})" if told else "")
    ]
    for row in rows:
        lines += ["", *row_lines(row)]
    out.write("".join(f"{line}\n" for line in lines).encode())
    return []


def row_lines(row: Row) -> list[str]:
    """Return a row as lines: commit, title and state; why; the proof; earlier events."""
    commit = row.sha or "(commit not known)"
    lines = [
        shorten(f"{commit}  {row.state}", _WIDTH),
        shorten(f"  {printable(row.subject) or '(no title)'}", _WIDTH),
    ]
    by = who(row)
    when = "" if row.override is not None else f"{day(row.event.timestamp)}  "
    lines.append(f"  {when}{printable(row.reason)}{f', {by}' if by else ''}")
    lines.append(f"    {shorten(proof_of(row), 2 * _WIDTH)}")
    also = earlier(row)
    if also:
        lines.append("    also: " + "; ".join(also))
    lines += [f"    {line}" for line in more(row)]
    return lines

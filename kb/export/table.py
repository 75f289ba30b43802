"""Backport lists as CSV (RFC 4180), safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.store import Archive
from patchlore.kb.text import iso, printable

COLUMNS = (
    "tree",
    "upstream_commit",
    "state",
    "reason",
    "subject",
    "author",
    "date",
    "index",
    "total",
    "message_id",
    "line",
    "evidence",
    "confidence",
)


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write rows as CSV with a heading line."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for row in rows:
        event, override = row.event, row.override
        proof = f"commit {event.commit}: {event.text}" if event.commit else event.text
        values = (
            row.tree,
            row.sha,
            row.state,
            row.reason,
            row.subject,
            row.author,
            iso(event.timestamp),
            event.part,
            event.parts,
            None if event.commit or override is not None else event.key,
            event.line if override is None else override.line,
            proof if override is None else f"{override.file}: {override.text}",
            event.confidence if override is None else "certain",
        )
        table.writerow([cell(value) for value in values])
    out.write(text.getvalue().encode())
    return []


def cell(value: object) -> str:
    """Return a value as a cell that no spreadsheet takes for a formula.

    A cell that begins with ``= + - @``, a tab or a line end is a formula to a
    spreadsheet (OWASP, "CSV Injection"): such a text gets an apostrophe before
    it.  Numbers are no texts and stay as they are.
    """
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    text = printable(str(value))
    # Blanks before the sign do not keep every spreadsheet from evaluating.
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") and text.strip() else text

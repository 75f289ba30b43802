"""Backport lists as Markdown (CommonMark with tables): a table for each state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from patchlore.kb.backports import STATES, Row
from patchlore.kb.export.telling import earlier, more, proof_of, who
from patchlore.kb.store import Archive
from patchlore.kb.text import count, day, printable
from patchlore.kb.versions import short_name

#: What can mean something in a cell: escaped, each is just itself (CommonMark, "Backslash
#: escapes").  An entity begins with &, an address that forges turn into links or mentions
#: has an @ or a colon.
_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&@:$])")


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write a heading, and below it the rows of each state as a table."""
    lines = [
        f"# Backports for {escaped(short_name(tree))}",
        "",
        count(len(rows), "upstream commit"),
    ]
    for state in STATES:
        chosen = [row for row in rows if row.state == state]
        if chosen:
            lines += ["", f"## {escaped(state)}: {len(chosen):,}", ""]
            lines += ["| commit | title | why | proof |", "| --- | --- | --- | --- |"]
            lines += [f"| {' | '.join(_cells(row))} |" for row in chosen]
    out.write("".join(f"{line}\n" for line in lines).encode())
    return []


def _cells(row: Row) -> Iterator[str]:
    # A commit is hexadecimal digits; in code marks it is shown as it is.
    sha = row.sha if row.sha and row.sha.isalnum() else None
    yield f"`{sha}`" if sha else "not known"
    yield escaped(printable(row.subject)) or "(no title)"
    when = "" if row.override is not None else f"{day(row.event.timestamp)} "
    by = who(row)
    told = [f"{when}{printable(row.reason)}{f', {by}' if by else ''}"]
    told += [f"also: {line}" for line in earlier(row)]
    told += more(row)
    yield "<br>".join(escaped(text) for text in told)
    yield escaped(proof_of(row))


def escaped(text: str) -> str:
    """Return a line of text as Markdown that shows just that."""
    return _SIGNS.sub(r"\\\1", text)

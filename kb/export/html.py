"""Backport lists as one HTML page that needs nothing else: no script, no file, no other host."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from patchlore.kb.backports import STATES, Row
from patchlore.kb.export.telling import earlier, more, proof_of, who
from patchlore.kb.store import Archive
from patchlore.kb.text import count, day, printable
from patchlore.kb.versions import short_name

#: Whatever slipped into the page could still load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """\
body { font: 1rem/1.4 sans-serif; margin: 1rem; color: #111; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { border-top: 1px solid #bbb; padding: .4rem .6rem; text-align: left; vertical-align: top; }
code, .proof { font: .85rem/1.4 monospace; overflow-wrap: anywhere; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #111; } }
"""


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the page; a text browser shows all of it."""
    name = _text(short_name(tree))
    states = Counter(row.state for row in rows)
    told = ", ".join(f"{states[state]:,} {state}" for state in STATES if states[state])
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Backports for {name}</title>",
        f"<style>\n{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>Backports for {name}</h1>",
        f"<p>{_text(count(len(rows), 'upstream commit'))}{f' ({_text(told)})' if told else ''}</p>",
        "<table>",
        "<thead><tr><th>Commit</th><th>State</th><th>Title, why, proof</th></tr></thead>",
        "<tbody>",
        *(line for row in rows for line in _row(row)),
        "</tbody>",
        "</table>",
        "</body>",
        "</html>",
    ]
    out.write("".join(f"{line}\n" for line in lines).encode())
    return []


def _row(row: Row) -> Iterator[str]:
    yield "<tr>"
    yield f"<td><code>{_text(row.sha or 'not known')}</code></td>"
    yield f"<td>{_text(row.state)}</td>"
    yield f"<td><strong>{_text(row.subject) or '(no title)'}</strong>"
    when = "" if row.override is not None else f"{day(row.event.timestamp)} "
    by = who(row)
    yield f"<br>{when}{_text(row.reason)}{f', {_text(by)}' if by else ''}"
    yield f'<br><span class="proof">{_text(proof_of(row))}</span>'
    items = [f"also: {line}" for line in earlier(row)] + more(row)
    if items:
        yield "<ul>"
        yield from (f"<li>{_text(item)}</li>" for item in items)
        yield "</ul>"
    yield "</td>"
    yield "</tr>"


def _text(text: str | None) -> str:
    return html.escape(printable(text))

"""Lines of text that several commands show: a message in a list, an event, a proof."""

from __future__ import annotations

from collections.abc import Iterable

from patchlore.commands.common import Style, print_json, print_lines, terminal_width
from patchlore.kb.events import Event
from patchlore.kb.reading import Brief, briefs
from patchlore.kb.store import Archive
from patchlore.kb.text import count, day, printable, proof, shorten


def brief_line(brief: Brief, indent: str = "") -> str:
    """Return a message as a line: date, kind, sender, subject."""
    sender = printable(brief.sender) or "(no sender)"
    head = f"{indent}{day(brief.timestamp)}  {brief.kind}, {sender}: "
    return shorten(head + (printable(brief.subject) or "(no subject)"), terminal_width())


def brief_lines(brief: Brief, style: Style, indent: str = "") -> list[str]:
    """Return a message as two lines: as in a list, and its Message-ID."""
    return [brief_line(brief, indent), style.proof(f"{indent}  <{printable(brief.key)}>")]


def print_naming(
    archive: Archive, messages: Iterable[int], kind: str, name: str, heading: str, *, as_json: bool
) -> None:
    """Print the messages (row ids) that name something, the oldest first.

    As JSON one object: NAME under the key KIND, and ``messages``; else a line
    with HEADING and their count, then two lines each.
    """
    found = sorted(briefs(archive, messages).values(), key=lambda brief: brief.timestamp or 0)
    if as_json:
        print_json({kind: name, "messages": found})
        return
    style = Style()
    print_lines([style.head(f"{heading}: {count(len(found), 'mail')}")])
    for brief in found:
        print_lines(brief_lines(brief, style))


def proof_line(
    style: Style,
    key: str,
    line: int | None,
    text: str | None,
    confidence: str,
    indent: str = "    ",
) -> str:
    """Return the line that proves a fact."""
    return style.proof(shorten(indent + proof(key, line, text, confidence), 2 * terminal_width()))


def event_lines(event: Event, style: Style, indent: str = "  ") -> list[str]:
    """Return an event of a backport as two lines: what happened, and the proof."""
    by = f", {printable(event.by)}" if event.by else ""
    return [
        f"{indent}{day(event.timestamp)}  {printable(event.words())}{by}",
        proof_line(style, event.key, event.line, event.text, event.confidence, indent + "  "),
    ]

"""Lines of text that several commands show: a message in a list, an event, a proof."""

from __future__ import annotations

from patchlore.commands.common import Style, terminal_width
from patchlore.kb.events import Event
from patchlore.kb.reading import Brief
from patchlore.kb.text import day, printable, proof, shorten


def brief_line(brief: Brief, indent: str = "") -> str:
    """Return a message as a line: date, kind, sender, subject."""
    sender = printable(brief.sender) or "(no sender)"
    head = f"{indent}{day(brief.timestamp)}  {brief.kind}, {sender}: "
    return shorten(head + (printable(brief.subject) or "(no subject)"), terminal_width())


def brief_lines(brief: Brief, style: Style, indent: str = "") -> list[str]:
    """Return a message as two lines: as in a list, and its Message-ID."""
    return [brief_line(brief, indent), style.proof(f"{indent}  <{printable(brief.key)}>")]


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

"""Text for people: what came from mail made harmless for a terminal, dates, plurals."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# C0 and C1 controls, and what turns the direction of writing or hides in a line.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


_COMMIT = re.compile(r"[0-9a-f]{40}")


def printable(text: str | None) -> str:
    """Return text from mail as one line that a terminal can only show.

    Control characters (ESC and C1, which move the cursor or answer queries) and
    marks of direction stand as ``\\x1b`` and ``\\u202e``; a tab is a blank.
    """
    return "" if text is None else _UNSAFE.sub(_escape, text.replace("\t", " "))


def escaped(text: str) -> str:
    """Return text as one line from which ``unescaped`` makes it again: a name to copy."""
    return _UNSAFE.sub(_escape, text)


_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U000([0-9a-f]{5}))")


def unescaped(text: str) -> str:
    """Return the text that ``printable`` or ``escaped`` has shown as ``text``.

    >>> unescaped(r"a\x1bb\x22")
    'a\x1bb"'
    """
    return _ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), text)


def printable_lines(text: str) -> str:
    """Return text from mail for a terminal, its lines and tabs kept."""
    return "\n".join(
        _UNSAFE.sub(lambda match: match[0] if match[0] == "\t" else _escape(match), line)
        for line in text.split("\n")
    )


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, width: int) -> str:
    """Return text cut to ``width`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(0, width - 1)].rstrip() + "…"


def day(timestamp: int | None) -> str:
    """Return the day of a time (UTC) as ``2024-01-02``, or ten dashes."""
    if timestamp is None:
        return "-" * 10
    try:
        return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return "-" * 10


def iso(timestamp: int | None) -> str | None:
    """Return a time as ``2024-01-02T03:04:05Z``, or None."""
    if timestamp is None:
        return None
    try:
        return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 mail``, ``2 mails``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def proof(key: str, line: int | None, text: str | None, confidence: str = "certain") -> str:
    """Return the line that proves a fact: ``<id> line 3 (high): the text``, ``commit …: …``."""
    place = {None: "", 0: " header"}.get(line, f" line {line}")
    sure = "" if confidence == "certain" else f" ({confidence})"
    said = f": {printable(text).strip()}" if text else ""
    # A commit of a git tree proves a fact as a mail does.
    name = f"commit {key}" if _COMMIT.fullmatch(key) else f"<{printable(key)}>"
    return f"{name}{place}{sure}{said}"

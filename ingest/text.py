"""``Text``: a mail's body as lines, each with its kind and its place in the body."""

from __future__ import annotations

import re
from itertools import accumulate
from operator import itemgetter

from patchlore.ingest import message as m
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.words import Words

PROSE = ord(m.KIND_PROSE)
HEADER = ord(m.KIND_HEADER)
QUOTED = ord(m.KIND_QUOTED)
FOREIGN = ord(m.KIND_FOREIGN)
CUT = ord(m.KIND_CUT)
NOTE = ord(m.KIND_NOTE)
STAT = ord(m.KIND_STAT)
DIFF = ord(m.KIND_DIFF)
HUNK = ord(m.KIND_HUNK)
ADDED = ord(m.KIND_ADDED)
REMOVED = ord(m.KIND_REMOVED)
CONTEXT = ord(m.KIND_CONTEXT)
BINARY = ord(m.KIND_BINARY)
SIGNATURE = ord(m.KIND_SIGNATURE)
FOOTER = ord(m.KIND_FOOTER)
PREAMBLE = ord(m.KIND_PREAMBLE)

#: Kinds that make up a diff.
DIFF_KINDS = frozenset([DIFF, HUNK, ADDED, REMOVED, CONTEXT, BINARY])
#: Kinds in which the author speaks.
OWN_KINDS = frozenset([PROSE, HEADER, NOTE, PREAMBLE])
#: Lines of one kind below each other, in ``kinds``.
_RUNS = {kind: re.compile(b"%c+" % kind) for kind in (PROSE, NOTE)}


class Text:
    """Lines of a body. ``kinds[n]`` is the kind of ``lines[n]`` (a KIND_ character's code).

    A flattened body has one line in ``body``; ``lines`` are then the pieces
    it was cut into again and ``line_number`` is 1 for each of them.
    """

    __slots__ = ("body", "flat", "heads", "kinds", "lines", "longest", "parts", "starts", "words")

    def __init__(self, body: str, lines: list[str], starts: list[int], flat: bool = False) -> None:
        self.body = body
        self.lines = lines
        self.starts = starts
        self.flat = flat
        self.kinds = bytearray([PROSE]) * len(lines)
        #: Characters of the longest line.
        self.longest = max(map(len, lines), default=0)
        #: Where the words stand that layout and facts look for.
        self.words = Words(body)
        #: The first character of each line (a blank for an empty one): most
        #: questions about lines are settled by one scan over these.
        self.heads = heads_of(lines) if flat else _heads_at(body, starts, len(lines))
        #: First line, line after the last one, and the part, for each text part.
        self.parts: list[tuple[int, int, TextPart]] = []

    def line_number(self, index: int) -> int:
        """1-based line in ``body`` of the line at INDEX; 0 for the headers (INDEX below 0)."""
        if index < 0:
            return 0
        return 1 if self.flat else index + 1

    def span(self, index: int, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """Characters of ``body`` that START..END of a line take."""
        if index < 0:
            return None
        offset = self.starts[index]
        stop = len(self.lines[index]) if end is None else end
        return offset + start, offset + stop

    def lines_of_kind(self, kind: int, start: int, end: int) -> list[tuple[int, str]]:
        """The lines of KIND from START on before END, each with its index."""
        found: list[tuple[int, str]] = []
        for run in _RUNS[kind].finditer(self.kinds, start, max(end, start)):
            first, last = run.span()
            found += zip(range(first, last), self.lines[first:last], strict=True)
        return found

    def drop_returns(self) -> None:
        """Take CR from the ends of lines that are no diff: a mailer or two wrote some of each end.

        A diff's are content: it may be one of a file with such ends.
        """
        for index, kind in enumerate(self.kinds):
            if kind not in DIFF_KINDS and self.lines[index].endswith("\r"):
                self.lines[index] = self.lines[index].rstrip("\r")

    def part_end(self, index: int) -> int:
        """The line after the last one of the part that holds line INDEX."""
        for start, end, _ in self.parts:
            if start <= index < end:
                return end
        return len(self.lines)

    def line_kinds(self) -> str:
        """The kinds as one string, a character for each line of ``body``."""
        if self.flat:  # one line, whatever it was cut into
            return m.KIND_PROSE if self.body else ""
        return self.kinds.decode("ascii")


def heads_of(lines: list[str]) -> str:
    """The first character of each line, a blank for an empty one."""
    return "".join([line[:1] or " " for line in lines])


def _heads_at(body: str, starts: list[int], count: int) -> str:
    """The same for COUNT lines that begin at STARTS: an empty line's character is its end."""
    if count < 2:
        return body[:1].replace("\n", " ") if count else ""
    heads: tuple[str, ...] = itemgetter(*starts[:count])(body)
    return "".join(heads).replace("\n", " ")


def text_of(mail: Mail) -> Text:
    """Join the text parts of a mail (one that is not flattened) and cut them into lines.

    Only LF ends a line: U+2028, form feeds and the like are content, and a
    patch must not gain lines by them.
    """
    parts = mail.parts
    if len(parts) == 1:
        body = parts[0].text
    else:
        body = "".join(
            part.text if part.text.endswith("\n") or not part.text else part.text + "\n"
            for part in parts
        )
    lines = body.split("\n")
    if lines[-1] == "":
        lines.pop()
    starts = list(accumulate([len(line) + 1 for line in lines], initial=0))
    text = Text(body, lines, starts)
    if len(parts) == 1:
        text.parts.append((0, len(lines), parts[0]))
        return text
    position = 0
    for number, part in enumerate(parts):
        size = part.text.count("\n")
        if part.text and not part.text.endswith("\n"):
            size += 1
        end = len(lines) if number == len(parts) - 1 else position + size
        text.parts.append((position, end, part))
        position = end
    return text

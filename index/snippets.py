"""Snippets: the line of a message that shows best why it was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from patchlore.index.document import Searched, code_line
from patchlore.index.words import word_spans
from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_BINARY,
    KIND_CONTEXT,
    KIND_CUT,
    KIND_DIFF,
    KIND_FOREIGN,
    KIND_HUNK,
    KIND_QUOTED,
    KIND_REMOVED,
    KIND_STAT,
    Message,
)

#: Characters of a line that are shown.
WIDTH = 160

#: So many lines with one of the words are weighed; a later one is hardly better.
_ENOUGH = 12

#: Characters of a body that are put in lower case at once.
_PIECE = 16_384

# What the author wrote comes first ("0"), what others wrote last; some lines are never shown.
_NEVER = "9"
_ORDER = {
    KIND_HUNK: "1",
    KIND_ADDED: "1",
    KIND_REMOVED: "1",
    KIND_STAT: "2",
    KIND_CONTEXT: "3",
    KIND_DIFF: "3",
    KIND_QUOTED: "4",
    KIND_FOREIGN: "4",
    KIND_BINARY: _NEVER,
    KIND_CUT: _NEVER,
}
_ORDERS = dict.fromkeys(range(128), "0") | {ord(kind): order for kind, order in _ORDER.items()}


class Snippet(Struct, frozen=True):
    """A line of a body: ``line`` is its 1-based number, ``kind`` its KIND_ constant.

    ``marks`` are the offsets in ``text`` of the words that were asked for.
    """

    text: str
    line: int
    kind: str
    marks: tuple[tuple[int, int], ...] = ()


def make_snippet(
    message: Message | Searched, words: Collection[str], subject: str = ""
) -> Snippet | None:
    """Return the best line of MESSAGE with one of WORDS, or None when no line has any.

    Nor is a line shown when SUBJECT, which stands above it, has more of the words.

    A word with ``*`` at its end is the beginning of words. The author's own
    words win over the diff, that over quotations; then the line with more of
    the words, then the earlier one.
    """
    if not words:
        return None
    whole = {word for word in words if not word.endswith("*")}
    starts = tuple(word[:-1] for word in words if word.endswith("*"))
    likely = re.compile("|".join(re.escape(word) for word in (*whole, *starts)))
    best: tuple[tuple[str, int], int, str, str, list[tuple[int, int]]] | None = None
    kinds = message.line_kinds
    orders = kinds.translate(_ORDERS)
    lines, lowest = _own_lines(message.body, orders, likely), "0"
    for _ in range(2):
        seen = 0
        for number, line in lines:
            order = orders[number - 1 : number] or "0"
            if order < lowest or order == _NEVER or (best is not None and order > best[0][0]):
                continue
            if best is not None and order == best[0][0] and seen >= _ENOUGH:
                if order == lowest:
                    break
                continue
            found = [
                (word, start, end)
                for word, start, end in word_spans(line[:2000])
                if word in whole or (starts and word.startswith(starts))
            ]
            if not found:
                continue
            rank = (order, -len({word for word, _, _ in found}))
            seen = 1 if best is None or order < best[0][0] else seen + 1
            if best is None or rank < best[0]:
                kind = kinds[number - 1 : number]
                best = (rank, number, kind, line, [(start, end) for _, start, end in found])
        lowest = min(orders.replace("0", _NEVER), default=_NEVER)
        if best is not None or lowest == _NEVER:
            break
        lines = _likely_lines(message.body, likely)
    if best is None:
        return None
    rank, number, kind, line, marks = best
    titled = {
        word
        for word, _, _ in word_spans(subject[:2000])
        if word in whole or (starts and word.startswith(starts))
    }
    if len(titled) > -rank[1]:
        return None
    return _cut(line, number, kind, marks)


def find_snippet(
    message: Message | Searched,
    kinds: str,
    span: Callable[[str], tuple[int, int] | None],
) -> Snippet | None:
    """Return the first line of a diff, of one of KINDS, in which SPAN finds something."""
    lines = zip(message.body.split("\n"), message.line_kinds, strict=False)
    for number, (line, kind) in enumerate(lines, 1):
        if kind in kinds:
            text = code_line(line, kind)
            found = span(text)
            if found is not None:
                shift = len(line) - len(text)
                return _cut(line, number, kind, [(found[0] + shift, found[1] + shift)])
    return None


def _own_lines(body: str, orders: str, likely: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of the author's own lines that LIKELY matches in lower case."""
    lines = body.split("\n")
    orders = orders.ljust(len(lines), "0")
    place = orders.find("0", 0, len(lines))
    while place >= 0:
        if likely.search(lines[place].lower()):
            yield place + 1, lines[place]
        place = orders.find("0", place + 1, len(lines))


def _likely_lines(body: str, likely: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of BODY that LIKELY matches in lower case.

    The body is looked at piece by piece: most times the first one is enough.
    """
    number, begin = 1, 0
    while begin < len(body):
        end = body.find("\n", begin + _PIECE)
        end = len(body) if end < 0 else end + 1
        piece = body[begin:end]
        yield from _likely_lines_of(piece, number, likely)
        number += piece.count("\n")
        begin = end


def _likely_lines_of(piece: str, number: int, likely: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    lower = piece.lower()
    if len(lower) != len(piece):  # some capitals have longer small forms
        lower = "".join(small if len(small := char.lower()) == 1 else char for char in piece)
    start, end = 0, -1
    for match in likely.finditer(lower):
        if match.start() < end:
            continue  # the line was told already
        number += lower.count("\n", start, match.start())
        start = lower.rfind("\n", 0, match.start()) + 1
        end = lower.find("\n", match.start())
        end = len(lower) if end < 0 else end
        yield number, piece[start:end]


def _cut(line: str, number: int, kind: str, marks: list[tuple[int, int]]) -> Snippet:
    """The part of a line around its first mark."""
    start = len(line) - len(line.lstrip())
    if marks[0][1] > start + WIDTH - 20:
        start = max(start, marks[0][0] - WIDTH // 3)
    end = min(len(line.rstrip()), start + WIDTH)
    head = "…" if line[:start].strip() else ""
    tail = "…" if line[end:].strip() else ""
    shift = len(head) - start
    return Snippet(
        head + line[start:end] + tail,
        number,
        kind,
        tuple((first + shift, last + shift) for first, last in marks if last <= end),
    )

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

# What the author wrote comes first, what others wrote last.
_ORDER = {
    KIND_HUNK: 1,
    KIND_ADDED: 1,
    KIND_REMOVED: 1,
    KIND_STAT: 2,
    KIND_CONTEXT: 3,
    KIND_DIFF: 3,
    KIND_QUOTED: 4,
    KIND_FOREIGN: 4,
}
_NEVER = frozenset((KIND_BINARY, KIND_CUT))


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
    best: tuple[tuple[int, int], int, str, str, list[tuple[int, int]]] | None = None
    seen = 0
    for number, line in _likely_lines(message.body, likely):
        kind = message.line_kinds[number - 1 : number]
        order = _ORDER.get(kind, 0)
        if kind in _NEVER or (best is not None and order > best[0][0]):
            continue
        found = [
            (word, start, end)
            for word, start, end in word_spans(line[:2000])
            if word in whole or (starts and word.startswith(starts))
        ]
        if not found:
            continue
        rank = (order, -len({word for word, _, _ in found}))
        if best is None or rank < best[0]:
            best = (rank, number, kind, line, [(start, end) for _, start, end in found])
        seen += 1
        if order == 0 and seen >= _ENOUGH:
            break
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

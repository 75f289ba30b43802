"""Matching regular expressions over lines in linear time, by RE2.

Python's ``re`` tries alternatives one by one, and ``(a+)+b`` over a line of
forty letters takes it years.  RE2 advances all alternatives together
(R. Cox, "Regular Expression Matching Can Be Simple And Fast", 2007) and takes
time linear in the text.  An expression is written anew for it from our tree:
so the dialect is ours, and a mistake has a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from patchlore.index.regexes import (
    Assertion,
    Choice,
    Literal,
    OneOf,
    Regex,
    RegexError,
    Repeat,
    Sequence,
    Tree,
)

# google-re2 has no types: for the checker it is Any.
_re2: Any = import_module("re2")

#: Characters of a line that are looked at.
LINE_LIMIT = 2000

#: Steps of RE2's program: where its automaton grows too large, each
#: character of the text costs as many.
_MOST_STEPS = 3000

#: What an assertion is in a line by itself, and in a block of lines that have
#: their kind in front: there it lets through what ``found`` looks at closely.
_IN_LINE = {"^": "^", "$": "$", "b": r"\b", "B": r"\B"}
_IN_BLOCK = {"^": "(?m:^)[-+=@]?", "$": "(?m:$)", "b": "", "B": ""}
_IN_NAMES = dict.fromkeys("^$bB", "")

_SET_PIECE = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.|[^\\]", re.DOTALL)
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7, "b": 8, "0": 0}


class LineMatcher:
    """Says whether lines have a match of an expression, and where."""

    def __init__(self, regex: Regex, *, in_names: bool = False) -> None:
        """Prepare REGEX; raises RegexError when it is too large.

        ``in_names``: it is for names that lines hold, not for whole lines, so a
        block says nothing of where a name begins or ends.
        """
        self._line = _compile(regex, _IN_LINE, longest=True)
        self._block = _compile(regex, _IN_NAMES if in_names else _IN_BLOCK)

    def found(self, line: bytes) -> bool:
        """Whether LINE (UTF-8, without its line end) has a match."""
        if len(line) > LINE_LIMIT:
            line = line.decode("utf-8", "replace")[:LINE_LIMIT].encode()
        return self._line.search(line) is not None

    def span(self, line: str) -> tuple[int, int] | None:
        """Offsets of the leftmost match in LINE, as long as it can be from there."""
        data = line[:LINE_LIMIT].encode("utf-8", "replace")
        match = self._line.search(data)
        if match is None:
            return None
        start, end = match.span()
        return len(data[:start].decode("utf-8", "ignore")), len(
            data[:end].decode("utf-8", "ignore")
        )

    def candidate(self, data: bytes, start: int, end: int) -> int:
        """Where in DATA, between the offsets, is the first line that may have a match; or -1.

        Lines have their kind in front of them.  The offset is one within the line.
        """
        match = self._block.search(data, start, end)
        return -1 if match is None else int(match.start())


def _compile(regex: Regex, assertions: dict[str, str], *, longest: bool = False) -> Any:
    options = _re2.Options()
    options.never_nl = options.never_capture = True
    options.log_errors = False
    options.longest_match = longest
    too_large = "The expression is too large: use shorter repeats."
    source = _source(regex.tree, assertions, regex.ignore_case)
    try:
        made = _re2.compile(source, options)
    except _re2.error:
        raise RegexError(too_large) from None
    if made.programsize > _MOST_STEPS:
        raise RegexError(too_large)
    return made


def _source(tree: Tree, assertions: dict[str, str], ignore_case: bool) -> str:
    """The expression as RE2 writes it."""
    if isinstance(tree, Sequence):
        return "".join(_source(item, assertions, ignore_case) for item in tree.items)
    if isinstance(tree, Choice):
        items = (_source(item, assertions, ignore_case) for item in tree.items)
        return f"(?:{'|'.join(items)})"
    if isinstance(tree, Repeat):
        item = f"(?:{_source(tree.item, assertions, ignore_case)})"
        if tree.high is None:
            return f"{item}*" if not tree.low else f"{item}{{{tree.low},}}"
        return f"{item}{{{tree.low},{tree.high}}}"
    if isinstance(tree, Assertion):
        return assertions[tree.kind]
    if isinstance(tree, Literal):
        return _set("", [(ord(tree.char), ord(tree.char))], "", ignore_case)
    if tree.source.startswith("["):
        return _set_source(tree, ignore_case)
    return tree.source


def _set_source(one_of: OneOf, ignore_case: bool) -> str:
    """A set of characters, each written by its number: "[^]a-c\\w]"."""
    body = one_of.source[1:-1]
    negated = body.startswith("^")
    pieces = _SET_PIECE.findall(body[negated:])
    ranges: list[tuple[int, int]] = []
    classes = ""
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        index += 1
        if re.fullmatch(r"\\[dDwWsS]", piece):
            classes += piece
        elif index + 1 < len(pieces) and pieces[index] == "-":
            ranges.append((_number(piece), _number(pieces[index + 1])))
            index += 2
        else:
            ranges.append((_number(piece), _number(piece)))
    return _set("^" * negated, ranges, classes, ignore_case)


def _number(piece: str) -> int:
    """The character that a piece of a set stands for."""
    if len(piece) > 2:
        return int(piece[2:], 16)
    return _CONTROLS.get(piece[1], ord(piece[1])) if len(piece) == 2 else ord(piece)


def _set(sign: str, ranges: Iterable[tuple[int, int]], classes: str, fold: bool) -> str:
    """A set as RE2 has it; without case an ASCII letter means both of it, and nothing else."""
    ranges = list(ranges)
    every = [*ranges, *(_other_case(ranges) if fold else ())]
    # RE2 takes no surrogates; text in UTF-8 has none.
    written = "".join(
        f"\\x{{{low:x}}}-\\x{{{high:x}}}"
        for one, other in every
        for low, high in ((one, min(other, 0xD7FF)), (max(one, 0xE000), other))
        if low <= high
    )
    if not written and not classes:
        return "." if sign else r"[^\x00-\x{10FFFF}]"
    return f"[{sign}{written}{classes}]"


def _other_case(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for low, high in ranges:
        for first, shift in ((0x41, 32), (0x61, -32)):
            start, end = max(low, first), min(high, first + 25)
            if start <= end:
                yield start + shift, end + shift

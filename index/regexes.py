"""Regular expressions of a query: text to a tree, and the literals that a match must have.

The dialect is what ``grep -E`` and Python's ``re`` have in common (regex.lark).
It has no back-references and no looking around, so that every expression can be
matched in time linear in the text (``patchlore.index.line_matcher``).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Set
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from lark import Lark

#: Longer expressions are refused.
LONGEST = 1000

#: Copies that a repeat like {3,50} may make of what is before it.
MOST_REPEATS = 100


class RegexError(ValueError):
    """An expression can't be understood; ``place`` is the offset of the mistake."""

    def __init__(self, text: str, place: int = 0) -> None:
        super().__init__(text)
        self.place = place


class Literal(Struct, frozen=True):
    """One character."""

    char: str


class OneOf(Struct, frozen=True):
    """A character of a set, written as ``re`` has it: ``[a-z_]``, ``\\w``, ``.``."""

    source: str


class Assertion(Struct, frozen=True):
    """A place without width: ``^``, ``$``, ``b`` (at a word's edge), ``B`` (not at one)."""

    kind: str


class Sequence(Struct, frozen=True):
    """One after the other."""

    items: tuple[Tree, ...]


class Choice(Struct, frozen=True):
    """At least one of these."""

    items: tuple[Tree, ...]


class Repeat(Struct, frozen=True):
    """``low`` to ``high`` times (None: any number)."""

    item: Tree
    low: int
    high: int | None


Tree = Literal | OneOf | Assertion | Sequence | Choice | Repeat


class Regex(Struct, frozen=True):
    """An expression: its tree, its text, and whether case does not matter.

    ``required``: groups of literals; a line that matches has at least one
    literal of each group. They are in lower case when case does not matter.
    """

    text: str
    ignore_case: bool
    tree: Tree
    required: tuple[frozenset[str], ...] = ()


def parse_regex(text: str, ignore_case: bool = False) -> Regex:
    """Return the expression that TEXT is; raises RegexError with the place of a mistake."""
    import lark

    if len(text) > LONGEST:
        raise RegexError(f"An expression has at most {LONGEST} characters.", LONGEST)
    try:
        tree = _build(_parser().parse(text))
    except lark.exceptions.UnexpectedCharacters as error:
        place = error.pos_in_stream or 0
        raise RegexError(_reason(text, place), place) from None
    except lark.exceptions.UnexpectedInput as error:  # a token, or the end
        found = getattr(error, "pos_in_stream", None)
        place = len(text) if found is None or found < 0 else int(found)
        raise RegexError(_reason(text, place), min(place, max(0, len(text) - 1))) from None
    except RecursionError:
        raise RegexError("The groups are nested too deeply.") from None
    required = _Required(ignore_case).of(tree)
    return Regex(text, ignore_case, tree, tuple(dict.fromkeys(required)))


def _reason(text: str, place: int) -> str:
    """What is wrong at a place, for a person."""
    char = text[place : place + 1]
    if text.startswith("?", place) and text[max(0, place - 1) : place] == "(":
        return "Looking around and flags in '(?…)' are not supported; '(?:…)' groups."
    if char and char in "*+?{":
        return f"There is nothing to repeat before '{char}'; to search for it write '\\{char}'."
    if char == "\\":
        shown = text[place : place + 2]
        if shown[1:].isdigit():
            return f"'{shown}': back-references are not supported."
        return f"'{shown}' is not known; a backslash itself is '\\\\'."
    if char == "[":
        return "'[' is not closed; to search for it write '\\['."
    if char == ")":
        return "There is no '(' for this ')'; to search for it write '\\)'."
    if not char or char == "(" or text[place - 1 : place] == "(":
        return "'(' is not closed; to search for it write '\\('."
    return f"'{char}' can't stand here."


@lru_cache(maxsize=1)
def _parser() -> Lark:
    import lark

    grammar = resources.files("patchlore.index").joinpath("regex.lark").read_text("utf-8")
    return lark.Lark(grammar, parser="lalr", lexer="basic")


# -- from lark's tree to ours -----------------------------------------------------------

_CONTROLS = {"t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b", "0": "\0"}


def _build(tree: Any) -> Tree:
    kind, children = tree.data, tree.children
    if kind in ("start", "group"):
        return _build(children[0])
    if kind == "alternatives":
        items = tuple(_build(child) for child in children)
        return items[0] if len(items) == 1 else Choice(items)
    if kind == "sequence":
        items = tuple(_build(child) for child in children)
        return items[0] if len(items) == 1 else Sequence(items)
    if kind == "repeated":
        item = _build(children[0])
        return item if len(children) == 1 else _repeat(item, children[1])
    token = children[0]
    if kind == "one_of":
        return _one_of(token)
    if kind == "assertion":
        return Assertion(token.value.removeprefix("\\"))
    return Literal(_char(token))


def _char(token: Any) -> str:
    text = str(token.value)
    if token.type == "CHAR":
        return text
    if token.type == "CODE":
        return chr(int(text[2:], 16))
    if token.type == "CONTROL":
        return _CONTROLS[text[1:]]
    return text[1:]


def _one_of(token: Any) -> OneOf:
    source = str(token.value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "[[a]": may mean something else one day
            re.compile(source)
    except re.error as error:
        reason = f"'{source}' is no set of characters: {error.msg}."
        raise RegexError(reason, _start(token)) from None
    return OneOf(source)


def _repeat(item: Tree, token: Any) -> Tree:
    text = token.value if len(token.value) == 1 else token.value.removesuffix("?")
    if text in ("*", "+", "?"):
        return Repeat(item, int(text == "+"), 1 if text == "?" else None)
    low, comma, high = text[1:-1].partition(",")
    least = int(low or 0)
    most = None if comma and not high else int(high or low)
    if (most is not None and most < least) or max(least, most or 0) > MOST_REPEATS:
        raise RegexError(
            f"'{text}': give two numbers up to {MOST_REPEATS}, the smaller first.", _start(token)
        )
    return Repeat(item, least, most)


def _start(token: Any) -> int:
    return int(token.start_pos or 0)


# -- what every match must have ------------------------------------------------------------

#: An alternation of more literals filters hardly better than none.
_MOST_ALTERNATIVES = 16


class _Required:
    """Finds the literals that every line with a match must have."""

    def __init__(self, ignore_case: bool) -> None:
        self._ignore_case = ignore_case

    def of(self, tree: Tree) -> list[frozenset[str]]:
        """Groups of literals: of each group at least one stands in every match."""
        groups: list[frozenset[str]] = []
        run = ""
        for item in self._flat(tree):
            if isinstance(item, Literal) and (char := self._plain(item.char)):
                run += char
                continue
            if run and not isinstance(item, Assertion):
                groups.append(frozenset((run,)))
                run = ""
            if isinstance(item, Choice):
                groups += self._choice(item)
            elif isinstance(item, Repeat) and item.low:
                groups += self.of(item.item)
        if run:
            groups.append(frozenset((run,)))
        return groups

    def _flat(self, tree: Tree) -> list[Tree]:
        if isinstance(tree, Sequence):
            return [part for item in tree.items for part in self._flat(item)]
        if isinstance(tree, Repeat) and tree.low == tree.high and tree.low <= 4:
            return self._flat(tree.item) * tree.low
        return [tree]

    def _choice(self, choice: Choice) -> list[frozenset[str]]:
        best: set[str] = set()
        for item in choice.items:
            alternatives = self.of(item)
            if not alternatives:
                return []
            best |= max(alternatives, key=selectivity)
        return [frozenset(best)] if len(best) <= _MOST_ALTERNATIVES else []

    def _plain(self, char: str) -> str:
        """CHAR as it is filtered by; "" where bytes can't be compared without case ("É")."""
        if not self._ignore_case:
            return char
        return char.lower() if char.isascii() else ""


def selectivity(group: Set[str]) -> tuple[int, int]:
    """How well a group of literals filters, for comparing: by its shortest one."""
    return (min(map(len, group), default=0), -len(group))

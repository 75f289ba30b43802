"""The query language: text to a tree of what is asked.

The grammar is in query.lark; it is that of Xapian's QueryParser, since that is
what lore's search box understands.  Punctuation never makes a query invalid:
what can't be an operator is a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from patchlore.index.dates import parse_size_range, parse_time_range
from patchlore.index.errors import QueryError
from patchlore.index.prefixes import (
    CODE_PREFIXES,
    PREFIXES,
    Prefix,
    find_prefix,
    nearest_prefix,
    nearest_trailer,
    trailer_prefix,
)
from patchlore.index.regexes import Regex, RegexError, parse_regex

if TYPE_CHECKING:
    from lark import Lark, Token


class Place(Struct, frozen=True):
    """Where something stands in a query: offsets of its first character and past its last."""

    start: int
    end: int


class Text(Struct, frozen=True):
    """Words or a phrase to look for; ``prefix`` is None for a bare word.

    ``text`` is as written: cutting it into words is the searcher's work.
    ``mistake``: why what stands between slashes is words and no expression.
    """

    text: str
    prefix: Prefix | None
    quoted: bool
    place: Place
    mistake: str | None = None


class Exact(Struct, frozen=True):
    """A value to look up among the facts."""

    value: str
    prefix: Prefix
    quoted: bool
    place: Place


class Span(Struct, frozen=True):
    """A span of time (seconds since 1970) or of sizes (bytes), both ends included."""

    low: int | None
    high: int | None
    prefix: Prefix
    place: Place


class Lines(Struct, frozen=True):
    """A regular expression over lines of diffs; ``prefix`` is None for lines of any kind."""

    regex: Regex
    prefix: Prefix | None
    place: Place


class All(Struct, frozen=True):
    """Everything that all of ``items`` match."""

    items: tuple[Node, ...]


class Either(Struct, frozen=True):
    """Everything that at least one of ``items`` matches."""

    items: tuple[Node, ...]


class Not(Struct, frozen=True):
    """Everything that ``item`` does not match."""

    item: Node


#: Characters of a query, and parentheses within parentheses.
MAX_LENGTH = 50_000
MAX_DEPTH = 50

Node = Text | Exact | Span | Lines | All | Either | Not
Leaf = Text | Exact | Span | Lines


def parse_query(text: str, is_trailer: Callable[[str], bool] = lambda name: False) -> Node:
    """Return the tree that TEXT asks for.

    ``is_trailer`` says whether an unknown prefix is a trailer that the archive
    knows. Raises QueryError, which points at the place, for an unknown prefix,
    an impossible value and for an empty query.
    """
    # What a shell passes on may be no UTF-8, and SQLite takes no NUL.
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    if not text.strip():
        raise QueryError(text, 0, 1, "Nothing is asked for.", "Give words or a prefix.")
    if len(text) > MAX_LENGTH:
        reason = f"The query has {len(text):,} characters, more than {MAX_LENGTH:,}."
        raise QueryError(text[:60], 59, 60, reason, "Ask for less at a time.")
    builder = _Builder(text, is_trailer)
    plain = _plain_terms(text)
    if plain is not None:
        return builder.build_plain(plain)
    return builder.build(_parser().parse(text))


def leaves(node: Node) -> Iterator[Leaf]:
    """Yield each leaf of a tree that is not negated, in order."""
    if isinstance(node, (All, Either)):
        for item in node.items:
            yield from leaves(item)
    elif not isinstance(node, Not):
        yield node


# -- words and prefixes without operators -------------------------------------------

# Most queries are such, and making lark's parser takes longer than their search.
_PLAIN_TERM = re.compile(r"([A-Za-z][\w-]*:)?([^\W_][\w.@+]*(?:-[\w.@+]+)*)")


class _Piece(Struct, frozen=True):
    """A prefix or a word and where it stands: of lark's tokens what the builder needs."""

    value: str
    start_pos: int
    end_pos: int


def _plain_terms(text: str) -> list[list[_Piece]] | None:
    """The terms of TEXT (prefix and word, or a word); None where only lark can tell."""
    terms: list[list[_Piece]] = []
    for found in re.finditer(r"\S+", text):
        match = _PLAIN_TERM.fullmatch(found[0])
        if match is None or match[2] in ("AND", "OR", "NOT"):
            return None
        start = found.start()
        terms.append(
            [
                _Piece(match[group], start + match.start(group), start + match.end(group))
                for group in (1, 2)
                if match[group]
            ]
        )
    return terms


# -- from text to a tree of lark's --------------------------------------------------

_OPERATORS = ("_AND", "_OR", "_NOT")
_VALUES = ("WORD", "PHRASE", "REGEX")


@lru_cache(maxsize=1)
def _parser() -> Lark:
    import lark

    grammar = resources.files("patchlore.index").joinpath("query.lark").read_text("utf-8")
    return lark.Lark(
        grammar, parser="lalr", lexer="basic", postlex=_Tidy(), propagate_positions=False
    )


class _Tidy:
    """Between lexer and parser: makes words of all that can't be what it looks like."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        tokens = list(stream)
        _pair_parentheses(tokens)
        tokens = [token for token in tokens if token.type not in ("_LPAR?", "_RPAR?")]
        before: Token | None = None
        for index, token in enumerate(tokens):
            after = tokens[index + 1] if index + 1 < len(tokens) else None
            if _is_misplaced(token, before, after):
                token = token.update(type="WORD")
                tokens[index] = token
            before = token
        if not tokens:
            from lark import Token

            tokens.append(Token("WORD", "()", start_pos=0, end_pos=1))
        return iter(tokens)


def _pair_parentheses(tokens: list[Token]) -> None:
    """Mark with "?" the parentheses that do not bracket a part of the query: "foo->bar()".

    Nor do those that are nested deeper than anybody asks.
    """
    open_: list[tuple[int, bool, int]] = []
    solid = 0  # tokens so far that stay
    for index, token in enumerate(tokens):
        if token.type == "_LPAR":
            brackets = len(open_) < MAX_DEPTH and _may_open(tokens, index)
            open_.append((index, brackets, solid))
        elif token.type == "_RPAR":
            start, brackets, before = open_.pop() if open_ else (index, False, solid)
            if not brackets or solid == before:
                tokens[start] = _unmark(tokens[start])
                tokens[index] = _unmark(tokens[index])
            else:
                solid += 2
        else:
            solid += 1
    for index, *_ in open_:
        tokens[index] = _unmark(tokens[index])


def _unmark(token: Token) -> Token:
    return token if token.type.endswith("?") else token.update(type=f"{token.type}?")


def _may_open(tokens: list[Token], index: int) -> bool:
    """Whether a "(" brackets: nothing is glued to its left but a prefix, a sign or a bracket."""
    if not index:
        return True
    before = tokens[index - 1]
    glued = before.end_pos == tokens[index].start_pos
    return not glued or before.type in ("PREFIX", "_PLUS", "_MINUS", "_LPAR")


def _is_misplaced(token: Token, before: Token | None, after: Token | None) -> bool:
    """Whether an operator, a sign or a prefix stands where it can't be one."""
    starts = before is None or before.type in ("_LPAR", *_OPERATORS)
    ends = after is None or after.type == "_RPAR"
    if token.type in ("_AND", "_OR"):
        # Behind it: something to search for, or NOT with something.
        return starts or ends or (after is not None and after.type in ("_AND", "_OR"))
    if token.type == "_NOT":
        fine = starts and before is not None and before.type == "_NOT"
        return fine or ends or (after is not None and after.type in _OPERATORS)
    if token.type in ("_PLUS", "_MINUS"):
        return after is None or after.type not in ("PREFIX", "_LPAR", *_VALUES)
    if token.type == "PREFIX":
        glued = after is not None and after.start_pos == token.end_pos
        return not glued or after is None or after.type not in ("_LPAR", *_VALUES)
    return False


# -- from lark's tree to ours ----------------------------------------------------------


class _Builder:
    """Makes our tree of lark's, with prefixes looked up and values checked."""

    def __init__(self, query: str, is_trailer: Callable[[str], bool]) -> None:
        self.query = query
        self.is_trailer = is_trailer

    def build(self, tree: Any, prefix: Prefix | None = None) -> Node:
        """Return the node for lark's TREE; ``prefix`` is that of the bracket around it."""
        kind, children = tree.data, tree.children
        if kind == "any_of":
            return _any([self.build(child, prefix) for child in children])
        if kind == "all_of":
            return _all([self.build(child, prefix) for child in children])
        if kind in ("hated", "negated"):
            return Not(self.build(children[0], prefix))
        if kind == "group":
            return self._group([self.build(child, prefix) for child in children])
        if kind == "lines":
            return self._lines(children[0], prefix)
        if len(children) == 2:
            prefix = self._prefix(children[0])
        if kind == "bracketed":
            return self.build(children[-1], prefix)
        return self._leaf(children, prefix, quoted=kind == "phrase")

    def build_plain(self, terms: list[list[_Piece]]) -> Node:
        """Return the node for terms that stand side by side."""
        nodes = []
        for term in terms:
            prefix = self._prefix(term[0]) if len(term) == 2 else None
            nodes.append(self._leaf(term, prefix, quoted=False))
        return self._group(nodes)

    def _group(self, items: list[Node]) -> Node:
        """Join what stands side by side: all of it, but any of several exact identifiers."""
        same: dict[str, list[Node]] = {}
        for item in items:
            if isinstance(item, Exact) and item.prefix.either:
                same.setdefault(item.prefix.name, []).append(item)
        joined: list[Node] = []
        for item in items:
            if isinstance(item, Exact) and item.prefix.either:
                if item is same[item.prefix.name][0]:
                    joined.append(_any(same[item.prefix.name]))
            else:
                joined.append(item)
        return _all(joined)

    def _prefix(self, token: Token | _Piece) -> Prefix | None:
        name = token.value[:-1]
        found = find_prefix(name)
        if found is None and self.is_trailer(name.lower()):
            found = trailer_prefix(name)
        near = None
        if found is not None and found.name not in PREFIXES and not self.is_trailer(found.name):
            near = nearest_trailer(name)
        if near is not None or (found is None and name[0].islower()):
            near = near or nearest_prefix(name)
            hint = f"Did you mean '{near}:'?" if near else "'patchlore search --help' lists them."
            place = _place(token)
            raise QueryError(
                self.query,
                place.start,
                place.end,
                f"There is no prefix '{name}:'.",
                f"{hint} To search for it as words, put it in quotes.",
            )
        return found

    def _leaf(
        self, children: Sequence[Token | _Piece], prefix: Prefix | None, *, quoted: bool
    ) -> Node:
        token = children[-1]
        value = token.value
        place = Place(_place(children[0]).start, _place(token).end)
        if quoted:
            value = value[1:].rstrip('"“”') if value[-1] in '"“”' else value[1:]
        elif len(children) == 2 and prefix is None:
            value = children[0].value + value  # "Re:foo": capitals make no prefix
        if prefix is None or prefix.kind in ("text", "people"):
            return Text(value, prefix, quoted, place)
        try:
            if prefix.kind == "time":
                return Span(*parse_time_range(value), prefix, place)
            if prefix.kind == "size":
                return Span(*parse_size_range(value), prefix, place)
            return Exact(self._checked(value, prefix), prefix, quoted, place)
        except ValueError as error:
            start = _place(token).start
            raise QueryError(self.query, start, place.end, str(error)) from None

    def _lines(self, token: Token, prefix: Prefix | None) -> Node:
        name, colon, _ = token.value.partition(":/")
        start = len(name) + 1 if colon and name.isalpha() else 0
        if start:
            prefix = find_prefix(name)
        elif prefix is not None and prefix.name not in CODE_PREFIXES:
            return self._leaf([token], prefix, quoted=False)  # "s:(/proc/)"
        ignore_case = token.value.endswith("i")
        text = token.value[start + 1 : -2 if ignore_case else -1]
        try:
            regex = parse_regex(text.replace("\\/", "/"), ignore_case)
        except RegexError as error:
            if prefix is None:  # "/* see above */": no search breaks on its punctuation
                return Text(token.value, None, False, _place(token), str(error))
            place = _place(token).start + start + 1 + error.place
            raise QueryError(self.query, place, place + 1, str(error)) from None
        return Lines(regex, prefix, _place(token))

    def _checked(self, value: str, prefix: Prefix) -> str:
        if prefix.choices:
            value = value.lower()
            if value not in prefix.choices:
                raise ValueError(
                    f"'{prefix.name}:' takes one of {', '.join(prefix.choices)}, not '{value}'."
                )
        return value


def _place(token: Token | _Piece) -> Place:
    return Place(token.start_pos or 0, token.end_pos or 0)


_Joined = TypeVar("_Joined", All, Either)


def _flat(items: Iterable[Node], kind: type[_Joined]) -> tuple[Node, ...]:
    flat: list[Node] = []
    for item in items:
        if isinstance(item, kind):
            flat += item.items
        else:
            flat.append(item)
    return tuple(flat)


def _all(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else All(_flat(items, All))


def _any(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Either(_flat(items, Either))

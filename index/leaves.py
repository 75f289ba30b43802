"""What the leaves of a query are: which need the text index, what they cost, what they mean."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from patchlore.index.query import All, Either, Exact, Leaf, Lines, Node, Not, Span, Text

_COLUMN = {"d": "timestamp", "dt": "timestamp", "rt": "coalesce(received, timestamp)", "z": "size"}


class Answered(Struct):
    """Part of a query that is answered already."""

    messages: set[int]


#: The prefixes of bugs, which ``where:`` belongs to.
BUG_PREFIXES = ("pr", "bug", "syzbot")


def bug_of(leaf: Exact) -> str:
    """The bug that a leaf of one of BUG_PREFIXES asks for: ``gcc:83356``."""
    tracker = {"pr": "gcc:", "bug": "", "syzbot": "syzbot:"}[leaf.prefix.name]
    return tracker + leaf.value.strip()


def is_exact(node: Node, name: str) -> bool:
    """Whether a node is the exact prefix NAME, or its negation."""
    if isinstance(node, Not):
        node = node.item
    return isinstance(node, Exact) and node.prefix.name == name


def negated_value(node: Not) -> str:
    """The value that must not be, of a negated exact leaf."""
    assert isinstance(node.item, Exact)
    return node.item.value


def is_text(leaf: Text) -> bool:
    """Whether words of the text are asked for, not of people's names."""
    return leaf.prefix is None or leaf.prefix.kind == "text"


def needs_index(leaf: Leaf) -> bool:
    """Whether the text index has to answer."""
    return isinstance(leaf, Lines) or (isinstance(leaf, Text) and is_text(leaf))


def is_in_body(leaf: Text) -> bool:
    """Whether a line of the body can show why the leaf finds a message."""
    return leaf.prefix is None or leaf.prefix.name != "s"


def all_leaves(node: Node) -> Iterator[Leaf]:
    """The leaves of a tree, negated ones too."""
    if isinstance(node, (All, Either)):
        for item in node.items:
            yield from all_leaves(item)
    elif isinstance(node, Not):
        yield from all_leaves(node.item)
    else:
        yield node


def cost(node: Node | Answered) -> int:
    """For sorting: what is cheap and finds little comes first."""
    if isinstance(node, (Answered, Exact)):
        return 0
    if isinstance(node, Text):
        return 2 if is_text(node) else 1
    if isinstance(node, Lines):
        return 4
    return 3


def span_condition(span: Span) -> tuple[str, list[object]]:
    """The condition on the table ``message`` that a span of times or sizes is."""
    column = _COLUMN[span.prefix.name]
    conditions: list[str] = []
    parameters: list[object] = []
    if span.low is not None:
        conditions.append(f"{column} >= ?")
        parameters.append(span.low)
    if span.high is not None:
        conditions.append(f"{column} <= ?")
        parameters.append(span.high)
    return " AND ".join(conditions), parameters

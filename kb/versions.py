"""Kernel versions and stable trees: one name for each tree, their order, intervals of notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from patchlore.ingest.stable_ranges import (
    Span,
    doubted_in,
    rank_of,
    read_ranges,
    without,
)

#: Texts longer than this are no version or range: notes are short.
_MAX_TEXT = 200

_VERSION = re.compile(
    r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}|[xy*]))?(?:-rc(\d{1,2}))?", re.IGNORECASE
)

# `linux-5.10.y`, `v5.10`, `5.10-stable`, `6.1.y-cip`, `linux-6.6.y-rt`, `stable/5.4`.
_TREE = re.compile(
    r"(?:linux-|stable[-/ ]|linux-stable-)?v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?:\.[yx*])?"
    r"(?:-stable)?(-[a-z][a-z0-9.-]{0,30})?",
    re.IGNORECASE,
)


class Version(Struct, frozen=True, order=True):
    """A kernel version; ``patch`` is the third number, 0 when there is none."""

    major: int
    minor: int
    patch: int = 0

    @property
    def tree(self) -> str:
        """The stable tree that this version belongs to: ``5.10.y`` for 5.10.7."""
        if self.major < 3:  # 2.6.32.y: until 2011 the third number was the release
            return f"{self.major}.{self.minor}.{self.patch}.y"
        return f"{self.major}.{self.minor}.y"

    @property
    def rank(self) -> int:
        """A number that orders trees; all versions of one tree have the same."""
        return rank_of(self.major, self.minor, self.patch)


class Interval(Struct, frozen=True):
    """Trees from ``low`` to ``high`` as ranks, both included; None is an open end."""

    low: int | None = None
    high: int | None = None

    def holds(self, tree_rank: int) -> bool:
        """Whether the tree with this rank lies in the interval."""
        return (self.low is None or self.low <= tree_rank) and (
            self.high is None or tree_rank <= self.high
        )

    def without(self, other: Interval) -> list[Interval]:
        """Return what is left of the interval outside of another: none, one or two pieces."""
        pieces = without((self.low, self.high), (other.low, other.high))
        return [Interval(low, high) for low, high in pieces]


def parse_version(text: str) -> Version | None:
    """Return the version that ``text`` is (``v5.10.7``, ``6.1``, ``5.4.x``), or None."""
    match = _VERSION.fullmatch(text.strip()) if len(text) <= _MAX_TEXT else None
    return None if match is None else _version_of(match)


def tree_name(text: str) -> str:
    """Return the one name of a tree: ``5.10.y`` for ``5.10``, ``linux-5.10.y``, ``v5.10``.

    A vendor's branch of a stable tree is a tree of its own (``6.1.y-cip``); a
    name that is no version (``net-next``) is returned as it is, without blanks
    around it.
    """
    text = text.strip()
    match = _TREE.fullmatch(text) if len(text) <= _MAX_TEXT else None
    if match is None:
        return text
    version = parse_version(match[1])
    if version is None:
        return text
    return version.tree + (match[2] or "").lower()


def short_name(tree: str) -> str:
    """Return the tree without the ``.y`` of stable trees: ``5.10``, as people say it."""
    return tree[:-2] if tree.endswith(".y") else tree


def is_stable(tree: str) -> bool:
    """Whether the tree's name is that of a stable tree or of a vendor's branch of one."""
    return rank(tree) is not None


def rank(tree: str) -> int | None:
    """Return the number that orders a stable tree among others; None for other trees."""
    match = _TREE.fullmatch(tree.strip()) if len(tree) <= _MAX_TEXT else None
    version = None if match is None else parse_version(match[1])
    return None if version is None else version.rank


def sort_key(tree: str) -> tuple[int, str]:
    """Return a key that sorts stable trees by version, newest first, others after them."""
    number = rank(tree)
    return (1, tree) if number is None else (-number, tree)


def release_of(text: str) -> tuple[str, str] | None:
    """Return (tree, release) of a release's name: ``6.6.9-rc1`` is (``6.6.y``, ``6.6.9-rc1``)."""
    match = _VERSION.fullmatch(text.strip()) if len(text) <= _MAX_TEXT else None
    if match is None:
        return None
    return _version_of(match).tree, text.strip().removeprefix("v")


#: Of a note that leaves out all that it asks for.
_NOWHERE = Interval(1, 0)


@lru_cache(maxsize=4096)
def parse_intervals(text: str | None, *, in_list: bool = False) -> tuple[Interval, ...]:
    """Return the trees that one range of a Cc: stable note names; none where it names none.

    ``5.4+``, ``>= 6.1`` and ``3.3.x-`` are open above, and so is a bare version
    (the kernel's stable rules: that tree and every newer one) unless it stands
    ``in_list`` with others; ``before 4.15``, ``5.12 and older``, ``between 4.19 and 5.4``
    and ``4.9 only`` are bounded; ``5.10+ but not 6.1`` has a hole.
    """
    ranges = None if not text else read_ranges(text, in_list=in_list)
    if ranges is not None and ranges.wanted:
        return tuple(Interval(low, high) for low, high in ranges.spans())
    found = None if not text or ranges is not None else _VERSION.search(text[:_MAX_TEXT])
    return () if found is None else (Interval(_version_of(found).rank, None),)


class LeftOut(Struct, frozen=True):
    """The trees that a note says not to be for, and those of which it says something unclear."""

    refused: tuple[Interval, ...] = ()
    doubted: tuple[Interval, ...] = ()


@lru_cache(maxsize=4096)
def left_out(range_: str | None, comment: str | None) -> LeftOut:
    """Return what a note's range and the comment beside it leave out."""
    refused: list[Span] = []
    doubted: list[Span] = []
    for text in (range_, comment):
        read = read_ranges(text) if text else None
        if read is not None:
            refused += read.unwanted
            doubted += read.doubted
        elif text:
            doubted += doubted_in(text)
    return LeftOut(
        tuple(Interval(low, high) for low, high in refused),
        tuple(Interval(low, high) for low, high in doubted),
    )


def note_intervals(
    notes: Sequence[tuple[str | None, str | None, str | None]],
) -> list[list[tuple[str | None, Interval | None]]]:
    """Return the intervals of each (range, comment, note text), with the range or None beside each.

    ``# 4.4, 4.9`` becomes two ranges with the same text: each is one tree.  The
    newest of a list of bare versions stays bounded too: who lists trees means them.
    A tree of which the note says something that is not understood has no range.
    """
    texts = Counter(text for _, _, text in notes)
    found: list[list[tuple[str | None, Interval | None]]] = []
    for range_, comment, text in notes:
        if range_ is None:
            read = read_ranges(comment) if comment else None
            spans = read.spans() if read is not None and read.unwanted else []
            found.append([(None, Interval(low, high)) for low, high in spans] or [(None, None)])
            continue
        pieces = parse_intervals(range_, in_list=text is not None and texts[text] > 1)
        for doubt in left_out(None, comment).doubted:
            pieces = tuple(piece for known in pieces for piece in known.without(doubt))
        rows: list[tuple[str | None, Interval | None]] = [(range_, piece) for piece in pieces]
        rows += [(None, doubt) for doubt in left_out(range_, comment).doubted]
        found.append(rows or [(range_, _NOWHERE)])
    return found


def newest_first(trees: Iterable[str]) -> list[str]:
    """Return the trees sorted by version, newest first, trees without a version last."""
    return sorted(trees, key=sort_key)


def _version_of(match: re.Match[str]) -> Version:
    third = match[3]
    return Version(int(match[1]), int(match[2]), int(third) if third and third.isdigit() else 0)

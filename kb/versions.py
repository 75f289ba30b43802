"""Kernel versions and stable trees: one name for each tree, their order, intervals of notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

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
        third = self.patch if self.major < 3 else 0
        return (self.major * 1000 + self.minor) * 1000 + third


class Interval(Struct, frozen=True):
    """Trees from ``low`` to ``high`` as ranks, both included; None is an open end."""

    low: int | None = None
    high: int | None = None

    def holds(self, tree_rank: int) -> bool:
        """Whether the tree with this rank lies in the interval."""
        return (self.low is None or self.low <= tree_rank) and (
            self.high is None or tree_rank <= self.high
        )


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


# Words and signs around versions in a note of a Cc: stable line
# (grammar/upstream-and-stable, "Cc: stable and its notes").
_AND_LATER = re.compile(
    r"\s*(?:\+|-(?!\s*v?\d)|and\s+(?:up|later|newer|above|onwards?)|onwards?|or\s+(?:later|newer)"
    r"|up(?:wards?)?\b)",
    re.IGNORECASE,
)
_AND_EARLIER = re.compile(
    r"\s*(?:and|or)\s+(?:older|earlier|below|before)|\s+only\s+and\s+older", re.IGNORECASE
)
_ONLY = re.compile(r"\s*only\b", re.IGNORECASE)
_FROM = re.compile(r"(?:>=|\+|from|since|for)\s*$", re.IGNORECASE)
_AFTER = re.compile(r"(?<![<>=])>\s*$")
_BEFORE = re.compile(r"(?:\bbefore|\bprior\s+to|<)\s*$", re.IGNORECASE)
_UP_TO = re.compile(r"(?:\bup\s+to|\buntil|\btill|<=)\s*$", re.IGNORECASE)
_RANGE_GAP = re.compile(r"\s*(?:-|–|to|and|through|\.\.+)\s*", re.IGNORECASE)


def parse_interval(text: str | None, *, in_list: bool = False) -> Interval | None:
    """Return the trees that one range of a Cc: stable note names, or None.

    ``5.4+``, ``>= 6.1`` and ``3.3.x-`` are open above, and so is a bare version
    (the kernel's stable rules: that tree and every newer one) unless it stands
    ``in_list`` with others; ``before 4.15``, ``5.12 and older``,
    ``between 4.19 and 5.4`` and ``4.9 only`` are bounded.
    """
    if not text or len(text) > _MAX_TEXT:
        return None
    found = list(_VERSION.finditer(text))
    if not found:
        return None
    first = found[0]
    low = _version_of(first).rank
    head, tail = text[: first.start()], text[first.end() :]
    if len(found) > 1:
        second = found[1]
        gap = text[first.end() : second.start()]
        if _RANGE_GAP.fullmatch(gap):
            high = _version_of(second).rank
            return Interval(min(low, high), max(low, high))
    if _BEFORE.search(head):
        return Interval(None, low - 1)
    if _UP_TO.search(head) or _AND_EARLIER.match(tail):
        return Interval(None, low)
    if _AFTER.search(head):
        return Interval(low + 1, None)
    if _ONLY.match(tail):
        return Interval(low, low)
    if _FROM.search(head) or _AND_LATER.match(tail):
        return Interval(low, None)
    return Interval(low, low if in_list else None)


def intervals(ranges: Sequence[tuple[str | None, str | None]]) -> list[Interval | None]:
    """Return the interval of each (range, note text); versions of one note are a list.

    ``# 4.4, 4.9`` becomes two ranges with the same text: each is one tree.  The
    newest of a list of bare versions stays bounded too: who lists trees means them.
    """
    texts = Counter(text for _, text in ranges)
    return [
        parse_interval(range_, in_list=text is not None and texts[text] > 1)
        for range_, text in ranges
    ]


def newest_first(trees: Iterable[str]) -> list[str]:
    """Return the trees sorted by version, newest first, trees without a version last."""
    return sorted(trees, key=sort_key)


def _version_of(match: re.Match[str]) -> Version:
    third = match[3]
    return Version(int(match[1]), int(match[2]), int(third) if third and third.isdigit() else 0)

"""What is known about stable trees beside the mail: which are longterm and until when."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources

from patchlore.kb.versions import Interval, newest_first, rank, tree_name


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    text = resources.files("patchlore.kb").joinpath("trees.toml").read_text("utf-8")
    return tomllib.loads(text)


@functools.cache
def longterm() -> Mapping[str, int | None]:
    """Return the longterm trees and when their maintenance ended (seconds, None: it goes on)."""
    return {
        tree_name(version): _seconds(end) if end else None
        for version, end in _table()["longterm"].items()
    }


@functools.cache
def first_releases() -> Mapping[str, int]:
    """Return when each tree began (seconds)."""
    return {tree_name(version): _seconds(day) for version, day in _table()["first-release"].items()}


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def can_want(tree: str, timestamp: int | None) -> bool:
    """Whether a fix that was sent upstream at that time can be wanted in the tree.

    Not before the tree's first release, which then has it, nor after the end of
    its maintenance.  Of a tree or a time that is not known nothing is ruled out.
    """
    if timestamp is None:
        return True
    begin, end = first_releases().get(tree), longterm().get(tree)
    return (begin is None or timestamp >= begin) and (end is None or timestamp <= end)


def in_range(tree: str, newest: int, oldest: int, timestamp: int | None) -> bool:
    """Whether a tag ``AUTOSEL newest-oldest`` (as ranks) of a mail of that time means ``tree``.

    Its two ends, and the longterm trees between them that were maintained.
    """
    number = rank(tree)
    if number is None or not Interval(oldest, newest).holds(number):
        return False
    if "-" in tree:  # a vendor's branch is never meant by a tag of the stable maintainers
        return False
    if number in (newest, oldest):
        return True
    if tree not in longterm():
        return False
    end = longterm()[tree]
    return end is None or timestamp is None or timestamp <= end


def trees_in_range(newest: int, oldest: int, timestamp: int | None) -> list[str]:
    """Return the trees that a tag ``AUTOSEL newest-oldest`` means, newest first."""
    ends = [_tree_of_rank(newest), _tree_of_rank(oldest)]
    between = [tree for tree in longterm() if in_range(tree, newest, oldest, timestamp)]
    return newest_first(dict.fromkeys(ends + between))


def _tree_of_rank(number: int) -> str:
    major, minor, third = number // 1_000_000, number // 1000 % 1000, number % 1000
    return tree_name(f"{major}.{minor}.{third}" if major < 3 else f"{major}.{minor}")

"""What is known about stable trees beside the mail: which are longterm and until when."""

from __future__ import annotations

import difflib
import functools
import pathlib
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from importlib import resources

from msgspec import Struct

from patchlore.kb.errors import ArchiveError
from patchlore.kb.store import Archive
from patchlore.kb.versions import Interval, newest_first, rank, tree_name

#: In the folder of an archive: trees that this program doesn't know yet, in the
#: form of kb/trees.toml; what it says goes before what is known here.
OVERRIDE = "trees.toml"


class Trees(Struct, kw_only=True):
    """The stable trees that are known, and what is known of them."""

    #: Longterm trees and when their maintenance ended (seconds; None: it goes on).
    longterm: dict[str, int | None]
    #: When each tree began (seconds).
    first_releases: dict[str, int]
    #: Addresses of those who keep the stable queues.
    maintainers: frozenset[str] = frozenset()

    def can_want(self, tree: str, timestamp: int | None) -> bool:
        """Whether a fix that was sent upstream at that time can be wanted in the tree.

        Not before the tree's first release, which then has it, nor after the end of
        its maintenance.  Of a tree or a time that is not known nothing is ruled out.
        """
        if timestamp is None:
            return True
        begin, end = self.first_releases.get(tree), self.longterm.get(tree)
        return (begin is None or timestamp >= begin) and (end is None or timestamp <= end)


@functools.cache
def built_in() -> Trees:
    """Return the trees of kb/trees.toml."""
    text = resources.files("patchlore.kb").joinpath("trees.toml").read_text("utf-8")
    return _trees_of(text)


def trees_for(archive: Archive) -> Trees:
    """Return the trees that are known to an archive: its own trees.toml, and the built-in ones.

    Raises ArchiveError for a file that can't be understood.
    """
    own = archive.path / OVERRIDE
    known = built_in()
    try:
        changed = own.stat().st_mtime_ns
    except OSError:
        return known
    try:
        mine = _own_trees(own, changed)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ArchiveError(
            f"{own} can't be read ({error}): write it as kb/trees.toml is, "
            'for instance [longterm] and below it "6.30" = "2031-12-31".'
        ) from error
    return Trees(
        longterm=known.longterm | mine.longterm,
        first_releases=known.first_releases | mine.first_releases,
        maintainers=known.maintainers | mine.maintainers,
    )


@functools.lru_cache(maxsize=8)
def _own_trees(path: pathlib.Path, changed: int) -> Trees:
    return _trees_of(path.read_text("utf-8"))


def _trees_of(text: str) -> Trees:
    table = tomllib.loads(text)
    return Trees(
        longterm={
            tree_name(version): _seconds(end) if end else None
            for version, end in table.get("longterm", {}).items()
        },
        first_releases={
            tree_name(version): _seconds(day)
            for version, day in table.get("first-release", {}).items()
        },
        maintainers=frozenset(name.lower() for name in table.get("maintainers", ())),
    )


def _seconds(day: str | date) -> int:
    text = day if isinstance(day, str) else day.isoformat()
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def is_maintainer(archive: Archive, address: str) -> bool:
    """Whether somebody keeps stable queues: as known, or since notices came from the address."""
    address = address.lower()
    return address in trees_for(archive).maintainers or bool(
        archive.value(
            "SELECT EXISTS (SELECT 1 FROM message JOIN person ON person.id = message.sender"
            " WHERE message.notice IN ('added', 'failed', 'review', 'released')"
            " AND person.email = ? AND person.email <> '')",
            (address,),
        )
    )


def is_known(archive: Archive, tree: str) -> bool:
    """Whether a tree exists: by the tables above, or because a mail or a repository has it.

    A note "v4.15+" is open above, but it nominates for no 9.9.
    """
    tree = tree_name(tree)
    trees = trees_for(archive)
    return tree in trees.longterm or tree in trees.first_releases or _is_seen(archive, tree)


#: Where the names of trees stand: in tags, notices, attached patches, folders, repositories and
#: their branches.
_SEEN = (
    ("target_tree", "tree"),
    ("attached_tree", "tree"),
    ("message_place", "tree"),
    ("message", "notice_tree"),
    ("git_ref", "stable_tree"),
    ("git_tree", "name"),
)
#: Those of them that are said of single patches.
_OF_PATCHES = _SEEN[:3]


def takes_notes(archive: Archive, tree: str) -> bool:
    """Whether the kernel's ``Cc: stable`` notes can mean a tree, however open above they are.

    One of the tables or that mail names; of those that only a repository has none that
    the kernel will not reach for years: 20.11 is the branch of another project.
    """
    known = trees_for(archive)
    if tree in known.longterm or tree in known.first_releases:
        return True
    number = rank(tree)
    newest = max((rank(name) or 0 for name in known.first_releases), default=0)
    is_near = number is not None and number < newest + 2_000_000
    return _is_seen(archive, tree, _SEEN if is_near else _SEEN[:-2])


def _is_seen(archive: Archive, tree: str, places: Sequence[tuple[str, str]] = _SEEN) -> bool:
    return any(
        archive.value(f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} = ?)", (tree,))
        for table, column in places
    )


def _names(archive: Archive, places: Sequence[tuple[str, str]]) -> list[str]:
    each = (f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL" for table, column in places)
    return [name for (name,) in archive.execute(f"{' UNION '.join(each)} ORDER BY 1")]


def trees_to_tell(archive: Archive) -> list[str]:
    """Return the stable trees in which a nomination is worth telling: longterm, or in mail."""
    names = dict.fromkeys([*trees_for(archive).longterm, *_names(archive, _OF_PATCHES)])
    return [name for name in names if rank(name) is not None and "-" not in name]


def nearest(archive: Archive, tree: str, number: int = 3) -> list[str]:
    """Return the names of so many known trees that are most like ``tree``, the nearest first."""
    trees = trees_for(archive)
    names = list(dict.fromkeys([*trees.first_releases, *trees.longterm, *_names(archive, _SEEN)]))
    tree = tree_name(tree)
    wanted = rank(tree)
    if wanted is None:
        return difflib.get_close_matches(tree, names, number, cutoff=0.4)
    ranked = [(abs(other - wanted), -other, name) for name in names if (other := rank(name))]
    return [name for _, _, name in sorted(ranked)[:number]]


def in_range(trees: Trees, tree: str, newest: int, oldest: int, timestamp: int | None) -> bool:
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
    if tree not in trees.longterm:
        return False
    end = trees.longterm[tree]
    return end is None or timestamp is None or timestamp <= end


def trees_in_range(trees: Trees, newest: int, oldest: int, timestamp: int | None) -> list[str]:
    """Return the trees that a tag ``AUTOSEL newest-oldest`` means, newest first."""
    ends = [_tree_of_rank(newest), _tree_of_rank(oldest)]
    between = [tree for tree in trees.longterm if in_range(trees, tree, newest, oldest, timestamp)]
    return newest_first(dict.fromkeys(ends + between))


def trees_of(archive: Archive, message: int, timestamp: int | None) -> list[str]:
    """Return the trees that a message is meant for, ranges resolved."""
    trees = [
        name
        for (name,) in archive.execute(
            "SELECT DISTINCT tree FROM target_tree WHERE message = ?", (message,)
        )
    ]
    for newest, oldest in archive.execute(
        "SELECT newest, oldest FROM tree_range WHERE message = ?", (message,)
    ):
        known = trees_for(archive)
        ranged = trees_in_range(known, newest, oldest, timestamp)
        trees += [name for name in ranged if name not in trees]
    return trees


def _tree_of_rank(number: int) -> str:
    major, minor, third = number // 1_000_000, number // 1000 % 1000, number % 1000
    return tree_name(f"{major}.{minor}.{third}" if major < 3 else f"{major}.{minor}")

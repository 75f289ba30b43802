"""``patchlore backports`` and ``export``: lists of a tree in many formats, mail out again."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING

from patchlore.commands import backport_extras, backport_filters, backport_output
from patchlore.commands.common import Subparsers, add_command, note, open_archive

if TYPE_CHECKING:
    from patchlore.kb.backports import Row
    from patchlore.kb.store import Archive


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "backports",
        "the backport list of a stable tree, each row with the line that proves it",
        [
            "patchlore backports 5.10",
            "patchlore backports 4.15 --state in-flight,queued --format csv --output 4.15.csv",
            "patchlore backports 6.6 --since 2.weeks.ago --path 'drivers/net/*'",
            "patchlore backports 5.10.y --format mbox | git am",
            "patchlore backports 5.10 --missing-fixes",
            "patchlore backports --from 5.10 --to 6.1",
        ],
        "One row for each upstream commit that mail connects with the tree. A tree is written "
        "5.10, 5.10.y, linux-5.10.y or v5.10. Formats for people (text, json, csv) show every "
        "state; ids and mbox take needed, nominated, in-flight and queued unless --state says "
        "otherwise.",
    )
    parser.add_argument(
        "tree", metavar="TREE", nargs="?", help="5.10, 5.10.y, linux-5.10.y or v5.10"
    )
    backport_output.add_options(parser)
    parser.add_argument(
        "--state", metavar="LIST", help="states to show, separated by commas, or 'all'"
    )
    parser.add_argument(
        "--missing-fixes",
        action="store_true",
        help="only fixes and reverts of commits that the tree has, where it lacks them",
    )
    parser.add_argument(
        "--from", dest="over", metavar="A", help="only what the tree A has and TREE has not"
    )
    parser.add_argument("--to", metavar="B", help="with --from: another way to name TREE")
    parser.add_argument(
        "--as-of", metavar="DATE", help="judge delays and supported trees by that day, not today"
    )
    backport_filters.add_options(parser)
    backport_extras.add_options(parser)
    parser.set_defaults(run=run_backports)

    parser = add_command(
        subparsers,
        "export",
        "every raw mail of the archive as mboxrd",
        ["patchlore export --all --output everything.mbox", "patchlore export --all | xz > all.xz"],
    )
    parser.add_argument("--all", action="store_true", required=True, help="every message")
    parser.add_argument("--output", metavar="PATH", help="write there, not to standard output")
    parser.set_defaults(run=run_export)


def run_backports(args: argparse.Namespace) -> int:
    """Print the list of a tree; 1 when it is empty."""
    from patchlore.kb.backports import OPEN_STATES, STATES
    from patchlore.kb.export import FOR_PEOPLE
    from patchlore.kb.versions import short_name, tree_name

    mistake = _check_trees(args) or backport_output.check(args) or backport_extras.check(args)
    if mistake is not None:
        return _usage(mistake)
    # A branch is for git as the formats for machines are: what is refused stays out of it.
    shows_all = args.format in FOR_PEOPLE and args.branch is None
    states: tuple[str, ...] | None = None if shows_all else OPEN_STATES
    if states is not None and args.over is not None:
        states = (*states, "failed", "unknown")  # nobody may have asked for it in this tree
    if args.state is not None:
        states = tuple(word.strip() for word in args.state.split(",") if word.strip())
        unknown = [word for word in states if word not in (*STATES, "all")]
        if unknown or not states:
            return _usage(f"there is no state '{args.state}': use {', '.join(STATES)} or all")
        states = None if "all" in states else states
    filters = backport_filters.make(args)
    if isinstance(filters, str):
        return _usage(filters)
    with open_archive(args) as archive:
        tree = tree_name(args.to or args.tree)
        if not all(_is_known(archive, name) for name in (tree, args.over) if name):
            return 1
        rows = _rows(archive, tree, backport_extras.wanted_from_archive(args, states), args)
        rows, is_whole = backport_extras.override(archive, tree, rows, states, args)
        rows = filters.choose(archive, rows)
        if not rows:
            note(f"patchlore: the archive knows no such backports for {short_name(tree)}.")
            if args.state is None and states is not None:
                note(
                    f"patchlore: {'--branch' if args.branch else f'--format {args.format}'} takes "
                    f"{', '.join(states)}: "
                    "--state all widens it."
                )
            return 1
        rows = backport_extras.try_out(archive, rows, args)
        notes = backport_output.write(archive, tree, rows, args)
    for text in notes:
        note(f"patchlore: {text}")
    return 0 if is_whole else 1


def _check_trees(args: argparse.Namespace) -> str | None:
    """Return what is wrong with the trees that were named, in words, or None."""
    if args.to is not None and args.over is None:
        return "--to goes with --from: --from 5.10 --to 6.1 is what 5.10 has and 6.1 has not"
    if args.to is not None and args.tree is not None:
        return "name the tree once: as TREE or with --to"
    if args.to is None and args.tree is None:
        return "name a tree, for instance 'patchlore backports 5.10'"
    if args.over is not None and args.missing_fixes:
        return "--missing-fixes is about one tree; --from compares two"
    return None


def _is_known(archive: Archive, tree: str) -> bool:
    """Whether a tree is known; if not, a note says which are."""
    from patchlore.kb.trees import is_known, nearest
    from patchlore.kb.versions import short_name

    if is_known(archive, tree):
        return True
    near = ", ".join(short_name(name) for name in nearest(archive, tree))
    hint = f"; the nearest are {near}" if near else ""
    note(f"patchlore: the tree {short_name(tree)} is not known{hint}.")
    return False


def _rows(
    archive: Archive, tree: str, states: Collection[str] | None, args: argparse.Namespace
) -> list[Row]:
    """Return the list that was asked for: of a tree, or of what another one has over it."""
    from patchlore.kb.backports import backports
    from patchlore.kb.comparing import compare
    from patchlore.kb.dates import parse_since

    as_of = None if args.as_of is None else parse_since(args.as_of)
    if args.over is None:
        return backports(
            archive, tree, states=states, as_of=as_of, missing_fixes=args.missing_fixes
        )
    rows = compare(archive, args.over, tree, as_of=as_of)
    return [row for row in rows if states is None or row.state in states]


def run_export(args: argparse.Namespace) -> int:
    """Write every mail; 1 when there is none."""
    from patchlore.kb.export.everything import write_everything
    from patchlore.kb.text import count

    with open_archive(args) as archive, backport_output.output(args.output) as out:
        number, left = write_everything(archive, out)
    for text in left:
        note(f"patchlore: {text}.")
    if args.output:
        note(f"wrote {count(number, 'mail')} to {args.output}")
    return 0 if number else 1


def _usage(text: str) -> int:
    note(f"patchlore: {text}.")
    return 2

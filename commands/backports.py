"""``patchlore backports`` and ``export``: lists of a tree in many formats, mail out again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from patchlore.commands import backport_extras, backport_filters, backport_output
from patchlore.commands.common import Subparsers, add_command, note, open_archive

if TYPE_CHECKING:
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
    from patchlore.kb.asking import read_asked
    from patchlore.kb.backports import OPEN_STATES
    from patchlore.kb.export import FOR_PEOPLE
    from patchlore.kb.versions import short_name

    mistake = backport_output.check(args) or backport_extras.check(args)
    if mistake is not None:
        note(f"patchlore: {mistake}.")
        return 2
    # A branch is for git as the formats for machines are: what is refused stays out of it.
    shows_all = args.format in FOR_PEOPLE and args.branch is None
    asked = read_asked(
        {"tree": args.tree, **backport_filters.values(args)}, None if shows_all else OPEN_STATES
    )
    built = backport_filters.read_built(args)
    with open_archive(args) as archive:
        if not all(_is_known(archive, name) for name in asked.trees):
            return 1
        # Where a file may change any state, rows of all of them are asked for.
        rows = asked.rows(archive, of_all_states=args.overrides is not None)
        rows, is_whole = backport_extras.override(archive, asked.tree, rows, asked.states, args)
        backport_filters.add_built(archive, asked.filters, built)
        rows = asked.filters.choose(archive, rows)
        if not rows:
            note(f"patchlore: the archive knows no such backports for {short_name(asked.tree)}.")
            if args.choice_state is None and asked.states is not None:
                note(
                    f"patchlore: {'--branch' if args.branch else f'--format {args.format}'} takes "
                    f"{', '.join(asked.states)}: "
                    "--state all widens it."
                )
            return 1
        rows = backport_extras.try_out(archive, rows, args)
        notes = backport_output.write(archive, asked.tree, rows, args)
    for text in notes:
        note(f"patchlore: {text}")
    return 0 if is_whole else 1


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

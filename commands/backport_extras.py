"""Options of ``patchlore backports`` for what a person adds: overrides, a repository to try."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from patchlore.commands.common import note

if TYPE_CHECKING:
    from patchlore.kb.backports import Row
    from patchlore.kb.store import Archive


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--overrides",
        metavar="FILE",
        help="take states and reasons from this file, or from the CVE team's in this folder",
    )
    parser.add_argument(
        "--try",
        dest="repository",
        metavar="REPO",
        help="say of each row whether its patch applies there, on top of those before it",
    )
    parser.add_argument("--base", metavar="REF", help="the commit of REPO to begin with")
    parser.add_argument(
        "--branch", metavar="NAME", help="make what applies a new branch of REPO; nothing else"
    )


def check(args: argparse.Namespace) -> str | None:
    """Return what is wrong with the options, in words, or None."""
    if args.repository is None:
        given = next((name for name in ("base", "branch") if getattr(args, name) is not None), None)
        return f"--{given} needs --try and a repository" if given else None
    return "--try needs --base and a commit to begin with" if args.base is None else None


def override(
    archive: Archive,
    tree: str,
    rows: Sequence[Row],
    states: Collection[str] | None,
    args: argparse.Namespace,
) -> tuple[list[Row], bool]:
    """Return the rows of ``states`` as --overrides has them, and whether all lines were read.

    What is wrong with lines, and which of them are about no row, is told.
    """
    if args.overrides is None:
        return list(rows), True
    from patchlore.kb.overriding import apply, read_overrides

    overrides = read_overrides(args.overrides)
    rows, notes = apply(archive, tree, rows, overrides)
    for text in [*overrides.problems, *notes]:
        note(f"patchlore: {text}.")
    if overrides.more_problems:
        note(f"patchlore: {overrides.more_problems:,} more lines of overrides are none.")
    return [row for row in rows if states is None or row.state in states], not overrides.problems


def try_out(archive: Archive, rows: Sequence[Row], args: argparse.Namespace) -> list[Row]:
    """Return the rows with what a trial gives, as --try asks for; its results are told."""
    if args.repository is None:
        return list(rows)
    from patchlore.kb.trying import try_rows

    trial = try_rows(archive, rows, args.repository, args.base, args.branch)
    for text in trial.notes:
        note(f"patchlore: {text}")
    return trial.rows

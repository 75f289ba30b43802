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


def wanted_from_archive(
    args: argparse.Namespace, states: Collection[str] | None
) -> Collection[str] | None:
    """Return the states to ask the archive for: all of them where a file may change any."""
    return states if args.overrides is None else None


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
    return [row for row in rows if states is None or row.state in states], not overrides.problems

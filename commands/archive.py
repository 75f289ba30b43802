"""``patchlore stats`` and ``check``: what the archive holds, and whether it is whole."""

from __future__ import annotations

import argparse
from typing import Any

from patchlore.commands.common import (
    Subparsers,
    add_command,
    add_json,
    open_archive,
    print_json,
    print_lines,
)


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "stats",
        "what the archive holds, in numbers",
        ["patchlore stats", "patchlore stats --json"],
    )
    add_json(parser)
    parser.set_defaults(run=run_stats)

    parser = add_command(
        subparsers,
        "check",
        "verify the archive: the database, the connections of its tables, every raw mail",
        ["patchlore check"],
    )
    add_json(parser)
    parser.set_defaults(run=run_check)


def run_stats(args: argparse.Namespace) -> int:
    """Print the numbers."""
    from patchlore.index.indexing import count_unindexed
    from patchlore.kb.dossiers.stats import stats
    from patchlore.kb.text import day

    with open_archive(args) as archive:
        numbers: dict[str, Any] = stats(archive)
        numbers["not_indexed"] = count_unindexed(archive)
    if args.json:
        print_json(numbers)
        return 0
    for name in ("first", "last"):
        numbers[name] = day(numbers[name])
    width = max(map(len, numbers))
    print_lines(
        f"{name.replace('_', ' '):{width}} {value:>15,}"
        if isinstance(value, int)
        else f"{name:{width}} {value:>15}"
        for name, value in numbers.items()
    )
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Verify everything; 1 when something is wrong."""
    from patchlore.kb.checking import check

    with open_archive(args) as archive:
        report = check(archive)
    if args.json:
        print_json(report)
    else:
        print_lines(report.lines())
    return 0 if report.is_sound else 1

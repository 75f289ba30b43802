"""``patchlore stats`` and ``check``: what the archive holds, and whether it is whole."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    Subparsers,
    add_command,
    add_json,
    archive_path,
    note,
    open_archive,
    print_json,
    print_lines,
)

if TYPE_CHECKING:
    from patchlore.kb.checking import Report
    from patchlore.kb.store import Archive


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
        ["patchlore check", "patchlore check --repair"],
        "Reads all of the archive and says what it verified. --repair rebuilds what is wrong from "
        "the raw mail: the facts, the text index, or all of a torn database file.",
    )
    parser.add_argument("--repair", action="store_true", help="rebuild what is found to be wrong")
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
    from patchlore.kb.checking import Report, check
    from patchlore.kb.errors import ArchiveError, NoArchiveError, OtherVersionError

    try:
        if args.repair:
            _upgrade(args)
        with open_archive(args) as archive:
            report = check(archive)
            check_index(archive, report)
    except (NoArchiveError, OtherVersionError):
        raise  # nothing is damaged
    except ArchiveError as error:
        if not args.repair:
            raise
        report = Report(faults=[str(error)], is_torn=True)
    if args.repair and (report.faults or report.is_outdated or report.notes):
        for text in report.faults:
            note(f"patchlore: {text}")
        report = _repaired(args, report)
    if args.json:
        print_json(report)
    else:
        print_lines(report.lines())
    return 0 if report.is_sound else 1


def check_index(archive: Archive, report: Report) -> None:
    """Compare the text index with the archive; what is behind is no fault, what is wrong is."""
    import sqlite3

    from patchlore.index.checking import check_index as compare
    from patchlore.index.indexing import count_unindexed
    from patchlore.kb.text import count

    try:
        verified, faults = compare(archive)
    except sqlite3.DatabaseError:
        if not report.is_torn:
            raise
        return  # what it should have can't be read
    if not faults and (behind := count_unindexed(archive)):
        what = count(behind, "message")
        report.notes.append(f"{what} not in the text index: 'patchlore index' adds what it lacks")
    report.verified += verified
    report.index_faults += faults
    report.faults += faults


def _upgrade(args: argparse.Namespace) -> None:
    """Bring an archive of an older version up to date, which is no repair; refuse others."""
    from patchlore.kb.errors import OtherVersionError
    from patchlore.kb.store import Archive

    try:
        open_archive(args).close()
    except OtherVersionError:
        Archive(archive_path(args), write=True).close()


def _repaired(args: argparse.Namespace, report: Report) -> Report:
    """Rebuild what is wrong and check it again; what is still wrong then needs a new database."""
    from patchlore.kb.checking import check

    for _ in range(2):
        _repair(args, report)
        is_torn = report.is_torn
        with open_archive(args) as archive:
            report = check(archive)
            check_index(archive, report)
        if is_torn or len(report.faults) == len(report.index_faults):
            break
        report.is_torn = True
    return report


def _repair(args: argparse.Namespace, report: Report) -> None:
    """Rebuild what is wrong, in the archive first, then in the index."""
    from patchlore.index.indexing import update_index
    from patchlore.kb.filling import default_jobs
    from patchlore.kb.redoing import redo_facts
    from patchlore.kb.repairing import rescue
    from patchlore.kb.store import Archive
    from patchlore.kb.writing import keep_dictionaries

    path = archive_path(args)
    if report.is_torn:
        for text in rescue(path, jobs=default_jobs()).lines():
            note(f"patchlore: {text}")
    else:
        with Archive(path, write=True) as archive:
            keep_dictionaries(archive)
            if report.is_outdated or len(report.faults) > len(report.index_faults):
                number = redo_facts(archive, jobs=default_jobs())
                note(f"patchlore: the facts of {number:,} messages were redone")
    update_index(path, rebuild=bool(report.is_torn or report.index_faults), notice=note)

"""``patchlore ingest``: sources into the archive, with progress and a summary line."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import Subparsers, add_command, add_format, archive_path, note

if TYPE_CHECKING:
    from tqdm import tqdm

    from patchlore.ingest.sources.items import Problem


def add_parsers(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers,
        "ingest",
        "read mail into the archive (made when absent); again adds only what is new",
        [
            "patchlore ingest ~/Mail/stable.mbox.xz",
            "patchlore ingest --list linux-hardening ~/lore/linux-hardening/git/0.git",
            "patchlore --archive ./demo ingest *.patch page.html maildir/",
        ],
        "Read files, folders and repositories of any known kind; the format is told from the "
        "content. What can't be read is named, the rest is read, and the status is 1. "
        "Ends with a summary line on standard error: "
        "read N, new N, merged N, damaged N in S s (R mails/s).",
    )
    parser.add_argument("--list", metavar="NAME", help="the mailing list of these sources")
    add_format(parser)
    parser.add_argument(
        "--jobs", type=_jobs, metavar="N", help="parsing processes beside the writer (0: none)"
    )
    parser.add_argument("--no-index", action="store_true", help="leave the text index for later")
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="files, folders, mailboxes, repositories"
    )
    parser.set_defaults(run=run)


def _jobs(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 256:
        raise argparse.ArgumentTypeError("give a number from 0 to 256")
    return number


def run(args: argparse.Namespace) -> int:
    """Fill the archive, then bring the text index up to date; 1 when a source failed."""
    import tqdm

    from patchlore.kb.filling import fill
    from patchlore.kb.store import Archive

    path = archive_path(args)
    is_terminal = sys.stderr.isatty()
    with (
        Archive(path, write=True) as archive,
        tqdm.tqdm(unit=" mails", disable=not is_terminal, leave=False, desc="reading") as bar,
    ):

        def problem(found: Problem) -> None:
            with bar.external_write_mode(file=sys.stderr):
                note(f"patchlore: {found.text}")

        summary = fill(
            archive,
            args.sources,
            list_name=args.list,
            format=args.format,
            jobs=args.jobs,
            on_progress=lambda done: _advance(bar, done),
            on_problem=problem,
        )
    note(summary.line())
    if not args.no_index:
        _index(path, is_terminal=is_terminal)
    return 1 if summary.problems else 0


def _advance(bar: tqdm[Any], done: int) -> None:
    bar.n = done
    bar.refresh()


def _index(path: pathlib.Path, *, is_terminal: bool) -> None:
    import tqdm

    from patchlore.index.indexing import update_index

    with tqdm.tqdm(unit=" mails", disable=not is_terminal, leave=False, desc="indexing") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            _advance(bar, done)

        update_index(path, progress, notice=note)

"""``patchlore ingest``: sources and git trees into the archive, with progress and summary lines."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    Problems,
    Subparsers,
    add_command,
    add_format,
    archive_path,
    note,
)

if TYPE_CHECKING:
    from tqdm import tqdm

    from patchlore.ingest.sources.items import Problem
    from patchlore.kb.store import Archive


def add_parsers(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers,
        "ingest",
        "read mail and git trees into the archive (made when absent); again adds only what is new",
        [
            "patchlore ingest ~/Mail/stable.mbox.xz",
            "patchlore ingest --list linux-hardening ~/lore/linux-hardening/git/0.git",
            "patchlore --archive ./demo ingest *.patch page.html maildir/",
            "patchlore ingest --tree mainline ~/src/linux --tree 5.10 ~/src/linux-5.10.y",
        ],
        "Read files, folders and repositories of any known kind; the format is told from the "
        "content. What can't be read is named, the rest is read, and the status is 1. "
        "Ends with a summary line on standard error: "
        "read N, new N, merged N, damaged N in S s (R mails/s); before it one for each tree.",
    )
    parser.add_argument("--list", metavar="NAME", help="the mailing list of these sources")
    add_format(parser)
    parser.add_argument(
        "--jobs", type=_jobs, metavar="N", help="parsing processes beside the writer (0: none)"
    )
    parser.add_argument("--no-index", action="store_true", help="leave the text index for later")
    parser.add_argument(
        "--tree",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "REPO"),
        help="read the commits of a git repository as the tree NAME (5.10 is that stable tree)",
    )
    parser.add_argument(
        "--patch-ids",
        action="store_true",
        help="compute patch ids of the trees' commits, which find the mail of a commit best",
    )
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="files, folders, mailboxes, repositories"
    )
    parser.set_defaults(run=run)


def _jobs(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 256:
        raise argparse.ArgumentTypeError("give a number from 0 to 256")
    return number


def run(args: argparse.Namespace) -> int:
    """Fill the archive, then bring edges and index up to date; 1 when a source or tree failed."""
    from patchlore.kb.edges import update_edges
    from patchlore.kb.store import FACTS_VERSION, Archive

    if not args.sources and not args.tree:
        note("patchlore: nothing to ingest: name a SOURCE, or a tree with --tree NAME REPO.")
        return 2
    if not all(name.strip() for name, _ in args.tree):
        note("patchlore: --tree needs a name: '--tree mainline ~/src/linux'.")
        return 2
    path = archive_path(args)
    is_terminal = sys.stderr.isatty()
    with Archive(path, write=True) as archive:
        # Mails are redone then, whatever is read.
        changed = bool(args.sources) or archive.facts_version < FACTS_VERSION
        failed = _fill_trees(archive, args, is_terminal=is_terminal)
        if args.sources:
            failed |= _fill(archive, args, is_terminal=is_terminal)
        update_edges(archive)
    if changed and not args.no_index:
        _index(path, is_terminal=is_terminal)
    return 1 if failed else 0


def _fill_trees(archive: Archive, args: argparse.Namespace, *, is_terminal: bool) -> bool:
    """Read the git trees that are named; return whether one failed, the others are read."""
    if not args.tree:
        return False
    import tqdm

    from patchlore.kb.errors import GitTreeError
    from patchlore.kb.git_filling import fill_tree

    failed = False
    for name, repository in args.tree:
        with tqdm.tqdm(unit=" commits", disable=not is_terminal, leave=False, desc=name) as bar:

            def progress(done: int, total: int, bar: tqdm.tqdm[Any] = bar) -> None:
                bar.total = total
                _advance(bar, done)

            try:
                summary = fill_tree(
                    archive, name, repository, patch_ids=args.patch_ids, on_progress=progress
                )
            except GitTreeError as error:
                note(f"patchlore: {error}")
                failed = True
                continue
        note(summary.line())
    return failed


def _fill(archive: Archive, args: argparse.Namespace, *, is_terminal: bool) -> bool:
    """Read the sources; return whether one failed, the others are read."""
    import tqdm

    from patchlore.kb.filling import fill

    problems = Problems()
    with tqdm.tqdm(unit=" mails", disable=not is_terminal, leave=False, desc="reading") as bar:

        def problem(found: Problem) -> None:
            with bar.external_write_mode(file=sys.stderr):
                problems.add(found)

        summary = fill(
            archive,
            args.sources,
            list_name=args.list,
            format=args.format,
            jobs=args.jobs,
            on_progress=lambda done: _advance(bar, done),
            on_problem=problem,
        )
    problems.tell()
    note(summary.line())
    return problems.failed


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

"""``patchlore backports`` and ``export``: lists of a tree in many formats, mail out again."""

from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import sys
from collections.abc import Iterator
from typing import BinaryIO

from patchlore.commands.common import Subparsers, add_command, note, open_archive, print_lines


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
        ],
        "One row for each upstream commit that mail connects with the tree. A tree is written "
        "5.10, 5.10.y, linux-5.10.y or v5.10. Formats for people (text, json, csv) show every "
        "state; ids and mbox take needed, nominated, in-flight and queued unless --state says "
        "otherwise.",
    )
    parser.add_argument("tree", metavar="TREE", help="5.10, 5.10.y, linux-5.10.y or v5.10")
    parser.add_argument(
        "--format", default="text", metavar="F", help="text, json, csv, ids or mbox"
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="as --format json"
    )
    parser.add_argument(
        "--state", metavar="LIST", help="states to show, separated by commas, or 'all'"
    )
    parser.add_argument(
        "--since", metavar="DATE", help="only what is new or changed its state since"
    )
    parser.add_argument("--path", metavar="GLOB", help="only what touches such a file")
    parser.add_argument("--author", metavar="WHO", help="only patches by this name or address")
    parser.add_argument("--cve", metavar="ID", help="only what mails connect with this CVE")
    parser.add_argument("--pr", metavar="NUMBER", help="only what is about this GCC bug")
    parser.add_argument("--autosel", action="store_true", help="only what AUTOSEL picked")
    parser.add_argument(
        "--evidence",
        choices=("certain", "high", "medium", "low"),
        help="only rows proved at least so well",
    )
    parser.add_argument("--output", metavar="PATH", help="write there, not to standard output")
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
    from patchlore.kb.backports import OPEN_STATES, STATES, backports
    from patchlore.kb.dates import parse_since
    from patchlore.kb.export import FOR_PEOPLE, FORMATS, writer
    from patchlore.kb.filtering import Filters
    from patchlore.kb.reading import parse_bug
    from patchlore.kb.trees import is_known, nearest
    from patchlore.kb.versions import short_name, tree_name

    if args.format not in FORMATS:
        return _usage(f"there is no format '{args.format}': use {', '.join(FORMATS)}")
    states = None if args.format in FOR_PEOPLE else OPEN_STATES
    if args.state is not None:
        states = tuple(word.strip() for word in args.state.split(",") if word.strip())
        unknown = [word for word in states if word not in (*STATES, "all")]
        if unknown or not states:
            return _usage(f"there is no state '{args.state}': use {', '.join(STATES)} or all")
        states = None if "all" in states else states
    since = None if args.since is None else parse_since(args.since)
    bug = None if args.pr is None else parse_bug(args.pr)
    if args.pr is not None and bug is None:
        return _usage(f"{args.pr} is no bug number: write 83356, PR83356 or target/89587")
    filters = Filters(
        path=args.path,
        author=args.author,
        cve=args.cve,
        bug=bug,
        autosel=args.autosel,
        evidence=args.evidence,
    )
    with open_archive(args) as archive:
        tree = tree_name(args.tree)
        if not is_known(archive, tree):
            near = ", ".join(short_name(name) for name in nearest(archive, tree))
            hint = f"; the nearest are {near}" if near else ""
            note(f"patchlore: the tree {short_name(tree)} is not known{hint}.")
            return 1
        rows = backports(archive, tree, states=states, since=since)
        rows = [row for row in rows if filters.keep(archive, row)]
        if not rows:
            note(f"patchlore: the archive knows no such backports for {short_name(tree)}.")
            if args.state is None and states is not None:
                note(
                    f"patchlore: --format {args.format} takes {', '.join(states)}: "
                    "--state all widens it."
                )
            return 1
        if args.format == "text" and args.output is None:
            plain = io.BytesIO()
            notes = writer(args.format)(archive, tree, rows, plain)
            print_lines(plain.getvalue().decode().split("\n")[:-1])
        else:
            with _output(args.output) as out:
                notes = writer(args.format)(archive, tree, rows, out)
    for text in notes:
        note(f"patchlore: {text}")
    return 0


def run_export(args: argparse.Namespace) -> int:
    """Write every mail; 1 when there is none."""
    from patchlore.kb.export.mbox import mboxrd_all
    from patchlore.kb.mailing import found_mail
    from patchlore.kb.text import count

    with open_archive(args) as archive:
        rows = archive.execute("SELECT id, timestamp FROM message ORDER BY id").fetchall()
        mails = ((found_mail(archive, id_, texts=True), timestamp) for id_, timestamp in rows)
        with _output(args.output) as out:
            number = mboxrd_all(
                (
                    (found[0], timestamp, found[1])
                    for found, timestamp in mails
                    if found is not None
                ),
                out,
            )
    if number < len(rows):
        left = count(len(rows) - number, "message")
        note(f"patchlore: {left} left out: the archive has only pages of them, no mail.")
    if args.output:
        note(f"wrote {count(number, 'mail')} to {args.output}")
    return 0 if number else 1


def _usage(text: str) -> int:
    note(f"patchlore: {text}.")
    return 2


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[BinaryIO]:
    """Yield where to write: standard output, or a file that appears when it is complete."""
    from patchlore.ingest.errors import PatchloreError

    if path is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = pathlib.Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(target)
    except OSError as error:
        raise PatchloreError(f"Can't write {path}: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)

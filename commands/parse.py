"""``patchlore parse``: the facts of messages as JSON Lines, no archive."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from patchlore.commands.common import (
    Problems,
    Subparsers,
    add_command,
    add_format,
    note,
    print_json_lines,
)

if TYPE_CHECKING:
    from patchlore.ingest.message import Message


def add_parsers(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers,
        "parse",
        "print the facts of messages as JSON Lines, without an archive",
        ["patchlore parse fix.patch", "patchlore parse stable.mbox.xz page.html | jq .subject"],
        "Read files of any known format and print one JSON object per message found "
        "(fields: docs/facts.md). Status 1 when an input holds no message or can't be read.",
    )
    parser.add_argument("--json", action="store_true", help="the default, and the only form")
    add_format(parser)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="files or folders, - for standard input"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the messages of all files; return 1 when one of them failed."""
    failed: list[str] = []
    print_json_lines(_messages(args.files, args.format, failed))
    return 1 if failed else 0


def _messages(files: list[str], format: str | None, failed: list[str]) -> Iterator[Message]:
    from patchlore.ingest.errors import PatchloreError
    from patchlore.ingest.raw import Raw
    from patchlore.ingest.sources.items import Problem
    from patchlore.ingest.sources.reading import read_source
    from patchlore.kb.parsing import parse_safely

    problems = Problems()
    for path in files:
        found, problems.failed = 0, False
        try:
            for item in read_source(path, format=format):
                if isinstance(item, Raw):
                    found += 1
                    yield parse_safely(item)
                elif isinstance(item, Problem):
                    problems.add(item)
        except (PatchloreError, OSError) as error:
            problems.failed = True
            note(f"patchlore: {path}: {error}")
        if not found and not problems.failed:
            note(f"patchlore: {path} holds no message.")
        if problems.failed or not found:
            failed.append(path)
    problems.tell()

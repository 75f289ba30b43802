"""Options of ``patchlore backports`` that choose rows: those of the table, and what is built."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from patchlore.kb.choices import CHOICES

if TYPE_CHECKING:
    from patchlore.kb.filtering import Filters
    from patchlore.kb.store import Archive


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    for choice in CHOICES:
        option, dest = f"--{choice.name}", f"choice_{choice.key}"
        if choice.metavar is None:
            parser.add_argument(option, dest=dest, action="store_true", help=choice.help)
        elif choice.among:
            parser.add_argument(option, dest=dest, choices=choice.among, help=choice.help)
        else:
            action = "append" if choice.is_several else "store"
            parser.add_argument(
                option, dest=dest, metavar=choice.metavar, action=action, help=choice.help
            )
    parser.add_argument(
        "--built-files",
        metavar="FILE",
        help="only what touches files that are built: a list of objects or sources, one a line, "
        "or compile_commands.json; - is standard input",
    )


def values(args: argparse.Namespace) -> dict[str, object]:
    """Return what the options of the table ask for, by the keys of the table."""
    return {choice.key: getattr(args, f"choice_{choice.key}") for choice in CHOICES}


def read_built(args: argparse.Namespace) -> tuple[bytes, str] | None:
    """Return the list of what is built and what it is called, if one is named."""
    if args.built_files is None:
        return None
    name = "standard input" if args.built_files == "-" else args.built_files
    return _read(args.built_files, name), name


def add_built(archive: Archive, filters: Filters, built: tuple[bytes, str] | None) -> None:
    """Let filters ask for what is built as well; says how much of the list is none."""
    from patchlore.commands.common import note
    from patchlore.kb.built_files import read_built_files
    from patchlore.kb.text import count

    if built is None:
        return
    data, name = built
    known = (path for (path,) in archive.execute("SELECT text FROM path"))
    filters.built = read_built_files(data, known, name)
    if filters.built.unknown:
        lines = count(filters.built.unknown, "line")
        note(f"patchlore: {name}: {lines} of no source or object.")


def _read(path: str, name: str) -> bytes:
    import sys

    from patchlore.kb.errors import UsageError

    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror}.") from error

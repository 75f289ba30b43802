"""Options of ``patchlore backports`` that say in which form rows are written, and where."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from patchlore.commands.common import print_lines

if TYPE_CHECKING:
    from patchlore.kb.backports import Row
    from patchlore.kb.store import Archive


class _FormatHelp(str):
    """A help text that the names of formats follow; they are loaded when it is shown."""

    __slots__ = ()

    def __mod__(self, values: object) -> str:
        """Return the text as argparse shows it."""
        from patchlore.kb.export import FORMATS

        return f"{self}: {', '.join(FORMATS)}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--format", default="text", metavar="F", help=_FormatHelp("the form of the list")
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="as --format json"
    )
    parser.add_argument(
        "--output",
        metavar="PATH",
        help="write there, not to standard output; a folder for formats of several files",
    )


def check(args: argparse.Namespace) -> str | None:
    """Return what is wrong with the options, in words, or None."""
    from patchlore.kb.export import FOLDERS, FORMATS

    if args.format not in FORMATS:
        return f"there is no format '{args.format}': use {', '.join(FORMATS)}"
    if args.format in FOLDERS and args.output is None:
        return f"--format {args.format} is a folder: name it with --output"
    if args.output == "":
        return "--output needs the name of a file or folder"
    return None


def write(archive: Archive, tree: str, rows: Sequence[Row], args: argparse.Namespace) -> list[str]:
    """Write rows as the options say; return notes for a person."""
    from patchlore.ingest.errors import PatchloreError
    from patchlore.kb.export import FOLDERS, file_maker, writer

    if args.format in FOLDERS:
        from patchlore.kb.export.folders import write_folder

        files, notes = file_maker(args.format)(archive, tree, rows)
        try:
            write_folder(pathlib.Path(args.output), files)
        except OSError as error:
            raise PatchloreError(f"Can't write {args.output}: {error.strerror}.") from error
        return notes
    if args.format == "text" and args.output is None:
        plain = io.BytesIO()
        notes = writer(args.format)(archive, tree, rows, plain)
        print_lines(plain.getvalue().decode().split("\n")[:-1])
        return notes
    with output(args.output) as out:
        return writer(args.format)(archive, tree, rows, out)


@contextlib.contextmanager
def output(path: str | None) -> Iterator[BinaryIO]:
    """Yield where to write: standard output, or a file that appears when it is complete.

    ``-`` is standard output; a link is followed; a device or pipe is written to as it is;
    a file that is there keeps its permissions.
    """
    from patchlore.ingest.errors import PatchloreError
    from patchlore.kb.export.files import whole_file

    if path is None or path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = pathlib.Path(os.path.realpath(path))
    try:
        if target.is_symlink():  # of links that go round
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        is_special = target.exists() and not target.is_file()
        with target.open("wb") if is_special else whole_file(target) as out:
            yield out
    except OSError as error:
        raise PatchloreError(f"Can't write {path}: {error.strerror}.") from error

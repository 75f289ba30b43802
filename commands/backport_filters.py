"""Options of ``patchlore backports`` that choose rows, and the filters that they make."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from patchlore.kb.backports import Row
    from patchlore.kb.filtering import Filters
    from patchlore.kb.store import Archive


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--since", metavar="DATE", help="only what is new or changed its state since"
    )
    parser.add_argument(
        "--path",
        metavar="GLOB",
        action="append",
        help="only what touches such a file or folder, as git takes paths; may be repeated",
    )
    parser.add_argument("--author", metavar="WHO", help="only patches by this name or address")
    parser.add_argument("--cve", metavar="ID", help="only what mails connect with this CVE")
    parser.add_argument("--pr", metavar="NUMBER", help="only what is about this GCC bug")
    parser.add_argument("--autosel", action="store_true", help="only what AUTOSEL picked")
    parser.add_argument(
        "--evidence",
        choices=("certain", "high", "medium", "low"),
        help="only rows proved at least so well",
    )
    parser.add_argument(
        "--built-files",
        metavar="FILE",
        help="only what touches files that are built: a list of objects or sources, one a line, "
        "or compile_commands.json; - is standard input",
    )


class Choice(Struct):
    """What was asked for."""

    filters: Filters
    #: A list of what is built, and what it is called.
    built: bytes | None = None
    name: str = ""

    def choose(self, archive: Archive, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that meet everything, in their order; says what of a list is none."""
        from patchlore.commands.common import note
        from patchlore.kb.built_files import read_built_files
        from patchlore.kb.text import count

        if self.built is not None:
            known = (path for (path,) in archive.execute("SELECT text FROM path"))
            built = read_built_files(self.built, known, self.name)
            self.filters.built = built
            if built.unknown:
                lines = count(built.unknown, "line")
                note(f"patchlore: {self.name}: {lines} of no source or object.")
        return self.filters.choose(archive, rows)


def make(args: argparse.Namespace) -> Choice | str:
    """Return what the options ask for, or what is wrong with them; raises for a bad date."""
    from patchlore.kb.dates import parse_since
    from patchlore.kb.filtering import Filters
    from patchlore.kb.pathspec import Pathspec
    from patchlore.kb.reading import parse_bug

    bug = None if args.pr is None else parse_bug(args.pr)
    if args.pr is not None and bug is None:
        return f"{args.pr} is no bug number: write 83356, PR83356 or target/89587"
    cve = None if args.cve is None else args.cve.strip().upper()
    if cve is not None:
        cve = cve if cve.startswith("CVE-") else f"CVE-{cve}"
        if re.fullmatch(r"CVE-\d{4}-\d{4,19}", cve) is None:
            return f"{args.cve} is no CVE: write CVE-2024-12345"
    if args.path is not None:
        Pathspec(args.path)  # a mistake is told before anything is read
    filters = Filters(
        since=None if args.since is None else parse_since(args.since),
        path=args.path,
        author=args.author,
        cve=cve,
        bug=bug,
        autosel=args.autosel,
        evidence=args.evidence,
    )
    if args.built_files is None:
        return Choice(filters)
    is_standard = args.built_files == "-"
    name = "standard input" if is_standard else args.built_files
    return Choice(filters, _read(args.built_files, name), name)


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

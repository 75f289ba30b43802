"""Options of ``patchlore backports`` that choose rows, and the filters that they make."""

from __future__ import annotations

import argparse
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


class Choice(Struct):
    """What was asked for."""

    filters: Filters
    #: Only what is new or changed its state at or after that time (seconds).
    since: int | None

    def choose(self, archive: Archive, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that meet everything, in their order."""
        return [
            row
            for row in rows
            if (self.since is None or (row.event.timestamp or 0) >= self.since)
            and self.filters.keep(archive, row)
        ]


def make(args: argparse.Namespace) -> Choice | str:
    """Return what the options ask for, or what is wrong with them; raises for a bad date."""
    from patchlore.kb.dates import parse_since
    from patchlore.kb.filtering import Filters
    from patchlore.kb.reading import parse_bug

    bug = None if args.pr is None else parse_bug(args.pr)
    if args.pr is not None and bug is None:
        return f"{args.pr} is no bug number: write 83356, PR83356 or target/89587"
    return Choice(
        Filters(
            path=args.path,
            author=args.author,
            cve=args.cve,
            bug=bug,
            autosel=args.autosel,
            evidence=args.evidence,
        ),
        None if args.since is None else parse_since(args.since),
    )

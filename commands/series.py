"""``patchlore series``: the revisions of a series, and what changed between two of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    Style,
    Subparsers,
    add_archive_id,
    add_command,
    add_json,
    note,
    open_archive,
    print_json,
    print_lines,
    terminal_width,
)

if TYPE_CHECKING:
    from patchlore.kb.postings import Posting
    from patchlore.kb.range_diff import PatchChange
    from patchlore.kb.series import Revision, Series

#: The signs by which a revision was found, in words.
_RULES = {
    "change-id": "same change-id",
    "in-reply-to": "in reply",
    "link": "linked",
    "title": "same title and sender",
}


def add_parsers(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers,
        "series",
        "the revisions of a series, and what changed between two of them",
        [
            "patchlore series 20240102030405.1-2-ada@example.org",
            "patchlore series 20240102030405.1-2-ada@example.org --diff v1..v3",
        ],
        "ID is any mail of the series or an answer to one. --diff compares patch by patch as git "
        "range-diff does: = the same, ! changed, < gone, > new.",
    )
    add_archive_id(parser)
    parser.add_argument(
        "--diff", metavar="V1..V2", help="what changed between two revisions (v1..v2, or v1..)"
    )
    add_json(parser)
    parser.set_defaults(run=run_series)


def run_series(args: argparse.Namespace) -> int:
    """Print a series; 1 when ID is in none."""
    from patchlore.kb.range_diff import compare
    from patchlore.kb.series import series_of

    if args.diff is not None and ".." not in args.diff:
        note(f"patchlore: {args.diff} names no two revisions: write v1..v2.")
        return 2
    with open_archive(args) as archive:
        series = series_of(archive, args.id)
        if args.diff is None:
            if args.json:
                print_json(series_object(series))
            else:
                print_lines(series_lines(series))
            return 0
        old, _, new = args.diff.partition("..")
        first = series.revision(old or series.revisions[0].label)
        last = series.revision(new.lstrip(".") or series.revisions[-1].label)
        changes = compare(archive, first.sending, last.sending)
    if args.json:
        print_json(
            {
                "old": first.label,
                "new": last.label,
                "changes": [_change_object(change) for change in changes],
            }
        )
    else:
        print_lines(_diff_lines(first, last, changes))
    return 0


def series_object(series: Series) -> dict[str, Any]:
    """Return a series as it is printed in JSON."""
    return {
        "title": series.title,
        "sender": series.sender,
        "revisions": [
            {
                "label": revision.label,
                "version": revision.version,
                "is_resend": revision.is_resend,
                "rule": revision.rule,
                "timestamp": revision.sending.timestamp,
                "parts": revision.sending.parts,
                "missing": revision.sending.missing,
                "cover": None
                if revision.sending.cover is None
                else _posting_object(revision.sending.cover),
                "patches": [
                    _posting_object(patch) for _, patch in sorted(revision.sending.patches.items())
                ],
            }
            for revision in series.revisions
        ],
    }


def _posting_object(posting: Posting) -> dict[str, Any]:
    return {
        "message_id": posting.key,
        "part": posting.part,
        "subject": posting.subject,
        "title": posting.title,
        "timestamp": posting.timestamp,
        "patch_id": posting.patch_id,
        "applicable": posting.applicable,
    }


def _change_object(change: PatchChange) -> dict[str, Any]:
    return {
        "sign": change.sign,
        "old": None if change.old is None else _posting_object(change.old),
        "new": None if change.new is None else _posting_object(change.new),
        "diff": change.diff,
    }


def series_lines(series: Series) -> Iterator[str]:
    """Yield a series as text: each revision with its cover and patches, missing ones named."""
    from patchlore.kb.text import count, day, printable, shorten

    style = Style()
    width = terminal_width()
    sender = printable(series.sender) or "(no sender)"
    yield style.head(f"{printable(series.title) or '(no title)'}, {sender}")
    yield f"  {count(len(series.revisions), 'revision')}"
    for revision in series.revisions:
        sending = revision.sending
        yield ""
        said = ["sent again"] if revision.is_resend else []
        said += [_RULES[revision.rule]] if revision.rule else []
        head = f"{revision.label}  {day(sending.timestamp)}"
        yield style.head(head) + (f"  ({', '.join(said)})" if said else "")
        total = sending.parts
        if sending.cover is not None:
            yield from _posting_lines(sending.cover, f"0/{total}" if total else "cover", style)
        elif total and total > 1:
            yield "  (no cover letter)"
        numbers = sorted({*sending.patches, *sending.missing})
        for part in numbers:
            place = f"{part}/{total}" if total else ""
            patch = sending.patches.get(part)
            if patch is None:
                yield shorten(f"  {place} (not in the archive)", width)
            else:
                yield from _posting_lines(patch, place, style)


def _posting_lines(posting: Posting, place: str, style: Style) -> Iterator[str]:
    from patchlore.kb.text import printable, shorten

    head = f"  {place} " if place else "  "
    title = printable(posting.title) or "(no title)"
    damaged = "  (damaged)" if posting.is_patch and not posting.applicable else ""
    yield shorten(head + title, terminal_width()) + damaged
    yield style.proof(f"    <{printable(posting.key)}>")


def _diff_lines(old: Revision, new: Revision, changes: list[PatchChange]) -> Iterator[str]:
    from patchlore.kb.text import printable, printable_lines, shorten

    style = Style()
    yield style.head(f"{old.label}..{new.label}")
    for change in changes:
        shown = change.new or change.old
        title = "" if shown is None else printable(shown.title)
        head = f"{_place(change.old)} {change.sign} {_place(change.new)}  {title}"
        yield style.head(shorten(head, terminal_width()))
        for line in change.diff:
            yield f"    {printable_lines(line)}"


def _place(posting: Posting | None) -> str:
    if posting is None:
        return "-"
    return str(posting.part or 1)

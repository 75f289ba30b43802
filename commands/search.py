"""``patchlore search`` and ``index``: questions to the archive, and the text index behind them."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    HelpFormatter,
    Style,
    Subparsers,
    add_command,
    archive_path,
    note,
    number_from_zero,
    open_archive,
    print_json,
    print_json_lines,
    print_lines,
    write_bytes,
)

if TYPE_CHECKING:
    from patchlore.index.hits import Hit, Results
    from patchlore.index.search import Searcher
    from patchlore.kb.store import Archive

FORMATS = ("text", "json", "mbox", "ids")


_ABOUT = """\
Words side by side must all be found; AND, OR, NOT, -word, parentheses,
"phrases" and word* work as in lore's search box.  The status is 1 when nothing
is found and 2 when the query can't be understood.

"""
_PREFIXES = "{prefixes}"


class _PrefixHelp(HelpFormatter):
    """Lists the prefixes where the help is shown, and loads them only then."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if _PREFIXES in text:
            text = text.replace(_PREFIXES, _help_of_prefixes())
        return super()._fill_text(text, width, indent)


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "search",
        "find mail by words and facts, as in lore's search box",
        [
            "patchlore search 's:crypto f:quill d:2023-01-01..'",
            "patchlore search 'pr:83356 -where:quoted' --sort rank",
            "patchlore search dfn:drivers/net/tun.c dfb:skb_shinfo is:patch",
            "patchlore search '\"use after free\" stable:5.10' --format ids --limit 0",
        ],
        _ABOUT + _PREFIXES,
    )
    parser.formatter_class = _PrefixHelp
    # "-s:ring" is part of a query: argparse leaves to positional arguments what
    # it takes for a negative number, and for this parser that is one dash.
    parser._negative_number_matcher = re.compile(r"-(?!-)")
    parser.add_argument(
        "--limit",
        type=number_from_zero,
        default=50,
        metavar="N",
        help="at most N entries (default 50, 0: all)",
    )
    parser.add_argument(
        "--sort",
        choices=("date", "rank"),
        default="date",
        help="the newest first (default) or the best first",
    )
    parser.add_argument(
        "--flat", action="store_true", help="every mail by itself, revisions are not folded"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="for reading (default), JSON Lines, an mbox of the mails, or their Message-IDs",
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="as --format json"
    )
    parser.add_argument(
        "--facets",
        action="store_true",
        help="instead of mails, how many were found by list, year, author and kind",
    )
    parser.add_argument(
        "query", nargs="+", metavar="QUERY", help="words and prefixes; all of them must be found"
    )
    parser.set_defaults(run=run_search)

    parser = add_command(
        subparsers,
        "index",
        "bring the text index up to date with the archive",
        ["patchlore index", "patchlore index --rebuild", "patchlore index --engine sqlite"],
        "Ingest does this by itself unless told --no-index. A run that was stopped goes on where "
        "it was; a damaged index is built again.",
    )
    parser.add_argument("--rebuild", action="store_true", help="build it again from the archive")
    parser.add_argument(
        "--engine", choices=("whoosh", "sqlite"), help="what holds the prose (default whoosh)"
    )
    parser.set_defaults(run=run_index)


def _help_of_prefixes() -> str:
    import shutil

    from patchlore.index.prefixes import PREFIXES

    width = max(40, min(79, shutil.get_terminal_size().columns - 1))
    lines = ["prefixes:"]
    for prefix in PREFIXES.values():
        text = prefix.help + (f": {', '.join(prefix.choices)}" if prefix.choices else "")
        head = f"  {prefix.name + ':':12} "
        lines += textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head))
    lines.append("  reviewed-by: and any other trailer: somebody whom it names")
    return "\n".join(lines)


def run_search(args: argparse.Namespace) -> int:
    """Print what the query finds; 1 when that is nothing, 2 for a query with an error."""
    from patchlore.index.errors import QueryError
    from patchlore.index.search import Searcher

    query = join_query(args.query)
    if not query.strip():
        note("patchlore: an empty query asks for nothing: give words or a prefix, as in 's:tick'.")
        return 2
    with open_archive(args) as archive, Searcher(archive) as searcher:
        try:
            if args.facets:
                results = _print_facets(searcher, query, args)
            elif args.format == "text" and not args.flat:
                results = _print_entries(searcher, query, args)
            else:
                wanted = args.format in ("text", "json")
                results = searcher.search(query, limit=args.limit, sort=args.sort, snippets=wanted)
                _write(archive, results, args.format, flat=args.flat)
        except QueryError as error:
            note(f"patchlore: {error}", keep_lines=True)
            return 2
    for text in results.notes:
        note(f"patchlore: {text}")
    if results.not_indexed and not results.notes:
        note(
            f"patchlore: the words of {results.not_indexed:,} messages are not indexed yet:"
            " run 'patchlore index'."
        )
    if results.suggestion is not None:
        from patchlore.kb.text import printable

        note(f"patchlore: nothing is found. Did you mean: {printable(results.suggestion)}")
    elif not results.total:
        note("patchlore: nothing is found.")
    return 0 if results.total else 1


def _print_facets(searcher: Searcher, query: str, args: argparse.Namespace) -> Results:
    """Print how what was found spreads over lists, years, authors and kinds."""
    from patchlore.kb.text import count, printable

    results = searcher.search(query, limit=1, snippets=False, facets=True)
    facets = results.facets
    assert facets is not None
    if args.format == "json":
        print_json(facets)
        return results
    style = Style()
    print_lines([style.head(count(facets.total, "message"))])
    for name, counts in (
        ("list", facets.lists),
        ("year", facets.years),
        ("author", facets.authors),
        ("kind", facets.kinds),
    ):
        if counts:
            print_lines(["", style.head(name)])
            print_lines(f"  {one.messages:>9,}  {printable(one.value)}" for one in counts)
        if name == "author" and facets.more_authors:
            print_lines([f"             and {facets.more_authors:,} more"])
    return results


def _print_entries(searcher: Searcher, query: str, args: argparse.Namespace) -> Results:
    """Print --limit entries; each may stand for several mails, so more are looked for at first."""
    from patchlore.commands.search_entries import entries_of, entry_lines

    limit = 2 * args.limit
    while True:
        results = searcher.search(query, limit=limit, sort=args.sort, snippets=False, kin=True)
        looked_at = {hit.message for hit in results.hits}
        # The rest of a series may stand far behind the first of its patches: it is among the
        # kin, of which those that begin an entry would be too early.
        entries = [
            entry
            for entry in entries_of([*results.hits, *results.kin])
            if entry.hit.message in looked_at
        ]
        if not limit or len(entries) >= args.limit or len(results.hits) >= results.total:
            break
        limit *= 4
    entries = entries[: args.limit] if args.limit else entries
    searcher.add_snippets(query, [entry.hit for entry in entries])
    style = Style()
    for entry in entries:
        print_lines(entry_lines(entry, style))
    _note_shown(sum(entry.hits for entry in entries), results.total)
    return results


def join_query(arguments: list[str]) -> str:
    """Return one query of the ARGUMENTS of a command line.

    The shell took the quotation marks off ``s:"stack depth"``: an argument with
    blanks is a phrase when others stand beside it, as lei has it.
    """
    if len(arguments) == 1:
        return arguments[0]
    return " ".join(_requote(argument) for argument in arguments)


def _requote(argument: str) -> str:
    if '"' in argument or "(" in argument or not any(char.isspace() for char in argument):
        return argument
    if re.fullmatch(r"-?(?:\w+:)?/.*/i?", argument):  # a regular expression may have blanks
        return argument
    head, colon, tail = argument.partition(":")
    if colon and head and not any(char.isspace() for char in head):
        return f'{head}:"{tail}"'
    return f'"{argument}"'


def _write(archive: Archive, results: Results, form: str, *, flat: bool) -> None:
    if form == "ids":
        # Different mails under one Message-ID are one line.
        print_lines(dict.fromkeys(_one_line(hit.message_id or hit.key) for hit in results.hits))
    elif form == "json":
        groups = {} if flat else _groups(results.hits)
        print_json_lines(_as_json(hit, groups.get(hit.message)) for hit in results.hits)
    elif form == "mbox":
        from patchlore.kb.export.mbox import mboxrd
        from patchlore.kb.mailing import as_mail

        for hit in results.hits:
            write_bytes(mboxrd(as_mail(archive, hit.message), hit.timestamp))
    else:
        from patchlore.commands.search_entries import Entry, entry_lines

        style = Style()
        for hit in results.hits:
            print_lines(entry_lines(Entry(hit=hit), style))
    _note_shown(len(results.hits), results.total)


def _note_shown(shown: int, total: int) -> None:
    if shown < total:
        note(f"{shown:,} of {total:,} messages; --limit 0 shows all.")


def _one_line(key: str) -> str:
    from patchlore.kb.text import escaped

    return escaped(key)


def _groups(hits: Sequence[Hit]) -> dict[int, str]:
    """The key of the hit below which the text form shows a message."""
    from patchlore.commands.search_entries import entries_of

    return {
        hit.message: entry.hit.key
        for entry in entries_of(hits)
        for one in (entry, *entry.members)
        for hit in (one.hit, *one.revisions)
    }


def _as_json(hit: Hit, group: str | None) -> dict[str, Any]:
    snippet = hit.snippet
    return {
        "message_id": hit.message_id,
        "key": hit.key,
        "date_iso": hit.date_iso,
        "timestamp": hit.timestamp,
        "subject": hit.subject,
        "from": {"name": hit.name, "email": hit.email},
        "is_patch": hit.is_patch,
        "version": hit.version,
        "group": group,
        "score": hit.score,
        "snippet": None
        if snippet is None
        else {
            "text": snippet.text,
            "line": snippet.line,
            "kind": snippet.kind,
            "marks": snippet.marks,
        },
    }


def run_index(args: argparse.Namespace) -> int:
    """Index what is new and say how much that was."""
    import tqdm

    from patchlore.index.indexing import update_index
    from patchlore.kb.text import count as plural

    path = archive_path(args)
    bar: tqdm.tqdm[Any] = tqdm.tqdm(
        unit=" mails", desc="indexing", leave=False, disable=not sys.stderr.isatty()
    )
    with bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.n = done
            bar.refresh()

        count = update_index(
            path, progress, rebuild=args.rebuild, engine=args.engine, notice=note, verify=True
        )
    note(f"indexed {plural(count, 'message')}")
    return 0

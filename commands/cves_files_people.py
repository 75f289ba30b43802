"""``patchlore cve``, ``file`` and ``person``: what mails are about, and who wrote them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    Style,
    Subparsers,
    add_command,
    add_json,
    number_from_zero,
    open_archive,
    print_json,
    print_lines,
    terminal_width,
)

if TYPE_CHECKING:
    from patchlore.kb.dossiers.counts import NameCount
    from patchlore.kb.dossiers.cves import CveDossier
    from patchlore.kb.dossiers.files import FileDossier
    from patchlore.kb.dossiers.people import PersonDossier

_LIMIT = 20


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "cve",
        "what is known about a CVE: its commits, their backports, the mails that name it",
        ["patchlore cve CVE-2024-26592", "patchlore cve 2024-26592 --json"],
    )
    parser.add_argument("id", metavar="ID", help="CVE-2024-12345 or 2024-12345")
    add_json(parser)
    parser.set_defaults(run=run_cve)

    parser = add_command(
        subparsers,
        "file",
        "the patches that touch a file or a folder: by whom, for which trees, fixing what",
        [
            "patchlore file drivers/net/tun.c",
            "patchlore file drivers/net/",
            "patchlore file tun.c",
        ],
        "PATH is a file, a folder, or the end of a path that only one file has.",
    )
    parser.add_argument("path", metavar="PATH", help="a path as patches have it, without a/ and b/")
    _add_limit(parser)
    add_json(parser)
    parser.set_defaults(run=run_file)

    parser = add_command(
        subparsers,
        "person",
        "what somebody wrote, reviewed, tested and reported",
        ["patchlore person ada@example.org", "patchlore person 'Ada Quill'"],
        "An address means itself under all its names, a name all its addresses.",
    )
    parser.add_argument("who", metavar="NAME-OR-ADDRESS", help="a name, a part of one, an address")
    _add_limit(parser)
    add_json(parser)
    parser.set_defaults(run=run_person)


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=number_from_zero,
        default=_LIMIT,
        metavar="N",
        help=f"at most N entries in each list (default {_LIMIT}, 0: all)",
    )


def run_cve(args: argparse.Namespace) -> int:
    """Print the dossier of a CVE."""
    from patchlore.kb.dossiers.cves import cve_dossier

    name = args.id.strip().upper()
    with open_archive(args) as archive:
        dossier = cve_dossier(archive, name if name.startswith("CVE-") else f"CVE-{name}")
    if args.json:
        print_json(cve_object(dossier))
    else:
        print_lines(cve_lines(dossier))
    return 0


def run_file(args: argparse.Namespace) -> int:
    """Print the dossier of a file or a folder."""
    from patchlore.kb.dossiers.files import file_dossier

    with open_archive(args) as archive:
        dossier = file_dossier(archive, args.path, args.limit)
    if args.json:
        print_json(dossier)
    else:
        print_lines(file_lines(dossier))
    return 0


def run_person(args: argparse.Namespace) -> int:
    """Print the dossier of a person."""
    from patchlore.kb.dossiers.people import person_dossier

    with open_archive(args) as archive:
        dossier = person_dossier(archive, args.who, args.limit)
    if args.json:
        print_json(dossier)
    else:
        print_lines(person_lines(dossier))
    return 0


def cve_object(dossier: CveDossier) -> dict[str, Any]:
    """Return the dossier of a CVE as it is printed in JSON."""
    import msgspec

    from patchlore.kb.export.jsonl import event_object

    value: dict[str, Any] = msgspec.to_builtins(dossier)
    for commit, printed in zip(dossier.commits, value["commits"], strict=True):
        for state, tree in zip(commit.trees, printed["trees"], strict=True):
            tree["events"] = [event_object(event) for event in state.events]
    return value


def cve_lines(dossier: CveDossier) -> Iterator[str]:
    """Yield the dossier of a CVE as text."""
    from patchlore.commands.lines import brief_lines, event_lines, proof_line
    from patchlore.kb.text import count, printable
    from patchlore.kb.versions import short_name

    style = Style()
    rejected = " (rejected)" if dossier.rejected else ""
    mails = count(len(dossier.namings), "mail")
    yield style.head(f"{dossier.cve}{rejected}: {mails}")
    if dossier.title:
        yield f"  {printable(dossier.title)}"
    if dossier.files:
        yield f"  files: {', '.join(map(printable, dossier.files))}"
    if dossier.pairs:
        yield ""
        yield style.head("affected")
    for pair in dossier.pairs:
        since = _version(pair.vulnerable_version, pair.vulnerable_sha) or "not known"
        until = _version(pair.fixed_version, pair.fixed_sha) or "not fixed"
        yield f"  from {since} to {until}"
        yield proof_line(style, pair.key, pair.line, pair.text, "certain")
    for role, heading in (("fix", "fixed by"), ("cause", "introduced by")):
        commits = [commit for commit in dossier.commits if commit.role == role]
        if commits:
            yield ""
            yield style.head(heading)
        for commit in commits:
            yield f"  {style.name(commit.sha)}  {printable(commit.subject) or '(title not known)'}"
            for reason in commit.reasons:
                yield style.proof(f"    {printable(reason)}")
            for state in commit.trees:
                yield f"    {short_name(state.tree)}: {state.state} ({printable(state.reason)})"
                for event in state.events:
                    yield from event_lines(event, style, "      ")
    if dossier.references:
        yield ""
        yield style.head("references")
        yield from (f"  {printable(url)}" for url in dossier.references)
    if dossier.namings:
        yield ""
        yield style.head("mails")
        for naming in dossier.namings:
            yield from brief_lines(naming.message, style, "  ")
            if naming.text:
                yield proof_line(style, naming.message.key, naming.line, naming.text, "certain")


def _version(version: str | None, sha: str | None) -> str:
    """A version and its commit: ``5.10.9 (0123456789ab)``, as far as they are known."""
    short = sha[:12] if sha else None
    return f"{version} ({short})" if version and short else version or short or ""


def file_lines(dossier: FileDossier) -> Iterator[str]:
    """Yield the dossier of a file or a folder as text."""
    from patchlore.commands.lines import brief_line, brief_lines
    from patchlore.kb.text import count, day, printable
    from patchlore.kb.versions import newest_first, short_name

    style = Style()
    head = f"{printable(dossier.path)}: {count(dossier.patches, 'patch', 'patches')}"
    if dossier.quotations:
        head += f", quoted in {count(dossier.quotations, 'other mail')}"
    if dossier.git_commits:
        head += f", {count(dossier.git_commits, 'commit')} of git trees"
    yield style.head(head)
    if dossier.first is not None:
        yield f"  {day(dossier.first)} to {day(dossier.last)}"
    yield from _counts("in it", dossier.below, style)
    yield from _counts("by", dossier.authors, style)
    yield from _counts("in", dossier.functions, style)
    yield from _counts("bugs", dossier.bugs, style)
    yield from _counts("CVEs", dossier.cves, style)
    if dossier.renames:
        yield ""
        yield style.head("renamed or copied")
        for rename in dossier.renames:
            paths = f"{printable(rename.old_path)} -> {printable(rename.new_path)}"
            yield f"  {day(rename.message.timestamp)}  {rename.status}: {paths}"
            yield style.proof(f"    <{printable(rename.message.key)}>")
    if dossier.commits:
        yield ""
        yield style.head("backported")
        for commit in dossier.commits:
            trees = ", ".join(short_name(tree) for tree in newest_first(commit.trees))
            yield f"  {style.name(commit.sha[:12])}  {printable(commit.subject)}"
            yield style.proof(f"    <{printable(commit.message.key)}>") + (
                f" for {trees}" if trees else ""
            )
    if dossier.fixes:
        yield ""
        yield style.head("fixed in it")
        for fix in dossier.fixes:
            subject = f'  ("{printable(fix.subject)}")' if fix.subject else ""
            yield f"  {style.name(fix.sha[:12])}{subject}"
            yield brief_line(fix.message, "    by ")
    if dossier.latest:
        yield ""
        yield style.head("newest patches")
        for brief in dossier.latest:
            yield from brief_lines(brief, style, "  ")
    if dossier.latest_commits:
        yield ""
        yield style.head("newest commits")
        for touch in dossier.latest_commits:
            trees = ", ".join(short_name(tree) for tree in touch.trees) or "no tree any more"
            yield f"  {day(touch.commit_time)}  {touch.sha[:12]}  {printable(touch.subject)}"
            yield style.proof(f"    in {printable(trees)}")


def person_lines(dossier: PersonDossier) -> Iterator[str]:
    """Yield the dossier of a person as text."""
    from patchlore.commands.lines import brief_lines
    from patchlore.kb.text import day, printable

    style = Style()
    name = printable(dossier.names[0] if dossier.names else dossier.addresses[0])
    yield style.head(name)
    if len(dossier.names) > 1:
        yield f"  also written: {', '.join(map(printable, dossier.names[1:]))}"
    yield f"  addresses: {', '.join(map(printable, dossier.addresses)) or '(not known)'}"
    if dossier.other_addresses:
        others = ", ".join(map(printable, dossier.other_addresses))
        yield f"  the same name, perhaps the same person: {others}"
    if dossier.first is not None:
        yield f"  {day(dossier.first)} to {day(dossier.last)}"
    yield from _counts("as", dossier.roles, style)
    yield from _counts("on", dossier.lists, style)
    yield from _counts("in", dossier.years, style)
    yield from _counts("files", dossier.files, style)
    yield from _counts("patches for stable trees", dossier.trees, style)
    yield from _counts("bugs", dossier.bugs, style)
    yield from _counts("CVEs", dossier.cves, style)
    for heading, briefs in (("newest patches", dossier.patches), ("newest mails", dossier.mails)):
        if briefs:
            yield ""
            yield style.head(heading)
            for brief in briefs:
                yield from brief_lines(brief, style, "  ")
    if dossier.shares:
        yield ""
        yield style.head("reviewed, tested or reported, the newest")
    for share in dossier.shares:
        line, key = brief_lines(share.message, style, "  ")
        yield line
        yield f"{key}  {style.proof(', '.join(map(printable, share.tags)))}"


def _counts(heading: str, counts: Sequence[NameCount], style: Style) -> Iterator[str]:
    from patchlore.kb.text import printable, shorten

    if counts:
        yield ""
        yield style.head(heading)
        for one in counts:
            yield shorten(f"  {one.messages:>7,}  {printable(one.name)}", terminal_width())

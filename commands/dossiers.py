"""``patchlore pr``, ``prs`` and ``commit``: dossiers, each fact with the line that proves it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    Style,
    Subparsers,
    add_command,
    add_json,
    note,
    open_archive,
    print_json,
    print_json_lines,
    print_lines,
    terminal_width,
)

if TYPE_CHECKING:
    from patchlore.kb.dossiers.bugs import BugDossier, Hit
    from patchlore.kb.dossiers.commits import CommitDossier, Naming, TreeState
    from patchlore.kb.store import Archive

#: Headings of the groups of a bug's dossier by strength.
_GROUPS = (
    "in tags and subjects",
    "in changed lines of patches",
    "in the text",
    "in quoted text",
    "in context lines",
)

#: What a mail that stands in the history of a tree says of the commit once more.
_TOLD_BY_EVENTS = ("upstream", "original", "own", "mention")


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "pr",
        "what is known about a GCC bug, strongest evidence first",
        ["patchlore pr 83356", "patchlore pr target/89587", "patchlore pr llvm:143908"],
    )
    parser.add_argument(
        "number", metavar="NUMBER", help="83356, PR83356, target/89587 or llvm:143908"
    )
    add_json(parser)
    parser.set_defaults(run=run_pr)

    parser = add_command(
        subparsers,
        "prs",
        "all GCC bugs that mails name, with counts",
        [
            "patchlore prs",
            "patchlore prs --since 2024-01-01",
            "patchlore prs --older-than gcc-8",
        ],
        "All bugs of a compiler that mails name, with counts. With --older-than the patches about "
        "them that name an older compiler, in their text or in a condition that they add: "
        "workarounds that may have become needless.",
    )
    parser.add_argument("--since", metavar="DATE", help="only those that mails since then name")
    parser.add_argument(
        "--tracker", default="gcc", metavar="NAME", help="bugs of another tracker (llvm, kernel …)"
    )
    parser.add_argument(
        "--older-than",
        metavar="COMPILER",
        help="patches about bugs that name a compiler older than this (gcc-8, clang-13)",
    )
    add_json(parser, "JSON Lines")
    parser.set_defaults(run=run_prs)

    parser = add_command(
        subparsers,
        "commit",
        "what is known about a commit: backports per tree, fixes, reverts, reports",
        [
            "patchlore commit 148b974deea9",
            "patchlore commit 148b974deea9 --tree 4.15",
            "patchlore commit r12-7719",
        ],
        "Abbreviations are understood both ways: a Fixes tag with 12 digits names the commit "
        "with 40. With --tree the timeline in that tree.",
    )
    parser.add_argument(
        "sha", metavar="SHA", help="7 or more digits, or a commit of GCC (r12-7719)"
    )
    parser.add_argument("--tree", metavar="TREE", help="only that tree, every event in it")
    parser.add_argument(
        "--diff",
        action="store_true",
        help="the diff of the diffs: each tree's backport against the upstream patch",
    )
    add_json(parser)
    parser.set_defaults(run=run_commit)


def run_pr(args: argparse.Namespace) -> int:
    """Print the dossier of a bug."""
    from patchlore.kb.dossiers.bugs import bug_dossier
    from patchlore.kb.reading import parse_bug

    bug = parse_bug(args.number)
    if bug is None:
        note(f"patchlore: {args.number} is no bug number: write 83356, PR83356 or target/89587.")
        return 2
    with open_archive(args) as archive:
        dossier = bug_dossier(archive, bug)
    if args.json:
        print_json(dossier)
    else:
        print_lines(bug_lines(dossier))
    return 0


def run_prs(args: argparse.Namespace) -> int:
    """Print all bugs; 1 when there is none."""
    from patchlore.kb.dates import parse_since
    from patchlore.kb.dossiers.bugs import all_bugs
    from patchlore.kb.text import count, day

    since = None if args.since is None else parse_since(args.since)
    if args.older_than is not None:
        return _run_workarounds(args, since)
    with open_archive(args) as archive:
        bugs = all_bugs(archive, tracker=args.tracker, since=since)
    if args.json:
        print_json_lines(bugs)
    else:
        print_lines(
            f"{bug.bug!s:28} {count(bug.messages, 'mail'):>12}"
            f"  {count(bug.patches, 'patch', 'patches'):>12}"
            f"  {day(bug.first)} to {day(bug.last)}  {_GROUPS[bug.strength]}"
            for bug in bugs
        )
    if not bugs:
        note("patchlore: no mail in the archive names such a bug.")
    return 0 if bugs else 1


def _run_workarounds(args: argparse.Namespace, since: int | None) -> int:
    """Print the workarounds for compilers older than a minimum; 1 when there is none."""
    from patchlore.commands.bug_parts import workaround_lines
    from patchlore.kb.dossiers.compilers import parse_minimum, workarounds

    minimum = parse_minimum(args.older_than)
    with open_archive(args) as archive:
        found = list(workarounds(archive, minimum, tracker=args.tracker, since=since))
    if args.json:
        print_json_lines(found)
    else:
        style = Style()
        print_lines(line for one in found for line in workaround_lines(one, style))
    if not found:
        note("patchlore: no patch in the archive names an older compiler.")
    return 0 if found else 1


def run_commit(args: argparse.Namespace) -> int:
    """Print the dossier of a commit."""
    from patchlore.kb.dossiers.commits import AmbiguousCommitError, commit_dossier
    from patchlore.kb.reading import is_gcc_commit, names_gcc_commit, spellings

    with open_archive(args) as archive:
        if is_gcc_commit(args.sha) or (
            names_gcc_commit(archive, args.sha) and not spellings(archive, args.sha)
        ):
            return show_gcc_commit(archive, args.sha, as_json=args.json)
        try:
            dossier = commit_dossier(archive, args.sha, args.tree, diff=args.diff)
        except AmbiguousCommitError as error:
            if args.json:
                print_json({"ambiguous": error.sha, "candidates": error.candidates})
            raise
    if args.tree is not None and not dossier.trees:
        note(f"patchlore: nothing in the archive connects {dossier.sha} with {args.tree}.")
        return 1
    if args.json:
        print_json(commit_object(dossier))
    else:
        print_lines(commit_lines(dossier, args.tree))
    return 0


def show_gcc_commit(archive: Archive, name: str, *, as_json: bool) -> int:
    """Print the mails that name a commit of GCC, each with the line; 0."""
    from patchlore.commands.lines import brief_line, proof_line
    from patchlore.kb.dossiers.gcc_commits import gcc_commit_dossier
    from patchlore.kb.text import count, printable

    dossier = gcc_commit_dossier(archive, name)
    if as_json:
        print_json(dossier)
        return 0
    style = Style()
    head = f"GCC commit {printable(dossier.gcc_commit)}: {count(len(dossier.messages), 'mail')}"
    print_lines([style.head(head)])
    for one in dossier.namings:
        text = one.text or one.name
        print_lines(
            [
                brief_line(one.message),
                proof_line(style, one.message.key, one.line, text, one.confidence, "  "),
            ]
        )
    return 0


def bug_lines(dossier: BugDossier) -> Iterator[str]:
    """Yield the dossier of a bug as text."""
    from patchlore.commands.bug_parts import (
        compiler_lines,
        record_lines,
        related_lines,
        tree_lines,
    )
    from patchlore.commands.commits import bug_lines as git_lines
    from patchlore.kb.text import count
    from patchlore.kb.versions import newest_first, short_name

    style = Style()
    patches = sum(hit.message.is_patch and hit.strength <= 2 for hit in dossier.hits)
    head = f"{dossier.bug}: {count(len(dossier.hits), 'mail')}"
    head += f", {count(patches, 'patch', 'patches')} about it"
    yield style.head(head)
    if dossier.components and dossier.bug.component is None:
        yield f"  component: {', '.join(dossier.components)}"
    yield from record_lines(dossier, style)
    if dossier.duplicates:
        yield f"  duplicates of it: {', '.join(map(str, dossier.duplicates))}"
    if dossier.upstream_commits:
        yield f"  upstream commits: {', '.join(dossier.upstream_commits)}"
    if dossier.trees:
        yield f"  trees: {', '.join(short_name(tree) for tree in newest_first(dossier.trees))}"
    yield from tree_lines(dossier, style)
    yield from git_lines(dossier.git, style)
    yield from compiler_lines(dossier, style)
    group = None
    for hit in dossier.hits:
        if hit.strength != group:
            group = hit.strength
            yield ""
            yield style.head(_GROUPS[group])
        yield from _hit_lines(hit, style)
    yield from related_lines(dossier.related, style)


def _hit_lines(hit: Hit, style: Style) -> Iterator[str]:
    from patchlore.commands.lines import brief_lines
    from patchlore.kb.text import printable, shorten
    from patchlore.kb.versions import short_name

    yield from brief_lines(hit.message, style)
    yield f"  {hit.words}"
    if hit.trees:
        yield f"  for {', '.join(short_name(tree) for tree in hit.trees)}"
    if hit.upstream_commits:
        yield f"  upstream {style.name(', '.join(hit.upstream_commits))}"
    if hit.fixes:
        yield f"  fixes {', '.join(hit.fixes)}"
    for place in hit.places:
        where = "header" if not place.line else f"line {place.line}"
        sure = "" if place.confidence == "certain" else f" ({place.confidence})"
        text = f": {printable(place.text).strip()}" if place.text else ""
        line = f"    {where}, {place.place}{sure}{text}"
        yield style.proof(shorten(line, 2 * terminal_width()))


def commit_object(dossier: CommitDossier) -> dict[str, Any]:
    """Return the dossier of a commit as it is printed in JSON."""
    import msgspec

    from patchlore.kb.export.jsonl import event_object

    value: dict[str, Any] = msgspec.to_builtins(dossier)
    value["trees"] = [
        {
            "tree": state.tree,
            "state": state.state,
            "reason": state.reason,
            "events": [event_object(event) for event in state.events],
        }
        for state in dossier.trees
    ]
    return value


def commit_lines(dossier: CommitDossier, tree: str | None = None) -> Iterator[str]:
    """Yield the dossier of a commit as text; with ``tree`` only the timeline in it."""
    from patchlore.commands.commits import (
        chain_lines,
        content_lines,
        discussion_lines,
        head_lines,
        naming_lines,
        origin_lines,
        reviewer_lines,
        revision_lines,
        tree_lines,
        vulnerability_lines,
    )
    from patchlore.commands.lines import brief_lines, event_lines, proof_line
    from patchlore.kb.text import printable
    from patchlore.kb.versions import short_name

    style = Style()
    yield f"{style.head('commit')} {style.name(dossier.sha)}"
    yield f"  {printable(dossier.subject) or '(title not known)'}"
    if dossier.bugs:
        yield f"  bugs: {', '.join(dossier.bugs)}"
    if dossier.cves:
        yield f"  CVEs: {', '.join(dossier.cves)}"
    if tree is None:
        yield from head_lines(dossier.git, style)
        yield from tree_lines(dossier.git, style)
    told: set[tuple[str, int | None]] = set()
    for states in _alike(dossier.trees):
        state = states[0]
        names = ", ".join(short_name(item.tree) for item in states)
        yield ""
        yield style.head(f"{names}: {state.state}") + f" ({state.reason})"
        for event in state.events:
            # A note that nominates for many trees is proved once.
            lines = event_lines(event, style)
            yield from lines[:1] if (event.key, event.line) in told else lines
            told.add((event.key, event.line))
    yield from content_lines(dossier.contents, style)
    if tree is not None:
        return
    mails = {event.key for state in dossier.trees for event in state.events}
    yield from origin_lines(dossier.git.origins, style)
    mails |= {origin.message.key for origin in dossier.git.origins}
    postings = [brief for brief in dossier.postings if brief.key not in mails]
    if postings:
        yield ""
        yield style.head("posted under the same title")
        for brief in postings:
            yield from brief_lines(brief, style, "  ")
    mails |= {brief.key for brief in postings}
    yield from revision_lines(dossier.revisions, mails, style)
    yield from discussion_lines(dossier.discussion, style)
    yield from reviewer_lines(dossier.reviewers, style)
    if dossier.fixes:
        yield ""
        yield style.head("fixes")
        for fixed in dossier.fixes:
            subject = f'  ("{printable(fixed.subject)}")' if fixed.subject else ""
            yield f"  {style.name(fixed.sha)}{subject}"
            yield proof_line(style, fixed.key, fixed.line, fixed.text, "certain")
    yield from _naming_lines(
        [
            naming
            for naming in dossier.namings
            if naming.relation not in _TOLD_BY_EVENTS or naming.message.key not in mails
        ],
        style,
    )
    yield from naming_lines(dossier.git.named_by, style)
    yield from chain_lines(dossier.earlier, "what it fixes, step by step", style)
    yield from chain_lines(dossier.later, "what fixes it, step by step", style)
    yield from vulnerability_lines(dossier.ended, dossier.brought, style)


def _alike(trees: list[TreeState]) -> list[list[TreeState]]:
    """Bring together the trees in which just the same happened: nominated by one note."""
    groups: dict[object, list[TreeState]] = {}
    for state in trees:
        happened = (
            state.state,
            tuple((event.key, event.kind, event.line) for event in state.events),
        )
        groups.setdefault(happened, []).append(state)
    return list(groups.values())


def _naming_lines(namings: list[Naming], style: Style) -> Iterator[str]:
    from patchlore.commands.lines import brief_line, proof_line

    words = None
    for naming in namings:
        if naming.words != words:
            words = naming.words
            yield ""
            yield style.head(words)
        yield brief_line(naming.message, "  ")
        yield proof_line(
            style, naming.message.key, naming.line, naming.text or naming.sha, naming.confidence
        )

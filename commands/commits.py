"""Lines about commits of git trees: themselves, where they are, the mails that they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from patchlore.commands.common import Style
from patchlore.commands.lines import brief_line, proof_line
from patchlore.kb.text import count, day, printable, printable_lines, shorten
from patchlore.kb.versions import short_name

if TYPE_CHECKING:
    from patchlore.ingest.commit_message import Commit
    from patchlore.kb.dossiers.contents import Content
    from patchlore.kb.dossiers.git_commits import BugInTree, GitFacts
    from patchlore.kb.edges_reading import Became, Origin
    from patchlore.kb.git_reading import GitNaming, InTree

#: How a commit's message names another, in words.
_WORDS = {
    "fixes": "fixed by",
    "reverts": "reverted by",
    "partial-revert": "partly reverted by",
    "reverted-upstream": "reverted upstream, by",
    "stable-dep-of": "needed as a dependency by",
}
_SAYS = {
    "upstream": "upstream",
    "fixes": "fixes",
    "reverts": "reverts",
    "partial-revert": "partly reverts",
    "reverted-upstream": "reverts upstream",
    "stable-dep-of": "dependency of",
    "prerequisite": "needs",
}

#: Of so many trees it is told that they have a commit; of others how many they are.
_MOST_TREES = 12


def head_lines(facts: GitFacts, style: Style) -> Iterator[str]:
    """Yield who made a commit and when, and which commits its message names."""
    commit = facts.commit
    if commit is None:
        return
    author = printable(commit.author) or "(no author)"
    line = f"  {day(commit.author_time)}  by {author}"
    if commit.committer:
        line += f"; committed {day(commit.commit_time)} by {printable(commit.committer)}"
    yield line
    for said in facts.names:
        title = f'  ("{printable(said.subject)}")' if said.subject else ""
        yield f"  {_SAYS.get(said.relation, said.relation)} {style.name(said.sha)}{title}"
        yield proof_line(style, commit.sha, said.line, said.text, "certain")
    if facts.same_as is not None:
        same = facts.same_as
        title = printable(same.subject)
        yield f'  carries the change of {style.name(same.sha)}  ("{title}")'
        yield proof_line(style, commit.sha, None, same.words, same.confidence)


def content_lines(contents: Sequence[Content], style: Style) -> Iterator[str]:
    """Yield what each tree's backport is to the upstream patch, and the diffs if there are any."""
    from patchlore.kb.identity import WORDS

    if not contents:
        return
    against = contents[0].against
    yield ""
    if against is None:
        yield style.head("content (the upstream patch is not in the archive)")
    else:
        yield style.head("content against the upstream patch")
        yield style.proof(f"  {_where(against, contents[0].against_commit)}")
    for items in _alike_contents(contents):
        first = items[0]
        names = ", ".join(short_name(item.tree) for item in items)
        alike = f", likeness {first.likeness:.2f}" if first.likeness not in (None, 1) else ""
        yield f"  {printable(names)}: {WORDS[first.kind]}{alike}: {printable(first.reason)}"
        yield style.proof(f"    {_where(first.key, first.commit)}")
        for note in first.notes:
            text = " ".join(printable(note.text).split())
            yield proof_line(style, first.key, note.line, text, "certain")
        for line in first.diff:
            yield f"    {printable_lines(line)}"


def _where(key: str, commit: str | None) -> str:
    return f"<{printable(key)}>" if commit is None else f"commit {commit}"


def _alike_contents(contents: Sequence[Content]) -> list[list[Content]]:
    """Bring together the trees that have one backport."""
    groups: dict[str, list[Content]] = {}
    for item in contents:
        groups.setdefault(item.key, []).append(item)
    return list(groups.values())


def tree_lines(facts: GitFacts, style: Style) -> Iterator[str]:
    """Yield where a commit and its backports are."""
    if not facts.trees:
        return
    yield ""
    yield style.head("in git trees")
    for items in _alike(facts.trees):
        first = items[0]
        names = ", ".join(short_name(item.tree) for item in items[:_MOST_TREES])
        if len(items) > _MOST_TREES:
            names += f" and {count(len(items) - _MOST_TREES, 'more tree')}"
        what = "itself" if first.how == "itself" else f"backport {style.name(first.sha[:12])}"
        since = f"since {printable(first.since)}" if first.since else "not released yet"
        when = first.released if first.release else first.tagged
        date = f" ({day(when)})" if first.since else ""
        yield f"  {printable(names)}: {what}, {since}{date}"
        if first.how != "itself":
            yield proof_line(style, first.sha, first.line, first.text, first.confidence)


def _alike(trees: Sequence[InTree]) -> list[list[InTree]]:
    """Bring together the trees that have the same commit since the same release."""
    groups: dict[tuple[str, str | None, str], list[InTree]] = {}
    for item in trees:
        groups.setdefault((item.sha, item.since, item.how), []).append(item)
    return list(groups.values())


def origin_lines(origins: Sequence[Origin], style: Style) -> Iterator[str]:
    """Yield the mails that became a commit, the revision that was taken marked."""
    if not origins:
        return
    yield ""
    yield style.head("came from the list as")
    for origin in origins:
        yield brief_line(origin.message, "* " if origin.is_best else "  ")
        yield style.proof(f"    <{printable(origin.message.key)}>")
        yield f"    by {', '.join(origin.rules)} ({origin.confidence})"
        if origin.witness:
            yield proof_line(style, origin.witness, origin.line, origin.text, "certain", "      ")


def naming_lines(namings: Sequence[GitNaming], style: Style) -> Iterator[str]:
    """Yield the commits of trees whose messages name a commit."""
    words = None
    for naming in namings:
        if naming.relation != words:
            words = naming.relation
            yield ""
            yield style.head(f"{_WORDS.get(words, words)} (git)")
        more = f" and {count(naming.backports, 'backport')}" if naming.backports else ""
        head = f"  {day(naming.commit_time)}  {naming.sha}{more}"
        yield style.name(head)
        yield shorten(f"    {printable(naming.subject)}", 120)
        yield proof_line(style, naming.sha, naming.line, naming.text, naming.confidence)


def became_lines(found: Sequence[Became], style: Style) -> Iterator[str]:
    """Yield the commits that a patch became, the one to believe first."""
    for item in found:
        head = "became" if item.is_best else "or"
        yield (f"{head:12} {style.name(item.sha)} by {', '.join(item.rules)} ({item.confidence})")
        if item.subject:
            yield shorten(f"{'':12} {printable(item.subject)}", 120)
        if item.witness:
            yield proof_line(style, item.witness, item.line, item.text, "certain", " " * 13)


def stored_lines(commit: Commit, style: Style) -> Iterator[str]:
    """Yield a commit's message as ``git show`` prints it."""
    yield ""
    yield style.head("message")
    for line in printable_lines(commit.message.body.rstrip("\n")).split("\n"):
        yield f"    {line}".rstrip()


def bug_lines(found: Sequence[BugInTree], style: Style) -> Iterator[str]:
    """Yield the commits of trees that name a bug."""
    if not found:
        return
    yield ""
    yield style.head("in git trees")
    for item in found:
        since = f", since {printable(item.since)}" if item.since else ""
        more = f", {count(item.backports, 'backport')}" if item.backports else ""
        names = ", ".join(short_name(tree) for tree in item.trees[:_MOST_TREES])
        yield f"  {day(item.commit_time)}  {style.name(item.sha[:12])} in {names}{since}{more}"
        yield shorten(f"    {printable(item.subject)}", 120)
        yield proof_line(style, item.sha, item.line, item.text, item.confidence)

"""Lines about commits of git trees: themselves, where they are, the mails that they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from patchlore.commands.common import Style
from patchlore.commands.lines import brief_line, brief_lines, proof_line
from patchlore.kb.text import count, day, printable, printable_lines, shorten
from patchlore.kb.versions import short_name

if TYPE_CHECKING:
    from patchlore.ingest.commit_message import Commit
    from patchlore.kb.dossiers.chains import Link
    from patchlore.kb.dossiers.contents import Content
    from patchlore.kb.dossiers.git_commits import BugInTree, GitFacts
    from patchlore.kb.dossiers.related import Related
    from patchlore.kb.dossiers.reviewers import Reviewer
    from patchlore.kb.dossiers.revisions import PatchRevision
    from patchlore.kb.edges_reading import Became, Origin
    from patchlore.kb.git_reading import GitNaming, InTree
    from patchlore.kb.vulnerabilities import Vulnerability

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

#: What a later change does to an earlier one.
_DOES = {"fixes": "fixes", "reverts": "reverts", "partial-revert": "partly reverts"}

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


def revision_lines(
    revisions: Sequence[PatchRevision], known: set[str], style: Style
) -> Iterator[str]:
    """Yield the revisions of a patch on the list; those in KNOWN are told elsewhere."""
    if all(one.message.key in known for one in revisions):
        return
    yield ""
    yield style.head("revisions on the list")
    for one in revisions:
        rule = f" (by {one.rule})" if one.rule else ""
        resend = ", sent again" if one.is_resend else ""
        yield f"  {one.label}{resend}{rule}: {brief_line(one.message)}"
        yield style.proof(f"    <{printable(one.message.key)}>")


def discussion_lines(found: Sequence[Related], style: Style) -> Iterator[str]:
    """Yield the mails that answer a patch."""
    if not found:
        return
    yield ""
    yield style.head("discussion")
    for one in found:
        yield from brief_lines(one.message, style, "  ")


def reviewer_lines(reviewers: Sequence[Reviewer], style: Style) -> Iterator[str]:
    """Yield who reviewed, acked, tested or reported a change, and where that stands."""
    if not reviewers:
        return
    yield ""
    yield style.head("people")
    for one in reviewers:
        who = " ".join(filter(None, (one.name, f"<{one.email}>" if one.email else "")))
        yield f"  {one.role}: {printable(who)}"
        where = f"commit {one.key}" if one.source == "commit" else f"<{printable(one.key)}>"
        yield style.proof(f"    {one.source}, {where}")


def chain_lines(links: Sequence[Link], heading: str, style: Style) -> Iterator[str]:
    """Yield a chain of fixes and reverts where it has more than one step.

    (The first step is told with its line elsewhere in the dossier.)
    """
    if all(link.depth == 1 for link in links):
        return
    yield ""
    yield style.head(heading)
    for link in links:
        indent = "  " * link.depth
        name = style.name(link.sha[:12]) if link.sha else "a patch"
        title = f'  ("{printable(link.subject)}")' if link.subject else ""
        yield shorten(f"{indent}{name} {_DOES[link.relation]} {link.of[:12]}{title}", 160)
        yield proof_line(style, link.key, link.line, link.text, link.confidence, indent + "  ")


def vulnerability_lines(
    ended: Sequence[Vulnerability], brought: Sequence[Vulnerability], style: Style
) -> Iterator[str]:
    """Yield the vulnerabilities that a commit ended and brought, as records say."""
    for pairs, heading in ((ended, "ended vulnerabilities"), (brought, "brought vulnerabilities")):
        if not pairs:
            continue
        yield ""
        yield style.head(heading)
        for pair in pairs:
            came = _in_version("came in", pair.introduced_version, pair.introduced)
            went = _in_version("ended in", pair.fixed_version, pair.fixed)
            yield f"  {pair.cve}: {', '.join(filter(None, (came, went)))}"
            yield proof_line(style, pair.key, pair.line, pair.text, "certain")


def _in_version(words: str, version: str | None, sha: str | None) -> str:
    if version is None and sha is None:
        return ""
    by = f" by {sha[:12]}" if sha else ""
    return printable(f"{words} {version or '?'}{by}")


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

"""Backport lists as issues of the CIP's kernel security tracker: ``issues/CVE-2024-12345.yml``.

https://gitlab.com/cip-project/cip-kernel/cip-kernel-sec: branches are ``mainline``
and ``linux-5.10.y``, commits are known in full, ``never`` is a branch that was not
affected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlore.kb.backports import Row
from patchlore.kb.export.issues import Issue, issues_of
from patchlore.kb.export.patches import left_out
from patchlore.kb.export.telling import proof_of
from patchlore.kb.store import Archive
from patchlore.kb.text import printable

_IGNORED = frozenset({"dropped", "opted-out"})


def files(
    archive: Archive, tree: str, rows: Sequence[Row]
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the files of the folder, name and content, and notes about what was left out."""
    issues, left = issues_of(archive, tree, rows)
    found = [
        (f"issues/{issue.cve}.yml", "".join(f"{line}\n" for line in _lines(tree, issue)).encode())
        for issue in issues
    ]
    return found, left_out(left, "no CVE is known")


def _lines(tree: str, issue: Issue) -> Iterator[str]:
    yield f"description: {scalar(issue.title)}"
    if issue.references:
        yield "references:"
        yield from (f"- {scalar(url)}" for url in issue.references)
    yield "comments:"
    yield "  patchlore: |-"
    for row in issue.rows:
        yield f"    {_plain(f'{tree}: {row.state}: {row.reason}')}"
        yield f"    {_plain(proof_of(row))}"
    causes = [("mainline", issue.introduced)] if issue.introduced else []
    unaffected = {row.state for row in issue.rows} == {"not-affected"}
    if causes or unaffected:
        yield "introduced-by:"
        if unaffected:
            yield f"  {_branch(tree)}: never"
        yield from (f"  {name}: {_commits(shas)}" for name, shas in causes)
    fixes = [
        (_branch(name), [item.sha for item in issue.fixed[name]])
        for name in issue.trees
        if name in issue.fixed
    ]
    if issue.upstream:
        fixes.append(("mainline", issue.upstream))
    if fixes:
        yield "fixed-by:"
        yield from (f"  {name}: {_commits(shas)}" for name, shas in sorted(fixes))
    ignored = [row for row in issue.rows if row.state in _IGNORED]
    if len(ignored) == len(issue.rows):
        yield "ignore:"
        yield f"  {_branch(tree)}: {scalar(ignored[0].reason)}"


def scalar(text: str) -> str:
    """Return text as a YAML scalar in single quotes, which knows no escapes but a doubled quote."""
    return "'" + _plain(text).replace("'", "''") + "'"


def _plain(text: str) -> str:
    # YAML forbids characters that are not printable, and blanks decide about indentation.
    safe = "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" for char in printable(text)
    )
    return safe.strip()


def _branch(tree: str) -> str:
    # A name that was given to a repository may be anything.
    name = f"linux-{tree}" if tree[:1].isdigit() else tree
    return name if all(char.isalnum() or char in "._-/" for char in name) else scalar(name)


def _commits(shas: Sequence[str]) -> str:
    return f"[{', '.join(shas)}]"

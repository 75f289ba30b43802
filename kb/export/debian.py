"""Backport lists as files of Debian's kernel-sec: ``active/CVE-2024-12345``.

https://salsa.debian.org/kernel-team/kernel-sec: fields, texts of several lines
indented, and the status in each tree as a word with a version and a commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlore.kb.backports import Row
from patchlore.kb.export.issues import Issue, issues_of
from patchlore.kb.export.patches import left_out
from patchlore.kb.export.telling import proof_of
from patchlore.kb.store import Archive
from patchlore.kb.text import printable
from patchlore.kb.versions import short_name

_NEEDED = frozenset({"needed", "nominated", "in-flight", "failed", "reverted"})


def files(
    archive: Archive, tree: str, rows: Sequence[Row]
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the files of the folder, name and content, and notes about what was left out."""
    issues, left = issues_of(archive, tree, rows)
    found = [
        (f"active/{issue.cve}", "".join(f"{line}\n" for line in _lines(tree, issue)).encode())
        for issue in issues
    ]
    return found, left_out(left, "no CVE is known")


def _lines(tree: str, issue: Issue) -> Iterator[str]:
    yield f"Description: {issue.title}"
    yield "References:"
    yield from (f" {url}" for url in issue.references)
    yield "Notes:"
    for row in issue.rows:
        yield f" patchlore> {short_name(tree)}: {row.state}: {printable(row.reason)}"
        yield f" patchlore> {proof_of(row)}"
    yield "Bugs:"
    yield f"upstream: {_upstream(issue)}".rstrip()
    for other in issue.trees:
        name = f"{short_name(other)}-upstream-stable"
        status = _status(issue) if other == tree else _released(issue, other)
        yield f"{name}: {status}".rstrip()


def _upstream(issue: Issue) -> str:
    if not issue.upstream:
        return ""
    version = f" ({issue.upstream_version})" if issue.upstream_version else ""
    return f"released{version} [{', '.join(issue.upstream)}]"


def _released(issue: Issue, tree: str) -> str:
    fixed = issue.fixed[tree]
    versions = [item.version for item in fixed if item.version]
    version = f" ({versions[-1]})" if versions else ""
    return f"released{version} [{', '.join(item.sha for item in fixed)}]"


def _status(issue: Issue) -> str:
    """The status in the tree of the list: that of the row which is furthest from done."""
    states = {row.state for row in issue.rows}
    if states & _NEEDED:
        return "needed"
    if "queued" in states:
        return "pending"
    if "released" in states:
        tree = issue.rows[0].tree
        if tree in issue.fixed:
            return _released(issue, tree)
        release = next((row.event.release for row in issue.rows if row.event.release), None)
        return f"released ({printable(release)})" if release else "released"
    row = issue.rows[0]
    reason = printable(row.reason).replace('"', "'")
    if states & {"dropped", "opted-out"}:
        return f'ignored "{reason}"'
    return f'N/A "{reason}"' if "not-affected" in states else ""

"""Commits named in prose, own or quoted: what is said of them, with lower confidence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import CommitMention
from patchlore.ingest.text import DIFF_KINDS, HEADER, SIGNATURE, STAT

_TITLE = r"(?:[ \t]*\([ \t]*[\"'“](.{1,200}?)[\"'”][ \t]*\))?"
_NAMED = re.compile(
    r"\b(?:commits?|sha1|changeset)(?:[ -]id)?[ \t]*[:#]?[ \t]*[\"'(<`]?([0-9a-f]{7,40})(?![0-9a-zA-Z@_])"
    + _TITLE,
    re.I,
)
_TITLED = re.compile(
    r"(?<![0-9a-zA-Z@_./=-])([0-9a-f]{8,40})[ \t]*\([ \t]*[\"'“](.{1,200}?)[\"'”][ \t]*\)"
)
#: Ubuntu: the commit that broke it ("-": unknown) and the one that fixes it.
_BREAK_FIX = re.compile(
    r"[ \t]{0,2}break-fix:[ \t]*(-|[0-9a-f]{7,40})[ \t]+(-|[0-9a-f]{7,40})\s*$", re.I
)
#: A line without one of these names no commit that anybody would look up.
_SIGNS = ("commit", "sha1", "changeset", '("', "break-fix:")
_INTRODUCED = re.compile(
    r"introduced|caused by|bisect|regress|since commit|broke|first bad|culprit|after commit|exposed by",
    re.I,
)
_FIXED = re.compile(
    r"fixed (?:by|in|with|upstream)|fix(?:ed|es)? commit|addressed (?:by|in)|solved by", re.I
)
_FACTS = frozenset(
    ["fixes", "upstream_commits", "reverts", "reverted_upstream", "stable_dep_of", "fixes_after_cut",
     "suggested_fixes", "cc_stable", "base_commit", "applied", "regression", "original_commit"]
)  # fmt: skip
_NO_PROSE = frozenset([*DIFF_KINDS, HEADER, STAT, SIGNATURE])


def find(context: Context) -> None:
    """Fill ``mentioned_commits``: each commit once for own text and once for quoted text."""
    message = context.message
    # A line that gave a stronger fact says nothing more about its commit.
    known = {(e.line, e.value) for e in message.evidence if e.fact in _FACTS}
    seen: dict[tuple[str, bool], CommitMention] = {}
    kinds = context.text.kinds
    for index, line in context.lines_with(*_SIGNS):
        kind = kinds[index]
        if kind in _NO_PROSE:
            continue
        quoted = chr(kind) in "qo"
        number = context.text.line_number(index)
        for sha, title, relation, text in _named(line):
            if sha.isdigit() or (number, sha) in known or (sha, quoted) in seen:
                continue
            seen[sha, quoted] = CommitMention(
                sha=sha, subject=title, relation=relation, quoted=quoted
            )
            context.note(
                "mentioned_commits", sha, index, f"prose-{relation}", text=text,
                confidence="low" if quoted else "medium",
            )  # fmt: skip
    message.mentioned_commits = list(seen.values())


def _named(line: str) -> Iterator[tuple[str, str | None, str, str]]:
    """The commits of a line: hash, title, relation, the words that name it."""
    pair = _BREAK_FIX.match(line)
    if pair:
        for sha, relation in ((pair[1], "introduced-by"), (pair[2], "fixed-by")):
            if sha != "-":
                yield sha.lower(), None, relation, sha
        return
    relation = ""
    for pattern in (_NAMED, _TITLED):
        for match in pattern.finditer(line):
            relation = relation or _relation(line)
            title = " ".join(match[2].split()) if match[2] else None
            yield match[1].lower(), title, relation, match[0]


def _relation(line: str) -> str:
    if _FIXED.search(line):
        return "fixed-by"
    return "introduced-by" if _INTRODUCED.search(line) else "mention"

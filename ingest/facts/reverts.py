"""Reverts: whole, partial, of several commits, of merges, and reverts of reverts."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import CommitRef

_SHA = r"([0-9a-f]{7,40})(?![0-9a-z])"
_TITLE = r"(?:\s*\(\s*[\"'“](.{1,200}?)[\"'”]\s*\))?"
_OPENING = re.compile(
    r"\b((?:partial|partly|partially|mostly|effectively|fully|essentially)\s+)?"
    r"(?:reverts\s+(?:(?:the\s+)?(?:upstream\s+|following\s+|mainline\s+)?commits?\s+(?:id\s+)?)?"
    r"|(partial(?:ly)?\s+)?revert\s+of\s+(?:upstream\s+)?(?:commit\s+)?)[\"'(]?" + _SHA + _TITLE,
    re.I,
)
_NEXT = re.compile(r"\s*(?:,\s*and|,|and|&)\s*(?:commit\s+)?" + _SHA + _TITLE, re.I)
_WHICH_IS = re.compile(
    r"\s*,?\s+(?:which|that)\s+(?:is|was)\s+(?:upstream\s+)?commit\s+" + _SHA, re.I
)
_LONG = re.compile(r"\breverts\s+(?:commits?\s+)?([0-9a-f]{41,})\b", re.I)
_REVERT = re.compile(r"\s*(?:revert|revert:|\[?revert\]?)\s*[:-]?\s*[\"“](.*)[\"”]\s*$", re.I)
_REAPPLY = re.compile(r"\s*reapply\s*[:-]?\s*[\"“](.*)[\"”]\s*$", re.I)
_MAX_TEXT = 20_000


def find(context: Context) -> None:
    """Fill ``reverts``, ``partial_reverts``, ``reverted_upstream``, ``revert_depth``, ``is_reapply``."""
    message = context.message
    title = message.commit_subject or message.clean_subject or ""
    reverted_title = _read_title(context, title)
    if not message.is_patch or "revert" not in context.words:
        return
    lines = context.message_lines
    text = "\n".join(line for _, line in lines)[:_MAX_TEXT]
    starts = [0, *accumulate(len(line) + 1 for _, line in lines)]

    def line_of(offset: int) -> int:
        return lines[min(bisect_right(starts, offset) - 1, len(lines) - 1)][0]

    for long in _LONG.finditer(text):
        context.reject("reverts", line_of(long.start(1)), "more-than-40-digits", long[0])
    position = 0
    while True:
        match = _OPENING.search(text, position)
        if match is None:
            break
        partial = bool(match[1] and match[1].lower().startswith(("partial", "partly"))) or bool(
            match[2]
        )
        _add(context, match[3], match[4], line_of(match.start(3)), partial)
        position = match.end()
        while True:
            which = _WHICH_IS.match(text, position)
            if which:
                message.reverted_upstream.append(which[1].lower())
                where = line_of(which.start(1))
                context.note("reverted_upstream", which[1].lower(), where, "which-is-commit")
                context.claimed.add(where)
                position = which.end()
                continue
            following = _NEXT.match(text, position)
            if following is None:
                break
            _add(context, following[1], following[2], line_of(following.start(1)), partial)
            position = following.end()
    if message.reverts and reverted_title and message.reverts[0].subject is None:
        message.reverts[0].subject = reverted_title


def _add(context: Context, sha: str, title: str | None, index: int, partial: bool) -> None:
    sha = sha.lower()
    message = context.message
    if any(ref.sha == sha for ref in message.reverts):
        return
    subject = " ".join(title.split()) if title else None
    message.reverts.append(CommitRef(sha=sha, subject=subject))
    context.claimed.add(index)
    if partial:
        message.partial_reverts.append(sha)
    context.note("reverts", sha, index, "partially-reverts" if partial else "reverts-commit")


def _read_title(context: Context, title: str) -> str | None:
    """``Revert "Revert "x""``: how deep, and what the outermost revert takes back."""
    message = context.message
    first: str | None = None
    depth = 0
    while depth < 20:
        match = _REVERT.match(title)
        reapply = None if match else _REAPPLY.match(title)
        if reapply is not None and depth == 0:
            message.is_reapply = True
        match = match or reapply
        if match is None:
            break
        depth += 1
        title = match[1]
        first = first if first is not None else title
    message.revert_depth = depth
    return first

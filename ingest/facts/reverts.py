"""Reverts: whole, partial, of several commits, of merges, and reverts of reverts."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import CommitRef

_SHA = r"([0-9a-f]{7,40})(?![0-9a-z])"
_TITLE = r"(?:\s*\(\s*[\"'“](.{1,200}?)[\"'”]\s*\))?"
_PART = r"(?:partial(?:ly)?|partly|mostly)"
_COMMIT = r"(?:(?:the\s+)?(?:upstream\s+|following\s+|mainline\s+)?commits?\s+(?:id\s+)?)?"
_OPENING = re.compile(
    rf"\b(?:({_PART})\s+reverts?\s+{_COMMIT}|({_PART})\s+revert\s+of\s+{_COMMIT}"
    r"|reverts?\s+((?:[\w./-]{1,40}\s+){0,5}?(?:parts?|portions?|hunks?|bits?|half|most|some)\s+(?:of|from|in))"
    rf"\s+{_COMMIT}|reverts\s+{_COMMIT}|revert\s+of\s+{_COMMIT})[\"'(]?" + _SHA + _TITLE,
    re.I,
)
#: Behind the commit: "…, partially.", "… (in part)", "… except for its tests", "…, but keep".
_IN_PART = re.compile(
    r"(?:[ \t]+\w[\w \t]{0,40},)?(?:[ \t,;:(-]{1,4}\n?|\n)[ \t]{0,4}(?:(?:but|only|though)\s+){0,2}"
    rf"(?:{_PART}|in\s+part|except|apart\s+from|other\s+than|minus|with\s+the\s+exception"
    r"|(?<=but\s)(?:keeps?|leaves?|retains?|only|not(?!\s+(?:commit\s+)?[0-9a-f]{7}))"
    r"|(?<=only\s)(?:for|in|on))\b",
    re.I,
)
#: Before it: what is said not to be a revert ("instead of a revert of commit …").
_NO_REVERT = re.compile(
    r"(?:\b(?:not|never|neither|nor|without|cannot|instead\s+of|rather\s+than|alternative\s+to)|n't)"
    r"\s+(?:(?:an?|the|full|complete|whole|simple|plain|just|really|actually)\s+){0,3}$",
    re.I,
)
_PARTIAL_TITLE = re.compile(rf"\s*\[?{_PART}\s+revert\b", re.I)
_NEXT = re.compile(r"\s*(?:,\s*and|,|and|&)\s*(?:commit\s+)?" + _SHA + _TITLE, re.I)
_WHICH_IS = re.compile(
    r"\s*,?\s+(?:which|that)\s+(?:is|was)\s+(?:upstream\s+)?commit\s+" + _SHA, re.I
)
_LONG = re.compile(r"\breverts\s+(?:commits?\s+)?([0-9a-f]{41,})\b", re.I)
_REVERT = re.compile(r"\s*(?:revert|revert:|\[?revert\]?)\s*[:-]?\s*[\"“](.*)[\"”]\s*$", re.I)
_REAPPLY = re.compile(r"\s*reapply\s*[:-]?\s*[\"“](.*)[\"”]\s*$", re.I)
_MAX_TEXT = 20_000
#: Characters before a revert in which it may be denied.
_MOST_BEFORE = 60


def find(context: Context) -> None:
    """Fill ``reverts``, ``partial_reverts``, ``reverted_upstream``, ``revert_depth``, ``is_reapply``."""
    message = context.message
    title = message.commit_subject or message.clean_subject or ""
    reverted_title = _read_title(context, title)
    if not message.is_patch or "revert" not in context.words:
        return
    is_partial = _PARTIAL_TITLE.match(title) is not None
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
        position = match.end()
        if _NO_REVERT.search(text, max(match.start() - _MOST_BEFORE, 0), match.start()):
            context.reject("reverts", line_of(match.start(4)), "negated", match[0])
            continue
        named = [(match[4], match[5], line_of(match.start(4)))]
        upstream: list[tuple[str, int]] = []
        while True:
            which = _WHICH_IS.match(text, position)
            if which:
                upstream.append((which[1], line_of(which.start(1))))
                position = which.end()
                continue
            following = _NEXT.match(text, position)
            if following is None:
                break
            named.append((following[1], following[2], line_of(following.start(1))))
            position = following.end()
        partial = is_partial or any(match.group(1, 2, 3)) or bool(_IN_PART.match(text, position))
        for sha, subject, index in named:
            _add(context, sha, subject, index, partial)
        for sha, index in upstream:
            _add_upstream(context, sha, index, partial)
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


def _add_upstream(context: Context, sha: str, index: int, partial: bool) -> None:
    sha = sha.lower()
    context.message.reverted_upstream.append(sha)
    context.claimed.add(index)
    if partial:
        context.message.partial_reverts.append(sha)
    context.note("reverted_upstream", sha, index, "which-is-commit")


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

"""Notices that a patch was taken: patchwork-bot, tip-bot, b4's thanks, and by hand."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import Applied
from patchlore.ingest.text import PROSE

_SIGNS = ("applied", "merged", "queued", "pushed", "picked")
_TIP = re.compile(
    r"The following commit has been merged into the (\S{1,100}) branch of (\S{1,100}?):?\s*$"
)
_COMMIT_ID = re.compile(r"Commit-ID:\s+([0-9a-f]{12,40})")
_PATCHWORK = re.compile(
    r"This (?:series|patch|pull request) was applied to (\S{1,200})(?:[ \t]*\(([^()\s]{1,100})\):?)?"
)
_BY = re.compile(r"by ([^<]{1,100}?)[ \t]*<[^<>]{1,100}>:?\s*$")
_SUMMARY = re.compile(r"[ \t]*(?:- )?\[([^\[\]]{0,80})\][ \t]+(\S.*)")
_SUMMARY_COMMIT = re.compile(
    r"[ \t]+(?:(?:commit:[ \t]*)?([0-9a-f]{12,40})|https?://\S{1,200}?/(?:c/|commit/?\?(?:\S{0,60}&)?id=)([0-9a-f]{7,40}))\s*$"
)
_B4 = re.compile(
    r"Applied(?:, thanks)?(?: to| on)? (?!, thanks)([\w./:-]{2,100})?(?:[ \t]*\(([^()]{1,80})\))?[,.!]?(?:[ \t]*thanks?(?: you)?[.!]?)?\s*$",
    re.I,
)
#: "Applied, thanks!" of a maintainer, a line of its own; "applied on next" inside a sentence is none.
_BY_HAND = re.compile(
    r"(?:(?:(?:now|both|all|series|patch(?:es)?|of|these|them|two|three|four) ){0,5}(?:applied|queued(?: up)?|pushed|picked(?: up)?|merged)"
    r"(?: up| both| all)?(?:[ \t]+(?:to|for|into|on|in)[ \t]+([\w./-]{2,60}(?:[ \t](?:branch|tree|queue))?))?"
    r"[ \t]*[,.;!-]*[ \t]*(?:thanks?|thank you|thx|cheers)?(?:[ \t](?:a lot|you|all|\w+))?[ \t]*[.!]*)\s*$",
    re.I,
)
_REVIEW_QUEUE = re.compile(
    r"pushed to my ([\w ]{0,40}(?:queue|branch|tree)), thanks?[.!]?\s*$", re.I
)


def find(context: Context) -> None:
    """Fill ``applied``: with the sha where a bot names it, else as a weak fact about the thread."""
    lines = [line for line in context.lines_with(*_SIGNS) if len(line[1]) < 500]
    for index, line in lines:
        if line[:1] == "T" and _read_head(context, index, line):
            return
    if context.message.is_patch:
        return
    kinds = context.text.kinds
    for index, line in lines:
        if kinds[index] == PROSE and _read_by_hand(context, index, line):
            return


def _read_head(context: Context, index: int, line: str) -> bool:
    tip = _TIP.match(line)
    if tip:
        for below in range(index, min(index + 8, len(context.text.lines))):
            match = _COMMIT_ID.match(context.text.lines[below])
            if match:
                title = context.message.clean_subject
                context.message.applied.append(
                    Applied(sha=match[1], title=title, tree=tip[2], branch=tip[1], by="tip-bot")
                )
                context.note("applied", match[1], below, "tip-bot")
                return True
        return False
    patchwork = _PATCHWORK.match(line)
    if patchwork is None:
        return False
    by: str | None = None
    for line in context.text.lines[index + 1 : index + 4]:
        match = _BY.match(line)
        by = match[1] if match else by
    _read_summary(
        context, index, patchwork[1], (patchwork[2] or "").removeprefix("refs/heads/"), by
    )
    return True


def _read_summary(
    context: Context, index: int, tree: str | None, branch: str | None, by: str | None
) -> int:
    """``[n/m] title`` lines, each with its commit on the line below; how many were found."""
    lines = context.text.lines
    found = 0
    for at in range(index + 1, min(index + 400, len(lines) - 1)):
        title = _SUMMARY.match(lines[at])
        if title is None:
            continue
        below = at + 1
        commit = _SUMMARY_COMMIT.match(lines[below])
        if commit is None and below + 1 < len(lines):  # a long title goes on below
            below += 1
            commit = _SUMMARY_COMMIT.match(lines[below])
        if commit:
            sha = (commit[1] or commit[2]).lower()
            context.message.applied.append(
                Applied(sha=sha, title=title[2].strip(), tree=tree, branch=branch or None, by=by)
            )
            context.note("applied", sha, below, "summary-of-commits")
            found += 1
    return found


def _read_by_hand(context: Context, index: int, line: str) -> bool:
    message = context.message
    b4 = _B4.match(line)
    if b4 and _read_summary(context, index, b4[1], b4[2], _name(context)):
        return True
    if not message.is_reply:
        return False
    queue = _REVIEW_QUEUE.match(line)
    hand = queue or _BY_HAND.match(line)
    if hand is None:
        return False
    above = context.text.lines[index - 1] if index else ""
    if line[:1].islower() and above.strip() and not above.startswith(">"):
        return False  # the end of a sentence: "… once the other series is" / "merged."
    message.applied.append(Applied(title=message.clean_subject, tree=hand[1], by=_name(context)))
    context.note("applied", hand[1] or "", index, "by-hand", confidence="low")
    return True


def _name(context: Context) -> str | None:
    sender = context.message.from_
    return None if sender is None else sender.name or sender.email

"""The bug that a tracker's record, comment or history is about, and bugs that it names."""

from __future__ import annotations

import re

import msgspec

from patchlore.ingest.bug import Bug
from patchlore.ingest.facts.context import MAX_LINE, Context
from patchlore.ingest.message import Confidence, GccBug, OtherBug

#: A tracker makes links of these words to its own bugs.
_NAMED = re.compile(r"\bbug[ \t]{1,4}#?(\d{1,9})\b(?!\.\d)", re.I)

#: More other bugs than this are not taken of one comment.
_MOST = 300


def find(context: Context) -> None:
    """Fill ``bug`` from what the source says, and name the bug among the message's bugs."""
    stated = context.mail.hints.get("bug")
    if stated is None:
        return
    message = context.message
    bug = msgspec.json.decode(stated, type=Bug)
    message.bug = bug
    context.note("bug", bug.number, -1, "tracker", text=message.subject)
    if bug.tracker == "gcc":
        found = next((known for known in message.gcc_prs if known.number == bug.number), None)
        if found is None:
            found = GccBug(number=bug.number, component=bug.component)
            message.gcc_prs.insert(0, found)
        found.component = found.component or bug.component
        found.confidence = "certain"
        if "subject" not in found.where:
            found.where.insert(0, "subject")
        context.note("gcc_prs", bug.number, -1, "tracker", text=message.subject)
    elif bug.tracker is not None:
        other = OtherBug(tracker=bug.tracker, component=bug.component, number=bug.number)
        numbers = {(known.tracker, known.number) for known in message.other_prs}
        if (other.tracker, other.number) not in numbers:
            message.other_prs.insert(0, other)
        name = f"{bug.tracker}:{bug.number}"
        context.note("other_prs", name, -1, "tracker", text=message.subject)
    if bug.comment is not None:
        _read_comment(context, bug)
        return
    from patchlore.ingest.sources.bugzilla import bug_lines

    for index, (name, line) in enumerate(bug_lines(bug)[: len(context.text.lines)]):
        if context.text.lines[index] == line:
            context.note(f"bug.{name}", line.partition(": ")[2], index, "tracker-field")
            if name == "duplicate_of" and bug.duplicate_of is not None:
                _add(context, bug, bug.duplicate_of, index, "tracker-field", line, "certain")


def _read_comment(context: Context, bug: Bug) -> None:
    """``*** This bug has been marked as a duplicate of bug 90100 ***``: bugs of one tracker."""
    seen = 0
    for index, line in context.own_lines:
        for match in _NAMED.finditer(line[:MAX_LINE]) if "bug" in line.lower() else ():
            seen += 1
            if seen > _MOST:
                return
            _add(context, bug, int(match[1]), index, "tracker-comment", match[0], "high")


def _add(
    context: Context,
    bug: Bug,
    number: int,
    index: int,
    rule: str,
    text: str,
    confidence: Confidence,
) -> None:
    """Name another bug of the same tracker, unless it is named already."""
    message = context.message
    if number == bug.number or bug.tracker is None:
        return
    if bug.tracker == "gcc":
        if all(known.number != number for known in message.gcc_prs):
            message.gcc_prs.append(GccBug(number=number, where=["body"], confidence=confidence))
            context.note("gcc_prs", number, index, rule, text=text, confidence=confidence)
    elif all((known.tracker, known.number) != (bug.tracker, number) for known in message.other_prs):
        message.other_prs.append(OtherBug(tracker=bug.tracker, number=number))
        name = f"{bug.tracker}:{number}"
        context.note("other_prs", name, index, rule, text=text, confidence=confidence)

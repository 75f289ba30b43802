"""The bug that a tracker's record, comment or history is about."""

from __future__ import annotations

import msgspec

from patchlore.ingest.bug import Bug
from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import GccBug, OtherBug


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
        context.note("other_prs", bug.number, -1, "tracker", text=message.subject)
    if bug.comment is None:
        from patchlore.ingest.sources.bugzilla import bug_lines

        for index, (name, line) in enumerate(bug_lines(bug)[: len(context.text.lines)]):
            if context.text.lines[index] == line:
                context.note(f"bug.{name}", line.partition(": ")[2], index, "tracker-field")

"""Bugzilla's own mails (lists like gcc-bugs): the bug's state in headers, changes as a table.

The form is Bugzilla's template/en/default/email/: ``X-Bugzilla-Status: NEW``
and kin, and below "Nora Finch changed:" a table ``What |Removed |Added``.
"""

from __future__ import annotations

import re

from patchlore.ingest.bug import Bug, BugChange
from patchlore.ingest.facts.context import Context

_SUBJECT = re.compile(r"\[Bug (?:([a-z0-9+.-]{1,40})/)?(\d{1,9})\] ?(?:New: )?(.*)\Z", re.I)
_URL = re.compile(r"https?://([a-z0-9.-]{3,200})(?:[:/]|\Z)", re.I)
_COMMENT = re.compile(r"--- Comment #(\d{1,6}) from ")
_CHANGED = re.compile(r"(\S.{0,200}) changed:\s*\Z")
_HEAD = re.compile(r"\s{1,40}What\s{1,40}\|Removed\s{1,60}\|Added\s*\Z")
_FIELDS = {
    "x-bugzilla-product": "product",
    "x-bugzilla-component": "component",
    "x-bugzilla-version": "version",
    "x-bugzilla-status": "status",
    "x-bugzilla-resolution": "resolution",
    "x-bugzilla-severity": "severity",
    "x-bugzilla-target-milestone": "target_milestone",
    "x-bugzilla-assigned-to": "assignee",
}
_ROWS = 200


def find(context: Context) -> None:
    """Fill ``bug`` of a mail that Bugzilla sent: its number, its state then, what changed."""
    message = context.message
    title = message.subject or ""
    subject = _SUBJECT.search(title[:1000]) if "[" in title else None
    if subject is None or message.bug or context.mail.get("x-bugzilla-type") is None:
        return
    from patchlore.ingest.sources.bugzilla import TRACKERS

    url = _URL.match(context.mail.get("x-bugzilla-url") or "")
    host = url[1].lower() if url else None
    bug = Bug(number=int(subject[2]), host=host, tracker=TRACKERS.get(host or "", host))
    bug.component, bug.title = subject[1], subject[3] or None
    for name, value in context.mail.headers:
        lowered = name.lower()
        value = " ".join(value.split())[:1000]
        if lowered in _FIELDS and value not in ("", "---"):
            setattr(bug, _FIELDS[lowered], value)
            context.note(f"bug.{_FIELDS[lowered]}", value, -1, lowered, text=f"{name}: {value}")
        elif lowered == "x-bugzilla-keywords":
            bug.keywords = [word for word in re.split(r"[,\s]+", value) if word]
    _read_body(context, bug)
    message.bug = bug
    context.note("bug", bug.number, -1, "bugzilla-mail", text=message.subject)


def _read_body(context: Context, bug: Bug) -> None:
    """The number of the comment, and the rows of the tables of changes."""
    who: str | None = None
    in_table = False
    for index, line in context.own_lines:
        if in_table:
            cells = [cell.strip() for cell in line[:1000].split("|")]
            if line.startswith("-----") and not bug.changes:
                continue
            if len(cells) < 3 or len(bug.changes) == _ROWS:
                in_table = False
            elif cells[0]:
                change = BugChange(
                    when=context.message.date_iso,
                    who=who,
                    field=cells[0],
                    removed=cells[1].removeprefix("---"),
                    added="|".join(cells[2:]).removeprefix("---"),
                )
                bug.changes.append(change)
                context.note("bug.changes", cells[0], index, "bugzilla-table")
                continue
            elif bug.changes:  # a long value goes on below
                bug.changes[-1].removed = f"{bug.changes[-1].removed} {cells[1]}".strip()
                bug.changes[-1].added = f"{bug.changes[-1].added} {cells[2]}".strip()
                continue
        comment = _COMMENT.match(line)
        if comment is not None and bug.comment is None:
            bug.comment = int(comment[1])
            context.note("bug.comment", comment[1], index, "bugzilla-comment")
        elif line.endswith("changed:") and (changed := _CHANGED.match(line[:300])):
            who = changed[1].strip()
        elif "|Removed" in line and _HEAD.match(line[:200]):
            in_table = True

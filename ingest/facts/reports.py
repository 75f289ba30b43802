"""Test robots' reports of regressions: metric, change, first bad commit."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import MAX_LINE, Context
from patchlore.ingest.message import Regression
from patchlore.ingest.text import FOREIGN, QUOTED

_SUBJECT = re.compile(
    r"\b([0-9a-f]{7,40}):\s+(\S+)\s+([+-]?\d+(?:\.\d+)?%)\s+(regression|improvement)\b", re.I
)
_NOTICED = re.compile(
    r"(?:noticed|found|FYI, we noticed)\s+an?\s+([+-]?\d+(?:\.\d+)?%)\s+(?:regression|improvement)\s+of\s+(\S+)",
    re.I,
)
_COMMIT = re.compile(
    r"[> ]*(?:commit|first bad commit|FBC)\s*:\s*\[?([0-9a-f]{7,40})(?![0-9a-z])", re.I
)
_FIRST_BAD = re.compile(
    r"[> ]*#?\s*(?:first bad commit:?\s*\[?([0-9a-f]{7,40})|([0-9a-f]{40}) is the first bad commit)",
    re.I,
)


def find(context: Context) -> None:
    """Fill ``regression`` from a robot's report, the author's or a quoted one."""
    message = context.message
    subject = _SUBJECT.search(message.subject or "")
    if subject is None and not context.words.any("regression of", "first bad commit"):
        return
    found = Regression()
    if subject:
        found.metric, found.change = subject[2], subject[3]
        context.note(
            "regression", f"{subject[2]} {subject[3]}", -1, "robot-subject", text=subject[0]
        )
    noticed = False
    for index, line in enumerate(context.text.lines[:2000]):
        if len(line) > MAX_LINE:
            continue
        notice = _NOTICED.search(line) if not noticed else None
        if notice:
            noticed = True
            found.metric = found.metric or notice[2].rstrip(":")
            found.change = found.change or notice[1]
            _note_quoted(context, found, index)
        match = _COMMIT.match(line) if subject or noticed else None
        bad = match[1] if match else None
        if bad is None and "first bad commit" in line:
            first = _FIRST_BAD.match(line)
            bad = (first[1] or first[2]) if first else None
        if bad and found.first_bad_commit is None:
            found.first_bad_commit = bad.lower()
            _note_quoted(context, found, index)
            context.note("regression", bad.lower(), index, "first-bad-commit", text=line)
    if subject and found.first_bad_commit is None:
        found.first_bad_commit = subject[1].lower()
        context.note("regression", subject[1].lower(), -1, "robot-subject", text=subject[0])
    if found.metric or found.first_bad_commit:
        message.regression = found


def _note_quoted(context: Context, found: Regression, index: int) -> None:
    found.quoted = context.text.kinds[index] in (QUOTED, FOREIGN)

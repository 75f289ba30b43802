"""Hunks of unified diffs: delimited by their counts, with the damage that mail does to them."""

from __future__ import annotations

import re

from msgspec import Struct

from patchlore.ingest.errors import Defect
from patchlore.ingest.function_names import MAX_HEADING, function_name
from patchlore.ingest.message import FileChange
from patchlore.ingest.text import ADDED, CONTEXT, HUNK, PROSE, REMOVED, Text

#: Longer numbers are no line numbers, and int() would refuse them.
HUNK_HEADER = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@(.*)")
#: A line's mark to its kind.
_KINDS = bytes.maketrans(b" +-", bytes([CONTEXT, ADDED, REMOVED]))
#: What a hunk can't be continued by: the start of something else.
_STARTS = ("diff --git ", "@@ -", "Index: ", "diff --cc ", "diff -")


class FilePatch(Struct):
    """One file's diff: lines START..END of the text, its hunk headings, whether it is whole."""

    change: FileChange
    start: int
    end: int = 0
    form: str = "git"
    damaged: bool = False
    wrapped: bool = False


class Scan:
    """The walk over one text: position, what was found, what was wrong."""

    __slots__ = ("defects", "files", "kinds", "limit", "lines", "text", "trees")

    def __init__(self, text: Text) -> None:
        self.text = text
        self.lines = text.lines
        self.kinds = text.kinds
        self.limit = len(text.lines)
        self.files: list[FilePatch] = []
        self.defects: list[Defect] = []
        #: First components that were taken off names as those of a tree: "linux", "linux.orig".
        self.trees: set[str] = set()

    def at(self, index: int) -> str:
        """The line at INDEX, "" beyond the part's end."""
        return self.lines[index] if index < self.limit else ""

    def mark(self, start: int, end: int, kind: int) -> None:
        """Give the lines START..END their kind."""
        self.kinds[start:end] = bytes([kind]) * (end - start)

    def blame(self, patch: FilePatch, code: str, index: int) -> None:
        """Record that PATCH is damaged, and where."""
        patch.damaged = True
        line = self.at(min(index, self.limit - 1))[:200]
        self.defects.append(Defect(code, self.text.line_number(index), line))

    def finish(self, patch: FilePatch, end: int) -> int:
        """PATCH is read, up to the line END, which is returned."""
        patch.end = end
        self.files.append(patch)
        return end


def read_hunks(scan: Scan, patch: FilePatch, index: int) -> int:
    """All hunks from INDEX on; return the line after the last one."""
    functions: dict[str, None] = {}
    while index < scan.limit:
        match = HUNK_HEADER.match(scan.lines[index])
        if match is None:
            break
        scan.kinds[index] = HUNK
        name = function_name(match[3][:MAX_HEADING]) if match[3] else None
        if name:
            functions[name] = None
        old = int(match[1]) if match[1] else 1
        new = int(match[2]) if match[2] else 1
        end = _plain_hunk_end(scan, index + 1, old, new)
        if end:
            heads = scan.text.heads[index + 1 : end]
            scan.kinds[index + 1 : end] = heads.encode("ascii").translate(_KINDS)
            index = _after_plain_hunk(scan, patch, end, heads.count("+"), heads.count("-"))
        else:
            index = _read_hunk(scan, patch, index + 1, old, new)
    patch.change.functions = list(functions)
    return index


def _plain_hunk_end(scan: Scan, index: int, old: int, new: int) -> int:
    """The line after a hunk in which all lines have their marks and the counts are right; else 0.

    Each step goes as many lines on as the hunk still has at least; the lines'
    first characters are counted, not looked at one by one.
    """
    heads, limit = scan.text.heads, scan.limit
    while old > 0 or new > 0:
        step = max(old, new)
        end = index + step
        if end > limit:
            return 0
        context, added = heads.count(" ", index, end), heads.count("+", index, end)
        removed = heads.count("-", index, end)
        if context + added + removed != step:
            return 0
        old -= context + removed
        new -= context + added
        index = end
    return index if old == 0 and new == 0 else 0


def _after_plain_hunk(scan: Scan, patch: FilePatch, index: int, added: int, removed: int) -> int:
    """Take a plain hunk's counts; return the line after it and what hangs on to it."""
    if index < scan.limit and scan.lines[index].startswith("\\ "):
        scan.kinds[index] = CONTEXT
        index += 1
    index, more_added, more_removed = _read_surplus(scan, patch, index)
    patch.change.added = (patch.change.added or 0) + added + more_added
    patch.change.removed = (patch.change.removed or 0) + removed + more_removed
    return index


def _read_hunk(scan: Scan, patch: FilePatch, index: int, old_total: int, new_total: int) -> int:
    """The lines of one hunk, by its counts; damage is got over as far as it can be told."""
    lines, kinds, limit = scan.lines, scan.kinds, scan.limit
    old, new = old_total, new_total
    added = removed = 0
    first = index
    wrapped = mismatch = False
    unmarked: bool | None = None
    while (old > 0 or new > 0) and index < limit:
        line = lines[index]
        char = line[:1]
        if char == " " or not line or line == "\r":
            if old <= 0 or new <= 0:
                mismatch = True
            old -= 1
            new -= 1
            kinds[index] = CONTEXT
        elif char == "+":
            added += 1
            new -= 1
            kinds[index] = ADDED
        elif char == "-":
            removed += 1
            old -= 1
            kinds[index] = REMOVED
        elif char == "\\":
            kinds[index] = CONTEXT
        elif char in "\t\xa0" and not line.startswith(_STARTS):
            # A mailer ate the blank that marks context before a tab.
            scan.blame(patch, "lost-blank", index)
            old -= 1
            new -= 1
            kinds[index] = CONTEXT
        elif _is_wrapped_tail(lines, index):
            scan.blame(patch, "wrapped-line", index)
            wrapped = True
            kinds[index] = kinds[index - 1] if index > first else HUNK
        elif unmarked or (
            unmarked is None and (unmarked := _blanks_were_lost(lines, limit, index, old, new))
        ):
            scan.blame(patch, "lost-blank", index)
            old -= 1
            new -= 1
            kinds[index] = CONTEXT
        else:
            break
        index += 1
    if index < limit and lines[index].startswith("\\ "):
        kinds[index] = CONTEXT
        index += 1
    if old > 0 or new > 0:
        if index > first and lines[index - 1] == "-- " and removed:
            index -= 1  # the signature below a truncated hunk
            removed -= 1
            kinds[index] = PROSE
        if not wrapped:
            scan.blame(patch, "truncated-hunk", index)
    elif wrapped and (mismatch or old < 0 or new < 0):
        # The header's counts are the author's; tails of wrapped lines are no lines.
        added = max(new_total - (old_total - removed), 0)
    elif mismatch or old < 0 or new < 0:
        scan.blame(patch, "hunk-count-wrong", index)
    else:
        index, more_added, more_removed = _read_surplus(scan, patch, index)
        added += more_added
        removed += more_removed
    patch.change.added = (patch.change.added or 0) + added
    patch.change.removed = (patch.change.removed or 0) + removed
    return index


def _blanks_were_lost(lines: list[str], limit: int, index: int, old: int, new: int) -> bool:
    """Do the hunk's counts come out even when lines without a mark are context?

    Some mailers eat one leading blank of every line. Changes have to follow:
    prose below a truncated hunk may be as long as what is missing.
    """
    changes = 0
    while (old > 0 or new > 0) and index < limit:
        line = lines[index]
        char = line[:1]
        if line.startswith(_STARTS) or line == "-- ":
            return False
        if char in ("+", "-"):
            changes += 1
        elif char not in (" ", "\\", "") and _is_wrapped_tail(lines, index):
            return False
        if char != "\\":
            old -= char != "+"
            new -= char != "-"
        index += 1
    return old == 0 and new == 0 and changes > 0


def _is_wrapped_tail(lines: list[str], index: int) -> bool:
    """Is this the tail of the line above, cut off by a mailer at 72 or so columns?"""
    if index == 0:
        return False
    line, above = lines[index], lines[index - 1]
    if line.startswith(_STARTS) or line.startswith("From "):
        return False
    word = line.split(" ", 1)[0]
    return len(above) >= 40 and len(above) + 1 + len(word) > 64


def _read_surplus(scan: Scan, patch: FilePatch, index: int) -> tuple[int, int, int]:
    """Lines that a hand-edited hunk has beyond its counts, right below it.

    Only ``+`` and ``-`` lines open such a tail; the signature mark and the
    header of a next file don't.
    """
    start, added, removed = index, 0, 0
    while index < scan.limit:
        line = scan.lines[index]
        char = line[:1]
        if char == "+" and not line.startswith("+++ "):
            added += 1
            scan.kinds[index] = ADDED
        elif char == "-" and not line.startswith("--"):
            removed += 1
            scan.kinds[index] = REMOVED
        elif char == " " and index > start:
            scan.kinds[index] = CONTEXT
        else:
            break
        index += 1
    if index > start:
        scan.blame(patch, "hunk-count-too-small", start)
    return index, added, removed

"""Which line of a body is what, and where the carried patch's commit message begins and ends.

The frame is git am's (git-mailinfo(1)): in-body headers, the message up to
the first ``---`` line, then notes, diffstat and diff. Around it mail has more:
quotes with and without marks, a whole format-patch inside a body, the stable
maintainers' review preambles, signatures, lists' footers.
"""

from __future__ import annotations

import re
from itertools import pairwise

from patchlore.ingest.addresses import parse_address
from patchlore.ingest.diff import scan_diffs
from patchlore.ingest.diff_hunks import FilePatch
from patchlore.ingest.errors import Defect
from patchlore.ingest.frame import Layout
from patchlore.ingest.in_body import IN_BODY, is_other_header, read_in_body_headers
from patchlore.ingest.quotes import mark_cut_out, mark_foreign, mark_quotes
from patchlore.ingest.tails import mark_tails
from patchlore.ingest.text import (
    CUT,
    HEADER,
    NOTE,
    PREAMBLE,
    PROSE,
    QUOTED,
    Text,
)

_FORMAT_PATCH = re.compile(r">?From ([0-9a-f]{40}) Mon Sep 17 00:00:00 2001\s*$")
_GIT_SHOW = re.compile(r"commit ([0-9a-f]{40})(?: \(.*\))?\s*$")
_START_HEAD = re.compile("[-F>c8%✂T]")
#: Where none of these stands the message begins at the top.
_START_WORDS = (
    "mon sep 17", "author: ", "8<", ">8", "✂", "the following commit has been merged",
)  # fmt: skip
_SCISSORS = re.compile(r"[- ]*(?:8<|>8|✂|%<|>%)[-<>8%✂ a-zA-Z]*-[- ]*$")
_REVIEW = re.compile(
    r"\s*v?(\d+\.\d+(?:\.\d+)?)(?:-rc\d+)?[-. ]*(?:stable|longterm|lts|y)?(?:-stable)? review patch\b",
    re.I,
)
_PROSE_TO_NOTE = bytes.maketrans(bytes([PROSE]), bytes([NOTE]))
_DASHES = re.compile(r"-{6,}\s*$")
_TIP = re.compile(r"The following commit has been merged into the (\S+) branch of (\S+?):?\s*$")
#: Red Hat: the backporter's text, below it the upstream commit as git show prints it.
_STATUS = re.compile(r"upstream[ -]status\s*:", re.I)
_SHOW_HEADER = re.compile(r"(?:Author|Date|AuthorDate|Commit|CommitDate|Merge|commit):? ")


def read_layout(text: Text, patches: list[FilePatch] | None = None) -> Layout:
    """Classify the lines of TEXT (in place) and find the patch's frame; never raises.

    PATCHES are those of a flattened text, whose diff was read when it was cut.
    """
    defects: list[Defect] = []
    if patches is None:
        mark_quotes(text)
        mark_foreign(text)
        if "</cut>" in text.words:
            mark_cut_out(text)
        patches, defects = scan_diffs(text)
    layout = Layout(patches=patches, defects=defects)
    first_diff = patches[0].start if patches else -1
    start = _find_message_start(text, layout, first_diff)
    start = read_in_body_headers(text, layout, start)
    _find_message_end(text, layout, start, first_diff)
    later = _find_later_messages(text, layout)
    mark_tails(text)
    if "\r" in text.body:
        text.drop_returns()
    _collect(text, layout, later)
    return layout


def _find_message_start(text: Text, layout: Layout, first_diff: int) -> int:
    """Where the patch's own headers or message begin: the body's top, or inside it."""
    lines, kinds = text.lines, text.kinds
    limit = first_diff if first_diff >= 0 else len(lines)
    start = 0
    if "review patch" in text.words:
        start = _find_review(text, layout, limit)
    heads = _START_HEAD.finditer(text.heads, start, limit)
    for found in heads if text.words.any(*_START_WORDS) else ():
        index = found.start()
        if kinds[index] != PROSE:
            continue
        line = lines[index]
        char = line[:1]
        if char in "F>" and "Mon Sep 17" in line:
            match = _FORMAT_PATCH.match(line)
            if match:
                kinds[index] = HEADER
                layout.carried_at, layout.carried_commit = index, match[1]
                start = index + 1
                if first_diff < 0:
                    break
        elif char == "c" and first_diff >= 0 and layout.carried_at < 0:
            match = _GIT_SHOW.match(line)
            if match and lines[index + 1 : index + 2] and lines[index + 1].startswith("Author: "):
                if any(_STATUS.match(above) for above in lines[max(start, index - 30) : index]):
                    _mark_shown_upstream(text, layout, index)
                    continue
                if _stands_in_a_message(lines, index, limit):
                    continue
                layout.carried_at, layout.carried_commit = index, match[1]
                start = _read_git_show(text, layout, index)
        elif char in "-8>%✂" and ("8<" in line or ">8" in line or "✂" in line):
            if first_diff >= 0 and _SCISSORS.match(line) and _cuts(text, index, limit):
                kinds[index] = CUT
                start = index + 1
        elif char == "T" and _TIP.match(line):
            start = _mark_tip(text, layout, index, limit)
    if start == 0 and first_diff >= 0:
        start = _attached_message_start(text, layout, first_diff)
    return start


def _cuts(text: Text, index: int, limit: int) -> bool:
    """Do these scissors part a conversation from a patch (git am --scissors)?

    They do below a quotation or above in-body headers; elsewhere people frame
    a test program in a commit message with them.
    """
    if QUOTED in text.kinds[:index]:
        return True
    below = (line for line in text.lines[index + 1 : limit] if line.strip())
    return IN_BODY.match(next(below, "")) is not None


def _attached_message_start(text: Text, layout: Layout, first_diff: int) -> int:
    """An attached patch with headers of its own starts its own message."""
    for start, end, part in text.parts:
        if start <= first_diff < end and part.is_attachment:
            index = start
            while index < first_diff and not text.lines[index].strip():
                index += 1
            if IN_BODY.match(text.lines[index]):
                layout.carried_at = index
                return start
    return 0


def _find_review(text: Text, layout: Layout, limit: int) -> int:
    """A review preamble stands at the top: the line below it, or 0."""
    for index in range(min(limit, 12)):
        match = _REVIEW.match(text.lines[index]) if text.kinds[index] == PROSE else None
        if match:
            layout.review_tree = match[1]
            return _mark_review(text, index, limit)
    return 0


def _mark_review(text: Text, index: int, limit: int) -> int:
    """The stable maintainers' preamble down to its dashed line; git mailinfo doesn't know it."""
    for after in range(index, min(index + 8, limit)):
        text.kinds[after] = PREAMBLE
        if _DASHES.match(text.lines[after]):
            return after + 1
    return index + 1


def _mark_tip(text: Text, layout: Layout, index: int, limit: int) -> int:
    """tip-bot2's head: ``Commit-ID:``, ``Gitweb:``, ``Author:`` … down to a blank line."""
    after = index
    seen = False
    while after < limit:
        line = text.lines[after]
        if line.startswith("Commit-ID:"):
            seen = True
        elif line.startswith("Author:"):
            layout.author = parse_address(line[7:])
            layout.author_at = after
        elif seen and not line.strip():
            break
        text.kinds[after] = PREAMBLE
        after += 1
    return after if seen else 0


def _read_git_show(text: Text, layout: Layout, index: int) -> int:
    """A patch as git show prints it: headers, a blank line, the message indented by four."""
    after = index
    while after < len(text.lines) and _SHOW_HEADER.match(text.lines[after]):
        line = text.lines[after]
        if line.startswith("Author: "):
            layout.author = parse_address(line[8:])
            layout.author_at = after
        elif line.startswith("Date: "):
            layout.date = line[6:].strip()
            layout.date_at = after
        text.kinds[after] = HEADER
        after += 1
    layout.indent = 4
    return after


def _stands_in_a_message(lines: list[str], index: int, limit: int) -> bool:
    """Whether a commit shown at ``index`` is cited by the message that goes on below it.

    "The commit", then another one as git log prints it, then "limits … the same here.":
    the patch's own text and trailers stand at the margin, not indented by four.
    """
    indented = at_margin = 0
    for line in lines[index + 1 : limit]:
        if line.startswith("---"):
            break
        if line.startswith("    ") or not line.strip() or _SHOW_HEADER.match(line):
            indented += line.startswith("    ")
        elif line.startswith("Signed-off-by: "):
            return True
        else:
            at_margin += not line.startswith(" ")
    return at_margin > indented


def _mark_shown_upstream(text: Text, layout: Layout, index: int) -> None:
    """An upstream commit shown inside a backport's message: its headers are not the patch's."""
    after = index + 1
    while after < len(text.lines) and _SHOW_HEADER.match(text.lines[after]):
        text.kinds[after] = HEADER
        after += 1
    layout.indent = 4


def _find_message_end(text: Text, layout: Layout, start: int, first_diff: int) -> None:
    """The message runs to the first ``---`` line, the diff, the signature or the part's end."""
    lines, kinds = text.lines, text.kinds
    limit = text.part_end(start) if start < len(lines) else len(lines)
    if first_diff >= start:
        limit = min(limit, first_diff)
    layout.message_start = start
    end = limit
    index = text.heads.find("-", start, limit)
    while index >= 0:
        line = lines[index]
        if line.startswith("--") and kinds[index] == PROSE:
            if line.rstrip() == "---":
                layout.cut = index
                kinds[index] = CUT
                end = index
                break
            if line == "-- ":
                end = index
                break
        index = text.heads.find("-", index + 1, limit)
    layout.message_end = end
    if layout.cut >= 0:
        stop = first_diff if first_diff > layout.cut else limit
        kinds[layout.cut + 1 : stop] = kinds[layout.cut + 1 : stop].translate(_PROSE_TO_NOTE)


def _find_later_messages(text: Text, layout: Layout) -> list[tuple[int, int]]:
    """Commit messages of further patches in the same mail: line ranges, start and end.

    People attach a backport for each tree ("0001-….patch" for 5.4 and for
    4.19), or paste one format-patch below the other.
    """
    found: list[tuple[int, int]] = []
    for above, below in pairwise(layout.patches):
        start = _later_start(text, above.end, below.start)
        if start < 0:
            continue
        start = _mark_headers(text, start, below.start)
        end = below.start
        for index in range(start, below.start):
            if text.kinds[index] == PROSE and text.lines[index].rstrip() == "---":
                text.kinds[index] = CUT
                notes = text.kinds[index + 1 : below.start].translate(_PROSE_TO_NOTE)
                text.kinds[index + 1 : below.start] = notes
                end = index
                break
        found.append((start, end))
    return found


def _later_start(text: Text, start: int, end: int) -> int:
    """Where between two diffs a further patch begins with headers of its own, or -1."""
    for index in range(start, end):
        line = text.lines[index]
        if line[:1] in "F>" and text.kinds[index] == PROSE and _FORMAT_PATCH.match(line):
            return index
    for first, _end, part in text.parts:
        if start <= first < end and part.is_attachment:
            index = first
            while index < end and not text.lines[index].strip():
                index += 1
            if index < end and IN_BODY.match(text.lines[index]):
                return index
    return -1


def _mark_headers(text: Text, index: int, limit: int) -> int:
    """Mark a further patch's header block; return the line below it."""
    while index < limit and text.lines[index].strip():
        line = text.lines[index]
        if not (_FORMAT_PATCH.match(line) or IN_BODY.match(line) or is_other_header(line)):
            break
        text.kinds[index] = HEADER
        index += 1
    return index


def _collect(text: Text, layout: Layout, later: list[tuple[int, int]]) -> None:
    """The message's and the notes' lines, ready for the facts."""
    indent = " " * layout.indent
    message: list[tuple[int, str]] = []
    for start, end in [(layout.message_start, layout.message_end), *later]:
        message += text.lines_of_kind(PROSE, start, end)
    if indent:
        message = [(index, line.removeprefix(indent)) for index, line in message]
    layout.message = message
    if NOTE in text.kinds:
        layout.notes = text.lines_of_kind(NOTE, 0, len(text.lines))

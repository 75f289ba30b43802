"""A flattened mail: one line of text, cut into the lines that it most likely had.

Web exports lose all line ends. What people and facts need (marker, trailers,
diffstat, file names, blobs, the added line) can be told again; the diff as a
whole can't, and is never offered as applicable.
"""

from __future__ import annotations

import re

from patchlore.ingest.diff_hunks import FilePatch
from patchlore.ingest.diff_names import split_git_header, strip_pair
from patchlore.ingest.mail import Mail
from patchlore.ingest.message import FileChange
from patchlore.ingest.text import ADDED, CONTEXT, DIFF, HUNK, REMOVED, Text, heads_of

#: Where a new line begins, as the blank before it.
_CUT = re.compile(
    r" (?="
    r"(?:Fixes|Link|Closes|Cc|CC|BugLink|Bugzilla|Stable-dep-of|Change-Id|Reported-and-tested-by"
    r"|[A-Z][a-z]+(?:-[a-z]+){1,4}-by|[A-Z][a-z]+-by): \S"
    r"|\[ ?[Uu]pstream commit [0-9a-f]{7,40}"
    r"|\(cherry picked from commit "
    r"|--- \S+ +\| +(?:\d+|Bin)"
    r"|--- diff --git |--- a/|--- /dev/null"
    r"|-- \d+\.\d+"
    r"|diff --git a/"
    r"|index [0-9a-f]{7,40}\.\.[0-9a-f]{7,40}"
    r"|(?:new|deleted) file mode \d{6}|(?:old|new) mode \d{6}|similarity index |rename (?:from|to) "
    r"|\+\+\+ (?:b/|/dev/null)"
    r"|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@"
    r"|\d+ files? changed"
    r"|\S+ +\| +\d+ [+-]+ "
    r")"
)
_AFTER_MARKER = re.compile(
    r"(?:commit [0-9a-f]{40} upstream\.?|\[ ?[Uu]pstream commit [0-9a-f]{7,40}[^\]]{0,80}\]) ?"
)
_STAT = re.compile(r"(?:--- )?(\S+) +\| +(\d{1,9})\b")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@ ?(.*)", re.S)
_LONG = 500
_MARK = re.compile(r" (?=[+-][^\s=+-])")


def text_of_flat(mail: Mail) -> tuple[Text, list[FilePatch]]:
    """Cut the one line of MAIL again; return the lines and the files of its diff.

    Offsets point into the flat body, whose only line is number 1.
    """
    body = mail.parts[0].text.rstrip("\n") if mail.parts else ""
    starts = _line_starts(body)
    ends = [*[start - 1 for start in starts[1:]], len(body)]
    pieces = [(start, end) for start, end in zip(starts, ends, strict=True) if end > start]
    lines, offsets = [], []
    for start, end in pieces:
        line = body[start:end].rstrip(" ")
        if line.startswith("--- ") and not line.startswith(("--- a/", "--- /dev/null")):
            lines.append("---")  # the cut and what follows it shared the line
            offsets.append(start)
            line, start = line[4:], start + 4
            if _STAT.match(line):
                line = " " + line
                start -= 1
        lines.append(line)
        offsets.append(start)
    text = Text(body, lines, offsets, flat=True)
    text.parts = [(0, len(lines), mail.parts[0])] if mail.parts else []
    files = _read_files(text)
    text.heads = heads_of(text.lines)
    return text, files


def _line_starts(body: str) -> list[int]:
    starts = {0}
    for match in _CUT.finditer(body):
        starts.add(match.end())
    for match in _AFTER_MARKER.finditer(body):
        if match.start() == 0 or match.start() in starts:
            starts.add(match.end())
    ordered = sorted(start for start in starts if start < len(body) or start == 0)
    return _with_sentences(body, ordered)


def _with_sentences(body: str, starts: list[int]) -> list[int]:
    """Cut long prose after sentences, so that no line grows beyond what facts are sought in."""
    out: list[int] = []
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        out.append(start)
        while end - start > _LONG:
            cut = body.rfind(". ", start, start + _LONG) + 1
            if cut <= start:
                cut = body.rfind(" ", start, start + _LONG)
            if cut <= start or body.startswith(("diff ", "@@ "), start):
                break
            start = cut + 1
            out.append(start)
    return out


def _read_files(text: Text) -> list[FilePatch]:
    lines = text.lines
    totals = {m[1]: int(m[2]) for line in lines if (m := _STAT.match(line.strip()))}
    patches: list[FilePatch] = []
    index = 0
    while index < len(lines):
        if not lines[index].startswith("diff --git "):
            index += 1
            continue
        change = FileChange(path="")
        names = split_git_header(lines[index])
        if names:
            old, new = strip_pair(*names)
            change.path = new if new != "/dev/null" else old
        patch = FilePatch(change, index, form="flat", damaged=True)
        text.kinds[index] = DIFF
        index = _read_file(text, patch, index + 1, totals.get(change.path))
        patch.end = index
        patches.append(patch)
    return patches


def _read_file(text: Text, patch: FilePatch, index: int, total: int | None) -> int:
    """One file's header lines and hunks; counts follow from diffstat and hunk headers."""
    change, lines = patch.change, text.lines
    hunks: list[int] = []
    delta = 0
    while index < len(lines) and not lines[index].startswith(("diff --git ", "-- ")):
        line = lines[index]
        hunk = _HUNK.match(line)
        if hunk:
            hunks.append(index)
            text.kinds[index] = HUNK
            delta += int(hunk[2] or 1) - int(hunk[1] or 1)
        else:
            text.kinds[index] = DIFF
            blobs = re.match(r"index ([0-9a-f]+)\.\.([0-9a-f]+)", line)
            if blobs:
                change.old_blob, change.new_blob = blobs[1], blobs[2]
            elif line.startswith("new file"):
                change.status = "added"
            elif line.startswith("deleted file"):
                change.status = "deleted"
        index += 1
    if total is not None and total >= abs(delta):
        change.added, change.removed = (total + delta) // 2, (total - delta) // 2
    else:
        change.added, change.removed = max(delta, 0), max(-delta, 0)
    added = _cut_hunks(text, hunks, change.added, change.removed)
    return index + added


def _cut_hunks(text: Text, hunks: list[int], added: int, removed: int) -> int:
    """Part each hunk's line at its ``+`` and ``-`` words, as many as the counts allow.

    Returns how many lines were put in; what follows an added line on the flat
    line can't be told from it.
    """
    budget = {"+": added, "-": removed}
    more = 0
    for hunk in hunks:
        index = hunk + more
        line, offset = text.lines[index], text.starts[index]
        heading = _HUNK.match(line)
        body_at = heading.start(3) if heading else len(line)
        cuts = [body_at]
        for match in _MARK.finditer(line, body_at):
            sign = line[match.end()]
            if budget[sign] > 0:
                budget[sign] -= 1
                cuts.append(match.end())
        pieces = [line[:body_at]]
        offsets = [offset]
        kinds = [HUNK]
        for start, end in zip(cuts, [*cuts[1:], len(line)], strict=True):
            piece = line[start:end].rstrip()
            if not piece:
                continue
            pieces.append(piece)
            offsets.append(offset + start)
            sign = piece[0] if start != body_at or piece[0] in "+-" else " "
            kinds.append(ADDED if sign == "+" else REMOVED if sign == "-" else CONTEXT)
        text.lines[index : index + 1] = pieces
        text.starts[index : index + 1] = offsets
        text.kinds[index : index + 1] = bytes(kinds)
        more += len(pieces) - 1
    if text.parts:
        text.parts = [(0, len(text.lines), text.parts[0][2])]
    return more

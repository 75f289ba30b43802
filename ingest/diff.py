"""Finds diffs in a mail's text, delimits them, reads files and counts, says what is damaged.

What is a diff follows git apply: a ``diff --git`` line with at least one
header line of its own below it, or ``--- ``, ``+++ ``, ``@@ -`` in a row; hunks
are delimited by their counts, never by how the next line looks. Beyond git,
damage that mail does to diffs (wrapped lines, lost blanks, hand-edited
counts) is got over and reported.
"""

from __future__ import annotations

import re

from msgspec import Struct

from patchlore.ingest.diff_names import (
    file_name,
    function_name,
    split_git_header,
    strip_known,
    strip_pair,
)
from patchlore.ingest.errors import Defect
from patchlore.ingest.message import FileChange
from patchlore.ingest.text import (
    ADDED,
    BINARY,
    CONTEXT,
    DIFF,
    HUNK,
    PROSE,
    REMOVED,
    Text,
)

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@(.*)")
_COMBINED_HUNK = re.compile(r"(@@@+)((?: -\d+(?:,\d+)?)+) \+\d+(?:,(\d+))? @@@+(.*)")
_INDEX = re.compile(r"index ([0-9a-f,]+)\.\.([0-9a-f]+)(?: (\d{6}))?")
_BINARY_FILES = re.compile(r"(?:Binary files|Files) (.+) and (.+) differ\r?$")
_EXTENDED = (
    "old mode ", "new mode ", "deleted file mode ", "new file mode ", "copy from ", "copy to ",
    "rename from ", "rename to ", "similarity index ", "dissimilarity index ", "index ",
    "--- ", "GIT binary patch", "Binary files ",
)  # fmt: skip
#: What a hunk can't be continued by: the start of something else.
_STARTS = ("diff --git ", "@@ -", "Index: ", "diff --cc ", "diff -")
_CANDIDATE = frozenset("d-I*BF")


class FilePatch(Struct):
    """One file's diff: lines START..END of the text, its hunk headings, whether it is whole."""

    change: FileChange
    start: int
    end: int = 0
    form: str = "git"
    damaged: bool = False
    wrapped: bool = False


class _Scan:
    """The walk over one text: position, what was found, what was wrong."""

    __slots__ = ("defects", "files", "kinds", "limit", "lines", "text")

    def __init__(self, text: Text) -> None:
        self.text = text
        self.lines = text.lines
        self.kinds = text.kinds
        self.limit = len(text.lines)
        self.files: list[FilePatch] = []
        self.defects: list[Defect] = []

    def at(self, index: int) -> str:
        return self.lines[index] if index < self.limit else ""

    def mark(self, start: int, end: int, kind: int) -> None:
        self.kinds[start:end] = bytes([kind]) * (end - start)

    def blame(self, patch: FilePatch, code: str, index: int) -> None:
        patch.damaged = True
        line = self.at(min(index, self.limit - 1))[:200]
        self.defects.append(Defect(code, self.text.line_number(index), line))


def scan_diffs(text: Text) -> tuple[list[FilePatch], list[Defect]]:
    """Find the diffs that stand in the author's own lines of TEXT and mark their lines.

    Lines whose kind is not prose yet (quoted, foreign) are passed over.
    """
    scan = _Scan(text)
    for start, end, _part in text.parts:
        scan.limit = end
        index = start
        while index < end:
            line = scan.lines[index]
            if line[:1] in _CANDIDATE and scan.kinds[index] == PROSE:
                after = _read_file(scan, index, line)
                if after > index:
                    index = after
                    continue
            index += 1
    return scan.files, scan.defects


def _read_file(scan: _Scan, index: int, line: str) -> int:
    """Read one file's diff that may start at INDEX; return the line after it, or INDEX."""
    if line.startswith("diff --git "):
        return _read_git(scan, index)
    if line.startswith(("diff --cc ", "diff --combined ")):
        return _read_combined(scan, index)
    if line.startswith("--- "):
        return _read_traditional(scan, index, index)
    if line.startswith("*** "):
        return _read_context(scan, index)
    if line.startswith(("diff -", "Index: ")):
        return _read_announced(scan, index)
    if line.startswith(("Binary files ", "Files ")) and _follows_diff(scan, index):
        match = _BINARY_FILES.match(line)
        if match:
            return _add_binary(scan, index, index, match[1], match[2])
    return index


def _follows_diff(scan: _Scan, index: int) -> bool:
    """``diff -r`` says "Binary files … differ" between diffs; prose says it elsewhere."""
    above = scan.at(index - 1) if index else ""
    return (index > 0 and scan.kinds[index - 1] in (CONTEXT, ADDED, REMOVED, DIFF)) or (
        above.startswith(("Only in ", "diff -", "Binary files "))
    )


def _add_binary(scan: _Scan, start: int, index: int, old: str, new: str) -> int:
    old, new = strip_pair(old.strip('"'), new.strip('"'))
    change = FileChange(path=new if new != "/dev/null" else old, added=None, removed=None)
    change.binary = True
    change.status = _side_status(old == "/dev/null", new == "/dev/null")
    scan.mark(start, index + 1, DIFF)
    scan.files.append(FilePatch(change, start, index + 1, "binary"))
    return index + 1


def _side_status(old_absent: bool, new_absent: bool) -> str:
    return "added" if old_absent else "deleted" if new_absent else "modified"


def _read_announced(scan: _Scan, index: int) -> int:
    """``diff -u a b`` or ``Index: name`` above a traditional diff; else prose."""
    line = scan.lines[index]
    after = index + 1
    if line.startswith("Index: "):
        if not scan.at(after).startswith("======"):
            if not scan.at(after).startswith("--- "):
                return index
        else:
            after += 1
        if scan.at(after).startswith("Cannot display: file marked as a binary"):
            return _add_binary(scan, index, after, line[7:], line[7:])
    while scan.at(after).startswith(("Only in ", "retrieving revision", "RCS file:", "diff -")):
        if scan.at(after).startswith("diff --git "):
            break
        after += 1
    nearby = scan.at(after)
    if nearby.startswith("--- "):
        end = _read_traditional(scan, index, after)
        return end if end > after else index
    if nearby.startswith("*** "):
        end = _read_context(scan, after)
        return end if end > after else index
    match = _BINARY_FILES.match(nearby)
    if match:
        return _add_binary(scan, index, after, match[1], match[2])
    return index


def _read_traditional(scan: _Scan, start: int, index: int) -> int:
    """``--- old``, ``+++ new``, ``@@ -``: a unified diff without git's header."""
    plus, hunk = scan.at(index + 1), scan.at(index + 2)
    if not plus.startswith("+++ ") or not _HUNK.match(hunk):
        return index
    old, old_absent = file_name(scan.lines[index])
    new, new_absent = file_name(plus)
    match = _HUNK.match(hunk)
    # Stamps of the epoch on both sides of an edit are a build tool's, not a missing file.
    old_absent = old == "/dev/null" or (old_absent and match is not None and match[1] == "0")
    new_absent = new == "/dev/null" or (new_absent and match is not None and match[2] == "0")
    if old[:2] == new[:2] and old[:2] in ("a/", "b/"):
        # "--- a/mm/slub.c~fix-that" / "+++ a/mm/slub.c": quilt's people name one tree twice.
        old, new = old[2:], new[2:]
    old, new = strip_pair(old, new)
    path = old if new == "/dev/null" else new
    change = FileChange(path=path, status=_side_status(old_absent, new_absent))
    patch = FilePatch(change, start, form="traditional")
    scan.mark(start, index + 2, DIFF)
    return _finish(scan, patch, _read_hunks(scan, patch, index + 2))


def _finish(scan: _Scan, patch: FilePatch, end: int) -> int:
    patch.end = end
    scan.files.append(patch)
    return end


def _read_git(scan: _Scan, index: int) -> int:
    """``diff --git`` and the extended header lines below it, as git documents them."""
    header = scan.lines[index]
    after = index + 1
    wrapped = False
    if not scan.at(after).startswith(_EXTENDED):
        # A mailer wrapped the line: "diff --git a/x b/some-" / "long-name.c" / "index …".
        if not (len(header) > 50 and scan.at(after + 1).startswith(_EXTENDED)):
            return index
        header += scan.at(after)
        after += 1
        wrapped = True
    names = None if wrapped else split_git_header(header)
    change = FileChange(path="")
    patch = FilePatch(change, index)
    old = new = None
    renamed = False
    while after < scan.limit:
        line = scan.lines[after]
        if line.startswith("index "):
            match = _INDEX.match(line)
            if match:
                change.old_blob, change.new_blob = match[1], match[2]
                if match[3] == "160000":
                    change.status = "submodule"
        elif line.startswith(("new file mode ", "deleted file mode ")):
            change.status = "added" if line[0] == "n" else "deleted"
            mode = line.rsplit(" ", 1)[1].strip()
            if line[0] == "n":
                change.new_mode = mode
            else:
                change.old_mode = mode
            if mode == "160000":
                change.status = "submodule"
        elif line.startswith("old mode "):
            change.old_mode = line[9:].strip()
        elif line.startswith("new mode "):
            change.new_mode = line[9:].strip()
        elif line.startswith(("rename from ", "copy from ")):
            old, renamed = _unquoted(line.split(" from ", 1)[1]), True
            change.status = "renamed" if line[0] == "r" else "copied"
        elif line.startswith(("rename to ", "copy to ")):
            new = _unquoted(line.split(" to ", 1)[1])
        elif not line.startswith(("similarity index ", "dissimilarity index ")):
            break
        after += 1
    scan.mark(index, after, DIFF)
    end, plain = _read_git_content(scan, patch, after)
    _name_git_file(change, names, plain, old, new, renamed)
    if not change.path:
        if wrapped or names is None:
            change.path = header[len("diff --git ") :].strip()
            scan.blame(patch, "unreadable-name", index)
        if not change.path:
            change.path = header
    if wrapped:
        scan.blame(patch, "wrapped-line", index)
    untouched = change.status == "modified" and end == after and not change.binary
    if untouched and change.old_mode and change.new_mode:
        change.status = "mode_change"
    return _finish(scan, patch, end)


def _unquoted(name: str) -> str:
    from patchlore.ingest.diff_names import unquote

    return unquote(name.rstrip("\r"))


def _name_git_file(
    change: FileChange,
    header: tuple[str, str] | None,
    plain: tuple[str, str] | None,
    old: str | None,
    new: str | None,
    renamed: bool,
) -> None:
    """Which names count: rename lines, else ``---``/``+++``, else the first line."""
    if renamed and old is not None and new is not None:
        change.path, change.old_path = new, old
        return
    pair = None
    if plain is not None:
        first, second = plain
        # The missing side's prefix is known from the first line's pair of names.
        if "/dev/null" in plain and header is not None:
            stripped = strip_pair(*header)
            if (first if second == "/dev/null" else second) in header:
                pair = stripped
        pair = pair or strip_pair(first, second)
    elif header is not None:
        pair = strip_pair(*header)
    if pair is None:
        return
    change.path = pair[0] if pair[1] == "/dev/null" else pair[1]
    if plain is not None and change.status == "modified":
        change.status = _side_status(plain[0] == "/dev/null", plain[1] == "/dev/null")


def _read_git_content(
    scan: _Scan, patch: FilePatch, index: int
) -> tuple[int, tuple[str, str] | None]:
    """Hunks or binary data below git's header: the line after, and the ---/+++ names."""
    line = scan.at(index)
    if line.startswith("--- ") and scan.at(index + 1).startswith("+++ "):
        names = file_name(line)[0], file_name(scan.lines[index + 1])[0]
        scan.mark(index, index + 2, DIFF)
        return _read_hunks(scan, patch, index + 2), names
    if line.startswith("GIT binary patch"):
        _set_binary(patch)
        return _read_binary_data(scan, index), None
    if line.startswith("Binary files "):
        _set_binary(patch)
        scan.mark(index, index + 1, DIFF)
        match = _BINARY_FILES.match(line)
        if match:
            return index + 1, (match[1].strip('"'), match[2].strip('"'))
        return index + 1, None
    return index, None


def _set_binary(patch: FilePatch) -> None:
    patch.change.binary = True
    patch.change.added = patch.change.removed = None


def _read_binary_data(scan: _Scan, index: int) -> int:
    """``literal N`` and ``delta N`` blocks, each ended by a blank line."""
    after = index + 1
    while scan.at(after).startswith(("literal ", "delta ")):
        while after < scan.limit and scan.lines[after].strip():
            after += 1
        if after < scan.limit:
            after += 1
    scan.mark(index, after, BINARY)
    return after


def _read_hunks(scan: _Scan, patch: FilePatch, index: int) -> int:
    """All hunks from INDEX on; return the line after the last one."""
    functions: dict[str, None] = {}
    while index < scan.limit:
        match = _HUNK.match(scan.lines[index])
        if match is None:
            break
        scan.kinds[index] = HUNK
        name = function_name(match[3].rstrip("\r")) if match[3] else None
        if name:
            functions[name] = None
        old = int(match[1]) if match[1] else 1
        new = int(match[2]) if match[2] else 1
        index = _read_hunk(scan, patch, index + 1, old, new)
    patch.change.functions = list(functions)
    return index


def _read_hunk(scan: _Scan, patch: FilePatch, index: int, old_total: int, new_total: int) -> int:
    """The lines of one hunk, by its counts; damage is got over as far as it can be told."""
    lines, kinds, limit = scan.lines, scan.kinds, scan.limit
    old, new = old_total, new_total
    added = removed = 0
    first = index
    wrapped = mismatch = False
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


def _is_wrapped_tail(lines: list[str], index: int) -> bool:
    """Is this the tail of the line above, cut off by a mailer at 72 or so columns?"""
    if index == 0:
        return False
    line, above = lines[index], lines[index - 1]
    if line.startswith(_STARTS) or line.startswith("From "):
        return False
    word = line.split(" ", 1)[0]
    return len(above) >= 40 and len(above) + 1 + len(word) > 64


def _read_surplus(scan: _Scan, patch: FilePatch, index: int) -> tuple[int, int, int]:
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


def _read_combined(scan: _Scan, index: int) -> int:
    """A merge's diff (``diff --cc``): one marker column for each parent."""
    if not scan.at(index + 1).startswith(("index ", "mode ", "new file", "deleted file", "--- ")):
        return index
    name = scan.lines[index].split(" ", 2)[2]
    change = FileChange(path=_unquoted(name), combined=True)
    patch = FilePatch(change, index, form="combined")
    after = index + 1
    while after < scan.limit and scan.lines[after].startswith(
        ("index ", "mode ", "new file mode ", "deleted file mode ", "--- ", "+++ ", "Binary files ")
    ):
        line = scan.lines[after]
        match = _INDEX.match(line)
        if match:
            change.old_blob, change.new_blob = match[1], match[2]
        elif line.startswith(("new file", "deleted file")):
            change.status = "added" if line[0] == "n" else "deleted"
        elif line.startswith("Binary files "):
            _set_binary(patch)
        after += 1
    scan.mark(index, after, DIFF)
    while after < scan.limit:
        match = _COMBINED_HUNK.match(scan.lines[after])
        if match is None:
            break
        scan.kinds[after] = HUNK
        after = _read_combined_hunk(scan, patch, after + 1, match)
    return _finish(scan, patch, after)


def _read_combined_hunk(scan: _Scan, patch: FilePatch, index: int, match: re.Match[str]) -> int:
    parents = len(match[1]) - 1
    olds = [int(part.partition(",")[2] or 1) for part in match[2].split()]
    new = int(match[3] or 1)
    name = function_name(match[4])
    if name and name not in patch.change.functions:
        patch.change.functions = [*patch.change.functions, name]
    added = removed = 0
    while (new > 0 or any(count > 0 for count in olds)) and index < scan.limit:
        line = scan.lines[index]
        if line.startswith("\\"):
            index += 1
            continue
        marks = line[:parents].ljust(parents)
        if marks.strip(" +-"):
            break
        is_removed = "-" in marks
        for parent, mark in enumerate(marks[: len(olds)]):
            if mark == "-" or (mark == " " and not is_removed):
                olds[parent] -= 1
        if is_removed:
            removed += 1
            scan.kinds[index] = REMOVED
        else:
            new -= 1
            added += "+" in marks
            scan.kinds[index] = ADDED if "+" in marks else CONTEXT
        index += 1
    if new > 0 or any(count > 0 for count in olds):
        scan.blame(patch, "truncated-hunk", index)
    patch.change.added = (patch.change.added or 0) + added
    patch.change.removed = (patch.change.removed or 0) + removed
    return index


def _read_context(scan: _Scan, index: int) -> int:
    """A context diff (``diff -c``) as old GCC mails hold: ``*** old``, ``--- new``, then stars."""
    if not scan.at(index + 1).startswith("--- ") or not scan.at(index + 2).startswith("*****"):
        return index
    old, old_absent = file_name(scan.lines[index])
    new, new_absent = file_name(scan.lines[index + 1])
    old, new = strip_pair(old, new)
    path = old if new == "/dev/null" else new
    change = FileChange(path=strip_known(path) if old == "/dev/null" else path)
    change.status = _side_status(old_absent or old == "/dev/null", new_absent or new == "/dev/null")
    patch = FilePatch(change, index, form="context")
    scan.mark(index, index + 2, DIFF)
    after = index + 2
    added = removed = 0
    side = ""
    while after < scan.limit:
        line = scan.lines[after]
        if line.startswith("*** ") and line.rstrip().endswith("****"):
            side = "old"
            scan.kinds[after] = HUNK
        elif line.startswith("--- ") and line.rstrip().endswith("----"):
            side = "new"
            scan.kinds[after] = HUNK
        elif line.startswith("***************"):
            side = ""
            scan.kinds[after] = HUNK
        elif (side and line[:2] in ("! ", "+ ", "- ", "  ", "!", "+", "-")) or (side and not line):
            if line[:1] in ("!", "+", "-"):
                scan.kinds[after] = REMOVED if side == "old" else ADDED
                removed += side == "old"
                added += side == "new"
            elif not line and not scan.at(after + 1).startswith(("  ", "! ", "+ ", "- ", "*", "-")):
                break
            else:
                scan.kinds[after] = CONTEXT
        elif not line.startswith("\\ "):
            break
        after += 1
    change.added, change.removed = added, removed
    return _finish(scan, patch, after)

"""Finds diffs in a mail's text, delimits them, reads files and counts, says what is damaged.

What is a diff follows git apply: a ``diff --git`` line with at least one
header line of its own below it, or ``--- ``, ``+++ ``, ``@@ -`` in a row; hunks
are delimited by their counts, never by how the next line looks. Beyond git,
damage that mail does to diffs (wrapped lines, lost blanks, hand-edited
counts) is got over and reported.
"""

from __future__ import annotations

import re

from patchlore.ingest.diff_combined import read_combined
from patchlore.ingest.diff_context import read_context
from patchlore.ingest.diff_hunks import HUNK_HEADER, FilePatch, Scan, read_hunks
from patchlore.ingest.diff_names import (
    file_name,
    side_status,
    split_binary_line,
    split_git_header,
    strip_pair,
    unquote,
)
from patchlore.ingest.errors import Defect
from patchlore.ingest.message import FileChange
from patchlore.ingest.text import (
    ADDED,
    BINARY,
    CONTEXT,
    DIFF,
    PROSE,
    REMOVED,
    Text,
)

_INDEX = re.compile(r"index ([0-9a-f,]+)\.\.([0-9a-f]+)(?: (\d{6}))?")
_EXTENDED = (
    "old mode ", "new mode ", "deleted file mode ", "new file mode ", "copy from ", "copy to ",
    "rename from ", "rename to ", "similarity index ", "dissimilarity index ", "index ",
    "--- ", "GIT binary patch", "Binary files ",
)  # fmt: skip
_CANDIDATE = re.compile("[-dI*BF]")


def scan_diffs(text: Text) -> tuple[list[FilePatch], list[Defect]]:
    """Find the diffs that stand in the author's own lines of TEXT and mark their lines.

    Lines whose kind is not prose yet (quoted, foreign) are passed over.
    """
    scan = Scan(text)
    for start, end, _part in text.parts:
        scan.limit = end
        position = start
        while True:
            found = _CANDIDATE.search(text.heads, position, end)
            if found is None:
                break
            index = found.start()
            position = index + 1
            if scan.kinds[index] == PROSE:
                position = max(_read_file(scan, index, scan.lines[index]), position)
    if scan.trees:
        _strip_trees(scan)
    return scan.files, scan.defects


def _strip_trees(scan: Scan) -> None:
    """Take the name of a tree off files that came or went, as the other files of the patch tell it.

    ``--- linux.orig/mm/slab.c`` and ``+++ linux/mm/slab.c`` show that ``linux`` is one in
    ``--- /dev/null`` and ``+++ linux/mm/new.c``, too.
    """
    for patch in scan.files:
        change = patch.change
        head, _, rest = change.path.partition("/")
        if patch.form == "traditional" and change.status != "modified" and head in scan.trees:
            change.path = rest


def _read_file(scan: Scan, index: int, line: str) -> int:
    """Read one file's diff that may start at INDEX; return the line after it, or INDEX."""
    if line.startswith("diff --git "):
        return _read_git(scan, index)
    if line.startswith(("diff --cc ", "diff --combined ")):
        return read_combined(scan, index)
    if line.startswith("--- "):
        return _read_traditional(scan, index, index)
    if line.startswith("*** "):
        return read_context(scan, index)
    if line.startswith(("diff -", "Index: ")):
        return _read_announced(scan, index)
    if line.startswith(("Binary files ", "Files ")) and _follows_diff(scan, index):
        pair = split_binary_line(line)
        if pair:
            return _add_binary(scan, index, index, *pair)
    return index


def _follows_diff(scan: Scan, index: int) -> bool:
    """``diff -r`` says "Binary files … differ" between diffs; prose says it elsewhere."""
    above = scan.at(index - 1) if index else ""
    return (index > 0 and scan.kinds[index - 1] in (CONTEXT, ADDED, REMOVED, DIFF)) or (
        above.startswith(("Only in ", "diff -", "Binary files "))
    )


def _add_binary(scan: Scan, start: int, index: int, old: str, new: str) -> int:
    old, new = strip_pair(old, new)
    change = FileChange(path=new if new != "/dev/null" else old, added=None, removed=None)
    change.binary = True
    change.status = side_status(old == "/dev/null", new == "/dev/null")
    scan.mark(start, index + 1, DIFF)
    scan.files.append(FilePatch(change, start, index + 1, "binary"))
    return index + 1


def _read_announced(scan: Scan, index: int) -> int:
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
        return end if end > after else after
    if nearby.startswith("*** "):
        end = read_context(scan, after)
        return end if end > after else after
    pair = split_binary_line(nearby)
    if pair:
        return _add_binary(scan, index, after, *pair)
    return after  # nothing begins on the lines that were passed over


def _read_traditional(scan: Scan, start: int, index: int) -> int:
    """``--- old``, ``+++ new``, ``@@ -``: a unified diff without git's header."""
    plus, hunk = scan.at(index + 1), scan.at(index + 2)
    if not plus.startswith("+++ ") or not HUNK_HEADER.match(hunk):
        return index
    old, old_absent = file_name(scan.lines[index])
    new, new_absent = file_name(plus)
    match = HUNK_HEADER.match(hunk)
    # Stamps of the epoch on both sides of an edit are a build tool's, not a missing file.
    old_absent = old == "/dev/null" or (old_absent and match is not None and match[1] == "0")
    new_absent = new == "/dev/null" or (new_absent and match is not None and match[2] == "0")
    if old[:2] == new[:2] and old[:2] in ("a/", "b/"):
        # "--- a/mm/slub.c~fix-that" / "+++ a/mm/slub.c": quilt's people name one tree twice.
        old, new = old[2:], new[2:]
    stripped = strip_pair(old, new)
    if "/dev/null" not in stripped and len(stripped[0]) < len(old) and len(stripped[1]) < len(new):
        heads = (name.partition("/")[0] for name in (old, new))
        scan.trees.update(head for head in heads if len(head) > 1)  # "a" and "b" are git's
    old, new = stripped
    path = old if new == "/dev/null" else new
    change = FileChange(path=path, status=side_status(old_absent, new_absent))
    patch = FilePatch(change, start, form="traditional")
    scan.mark(start, index + 2, DIFF)
    return scan.finish(patch, read_hunks(scan, patch, index + 2))


def _read_git(scan: Scan, index: int) -> int:
    """``diff --git`` and the extended header lines below it, as git documents them."""
    header = scan.lines[index]
    after = index + 1
    wrapped = False
    # Cut by hand to what matters: "diff --git …", then at once "@@ -30,6 +30,12 @@".
    headless = HUNK_HEADER.match(scan.at(after)) is not None
    if not headless and not scan.at(after).startswith(_EXTENDED):
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
            old, renamed = _plain_name(line.split(" from ", 1)[1]), True
            change.status = "renamed" if line[0] == "r" else "copied"
        elif line.startswith(("rename to ", "copy to ")):
            new = _plain_name(line.split(" to ", 1)[1])
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
    if headless:
        scan.blame(patch, "no-file-names", index)
    untouched = change.status == "modified" and end == after and not change.binary
    if untouched and change.old_mode and change.new_mode:
        change.status = "mode_change"
    return scan.finish(patch, end)


def _plain_name(name: str) -> str:
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
        change.status = side_status(plain[0] == "/dev/null", plain[1] == "/dev/null")


def _read_git_content(
    scan: Scan, patch: FilePatch, index: int
) -> tuple[int, tuple[str, str] | None]:
    """Hunks or binary data below git's header: the line after, and the ---/+++ names."""
    line = scan.at(index)
    if line.startswith("@@ -"):
        return read_hunks(scan, patch, index), None
    if line.startswith("--- ") and scan.at(index + 1).startswith("+++ "):
        names = file_name(line)[0], file_name(scan.lines[index + 1])[0]
        scan.mark(index, index + 2, DIFF)
        return read_hunks(scan, patch, index + 2), names
    if line.startswith("GIT binary patch"):
        _set_binary(patch)
        return _read_binary_data(scan, index), None
    if line.startswith("Binary files "):
        _set_binary(patch)
        scan.mark(index, index + 1, DIFF)
        return index + 1, split_binary_line(line)
    return index, None


def _set_binary(patch: FilePatch) -> None:
    patch.change.binary = True
    patch.change.added = patch.change.removed = None


def _read_binary_data(scan: Scan, index: int) -> int:
    """``literal N`` and ``delta N`` blocks, each ended by a blank line."""
    after = index + 1
    while scan.at(after).startswith(("literal ", "delta ")):
        while after < scan.limit and scan.lines[after].strip():
            after += 1
        if after < scan.limit:
            after += 1
    scan.mark(index, after, BINARY)
    return after

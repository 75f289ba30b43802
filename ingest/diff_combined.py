"""Combined diffs of merges (``diff --cc``): one marker column for each parent."""

from __future__ import annotations

import re

from patchlore.ingest.diff_hunks import FilePatch, Scan
from patchlore.ingest.diff_names import unquote
from patchlore.ingest.function_names import MAX_HEADING, function_name
from patchlore.ingest.message import FileChange
from patchlore.ingest.text import ADDED, CONTEXT, DIFF, HUNK, REMOVED

_HUNK = re.compile(
    r"(@@@{1,60})((?: -\d{1,9}(?:,\d{1,9})?){1,60}) \+\d{1,9}(?:,(\d{1,9}))? @@@{1,60}(.*)"
)
_INDEX = re.compile(r"index ([0-9a-f,]+)\.\.([0-9a-f]+)")


def read_combined(scan: Scan, index: int) -> int:
    """A merge's diff (``diff --cc``): one marker column for each parent."""
    if not scan.at(index + 1).startswith(("index ", "mode ", "new file", "deleted file", "--- ")):
        return index
    name = scan.lines[index].split(" ", 2)[2]
    change = FileChange(path=unquote(name.rstrip("\r")), combined=True)
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
            change.binary, change.added, change.removed = True, None, None
        after += 1
    scan.mark(index, after, DIFF)
    while after < scan.limit:
        match = _HUNK.match(scan.lines[after])
        if match is None:
            break
        scan.kinds[after] = HUNK
        after = _read_combined_hunk(scan, patch, after + 1, match)
    return scan.finish(patch, after)


def _read_combined_hunk(scan: Scan, patch: FilePatch, index: int, match: re.Match[str]) -> int:
    parents = len(match[1]) - 1
    olds = [int(part.partition(",")[2] or 1) for part in match[2].split()]
    new = int(match[3] or 1)
    name = function_name(match[4][:MAX_HEADING])
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

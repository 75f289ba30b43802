"""Context diffs (``diff -c``), as old GCC mails hold them."""

from __future__ import annotations

from patchlore.ingest.diff_hunks import FilePatch, Scan
from patchlore.ingest.diff_names import file_name, side_status, strip_known, strip_pair
from patchlore.ingest.message import FileChange
from patchlore.ingest.text import ADDED, CONTEXT, DIFF, HUNK, REMOVED


def read_context(scan: Scan, index: int) -> int:
    """A context diff (``diff -c``) as old GCC mails hold: ``*** old``, ``--- new``, then stars."""
    if not scan.at(index + 1).startswith("--- ") or not scan.at(index + 2).startswith("*****"):
        return index
    old, old_absent = file_name(scan.lines[index])
    new, new_absent = file_name(scan.lines[index + 1])
    old, new = strip_pair(old, new)
    path = old if new == "/dev/null" else new
    change = FileChange(path=strip_known(path) if old == "/dev/null" else path)
    change.status = side_status(old_absent or old == "/dev/null", new_absent or new == "/dev/null")
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
    return scan.finish(patch, after)

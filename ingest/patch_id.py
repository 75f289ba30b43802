"""``git patch-id --stable``, bit for bit: the identity of a change whatever its line numbers.

Follows builtin/patch-id.c of git 2.39 and newer, its odd corners included: a
stripped empty context line does not count as context there, so what follows
it is still taken for the hunk.
"""

from __future__ import annotations

import hashlib
import re

_HUNK = re.compile(rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))?")
_OID = re.compile(rb"(?:commit |From )?[0-9a-f]{40}")
_OID_HEADS = frozenset(b"%c" % octet for octet in b"0123456789abcdefF")
_SPACE = b" \t\n\r"


def stable_patch_id(lines: list[bytes]) -> str | None:
    """The patch id of the first patch in LINES (without line ends), or None.

    LINES begin at the patch's first "diff " line; lines before it are passed
    over. A patch without such a line has no id, in git neither.
    """
    start = next((n for n, line in enumerate(lines) if line.startswith(b"diff ")), None)
    if start is None:
        return None
    # An empty line's place is taken by what is no mark of a hunk's line.
    heads = b"".join([line[:1] or b"\n" for line in lines])
    total = 0
    digest = hashlib.sha1(usedforsecurity=False)
    before = after = -1
    binary = seen = False
    old_blob = new_blob = b""
    index, last = start, len(lines)
    while index < last:
        line = lines[index]
        index += 1
        first = line[:1]
        if first == b"\\" and line.startswith(b"\\ ") and len(line) >= 12:
            continue
        if first in _OID_HEADS and _OID.match(line):
            break
        if before == -1:
            if line.startswith((b"GIT binary patch", b"Binary files")):
                binary = True
                before = 0
                digest.update(old_blob)
                digest.update(new_blob)
                total += int.from_bytes(digest.digest(), "little")
                digest = hashlib.sha1(usedforsecurity=False)
                continue
            if line.startswith(b"index "):
                old, dots, rest = line[6:].partition(b"..")
                if dots:
                    old_blob, new_blob = old, rest.partition(b" ")[0]
                continue
            if line.startswith(b"--- "):
                before = after = 1
            elif not line[:1].isalpha():
                break
        if binary:
            if line.startswith(b"diff "):
                binary = False
                before = -1
            continue
        if before == 0 and after == 0:
            if line.startswith(b"@@ -"):
                match = _HUNK.match(line)
                before = int(match[1] or 1) if match else 1
                after = int(match[2] or 1) if match else 1
                end = _plain_hunk_end(heads, index, before, after)
                if end:
                    text = b"".join(lines[index:end]).translate(None, _SPACE)
                    seen = seen or bool(text)
                    digest.update(text)
                    index, before, after = end, 0, 0
                continue
            if not line.startswith(b"diff "):
                break
            total += int.from_bytes(digest.digest(), "little")
            digest = hashlib.sha1(usedforsecurity=False)
            before = after = -1
        if first == b" ":
            before -= 1
            after -= 1
        elif first == b"-":
            before -= 1
        elif first == b"+":
            after -= 1
        text = line.translate(None, _SPACE)
        seen = seen or bool(text)
        digest.update(text)
    if not seen:
        return None
    # git sums the hunks' digests up in 20 octets, the least first; the last carry is lost.
    total += int.from_bytes(digest.digest(), "little")
    return (total % (1 << 160)).to_bytes(20, "little").hex()


def _plain_hunk_end(heads: bytes, index: int, before: int, after: int) -> int:
    """The line after a hunk of nothing but marked lines, which can be hashed at once; else 0.

    HEADS are the first octets of the lines, which are counted, not looked at one by one.
    """
    while before > 0 or after > 0:
        step = max(before, after)
        end = index + step
        context, added = heads.count(b" ", index, end), heads.count(b"+", index, end)
        removed = heads.count(b"-", index, end)
        if context + added + removed != step:
            return 0
        before -= context + removed
        after -= context + added
        index = end
    return index if before == after == 0 else 0

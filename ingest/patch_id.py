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
_SPACE = b" \t\n\r"


def stable_patch_id(lines: list[bytes]) -> str | None:
    """The patch id of the first patch in LINES (without line ends), or None.

    LINES begin at the patch's first "diff " line; lines before it are passed
    over. A patch without such a line has no id, in git neither.
    """
    start = next((n for n, line in enumerate(lines) if line.startswith(b"diff ")), None)
    if start is None:
        return None
    total = bytearray(20)
    digest = hashlib.sha1(usedforsecurity=False)
    before = after = -1
    binary = seen = False
    old_blob = new_blob = b""
    index, last = start, len(lines)
    while index < last:
        line = lines[index]
        index += 1
        if line.startswith(b"\\ ") and len(line) >= 12:
            continue
        if _OID.match(line):
            break
        if before == -1:
            if line.startswith((b"GIT binary patch", b"Binary files")):
                binary = True
                before = 0
                digest.update(old_blob)
                digest.update(new_blob)
                digest = _flush(total, digest)
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
                end = _plain_hunk_end(lines, index, before, after)
                if end:
                    text = b"".join(lines[index:end]).translate(None, _SPACE)
                    seen = seen or bool(text)
                    digest.update(text)
                    index, before, after = end, 0, 0
                continue
            if not line.startswith(b"diff "):
                break
            digest = _flush(total, digest)
            before = after = -1
        first = line[:1]
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
    _flush(total, digest)
    return total.hex()


def _plain_hunk_end(lines: list[bytes], index: int, before: int, after: int) -> int:
    """The line after a hunk of nothing but marked lines, which can be hashed at once; else 0."""
    for position in range(index, len(lines)):
        if before <= 0 and after <= 0:
            return position if before == after == 0 else 0
        first = lines[position][:1]
        if first == b" ":
            before -= 1
            after -= 1
        elif first == b"+":
            after -= 1
        elif first == b"-":
            before -= 1
        else:
            return 0
    return len(lines) if before == after == 0 else 0


def _flush(total: bytearray, digest: hashlib._Hash) -> hashlib._Hash:
    """Add a hunk's digest to the sum: 20 octets, little end first, with carry."""
    carry = 0
    for position, octet in enumerate(digest.digest()):
        carry += total[position] + octet
        total[position] = carry & 255
        carry >>= 8
    return hashlib.sha1(usedforsecurity=False)

"""Diffstats, signatures and footers: what stands around what the author says."""

from __future__ import annotations

import re

from patchlore.ingest.text import FOOTER, NOTE, PROSE, SIGNATURE, STAT, Text

_TAIL_HEAD = re.compile("[- _TY]")
_STAT = re.compile(r" (?:\S.*\s\|\s+(?:\d+|Bin|Unchanged)\b|\d+ files? changed)")
_MODE = re.compile(
    r" (?:create|delete) mode \d{6} | mode change \d{6} => | (?:rename|copy) .+ \(\d+%\)$"
)
_VERSION_LINE = re.compile(r"\d+\.\d+[\w.+-]*(?: \(.*\))?\s*$")


def mark_tails(text: Text) -> None:
    """Diffstats, signatures and footers among what is still prose or notes."""
    lines, kinds = text.lines, text.kinds
    for start, end, _part in text.parts:
        position = start
        while True:
            found = _TAIL_HEAD.search(text.heads, position, end)
            if found is None:
                break
            index = found.start()
            position = index + 1
            if kinds[index] not in (PROSE, NOTE):
                continue
            line = lines[index]
            if line[:1] == " ":
                if ("|" in line or "chang" in line or "mode" in line or "%)" in line) and (
                    _STAT.match(line) or _MODE.match(line)
                ):
                    kinds[index] = STAT
            elif line == "-- " or (line == "--" and _ends_mail(lines, index, end)):
                position = _mark_tail(text, index, end, SIGNATURE)
            elif line[:1] in ("_", "T", "Y") and _is_footer(lines, index):
                position = _mark_tail(text, index, end, FOOTER)


def _mark_tail(text: Text, index: int, end: int, kind: int) -> int:
    """Mark a signature or footer down to where something else begins; return that line."""
    while index < end and text.kinds[index] in (PROSE, NOTE):
        if kind == SIGNATURE and _is_footer(text.lines, index):
            kind = FOOTER
        text.kinds[index] = kind
        index += 1
    return index


def _ends_mail(lines: list[str], index: int, end: int) -> bool:
    """Archives cut the blank of "-- ": the mark counts above git's version or near the end."""
    below = lines[index + 1] if index + 1 < end else ""
    return bool(_VERSION_LINE.match(below)) or end - index <= 6


def _is_footer(lines: list[str], index: int) -> bool:
    line = lines[index]
    if line.startswith("______________"):
        return any(
            "list" in below.lower() or "@" in below for below in lines[index + 1 : index + 3]
        )
    return line.startswith(("To unsubscribe from this", "You received this message because"))

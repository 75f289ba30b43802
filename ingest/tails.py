"""Diffstats, signatures and footers: what stands around what the author says."""

from __future__ import annotations

import re

from patchlore.ingest.text import FOOTER, NOTE, PROSE, SIGNATURE, STAT, Text

#: First characters of the lines to look at where the mail has diffstats, footers, both or none.
_HEADS = {
    (True, True): re.compile("[- _TY]"),
    (True, False): re.compile("[- ]"),
    (False, True): re.compile("[-_TY]"),
    (False, False): re.compile("-"),
}
_OWN_RUN = re.compile(b"[%c%c]+" % (PROSE, NOTE))
_STAT_WORDS = (" changed", "create mode ", "delete mode ", "mode change ", "%)")
_FOOTER_WORDS = ("______________", "to unsubscribe from this", "you received this message because")
_STAT = re.compile(r" (?:\S.*\s\|\s+(?:\d+|Bin|Unchanged)\b|\d+ files? changed)")
_MODE = re.compile(
    r" (?:create|delete) mode \d{6} | mode change \d{6} => | (?:rename|copy) .+ \(\d+%\)$"
)
_VERSION_LINE = re.compile(r"\d+\.\d+[\w.+-]*(?: \(.*\))?\s*$")


def mark_tails(text: Text) -> None:
    """Diffstats, signatures and footers among what is still prose or notes."""
    lines, kinds, words = text.lines, text.kinds, text.words
    has_footers = words.any(*_FOOTER_WORDS)
    heads = _HEADS["|" in text.body or words.any(*_STAT_WORDS), has_footers]
    for start, end, _part in text.parts:
        for run in _OWN_RUN.finditer(kinds, start, end):
            position = run.start()
            for found in heads.finditer(text.heads, position, run.end()):
                index = found.start()
                if index < position:
                    continue
                line = lines[index]
                if line[:1] == " ":
                    if ("|" in line or "chang" in line or "mode" in line or "%)" in line) and (
                        _STAT.match(line) or _MODE.match(line)
                    ):
                        kinds[index] = STAT
                elif line == "-- " or (line == "--" and _ends_mail(lines, index, end)):
                    position = _mark_tail(text, index, end, SIGNATURE, has_footers)
                elif has_footers and line[:1] in ("_", "T", "Y") and _is_footer(lines, index):
                    position = _mark_tail(text, index, end, FOOTER, has_footers)


def _mark_tail(text: Text, index: int, end: int, kind: int, has_footers: bool) -> int:
    """Mark a signature or footer down to where something else begins; return that line."""
    while index < end and text.kinds[index] in (PROSE, NOTE):
        if has_footers and kind == SIGNATURE and _is_footer(text.lines, index):
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

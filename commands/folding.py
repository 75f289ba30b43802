"""Lines folded for the columns that the reader has."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator

#: Narrower than this no terminal is taken to be.
_NARROWEST = 20

#: Of a line a sequence of Style, which has no width, or one character.
_UNIT = re.compile(r"\x1b\[[0-9;]*m|.", re.DOTALL)


def columns() -> int | None:
    """Return the columns of the terminal, $COLUMNS of them where that says; None without one.

    What goes to a file or another program is laid out alike wherever it is made.
    """
    if not sys.stdout.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given[:6]) > 0:
        return max(_NARROWEST, int(given[:6]))
    return max(_NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns or 80)


def folded(line: str, width: int) -> Iterator[str]:
    """Yield a line in parts of at most ``width`` columns: at blanks, what follows indented.

    A letter of East Asia takes two columns, a mark above another letter none.
    """
    if len(line) <= width and line.isascii() and "\t" not in line:
        yield line
        return
    line = line.expandtabs()
    plain = _UNIT.sub(lambda unit: unit[0] if len(unit[0]) == 1 else "", line)
    indent = " " * min(len(plain) - len(plain.lstrip(" ")) + 2, width // 2)
    part: list[str] = []
    used, blank, blank_used, has_word = 0, 0, 0, False
    for unit in _UNIT.findall(line):
        size = _columns_of(unit)
        if unit == " " and not has_word and used >= width // 2:
            continue
        if used + size > width and has_word:
            if unit == " ":
                continue
            cut, cut_used = (blank, blank_used) if blank else (len(part), used)
            yield "".join(part[:cut]).rstrip(" ")
            part = [indent, *part[cut:]]
            used = len(indent) + used - cut_used
            blank, blank_used = 0, 0
            has_word = used > len(indent)
        part.append(unit)
        used += size
        if unit == " " and has_word:
            blank, blank_used = len(part), used
        elif size:
            has_word = has_word or unit != " "
    yield "".join(part)


def _columns_of(unit: str) -> int:
    if len(unit) > 1:
        return 0
    if unit.isascii():
        return 1
    if unicodedata.combining(unit):
        return 0
    return 2 if unicodedata.east_asian_width(unit) in "WF" else 1

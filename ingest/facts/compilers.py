"""Compilers and their versions, and tables of measurements by compiler version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlore.ingest.facts.context import MAX_LINE, Context, Line
from patchlore.ingest.message import Compiler, Table, TableRow
from patchlore.ingest.text import ADDED, CONTEXT, FOREIGN, OWN_KINDS, QUOTED, REMOVED

_SIGNS = ("gcc", "clang", "llvm", "g++")
_VERSION = r"\d{1,2}(?:\.\d{1,2}){0,2}"
#: "gcc-7.2.1", "GCC 8", "clang version 15.0.7", "gcc (Debian 12.2.0-14) 12.2.0", "GCC >= 8.1",
#: "gcc13", "aarch64-linux-gnu-gcc-10", "gcc 5.4.0-6ubuntu1".
_COMPILER = re.compile(
    r"(?:(?<![\w./-])|(?<=linux-)|(?<=gnu-)|(?<=gnueabi-)|(?<=gnueabihf-)|(?<=elf-))"
    r"(gcc|clang|llvm|g\+\+)(?:[ -]version)?(?:[ ]?[<>]=?[ ]?|[ -]|[ ]?\([^()]{1,60}\)[ ])?v?"
    rf"({_VERSION})(?:-\d{{1,3}}(?:ubuntu|deb|\.el|\.fc|\+|~)[\w.~+-]{{0,30}})?"
    r"(?:\+|\.x\b)?(?![\w%]|\.\w|-\d|/(?!\d)|>/)",
    re.I,
)
#: "GCC 4.8, 4.9 and 5.1", "clang 15 and 16": a further version of the same shape.
_FURTHER = re.compile(
    rf"[ \t]?(?:,[ \t]?(?:and |or )?|/|&[ \t]?|and[ \t]|or[ \t])({_VERSION})(?:\.x\b)?(?![\w%-]|\.\w)"
    r"(?=[ \t]?(?:[,.;:)/]|and\b|or\b|$|[ \t]\())",
    re.I,
)
_ROW = re.compile(r"[ \t|>]*((?:gcc|clang|llvm)[- ]v?\d[\w.+-]*)[ \t]*[|:]?[ \t]*(.*)", re.I)
_GAP = re.compile(r"[ \t]*\|[ \t]*|[ \t]{2,}|\t+")
_DIGIT = re.compile(r"\d")
_CELL = re.compile(r"[+-]?\d+(?:\.\d+)?(?:%|x|s|ms|us|ns)?|-{1,8}|n/?a|none|\?", re.I)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?$")
_NOTHING = re.compile(r"-{1,10}$|n/?a$|none$|\?$|$", re.I)
_UNIT = re.compile(
    r"\b(cycles?(?:/| per )\w+|[kmg]i?b(?:ytes)?/s(?:ec)?|[kmg]bit/s|ns/op|ops/s(?:ec)?|bytes?|instructions"
    r"|nanoseconds|microseconds|milliseconds|seconds|cycles|ns|us|ms)\b",
    re.I,
)
_WHERE = {ADDED: "diff-added", REMOVED: "diff-removed", CONTEXT: "diff-context", QUOTED: "quoted",
          FOREIGN: "quoted"}  # fmt: skip


def find(context: Context) -> None:
    """Fill ``compilers`` and ``tables``."""
    message = context.message
    lines = [line for line in context.lines_with(*_SIGNS) if _DIGIT.search(line[1])]
    subject = (message.subject or "")[:MAX_LINE]
    if not lines and not any(sign in subject.lower() for sign in _SIGNS):
        return
    found: dict[tuple[str, str], Compiler] = {}
    kinds = context.text.kinds
    for index, line in [(-1, subject), *lines]:
        where = "subject" if index < 0 else _WHERE.get(kinds[index], "body")
        for match in _COMPILER.finditer(line):
            name = match[1].lower().replace("g++", "gcc")
            for version, text in _versions(line, match):
                key = (name, version)
                if key not in found:
                    found[key] = Compiler(name=name, version=version, where=where)
                    context.note(
                        "compilers", f"{name} {version}", index, "compiler-version", text=text
                    )
    message.compilers = list(found.values())
    own = [(index, line) for index, line in lines if kinds[index] in OWN_KINDS]
    if context.text.flat:
        _find_flat_table(context)
    else:
        _find_tables_by_row(context, own)
        _find_tables_by_column(context, own)


def _versions(line: str, match: re.Match[str]) -> Iterator[tuple[str, str]]:
    """The version that MATCH names, and those listed behind it; each with the words that do."""
    yield match[2], match[0]
    further = _FURTHER.match(line, match.end())
    while further is not None and ("." in further[1]) == ("." in match[2]):
        yield further[1], further[0].strip()
        further = _FURTHER.match(line, further.end())


def _cells(text: str) -> list[str]:
    """The cells of a row: parted by bars or two blanks; by one blank where all are numbers."""
    text = text.strip().strip("|").strip()
    if not text:
        return []
    cells = [cell.strip() for cell in _GAP.split(text) if cell.strip()]
    if len(cells) == 1 and " " in text:
        words = text.split()
        if all(_CELL.fullmatch(word) for word in words):
            return words
    return cells


def _value(cell: str) -> float | str | None:
    if _NOTHING.match(cell):
        return None
    return float(cell) if _NUMBER.match(cell) else cell


def _find_tables_by_row(context: Context, lines: list[Line]) -> None:
    """A table whose rows begin with compilers; its columns stand in the line above the first."""
    block: list[tuple[int, str, list[str]]] = []
    for index, line in [*lines, (-9, "")]:
        match = _ROW.match(line)
        cells = _cells(match[2]) if match else []
        good = (
            match is not None and bool(cells) and any(_NUMBER.match(c) or "%" in c for c in cells)
        )
        if block and (not good or index > block[-1][0] + 1):
            _add_rows(context, block)
            block = []
        if good and match is not None:
            block.append((index, match[1], cells))


def _add_rows(context: Context, block: list[tuple[int, str, list[str]]]) -> None:
    if len(block) < 2:
        return
    first = block[0][0]
    heading = _line_above(context, first)
    columns = _cells(context.text.lines[heading]) if heading >= 0 else []
    width = max(len(cells) for _, _, cells in block)
    if len(columns) == width + 1:
        columns = columns[1:]
    if len(columns) != width:
        columns = [str(number + 1) for number in range(width)]
    rows = [
        TableRow(compiler=name.replace(" ", "-").lower(), values=[_value(cell) for cell in cells])
        for _, name, cells in block
    ]
    table = Table(unit=_unit_above(context, first), columns=columns, rows=rows)
    context.message.tables.append(table)
    context.note("tables", f"{len(rows)}x{width}", first, "rows-by-compiler")


def _find_tables_by_column(context: Context, lines: list[Line]) -> None:
    """A table whose heading names compilers: turned, so that each compiler has a row."""
    text = context.text
    for index, line in lines:
        cells = _cells(line)
        names = [
            cell for cell in cells if re.fullmatch(r"(?:gcc|clang)[- ]v?\d[\w.+-]*", cell, re.I)
        ]
        if len(names) < 2 or len(names) < len(cells) - 1:
            continue
        labels: list[str] = []
        columns: list[list[float | str | None]] = []
        for below in range(index + 1, min(index + 60, len(text.lines))):
            row = _cells(text.lines[below])
            if not row or set(text.lines[below].strip()) <= set("-=+| "):
                if labels:
                    break
                continue
            if len(row) != len(names) + 1 or text.kinds[below] not in OWN_KINDS:
                break
            labels.append(row[0].rstrip(":"))
            columns.append([_value(cell) for cell in row[1:]])
        if not labels:
            continue
        rows = [
            TableRow(compiler=name.replace(" ", "-").lower(), values=[col[n] for col in columns])
            for n, name in enumerate(names)
        ]
        context.message.tables.append(
            Table(unit=_unit_above(context, index), columns=labels, rows=rows)
        )
        context.note("tables", f"{len(rows)}x{len(labels)}", index, "columns-by-compiler")


def _line_above(context: Context, index: int) -> int:
    for above in range(index - 1, max(index - 4, -1), -1):
        line = context.text.lines[above].strip()
        if line and not set(line) <= set("-=+| "):
            return above
    return -1


def _unit_above(context: Context, index: int) -> str | None:
    """The unit that the sentence above a table names ("showing cycles/byte for …")."""
    for above in range(index - 1, max(index - 12, -1), -1):
        match = _UNIT.search(context.text.lines[above])
        if match:
            return match[1].lower()
    return None


def _find_flat_table(context: Context) -> None:
    """``-O2 -Os gcc-6.3.1 14.9 15.1 gcc-7.0.1 14.7 15.3``: a table on a flattened line."""
    words = context.text.body.split(" ")[:50_000]
    rows: list[TableRow] = []
    first = -1
    position = 0
    while position < len(words):
        if re.fullmatch(r"(?:gcc|clang)-\d[\d.]*", words[position]):
            end = position + 1
            while end < len(words) and _CELL.fullmatch(words[end]):
                end += 1
            values = [_value(word) for word in words[position + 1 : end]]
            if values and (not rows or len(values) == len(rows[0].values)):
                first = position if not rows else first
                rows.append(TableRow(compiler=words[position], values=values))
                position = end
                continue
        if len(rows) >= 2:
            break
        if rows:
            rows, first = [], -1
        position += 1
    if len(rows) < 2:
        return
    width = len(rows[0].values)
    columns = words[max(first - width, 0) : first]
    before = " ".join(words[max(first - 40, 0) : first])
    units = _UNIT.findall(before)
    table = Table(unit=units[0].lower() if units else None, columns=columns, rows=rows)
    context.message.tables.append(table)
    index = next((n for n, line in enumerate(context.text.lines) if rows[0].compiler in line), 0)
    context.note("tables", f"{len(rows)}x{width}", index, "rows-by-compiler", confidence="medium")

"""The lines of all diffs, for searching by regular expression: blocks, found by trigrams.

A block holds the lines of a few documents, compressed together; a full-text
table of SQLite (its trigram tokenizer) says which blocks have three characters
in a row somewhere.  That finds a few blocks of many (R. Cox, "Regular
Expression Matching with a Trigram Index", 2012); their lines are then matched
one by one.  By block and not by document since that makes a third of the
postings, and lines of several mails compress better together.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Collection, Iterable
from itertools import accumulate

import zstandard
from msgspec import Struct, msgpack

from patchlore.index.document import CODE_KINDS, Searched, code_line
from patchlore.index.fts import quote
from patchlore.index.regexes import Regex, selectivity
from patchlore.ingest.function_names import function_name
from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_CONTEXT,
    KIND_HUNK,
    KIND_REMOVED,
    Message,
)

#: Bytes of lines after which a block is full.
BLOCK_BYTES = 48 * 1024

#: Bytes of the lines of one mail that can be searched: more is no patch to read.
MOST_BYTES = 4 * 1024 * 1024

#: Trigrams that are asked for: more of them hardly find fewer blocks.
_MOST_TRIGRAMS = 24

#: Bytes that are matched between two looks at the clock.
_PIECE = 64 * 1024

#: Headers of hunks that are remembered while an expression is looked for.
_MOST_HEADERS = 20_000

#: Which lines each prefix of a query means.
KINDS: dict[str | None, str] = {
    None: KIND_ADDED + KIND_REMOVED + KIND_CONTEXT,
    "dfb": KIND_ADDED,
    "dfa": KIND_REMOVED,
    "dfctx": KIND_CONTEXT,
    "dfhh": KIND_HUNK,
    "fn": KIND_HUNK,
}

_SCHEMA = (
    # `documents`: their numbers, and the bytes of lines that each has, as
    # msgpack; `lines`: zstd of the lines, each with its kind in front.
    "CREATE TABLE diff_block (id INTEGER PRIMARY KEY, documents BLOB NOT NULL,"
    " lines BLOB NOT NULL)",
    "CREATE VIRTUAL TABLE diff_trigram USING fts5 (lines, content = '', columnsize = 0,"
    " detail = none, tokenize = 'trigram')",
)


class Found(Struct):
    """Documents with a line that matches; ``looked_at`` of ``blocks`` were, when time was up."""

    documents: set[int]
    looked_at: int
    blocks: int


def diff_lines(message: Message | Searched) -> str:
    """The lines of the diff of MESSAGE, each with its kind in front and a line end."""
    kinds = message.line_kinds
    if not any(kind in kinds for kind in CODE_KINDS):
        return ""
    lines = [
        kind + code_line(line, kind)
        for line, kind in zip(message.body.split("\n"), kinds, strict=False)
        if kind in CODE_KINDS
    ]
    lines.append("")
    return "\n".join(lines)


class Block(Struct, array_like=True):
    """A row of ``diff_block``, and the text for its row of ``diff_trigram``."""

    documents: bytes
    lines: bytes
    text: str


class Blocks:
    """Collects the lines of documents into blocks."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._sizes: list[int] = []
        self._lines: list[bytes] = []
        self._size = 0
        self._full: list[Block] = []
        self._compressor = zstandard.ZstdCompressor(level=6)

    def add(self, number: int, message: Message | Searched) -> None:
        """Add the lines of a document."""
        lines = diff_lines(message)
        if not lines:
            return
        data = lines.encode("utf-8", "replace")
        if len(data) > MOST_BYTES:
            data = data[: data.rfind(b"\n", 0, MOST_BYTES) + 1]
        self._numbers.append(number)
        self._sizes.append(len(data))
        self._lines.append(data)
        self._size += len(data)
        if self._size >= BLOCK_BYTES:
            self._end()

    def take(self) -> list[Block]:
        """Return the blocks of what came since the last call, the one that is not full too."""
        if self._numbers:
            self._end()
        taken, self._full = self._full, []
        return taken

    def _end(self) -> None:
        data = b"".join(self._lines)
        # Revisions of a patch share most lines: each is read once.
        # (For the table a NUL would be the end.)
        different = dict.fromkeys(data.decode().replace("\0", " ").split("\n"))
        self._full.append(
            Block(
                msgpack.encode((self._numbers, self._sizes)),
                self._compressor.compress(data),
                "\n".join(line[1:] for line in different),
            )
        )
        self._numbers, self._sizes, self._lines, self._size = [], [], [], 0


class DiffLines:
    """The tables ``diff_block`` and ``diff_trigram`` of an index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._decompressor = zstandard.ZstdDecompressor()

    def create(self) -> None:
        """Make the tables."""
        for statement in _SCHEMA:
            self.connection.execute(statement)

    def add(self, blocks: Iterable[Block]) -> None:
        """Write blocks."""
        for block in blocks:
            cursor = self.connection.execute(
                "INSERT INTO diff_block (documents, lines) VALUES (?, ?)",
                (block.documents, block.lines),
            )
            self.connection.execute(
                "INSERT INTO diff_trigram (rowid, lines) VALUES (?, ?)",
                (cursor.lastrowid, block.text),
            )

    # -- searching ----------------------------------------------------------------------

    def find(
        self,
        prefix: str | None,
        regex: Regex,
        seconds: float,
        within: Collection[int] | None = None,
    ) -> Found:
        """The documents with a line that matches REGEX, of those in WITHIN if that is given.

        PREFIX says which lines count.  Blocks are looked at from the newest on,
        until SECONDS are over.
        """
        deadline = time.monotonic() + seconds
        scan = _Scan(prefix, regex, deadline)
        blocks = self._blocks(regex)
        found: set[int] = set()
        for done, block in enumerate(blocks):
            try:
                if time.monotonic() > deadline:
                    raise OutOfTime
                self._find_in_block(block, scan, within, found)
            except OutOfTime:
                return Found(found, done, len(blocks))
        return Found(found, len(blocks), len(blocks))

    def _blocks(self, regex: Regex) -> list[int]:
        """The blocks that may have a match, the newest first."""
        match = _trigram_query(regex)
        if match:
            rows = self.connection.execute(
                "SELECT rowid FROM diff_trigram WHERE diff_trigram MATCH ? ORDER BY rowid DESC",
                (match,),
            )
        else:
            rows = self.connection.execute("SELECT id FROM diff_block ORDER BY id DESC")
        return [row[0] for row in rows]

    def _find_in_block(
        self, block: int, scan: _Scan, within: Collection[int] | None, found: set[int]
    ) -> None:
        row = self.connection.execute(
            "SELECT documents, lines FROM diff_block WHERE id = ?", (block,)
        ).fetchone()
        if row is None:
            return
        numbers, sizes = msgpack.decode(row[0], type=tuple[list[int], list[int]])
        if within is not None and not any(number in within for number in numbers):
            return
        ends = array("q", accumulate(sizes))
        data = self._decompressor.decompress(row[1])
        index = 0
        position = 0
        while (position := scan.next(data, position)) >= 0:
            while position >= ends[index]:
                index += 1
            # One line is enough: on to the next document.
            if within is None or numbers[index] in within:
                found.add(numbers[index])
            position = ends[index]


class OutOfTime(Exception):
    """The time for a search is over."""


class _Scan:
    """Finds lines that match in the bytes of a block."""

    def __init__(self, prefix: str | None, regex: Regex, deadline: float) -> None:
        self._kinds = KINDS[prefix].encode()
        # RE2 is a library of its own, which only those load who ask for an expression.
        from patchlore.index.line_matcher import LineMatcher

        self._matcher = LineMatcher(regex, in_names=prefix == "fn")
        self._deadline = deadline
        # Of one function there are many hunks: what is known of a header.
        self._headers: dict[bytes, bool] | None = {} if prefix == "fn" else None

    def next(self, data: bytes, position: int) -> int:
        """The offset of the first line from POSITION on that matches, or -1."""
        size = len(data)
        while position < size:
            if time.monotonic() > self._deadline:
                raise OutOfTime
            # Little by little, for time to be looked at; a line that is longer
            # than such a piece is looked at by itself.
            end = min(size, position + _PIECE)
            end = size if end == size else data.rfind(b"\n", position, end) + 1
            place = position if not end else self._matcher.candidate(data, position, end)
            if place < 0 or place == size:
                position = end
                continue
            start = data.rfind(b"\n", 0, place) + 1
            line_end = data.find(b"\n", place)
            line_end = size if line_end < 0 else line_end
            if data[start] in self._kinds and self._matches(data[start + 1 : line_end]):
                return start
            position = line_end + 1
        return -1

    def _matches(self, line: bytes) -> bool:
        if self._headers is None:
            return self._matcher.found(line)
        known = self._headers.get(line)
        if known is None:
            name = function_name(line.decode("utf-8", "replace"))
            known = name is not None and self._matcher.found(name.encode())
            if len(self._headers) > _MOST_HEADERS:
                self._headers.clear()
            self._headers[line] = known
        return known


def _trigram_query(regex: Regex) -> str:
    """The MATCH expression for blocks that have all that REGEX requires; "" for any block."""
    groups = []
    left = _MOST_TRIGRAMS
    for group in sorted(regex.required, key=selectivity, reverse=True):
        alternatives = [_trigrams(literal) for literal in sorted(group)]
        if not all(alternatives):
            continue
        share = max(1, left // len(alternatives))
        groups.append(
            " OR ".join(
                "(" + " AND ".join(map(quote, trigrams[:share])) + ")" for trigrams in alternatives
            )
        )
        left -= sum(len(trigrams[:share]) for trigrams in alternatives)
        if left <= 0:
            break
    return " AND ".join(f"({group})" for group in groups)


def _trigrams(literal: str) -> list[str]:
    """The trigrams of LITERAL that are ASCII, the ends and the middle first."""
    # FTS5 folds case by Unicode, we by ASCII: other letters are left to the matching.
    found = dict.fromkeys(
        trigram
        for place in range(len(literal) - 2)
        if (trigram := literal[place : place + 3].lower()).isascii() and "\0" not in trigram
    )
    every = list(found)
    return every[::3] + every[1::3] + every[2::3]

"""The words of an index: which share a stem, and which identifiers have which parts.

Postings hold words as they stand in the text. A search for "randomize" asks
here for all words with its stem, one for "mmsg" for the identifiers that it is
a part of: so a phrase stays exact, code is never stemmed, and every engine
finds the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from patchlore.index.words import is_english, parts, stem

_SCHEMA = (
    "CREATE TABLE stem (stem TEXT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (stem, word))"
    " WITHOUT ROWID",
    "CREATE TABLE part (part TEXT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (part, word))"
    " WITHOUT ROWID",
)

#: How many words are remembered as known while indexing, before a fresh start.
_REMEMBERED = 200_000

#: No identifier list longer than this goes into one question to an engine.
_MOST_IDENTIFIERS = 500


class NewWords:
    """Collects what the tables must know of the words of documents, each word once."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._stems: list[tuple[str, str]] = []
        self._parts: list[tuple[str, str]] = []

    def add(self, words: set[str]) -> None:
        """Note the words of a document."""
        new = words - self._known
        if not new:
            return
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        self._known |= new
        for word in new:
            if is_english(word):
                self._stems.append((stem(word), word))
                continue
            if word.endswith("'s"):
                self._stems.append((stem(word), word))
            if "_" in word:
                self._parts += [(part, word) for part in set(parts(word))]

    def take(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return rows of both tables for the words that came since the last call."""
        taken = sorted(self._stems), sorted(self._parts)
        self._stems, self._parts = [], []
        return taken


class Vocabulary:
    """The tables ``stem`` and ``part`` of an index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def create(self) -> None:
        """Make the tables."""
        for statement in _SCHEMA:
            self.connection.execute(statement)

    def add(self, stems: Iterable[tuple[str, str]], parts: Iterable[tuple[str, str]]) -> None:
        """Write rows that ``NewWords`` has made, as far as they are new."""
        self.connection.executemany("INSERT OR IGNORE INTO stem VALUES (?, ?)", stems)
        self.connection.executemany("INSERT OR IGNORE INTO part VALUES (?, ?)", parts)

    def kin(self, word: str) -> tuple[str, ...]:
        """All words that share the stem of WORD, itself included."""
        rows = self.connection.execute("SELECT word FROM stem WHERE stem = ?", (stem(word),))
        return tuple({word, *(row[0] for row in rows)})

    def identifiers(self, part: str) -> tuple[str, ...]:
        """The identifiers that have PART, which may have parts itself, between underscores."""
        pieces = parts(part)
        if pieces:
            return self._longer(part, pieces)
        rows = self.connection.execute(
            "SELECT word FROM part WHERE part = ? LIMIT ?", (part, _MOST_IDENTIFIERS)
        )
        return tuple(row[0] for row in rows)

    def _longer(self, part: str, pieces: list[str]) -> tuple[str, ...]:
        """The identifiers that go on before or behind PART: "mmsg_rx" in vector_mmsg_rx."""
        rows = self.connection.execute(
            "SELECT word FROM part WHERE part = ? AND instr('_' || word || '_', ?) AND word <> ?"
            " LIMIT ?",
            (max(pieces, key=len), f"_{part.strip('_')}_", part, _MOST_IDENTIFIERS),
        )
        return tuple(row[0] for row in rows)

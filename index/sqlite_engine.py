"""Prose in SQLite's full-text table too: for large archives, with no file beside the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from patchlore.index.database import IndexDatabase
from patchlore.index.engine import Document, Pattern


class SqliteEngine:
    """Finds and adds prose in the table ``prose`` of the index database.

    Reader and writer in one: the transaction of the database is that of the
    engine, so ``commit`` has nothing to do.
    """

    has_segments = False

    def __init__(self, database: IndexDatabase) -> None:
        """Work in DATABASE, which stays open until its owner closes it."""
        self._table = database.prose

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        """The numbers of the documents with PATTERN in at least one of FIELDS."""
        return self._table.find(fields, pattern)

    def rank(
        self, weights: Mapping[str, float], patterns: Sequence[Pattern], wanted: Collection[int]
    ) -> dict[int, float]:
        """BM25 of the documents that match any of PATTERNS."""
        return self._table.rank(weights, patterns, wanted)

    def add(self, documents: Iterable[Document]) -> None:
        """Add the prose of DOCUMENTS."""
        self._table.add(documents)

    def commit(self, batch: int, segments: Sequence[Any] = ()) -> None:
        """Nothing to do: the database commits."""

    def close(self) -> None:
        """Nothing to do: the database is closed by its owner."""

"""Fields in a full-text table of SQLite (FTS5): the code index, and prose for the sqlite engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from patchlore.index.engine import Document, Pattern, Phrase

# The words come cut and in lower case, so the simplest tokenizer does: blanks
# part them, and every other character that words.py lets into a word belongs
# to it. Non-ASCII characters always do.  So is ";", which stands alone where no
# phrase may go on (words.BREAK).
_TOKENIZER = "ascii tokenchars '_''&.,;+#'"

#: Bytes of postings that FTS5 gathers before it writes a segment; more of them are no faster.
_HASH_BYTES = 4 * 1024 * 1024


class FtsTable:
    """One table of an index: made, written and searched through the connection given."""

    def __init__(self, connection: sqlite3.Connection, name: str, fields: Sequence[str]) -> None:
        self.connection = connection
        self.name = name
        self.fields = tuple(fields)
        marks = ", ".join("?" * (len(self.fields) + 1))
        self._insert = f"INSERT INTO {name} (rowid, {', '.join(self.fields)}) VALUES ({marks})"

    def create(self) -> None:
        """Make the table. It keeps no text, only postings: the archive has the text."""
        self.connection.execute(
            f"CREATE VIRTUAL TABLE {self.name} USING fts5 ({', '.join(self.fields)}, "
            f"content = '', tokenize = \"{_TOKENIZER}\")"
        )

    def prepare_bulk(self) -> None:
        """Set the table up for adding many documents."""
        self.connection.execute(
            f"INSERT INTO {self.name} ({self.name}, rank) VALUES ('hashsize', ?)", (_HASH_BYTES,)
        )

    def add(self, documents: Iterable[Document]) -> None:
        """Add the fields of DOCUMENTS that this table holds; their numbers must be new."""
        self.connection.executemany(
            self._insert,
            (
                (document.number, *(document.fields.get(field) or None for field in self.fields))
                for document in documents
            ),
        )

    def has(self, number: int) -> bool:
        """Whether a document of this number was added."""
        row = self.connection.execute(
            f"SELECT 1 FROM {self.name}_docsize WHERE id = ?", (number,)
        ).fetchone()
        return row is not None

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        """The numbers of the documents with PATTERN in at least one of FIELDS."""
        match = self._match(fields, pattern)
        if match is None:
            return set()
        return {
            row[0]
            for row in self.connection.execute(
                f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH ?", (match,)
            )
        }

    def rank(
        self, weights: Mapping[str, float], patterns: Sequence[Pattern], wanted: Collection[int]
    ) -> dict[int, float]:
        """BM25 of the documents that match any of PATTERNS, with WEIGHTS by field."""
        matches = [self._match(weights, pattern) for pattern in patterns]
        match = " OR ".join(f"({one})" for one in matches if one)
        if not match:
            return {}
        factors = ", ".join(str(float(weights.get(field, 0.0))) for field in self.fields)
        rows = self.connection.execute(
            f"SELECT rowid, -bm25({self.name}, {factors}) FROM {self.name}"
            f" WHERE {self.name} MATCH ?",
            (match,),
        )
        return {number: score for number, score in rows if number in wanted}

    def _match(self, fields: Collection[str], pattern: Pattern) -> str | None:
        """The MATCH expression for PATTERN, or None where this table can't hold it."""
        mine = [field for field in self.fields if field in fields]
        if not mine or not pattern.words:
            return None
        if isinstance(pattern, Phrase):
            asked = quote(" ".join(pattern.words)) + (" *" if pattern.open_end else "")
        else:
            asked = "(" + " OR ".join(map(quote, pattern.words)) + ")"
        return f"{{{' '.join(mine)}}} : {asked}"


def quote(text: str) -> str:
    """Return a text as a string of FTS5's query syntax (https://www.sqlite.org/fts5.html, 3.1)."""
    return '"' + text.replace('"', '""') + '"'

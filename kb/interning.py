"""Texts that are stored once and named by a number: people, paths, lists, Message-IDs."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

#: How many texts are remembered between batches; memory must not grow with the archive.
_REMEMBERED = 65536


def next_id(connection: sqlite3.Connection, table: str) -> int:
    """Return the first row id of ``table`` that is free; there is only one writer."""
    return int(connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])


class Interned:
    """A table of texts with an ``id``: finds the id of a text, or gives it one.

    New rows are written by ``flush``, many at a time.
    """

    def __init__(
        self, connection: sqlite3.Connection, table: str, columns: tuple[str, ...]
    ) -> None:
        """Take the table and the columns that make a row unique."""
        self._connection = connection
        self._table = table
        condition = " AND ".join(f"{column} = ?" for column in columns)
        self._select = f"SELECT id FROM {table} WHERE {condition}"
        marks = ", ".join("?" * (len(columns) + 1))
        self._insert = f"INSERT INTO {table} (id, {', '.join(columns)}) VALUES ({marks})"
        self._ids: dict[tuple[str, ...], int] = {}
        self._new: list[tuple[object, ...]] = []
        self._next = next_id(connection, table)

    def id_of(self, texts: tuple[str, ...]) -> int:
        """Return the id of a row, a new one if there is none."""
        number = self._ids.get(texts)
        if number is None:
            row = self._connection.execute(self._select, texts).fetchone()
            if row is None:
                number = self._next
                self._next += 1
                self._new.append((number, *texts))
            else:
                number = int(row[0])
            self._ids[texts] = number
        return number

    def flush(self) -> None:
        """Write the rows that are new."""
        if self._new:
            self._connection.executemany(self._insert, self._new)
            self._new.clear()
        if len(self._ids) > _REMEMBERED:
            self._ids.clear()


class Names:
    """The tables of names that a writer keeps in mind from batch to batch."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take the connection of the writer."""
        self.people = Interned(connection, "person", ("name", "email", "masked"))
        self.paths = Interned(connection, "path", ("text",))
        self.roles = Interned(connection, "role", ("name",))
        self.lists = Interned(connection, "list", ("name",))
        self.sources = Interned(connection, "source", ("path", "format", "list"))

    def flush(self) -> None:
        """Write what is new in each table."""
        for table in (self.people, self.paths, self.roles, self.lists, self.sources):
            table.flush()


class _Mid(Struct):
    id: int
    thread: int
    is_new: bool


class MessageIds:
    """The table ``mid`` for one batch: ids of Message-IDs, and the threads that mails join."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take the connection of the writer."""
        self._connection = connection
        self._by_text: dict[str, _Mid] = {}
        self._by_id: dict[int, _Mid] = {}
        self._texts: dict[int, str] = {}
        #: Threads that became part of another: thread to the smaller one.
        self._joined: dict[int, int] = {}
        self._next = next_id(connection, "mid")

    def id_of(self, text: str) -> int:
        """Return the id of a Message-ID, a new one (and a thread of its own) if there is none."""
        mid = self._by_text.get(text)
        if mid is None:
            row = self._connection.execute(
                "SELECT id, thread FROM mid WHERE text = ?", (text,)
            ).fetchone()
            if row is None:
                mid = _Mid(self._next, self._next, True)
                self._texts[mid.id] = text
                self._next += 1
            else:
                mid = _Mid(row[0], row[1], False)
            self._by_text[text] = self._by_id[mid.id] = mid
        return mid.id

    def is_new(self, mid: int) -> bool:
        """Whether this batch was the first to see the Message-ID."""
        known = self._by_id.get(mid)
        return known is not None and known.is_new

    def join(self, one: int, other: int) -> None:
        """Make the threads of two Message-IDs one."""
        first, second = self._thread(one), self._thread(other)
        if first != second:
            self._joined[max(first, second)] = min(first, second)

    def flush(self) -> None:
        """Write new Message-IDs and the threads that were joined."""
        moved = [(self._root(thread), thread) for thread in self._joined]
        self._connection.executemany("UPDATE mid SET thread = ? WHERE thread = ?", moved)
        self._connection.executemany(
            "INSERT INTO mid VALUES (?, ?, ?)",
            [
                (number, text, self._root(self._by_id[number].thread))
                for number, text in self._texts.items()
            ],
        )

    def _thread(self, mid: int) -> int:
        known = self._by_id.get(mid)
        if known is None:
            row = self._connection.execute("SELECT thread FROM mid WHERE id = ?", (mid,)).fetchone()
            if row is None:
                raise sqlite3.DatabaseError(f"no such row in mid: {mid}")
            known = self._by_id[mid] = _Mid(mid, int(row[0]), False)
        return self._root(known.thread)

    def _root(self, thread: int) -> int:
        root = thread
        while root in self._joined:
            root = self._joined[root]
        while thread != root:  # shorten the way for the next one
            self._joined[thread], thread = root, self._joined[thread]
        return root

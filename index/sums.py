"""Checksums of an index: damage that leaves it readable would change answers in silence."""

from __future__ import annotations

import pathlib
import zlib
from collections.abc import Iterator, Mapping

from patchlore.index.database import WHOOSH_FOLDER, IndexDatabase

#: Begin the names of sums among the rows of the table ``state``.
_OF_FILE, _OF_TABLE = "sum of file ", "sum of table "

#: Tables of SQLite's whose content its own check does not look into.
_TABLES = ("code_data", "prose_data", "diff_trigram_data", "diff_block")

_AT_ONCE = 1 << 20


def forget_sums(database: IndexDatabase) -> None:
    """Forget what tables add up to, since they are about to change.

    Files of Whoosh's never change, so theirs are kept.
    """
    database.connection.execute("DELETE FROM state WHERE name GLOB ?", (f"{_OF_TABLE}*",))


def save_sums(database: IndexDatabase) -> None:
    """Note what the files and tables of the index add up to, as far as that is not known."""
    known = _known(database)
    sums = dict(_sums(database, known))
    if sums == known:
        return
    connection = database.connection
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM state WHERE name GLOB 'sum of *'")
    connection.executemany("INSERT INTO state VALUES (?, ?)", sums.items())
    connection.execute("COMMIT")


def wrong_sums(database: IndexDatabase) -> list[str]:
    """The files and tables that are not what they were when they were written."""
    known = _known(database)
    return [
        name.removeprefix("sum of ")
        for name, number in _sums(database, {})
        if known.get(name, number) != number
    ]


def _known(database: IndexDatabase) -> dict[str, int]:
    return dict(
        database.connection.execute("SELECT name, value FROM state WHERE name GLOB 'sum of *'")
    )


def _sums(database: IndexDatabase, known: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the sum of each file and table by its name; those KNOWN are not read again."""
    for path in sorted((database.path.parent / WHOOSH_FOLDER).glob("*.seg")):
        name = _OF_FILE + path.name
        yield name, known[name] if name in known else _sum_of_file(path)
    there = {name for (name,) in database.connection.execute("SELECT name FROM sqlite_schema")}
    for table in _TABLES:
        if table in there:
            name = _OF_TABLE + table
            yield name, known[name] if name in known else _sum_of_table(database, table)


def _sum_of_file(path: pathlib.Path) -> int:
    number = 0
    with path.open("rb") as file:
        while data := file.read(_AT_ONCE):
            number = zlib.crc32(data, number)
    return number


def _sum_of_table(database: IndexDatabase, table: str) -> int:
    number = 0
    for row in database.connection.execute(f"SELECT * FROM {table} ORDER BY id"):
        for value in row:
            data = value if isinstance(value, bytes) else str(value).encode()
            number = zlib.crc32(data, number)
    return number

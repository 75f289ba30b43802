"""Archives of older schema versions: which steps lead to the newest one, and taking them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from importlib import resources

_CREATE = re.compile(r"^CREATE (?:UNIQUE )?(?:TABLE|INDEX|VIEW) (\w+)", re.MULTILINE)


def schema() -> str:
    """Return kb/schema.sql: the tables of a new archive."""
    return resources.files("patchlore.kb").joinpath("schema.sql").read_text("utf-8")


def can_upgrade(version: int) -> bool:
    """Whether an archive of this version becomes a new one by adding tables alone."""
    return version >= 1


def missing(connection: sqlite3.Connection) -> list[str]:
    """Return the tables, indexes and views of schema.sql that a database lacks."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    return [name for name, _ in _statements(schema()) if name not in there]


def upgrade(connection: sqlite3.Connection, version: int, newest: int) -> None:
    """Add to an archive of ``version`` the tables that it lacks, in one transaction.

    What is there stays as it is; facts that are shaped in another way now are
    redone by the next ingest (patchlore.kb.redoing).  Raises sqlite3.Error;
    then nothing was changed.
    """
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    try:
        connection.execute("BEGIN IMMEDIATE")
        for name, statement in _statements(schema()):
            if name not in there:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each CREATE statement."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if ";" in line and sqlite3.complete_statement(statement):
            made = _CREATE.search(statement)
            if made is not None:
                yield made[1], statement[made.start() :]
            statement = ""

"""The version of the schema is raised whenever tables change: older archives are then upgraded."""

from __future__ import annotations

import hashlib
import pathlib
import sqlite3

from patchlore.kb.database import database_path
from patchlore.kb.store import SCHEMA_VERSION, Archive
from patchlore.kb.upgrading import schema

#: The tables of each version, as a hash of what SQLite makes of kb/schema.sql.
#: Who changes a table raises SCHEMA_VERSION (and FACTS_VERSION, when rows change)
#: in kb/store.py and adds a line here; lines of released versions never change.
DIGESTS = {3: "44f1fcd35940abaf", 4: "bded72a33a2def8e", 5: "9f28c26f69e97fcb"}


def digest() -> str:
    """Return the hash of the tables, without comments and white space."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    made = [
        "".join(line.partition("--")[0] for line in sql.splitlines(keepends=True))
        for (sql,) in connection.execute(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        )
    ]
    connection.close()
    return hashlib.sha256(" ".join(" ".join(made).split()).encode()).hexdigest()[:16]


def test_the_version_belongs_to_the_tables() -> None:
    """Changed tables under the same version would break the archives of those who have one."""
    assert DIGESTS[SCHEMA_VERSION] == digest()


def test_missing_tables_are_added_whatever_the_version_was(tmp_path: pathlib.Path) -> None:
    """An archive of version 1 from before a table was added gets that table, too."""
    with Archive(tmp_path, write=True) as archive:
        for table in ("shortlog", "taken", "page"):
            archive.execute(f"DROP TABLE {table}")
        archive.execute("PRAGMA user_version = 1")
    with Archive(tmp_path, write=True) as archive:
        names = {name for (name,) in archive.execute("SELECT name FROM sqlite_schema")}
    assert {"shortlog", "taken", "page", "page_url", "shortlog_message"} <= names
    assert database_path(tmp_path).exists()

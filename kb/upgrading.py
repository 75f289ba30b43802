"""Archives of older schema versions: which steps lead to the newest one, and taking them."""

from __future__ import annotations

import re
import sqlite3
from importlib import resources

#: Where the part of kb/schema.sql begins that a version added.
_SINCE = re.compile(r"^-- ---- since version (\d+):", re.MULTILINE)


def schema() -> str:
    """Return kb/schema.sql: the tables of a new archive."""
    return resources.files("patchlore.kb").joinpath("schema.sql").read_text("utf-8")


def can_upgrade(version: int) -> bool:
    """Whether an archive of this version becomes a new one by adding tables alone."""
    return version >= 1


def upgrade(connection: sqlite3.Connection, version: int, newest: int) -> None:
    """Add to an archive of ``version`` what newer ones have, in one transaction.

    What is there stays as it is.  Raises sqlite3.Error; then nothing was changed.
    """
    script = schema()
    parts = list(_SINCE.finditer(script))
    added = [
        script[part.start() : after]
        for part, after in zip(
            parts, [*(part.start() for part in parts[1:]), len(script)], strict=True
        )
        if version < int(part[1]) <= newest
    ]
    try:
        connection.executescript(
            "BEGIN IMMEDIATE;\n" + "\n".join(added) + f"\nPRAGMA user_version = {newest};\nCOMMIT;"
        )
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

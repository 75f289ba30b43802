"""Archives as values that can be compared: every row of every table, or what the facts are."""

from __future__ import annotations

from typing import Any

import msgspec

from patchlore.kb.store import Archive
from tests.kb.mails import source

#: What may differ between archives of the same mails: order of arrival, compression.
_VOLATILE = ("revision", "data")


def dump(archive: Archive, *, revisions: bool = True) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all tables by name; blobs of content as what they unpack to."""
    tables = [
        name
        for (name,) in archive.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        )
    ]
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for table in tables:
        columns = [row[1] for row in archive.execute(f"PRAGMA table_info({table})")]
        if not revisions:
            columns = [name for name in columns if name != "revision"]
        if table in ("content", "raw", "dictionary"):
            columns = [name for name in columns if name != "data"]
        if table in ("commit_ref", "bug_ref"):
            columns = [name for name in columns if name != "id"]
        rows[table] = sorted(
            archive.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall(), key=repr
        )
    if not revisions:
        rows["meta"] = [row for row in rows["meta"] if row[0] != "revision"]
    contents = archive.execute("SELECT message FROM content ORDER BY message").fetchall()
    rows["unpacked"] = [
        (id_, archive.raw(id_), msgspec.json.encode(archive.message(id_)).decode())
        for (id_,) in contents
    ]
    return rows


def facts(archive: Archive) -> list[tuple[Any, ...]]:
    """Return what an archive knows, whatever the order in which the mails came.

    Each message by its key with its facts, its lists, its copies and those
    Message-IDs that its thread has.
    """
    threads: dict[int, list[str]] = {}
    for text, thread in archive.execute("SELECT text, thread FROM mid ORDER BY text"):
        threads.setdefault(thread, []).append(text)
    found = []
    for id_, key, thread in archive.execute("SELECT id, key, thread FROM mail ORDER BY key"):
        made = msgspec.structs.replace(archive.message(id_), source=source())
        copies = archive.execute(
            "SELECT hex(sha256), fidelity FROM copy WHERE message = ? ORDER BY 1, 2", (id_,)
        ).fetchall()
        lists = archive.execute(
            "SELECT name FROM message_list JOIN list ON list.id = list WHERE message = ?"
            " ORDER BY name",
            (id_,),
        ).fetchall()
        found.append((key, made, archive.raw(id_), copies, lists, threads[thread]))
    return found


#: What stands for a row of a table whose ids depend on the order of writing.
_NAMES = {
    "mid": "text",
    "person": "name || '|' || email || '|' || masked",
    "path": "text",
    "list": "name",
    "role": "name",
    "source": "path || '|' || format || '|' || list",
    "message": "(SELECT text FROM mid WHERE mid.id = message.mid) || '#' || ordinal",
    "copy": (
        "(SELECT path FROM source WHERE source.id = copy.source) || '|' || offset || '|' ||"
        " hex(sha256)"
    ),
    "listing": "path",
    "git_tree": "name",
    "git_ref": "(SELECT name FROM git_tree WHERE git_tree.id = tree) || kind || name",
    "git_commit": "sha",
    "git_place": "text",
}


def canonical(archive: Archive) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables with names in the place of ids.

    Two archives of the same mails are equal so, in whatever batches they were filled.
    """
    named = {
        table: dict(archive.execute(f"SELECT id, {expression} FROM {table}").fetchall())
        for table, expression in _NAMES.items()
    }
    named["thread"] = dict(
        archive.execute("SELECT thread, min(text) FROM mid GROUP BY thread").fetchall()
    )
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for (table,) in archive.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ).fetchall():
        parents = {row[3]: row[2] for row in archive.execute(f"PRAGMA foreign_key_list({table})")}
        if table == "mid":
            parents["thread"] = "thread"
        if table == "message":
            parents["best_copy"] = "copy"
        columns = [
            row[1]
            for row in archive.execute(f"PRAGMA table_info({table})")
            if row[1] not in ("id", "revision", "data")
        ]
        found = archive.execute(f"SELECT {', '.join(columns) or '1'} FROM {table}").fetchall()
        rows[table] = sorted(
            (
                tuple(
                    named[parents[column]].get(value, value) if column in parents else value
                    for column, value in zip(columns, row, strict=True)
                )
                if columns
                else row
                for row in found
            ),
            key=repr,
        )
    rows["unpacked"] = sorted(
        (
            named["message"][id_],
            archive.raw(id_),
            msgspec.json.encode(archive.message(id_)).decode(),
        )
        for id_ in named["message"]
    )
    return rows


#: What is of an archive and not of the mails in it.
_OWN = ("source", "copy", "raw", "mark", "meta", "dictionary", "unpacked")


def said(archive: Archive) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows that do not tell where copies were found, and every Message without that."""
    rows = {table: found for table, found in canonical(archive).items() if table not in _OWN}
    for table, column in (("message", "best_copy"), ("message_place", "source")):
        names = [row[1] for row in archive.execute(f"PRAGMA table_info({table})")]
        names = [name for name in names if name not in ("id", "revision", "data")]
        at = names.index(column)
        rows[table] = sorted({(*row[:at], *row[at + 1 :]) for row in rows[table]}, key=repr)
    rows["patchwork"] = archive.execute(
        "SELECT mail.key, data FROM patchwork JOIN mail ON mail.id = message ORDER BY 1, 2"
    ).fetchall()
    made = []
    for id_, key in archive.execute("SELECT id, key FROM mail ORDER BY key").fetchall():
        message = archive.message(id_)
        for inner in (message, *message.nested):
            inner.source = source()
        made.append((key, msgspec.json.encode(message).decode()))
    rows["said"] = made
    return rows

"""Archives of older schema versions."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.kb.backports import backports
from patchlore.kb.database import database_path
from patchlore.kb.errors import ArchiveError
from patchlore.kb.filling import fill
from patchlore.kb.store import SCHEMA_VERSION, Archive
from tests.kb.attachments import BOTH
from tests.kb.dumping import canonical
from tests.kb.mails import UPSTREAM, message, raw_of

ADDED_BY_2 = ("edge", "git_stable_note", "git_cve", "git_link", "git_bug_ref", "git_commit_ref",
              "git_place_ref", "git_place", "git_commit", "git_ref", "git_tree")  # fmt: skip

ADDED_BY_4 = ("vulnerability",)
ADDED_BY_5 = ("git_filed", "git_file", "listed", "listing", "patchwork", "message_place",
              "attached_ref", "attached_range", "attached_tree", "attached")  # fmt: skip

QUEUED = f"""\
From: Ada Quill <ada@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0000
Subject: tick: use two

commit {UPSTREAM} upstream.

Let it tick twice.
---
--- a/tick.c
+++ b/tick.c
@@ -1 +1 @@
-one
+two
"""


def test_an_archive_of_version_3_gets_the_facts_of_version_5(tmp_path: pathlib.Path) -> None:
    """The next ingest, of nothing new even, redoes them from raw mail and paths."""
    folder = tmp_path / "queue-5.10"
    folder.mkdir()
    (folder / "tick.patch").write_text(QUEUED)
    (tmp_path / "both.eml").write_bytes(BOTH)
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, [str(folder), str(tmp_path / "both.eml")], jobs=0)
        whole = canonical(archive)
        for table in ADDED_BY_5 + ADDED_BY_4:
            archive.execute(f"DROP TABLE {table}")
        archive.execute("PRAGMA user_version = 3")
        archive.execute("UPDATE meta SET value = 3 WHERE name = 'facts'")
    with Archive(tmp_path / "a", write=True) as archive:
        assert archive.value("PRAGMA user_version") == SCHEMA_VERSION
        fill(archive, [], jobs=0)
        again = canonical(archive)
        assert [row.state for row in backports(archive, "5.10")] == ["queued"]
    assert again.pop("meta") != whole.pop("meta")  # revisions went on
    assert again == whole


def make_old(path: pathlib.Path) -> None:
    """Make an archive of version 1 with one mail in it."""
    made = message()
    with Archive(path, write=True) as archive:
        archive.add([made], [raw_of(made)])
        for table in ADDED_BY_2:
            archive.execute(f"DROP TABLE {table}")
        archive.execute("PRAGMA user_version = 1")


def test_a_writer_upgrades_an_older_archive(tmp_path: pathlib.Path) -> None:
    """Opened for writing, an archive of version 1 gets the new tables and keeps its mails."""
    make_old(tmp_path)
    with Archive(tmp_path, write=True) as archive:
        assert archive.value("PRAGMA user_version") == SCHEMA_VERSION
        assert archive.value("SELECT count(*) FROM git_commit") == 0
        assert archive.value("SELECT count(*) FROM message") == 1


def test_an_upgraded_archive_has_the_schema_of_a_new_one(tmp_path: pathlib.Path) -> None:
    """Tables and indexes are the same whichever way the archive came to its version."""
    make_old(tmp_path / "old")
    sql = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
    with (
        Archive(tmp_path / "old", write=True) as old,
        Archive(tmp_path / "new", write=True) as new,
    ):
        assert old.execute(sql).fetchall() == new.execute(sql).fetchall()


def test_a_reader_is_told_how_to_upgrade(tmp_path: pathlib.Path) -> None:
    """Opened for reading, an older archive is refused with the way out."""
    make_old(tmp_path)
    with pytest.raises(ArchiveError, match="ingest SOURCE"):
        Archive(tmp_path)


def test_a_failed_upgrade_changes_nothing(tmp_path: pathlib.Path) -> None:
    """A table of the new name that is in the way leaves the old version as it was."""
    make_old(tmp_path)
    import sqlite3

    connection = sqlite3.connect(database_path(tmp_path))
    connection.execute("CREATE TABLE edge (x)")
    connection.commit()
    connection.close()
    with pytest.raises(ArchiveError):
        Archive(tmp_path, write=True)
    with sqlite3.connect(database_path(tmp_path)) as again:
        assert again.execute("PRAGMA user_version").fetchone() == (1,)
        tables = again.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'git_tree'")
        assert tables.fetchone() == (0,)
    again.close()

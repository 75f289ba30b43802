"""An ingest that is killed at any moment loses nothing, doubles nothing, and can be resumed.

The suite kills ten times; PATCHLORE_KILLS=200 is for a machine with time.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import sqlite3
import time
import traceback
from collections.abc import Callable

import pytest

from patchlore.kb import filling, git_filling
from patchlore.kb.checking import check
from patchlore.kb.database import FILE_NAME
from patchlore.kb.errors import ArchiveError, NoArchiveError
from patchlore.kb.filling import fill
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.kb.dumping import canonical
from tests.kb.git_repositories import Repository
from tests.kb.letters import write_mails, write_mbox

KILLS = int(os.environ.get("PATCHLORE_KILLS", "10"))

#: Mails in the sources; small batches make many moments between two of them.
MAILS, BATCH = 150, 4


#: Commits of the tree, and how many are stored together.
COMMITS, TREE_BATCH = 40, 3


def start(archive: pathlib.Path, read: Callable[[Archive], object]) -> int:
    """Start an ingest in a process of its own and return its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        with opened(archive) as writable:
            read(writable)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def opened(path: pathlib.Path) -> Archive:
    """Open an archive for writing, when the programs that a killed writer ran have ended.

    A git that it had just started holds its lock for a moment.
    """
    deadline = time.monotonic() + 10
    while True:
        try:
            return Archive(path, write=True)
        except ArchiveError as error:
            if "Another patchlore" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.001)


def ended(child: int, seconds: float) -> bool:
    """Whether the process ends by itself within that time; it is killed otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            assert status == 0
            return True
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def killed(tmp_path: pathlib.Path, read: Callable[[Archive], object], table: str) -> None:
    """Kill a reading at random moments, go on with it, and compare every row in the end.

    A reader that looks in between always sees a whole archive, whose ``table`` grows.
    """
    begin = time.monotonic()
    with Archive(tmp_path / "whole", write=True) as archive:
        read(archive)
        whole = canonical(archive)
        span = time.monotonic() - begin
    chance = random.Random(20240102)
    kills = rounds = 0
    while kills < KILLS:
        rounds += 1
        path = tmp_path / f"killed-{rounds}"
        seen = 0
        while not ended(start(path, read), chance.uniform(0.0, span)):
            kills += 1
            try:
                with Archive(path) as archive:
                    number = archive.value(f"SELECT count(*) FROM {table}")
                    messages = archive.value("SELECT count(*) FROM message")
                    assert messages == archive.value("SELECT count(*) FROM content")
            except NoArchiveError:
                continue  # killed before there was a table
            assert seen <= number
            seen = number
        with Archive(path) as archive:
            assert canonical(archive) == whole
            assert check(archive).is_sound


def test_a_killed_ingest_is_resumed_row_by_row(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive equals one that was filled without interruption, in every table."""
    monkeypatch.setattr(filling, "BATCH_MAILS", BATCH)
    write_mbox(tmp_path / "mail" / "box.mbox", MAILS)
    write_mails(tmp_path / "mail" / "files", MAILS // 3)
    killed(tmp_path, lambda archive: fill(archive, [str(tmp_path / "mail")], jobs=0), "message")


def test_a_killed_reading_of_a_tree_is_resumed_row_by_row(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits, their files and patch ids, refs, places: as without interruption."""
    monkeypatch.setattr(git_filling, "BATCH", TREE_BATCH)
    monkeypatch.setattr(git_filling, "_PATCH_BATCH", TREE_BATCH)
    repository = Repository(tmp_path / "clock")
    for number in range(COMMITS):
        repository.commit(f'tick: use {number}\n\nFixes: {number:012x} ("tick: begin")\n')
        if number % 10 == 5:
            repository.tag(f"v5.{number}")
    path = str(repository.folder)
    killed(
        tmp_path,
        lambda archive: fill_tree(archive, "mainline", path, patch_ids=True),
        "git_commit",
    )


def test_a_reader_takes_back_what_a_killed_writer_left_half_done(tmp_path: pathlib.Path) -> None:
    """While a new database becomes one with a log of its own, SQLite keeps a journal.

    Killed in that moment, the writer leaves the journal; who only reads finds the archive
    as it was before, and so does the next writer.
    """
    with Archive(tmp_path, write=True) as archive:
        fill(archive, [], jobs=0)
        before = canonical(archive)
    child = os.fork()
    if not child:
        connection = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        for number in range(3000):
            connection.execute("INSERT INTO mark VALUES (?, ?)", (f"{number}" * 50, "x" * 500))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert (tmp_path / f"{FILE_NAME}-journal").stat().st_size
    with Archive(tmp_path) as archive:
        assert canonical(archive) == before
    with Archive(tmp_path, write=True) as archive:
        assert check(archive).is_sound

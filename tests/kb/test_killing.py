"""An ingest that is killed at any moment loses nothing, doubles nothing, and can be resumed.

The suite kills ten times; PATCHLORE_KILLS=200 is for a machine with time.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import time

import pytest

from patchlore.kb import filling
from patchlore.kb.checking import check
from patchlore.kb.errors import NoArchiveError
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive
from tests.kb.dumping import canonical
from tests.kb.letters import write_mails, write_mbox

KILLS = int(os.environ.get("PATCHLORE_KILLS", "10"))

#: Mails in the sources; small batches make many moments between two of them.
MAILS, BATCH = 150, 4


def start(archive: pathlib.Path, sources: list[str]) -> int:
    """Start an ingest in a process of its own and return its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        with Archive(archive, write=True) as opened:
            fill(opened, sources, jobs=0)
        status = 0
    finally:
        os._exit(status)


def ended(child: int, seconds: float) -> bool:
    """Whether the process ends by itself within that time; it is killed otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_a_killed_ingest_is_resumed_row_by_row(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive equals one that was filled without interruption, in every table.

    A reader that looks in between always sees a whole archive.
    """
    monkeypatch.setattr(filling, "BATCH_MAILS", BATCH)
    write_mbox(tmp_path / "mail" / "box.mbox", MAILS)
    write_mails(tmp_path / "mail" / "files", MAILS // 3)
    sources = [str(tmp_path / "mail")]
    begin = time.monotonic()
    with Archive(tmp_path / "whole", write=True) as archive:
        fill(archive, sources, jobs=0)
        whole = canonical(archive)
        span = time.monotonic() - begin
    chance = random.Random(20240102)
    kills = rounds = 0
    while kills < KILLS:
        rounds += 1
        path = tmp_path / f"killed-{rounds}"
        seen = 0
        while not ended(start(path, sources), chance.uniform(0.0, span)):
            kills += 1
            try:
                with Archive(path) as archive:
                    number = archive.value("SELECT count(*) FROM message")
                    contents = archive.value("SELECT count(*) FROM content")
            except NoArchiveError:
                continue  # killed before there was a table
            assert seen <= number == contents
            seen = number
        with Archive(path) as archive:
            assert canonical(archive) == whole
            assert check(archive).is_sound

"""Documents made in several processes are those that one process makes; what befalls a process."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal

import pytest

from patchlore.index import indexing, making
from patchlore.index.database import ENGINES
from patchlore.index.errors import IndexingError
from patchlore.index.indexing import SEGMENT_FOLDER, count_unindexed, update_index
from patchlore.index.making import Makers, default_jobs
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive
from tests.index.letters import fill_archive, letters, mail

QUERIES = (
    "ring", "s:ring", "night", '"the ring"', "dfb:ring", "q:ring", "dfn:ring.c", "number*",
    "words7", "/ring/", "nq:shared -words3",
)  # fmt: skip


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine."""
    return str(request.param)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes for any archive, with segments of a few messages."""
    monkeypatch.setattr(indexing, "default_jobs", lambda total: 2)
    monkeypatch.setattr(making, "SEGMENT", 4)


def fill(path: pathlib.Path, number: int = 21) -> None:
    """Make an archive of the letters and NUMBER mails more."""
    more = [
        mail(number, f"Number {number}", f"shared words{number} of number{number}\n")
        for number in range(100, 100 + number)
    ]
    fill_archive(path, [*letters(), *more])


def answers(path: pathlib.Path) -> dict[str, set[int]]:
    """Return what each query finds, and what BM25 has to order."""
    with Archive(path) as archive, Searcher(archive) as searcher:
        found = {query: searcher.find(query) for query in QUERIES}
        found["rank"] = {
            hit.message for hit in searcher.search("shared", sort="rank", limit=0).hits
        }
    return found


def test_processes_make_the_same_index(
    tmp_path: pathlib.Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All queries find the same, over several batches, and nothing is left behind."""
    fill(tmp_path / "many")
    fill(tmp_path / "one")
    total = update_index(tmp_path / "many", engine=engine)
    monkeypatch.setattr(indexing, "default_jobs", lambda total: 0)
    assert update_index(tmp_path / "one", engine=engine) == total
    assert answers(tmp_path / "many") == answers(tmp_path / "one")
    assert not (tmp_path / "many" / "index" / SEGMENT_FOLDER).exists()
    assert update_index(tmp_path / "many") == 0


def test_a_process_that_is_killed_is_done_without(tmp_path: pathlib.Path, engine: str) -> None:
    """The batch is begun again in the one process that is left, and nothing is doubled."""
    fill(tmp_path)
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if done and not killed:
            for process in list(multiprocessing.active_children()):
                if process.name.startswith("index-") and process.pid is not None:
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)

    total = update_index(tmp_path, kill, engine=engine)
    assert len(killed) == 2
    with Archive(tmp_path) as archive:
        assert total == archive.value("SELECT count(*) FROM message")
        assert count_unindexed(archive) == 0
    assert len(answers(tmp_path)["nq:shared -words3"]) == 21


def test_what_a_process_can_not_do_is_told(
    tmp_path: pathlib.Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damage that a process meets is the sentence that it is without one."""
    fill(tmp_path)
    with Archive(tmp_path, write=True) as archive:
        archive.execute("UPDATE content SET data = x'00' WHERE message = 9")
    with pytest.raises(IndexingError, match=r"Message 9 in the archive .* is damaged"):
        update_index(tmp_path, engine=engine)


def test_processes_end_when_they_are_closed(tmp_path: pathlib.Path) -> None:
    """Also in the middle of their work."""
    fill(tmp_path)
    makers = Makers(tmp_path, 2, None)
    tasks = [(number, number) for number in range(1, 9)]
    assert next(makers.make(tasks, [], 1)).documents
    makers.close()
    assert not [
        process
        for process in multiprocessing.active_children()
        if process.name.startswith("index-")
    ]


def test_few_messages_are_made_here() -> None:
    """A daily update starts no process."""
    assert default_jobs(100) == 0
    assert default_jobs(1_000_000) <= making.MOST_JOBS

"""Ingest from files to the archive: idempotent, safe, complete whatever happens on the way."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb import filling, parsing
from patchlore.kb.checking import check
from patchlore.kb.database import database_path
from patchlore.kb.errors import ArchiveError
from patchlore.kb.filling import Summary, fill
from patchlore.kb.parsing import PARSER_ERROR, Work, Workers
from patchlore.kb.store import Archive

MAIL = """\
From: Ada Quill <ada@example.org>
Date: Tue, 2 Jan 2024 03:{minute:02}:05 +0000
Subject: [PATCH {number}/9] tick: use {number}
Message-ID: <{number}@example.org>
List-Id: <widgets.example.org>

Let the clock tick {number} times.

Fixes: 0123456789ab ("tick: begin")
Signed-off-by: Ada Quill <ada@example.org>
---
 tick.c | 2 +-

diff --git a/tick.c b/tick.c
index 5626abf..f719efd 100644
--- a/tick.c
+++ b/tick.c
@@ -1 +1 @@
-one
+{number}
"""


def mail(number: int) -> str:
    """Return a patch mail."""
    return MAIL.format(number=number, minute=number % 60)


def mbox(path: pathlib.Path, *numbers: int) -> pathlib.Path:
    """Write an mbox of mails."""
    separator = "From ada@example.org Tue Jan  2 03:04:05 2024\n"
    path.write_text("".join(f"{separator}{mail(number)}\n" for number in numbers))
    return path


def run(archive: pathlib.Path, *sources: pathlib.Path, **options: Any) -> Summary:
    """Ingest sources in this process."""
    with Archive(archive, write=True) as opened:
        return fill(opened, [str(path) for path in sources], **{"jobs": 0, **options})


def count(archive: pathlib.Path, table: str) -> int:
    """Return the number of rows of a table."""
    with Archive(archive) as opened:
        return int(opened.value(f"SELECT count(*) FROM {table}"))


def test_a_second_run_adds_nothing(tmp_path: pathlib.Path) -> None:
    """Unchanged sources cost nothing, changed ones only what is new in them."""
    box = mbox(tmp_path / "a.mbox", 1, 2, 3)
    first = run(tmp_path / "archive", box)
    assert (first.read, first.new, first.merged) == (3, 3, 0)
    again = run(tmp_path / "archive", box)
    assert (again.new, again.merged) == (0, 0)
    mbox(box, 1, 2, 3, 4)
    more = run(tmp_path / "archive", box)
    assert (more.new, more.merged) == (1, 0)
    assert count(tmp_path / "archive", "copy") == 4


def test_mails_before_the_known_ones_double_nothing(tmp_path: pathlib.Path) -> None:
    """When a mailbox grows at its head all offsets move; its copies follow."""
    box = mbox(tmp_path / "a.mbox", 2, 3)
    run(tmp_path / "archive", box)
    mbox(box, 1, 2, 3)
    summary = run(tmp_path / "archive", box)
    assert (summary.new, summary.merged) == (1, 0)
    with Archive(tmp_path / "archive") as archive:
        offsets = archive.execute("SELECT offset FROM copy ORDER BY message").fetchall()
    assert len(offsets) == 3
    assert len(set(offsets)) == 3


def test_a_copy_in_another_file_is_merged(tmp_path: pathlib.Path) -> None:
    """The same mail in two files is one message with two sightings."""
    boxes = [mbox(tmp_path / "a.mbox", 1), mbox(tmp_path / "b.mbox", 1, 2)]
    summary = run(tmp_path / "archive", *boxes)
    assert (summary.read, summary.new, summary.merged) == (3, 2, 1)
    assert count(tmp_path / "archive", "source") == 2


def test_what_cannot_be_read_is_told_and_the_rest_is_read(tmp_path: pathlib.Path) -> None:
    """A source that is not there does not keep the others out."""
    problems: list[str] = []
    summary = run(
        tmp_path / "archive",
        tmp_path / "absent",
        mbox(tmp_path / "a.mbox", 1),
        on_problem=lambda problem: problems.append(problem.text),
    )
    assert summary.new == 1
    assert len(problems) == 1
    assert "absent" in problems[0]


def test_the_list_name_is_kept(tmp_path: pathlib.Path) -> None:
    """--list puts every mail of the source on that list."""
    run(tmp_path / "archive", mbox(tmp_path / "a.mbox", 1), list_name="clocks")
    with Archive(tmp_path / "archive") as archive:
        names = {name for (name,) in archive.execute("SELECT name FROM list")}
    assert "clocks" in names


def test_a_mail_that_breaks_the_parser_is_kept(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found under its Message-ID, says what happened, and its bytes are whole."""
    real = parse_raw

    def broken(raw: Raw) -> Message:
        if b"<2@example.org>" in raw.data:
            raise ZeroDivisionError("no clock")
        return real(raw)

    monkeypatch.setattr(parsing, "parse_raw", broken)
    summary = run(tmp_path / "archive", mbox(tmp_path / "a.mbox", 1, 2, 3))
    assert (summary.new, summary.damaged) == (3, 1)
    with Archive(tmp_path / "archive") as archive:
        id_ = archive.value("SELECT id FROM mail WHERE message_id = '2@example.org'")
        assert archive.message(id_).defects[0].code == PARSER_ERROR
        assert archive.raw(id_).rstrip() == mail(2).encode().rstrip()


def test_a_mail_that_kills_its_process_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a worker dies, its mails are tried one by one; only the fatal one is given up."""

    def start(self: Workers, raws: list[Raw]) -> Future[bytes]:
        future: Future[bytes] = Future()
        if any(b"<2@" in raw.data for raw in raws):
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(parsing._parse_remote(raws))
        return future

    monkeypatch.setattr(Workers, "_start", start)
    source = Source(path="a.mbox", format="mbox")
    raws = [Raw(data=mail(number).encode(), source=source) for number in range(5)]
    with Workers(1, inline_bytes=0) as workers:
        workers.submit(raws[:3])
        workers.submit(raws[3:])
        chunks: list[list[Work]] = list(workers.results())
    assert [[work.shaped.malformed for work in chunk] for chunk in chunks] == [
        [False, False, True],
        [False, False],
    ]
    assert chunks[0][2].shaped.message_id == "2@example.org"


def test_worker_processes_give_what_this_process_gives(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With workers the archive equals one that was filled without them."""
    monkeypatch.setattr(filling, "INLINE_BYTES", 0)
    monkeypatch.setattr(filling, "BATCH_MAILS", 4)
    box = mbox(tmp_path / "a.mbox", *range(10))
    run(tmp_path / "one", box, jobs=0)
    run(tmp_path / "two", box, jobs=2)
    assert dump(tmp_path / "one") == dump(tmp_path / "two")


def dump(archive: pathlib.Path) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of an archive, blobs as what they hold."""
    with Archive(archive) as opened:
        tables = [
            name
            for (name,) in opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        rows = {
            table: sorted(map(tuple, opened.execute(f"SELECT * FROM {table}")), key=repr)
            for table in tables
            if table not in ("content", "raw", "dictionary", "meta")
        }
        rows["content"] = [
            (id_, content.raw, bytes(content.facts))
            for id_, content in opened.contents(
                id_ for (id_,) in opened.execute("SELECT id FROM message ORDER BY id").fetchall()
            )
        ]
    return rows


def test_a_full_disk_leaves_the_archive_whole(tmp_path: pathlib.Path) -> None:
    """What was stored before stays, the message says what to do, the next run goes on."""
    run(tmp_path / "archive", mbox(tmp_path / "a.mbox", 1))
    box = mbox(tmp_path / "b.mbox", *range(2, 400))
    with Archive(tmp_path / "archive", write=True) as archive:
        pages = archive.value("PRAGMA page_count")
        archive.execute(f"PRAGMA max_page_count = {pages + 10}")
        with pytest.raises(ArchiveError, match="No space is left"):
            fill(archive, [str(box)], jobs=0)
    with Archive(tmp_path / "archive") as archive:
        assert check(archive).is_sound
        assert archive.value("SELECT count(*) FROM message") == 1
    assert run(tmp_path / "archive", box).new == 398


FILL = """\
import sys
from patchlore.kb import filling
from patchlore.kb.store import Archive
filling.BATCH_MAILS = 7
with Archive(sys.argv[1], write=True) as archive:
    print("go", flush=True)
    filling.fill(archive, sys.argv[2:], jobs=0)
"""


def test_a_killed_ingest_is_completed_by_the_next(tmp_path: pathlib.Path) -> None:
    """After SIGKILL at several moments the archive equals one that was never interrupted."""
    box = mbox(tmp_path / "a.mbox", *range(300))
    run(tmp_path / "whole", box)
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
        with subprocess.Popen(
            [sys.executable, "-c", FILL, str(tmp_path / "killed"), str(box)],
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
    run(tmp_path / "killed", box)
    whole, killed = dump(tmp_path / "whole"), dump(tmp_path / "killed")
    assert {table: len(rows) for table, rows in killed.items()} == {
        table: len(rows) for table, rows in whole.items()
    }
    assert killed["content"] == whole["content"]
    assert killed["copy"] == whole["copy"]
    with Archive(tmp_path / "killed") as archive:
        assert check(archive).is_sound


TELL_WORKERS = """\
import multiprocessing, sys
from patchlore.kb import filling
from patchlore.kb.store import Archive

def tell(read):
    print(*[child.pid for child in multiprocessing.active_children()], flush=True)

if __name__ == "__main__":
    filling.BATCH_MAILS, filling.INLINE_BYTES = 10, 0
    with Archive(sys.argv[1], write=True) as archive:
        filling.fill(archive, sys.argv[2:], jobs=1, on_progress=tell)
"""


def test_workers_end_with_a_killed_ingest(tmp_path: pathlib.Path) -> None:
    """No process is left behind when the ingest that started it is killed."""
    box = mbox(tmp_path / "a.mbox", *range(2000))
    script = tmp_path / "tell.py"
    script.write_text(TELL_WORKERS)
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "archive"), str(box)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    assert workers
    deadline = time.monotonic() + 30
    while any(is_alive(pid) for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Whether a process is there; one that has ended but was not waited for is not."""
    try:
        os.kill(pid, 0)
        state = pathlib.Path("/proc", str(pid), "stat")
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except OSError:
        return False


def test_check_finds_a_changed_mail(tmp_path: pathlib.Path) -> None:
    """A raw mail that no longer has its hash is named."""
    run(tmp_path / "archive", mbox(tmp_path / "a.mbox", 1, 2))
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.execute("UPDATE content SET data = (SELECT data FROM content WHERE message = 1)")
        report = check(archive)
    assert report.faults == ["message 2: raw mail or facts are damaged (hash differs)"]


def test_check_finds_a_lost_row(tmp_path: pathlib.Path) -> None:
    """Rows that name what does not exist are found, and a message without its mail."""
    run(tmp_path / "archive", mbox(tmp_path / "a.mbox", 1, 2))
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.execute("DELETE FROM content WHERE message = 1")
        archive.execute("DELETE FROM path")
        report = check(archive)
    assert any("table file" in fault for fault in report.faults)
    assert any("message 1" in fault for fault in report.faults)


def test_check_finds_torn_pages(tmp_path: pathlib.Path) -> None:
    """A file with overwritten pages is damaged, not trusted."""
    run(tmp_path / "archive", mbox(tmp_path / "a.mbox", *range(50)))
    path = database_path(tmp_path / "archive")
    data = bytearray(path.read_bytes())
    start = len(data) - 8192 * 8  # past the schema: the file still opens
    data[start:] = b"\xff" * (len(data) - start)
    path.write_bytes(data)
    with Archive(tmp_path / "archive") as archive:
        assert not check(archive).is_sound


def test_the_summary_line_has_its_form() -> None:
    """Other programs read this line."""
    summary = Summary(read=12, new=10, merged=1, damaged=1, seconds=2.0)
    assert summary.line() == "read 12, new 10, merged 1, damaged 1 in 2.0 s (6 mails/s)"

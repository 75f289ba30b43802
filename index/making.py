"""Documents made ready for an index: in this process, or in several beside the one that writes."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pathlib
import shutil
import signal
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from msgspec import Struct, msgpack

from patchlore.index.diff_lines import Block, Blocks
from patchlore.index.document import decode_searched, make_document, words_of
from patchlore.index.engine import PROSE_FIELDS, Document
from patchlore.index.errors import IndexingError
from patchlore.index.vocabulary import NewWords
from patchlore.kb.store import Archive

#: Messages that are made ready at a time, and the bytes of words after which a chunk ends.
CHUNK = 256
CHUNK_BYTES = 1024 * 1024

#: Messages of one segment of a process, and the bytes of prose after which another
#: is begun: its postings are kept in memory, some 10 bytes for one of text.
SEGMENT = 8192
SEGMENT_BYTES = 6 * 1024 * 1024

#: Fewer messages are indexed in this process before others would have started.
LEAST = 2000

#: More processes only wait for the one that writes.
MOST_JOBS = 3

#: A message to index: its row id, and the number of its document.
Task = tuple[int, int]


class Made(Struct, array_like=True):
    """What a chunk of messages adds to an index; rows of stems and parts as in Vocabulary."""

    documents: list[Document]
    stems: list[tuple[str, str]]
    parts: list[tuple[str, str]]
    blocks: list[Block]


class WorkerEnded(Exception):
    """A process has ended in the middle of its work: killed, out of memory."""


class Maker:
    """Makes documents in this process."""

    def __init__(self, archive: Archive) -> None:
        """Take the archive whose messages are made ready."""
        self._archive = archive
        self._words = NewWords()
        self._blocks = Blocks()

    def make(self, tasks: Sequence[Task]) -> Iterator[Made]:
        """Yield what messages add, a chunk at a time."""
        numbers = dict(tasks)
        documents: list[Document] = []
        size = 0
        for message, content in self._archive.contents(numbers):
            searched = decode_searched(content.facts)
            document = make_document(numbers[message], searched)
            self._words.add(words_of(document))
            self._blocks.add(document.number, searched)
            documents.append(document)
            size += sum(map(len, document.fields.values()))
            if len(documents) >= CHUNK or size >= CHUNK_BYTES:
                yield self._take(documents)
                documents, size = [], 0
        if documents:
            yield self._take(documents)

    def _take(self, documents: list[Document]) -> Made:
        stems, parts = self._words.take()
        return Made(documents, stems, parts, self._blocks.take())


class Makers:
    """Makes documents in processes, each a share of a batch; with Whoosh, segments of it too.

    A process that has done its share of a batch goes on with the next one, while
    the rest of this one is written.
    """

    def __init__(self, archive: pathlib.Path, jobs: int, segments: pathlib.Path | None) -> None:
        """Start JOBS processes; SEGMENTS is where they leave segments of Whoosh's (None: none)."""
        self._segments = segments
        if segments is not None:
            shutil.rmtree(segments, ignore_errors=True)
        self._connections: list[Connection] = []
        self._processes = []
        #: The processes that work on the following batch already.
        self._ahead: dict[int, bool] = {}
        #: Segments of the batch that was made last.
        self.segments: list[Any] = []
        context = multiprocessing.get_context("spawn")
        for number in range(jobs):
            mine, its = context.Pipe()
            folder = None if segments is None else str(segments / str(number))
            process = context.Process(
                target=_work, args=(its, str(archive), folder), name=f"index-{number}", daemon=True
            )
            # ^C is for this process, which then ends the others.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            its.close()
            self._connections.append(mine)
            self._processes.append(process)

    @property
    def batch(self) -> int:
        """How many messages make a batch: a segment for each process."""
        return SEGMENT * len(self._connections)

    def make(self, tasks: Sequence[Task], following: Sequence[Task], batch: int) -> Iterator[Made]:
        """Yield what the messages of a batch add, in any order; then ``segments`` are complete.

        FOLLOWING must be the batch of the next call, or nothing.

        Raises WorkerEnded, and IndexingError for what a process could not do.
        """
        self.segments = []
        jobs = len(self._connections)
        shares, next_shares = _shares(tasks, jobs), _shares(following, jobs)
        busy = {}
        try:
            for number, connection in enumerate(self._connections):
                if not self._ahead.pop(number, None) and shares[number]:
                    connection.send((batch, shares[number]))
                if shares[number]:
                    busy[connection] = number
            while busy:
                for ready in wait(list(busy)):
                    assert isinstance(ready, Connection)
                    answer = ready.recv_bytes()
                    if answer:
                        yield msgpack.decode(answer, type=Made)
                        continue
                    number = busy.pop(ready)
                    kind, value = ready.recv()
                    if kind == "error":
                        raise IndexingError(value)
                    self.segments += value
                    if next_shares[number]:
                        ready.send((batch + 1, next_shares[number]))
                        self._ahead[number] = True
        except (EOFError, OSError) as error:
            raise WorkerEnded from error

    def close(self) -> None:
        """End the processes and remove what they have left."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.terminate()
            process.join()
        if self._segments is not None:
            shutil.rmtree(self._segments, ignore_errors=True)


def default_jobs(total: int) -> int:
    """Return in how many processes to make so many documents ready; 0 for this one alone."""
    if total < LEAST:
        return 0
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(count or 1, MOST_JOBS) if (count or 1) > 1 else 0


def _shares(tasks: Sequence[Task], jobs: int) -> list[list[Task]]:
    each = -(-len(tasks) // jobs)
    return [list(tasks[number * each : (number + 1) * each]) for number in range(jobs)]


def _work(connection: Connection, archive: str, folder: str | None) -> None:
    """Answer requests until the other end is closed: chunks, then a word that it was the last."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    # Postings are many small objects without cycles (index/indexing.py).
    gc.disable()
    # At the end of the file nobody is left to work for.
    with contextlib.suppress(EOFError, OSError), Archive(archive) as opened:
        opened.execute("PRAGMA cache_size = -2048")  # each message is read once
        maker = Maker(opened)
        while True:
            batch, tasks = connection.recv()
            answer: tuple[str, object]
            try:
                answer = ("done", _make(connection, maker, tasks, batch, folder))
            except ConnectionError:
                raise
            except Exception as error:  # the sentence is for the user, who sees no process
                answer = ("error", str(error))
            connection.send_bytes(b"")
            connection.send(answer)
            gc.collect()


def _make(
    connection: Connection, maker: Maker, tasks: list[Task], batch: int, folder: str | None
) -> list[Any]:
    """Send what the messages add; return the segments that were made of their prose."""
    if folder is None:
        for made in maker.make(tasks):
            connection.send_bytes(msgpack.encode(made))
        return []
    from patchlore.index.whoosh_engine import WhooshWriter

    writer = WhooshWriter(pathlib.Path(folder))
    segments = []
    size = 0
    for made in maker.make(tasks):
        writer.add(made.documents)
        for document in made.documents:
            size += sum(len(document.fields.pop(field, "")) for field in PROSE_FIELDS)
        connection.send_bytes(msgpack.encode(made))
        if size >= SEGMENT_BYTES:
            segments.append(writer.segment(batch))
            gc.collect()
            size = 0
    if size or not segments:
        segments.append(writer.segment(batch))
    writer.close()
    return segments

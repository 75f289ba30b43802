"""The text index follows the archive: incremental, resumable, rebuilt when damaged."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import pathlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator

from patchlore.index.database import (
    ENGINES,
    FOLDER,
    GENERATION,
    WHOOSH_FOLDER,
    IndexDatabase,
    database_path,
)
from patchlore.index.engine import EngineWriter
from patchlore.index.errors import DamagedIndex, IndexingError
from patchlore.index.making import Maker, Makers, Task, WorkerEnded, default_jobs
from patchlore.index.sqlite_engine import SqliteEngine
from patchlore.index.sums import forget_sums, save_sums
from patchlore.kb.store import Archive

#: Messages in one batch: what a kill can cost, and the size of a segment.
BATCH = 8192

#: Messages that are looked up at a time.
_LISTED = 100_000

#: What a search leaves in the index's folder when it meets damage.
DAMAGED = "damaged"

#: Where processes leave segments for Whoosh's folder.
SEGMENT_FOLDER = "segments"


def update_index(
    archive_path: pathlib.Path,
    progress: Callable[[int, int], None] | None = None,
    rebuild: bool = False,
    engine: str | None = None,
    notice: Callable[[str], None] | None = None,
    verify: bool = False,
) -> int:
    """Index the messages that are new or changed; return how many were indexed.

    PROGRESS is called with (done, total). REBUILD starts afresh; ENGINE
    (``whoosh`` or ``sqlite``) changes what holds the prose, which rebuilds
    too; without it an archive keeps its engine. A damaged index, or one of another
    version, is rebuilt and NOTICE gets a sentence about it; with VERIFY it is looked
    at whether the index has all that it should have. What a killed run has done is
    kept. Raises IndexingError, and ArchiveError of the archive.
    """
    if engine is not None and engine not in ENGINES:
        raise IndexingError(f"There is no engine '{engine}': use {' or '.join(ENGINES)}.")
    with Archive(archive_path) as archive, _locked(archive_path, notice):
        kept = engine or _engine_of(archive_path)
        if rebuild:
            _remove(archive_path)
        for attempt in range(2):
            try:
                if not attempt:
                    _refuse_marked(archive_path)
                database = _open(archive_path, engine, kept, notice)
                try:
                    if verify and not attempt:
                        _verify(archive)
                    return _index_new(archive, database, progress)
                finally:
                    database.close()
            except OSError as error:
                raise IndexingError(
                    f"The text index of {archive_path} can't be written: {error.strerror}. "
                    "What was indexed before is kept; run 'patchlore index' again."
                ) from error
            except DamagedIndex as error:
                if attempt:
                    raise
                if notice is not None:
                    notice(f"{error} It is built again.")
                _remove(archive_path)
    raise AssertionError("unreachable")


def count_unindexed(archive: Archive) -> int:
    """How many messages of ARCHIVE a search for words does not see yet."""
    revision = 0
    with contextlib.suppress(DamagedIndex, IndexingError):
        database = IndexDatabase(database_path(archive.path))
        revision = database.revision
        database.close()
    return int(archive.value("SELECT count(*) FROM message WHERE revision > ?", (revision,)))


def mark_damaged(archive_path: pathlib.Path, reason: str) -> None:
    """Note that a search has met damage, for the next run to build the index again.

    Does nothing where nothing can be written, or while the index is being written.
    """
    folder = archive_path / FOLDER
    with contextlib.suppress(OSError), open(folder / "lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / DAMAGED).write_text(reason, "utf-8")


def _refuse_marked(archive_path: pathlib.Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        reason = (archive_path / FOLDER / DAMAGED).read_text("utf-8", "replace")
        raise DamagedIndex(reason)


def _verify(archive: Archive) -> None:
    """Raise DamagedIndex where the index does not have the messages that it should have."""
    from patchlore.index.checking import check_index

    _, faults = check_index(archive, pages=False)
    if faults:
        raise DamagedIndex(f"The text index of {archive.path} is damaged: {faults[0]}.")


def _engine_of(archive_path: pathlib.Path) -> str:
    """The engine of an index, as far as that can be told of one that is damaged."""
    path = database_path(archive_path)
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            row = connection.execute("SELECT value FROM state WHERE name = 'engine'").fetchone()
        finally:
            connection.close()
        if row is not None and row[0] in ENGINES:
            return str(row[0])
    if path.exists() and not (archive_path / FOLDER / WHOOSH_FOLDER).exists():
        return "sqlite"
    return ENGINES[0]


def _open(
    archive_path: pathlib.Path,
    engine: str | None,
    kept: str,
    notice: Callable[[str], None] | None,
) -> IndexDatabase:
    path = database_path(archive_path)
    if not path.exists():
        _remove(archive_path)
        IndexDatabase.create(path, kept)
    database = IndexDatabase(path, write=True)
    if engine is not None and database.engine != engine:
        if notice is not None:
            notice(f"The text index changes from {database.engine} to {engine}.")
        database.close()
        _remove(archive_path)
        IndexDatabase.create(path, engine)
        database = IndexDatabase(path, write=True)
    return database


def _index_new(
    archive: Archive, database: IndexDatabase, progress: Callable[[int, int], None] | None
) -> int:
    total = int(
        archive.value("SELECT count(*) FROM message WHERE revision > ?", (database.revision,))
    )
    if progress is not None:
        progress(0, total)
    if not total:
        with database.guarded():
            save_sums(database)  # a run that was killed may have come to its end but for this
        return 0
    with database.guarded():
        forget_sums(database)
    writer = _writer(archive.path, database)
    run = _Run(archive, database, writer, progress, total)
    # Postings are many small objects without cycles: looking for cycles among
    # them costs a tenth of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        while run.done < total and run.index_some():
            pass
    finally:
        run.close()
        writer.close()
        if collecting:
            gc.enable()
    with database.guarded():
        save_sums(database)
    if progress is not None:
        progress(run.done, total)
    return run.done


class _Run:
    """One update of an index: what is done, and who makes the documents."""

    def __init__(
        self,
        archive: Archive,
        database: IndexDatabase,
        writer: EngineWriter,
        progress: Callable[[int, int], None] | None,
        total: int,
    ) -> None:
        self.done = 0
        self._archive = archive
        self._database = database
        self._writer = writer
        self._progress = progress
        self._total = total
        self._makers: Makers | None = None
        jobs = default_jobs(total)
        if jobs:
            folder = archive.path / FOLDER / SEGMENT_FOLDER
            self._makers = Makers(archive.path, jobs, folder if writer.has_segments else None)
        with database.guarded():
            database.prepare_bulk()

    def close(self) -> None:
        """End the processes."""
        if self._makers is not None:
            self._makers.close()
            self._makers = None

    def index_some(self) -> bool:
        """Index the next messages, a batch a transaction; return whether there were any."""
        messages = self._archive.execute(
            "SELECT id, revision FROM message WHERE revision > ? ORDER BY revision LIMIT ?",
            (self._database.revision, _LISTED),
        ).fetchall()
        tasks = [(message, self._number(message)) for message, _ in messages]
        start = 0
        while start < len(tasks):
            size = BATCH if self._makers is None else self._makers.batch
            batch = tasks[start : start + size]
            try:
                self._index(batch, tasks[start + size : start + 2 * size], messages[start:][:size])
            except WorkerEnded:
                self.close()  # memory, most likely: this process alone needs less
                continue
            start += size
            self.done += len(batch)
            gc.collect()
        return bool(messages)

    def _index(
        self, batch: list[Task], following: list[Task], messages: list[tuple[int, int]]
    ) -> None:
        database, makers, done = self._database, self._makers, self.done
        number = database.batch + 1
        source = (
            Maker(self._archive).make(batch)
            if makers is None
            else makers.make(batch, following, number)
        )
        with _batch(database):
            for made in source:
                database.code.add(made.documents)
                if makers is None or not self._writer.has_segments:
                    self._writer.add(made.documents)
                database.lines.add(made.blocks)
                database.vocabulary.add(made.stems, made.parts)
                done += len(made.documents)
                if self._progress is not None:
                    self._progress(done, self._total)
            database.connection.executemany(
                "INSERT OR REPLACE INTO redone VALUES (?, ?)",
                [
                    (message, document // GENERATION)
                    for message, document in batch
                    if document != message
                ],
            )
            if makers is None:
                self._writer.commit(number)
            else:
                self._writer.commit(number, makers.segments)
            database.save_state(messages[-1][1], number)

    def _number(self, message: int) -> int:
        """The number of the next document of a message."""
        number = message
        while self._database.code.has(number):
            number += GENERATION
        return number


def _writer(archive_path: pathlib.Path, database: IndexDatabase) -> EngineWriter:
    if database.engine == "sqlite":
        return SqliteEngine(database)
    from patchlore.index.whoosh_engine import WhooshWriter

    folder = archive_path / FOLDER / WHOOSH_FOLDER
    if database.revision and not folder.exists():
        raise DamagedIndex(f"The text index {folder} is missing.")
    return WhooshWriter(folder)


@contextlib.contextmanager
def _batch(database: IndexDatabase) -> Iterator[None]:
    """One transaction of the index database."""
    connection = database.connection
    with database.guarded():
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


@contextlib.contextmanager
def _locked(
    archive_path: pathlib.Path, notice: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lock of the index: one writer at a time, the next one waits."""
    folder = archive_path / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        lock = open(folder / "lock", "wb")  # noqa: SIM115 (held until the block ends)
    except OSError as error:
        if isinstance(error, FileExistsError):
            text = f"{folder} is no folder: remove it and run 'patchlore index'."
            raise IndexingError(text) from error
        raise IndexingError(f"Can't write to the text index {folder}: {error.strerror}.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if notice is not None:
                notice(f"Another patchlore is indexing {archive_path}: waiting until it is done.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove(archive_path: pathlib.Path) -> None:
    """Remove the index, but not the lock that is held."""
    path = database_path(archive_path)
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)
    shutil.rmtree(archive_path / FOLDER / WHOOSH_FOLDER, ignore_errors=True)
    path.with_name(DAMAGED).unlink(missing_ok=True)

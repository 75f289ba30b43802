"""The text index follows the archive: incremental, resumable, rebuilt when damaged."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import pathlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator

from patchlore.index.database import ENGINES, FOLDER, IndexDatabase, database_path
from patchlore.index.document import decode_searched, make_document
from patchlore.index.engine import EngineWriter
from patchlore.index.errors import DamagedIndex, IndexingError
from patchlore.index.sqlite_engine import SqliteEngine
from patchlore.kb.content import Content
from patchlore.kb.store import Archive

#: Messages in one batch: what a kill can cost, and the size of a segment.
BATCH = 8192

#: A document's number is its message's row id, plus this for each time that
#: the message was indexed before: FTS5 without text can't delete, and need not.
GENERATION = 1 << 40

WHOOSH_FOLDER = "whoosh"


def update_index(
    archive_path: pathlib.Path,
    progress: Callable[[int, int], None] | None = None,
    rebuild: bool = False,
    engine: str | None = None,
    notice: Callable[[str], None] | None = None,
) -> int:
    """Index the messages that are new or changed; return how many were indexed.

    PROGRESS is called with (done, total). REBUILD starts afresh; ENGINE
    (``whoosh`` or ``sqlite``) changes what holds the prose, which rebuilds
    too. A damaged index, or one of another version, is rebuilt and NOTICE gets
    a sentence about it. What a killed run has done is kept. Raises
    IndexingError, and ArchiveError of the archive.
    """
    if engine is not None and engine not in ENGINES:
        raise IndexingError(f"There is no engine '{engine}': use {' or '.join(ENGINES)}.")
    with Archive(archive_path) as archive, _locked(archive_path, notice):
        if rebuild:
            _remove(archive_path)
        for attempt in range(2):
            try:
                database = _open(archive_path, engine, notice)
                try:
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


def _open(
    archive_path: pathlib.Path, engine: str | None, notice: Callable[[str], None] | None
) -> IndexDatabase:
    path = database_path(archive_path)
    if not path.exists():
        _remove(archive_path)
        IndexDatabase.create(path, engine or ENGINES[0])
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
        return 0
    writer = _writer(archive.path, database)
    done = 0
    # Postings are many small objects without cycles: looking for cycles among
    # them costs a tenth of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        with database.guarded():
            database.code.prepare_bulk()
        while batch := _next_batch(archive, database.revision):
            with _batch(database):
                for message, content in archive.contents(message for message, _ in batch):
                    _add(database, writer, message, content)
                    done += 1
                    if progress is not None and done % 64 == 0:
                        progress(done, total)
                database.vocabulary.flush()
                database.lines.flush()
                writer.commit(database.batch + 1)
                database.save_state(batch[-1][1], database.batch + 1)
            gc.collect()
    finally:
        writer.close()
        if collecting:
            gc.enable()
    if progress is not None:
        progress(done, total)
    return done


def _next_batch(archive: Archive, revision: int) -> list[tuple[int, int]]:
    """The next messages to index: row ids and revisions, in the order of the latter."""
    return archive.execute(
        "SELECT id, revision FROM message WHERE revision > ? ORDER BY revision LIMIT ?",
        (revision, BATCH),
    ).fetchall()


def _add(database: IndexDatabase, writer: EngineWriter, message: int, content: Content) -> None:
    generation = 0
    while database.code.has(message + generation * GENERATION):
        generation += 1
    searched = decode_searched(content.facts)
    document = make_document(message + generation * GENERATION, searched)
    database.code.add(document)
    database.lines.add(document.number, searched)
    writer.add(document)
    for words in document.fields.values():
        database.vocabulary.add(words)
    if generation:
        database.connection.execute(
            "INSERT OR REPLACE INTO redone VALUES (?, ?)", (message, generation)
        )


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

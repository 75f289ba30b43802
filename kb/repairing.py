"""Rebuilding an archive from its raw mail: facts of an older version, a torn database file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import zstandard
from msgspec import Struct

from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.raw import FIDELITIES, Raw, Source
from patchlore.kb.batch import Batch
from patchlore.kb.content import Codec, Content, decode_message
from patchlore.kb.database import FILE_NAME, take_lock
from patchlore.kb.errors import ArchiveError
from patchlore.kb.interning import Names
from patchlore.kb.parsed import Parsed
from patchlore.kb.parsing import Workers
from patchlore.kb.rows import FACT_TABLES
from patchlore.kb.store import FACTS_VERSION, Archive, transaction
from patchlore.kb.text import count
from patchlore.kb.writing import Writer

#: Messages of one transaction.
_BATCH = 256

#: So much is parsed in this process before workers are started.
_INLINE_BYTES = 4 * 1024 * 1024

#: Behind so many ids without a row that can be read no further ones are looked for.
_MOST_MISSING = 20_000

#: Where a new database is built beside a damaged one, and what the latter is called then.
_RESCUE = "rescue"
DAMAGED = FILE_NAME + ".damaged"

Progress = Callable[[int], None]


def redo_facts(archive: Archive, *, jobs: int = 0, on_progress: Progress | None = None) -> int:
    """Parse the best copy of every message again and write its facts anew; return how many.

    Row ids stay.  A run that is stopped leaves the archive usable, and the next
    one begins again.  Raises ArchiveError for raw mail that is damaged.
    """
    done = 0
    ids = [id_ for (id_,) in archive.execute("SELECT id FROM message ORDER BY id")]
    chunks = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
    waiting: list[tuple[list[int], list[Raw]]] = []
    with Workers(jobs, inline_bytes=_INLINE_BYTES) as workers:

        def store(leave: int) -> None:
            nonlocal done
            for works in workers.results(leave=leave):
                chunk, raws = waiting.pop(0)
                mails = [
                    (
                        id_,
                        Parsed(
                            raw=raw,
                            sha256=hashlib.sha256(raw.data).digest(),
                            facts=work.facts,
                            shaped=work.shaped,
                        ),
                    )
                    for id_, raw, work in zip(chunk, raws, works, strict=True)
                ]
                with transaction(archive):
                    Batch(archive, Names(archive.connection)).redo(mails)
                done += len(mails)
                if on_progress is not None:
                    on_progress(done)

        for chunk in chunks:
            raws = [_best_copy(archive, id_) for id_ in chunk]
            workers.submit(raws)
            waiting.append((chunk, raws))
            store(leave=jobs + 1)
        store(leave=0)
    with transaction(archive):
        for table in (*FACT_TABLES, "message_list", "alias"):
            archive.execute(
                f"DELETE FROM {table} WHERE message NOT IN (SELECT id FROM message)"  # of nobody
            )
        _rebuild_threads(archive)
        archive.execute("INSERT OR REPLACE INTO meta VALUES ('facts', ?)", (FACTS_VERSION,))
    return done


def _best_copy(archive: Archive, message: int) -> Raw:
    row = archive.execute(
        "SELECT source.path, source.format, source.list, copy.offset, copy.blob, copy.fidelity"
        " FROM message JOIN copy ON copy.id = message.best_copy"
        " JOIN source ON source.id = copy.source WHERE message.id = ?",
        (message,),
    ).fetchone()
    if row is None:
        raise ArchiveError(f"Message {message} of the archive {archive.path} has no copy.")
    content = archive.content(message)
    cut = archive.value(
        "SELECT EXISTS (SELECT 1 FROM defect WHERE message = ? AND code = ?)", (message, CUT_SHORT)
    )
    return Raw(data=content.raw, source=_found_at(content) or _source(*row), cut=bool(cut))


def _found_at(content: Content) -> Source | None:
    """The source as the stored Message has it: with what the tables leave out."""
    try:
        return decode_message(content.facts).source
    except ValueError:
        return None


def _source(
    path: str, format: str, list_: str, offset: int, blob: str | None, fidelity: int
) -> Source:
    return Source(
        path=path,
        format=format,
        offset=offset,
        fidelity=FIDELITIES[fidelity],
        list=list_ or None,
        blob=blob,
    )


def _rebuild_threads(archive: Archive) -> None:
    """Let each thread be just what the references connect."""
    roots: dict[int, int] = {}

    def root(mid: int) -> int:
        way = []
        while (above := roots.get(mid, mid)) != mid:
            way.append(mid)
            mid = above
        roots.update((passed, mid) for passed in way)
        return mid

    for one, other in archive.execute(
        "SELECT message.mid, reference.mid FROM reference JOIN message"
        " ON message.id = reference.message UNION ALL"
        " SELECT message.mid, alias.mid FROM alias JOIN message ON message.id = alias.message"
    ):
        first, second = root(one), root(other)
        if first != second:
            roots[max(first, second)] = min(first, second)
    changed = [
        (root(mid), mid)
        for mid, thread in archive.execute("SELECT id, thread FROM mid").fetchall()
        if root(mid) != thread
    ]
    archive.connection.executemany("UPDATE mid SET thread = ? WHERE id = ?", changed)


class Rescue(Struct, kw_only=True):
    """What was saved of a damaged archive."""

    copies: int = 0
    #: Copies whose raw mail could not be read, or was not what its hash says.
    lost: int = 0
    #: Whether rows could not be read, of which nobody knows what they were.
    is_partial: bool = False
    messages: int = 0
    #: Names of git trees that have to be read again.
    trees: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield what happened, for a person."""
        yield f"saved {count(self.messages, 'message')} ({count(self.copies, 'copy', 'copies')})"
        if self.lost or self.is_partial:
            lost = f"{count(self.lost, 'copy', 'copies')} or more" if self.lost else "some mails"
            yield f"lost {lost}: ingest the sources again, what is there is not stored twice"
        if self.trees:
            yield f"read these trees again with 'ingest --tree': {', '.join(self.trees)}"
        yield f"the damaged database is kept as {DAMAGED}: remove it when all is well"


def rescue(
    path: str | os.PathLike[str], *, jobs: int = 0, on_progress: Progress | None = None
) -> Rescue:
    """Build the database of an archive anew from whatever raw mail can be read.

    Every copy whose hash is right is stored into a new database, which then takes
    the place of the damaged one.  Raises ArchiveError when nothing can be read or
    another writer is there; then nothing was changed.
    """
    folder = pathlib.Path(path)
    result = Rescue()
    with contextlib.closing(take_lock(folder)):
        new = folder / _RESCUE
        shutil.rmtree(new, ignore_errors=True)
        try:
            with _open_damaged(folder) as old, Archive(new, write=True) as archive:
                _save(old, archive, folder, result, jobs, on_progress)
                result.messages = archive.value("SELECT count(*) FROM message")
            if not result.messages:
                raise ArchiveError(
                    f"Nothing can be read of the archive {folder}: remove the folder and "
                    "ingest the sources again."
                )
            _replace(folder, new)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return result


@contextlib.contextmanager
def _open_damaged(folder: pathlib.Path) -> Iterator[sqlite3.Connection]:
    uri = f"{(folder / FILE_NAME).absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        yield connection
    except sqlite3.Error as error:
        raise ArchiveError(
            f"Nothing can be read of the archive {folder} ({error}): remove the folder and "
            "ingest the sources again."
        ) from error
    finally:
        connection.close()


def _save(
    old: sqlite3.Connection,
    archive: Archive,
    folder: pathlib.Path,
    result: Rescue,
    jobs: int,
    on_progress: Progress | None,
) -> None:
    codec = Codec(_dictionaries(old, folder), None)
    sources = {id_: rest for id_, *rest in _readable(old, "source", "id, path, format, list")}
    result.trees = [name for _, name in _readable(old, "git_tree", "id, name")]
    writer = Writer(archive)
    waiting: list[list[Raw]] = []
    with Workers(jobs, inline_bytes=_INLINE_BYTES) as workers:

        def store(leave: int) -> None:
            for works in workers.results(leave=leave):
                raws = waiting.pop(0)
                mails = [
                    Parsed(
                        raw=raw,
                        sha256=hashlib.sha256(raw.data).digest(),
                        facts=work.facts,
                        shaped=work.shaped,
                    )
                    for raw, work in zip(raws, works, strict=True)
                ]
                writer.add(mails)
                result.copies += len(raws)
                if on_progress is not None:
                    on_progress(result.copies)

        batch: list[Raw] = []
        for raw in _copies(old, codec, sources, result):
            batch.append(raw)
            if len(batch) >= _BATCH:
                workers.submit(batch)
                waiting.append(batch)
                batch = []
                store(leave=jobs + 1)
        workers.submit(batch)
        waiting.append(batch)
        store(leave=0)
    if not result.lost and not result.is_partial:
        # Nothing is missing: the sources need not be read again.
        marks = _readable_marks(old)
        with transaction(archive):
            archive.connection.executemany("INSERT OR REPLACE INTO mark VALUES (?, ?)", marks)


def _dictionaries(old: sqlite3.Connection, folder: pathlib.Path) -> dict[int, bytes]:
    """The dictionaries of the database and their copies beside it."""
    found: dict[int, bytes] = {}
    for path in folder.glob("dictionary-*"):
        number = path.name.partition("-")[2]
        if number.isdigit():
            found[int(number)] = path.read_bytes()
    with contextlib.suppress(sqlite3.DatabaseError):
        found.update(old.execute("SELECT id, data FROM dictionary").fetchall())
    return found


def _copies(
    old: sqlite3.Connection, codec: Codec, sources: dict[int, list[str]], result: Rescue
) -> Iterator[Raw]:
    """Yield each copy whose raw mail can be read and is what its hash says."""
    columns = "id, message, source, offset, blob, same_as, fidelity, sha256"
    saved: set[bytes] = set()
    for id_, message, source, offset, blob, same_as, fidelity, sha256 in _readable(
        old, "copy", columns, result=result
    ):
        found = _raw_of(old, codec, same_as or id_, message, sha256)
        if found is None or source not in sources:
            result.lost += 1
            continue
        data, where = found
        path, format, list_ = sources[source]
        if where is None or same_as is not None or (where.path, where.offset) != (path, offset):
            where = _source(path, format, list_, offset, blob, fidelity)
        saved.add(sha256)
        yield Raw(data=data, source=where)

    # Where the table of copies is torn, the contents still say where they are from.
    for _, packed in _readable(old, "content", "message, data", "message", result):
        with contextlib.suppress(zstandard.ZstdError, ValueError):
            content = codec.unpack(packed)
            where = _found_at(content)
            if where is not None and hashlib.sha256(content.raw).digest() not in saved:
                yield Raw(data=content.raw, source=where)


def _raw_of(
    old: sqlite3.Connection, codec: Codec, copy: int, message: int, sha256: bytes
) -> tuple[bytes, Source | None] | None:
    """The bytes of a copy, of its own or of its message's best one."""
    for sql, key in (
        ("SELECT data FROM raw WHERE copy = ?", copy),
        ("SELECT data FROM content WHERE message = ?", message),
    ):
        with contextlib.suppress(sqlite3.DatabaseError, zstandard.ZstdError, ValueError):
            row = old.execute(sql, (key,)).fetchone()
            if row is not None:
                if sql.startswith("SELECT data FROM raw"):
                    data, where = codec.decompress(row[0]), None
                else:
                    content = codec.unpack(row[0])
                    data, where = content.raw, _found_at(content)
                if hashlib.sha256(data).digest() == sha256:
                    return data, where
    return None


def _readable(
    old: sqlite3.Connection,
    table: str,
    columns: str,
    key: str = "id",
    result: Rescue | None = None,
) -> Iterator[list[Any]]:
    """Yield the rows of a table that can be read, by their ids, around the damaged pages."""
    low, step, empty = 0, 512, 0
    last = _last_id(old, table, key)
    if last is None and result is not None:
        result.is_partial = True
    while low < last if last is not None else empty < _MOST_MISSING:
        try:
            rows = old.execute(
                f"SELECT {columns} FROM {table} WHERE {key} > ? AND {key} <= ? ORDER BY {key}",
                (low, low + step),
            ).fetchall()
        except sqlite3.DatabaseError:
            if step > 1:
                step //= 2
                continue
            rows = []
            if result is not None:
                result.is_partial = True
        yield from map(list, rows)
        empty = 0 if rows else empty + step
        low += step
        step = min(512, step * 2)


def _last_id(old: sqlite3.Connection, table: str, key: str) -> int | None:
    """The greatest id of a table; None when it can't be told."""
    try:
        row = old.execute(f"SELECT max({key}) FROM {table}").fetchone()
    except sqlite3.DatabaseError as error:
        return 0 if "no such table" in str(error) else None
    return int(row[0] or 0)


def _readable_marks(old: sqlite3.Connection) -> list[tuple[str, str]]:
    try:
        return old.execute("SELECT source, state FROM mark").fetchall()
    except sqlite3.DatabaseError:
        return []


def _replace(folder: pathlib.Path, new: pathlib.Path) -> None:
    """Put the new database where the damaged one was."""
    old = folder / FILE_NAME
    os.replace(old, folder / DAMAGED)
    for end in ("-wal", "-shm"):
        side = folder / (FILE_NAME + end)
        if side.exists():
            os.replace(side, folder / (DAMAGED + end))
    for path in (*new.glob("dictionary-*"), new / FILE_NAME):
        os.replace(path, folder / path.name)

"""Rebuilding a torn archive: a new database of every copy whose raw mail can be read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import shutil
import sqlite3
from collections.abc import Iterator
from typing import Any

import zstandard
from msgspec import Struct

from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.items import Listed, Listing
from patchlore.kb.content import Codec
from patchlore.kb.database import FILE_NAME, take_lock
from patchlore.kb.errors import ArchiveError, GitTreeError
from patchlore.kb.parsed import Parsed
from patchlore.kb.parsing import Workers
from patchlore.kb.redoing import Progress, found_at, source_of
from patchlore.kb.salvage import Salvage
from patchlore.kb.store import Archive, transaction
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

#: Files of SQLite beside a database.
_SIDES = ("-wal", "-shm")


class Rescue(Struct, kw_only=True):
    """What was saved of a damaged archive."""

    copies: int = 0
    #: Copies whose raw mail could not be read, or was not what its hash says.
    lost: int = 0
    #: Whether rows could not be read, of which nobody knows what they were.
    is_partial: bool = False
    messages: int = 0
    #: Commits of git trees that were read again.
    commits: int = 0
    #: Names of git trees whose repositories are not where they were.
    trees: list[str] = []
    #: What the damaged database is called now.
    kept: str = DAMAGED

    def lines(self) -> Iterator[str]:
        """Yield what happened, for a person."""
        yield f"saved {count(self.messages, 'message')} ({count(self.copies, 'copy', 'copies')})"
        if self.lost or self.is_partial:
            lost = f"{count(self.lost, 'copy', 'copies')} or more" if self.lost else "some mails"
            yield f"lost {lost}: ingest the sources again, what is there is not stored twice"
        if self.commits:
            yield f"read {count(self.commits, 'commit')} of git trees again"
        if self.trees:
            yield (
                "these trees are not where they were, read them again with 'ingest --tree': "
                f"{', '.join(self.trees)}"
            )
        yield f"the damaged database is kept as {self.kept}: remove it when all is well"


def rescue(
    path: str | os.PathLike[str], *, jobs: int = 0, on_progress: Progress | None = None
) -> Rescue:
    """Build the database of an archive anew from whatever raw mail can be read.

    Every copy whose hash is right is stored into a new database, git trees are read
    again from their repositories, and it takes the place of the damaged one.
    Raises ArchiveError when nothing can be read or another writer is there; then
    nothing was changed.
    """
    folder = pathlib.Path(path)
    result = Rescue()
    with contextlib.closing(take_lock(folder)):
        _take_back(folder)
        new = folder / _RESCUE
        _clear(new)
        try:
            with _open_damaged(folder) as old, Archive(new, write=True) as archive:
                salvage = None if _is_legible(old) else Salvage(folder / FILE_NAME)
                _save(old, salvage, archive, folder, result, jobs, on_progress)
                result.messages = archive.value("SELECT count(*) FROM message")
                trees, has_sources = _known_trees(old, salvage)
                if result.messages or not has_sources:
                    _trees(trees, archive, result, on_progress)
            if not result.messages and not result.commits:
                raise ArchiveError(
                    f"Nothing can be read of the archive {folder}: remove the folder and "
                    "ingest the sources again."
                )
            result.kept = _replace(folder, new)
        finally:
            _clear(new)
    return result


def _clear(place: pathlib.Path) -> None:
    """Remove what a repair that was stopped has left, or somebody has put there."""
    shutil.rmtree(place, ignore_errors=True)
    with contextlib.suppress(OSError):
        place.unlink()


def _is_legible(old: sqlite3.Connection) -> bool:
    """Whether SQLite can read the schema: else it sees no table, however many are whole."""
    try:
        tables = {name for (name,) in old.execute("SELECT name FROM sqlite_schema")}
    except sqlite3.DatabaseError:
        return False
    return {"content", "copy"} <= tables


def _known_trees(
    old: sqlite3.Connection, salvage: Salvage | None
) -> tuple[list[tuple[str, str, bool]], bool]:
    """Return name, path and "with patch ids" of the git trees, and whether mail was read, too."""
    if salvage is not None:
        return salvage.trees, bool(salvage.sources)
    rows = _readable(old, "git_tree", "id, name, path, patch_ids")
    return [(name, path, bool(ids)) for _, name, path, ids in rows], bool(
        list(_readable(old, "source", "id"))
    )


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
    salvage: Salvage | None,
    archive: Archive,
    folder: pathlib.Path,
    result: Rescue,
    jobs: int,
    on_progress: Progress | None,
) -> None:
    writer = Writer(archive)
    if salvage is None:
        writer.add([], (), _listings(old, result))
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
        for raw in _mails(old, salvage, folder, result):
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


def _listings(old: sqlite3.Connection, result: Rescue) -> Iterator[Listing]:
    """Yield the index pages that can be read: no raw mail says what they do."""
    for id_, path, list_, kind in _readable(old, "listing", "id, path, list, kind", result=result):
        try:
            rows = old.execute(
                "SELECT e.page, mid.text, e.parent, e.subject, e.sender FROM listed AS e"
                " LEFT JOIN mid ON mid.id = e.mid WHERE e.listing = ? ORDER BY e.position",
                (id_,),
            ).fetchall()
        except sqlite3.DatabaseError:
            result.is_partial = True
            continue
        entries = [
            Listed(url=page, message_id=text, parent=parent, subject=subject, sender=sender)
            for page, text, parent, subject, sender in rows
        ]
        yield Listing(path=path, list=list_, order=kind, entries=tuple(entries))


def _trees(
    trees: list[tuple[str, str, bool]],
    archive: Archive,
    result: Rescue,
    on_progress: Progress | None,
) -> None:
    """Read the git trees again from where they were read."""
    from patchlore.kb.edges import update_edges
    from patchlore.kb.git_filling import fill_tree

    for name, path, patch_ids in trees:
        try:
            done = fill_tree(archive, name, path, patch_ids=patch_ids)
        except GitTreeError:
            result.trees.append(name)
            continue
        result.commits += done.commits
        if on_progress is not None:
            on_progress(result.copies + result.commits)
    update_edges(archive)


def _mails(
    old: sqlite3.Connection, salvage: Salvage | None, folder: pathlib.Path, result: Rescue
) -> Iterator[Raw]:
    """Yield every mail that can be read: by its row, else by the page on which that lies."""
    dictionaries = _dictionaries(old, folder)
    saved: set[bytes] = set()
    if salvage is None:
        yield from _copies(old, Codec(dictionaries, None), result, saved)
        if not (result.is_partial or result.lost):
            return
        salvage = Salvage(folder / FILE_NAME)
    result.is_partial = True
    yield from salvage.mails(Codec(salvage.dictionaries | dictionaries, None), saved)


def _dictionaries(old: sqlite3.Connection, folder: pathlib.Path) -> dict[int, bytes]:
    """The dictionaries of the database and their copies beside it."""
    found: dict[int, bytes] = {}
    for path in folder.glob("dictionary-*"):
        number = path.name.partition("-")[2]
        if number.isdigit():
            with contextlib.suppress(OSError):  # the database most likely has it, too
                found[int(number)] = path.read_bytes()
    with contextlib.suppress(sqlite3.DatabaseError):
        found.update(old.execute("SELECT id, data FROM dictionary").fetchall())
    return found


def _copies(
    old: sqlite3.Connection, codec: Codec, result: Rescue, saved: set[bytes]
) -> Iterator[Raw]:
    """Yield each copy whose raw mail can be read and is what its hash says; hashes go to SAVED."""
    sources = {id_: rest for id_, *rest in _readable(old, "source", "id, path, format, list")}
    columns = "id, message, source, offset, blob, same_as, fidelity, sha256"
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
            where = source_of(path, format, list_, offset, blob, fidelity)
        saved.add(sha256)
        yield Raw(data=data, source=where)

    # Where the table of copies is torn, the contents still say where they are from.
    for _, packed in _readable(old, "content", "message, data", "message", result):
        with contextlib.suppress(zstandard.ZstdError, ValueError):
            content = codec.unpack(packed)
            where = found_at(content)
            sha256 = hashlib.sha256(content.raw).digest()
            if where is not None and sha256 not in saved:
                saved.add(sha256)
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
                    data, where = content.raw, found_at(content)
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


def _take_back(folder: pathlib.Path) -> None:
    """Undo what a repair that was stopped has moved: the log belongs to the damaged database."""
    old = folder / FILE_NAME
    for kept in folder.glob(f"{DAMAGED}*"):
        if kept.name.endswith(_SIDES) or not old.exists() or not old.samefile(kept):
            continue
        for end in _SIDES:
            side = folder / (FILE_NAME + end)
            moved = folder / (kept.name + end)
            if moved.exists() and not (side.exists() and side.stat().st_size):
                os.replace(moved, side)
        kept.unlink()


def _replace(folder: pathlib.Path, new: pathlib.Path) -> str:
    """Put the new database where the damaged one was; return what that is called now.

    At every moment there is a database in the folder, and none that was kept is overwritten.
    """
    old, kept, number = folder / FILE_NAME, DAMAGED, 1
    while (folder / kept).exists():
        number += 1
        kept = f"{DAMAGED}-{number}"
    try:
        os.link(old, folder / kept)
    except OSError:  # a file system without links
        shutil.copyfile(old, folder / kept)
    for end in _SIDES:
        side = folder / (FILE_NAME + end)
        if side.exists():
            os.replace(side, folder / (kept + end))
    for path in new.glob("dictionary-*"):
        with contextlib.suppress(OSError):  # a copy, which the next ingest writes again
            os.replace(path, folder / path.name)
    os.replace(new / FILE_NAME, folder / FILE_NAME)
    return kept

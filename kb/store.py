"""The archive on disk: opening it for reading or for the one writer, and reading rows."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import IO, Any, Self

import msgspec
import zstandard
from msgspec import Struct

from patchlore.ingest.message import Message, Patchwork
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.items import Mark
from patchlore.kb.content import Codec, Content, decode_message
from patchlore.kb.database import (
    APPLICATION_ID,
    connect,
    database_path,
    explain_error,
    is_there,
    refuse_foreign,
    take_lock,
)
from patchlore.kb.errors import ArchiveError, NoArchiveError, OtherVersionError
from patchlore.kb.upgrading import can_upgrade, schema, upgrade

#: The version of kb/schema.sql that this program reads and writes.
SCHEMA_VERSION = 5

#: The version of the facts in the tables: raised when the same mail gives other
#: rows than before.  Archives with older ones are brought up to date by ingest.
FACTS_VERSION = 7


class Added(Struct, kw_only=True):
    """What a batch did: messages that were new, copies merged into known ones, copies known."""

    new: int = 0
    merged: int = 0
    known: int = 0
    #: Messages whose facts were redone because a better copy arrived.
    redone: int = 0


class Archive:
    """An archive, opened for reading (any number) or for writing (one at a time).

    Use as a context manager.  ``path`` is the archive's folder; ``connection``
    the SQLite connection, for floors that ask their own questions.
    """

    path: pathlib.Path
    connection: sqlite3.Connection
    writable: bool

    def __init__(self, path: str | os.PathLike[str], *, write: bool = False) -> None:
        """Open the archive in the folder ``path``; with ``write`` make it when absent.

        Raises NoArchiveError when there is none to read and ArchiveError when it
        is locked by another writer, damaged, of a newer version or not writable.
        """
        self.path = pathlib.Path(path)
        self.writable = write
        self._lock: IO[bytes] | None = None
        self._codec: Codec | None = None
        if write:
            self._lock = take_lock(self.path)
        elif not is_there(database_path(self.path)):
            raise _no_archive(self.path)
        try:
            if write:
                refuse_foreign(database_path(self.path))
            self.connection = connect(database_path(self.path), write=write)
        except BaseException:
            self._release()
            raise
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return the archive itself; it is closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the archive; a transaction that is open is rolled back."""
        self.close()

    def close(self) -> None:
        """Close the database and let the next writer in."""
        self.connection.close()
        self._release()

    # -- reading ----------------------------------------------------------------

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run one statement; damage of the file becomes an ArchiveError."""
        try:
            return self.connection.execute(sql, parameters)
        except UnicodeEncodeError:
            # An argument that is no UTF-8 (PEP 383); nothing in the archive is called so.
            return self.connection.execute(sql, [_stored_text(value) for value in parameters])
        except sqlite3.DatabaseError as error:
            raise explain_error(error, self.path) from error

    def value(self, sql: str, parameters: Sequence[object] = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def content(self, message: int) -> Content:
        """Return raw mail and encoded facts of the message with this row id.

        Raises KeyError for a row id that does not exist and ArchiveError on damage.
        """
        row = self.execute("SELECT data FROM content WHERE message = ?", (message,)).fetchone()
        if row is None:
            raise KeyError(message)
        return self._unpack(row[0], message)

    def contents(self, messages: Iterable[int]) -> Iterator[tuple[int, Content]]:
        """Yield (row id, content) for each of ``messages`` that exists, in that order."""
        for message in messages:
            row = self.execute("SELECT data FROM content WHERE message = ?", (message,)).fetchone()
            if row is not None:
                yield message, self._unpack(row[0], message)

    def message(self, message: int) -> Message:
        """Return the Message with all its facts and evidence; raises KeyError.

        What patchwork knows of it comes from the newest copy that says so,
        whichever copy all else comes from.
        """
        made = decode_message(self.content(message).facts)
        said = self.value(
            "SELECT data FROM patchwork WHERE message = ? ORDER BY copy DESC LIMIT 1", (message,)
        )
        if said is not None:
            made.patchwork = msgspec.json.decode(said, type=Patchwork)
        return made

    def raw(self, message: int) -> bytes:
        """Return the bytes of the best copy of the message, as they were found."""
        return self.content(message).raw

    def raw_of_copy(self, copy: int) -> bytes:
        """Return the bytes of one copy; raises KeyError for an unknown one."""
        row = self.execute(
            "SELECT copy.message, raw.data, copy.same_as FROM copy"
            " LEFT JOIN raw ON raw.copy = copy.id WHERE copy.id = ?",
            (copy,),
        ).fetchone()
        if row is None:
            raise KeyError(copy)
        if row[1] is None:
            return self.raw(row[0]) if row[2] is None else self.raw_of_copy(row[2])
        try:
            return self.codec.decompress(row[1])
        except zstandard.ZstdError as error:
            raise ArchiveError(
                f"Copy {copy} in the archive {self.path} is damaged ({error}): "
                f"run 'patchlore --archive {self.path} check'."
            ) from error

    def newer_than(self, revision: int) -> Iterator[tuple[int, int]]:
        """Yield (row id, revision) of all messages with a revision above this, in its order."""
        yield from self.execute(
            "SELECT id, revision FROM message WHERE revision > ? ORDER BY revision", (revision,)
        )

    def mark_of(self, source: str) -> str | None:
        """Return the state stored for a source key by the last complete batch."""
        state = self.value("SELECT state FROM mark WHERE source = ?", (source,))
        return None if state is None else str(state)

    @property
    def facts_version(self) -> int:
        """The version of the facts in the tables (FACTS_VERSION when they are up to date)."""
        value = self.value("SELECT value FROM meta WHERE name = 'facts'")
        return value if isinstance(value, int) else 1

    @property
    def codec(self) -> Codec:
        """The compression of this archive, with its dictionaries."""
        if self._codec is None:
            dictionaries = dict(self.execute("SELECT id, data FROM dictionary").fetchall())
            current = self.value("SELECT value FROM meta WHERE name = 'dictionary'")
            self._codec = Codec(dictionaries, current)
        return self._codec

    def forget_codec(self) -> None:
        """Read the dictionaries anew: the writer calls this after training one."""
        self._codec = None

    # -- writing ----------------------------------------------------------------

    def add(
        self, messages: Sequence[Message], raws: Sequence[Raw], marks: Iterable[Mark] = ()
    ) -> Added:
        """Store messages, each made of the raw mail beside it, and marks in one transaction.

        A mail that is already there is not stored twice; a copy of a known message
        is merged into it.  Raises ArchiveError; then nothing of the batch is stored.
        """
        from patchlore.kb.parsed import prepare
        from patchlore.kb.writing import Writer

        parsed = [prepare(message, raw) for message, raw in zip(messages, raws, strict=True)]
        return Writer(self).add(parsed, marks)

    # -- inside -----------------------------------------------------------------

    def _unpack(self, data: bytes, message: int) -> Content:
        try:
            return self.codec.unpack(data)
        except (zstandard.ZstdError, ValueError) as error:
            raise ArchiveError(
                f"Message {message} in the archive {self.path} is damaged ({error}): "
                f"run 'patchlore --archive {self.path} check'."
            ) from error

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_version(self) -> None:
        try:
            version = self.connection.execute("PRAGMA user_version").fetchone()[0]
            owner = self.connection.execute("PRAGMA application_id").fetchone()[0]
            tables = self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if version == 0 and owner == 0 and tables == 0:
                if not self.writable:  # the writer that made the file was killed, or is at it
                    raise _no_archive(self.path)
                _create(self.connection)
                return
        except sqlite3.DatabaseError as error:
            raise explain_error(error, self.path) from error
        if owner != APPLICATION_ID:
            raise OtherVersionError(f"{database_path(self.path)} is not an archive of patchlore.")
        if version > SCHEMA_VERSION:
            raise OtherVersionError(
                f"The archive {self.path} was written by a newer patchlore "
                f"(schema {version}, this one knows {SCHEMA_VERSION}): update patchlore."
            )
        if self.writable and self.facts_version > FACTS_VERSION:
            # Rows of an older form among those would never be redone.
            raise OtherVersionError(
                f"The facts in the archive {self.path} are of a newer patchlore "
                f"({self.facts_version}, this one makes {FACTS_VERSION}): update patchlore "
                "to write to it; reading works."
            )
        if version < SCHEMA_VERSION:
            self._upgrade(version)

    def _upgrade(self, version: int) -> None:
        """Bring an older archive up to date; one that is only read can't be."""
        if not can_upgrade(version):
            raise OtherVersionError(
                f"The archive {self.path} was written by an older patchlore (schema {version}, "
                f"now {SCHEMA_VERSION}): ingest its sources into a new archive."
            )
        if not self.writable:
            raise OtherVersionError(
                f"The archive {self.path} was written by an older patchlore (schema {version}, "
                f"now {SCHEMA_VERSION}): run 'patchlore --archive {self.path} ingest SOURCE' with "
                "any of its sources, which upgrades it and keeps what is in it."
            )
        try:
            upgrade(self.connection, version, SCHEMA_VERSION)
        except sqlite3.Error as error:
            raise explain_error(error, self.path) from error


def _no_archive(path: pathlib.Path) -> NoArchiveError:
    if path.exists() and not path.is_dir():
        return NoArchiveError(f"{path} is a file: an archive is a folder; name it by --archive.")
    return NoArchiveError(
        f"There is no archive in {path}: make one with "
        f"'patchlore --archive {path} ingest SOURCE', or name another with --archive."
    )


def _stored_text(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript(
        f"BEGIN IMMEDIATE;\n{schema()}\n"
        f"INSERT INTO meta VALUES ('revision', 0), ('facts', {FACTS_VERSION});\n"
        f"PRAGMA application_id = {APPLICATION_ID};\n"
        f"PRAGMA user_version = {SCHEMA_VERSION};\nCOMMIT;"
    )


@contextlib.contextmanager
def transaction(archive: Archive) -> Iterator[None]:
    """Run a block in one transaction: all of it is stored, or nothing.

    Errors of SQLite become ArchiveErrors; any exception rolls back.
    """
    connection = archive.connection
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise explain_error(error, archive.path) from error
        raise

"""The database file of an archive: its lock, its connections, and what SQLite's errors mean."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import sqlite3
from typing import IO

from patchlore.kb.errors import ArchiveError, OtherVersionError

#: PRAGMA application_id: "PLor"; an SQLite file of somebody else is refused.
APPLICATION_ID = 0x504C6F72

FILE_NAME = "archive.sqlite"

#: Larger pages than the default hold one or more compressed mails with little waste.
PAGE_SIZE = 8192


def database_path(folder: str | os.PathLike[str]) -> pathlib.Path:
    """Return the path of the database file of the archive in ``folder``."""
    return pathlib.Path(folder) / FILE_NAME


def take_lock(path: pathlib.Path) -> IO[bytes]:
    """Make the folder of an archive if need be and return its lock, held until it is closed.

    Raises ArchiveError when the folder can't be written or another writer is there.
    """
    if path.exists() and not path.is_dir():
        raise ArchiveError(f"{path} is a file: an archive is a folder; name it by --archive.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = open(path / "lock", "wb")  # noqa: SIM115 (held until close)
    except OSError as error:
        raise ArchiveError(f"Can't write to the archive {path}: {error.strerror}.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise ArchiveError(
            f"Another patchlore is writing to the archive {path}: wait until it is done."
        ) from error
    return lock


def is_there(path: pathlib.Path) -> bool:
    """Whether the database exists; raises ArchiveError where one may not even look."""
    try:
        return path.exists()
    except OSError as error:
        raise ArchiveError(
            f"The archive {path.parent} can't be opened: {error.strerror or error}."
        ) from error


def refuse_foreign(path: pathlib.Path) -> None:
    """Raise ArchiveError for a database of somebody else, before anything of it is changed."""
    if not is_there(path) or not path.stat().st_size:
        return
    wal = path.with_name(path.name + "-wal")
    # Without a log nothing is pending, and "immutable" leaves no file beside it.
    settled = not wal.exists() or not wal.stat().st_size
    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if settled else ''}"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            owner = connection.execute("PRAGMA application_id").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    except sqlite3.Error:
        return  # what is wrong with it is said when it is opened for writing
    if owner != APPLICATION_ID and (owner or tables):
        raise OtherVersionError(f"{path} is not an archive of patchlore.")


def connect(path: pathlib.Path, *, write: bool) -> sqlite3.Connection:
    """Open the database file, made when absent where ``write``; raises ArchiveError."""
    mode = "rwc" if write else "ro"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=512)
    except sqlite3.Error as error:
        raise explain_error(error, path.parent) from error
    try:
        if not write:
            connection = _readable(connection, path)
        connection.execute("PRAGMA foreign_keys = OFF")  # verified by `check`, kept by the writer
        connection.execute("PRAGMA cache_size = -32768")
        connection.execute("PRAGMA temp_store = MEMORY")
        if write:
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode = WAL")
            # In WAL mode NORMAL can lose the last batches on power failure, never tear one.
            connection.execute("PRAGMA synchronous = NORMAL")
            # Pages that every batch changes are then written to the file once for several.
            connection.execute("PRAGMA wal_autocheckpoint = 4000")
    except sqlite3.Error as error:
        connection.close()
        raise explain_error(error, path.parent) from error
    return connection


def _readable(connection: sqlite3.Connection, path: pathlib.Path) -> sqlite3.Connection:
    """Return a connection that can read ``path`` even where nothing may be written.

    A WAL database needs its shared-memory file; on a read-only medium it can't be
    made, but there the file can't change either.
    """
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return connection
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK):
            connection.close()
            return _recovered(path)
        pending = any(
            side.exists() and side.stat().st_size
            for side in (path.with_name(path.name + end) for end in ("-wal", "-journal"))
        )
        if os.access(path.parent, os.W_OK) or pending:
            raise
    connection.close()
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=512)


def _recovered(path: pathlib.Path) -> sqlite3.Connection:
    """Return a connection that can read a file of which a killed writer left a change half done.

    SQLite takes that back, but only for somebody who may write (a hot journal,
    https://sqlite.org/lockingv3.html); a writer that is at work it leaves alone.
    """
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
    ) as writer:
        writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    uri = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=512)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return connection


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is not what it has written."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def explain_error(error: sqlite3.Error, path: pathlib.Path) -> ArchiveError:
    """Return the error of SQLite as a sentence that says what to do."""
    text = str(error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return ArchiveError(
            f"No space is left for the archive {path}: what was stored before is intact; "
            "make room and run the same command again."
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ArchiveError(
            f"Another program is writing to the archive {path}: wait until it is done."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return ArchiveError(f"The archive {path} can't be written: {text}.")
    if is_damage(error):
        return ArchiveError(
            f"The archive {path} is damaged ({text}): run 'patchlore --archive {path} check "
            f"--repair', which saves what can be read, or restore {FILE_NAME} from a copy."
        )
    if any(f"no such {what}" in text for what in ("table", "column", "row")):
        return ArchiveError(
            f"The archive {path} is damaged ({text}): run 'patchlore --archive {path} check "
            "--repair', which saves what can be read."
        )
    if code == sqlite3.SQLITE_IOERR:
        return ArchiveError(f"Reading or writing the archive {path} failed: {text}.")
    if code == sqlite3.SQLITE_CANTOPEN:
        return ArchiveError(f"The archive {path} can't be opened: no permission, or no such file.")
    return ArchiveError(f"The archive {path} can't be used: {text}.")

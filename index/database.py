"""The database of an index: state, vocabulary, and the text of code, quotations and heads."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Iterator

from patchlore.index.diff_lines import DiffLines
from patchlore.index.engine import CODE_FIELDS, PROSE_FIELDS
from patchlore.index.errors import DamagedIndex, IndexingError
from patchlore.index.fts import FtsTable
from patchlore.index.vocabulary import Vocabulary
from patchlore.index.words import RULES

#: Changes whenever the same mails would be indexed in another way.
INDEX_VERSION = 3

FOLDER = "index"
FILE_NAME = "words.sqlite"
WHOOSH_FOLDER = "whoosh"

#: A document's number is its message's row id, plus this for each time that
#: the message was indexed before: FTS5 without text can't delete, and need not.
GENERATION = 1 << 40

ENGINES = ("whoosh", "sqlite")

#: What SQLite says of damage under the name of another error.
_SIGNS_OF_DAMAGE = ("no such table", "no such column", "fts5", "malformed", "vtable constructor")


class IndexDatabase:
    """ARCHIVE/index/words.sqlite, open for reading or writing.

    Holds how far the index is (``revision``: that of the last message in it;
    ``batch``: how many batches were written), by which rules text was cut into
    words (``words``), the vocabulary, the table
    ``code``, the lines of diffs and, when the engine is sqlite, the table ``prose``.
    """

    def __init__(self, path: pathlib.Path, *, write: bool = False) -> None:
        """Open the database; raises DamagedIndex when it is none of this version."""
        self.path = path
        try:
            self.connection = _connect(path, write=write)
        except sqlite3.Error as error:
            raise DamagedIndex(f"The text index {path} can't be opened ({error}).") from error
        try:
            with self.guarded():
                version = self.connection.execute("PRAGMA user_version").fetchone()[0]
                if version != INDEX_VERSION:
                    raise DamagedIndex(f"The text index {path} was made by another patchlore.")
                state = dict(self.connection.execute("SELECT name, value FROM state").fetchall())
            self.engine = str(state.get("engine"))
            self.revision = int(state.get("revision", 0))
            self.batch = int(state.get("batch", 0))
            if self.engine not in ENGINES:
                raise DamagedIndex(f"The text index {path} was made by another patchlore.")
            if state.get("words") != RULES:
                raise DamagedIndex(f"The text index {path} was cut into words by other rules.")
        except BaseException:
            self.connection.close()
            raise
        self.code = FtsTable(self.connection, "code", CODE_FIELDS)
        self.prose = FtsTable(self.connection, "prose", PROSE_FIELDS)
        self.lines = DiffLines(self.connection)
        self.vocabulary = Vocabulary(self.connection)

    @staticmethod
    def create(path: pathlib.Path, engine: str) -> None:
        """Make an empty database at PATH for an index whose prose is held by ENGINE."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # A relative path like "file:x" would be taken for a URI.
        connection = sqlite3.connect(path.absolute(), isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "CREATE TABLE state (name TEXT PRIMARY KEY, value ANY NOT NULL)"
                " STRICT, WITHOUT ROWID"
            )
            connection.executemany(
                "INSERT INTO state VALUES (?, ?)",
                [("engine", engine), ("words", RULES), ("revision", 0), ("batch", 0)],
            )
            # Messages that were indexed again since a better copy came: which
            # of their documents counts.
            connection.execute(
                "CREATE TABLE redone (message INTEGER PRIMARY KEY, generation INTEGER NOT NULL)"
            )
            FtsTable(connection, "code", CODE_FIELDS).create()
            if engine == "sqlite":
                FtsTable(connection, "prose", PROSE_FIELDS).create()
            DiffLines(connection).create()
            Vocabulary(connection).create()
            connection.execute(f"PRAGMA user_version = {INDEX_VERSION}")
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            connection.close()
            for end in ("", "-wal", "-shm"):  # half of an index is none
                path.with_name(path.name + end).unlink(missing_ok=True)
            raise IndexingError(
                f"The text index {path} can't be made: {error}. The archive is intact; "
                "run 'patchlore index' when that is mended."
            ) from error
        finally:
            connection.close()

    def prepare_bulk(self) -> None:
        """Set the tables of text up for adding many documents."""
        self.code.prepare_bulk()
        if self.engine == "sqlite":
            self.prose.prepare_bulk()

    def redone(self) -> dict[int, int]:
        """The generation that counts, for each message that was indexed more than once."""
        return dict(self.connection.execute("SELECT message, generation FROM redone").fetchall())

    def save_state(self, revision: int, batch: int) -> None:
        """Note how far the index is, in the transaction that is open."""
        self.connection.executemany(
            "UPDATE state SET value = ? WHERE name = ?", [(revision, "revision"), (batch, "batch")]
        )
        self.revision, self.batch = revision, batch

    def close(self) -> None:
        """Close the connection; a transaction that is open is rolled back."""
        self.connection.close()

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn SQLite's reports of damage into DamagedIndex."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if any(sign in str(error) for sign in _SIGNS_OF_DAMAGE):
                raise DamagedIndex(f"The text index {self.path} is damaged ({error}).") from error
            raise IndexingError(f"The text index {self.path} can't be used: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise DamagedIndex(f"The text index {self.path} is damaged ({error}).") from error


def _connect(path: pathlib.Path, *, write: bool) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(
        f"{uri}?mode={'rw' if write else 'ro'}", uri=True, isolation_level=None
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if write or os.access(path.parent, os.W_OK):
            raise
        # Where nothing may be written the file that readers share can't be
        # made, but there the index can't change either.
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, isolation_level=None)
    connection.execute(f"PRAGMA cache_size = {-32768 if write else -65536}")
    if write:
        connection.execute("PRAGMA synchronous = NORMAL")
    else:  # what a writer maps counts as its memory, which then grows with the index
        connection.execute("PRAGMA mmap_size = 1073741824")
    return connection


def database_path(archive: pathlib.Path) -> pathlib.Path:
    """The path of the index database of the archive in the folder ARCHIVE."""
    return archive / FOLDER / FILE_NAME

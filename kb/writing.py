"""The one writer: batches of mails and the marks of their sources, each in one transaction."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterable, Sequence

from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.items import Listing, Mark
from patchlore.kb.batch import Batch
from patchlore.kb.content import pack_sample, train
from patchlore.kb.interning import Names
from patchlore.kb.parsed import Parsed, Sighting, known_copy
from patchlore.kb.store import Added, Archive, transaction


def dictionary_path(archive: pathlib.Path, number: int) -> pathlib.Path:
    """Return where the copy of a compression dictionary is kept."""
    return archive / f"dictionary-{number}"


def lost_dictionaries(archive: Archive) -> dict[pathlib.Path, bytes]:
    """Return what should be in the copies of the archive's dictionaries that are lost or torn."""
    return {path: data for path, data in _dictionaries(archive) if not _has(path, data)}


def keep_dictionaries(archive: Archive) -> int:
    """Write the copies that are lost or torn; return how many dictionaries there are."""
    found = 0
    for path, data in _dictionaries(archive):
        found += 1
        if not _has(path, data):
            with contextlib.suppress(OSError):  # all can be read without it, too
                path.write_bytes(data)
    return found


def _dictionaries(archive: Archive) -> list[tuple[pathlib.Path, bytes]]:
    rows = archive.execute("SELECT id, data FROM dictionary ORDER BY id").fetchall()
    return [(dictionary_path(archive.path, number), data) for number, data in rows]


def _has(path: pathlib.Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


class Writer:
    """Stores batches into an archive that is open for writing.

    After an exception the batch is rolled back and the writer must not be used
    again: what it remembers may not be in the database.
    """

    def __init__(self, archive: Archive) -> None:
        """Take the archive to write to."""
        self._archive = archive
        self._connection = archive.connection
        self._names = Names(self._connection)
        self._has_dictionary = keep_dictionaries(archive) > 0

    def known_copy(self, raw: Raw, sha256: bytes) -> int | None:
        """Return the id of a stored copy with these bytes read in the same format, or None."""
        return known_copy(self._connection, raw, sha256)

    def add(
        self,
        mails: Sequence[Parsed | Sighting],
        marks: Iterable[Mark] = (),
        listings: Iterable[Listing] = (),
    ) -> Added:
        """Store a batch, what index pages list, and how far sources were read, all or nothing."""
        with transaction(self._archive):
            if not self._has_dictionary:
                self._train([mail for mail in mails if isinstance(mail, Parsed)])
            added = Batch(self._archive, self._names).add(mails, listings)
            self._connection.executemany(
                "INSERT INTO mark VALUES (?, ?) ON CONFLICT DO UPDATE SET state = excluded.state",
                [(mark.source, mark.state) for mark in marks],
            )
        return added

    def _train(self, mails: Iterable[Parsed]) -> None:
        """Make the archive's compression dictionary of the first batch that is enough for one."""
        trained = train([pack_sample(mail.raw.data, mail.facts) for mail in mails])
        if trained is None:
            return
        number, data = trained
        # Without it nothing can be read: a copy outside of the database survives its damage.
        dictionary_path(self._archive.path, number).write_bytes(data)
        self._connection.execute("INSERT INTO dictionary VALUES (?, ?)", (number, data))
        self._connection.execute("INSERT INTO meta VALUES ('dictionary', ?)", (number,))
        self._archive.forget_codec()
        self._has_dictionary = True

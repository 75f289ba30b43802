"""Whether the text index is whole and holds just the messages of the archive."""

from __future__ import annotations

from collections.abc import Iterable

from patchlore.index.database import (
    FOLDER,
    GENERATION,
    WHOOSH_FOLDER,
    IndexDatabase,
    database_path,
)
from patchlore.index.engine import AnyWord
from patchlore.index.errors import DamagedIndex, IndexingError
from patchlore.index.sums import wrong_sums
from patchlore.kb.store import Archive


def check_index(archive: Archive, *, pages: bool = True) -> tuple[list[str], list[str]]:
    """Return what was verified and the faults; an archive without an index has none.

    Messages that are not indexed yet are no fault: the next run indexes them.
    Without ``pages`` what reads the whole index is left out: SQLite's own check, and sums.
    """
    path = database_path(archive.path)
    if not path.exists():
        return [], []
    try:
        database = IndexDatabase(path)
    except (DamagedIndex, IndexingError) as error:
        return [], [str(error)]
    try:
        with database.guarded():
            return _compare(archive, database, pages)
    except (DamagedIndex, IndexingError) as error:
        return [], [str(error)]
    finally:
        database.close()


def _compare(archive: Archive, database: IndexDatabase, pages: bool) -> tuple[list[str], list[str]]:
    verified, faults = [], []
    if pages:
        found = [text for (text,) in database.connection.execute("PRAGMA integrity_check(5)")]
        if found == ["ok"]:
            verified.append("the pages of the text index")
        else:
            faults += [f"text index: {text}" for text in found]
        changed = wrong_sums(database)
        faults += [f"text index: {name} is not what was written" for name in changed]
        if not changed:
            verified.append("the checksums of the text index")
    newest = archive.value("SELECT coalesce(max(revision), 0) FROM message")
    if database.revision > newest:
        faults.append("text index: it was made of another archive")
        return verified, faults
    wanted = {
        id_
        for (id_,) in archive.execute(
            "SELECT id FROM message WHERE revision <= ?", (database.revision,)
        )
    }
    code = (id_ for (id_,) in database.connection.execute("SELECT id FROM code_docsize"))
    lost = _differences("code", code, wanted, archive)
    for table in (database.code, database.prose)[: 1 + (database.engine == "sqlite")]:
        table.find(table.fields, AnyWord(("the",)))  # reads its own notes, at least
    if database.engine == "whoosh":
        lost += _check_whoosh(archive, wanted)
    if not lost:
        verified.append(f"that the text index has the {len(wanted):,} messages that it should have")
    return verified, faults + lost


def _check_whoosh(archive: Archive, wanted: set[int]) -> list[str]:
    from patchlore.index.whoosh_engine import WhooshEngine

    folder = archive.path / FOLDER / WHOOSH_FOLDER
    if not wanted and not folder.exists():
        return []
    engine = WhooshEngine(folder)
    try:
        return _differences("prose", engine.documents(), wanted, archive)
    finally:
        engine.close()


def _differences(
    what: str, numbers: Iterable[int], wanted: set[int], archive: Archive
) -> list[str]:
    there = {number % GENERATION for number in numbers}
    faults = []
    if missing := len(wanted - there):
        faults.append(f"text index ({what}): {missing:,} messages are missing")
    # What was indexed again since has a revision above the index's, and stays.
    known = {id_ for (id_,) in archive.execute("SELECT id FROM message")}
    if foreign := len(there - known):
        faults.append(f"text index ({what}): {foreign:,} messages are not in the archive")
    return faults

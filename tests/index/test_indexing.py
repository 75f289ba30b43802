"""The index follows the archive: new mail, better copies, kills, damage, other versions."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import pathlib
import random
import shutil
import sqlite3

import pytest

from patchlore.index import indexing, whoosh_engine
from patchlore.index.checking import check_index
from patchlore.index.database import ENGINES, IndexDatabase, database_path
from patchlore.index.errors import IndexingError
from patchlore.index.indexing import count_unindexed, update_index
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive
from tests.index.letters import fill_archive, letters, mail, mid


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine."""
    return str(request.param)


def hits(path: pathlib.Path, query: str) -> set[str]:
    """Return the Message-IDs that a query finds."""
    with Archive(path) as archive, Searcher(archive) as searcher:
        return {hit.key for hit in searcher.search(query).hits}


def test_only_what_is_new_is_indexed(tmp_path: pathlib.Path, engine: str) -> None:
    """The second run indexes what came since the first, the third nothing."""
    mails = letters()
    fill_archive(tmp_path, mails[:3])
    assert update_index(tmp_path, engine=engine) == 3
    fill_archive(tmp_path, mails)
    with Archive(tmp_path) as archive:
        assert count_unindexed(archive) == len(mails) - 3
    assert update_index(tmp_path) == len(mails) - 3
    assert update_index(tmp_path) == 0
    assert hits(tmp_path, "night") == {mid(5)}


def test_searches_say_what_is_not_indexed_yet(tmp_path: pathlib.Path, engine: str) -> None:
    """A search for words counts the mails that it can't see; one for facts sees them all."""
    mails = letters()
    fill_archive(tmp_path, mails[:3])
    update_index(tmp_path, engine=engine)
    fill_archive(tmp_path, mails)
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        assert searcher.search("ring").not_indexed == len(mails) - 3
        facts = searcher.search("is:patch")
        assert (facts.total, facts.not_indexed) == (3, 0)


def test_without_an_index_facts_are_still_found(tmp_path: pathlib.Path) -> None:
    """An archive that was never indexed answers exact questions, and says why words fail."""
    fill_archive(tmp_path, letters())
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        assert searcher.search("pr:83356").total == 3
        results = searcher.search("ring")
        assert results.total == 0
        assert "no text index yet" in results.notes[0]


def test_a_better_copy_takes_the_place_of_a_worse_one(tmp_path: pathlib.Path, engine: str) -> None:
    """When the facts of a mail are redone, its old words are found no more."""
    worse = mail(7, "Plans", "The words of the masked copy.\n")
    worse.source.fidelity = "masked"
    fill_archive(tmp_path, [*letters(), worse])
    update_index(tmp_path, engine=engine)
    assert hits(tmp_path, "masked") == {mid(7)}
    fill_archive(tmp_path, [mail(7, "Plans", "The words of the exact copy.\n")])
    assert update_index(tmp_path) == 1
    assert hits(tmp_path, "masked") == set()
    assert hits(tmp_path, "nq:exact") == {mid(7)}
    assert hits(tmp_path, "-nq:exact s:plans") == {mid(5)}


def test_a_killed_run_goes_on_where_it_was(
    tmp_path: pathlib.Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed before a kill stays, the rest is done by the next run."""
    monkeypatch.setattr(indexing, "BATCH", 2)
    fill_archive(tmp_path, letters())

    real = IndexDatabase.save_state
    calls = []

    def save_state(self: IndexDatabase, revision: int, batch: int) -> None:
        calls.append(batch)
        if len(calls) == 2:
            raise KeyboardInterrupt  # after the engine's commit, before the database's
        real(self, revision, batch)

    monkeypatch.setattr(IndexDatabase, "save_state", save_state)
    with pytest.raises(KeyboardInterrupt):
        update_index(tmp_path, engine=engine)
    monkeypatch.setattr(IndexDatabase, "save_state", real)
    with Archive(tmp_path) as archive:
        assert count_unindexed(archive) == 4
    assert update_index(tmp_path) == 4
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        assert searcher.search("s:ring").total == 4
        assert searcher.search("ring", sort="rank").total == 4


def damage_text(path: pathlib.Path) -> None:
    """Overwrite the middle of every file of the index's own."""
    for file in [database_path(path), *(path / "index" / "whoosh").glob("*.seg")]:
        data = bytearray(file.read_bytes())
        data[100 : len(data) // 2] = b"\xff" * (len(data) // 2 - 100)
        file.write_bytes(data)
    for file in (path / "index" / "whoosh").glob("*.toc"):
        file.write_bytes(b"no index")


def test_a_damaged_index_is_built_again(tmp_path: pathlib.Path, engine: str) -> None:
    """Damage is told in a sentence and the index is built from the archive."""
    fill_archive(tmp_path, letters()[:4])
    update_index(tmp_path, engine=engine)
    damage_text(tmp_path)
    fill_archive(tmp_path, letters())
    notes: list[str] = []
    assert update_index(tmp_path, notice=notes.append) == len(letters())
    assert len(notes) == 1
    assert notes[0].endswith("It is built again.")
    assert hits(tmp_path, "night") == {mid(5)}


# Whoosh forgets the file that it fails on.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_damaged_segment_of_whoosh_is_met_and_built_again(tmp_path: pathlib.Path) -> None:
    """Damage inside Whoosh's files is told by a search and mended by the next run."""
    fill_archive(tmp_path, letters()[:4])
    update_index(tmp_path)
    for file in (tmp_path / "index" / "whoosh").glob("*.seg"):
        data = file.read_bytes()
        file.write_bytes(data[: len(data) // 4] + b"\xff" * (len(data) - len(data) // 4))
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        results = searcher.search("ring")
        assert results.total == 0
        assert "Words can't be searched" in results.notes[0]
    fill_archive(tmp_path, letters())
    notes: list[str] = []
    assert update_index(tmp_path, notice=notes.append) == len(letters())
    assert hits(tmp_path, "night") == {mid(5)}
    gc.collect()


def test_a_search_in_a_damaged_index_says_so(tmp_path: pathlib.Path, engine: str) -> None:
    """A search does not fail on damage: it says that words can't be searched."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path, engine=engine)
    damage_text(tmp_path)
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        results = searcher.search("ring")
        assert results.total == 0
        assert "Words can't be searched" in results.notes[0]


def test_a_search_that_lacks_means_marks_no_damage(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file may be opened any more: that says nothing of the index, which stays as it is."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)

    def refuse(folder: pathlib.Path) -> object:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(whoosh_engine, "_storage", refuse)
    with (
        Archive(tmp_path) as archive,
        Searcher(archive) as searcher,
        pytest.raises(IndexingError, match="Too many open files"),
    ):
        searcher.search("ring")
    assert not (tmp_path / "index" / "damaged").exists()
    monkeypatch.undo()
    assert hits(tmp_path, "night") == {mid(5)}


def test_a_file_in_the_place_of_the_index_is_named(tmp_path: pathlib.Path) -> None:
    """What somebody has put there is not removed unasked."""
    fill_archive(tmp_path, letters())
    (tmp_path / "index").write_text("mine")
    with pytest.raises(IndexingError, match="is no folder: remove it"):
        update_index(tmp_path)


def faults(path: pathlib.Path) -> list[str]:
    """Return what a check of the index finds wrong."""
    with Archive(path) as archive:
        return check_index(archive)[1]


@pytest.mark.parametrize("part", ["quotations", "prose"])
def test_damage_that_stays_readable_is_told_by_check(
    tmp_path: pathlib.Path, engine: str, part: str
) -> None:
    """A changed octet in postings makes no search fail; sums tell, and a later run keeps them."""
    fill_archive(tmp_path, letters()[:3])
    update_index(tmp_path, engine=engine)
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    assert faults(tmp_path) == []
    segment = next((tmp_path / "index" / "whoosh").glob("*.seg"), None)
    if part == "prose" and segment is not None:
        data = bytearray(segment.read_bytes())
        data[len(data) // 2] ^= 1
        segment.write_bytes(data)
    else:
        table = "prose_data" if part == "prose" else "code_data"
        connection = sqlite3.connect(database_path(tmp_path))
        id_, block = connection.execute(f"SELECT max(id), block FROM {table}").fetchone()
        changed = block[:-1] + bytes([block[-1] ^ 1])
        connection.execute(f"UPDATE {table} SET block = ? WHERE id = ?", (changed, id_))
        connection.commit()
        connection.close()
    assert any("is not what was written" in fault for fault in faults(tmp_path))
    update_index(tmp_path, rebuild=True)
    assert faults(tmp_path) == []


def test_a_run_that_was_killed_leaves_no_wrong_sums(
    tmp_path: pathlib.Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first batch and the end of a run there are no sums of tables."""
    fill_archive(tmp_path, letters()[:3])
    update_index(tmp_path, engine=engine)
    fill_archive(tmp_path, letters())
    monkeypatch.setattr(indexing, "save_sums", lambda database: (_ for _ in ()).throw(KeyError))
    with pytest.raises(KeyError):
        update_index(tmp_path)
    assert faults(tmp_path) == []
    monkeypatch.undo()
    assert update_index(tmp_path) == 0
    assert faults(tmp_path) == []


def damaged_places(path: pathlib.Path) -> list[tuple[pathlib.Path, str]]:
    """The files of an index that can be damaged, and the ways to do it."""
    connection = sqlite3.connect(database_path(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    files = [database_path(path), *(path / "index" / "whoosh").glob("*.*")]
    return [(file, how) for file in files for how in ("gone", "cut", "void", "noise", "zeros")]


def damage(file: pathlib.Path, how: str, chance: random.Random) -> None:
    """Damage a file in the way that HOW says, at a place that chance says."""
    data = bytearray(file.read_bytes())
    place = chance.randrange(len(data) // 2)
    if how == "gone":
        file.unlink()
        return
    if how == "cut":
        del data[place:]
    elif how == "void":
        data.clear()
    elif how == "noise":
        data[place:] = chance.randbytes(len(data) - place)
    else:
        data[place:] = bytes(len(data) - place)
    file.write_bytes(bytes(data))


# Whoosh forgets the file that it fails on.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("seed", range(2))
def test_any_damage_is_told_and_mended(tmp_path: pathlib.Path, engine: str, seed: int) -> None:
    """Whatever file is damaged, a search answers with a note, and "index" mends it though
    no mail is new; the archive keeps its engine."""
    chance = random.Random(seed)
    path = tmp_path / "whole"
    fill_archive(path, letters())
    update_index(path, engine=engine)
    queries = ("night", '"the ring"', "wrap*", "dfb:/wrap/", "q:wrap", "mmsg", "nowhere")
    expected = {query: hits(path, query) for query in queries}
    for number, (file, how) in enumerate(damaged_places(path)):
        copy = tmp_path / str(number)
        shutil.copytree(path, copy)
        damage(copy / file.relative_to(path), how, chance)
        told = False
        with Archive(copy) as archive, Searcher(archive) as searcher:
            for query in queries:
                results = searcher.search(query, sort="rank")
                told = told or bool(results.notes) or results.not_indexed > 0
                found = {hit.key for hit in results.hits}
                assert found == expected[query] or told, (file.name, how, query)
        notes: list[str] = []
        update_index(copy, notice=notes.append, verify=True)
        assert not notes or "built again" in notes[-1]
        assert {query: hits(copy, query) for query in queries} == expected, (file.name, how)
        if file != database_path(path):
            with contextlib.closing(IndexDatabase(database_path(copy))) as database:
                assert database.engine == engine
    gc.collect()


# Whoosh forgets the file that it fails on.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_every_search_says_that_the_index_is_damaged(tmp_path: pathlib.Path, engine: str) -> None:
    """Not only the first of a program that asks many."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path, engine=engine)
    damage_text(tmp_path)
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        for _ in range(3):
            assert "Words can't be searched" in searcher.search("ring").notes[0]
        assert searcher.search("is:patch").notes == []
    gc.collect()


def test_the_engine_stays_through_a_rebuild(tmp_path: pathlib.Path, engine: str) -> None:
    """An index that is built anew, or was made by another version, has the engine it had."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path, engine=engine)
    update_index(tmp_path, rebuild=True)
    with contextlib.closing(IndexDatabase(database_path(tmp_path))) as database:
        assert database.engine == engine
        revision = database.revision
    connection = sqlite3.connect(database_path(tmp_path))
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert update_index(tmp_path) == len(letters())
    with contextlib.closing(IndexDatabase(database_path(tmp_path))) as database:
        assert (database.engine, database.revision) == (engine, revision)


def test_an_index_of_another_version_is_built_again(tmp_path: pathlib.Path) -> None:
    """An index of another patchlore is replaced, with a word about it."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    connection = sqlite3.connect(database_path(tmp_path))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    notes: list[str] = []
    assert update_index(tmp_path, notice=notes.append) == len(letters())
    assert "another patchlore" in notes[0]


def test_an_index_cut_by_other_rules_is_built_again(tmp_path: pathlib.Path) -> None:
    """An index whose words were cut otherwise is replaced, with a word about it."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    connection = sqlite3.connect(database_path(tmp_path))
    connection.execute("UPDATE state SET value = 1 WHERE name = 'words'")
    connection.commit()
    connection.close()
    notes: list[str] = []
    assert update_index(tmp_path, notice=notes.append) == len(letters())
    assert "other rules" in notes[0]


def test_the_engine_can_be_changed(tmp_path: pathlib.Path) -> None:
    """Another engine builds the index anew and answers the same; later runs keep it."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    before = hits(tmp_path, "ring")
    assert update_index(tmp_path, engine="sqlite") == len(letters())
    assert not (tmp_path / "index" / "whoosh").exists()
    assert hits(tmp_path, "ring") == before
    assert update_index(tmp_path) == 0


def test_a_rebuild_starts_afresh(tmp_path: pathlib.Path) -> None:
    """With rebuild everything is indexed again."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    assert update_index(tmp_path, rebuild=True) == len(letters())


def test_one_writer_at_a_time(tmp_path: pathlib.Path) -> None:
    """A second run waits until the first is done, and says so."""
    fill_archive(tmp_path, letters())
    (tmp_path / "index").mkdir()
    lock = open(tmp_path / "index" / "lock", "wb")  # noqa: SIM115 (closed by the notice)
    fcntl.flock(lock, fcntl.LOCK_EX)
    notes: list[str] = []

    def notice(text: str) -> None:
        notes.append(text)
        lock.close()

    assert update_index(tmp_path, notice=notice) == len(letters())
    assert "waiting" in notes[0]


def test_an_unknown_engine_is_refused(tmp_path: pathlib.Path) -> None:
    """Only the engines that there are can be asked for."""
    fill_archive(tmp_path, letters()[:1])
    with pytest.raises(IndexingError, match="whoosh or sqlite"):
        update_index(tmp_path, engine="xapian")


def test_progress_is_told(tmp_path: pathlib.Path) -> None:
    """The caller hears how many are done and how many there are."""
    fill_archive(tmp_path, letters())
    told: list[tuple[int, int]] = []
    update_index(tmp_path, lambda done, total: told.append((done, total)))
    assert told[0] == (0, len(letters()))
    assert told[-1] == (len(letters()), len(letters()))


def test_a_full_disk_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk is a sentence, and what was indexed before is kept."""
    from patchlore.index.whoosh_engine import WhooshWriter

    fill_archive(tmp_path, letters()[:4])
    update_index(tmp_path)
    fill_archive(tmp_path, letters())

    def fail(self: WhooshWriter, batch: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(WhooshWriter, "commit", fail)
        with pytest.raises(IndexingError, match="No space left on device"):
            update_index(tmp_path)
    assert hits(tmp_path, "s:rings") == {mid(4), mid(1), mid(2)}
    assert update_index(tmp_path) == 2


def test_an_archive_that_can_not_be_written_is_searched(tmp_path: pathlib.Path) -> None:
    """Words are found in an archive on a read-only medium."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    folders = [tmp_path, tmp_path / "index", tmp_path / "index" / "whoosh"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert hits(tmp_path, "night") == {mid(5)}
    finally:
        for folder in folders:
            folder.chmod(0o755)

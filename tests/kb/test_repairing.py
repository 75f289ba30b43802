"""Archives that are rebuilt from their raw mail: older facts, torn files, lost rows."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import signal
import sqlite3
import struct
from collections.abc import Iterable

import pytest

from patchlore.cli import main
from patchlore.kb.checking import check
from patchlore.kb.database import database_path
from patchlore.kb.edges import update_edges
from patchlore.kb.errors import ArchiveError
from patchlore.kb.filling import fill
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.redoing import redo_facts
from patchlore.kb.repairing import DAMAGED, rescue
from patchlore.kb.salvage import Pages
from patchlore.kb.store import FACTS_VERSION, Archive
from tests.kb.dumping import canonical, dump, facts
from tests.kb.git_repositories import Repository
from tests.kb.letters import write_mails, write_mbox


@pytest.fixture
def filled(tmp_path: pathlib.Path) -> pathlib.Path:
    """An archive of two hundred mails from a folder beside it."""
    write_mails(tmp_path / "mail", 200)
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "mail")], jobs=0)
    return tmp_path / "archive"


def test_facts_are_redone_as_they_were(filled: pathlib.Path) -> None:
    """Every row of every table is the same again, but for the revision of the messages."""
    with Archive(filled, write=True) as archive:
        before = dump(archive, revisions=False)
        archive.execute("DELETE FROM commit_ref")
        archive.execute("UPDATE mid SET thread = 1")
        archive.execute("INSERT INTO cve VALUES ('CVE-2024-11111', 9999)")
        archive.execute("DELETE FROM meta WHERE name = 'facts'")
        assert redo_facts(archive) == archive.value("SELECT count(*) FROM message")
        assert dump(archive, revisions=False) == before
        assert archive.facts_version == FACTS_VERSION


def test_ingest_brings_older_facts_up_to_date(filled: pathlib.Path) -> None:
    """An archive of an older patchlore is redone before anything new is read."""
    with Archive(filled, write=True) as archive:
        archive.execute("DELETE FROM meta WHERE name = 'facts'")
        archive.execute("DELETE FROM trailer")
        assert check(archive).is_outdated
        fill(archive, [], jobs=0)
        assert archive.facts_version == FACTS_VERSION
        assert archive.value("SELECT count(*) FROM trailer") > 0
        assert not check(archive).is_outdated


NOTES = (
    'tick: use two\n\nIt is too slow.\n\nFixes: 0123456789ab ("tick: begin")\n'
    "Cc: stable@vger.kernel.org # 5.10+, but not 6.1\n",
    'Revert "tick: use two"\n\nThis partially reverts commit 0123456789abcdef.\n',
)


@pytest.mark.parametrize("again", ["mail", "tree", "nothing of"])
def test_the_facts_of_commits_are_redone_as_they_were(tmp_path: pathlib.Path, again: str) -> None:
    """Whatever is read next, the notes and tags of older commits are those of this version."""
    clock = Repository(tmp_path / "clock")
    for note in NOTES:
        clock.commit(note)
    write_mails(tmp_path / "mail", 3)
    with Archive(tmp_path / "archive", write=True) as archive:
        fill_tree(archive, "mainline", str(clock.folder))
        before = canonical(archive)
        assert before["git_stable_note"]
        archive.execute("DELETE FROM git_stable_note")
        archive.execute("UPDATE git_commit_ref SET relation = 'reverts'")
        archive.execute("UPDATE git_commit SET subject = 'x', title_hash = 0, author = NULL")
        archive.execute("INSERT INTO git_cve (name, git_commit) VALUES ('CVE-2024-11111', 99)")
        archive.execute("UPDATE meta SET value = value - 1 WHERE name = 'facts'")
        if again == "tree":
            clock.commit("tock: begin\n")
            fill_tree(archive, "mainline", str(clock.folder))
        else:
            fill(archive, [str(tmp_path / "mail")] if again == "mail" else [], jobs=0)
        assert archive.facts_version == FACTS_VERSION
        after = canonical(archive)
    for table in ("git_stable_note", "git_commit_ref", "git_cve", "git_commit"):
        found = [row for row in after[table] if "tock: begin" not in row]
        assert found == before[table], table


def test_a_commit_that_is_damaged_stops_no_redoing(tmp_path: pathlib.Path) -> None:
    """`check` names it; the others are redone."""
    clock = Repository(tmp_path / "clock")
    shas = [clock.commit(note) for note in NOTES]
    with Archive(tmp_path / "archive", write=True) as archive:
        fill_tree(archive, "mainline", str(clock.folder))
        archive.execute("UPDATE git_commit SET data = x'00' WHERE sha = ?", (shas[0],))
        archive.execute("UPDATE git_commit SET subject = 'x'")
        redo_facts(archive)
        assert archive.execute("SELECT subject FROM git_commit ORDER BY id").fetchall() == [
            ("x",),
            ('Revert "tick: use two"',),
        ]
        assert not check(archive).is_sound


def test_the_copy_of_a_dictionary_is_written_again(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`check` tells that it is lost, a repair and an ingest bring it back."""
    (copy,) = filled.glob("dictionary-*")
    data = copy.read_bytes()
    command = ["--archive", str(filled)]
    main([*command, "index"])
    for mending in (["check", "--repair"], ["ingest", str(filled.parent / "mail")]):
        copy.write_bytes(data[:99])
        assert main([*command, "check"]) == 0
        assert f"note: {copy.name}" in capfd.readouterr().out
        assert main([*command, *mending]) == 0
        assert copy.read_bytes() == data
        capfd.readouterr()
        main([*command, "check"])
        assert "note:" not in capfd.readouterr().out


def test_a_torn_file_is_rebuilt_of_what_can_be_read(filled: pathlib.Path) -> None:
    """Pages of noise cost the mails on them; ingest of the sources brings those back."""
    with Archive(filled) as archive:
        before = facts(archive)
    path = database_path(filled)
    data = bytearray(path.read_bytes())
    noise = random.Random(7)
    for page in range(12, len(data) // 8192, 11):
        data[page * 8192 : page * 8192 + 8192] = noise.randbytes(8192)
    path.write_bytes(data)
    result = rescue(filled)
    assert 0 < result.copies < 200
    assert (filled / DAMAGED).exists()
    with Archive(filled, write=True) as archive:
        assert check(archive).is_sound
        fill(archive, [str(filled.parent / "mail")], jobs=0)
        assert facts(archive) == before


def tear(archive: pathlib.Path, pages: Iterable[int]) -> None:
    """Overwrite pages of the database (from 1) with zeros."""
    with database_path(archive).open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 8192)
            file.write(bytes(8192))


def root(archive: pathlib.Path, table: str) -> int:
    """Return the page under which all rows of a table hang."""
    with Archive(archive) as opened:
        return int(opened.value("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)))


def test_what_hides_all_tables_costs_no_mail(filled: pathlib.Path, clock: Repository) -> None:
    """Without its first page SQLite finds nothing, though all rows are there."""
    write_mbox(filled.parent / "again.mbox", 20)
    with Archive(filled, write=True) as archive:
        fill_tree(archive, "mainline", str(clock.folder))
        fill(archive, [str(filled.parent / "again.mbox")], jobs=0)
        before = facts(archive)
    tear(filled, [1])
    result = rescue(filled)
    assert (result.messages, result.commits) == (len(before), 1)
    with Archive(filled, write=True) as archive:
        assert check(archive).is_sound
        assert [row[:3] for row in facts(archive)] == [row[:3] for row in before]
        # Where further copies with the same bytes were seen is said by their sources.
        fill(archive, [str(filled.parent / "again.mbox"), str(filled.parent / "mail")], jobs=0)
        assert facts(archive) == before


@pytest.mark.parametrize("table", ["content", "copy", "source", "message", "dictionary"])
def test_a_page_above_all_rows_of_a_table_costs_none(filled: pathlib.Path, table: str) -> None:
    """They are read from their own pages."""
    with Archive(filled) as archive:
        before = facts(archive)
    for name in filled.glob("dictionary-*"):
        name.unlink()
    tear(filled, [root(filled, table)] if table != "dictionary" else [1])
    assert rescue(filled).messages == len(before)
    with Archive(filled) as archive:
        assert check(archive).is_sound
        assert [row[:3] for row in facts(archive)] == [row[:3] for row in before]


@pytest.mark.parametrize("seed", range(20))
def test_pages_of_any_bytes_are_looked_through(tmp_path: pathlib.Path, seed: int) -> None:
    """Noise that looks like leaf pages comes to an end: chains of pages may be rings."""
    chance = random.Random(seed)
    path, count = tmp_path / "noise", 2 + seed
    pages = []
    for _ in range(count):
        page = bytearray(chance.randbytes(512))
        page[0] = 13
        for place in range(8, 512, 8):  # small numbers: cells, sizes, pages that are there
            page[place : place + 3] = bytes(3)
            page[place + 3] = chance.randrange(1, count + 1)
        pages.append(bytes(page))
    head = b"SQLite format 3\0" + (512).to_bytes(2, "big")
    path.write_bytes(head + b"".join(pages)[len(head) :])
    assert all(isinstance(row, tuple) for row in Pages(path).rows())


def test_a_ring_of_pages_ends(tmp_path: pathlib.Path) -> None:
    """A row that claims more bytes than there are, on a page that names itself as the next."""
    page = bytearray(512)
    page[0], page[4], page[9] = 13, 1, 100  # a leaf with one cell, at 100
    page[100:110] = b"\xff" * 8 + b"\x7f\x01"  # 2^63 bytes, row 1
    page[104:512] = (2).to_bytes(4, "big") * 102
    (tmp_path / "ring").write_bytes(b"SQLite format 3\0\x02\0" + bytes(494) + page)
    assert list(Pages(tmp_path / "ring").rows()) == []


def leave_mails_in_the_log(path: pathlib.Path) -> None:
    """Kill a writer of 300 more mails, and tear every page of the database itself."""
    write_mbox(path.parent / "more.mbox", 300)
    child = os.fork()
    if not child:
        archive = Archive(path, write=True)
        fill(archive, [str(path.parent / "more.mbox")], jobs=0)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    tear(path, range(1, database_path(path).stat().st_size // 8192 + 1))


def test_the_log_of_a_killed_writer_is_salvaged(filled: pathlib.Path) -> None:
    """What was not yet written to the database is read from there."""
    leave_mails_in_the_log(filled)
    assert rescue(filled).messages > 50


def test_a_repair_that_is_stopped_leaves_a_database(
    filled: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one begins again, and what was kept of an earlier one is not overwritten."""
    (filled / DAMAGED).write_text("of an earlier repair")
    tear(filled, [1])

    def stop(old: pathlib.Path, new: pathlib.Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            rescue(filled)
    assert database_path(filled).exists()
    result = rescue(filled)
    assert (result.messages, result.kept) == (200, f"{DAMAGED}-2")
    assert (filled / DAMAGED).read_text() == "of an earlier repair"
    assert not (filled / f"{DAMAGED}-3").exists()


def test_a_repair_that_is_stopped_keeps_the_log(
    filled: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mails that are only in the log of a killed writer are not lost where a repair is, too."""
    leave_mails_in_the_log(filled)
    replace = os.replace

    def stop(old: pathlib.Path, new: pathlib.Path) -> None:
        if new == database_path(filled):
            raise KeyboardInterrupt
        replace(old, new)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            rescue(filled)
    result = rescue(filled)
    assert (result.messages > 50, result.kept) == (True, DAMAGED)
    assert (filled / f"{DAMAGED}-wal").stat().st_size
    with Archive(filled) as archive:
        assert check(archive).is_sound


def test_a_log_that_names_a_page_far_away_is_read_at_once(tmp_path: pathlib.Path) -> None:
    """A torn number of a page is no reason to look at all pages before it."""
    head = b"SQLite format 3\0" + (512).to_bytes(2, "big")
    (tmp_path / "far").write_bytes(head.ljust(512, b"\0"))
    log = struct.pack(">8I", 0x377F0682, 0, 512, 0, 1, 2, 0, 0)
    log += struct.pack(">6I", 0xFFFFFFFF, 0, 1, 2, 0, 0) + bytes(512)
    (tmp_path / "far-wal").write_bytes(log)
    assert list(Pages(tmp_path / "far").rows()) == []


def test_a_whole_archive_is_rescued_without_loss(filled: pathlib.Path) -> None:
    """Nothing is lost that can be read, and the sources need not be read again."""
    with Archive(filled) as archive:
        before, copies = facts(archive), archive.value("SELECT count(*) FROM copy")
    assert (rescue(filled).copies, rescue(filled).lost) == (copies, 0)
    with Archive(filled, write=True) as archive:
        assert facts(archive) == before
        assert fill(archive, [str(filled.parent / "mail")], jobs=0).read == 0


def test_what_is_in_the_way_of_a_repair(filled: pathlib.Path) -> None:
    """A copy of the dictionary that can't be read costs nothing, the database has it."""
    (copy,) = filled.glob("dictionary-*")
    copy.unlink()
    copy.mkdir()
    (filled / "rescue").write_text("")
    tear(filled, [1])
    assert rescue(filled).messages == 200


def test_nothing_that_can_be_read_changes_nothing(tmp_path: pathlib.Path) -> None:
    """A file of noise stays where it is, and the message says what to do."""
    database_path(tmp_path).write_bytes(b"noise" * 5000)
    with pytest.raises(ArchiveError, match="ingest the sources again"):
        rescue(tmp_path)
    assert database_path(tmp_path).read_bytes() == b"noise" * 5000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.sqlite", "lock"]


def test_check_repair_mends_facts_and_index(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One command finds what is wrong, rebuilds it, and verifies it again."""
    command = ["--archive", str(filled)]
    assert main([*command, "index"]) == 0
    assert main([*command, "check"]) == 0
    assert "that the text index has the" in capfd.readouterr().out
    with sqlite3.connect(filled / "index" / "words.sqlite") as index:
        index.execute("DELETE FROM code_docsize WHERE id < 20")
    index.close()
    with Archive(filled, write=True) as archive:
        archive.execute("INSERT INTO cve VALUES ('CVE-2024-11111', 9999)")
    assert main([*command, "check"]) == 1
    out = capfd.readouterr().out
    assert "text index (code): 19 messages are missing" in out
    assert "table cve" in out
    assert main([*command, "check", "--repair"]) == 0
    assert "The archive is whole." in capfd.readouterr().out
    assert main([*command, "check"]) == 0


def test_check_repair_mends_a_torn_file(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that can't even be opened is rebuilt, or said to be lost."""
    path = database_path(filled)
    data = bytearray(path.read_bytes())
    data[20 * 8192 : 24 * 8192] = bytes(4 * 8192)
    path.write_bytes(data)
    assert main(["--archive", str(filled), "check", "--repair"]) == 0
    err = capfd.readouterr().err
    assert "saved" in err
    assert DAMAGED in err


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM source",
        "DELETE FROM mid WHERE id % 5 = 0",
        "DELETE FROM message WHERE id % 7 = 0",
        "DELETE FROM copy WHERE id % 3 = 0",
        "DELETE FROM meta",
        "DELETE FROM list",
        "DELETE FROM person",
        "DELETE FROM role",
        "DELETE FROM commit_ref WHERE id % 2",
        "DELETE FROM trailer WHERE message < 9",
        "INSERT INTO cve VALUES ('CVE-2024-11111', 7)",
        "UPDATE meta SET value = 3 WHERE name = 'revision'",
    ],
)
def test_check_repair_mends_lost_rows(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str], damage: str
) -> None:
    """Whatever else was lost, all can be made again of the raw mail."""
    with Archive(filled) as archive:
        before = facts(archive)
    command = ["--archive", str(filled), "check"]
    connection = sqlite3.connect(database_path(filled))
    connection.execute(damage)
    connection.commit()
    connection.close()
    assert main(command) == 1
    assert main([*command, "--repair"]) == 0
    assert "The archive is whole." in capfd.readouterr().out
    with Archive(filled) as archive:
        assert facts(archive) == before


@pytest.mark.parametrize("damage", ["DELETE FROM mid", "DELETE FROM meta WHERE name = 'revision'"])
def test_a_writer_says_what_mends_lost_rows(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str], damage: str
) -> None:
    """A row that must be there and isn't is damage of the archive, no error of the program."""
    connection = sqlite3.connect(database_path(filled))
    connection.execute(damage)
    connection.execute("DELETE FROM mark")
    connection.commit()
    connection.close()
    write_mbox(filled.parent / "a.mbox", 230)
    command = ["--archive", str(filled), "ingest", "--no-index", "--jobs", "0"]
    main([*command, str(filled.parent / "a.mbox")])
    err = capfd.readouterr().err
    assert "Traceback" not in err
    if "meta" in damage:
        assert "check --repair" in err


@pytest.fixture
def clock(tmp_path: pathlib.Path) -> Repository:
    """A repository with a commit that links a mail."""
    repository = Repository(tmp_path / "clock")
    repository.commit("tick: use 0\n\nLink: https://lore.kernel.org/r/0-v1@example.org\n")
    repository.tag("v5.10")
    return repository


def test_git_trees_are_read_again(filled: pathlib.Path, clock: Repository) -> None:
    """From where they were, with patch ids where they had them, and edges follow."""
    with Archive(filled, write=True) as archive:
        fill_tree(archive, "mainline", str(clock.folder), patch_ids=True)
        update_edges(archive)
        before = canonical(archive)
        assert before["edge"]
    result = rescue(filled)
    assert (result.commits, result.trees) == (1, [])
    assert "read 1 commit of git trees again" in list(result.lines())
    with Archive(filled) as archive:
        after = canonical(archive)
    for table in before:
        if table.startswith("git_") or table == "edge":
            assert after[table] == before[table], table


def test_a_tree_that_is_not_where_it_was_is_told(filled: pathlib.Path, clock: Repository) -> None:
    """The mails are saved; how to have the tree again is said."""
    with Archive(filled, write=True) as archive:
        fill_tree(archive, "mainline", str(clock.folder))
    clock.folder.rename(clock.folder.with_name("moved"))
    result = rescue(filled)
    assert (result.commits, result.trees) == (0, ["mainline"])
    assert any("'ingest --tree': mainline" in line for line in result.lines())


def test_an_archive_of_trees_alone_is_rescued(tmp_path: pathlib.Path, clock: Repository) -> None:
    """It has no mail that could be lost."""
    with Archive(tmp_path / "archive", write=True) as archive:
        fill_tree(archive, "mainline", str(clock.folder))
    assert rescue(tmp_path / "archive").commits == 1
    with Archive(tmp_path / "archive") as archive:
        assert archive.value("SELECT count(*) FROM git_commit") == 1


def test_a_mail_that_claims_to_be_endless_is_damaged(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The size in a torn frame (RFC 8878) may be any number: no memory is asked for it."""
    with Archive(filled, write=True) as archive:
        packed = bytearray(archive.value("SELECT data FROM content WHERE message = 7"))
        packed[4] |= 0xC0  # eight bytes of size, whatever these were
        packed[9:17] = b"\xff\xff\xff\x7f\xff\xff\xff\x7f"
        archive.execute("UPDATE content SET data = ? WHERE message = 7", (bytes(packed),))
        with pytest.raises(ArchiveError, match="claims to be"):
            archive.content(7)
    assert main(["--archive", str(filled), "check", "--repair"]) == 0
    assert "saved 199 messages" in capfd.readouterr().err


def test_a_torn_page_is_told_wherever_it_is_met(filled: pathlib.Path) -> None:
    """Also where the first rows of a question can be read, and those behind them can't."""
    path = database_path(filled)
    with Archive(filled, write=True) as archive:
        archive.execute("DELETE FROM mid WHERE id % 5 = 0")
    whole = path.read_bytes()
    for page in range(2, len(whole) // 8192 + 1, 7):
        torn = bytearray(whole)
        torn[(page - 1) * 8192 : (page - 1) * 8192 + 3] = b"\xff\xff\xff"
        path.write_bytes(torn)
        with contextlib.suppress(ArchiveError), Archive(filled) as archive:  # or when it is opened
            assert check(archive).is_torn, page


def test_a_search_passes_over_lost_messages(
    filled: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The index has them still: what is left of the archive is shown."""
    assert main(["--archive", str(filled), "index"]) == 0
    with Archive(filled, write=True) as archive:
        archive.execute("DELETE FROM message WHERE id % 2")
    for sort in ("date", "rank"):
        assert main(["--archive", str(filled), "search", "--sort", sort, "tick"]) == 0
    assert "Traceback" not in capfd.readouterr().err

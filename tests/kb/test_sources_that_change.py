"""What the archive does when its sources shrink or are rewritten; who may read meanwhile."""

from __future__ import annotations

import pathlib
import threading

import pytest

from patchlore.ingest.sources.items import Mark
from patchlore.kb import checking
from patchlore.kb.checking import check
from patchlore.kb.filling import Summary, fill
from patchlore.kb.store import Archive
from tests.ingest.repositories import Repository
from tests.kb.dumping import facts
from tests.kb.letters import mails, write_mbox
from tests.kb.mails import message, raw_of


def ingest(path: pathlib.Path, source: pathlib.Path) -> Summary:
    """Read a source into the archive in ``path``."""
    with Archive(path, write=True) as archive:
        return fill(archive, [str(source)], jobs=0)


def keys(path: pathlib.Path) -> list[str]:
    """Return the keys of all messages, in the order of their rows."""
    with Archive(path) as archive:
        return [key for (key,) in archive.execute("SELECT key FROM mail ORDER BY id")]


@pytest.fixture
def inbox(tmp_path: pathlib.Path) -> Repository:
    """A public-inbox epoch of ten mails."""
    repository = Repository(tmp_path / "0.git")
    repository.git("checkout", "-q", "-b", "master")
    for data in mails(10):
        commit(repository, "m", data)
    return repository


def commit(repository: Repository, name: str, data: bytes) -> None:
    """Store a mail (``m``) or take one away (``d``)."""
    for old in ("m", "d"):
        (repository.folder / old).unlink(missing_ok=True)
    (repository.folder / name).write_bytes(data)
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", name)


def git_folder(repository: Repository) -> pathlib.Path:
    """Return the bare repository as public-inbox has it."""
    bare = repository.folder.parent / "list" / "git" / "0.git"
    bare.parent.mkdir(parents=True, exist_ok=True)
    if not bare.exists():
        repository.git("clone", "-q", "--bare", str(repository.folder), str(bare))
    repository.git("push", "-q", "--force", str(bare), "master")
    return bare.parent.parent


def test_a_mailbox_that_shrank_costs_nothing(tmp_path: pathlib.Path) -> None:
    """Mails that were deleted from the file stay in the archive; none is doubled."""
    box = tmp_path / "mail" / "box"
    write_mbox(box, 20)
    ingest(tmp_path / "archive", box)
    before = keys(tmp_path / "archive")
    write_mbox(box, 8)
    assert ingest(tmp_path / "archive", box).new == 0
    write_mbox(box, 25)
    assert ingest(tmp_path / "archive", box).new == 5
    assert keys(tmp_path / "archive")[:20] == before
    with Archive(tmp_path / "archive") as archive:
        assert check(archive).is_sound


def test_an_inbox_that_takes_a_mail_back(tmp_path: pathlib.Path, inbox: Repository) -> None:
    """A mail that was read stays; one that was taken back before is not read."""
    third = list(mails(3))[2]
    ingest(tmp_path / "early", git_folder(inbox))
    commit(inbox, "d", third)
    source = git_folder(inbox)
    assert ingest(tmp_path / "early", source).new == 0
    assert ingest(tmp_path / "late", source).new == 9
    early, late = keys(tmp_path / "early"), keys(tmp_path / "late")
    assert len(early) == 10
    assert [key for key in early if key not in late] == [early[2]]


def test_an_inbox_whose_history_was_rewritten(tmp_path: pathlib.Path, inbox: Repository) -> None:
    """It is read from its start; what is known is known, what is gone stays."""
    ingest(tmp_path / "archive", git_folder(inbox))
    before = keys(tmp_path / "archive")
    inbox.git("checkout", "-q", "--orphan", "again")
    for data in [*list(mails(10))[5:], *list(mails(12))[10:]]:
        commit(inbox, "m", data)
    inbox.git("branch", "-M", "again", "master")
    summary = ingest(tmp_path / "archive", git_folder(inbox))
    assert (summary.new, summary.merged) == (2, 0)
    assert keys(tmp_path / "archive")[:10] == before
    with Archive(tmp_path / "archive") as archive:
        assert archive.value("SELECT count(*) FROM copy") == 12
        assert check(archive).is_sound


def test_a_reader_sees_whole_batches_while_a_writer_writes(tmp_path: pathlib.Path) -> None:
    """What a reader began to see stays so until it asks again; nothing waits."""
    first, second = message("a@example.org"), message("b@example.org", subject="x")
    with Archive(tmp_path, write=True) as writer:
        writer.add([first], [raw_of(first)], [Mark("box", "1")])
        with Archive(tmp_path) as reader:
            reader.execute("BEGIN")
            assert reader.value("SELECT count(*) FROM message") == 1
            writer.add([second], [raw_of(second)], [Mark("box", "2")])
            assert reader.value("SELECT count(*) FROM message") == 1
            assert reader.mark_of("box") == "1"
            reader.execute("COMMIT")
            assert reader.value("SELECT count(*) FROM message") == 2
            assert reader.mark_of("box") == "2"


def test_a_check_sees_the_archive_at_one_moment(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a writer adds between two of its questions is no fault."""
    first, second = message("a@example.org"), message("b@example.org", subject="x")
    told = checking._told

    def told_late(report: checking.Report, number: int, bad: int, noun: str) -> None:
        if noun == "message":
            with Archive(tmp_path, write=True) as writer:
                writer.add([second], [raw_of(second)], [Mark("box", "2")])
        told(report, number, bad, noun)

    with Archive(tmp_path, write=True) as writer:
        writer.add([first], [raw_of(first)], [Mark("box", "1")])
    monkeypatch.setattr(checking, "_told", told_late)
    with Archive(tmp_path) as reader:
        assert checking.check(reader).faults == []
        assert reader.value("SELECT count(*) FROM message") == 2


def test_many_readers_at_once(tmp_path: pathlib.Path) -> None:
    """Each thread with an archive of its own gets the same facts."""
    box = tmp_path / "mail" / "box"
    write_mbox(box, 30)
    ingest(tmp_path / "archive", box)
    found: list[object] = []

    def read() -> None:
        with Archive(tmp_path / "archive") as archive:
            found.append(facts(archive))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 4

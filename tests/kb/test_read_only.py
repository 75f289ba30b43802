"""Archives that may only be read, and disks that are full while a tree is read."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator

import pytest

from patchlore.kb.checking import check
from patchlore.kb.database import FILE_NAME
from patchlore.kb.errors import ArchiveError
from patchlore.kb.filling import fill
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.kb.dumping import canonical
from tests.kb.git_repositories import Repository
from tests.kb.letters import write_mails

#: The user "nobody", who owns nothing.
NOBODY = 65534


@pytest.fixture
def path(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """An archive of ten mails in a folder that nobody may write to, but anybody may look into."""
    write_mails(tmp_path / "mail", 10)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="patchlore-test-"))
    with Archive(folder / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "mail")], jobs=0)
    for item in (folder / "archive").iterdir():
        item.chmod(0o444)
    (folder / "archive").chmod(0o555)
    folder.chmod(0o755)
    yield folder / "archive"
    (folder / "archive").chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(tell: Callable[[], str]) -> str:
    """Return what a function returns in a process that has no rights, or the error it raises."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            said = tell()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as output:
        said = output.read()
    os.waitpid(child, 0)
    return said


def test_what_may_not_be_written_is_read(path: pathlib.Path) -> None:
    """Every question is answered, no file is left beside the database."""

    def ask() -> str:
        with Archive(path) as archive:
            subject = archive.message(1).subject
            return f"{archive.value('SELECT count(*) FROM message')} {subject}"

    before = sorted(item.name for item in path.iterdir())
    assert as_nobody(ask) == "10 [PATCH v1 1/5] tick: use 0"
    assert sorted(item.name for item in path.iterdir()) == before


def test_a_writer_says_what_may_not_be_written(path: pathlib.Path) -> None:
    """Before anything is read or changed."""

    def change() -> str:
        with Archive(path, write=True):
            return "opened"

    assert as_nobody(change) == f"ArchiveError: Can't write to the archive {path}: " + (
        "Permission denied."
    )


def test_a_change_that_is_half_done_is_not_read_there(path: pathlib.Path) -> None:
    """A journal that only a writer can take back: what is in the file is of no time."""
    (path / f"{FILE_NAME}-wal").unlink(missing_ok=True)
    path.chmod(0o755)
    (path / f"{FILE_NAME}-wal").write_bytes(b"x" * 4096)
    (path / f"{FILE_NAME}-wal").chmod(0o000)
    path.chmod(0o555)

    def ask() -> str:
        with Archive(path) as archive:
            return str(archive.value("SELECT count(*) FROM message"))

    assert as_nobody(ask).startswith("ArchiveError: The archive")


def test_a_disk_that_is_full_while_a_tree_is_read(tmp_path: pathlib.Path) -> None:
    """The commits that were stored stay, the next reading goes on, and all is as if at once."""
    clock = Repository(tmp_path / "clock")
    for number in range(30):
        clock.commit(f"tick: use {number}\n\n" + f"{os.urandom(2000).hex()}\n" * 2)
    with Archive(tmp_path / "whole", write=True) as archive:
        fill_tree(archive, "5.10", str(clock.folder), patch_ids=True)
        whole = canonical(archive)
    with Archive(tmp_path / "a", write=True) as archive:
        pages = archive.value("PRAGMA page_count")
        archive.execute(f"PRAGMA max_page_count = {pages + 5}")
        with pytest.raises(ArchiveError, match="No space is left"):
            fill_tree(archive, "5.10", str(clock.folder), patch_ids=True)
    with Archive(tmp_path / "a", write=True) as archive:
        assert check(archive).is_sound
        fill_tree(archive, "5.10", str(clock.folder), patch_ids=True)
        assert canonical(archive) == whole

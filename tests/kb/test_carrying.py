"""The patch of an event: what git am takes, wherever it comes from."""

from __future__ import annotations

import io
import pathlib

import pytest

from patchlore.kb.backports import backports
from patchlore.kb.carrying import Carried, carried
from patchlore.kb.events import Event
from patchlore.kb.export.mbox import write
from patchlore.kb.filling import fill
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.history import events_of_tree
from patchlore.kb.store import Archive
from tests.kb.attachments import BOTH
from tests.kb.git_repositories import Repository
from tests.kb.mails import UPSTREAM


def apply(folder: pathlib.Path, found: Carried | None) -> Repository:
    """Apply a patch with git am, in a repository that has the files it changes."""
    repository = Repository(folder)
    repository.commit("begin", {"tick.c": "one\n", "old/tick.c": "one\n"})
    assert found is not None
    repository.git("am", "-q", data=found.raw)
    return repository


@pytest.mark.parametrize(
    ("tree", "path", "text"), [("5.10", "tick.c", "two\n"), ("5.4", "old/tick.c", "three\n")]
)
def test_an_attached_patch_is_a_mail_of_its_own(
    tmp_path: pathlib.Path, tree: str, path: str, text: str
) -> None:
    """Not the outer mail, of which git am would make one commit of both patches."""
    (tmp_path / "both.eml").write_bytes(BOTH)
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, [str(tmp_path / "both.eml")], jobs=0)
        (event,) = events_of_tree(archive, tree)
        repository = apply(tmp_path / "clock", carried(archive, event))
        assert (repository.folder / path).read_text() == text
        assert repository.git("log", "-1", "--format=%an %s") == "Bo Tern tick: use two"


@pytest.fixture
def clock(tmp_path: pathlib.Path) -> Repository:
    """A repository with a backport in it."""
    repository = Repository(tmp_path / "stable")
    repository.commit("begin", {"tick.c": "one\n", "old/tick.c": "one\n"})
    repository.commit(
        f"tick: für zwei\n\ncommit {UPSTREAM} upstream.\n\nLet it tick.\n", {"tick.c": "two\n"}
    )
    return repository


def of_git(archive: Archive, clock: Repository) -> Event:
    """Read the repository; return the event of its backport."""
    fill_tree(archive, "5.10", str(clock.folder))
    (row,) = backports(archive, "5.10")
    assert row.event.commit is not None
    return row.event


def test_a_commit_becomes_a_mail(tmp_path: pathlib.Path, clock: Repository) -> None:
    """Made by git from the repository that the tree was read from."""
    with Archive(tmp_path / "a", write=True) as archive:
        found = carried(archive, of_git(archive, clock))
    repository = apply(tmp_path / "clock", found)
    assert found is not None
    assert (found.message.primary_upstream, found.message.is_patch) == (UPSTREAM, True)
    assert repository.git("log", "-1", "--format=%an|%s|%b").startswith("Ada Quill|tick: für zwei|")
    assert (repository.folder / "tick.c").read_text() == "two\n"


def test_a_commit_whose_repository_is_gone_is_no_patch(
    tmp_path: pathlib.Path, clock: Repository
) -> None:
    """The archive has commits' messages and no diffs."""
    with Archive(tmp_path / "a", write=True) as archive:
        event = of_git(archive, clock)
        clock.folder.rename(tmp_path / "moved")
        assert carried(archive, event) is None


def test_a_commit_of_which_files_are_missing_is_no_patch(
    tmp_path: pathlib.Path, clock: Repository
) -> None:
    """Half a patch would be applied without a word."""
    with Archive(tmp_path / "a", write=True) as archive:
        event = of_git(archive, clock)
        blob = clock.git("rev-parse", f"{event.commit}:tick.c")
        (clock.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        assert carried(archive, event) is None


def test_a_list_of_commits_alone_is_an_mbox(tmp_path: pathlib.Path, clock: Repository) -> None:
    """No mail is needed where the repository is; where it is gone, the rows are named."""
    with Archive(tmp_path / "a", write=True) as archive:
        of_git(archive, clock)
        rows = backports(archive, "5.10")
        for row in rows:  # as if it were asked for with --state released
            row.state = "released"
        out = io.BytesIO()
        assert write(archive, "5.10.y", rows, out) == []
        clock.folder.rename(tmp_path / "moved")
        (note,) = write(archive, "5.10.y", rows, io.BytesIO())
        assert note.startswith("1 row left out")
    repository = Repository(tmp_path / "clock")
    repository.commit("begin", {"tick.c": "one\n"})
    repository.git("am", "-q", "--patch-format=mboxrd", data=out.getvalue())
    assert repository.git("log", "-1", "--format=%s") == "tick: für zwei"


def test_two_attached_patches_are_two_mails(tmp_path: pathlib.Path) -> None:
    """One mail carries patches for two trees; each list has its own."""
    (tmp_path / "both.eml").write_bytes(BOTH)
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, [str(tmp_path / "both.eml")], jobs=0)
        for tree, text in (("5.10", b"+two\n"), ("5.4", b"+three\n")):
            out = io.BytesIO()
            assert write(archive, tree, backports(archive, tree), out) == []
            assert out.getvalue().count(b"\ndiff --git ") == 1
            assert text in out.getvalue()

"""The files that commits change: read with the commits, or later for those of before."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from patchlore.kb import git_filling
from patchlore.kb.git_files import files_of_commit
from patchlore.kb.store import Archive
from tests.kb import git_repositories as made
from tests.kb.git_repositories import fill


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> made.Repository:
    """Return an empty repository."""
    return made.Repository(tmp_path / "clock")


def files(archive: Archive) -> list[tuple[str, str]]:
    """Return (title, path) of all that is stored."""
    return archive.execute(
        "SELECT subject, text FROM git_file JOIN git_commit ON git_commit.id = git_commit"
        " JOIN path ON path.id = path ORDER BY 1, 2"
    ).fetchall()


def test_each_commit_has_the_files_that_it_changes(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The first commit, too; of a renamed file both names."""
    repository.commit("begin", {"a.c": "one\n" * 9, "dir/b.c": "two\n"})
    sha = repository.commit("change", {"dir/b.c": "three\n"})
    repository.git("mv", "a.c", "dir/ä b.c")
    repository.commit("move", {"dir/b.c": "three\n"})
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert files(archive) == [
            ("begin", "a.c"),
            ("begin", "dir/b.c"),
            ("change", "dir/b.c"),
            ("move", "a.c"),
            ("move", "dir/ä b.c"),
        ]
        assert files_of_commit(archive, sha) == ["dir/b.c"]
        assert files_of_commit(archive, "0" * 40) == []


def test_merges_and_empty_commits_change_nothing(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """And what comes behind them is not mixed up."""
    repository.commit("begin", {"a.c": "one\n"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("side", {"side.c": "one\n"})
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "empty")
    repository.commit("main", {"main.c": "one\n"})
    repository.git("merge", "-q", "-m", "merge", "side")
    repository.commit("end", {"end.c": "one\n"})
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert files(archive) == [
            ("begin", "a.c"),
            ("end", "end.c"),
            ("main", "main.c"),
            ("side", "side.c"),
        ]


def test_in_small_batches_all_the_same(
    tmp_path: pathlib.Path, repository: made.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files come beside the commits, however many of these go together."""
    for number in range(7):
        repository.commit(f"commit {number}")
        if number % 3 == 0:
            repository.git("commit", "-q", "--allow-empty", "-m", "empty")
    with Archive(tmp_path / "one", write=True) as archive:
        fill(archive, repository)
        whole = files(archive)
    monkeypatch.setattr(git_filling, "BATCH", 2)
    with Archive(tmp_path / "two", write=True) as archive:
        fill(archive, repository)
        assert files(archive) == whole
    assert len(whole) == 7


def test_an_archive_of_before_gets_the_files_of_its_commits(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """By the next reading, though no ref has moved; then never again."""
    for number in range(3):
        repository.commit(f"commit {number}")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        whole = files(archive)
        archive.execute("DELETE FROM git_file")
        archive.execute("DELETE FROM git_filed")
        assert fill(archive, repository).new == 0
        assert files(archive) == whole
        archive.execute("DELETE FROM git_file")
        fill(archive, repository)
        assert files(archive) == []


def test_commits_whose_trees_are_missing_have_no_files(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The others have theirs; nothing is fetched."""
    repository.commit("begin")
    lost = repository.commit("lost", {"a/b/c.c": "one\n"})
    repository.commit("next", {"a/b/c.c": "one\n", "d.c": "one\n"})
    repository.commit("end", {"e.c": "one\n"})
    tree = repository.git("rev-parse", f"{lost}^{{tree}}")
    (repository.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with Archive(tmp_path / "a", write=True) as archive:
        assert fill(archive, repository).new == 4
        assert files(archive) == [("begin", "clock-1.c"), ("end", "e.c")]


def test_a_treeless_clone_is_read_without_its_files(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A partial clone of commits alone (git clone --filter=tree:0)."""
    for number in range(3):
        repository.commit(f"commit {number}")
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone.git"
    repository.git(
        "clone", "-q", "--bare", "--filter=tree:0", f"file://{repository.folder}", str(clone)
    )
    shutil.move(repository.folder, tmp_path / "gone")
    with Archive(tmp_path / "a", write=True) as archive:
        assert fill(archive, clone).new == 3
        assert files(archive) == []

"""Repositories of every kind: bare, worktrees, shallow and partial clones; refs and patch ids."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from patchlore.kb.errors import GitTreeError
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.git_reading import git_commits
from patchlore.kb.git_repository import Repository
from patchlore.kb.store import Archive
from tests.kb import git_repositories as made
from tests.kb.git_repositories import fill

DAY = 86400


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> made.Repository:
    """Return an empty repository."""
    return made.Repository(tmp_path / "clock")


def test_a_bare_repository_and_a_linked_worktree_are_read(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Both lead to the same commits, whatever is checked out."""
    sha = repository.commit("clock: begin")
    repository.git("clone", "-q", "--bare", str(repository.folder), str(tmp_path / "bare.git"))
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    for place in ("bare.git", "linked"):
        with Archive(tmp_path / f"archive-{place}", write=True) as archive:
            assert fill(archive, tmp_path / place).commits == 1
            assert git_commits(archive, [sha])


def test_a_detached_head_is_a_branch(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """A repository without branches has what HEAD has."""
    sha = repository.commit("clock: begin")
    repository.git("checkout", "-q", "--detach")
    repository.git("branch", "-q", "-D", "main")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert git_commits(archive, [sha])[0].places[0].branches == ["HEAD"]


def test_a_shallow_clone_has_what_it_has(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Commits below the cut are absent; when the clone is deepened they come."""
    for number in range(3):
        repository.commit(f"tick {number}")
    url = f"file://{repository.folder}"
    repository.git("clone", "-q", "--depth", "1", url, str(tmp_path / "cut"))
    with Archive(tmp_path / "a", write=True) as archive:
        summary = fill(archive, tmp_path / "cut")
        assert (summary.commits, summary.is_shallow) == (1, True)
        assert "shallow" in summary.line()
        subprocess.run(
            ["git", "-C", str(tmp_path / "cut"), "fetch", "-q", "--unshallow"], check=True
        )
        summary = fill(archive, tmp_path / "cut")
        assert (summary.commits, summary.new, summary.is_shallow) == (3, 2, False)


def test_a_partial_clone_is_read_without_fetching(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Without blobs all commits are there; patch ids of what can't be compared are left out."""
    repository.commit("clock: begin", {"clock.c": "tick 1\n"})
    repository.commit("tick: use two", {"clock.c": "tick 2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repository.folder}"
    repository.git("clone", "-q", "--bare", "--filter=blob:none", url, str(tmp_path / "part.git"))
    repository.folder.rename(tmp_path / "gone")
    with Archive(tmp_path / "a", write=True) as archive:
        summary = fill_tree(archive, "mainline", str(tmp_path / "part.git"), patch_ids=True)
        assert (summary.commits, summary.patch_ids) == (2, 0)


def test_what_a_partial_clone_lacks_is_found_where_it_is(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A patch id that one clone can't tell is no patch id that isn't there."""
    repository.commit("clock: begin", {"clock.c": "tick 1\n"})
    repository.commit("tick: use two", {"clock.c": "tick 2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repository.folder}"
    for name, what in (("blobless.git", "blob:none"), ("treeless.git", "tree:0")):
        clone = str(tmp_path / name)
        repository.git("clone", "-q", "--bare", f"--filter={what}", url, clone)
        with Archive(tmp_path / f"archive-{name}", write=True) as archive:
            assert fill_tree(archive, "mainline", clone, patch_ids=True).patch_ids == 0
            whole = fill_tree(archive, "other", str(repository.folder), patch_ids=True)
            assert whole.patch_ids == 2
            assert archive.value("SELECT count(*) FROM git_file") == 2


@pytest.mark.parametrize("what", ["blob:none", "tree:0"])
def test_a_partial_clone_that_was_completed_is_read_again(
    tmp_path: pathlib.Path, repository: made.Repository, what: str
) -> None:
    """Its refs have not moved, but its files are there now."""
    repository.commit("clock: begin", {"clock.c": "tick 1\n"})
    repository.commit("tick: use two", {"clock.c": "tick 2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "part.git"
    url = f"file://{repository.folder}"
    repository.git("clone", "-q", "--bare", f"--filter={what}", url, str(clone))
    with Archive(tmp_path / "a", write=True) as archive:
        fill_tree(archive, "mainline", str(clone), patch_ids=True)
        subprocess.run(
            ["cp", "-r", *(repository.folder / ".git/objects").iterdir(), clone / "objects"],
            check=True,
        )
        assert fill_tree(archive, "mainline", str(clone), patch_ids=True).patch_ids == 2
        assert archive.value("SELECT count(*) FROM git_file") == 2
        assert fill_tree(archive, "mainline", str(clone), patch_ids=True).patch_ids == 0


def test_patch_ids_are_those_of_git(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """With renames, as a mail of git format-patch has them; merges have none."""
    repository.commit("clock: begin", {"clock.c": "".join(f"tick {n}\n" for n in range(20))})
    repository.git("mv", "clock.c", "watch.c")
    renamed = repository.commit(
        "clock: rename", {"watch.c": "".join(f"tick {n}\n" for n in range(21))}
    )
    mail = repository.git("format-patch", "--stdout", "-1", renamed)
    expected = repository.git("patch-id", "--stable", data=mail.encode()).split()[0]
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert git_commits(archive, [renamed])[0].patch_id is None
        summary = fill_tree(archive, "mainline", str(repository.folder), patch_ids=True)
        assert summary.patch_ids == 2
        assert git_commits(archive, [renamed])[0].patch_id == expected
        again = fill_tree(archive, "mainline", str(repository.folder), patch_ids=True)
        assert again.patch_ids == 0
        repository.commit("clock: go on")
        fill(archive, repository)
        again = fill_tree(archive, "mainline", str(repository.folder), patch_ids=True)
        assert again.patch_ids == 1


def test_a_commit_with_missing_files_costs_its_own_patch_id_alone(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The ids of commits before and after it are found."""
    shas = [
        repository.commit(f"tick {number}", {f"{number}.c": f"tick {number}\n"})
        for number in range(5)
    ]
    blob = repository.git("rev-parse", f"{shas[2]}:2.c")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = dict(Repository(repository.folder).patch_ids(shas))
    assert list(found) == [shas[0], shas[1], shas[3], shas[4]]


def test_a_tag_of_a_tag_and_a_tag_of_a_file(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The first leads to its commit, the second to none."""
    sha = repository.commit("clock: begin", {"clock.c": "tick\n"})
    repository.tag("v1.0-rc1")
    repository.git("tag", "-a", "-m", "again", "v1.0", "v1.0-rc1")
    repository.git("tag", "v0.1", "HEAD:clock.c")
    refs = {ref.name: ref.sha for ref in Repository(repository.folder).refs()}
    assert refs == {"main": sha, "v1.0": sha, "v1.0-rc1": sha}


def test_a_branch_of_a_remote_counts_once(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Where the local branch of its name is the same; origin/HEAD is another's name."""
    repository.commit("clock: begin")
    repository.git("branch", "linux-5.10.y")
    repository.git("clone", "-q", str(repository.folder), str(tmp_path / "clone"))
    names = [ref.name for ref in Repository(tmp_path / "clone").refs()]
    assert names == ["main", "origin/linux-5.10.y"]


def test_what_is_no_repository_is_refused(tmp_path: pathlib.Path) -> None:
    """A folder, a file and nothing at all."""
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file", tmp_path / "absent"):
        with pytest.raises(GitTreeError, match="no git repository"):
            Repository(path)


def test_an_empty_repository_is_refused(repository: made.Repository) -> None:
    """It has no commits, which is said."""
    with pytest.raises(GitTreeError, match="no commits"):
        Repository(repository.folder).refs()

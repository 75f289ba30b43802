"""Backports by the evidence of git: released, committed, reverted, or there as they are."""

from __future__ import annotations

import io
import json
import pathlib
from typing import Any

import pytest

from patchlore.cli import main
from patchlore.ingest.message import StableNote
from patchlore.kb.backports import Row, backports
from patchlore.kb.edges import update_edges
from patchlore.kb.export import writer
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.history import events_of_commit
from patchlore.kb.store import Archive
from tests.kb.git_repositories import DAY, Repository
from tests.kb.mails import NOON, message, raw_of, tags


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a repository with a mainline and a stable branch, the mainline checked out."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin")
    made.tag("v5.10")
    made.git("branch", "linux-5.10.y")
    return made


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Any:
    """Return an archive that is open for writing."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield archive


def backport(repository: Repository, upstream: str, title: str = "tick: use two") -> str:
    """Commit a backport to the stable branch and leave that checked out."""
    repository.git("checkout", "-q", "linux-5.10.y")
    return repository.commit(f"{title}\n\ncommit {upstream} upstream.\n")


def listed(archive: Archive, repository: Repository) -> list[Row]:
    """Read the repository and return the list of 5.10."""
    fill_tree(archive, "linux", str(repository.folder))
    update_edges(archive)
    return backports(archive, "5.10")


def test_a_tagged_backport_is_released(archive: Archive, repository: Repository) -> None:
    """The commit in the tree is the evidence, with its line; the release is its first."""
    upstream = repository.commit("tick: use two")
    own = backport(repository, upstream)
    repository.tag("v5.10.1")
    (row,) = listed(archive, repository)
    assert (row.sha, row.state, row.reason) == (upstream, "released", "released in 5.10.1")
    assert (row.event.commit, row.event.line) == (own, 3)
    assert row.event.text == f"commit {upstream} upstream."


def test_a_commit_that_is_not_tagged_is_queued(archive: Archive, repository: Repository) -> None:
    """It is in the branch, and no release has it yet."""
    backport(repository, repository.commit("tick: use two"))
    (row,) = listed(archive, repository)
    assert (row.state, row.reason) == ("queued", "committed, not yet released")


def test_a_revert_in_the_tree_is_seen(archive: Archive, repository: Repository) -> None:
    """It names the tree's own commit."""
    upstream = repository.commit("tick: use two")
    own = backport(repository, upstream)
    repository.commit(f'Revert "tick: use two"\n\nThis reverts commit {own}.\n')
    repository.tag("v5.10.1")
    (row,) = listed(archive, repository)
    assert (row.sha, row.state) == (upstream, "reverted")
    assert [event.kind for event in events_of_commit(archive, [upstream])] == [
        "released",
        "reverted",
    ]


def test_what_was_there_before_the_branch_is_no_backport(
    archive: Archive, repository: Repository
) -> None:
    """A marker in a mainline commit before v5.10 is the mainline's own matter."""
    old = Repository(repository.folder.parent / "other")
    old.commit(f"tick: use two\n\n(cherry picked from commit {'ab' * 20})\n")
    old.tag("v5.10-rc1")
    old.git("branch", "linux-5.10.y")
    assert listed(archive, old) == []


def test_a_posted_commit_that_the_tree_has_itself_is_released(
    archive: Archive, repository: Repository
) -> None:
    """A nomination "5.10+" of a commit that is in v5.10 already."""
    repository.git("checkout", "-q", "linux-5.10.y")
    sha = repository.commit("tick: use two")
    repository.tag("v5.10.1")
    made = message(
        "one@example.org",
        is_patch=True,
        timestamp=NOON + DAY,
        subject_tags=tags("5.10.y"),
        upstream_commits=[sha],
        primary_upstream=sha,
    )
    archive.add([made], [raw_of(made)])
    (row,) = listed(archive, repository)
    assert (row.state, row.event.commit, row.event.rule) == (
        "released",
        sha,
        "commit in the tree",
    )


def test_a_nominated_patch_gets_the_commit_that_it_became(
    archive: Archive, repository: Repository
) -> None:
    """Which no mail names: title and author find it in the mainline, so the tree needs it."""
    made = message(
        "one@example.org",
        is_patch=True,
        timestamp=NOON + 400 * DAY,
        cc_stable=[StableNote(range="5.10+", text="5.10+")],
    )
    archive.add([made], [raw_of(made)])
    repository.day = 400
    sha = repository.commit("tick: use two")
    (row,) = listed(archive, repository)
    assert (row.sha, row.state) == (sha, "needed")
    assert row.reason == "merged upstream, wanted here (Cc: stable # 5.10+)"


def test_formats_name_the_commit_as_evidence(archive: Archive, repository: Repository) -> None:
    """JSON has it as `commit`, CSV before the line; neither calls it a Message-ID."""
    own = backport(repository, repository.commit("tick: use two"))
    repository.tag("v5.10.1")
    found = listed(archive, repository)
    texts = {}
    for name in ("json", "csv", "text"):
        out = io.BytesIO()
        writer(name)(archive, "5.10.y", found, out)
        texts[name] = out.getvalue().decode()
    value = json.loads(texts["json"])
    assert value["message_id"] is None
    assert value["evidence"]["commit"] == own
    assert f",,3,commit {own}: commit " in texts["csv"]
    assert f"commit {own} line 3: commit " in texts["text"]


def test_the_command_line_reads_and_shows_trees(
    tmp_path: pathlib.Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """ingest --tree, commit, show and stats."""
    upstream = repository.commit("tick: use two\n\nThe manual says so.\n")
    own = backport(repository, upstream)
    repository.tag("v5.10.1")
    folder = ["--archive", str(tmp_path / "archive")]
    assert main([*folder, "ingest", "--tree", "linux", str(repository.folder)]) == 0
    assert capsys.readouterr().err.startswith("tree linux: commits 3, new 3, branches 2, tags 2")
    assert main([*folder, "commit", upstream[:10]]) == 0
    shown = capsys.readouterr().out
    assert f"5.10: backport {own[:12]}, since v5.10.1" in shown
    assert "linux: itself, not released yet" in shown
    assert main([*folder, "show", upstream[:10]]) == 0
    assert "    The manual says so.\n" in capsys.readouterr().out
    assert main([*folder, "stats", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["git_trees"], numbers["git_commits"], numbers["git_backports"]) == (1, 3, 1)


def test_a_tree_that_can_not_be_read_is_named(
    tmp_path: pathlib.Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other one is read, the status is 1; without anything to ingest it is 2."""
    folder = ["--archive", str(tmp_path / "archive")]
    trees = ["--tree", "none", str(tmp_path / "none"), "--tree", "linux", str(repository.folder)]
    assert main([*folder, "ingest", *trees]) == 1
    said = capsys.readouterr().err
    assert "none is no git repository" in said
    assert "tree linux: commits 1" in said
    assert main([*folder, "ingest"]) == 2


def test_a_mail_shows_the_commit_that_it_became(
    tmp_path: pathlib.Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the commit shows the mail that it came from."""
    sha = repository.commit("tick: use two")
    made = message("one@example.org", is_patch=True)
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.add([made], [raw_of(made)])
        fill_tree(archive, "linux", str(repository.folder))
        update_edges(archive)
    folder = ["--archive", str(tmp_path / "archive")]
    assert main([*folder, "show", "one@example.org"]) == 0
    assert f"became       {sha} by title (high)" in capsys.readouterr().out
    assert main([*folder, "commit", sha]) == 0
    shown = capsys.readouterr().out
    assert "came from the list as" in shown
    assert "<one@example.org>" in shown


def test_a_search_by_state_finds_mails_alone(
    archive: Archive,
    repository: Repository,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The commit that decides the state is no message; the mails of the row are found."""
    upstream = repository.commit("tick: use two")
    backport(repository, upstream)
    repository.tag("v5.10.1")
    made = message(
        "one@example.org",
        is_patch=True,
        subject_tags=tags("5.10.y"),
        upstream_commits=[upstream],
        primary_upstream=upstream,
    )
    archive.add([made], [raw_of(made)])
    assert [row.state for row in listed(archive, repository)] == ["released"]
    archive.close()
    assert main(["--archive", str(tmp_path / "archive"), "search", "status:released"]) == 0
    assert "one@example.org" in capsys.readouterr().out

"""The dossier of a file that only commits of git trees change."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.cli import main
from patchlore.kb.dossiers.files import file_dossier
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository, fill


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> pathlib.Path:
    """An archive of a tree with two commits to a file, and no mail."""
    clock = Repository(tmp_path / "clock")
    clock.commit("tick: begin", {"drivers/tick.c": "one\n"})
    clock.commit("tick: use two", {"drivers/tick.c": "two\n", "drivers/tock.c": "one\n"})
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, clock, "5.10")
    return tmp_path / "archive"


@pytest.mark.parametrize("path", ["drivers/tick.c", "tick.c", "drivers/"])
def test_commits_that_change_it_are_told(archive: pathlib.Path, path: str) -> None:
    """The newest first, with the trees that have them."""
    with Archive(archive) as opened:
        found = file_dossier(opened, path)
    assert (found.patches, found.git_commits) == (0, 2)
    assert [touch.subject for touch in found.latest_commits] == ["tick: use two", "tick: begin"]
    assert found.latest_commits[0].trees == ["5.10.y"]


def test_the_list_is_bounded(archive: pathlib.Path) -> None:
    """The number of all is told."""
    with Archive(archive) as opened:
        found = file_dossier(opened, "drivers/", limit=1)
    assert (found.git_commits, len(found.latest_commits)) == (2, 1)


def test_the_command_prints_them(archive: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text."""
    assert main(["--archive", str(archive), "file", "drivers/tock.c"]) == 0
    out = capsys.readouterr().out
    assert "0 patches, 1 commit of git trees" in out
    assert "tick: use two\n    in 5.10" in out

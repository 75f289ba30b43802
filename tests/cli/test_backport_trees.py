"""How trees are named to ``backports``: one, or two that are compared; missing fixes of one."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.cli import main
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.cli.conftest import Run
from tests.kb.git_repositories import Repository


@pytest.fixture
def clocks(tmp_path: pathlib.Path) -> tuple[str, str, str]:
    """Return an archive of a repository, a backport in its 5.10, and the fix of that."""
    repository = Repository(tmp_path / "clock")
    repository.commit("clock: begin")
    repository.tag("v5.10")
    repository.git("branch", "linux-5.10.y")
    repository.git("branch", "linux-6.1.y")
    cause = repository.commit("tick: use two")
    fix = repository.commit(f'tick: count right\n\nFixes: {cause[:12]} ("tick: use two")\n')
    repository.git("checkout", "-q", "linux-5.10.y")
    repository.commit(f"tick: use two\n\ncommit {cause} upstream.\n")
    with Archive(tmp_path / "archive", write=True) as made:
        fill_tree(made, "clock", str(repository.folder))
    return str(tmp_path / "archive"), cause, fix


def test_missing_fixes_are_listed(
    clocks: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the fix, not what it fixes."""
    path, _, fix = clocks
    assert main(["--archive", path, "backports", "5.10", "--missing-fixes", "--format", "ids"]) == 0
    assert capsys.readouterr().out == f"{fix}\n"


@pytest.mark.parametrize("named", [["--from", "5.10", "--to", "6.1"], ["6.1", "--from", "5.10"]])
def test_one_tree_is_compared_with_another(
    clocks: tuple[str, str, str], named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Both ways of naming them; what nobody asked for in 6.1 is an id, too."""
    path, cause, _ = clocks
    assert main(["--archive", path, "backports", *named, "--format", "ids"]) == 0
    assert capsys.readouterr().out == f"{cause}\n"
    assert main(["--archive", path, "backports", *named]) == 0
    assert "5.10 has it: committed, not yet released" in capsys.readouterr().out


def test_what_the_other_tree_does_not_need_is_told_so(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """5.15 took a fix of what came after 5.10: that is not affected."""
    repository = Repository(tmp_path / "clock")
    repository.commit("clock: begin")
    repository.tag("v5.10")
    repository.git("branch", "linux-5.10.y")
    cause = repository.commit("tick: use two")
    repository.tag("v5.15")
    repository.git("branch", "linux-5.15.y")
    note = "Cc: stable@vger.kernel.org # 5.15+\n"
    fix = repository.commit(f'tick: count\n\nFixes: {cause[:12]} ("tick: use two")\n{note}')
    repository.git("checkout", "-q", "linux-5.15.y")
    repository.commit(f"tick: count\n\ncommit {fix} upstream.\n")
    with Archive(tmp_path / "archive", write=True) as made:
        fill_tree(made, "clock", str(repository.folder))
    arguments = ["--archive", str(tmp_path / "archive"), "backports", "5.10", "--from", "5.15"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"{fix}  not-affected" in printed
    assert "note: 5.15 has it: committed, not yet released" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "6.1"], "--to goes with --from"),
        (["5.10", "--from", "5.4", "--to", "6.1"], "name the tree once"),
        ([], "name a tree"),
        (["5.10", "--from", "5.4", "--missing-fixes"], "--missing-fixes is about one tree"),
    ],
)
def test_trees_that_are_named_amiss_are_wrong_usage(
    run: Run, arguments: list[str], words: str
) -> None:
    """One sentence says how they are named."""
    status, out, err = run("backports", *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_a_tree_to_compare_with_has_to_exist(run: Run) -> None:
    """A typing mistake in --from is no empty list."""
    status, _, err = run("backports", "5.10", "--from", "9.9")
    assert status == 1
    assert "the tree 9.9 is not known" in err

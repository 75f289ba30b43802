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


@pytest.fixture
def cords(tmp_path: pathlib.Path) -> tuple[Repository, str, dict[str, str]]:
    """Return a repository, its archive, and commits that 5.10 has, needs and was refused."""
    repository = Repository(tmp_path / "cord")
    shas = {}
    repository.commit("cord: begin", {"cord.c": "cord\n"})
    cause = repository.commit("cord: coil", {"coil.c": "coil\n"})
    repository.tag("v5.10")
    repository.git("branch", "linux-5.10.y")
    named = f'Fixes: {cause[:12]} ("cord: coil")\n'
    shas["there"] = repository.commit(f"cord: knot\n\n{named}", {"knot.c": "knot\n"})
    shas["first"] = repository.commit("cord: prepare", {"prepare.c": "prepare\n"})
    note = f"Cc: stable@vger.kernel.org # 5.10: {shas['first'][:12]}: cord: prepare\n"
    shas["fix"] = repository.commit(f"cord: repair\n\n{named}{note}", {"repair.c": "repair\n"})
    refused = f"{named}Cc: stable+noautosel@kernel.org # too much\n"
    shas["refused"] = repository.commit(f"cord: cut\n\n{refused}", {"cut.c": "cut\n"})
    repository.git("checkout", "-q", "linux-5.10.y")
    knot = {"knot.c": "knot\n"}
    repository.commit(f"cord: knot\n\ncommit {shas['there']} upstream.\n", knot)
    with Archive(tmp_path / "archive", write=True) as made:
        fill_tree(made, "cord", str(repository.folder))
    return repository, str(tmp_path / "archive"), shas


def test_a_prerequisite_is_exported_with_its_own_patch(
    cords: tuple[Repository, str, dict[str, str]],
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not with that of the fix whose note names it; what the branch has is left out."""
    repository, path, shas = cords
    mbox = tmp_path / "list.mbox"
    arguments = ["backports", "5.10", "--format", "mbox", "--output", str(mbox)]
    assert main(["--archive", path, *arguments]) == 0
    told = f"1 row left out, already in the branch of the tree: {shas['there'][:12]}"
    assert told in capsys.readouterr().err
    repository.git("am", "-q", "--patch-format=mboxrd", data=mbox.read_bytes())
    titles = repository.git("log", "-2", "--reverse", "--format=%s").split("\n")
    assert titles[:2] == ["cord: prepare", "cord: repair"]


def test_an_override_of_a_fix_takes_what_it_alone_builds_on(
    cords: tuple[Repository, str, dict[str, str]],
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody needs a prerequisite of what is not taken; the commit itself has its line."""
    _, path, shas = cords
    (tmp_path / "own.txt").write_text(f"{shas['fix']} ignore # not shipped\n")
    arguments = ["backports", "5.10", "--overrides", str(tmp_path / "own.txt"), "--format", "ids"]
    capsys.readouterr()
    assert main(["--archive", path, *arguments]) == 0
    out = capsys.readouterr().out
    assert shas["first"] not in out
    assert shas["fix"] not in out
    assert shas["there"] in out


def test_what_is_built_is_a_matter_of_the_own_files(
    cords: tuple[Repository, str, dict[str, str]],
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A prerequisite touches prepare.c, whatever the fix touches that names it."""
    _, path, shas = cords
    (tmp_path / "built").write_text("repair.o\n")
    arguments = ["backports", "5.10", "--built-files", str(tmp_path / "built"), "--format", "ids"]
    capsys.readouterr()
    assert main(["--archive", path, *arguments]) == 0
    assert capsys.readouterr().out.split() == [shas["fix"]]


def test_a_branch_takes_what_is_not_refused(
    cords: tuple[Repository, str, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its states are those of the formats for machines."""
    repository, path, _ = cords
    folder = str(repository.folder)
    arguments = ["--try", folder, "--base", "linux-5.10.y", "--branch", "fixes"]
    assert main(["--archive", path, "backports", "5.10", *arguments]) == 0
    titles = repository.git("log", "--reverse", "--format=%s", "linux-5.10.y..fixes").splitlines()
    assert titles == ["cord: prepare", "cord: repair"]

"""The comparison of lists with git: what it counts, on a repository made by hand."""

from __future__ import annotations

import pathlib

import pytest

from bench import truth
from bench.sections import write_section
from bench.truth_git import MissingFix, missing_fixes
from tests.kb.git_repositories import Repository

BODY = "".join(f"tick {number} of the clock\n" for number in range(30))


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a mainline and a stable branch with three backports, one without a marker."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin", {"clock.c": BODY})
    made.tag("v20.11")
    made.git("branch", "20.11")
    return made


def fix(repository: Repository, number: int, body: str = "") -> str:
    """Commit a fix to the mainline."""
    text = BODY.replace(f"tick {number} ", f"tock {number} ")
    return repository.commit(f"clock: fix tick {number}\n{body}", {"clock.c": text})


def pick(repository: Repository, sha: str, marker: str = "") -> str:
    """Cherry-pick a commit to the stable branch with a marker."""
    repository.git("checkout", "-q", "20.11")
    repository.day += 1
    repository.git("cherry-pick", "-Xtheirs", sha)
    if marker:
        said = repository.git("log", "-1", "--format=%B")
        title, _, rest = said.partition("\n")
        message = f"{title}\n\n{marker}\n{rest}"
        repository.git("commit", "-q", "--amend", "-F", "-", data=message.encode())
    picked = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "main")
    return picked


def test_the_reports_count_markers_and_what_is_found_without(
    repository: Repository, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Two marked backports, one whose marker is of no commit, one without."""
    shas = [fix(repository, number) for number in range(4)]
    for sha in shas[:2]:
        pick(repository, sha, f"[ upstream commit {sha} ]")
    lost = "0123456789abcdef0123456789abcdef01234567"
    odd = pick(repository, shas[2], f"[ upstream commit {lost} ]")
    pick(repository, shas[3])
    folder = str(repository.folder / ".git")
    report = tmp_path / "accuracy.md"
    arguments = ["truth", folder, folder, "--branches", "20.11", "--write", str(report)]
    monkeypatch.setattr("sys.argv", arguments)
    assert truth.main() == 0
    printed = capsys.readouterr().out
    assert "| 20.11 | 4 | 3 | 2 | 2 | 0 |" in printed
    assert f"| {odd[:12]} clock: fix tick 2 | {lost} | {shas[2][:12]} | patch-id" in printed
    assert (
        "| ids, dates, titles, checked by lines (as for lists) | 2 | 2 | 2 | 100.00% | 100.00% |"
        in printed
    )
    assert "Of the 2 commits without such a marker 2 are\nmapped" in printed
    for name in ("markers", "hidden markers", "missing fixes"):
        assert f"<!-- {name}: begin -->" in report.read_text("utf-8")


def test_git_alone_tells_what_a_branch_lacks(repository: Repository) -> None:
    """A fix of what the branch took, unless the branch has the fix or took the cause back."""
    broken = fix(repository, 1)
    taken = fix(repository, 2, f'\nFixes: {broken[:12]} ("clock: fix tick 1")\n')
    lacking = fix(repository, 3, f'\nFixes: {broken[:12]} ("clock: fix tick 1")\n')
    other = fix(repository, 4)
    fix(repository, 5, f'\nFixes: {other[:12]} ("clock: fix tick 4")\n')
    own = pick(repository, broken, f"[ upstream commit {broken} ]")
    pick(repository, taken)
    found = missing_fixes(str(repository.folder / ".git"), "main", "20.11")
    assert found == [MissingFix(lacking, "clock: fix tick 3", broken, "clock: fix tick 1")]
    repository.git("checkout", "-q", "20.11")
    repository.commit(f'Revert "clock: fix tick 1"\n\nThis reverts commit {own}.\n')
    assert missing_fixes(str(repository.folder / ".git"), "main", "20.11") == []


def test_a_section_is_replaced_and_others_stay(tmp_path: pathlib.Path) -> None:
    """What a person wrote around it, too."""
    path = tmp_path / "accuracy.md"
    path.write_text("# Accuracy\n\nRead by a person.\n")
    write_section(path, "one", "first\n")
    write_section(path, "two", "other")
    write_section(path, "one", "second")
    assert path.read_text() == (
        "# Accuracy\n\nRead by a person.\n\n<!-- one: begin -->\n\nsecond\n\n<!-- one: end -->\n\n"
        "<!-- two: begin -->\n\nother\n\n<!-- two: end -->\n"
    )

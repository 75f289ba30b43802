"""The questions that the project began with, asked of the shared seeds and the shared mail."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from patchlore.cli import main

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
SEEDS = sorted(SHARED.glob("seeds/*/input.txt"))
MAIL = SHARED / "corpora" / "stable-and-gcc.mboxrd.xz"
SCORE = SHARED / "tools" / "score_backports.py"

needs_shared = pytest.mark.skipif(
    not (SEEDS and MAIL.exists() and SCORE.exists()), reason="../shared is not there"
)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An archive of the four seeds."""
    path = tmp_path_factory.mktemp("seeds")
    assert main(["--archive", str(path), "ingest", *map(str, SEEDS)]) == 0
    return path


def ask(archive: pathlib.Path, capfd: pytest.CaptureFixture[str], *command: str) -> str:
    """Return what a command prints."""
    capfd.readouterr()
    assert main(["--archive", str(archive), *command]) == 0
    return capfd.readouterr().out


@needs_shared
def test_the_patch_stands_before_the_reply(
    seeds: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """PR 83356: the AUTOSEL patch by its Link tag and its added line, then the quotation."""
    out = ask(seeds, capfd, "pr", "83356")
    strong, quoted = out.index("AUTOSEL for 4.15 115/124"), out.index("stands in quoted text only")
    assert strong < quoted
    assert re.search(r"trailer: .*Link: https://gcc.gnu.org/bugzilla/show_bug.cgi\?id=83356", out)
    assert re.search(r"diff-added: .*cc-ifversion", out)


@needs_shared
def test_a_context_line_is_called_one(
    seeds: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """PR 79149 is nothing that the patch is about."""
    assert "stands in a context line only" in ask(seeds, capfd, "pr", "79149")


@needs_shared
def test_the_commit_has_its_posting_for_4_15(
    seeds: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An abbreviated commit finds the backport and its place in the series."""
    out = ask(seeds, capfd, "commit", "148b974deea9")
    assert "4.15: in-flight (picked by AUTOSEL, 115 of 124)" in out


@needs_shared
def test_the_commit_has_its_fix_and_its_report(
    seeds: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What fixes it, and the robot's regression report that names it as first bad."""
    out = ask(seeds, capfd, "commit", "b81fac906a8f")
    assert re.search(r"fixed by\n.*Feng Tang", out)
    assert re.search(r"regression report \(quoted\)\n.*Feng Tang", out)


@needs_shared
def test_the_tree_lists_the_commit(seeds: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """backports 4.15: one row, by AUTOSEL."""
    out = ask(seeds, capfd, "backports", "4.15")
    assert "148b974deea927f5dbb6c468af2707b488bfa2de  in-flight" in out
    assert "picked by AUTOSEL, 115 of 124" in out


@needs_shared
def test_no_backport_and_no_bug_of_the_shared_mail_is_missing(tmp_path: pathlib.Path) -> None:
    """2,813 real mails: every commit under a tree's tag, every mail with a bug's URL."""
    assert main(["--archive", str(tmp_path), "ingest", str(MAIL)]) == 0
    command = [sys.executable, "-m", "patchlore", "--archive", str(tmp_path)]
    score = subprocess.run(
        [sys.executable, str(SCORE), "--", *command], capture_output=True, text=True, check=False
    )
    assert score.returncode == 0, score.stdout

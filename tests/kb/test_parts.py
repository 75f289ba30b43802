"""Backports in a list that have a part of their upstream commit."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from patchlore.kb import parts
from patchlore.kb.store import Archive
from tests.kb.stable_trees import Trees

LINES = "".join(f"tick {number}\n" for number in range(40))
TITLE = "tick: use tocks"


@pytest.fixture
def trees(tmp_path: pathlib.Path) -> Iterator[Trees]:
    """Return a repository with two files, and its archive."""
    with Archive(tmp_path / "archive", write=True) as archive:
        made = Trees(tmp_path / "linux", archive)
        made.repository.git("checkout", "-q", "linux-5.10.y")
        made.repository.commit("tick: begin", {"tick.c": LINES, "bell.c": LINES})
        made.repository.git("checkout", "-q", "main")
        made.repository.git("reset", "-q", "--hard", "linux-5.10.y")
        yield made


def changed(*numbers: int) -> str:
    """Return the lines with those of these numbers changed."""
    text = LINES
    for number in numbers:
        text = text.replace(f"tick {number}\n", f"tock {number}\n")
    return text


def backport(trees: Trees, files: dict[str, str]) -> None:
    """Commit upstream what changes three places in two files, and a backport with these files."""
    trees.repository.git("checkout", "-q", "main")
    sha = trees.repository.commit(TITLE, {"tick.c": changed(3, 30), "bell.c": changed(7)})
    trees.repository.git("checkout", "-q", "linux-5.10.y")
    trees.repository.commit(f"{TITLE}\n\ncommit {sha} upstream.\n", files)
    trees.repository.tag("v5.10.1")


@pytest.mark.parametrize(
    ("files", "most", "note"),
    [
        ({"tick.c": changed(3, 30)}, 40, "partial: 4 of 6 changed lines, 1 of 2 files"),
        ({"tick.c": changed(3), "bell.c": changed(7)}, 40, "partial: 4 of 6 changed lines"),
        ({"tick.c": changed(3, 30)}, 0, "partial: 1 of 2 files"),
    ],
)
def test_what_a_backport_leaves_out_is_told(
    trees: Trees, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], most: int, note: str
) -> None:
    """By its lines; in a long list by its files."""
    monkeypatch.setattr(parts, "_MOST", most)
    backport(trees, files)
    (row,) = trees.rows()
    assert (row.state, row.reason) == ("released", "released in 5.10.1, in part")
    assert row.notes == [note]


def test_a_whole_backport_is_no_part(trees: Trees) -> None:
    """All of it, though with a line of its own."""
    backport(trees, {"tick.c": changed(3, 30) + "tock\n", "bell.c": changed(7)})
    (row,) = trees.rows()
    assert (row.reason, row.notes) == ("released in 5.10.1", [])

"""What overrides and exports make of prerequisites: rows that are there for the sake of others."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from patchlore.kb.backports import Row, backports
from patchlore.kb.export.vulnerabilities import fixes_of
from patchlore.kb.overriding import apply, read_overrides
from patchlore.kb.store import Archive
from tests.kb.backport_mails import add
from tests.kb.stable_trees import TODAY, Trees, by_sha, fixing, posted


@pytest.fixture
def trees(tmp_path: pathlib.Path) -> Iterator[Trees]:
    """Return a repository and its archive."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield Trees(tmp_path / "linux", archive)


def overridden(trees: Trees, tmp_path: pathlib.Path, *lines: str) -> list[Row]:
    """Return the list as a file of overrides has it."""
    (tmp_path / "own.txt").write_text("".join(f"{line}\n" for line in lines))
    rows = trees.rows()
    return apply(trees.archive, "5.10.y", rows, read_overrides(str(tmp_path / "own.txt")))[0]


def test_an_ignored_prerequisite_is_a_gap(trees: Trees, tmp_path: pathlib.Path) -> None:
    """Whoever takes the fix has to know that it builds on what was ignored."""
    helper = trees.main("tick: make a table")
    fix = trees.main(f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {helper[:12]}: table\n")
    rows = overridden(trees, tmp_path, f"{helper} ignore # no tables")
    assert {row.sha: row.state for row in rows} == {helper: "opted-out", fix: "needed"}
    assert by_sha(rows, fix).notes == [f'gap: needs {helper[:12]} ("table"), which is opted-out']


def test_what_only_an_ignored_fix_needs_is_left_out(trees: Trees, tmp_path: pathlib.Path) -> None:
    """Its prerequisite, and the repair of that; but nothing that another fix builds on."""
    helper, shared = trees.main("tick: make a table"), trees.main("tick: make a chair")
    trees.main(fixing("tick: mend the table", helper, "tick: make a table"))
    fix = trees.main(
        f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {helper[:12]}: table\n"
        f"Cc: stable@vger.kernel.org # 5.4.x: {shared[:12]}: chair\n"
    )
    other = trees.main(
        f"tick: use three\n\nCc: stable@vger.kernel.org # 5.4.x: {shared[:12]}: chair\n"
    )
    rows = overridden(trees, tmp_path, f"{fix} ignore # we count ourselves")
    assert {row.sha: row.state for row in rows} == {
        shared: "needed",
        fix: "opted-out",
        other: "needed",
    }


def test_a_dyad_pairs_no_prerequisite_with_the_fault_of_its_fix(tmp_path: pathlib.Path) -> None:
    """The mail that names it fixes something; it does not."""
    helper, cause, fix = "ab" * 20, "cd" * 20, "ef" * 20
    mails = [
        posted(
            1,
            "[PATCH 5.4.y] tick: make a table",
            f"commit {helper} upstream.\n\nA table.\n",
        ),
        posted(
            2,
            "[PATCH 5.4.y] tick: count right",
            f"commit {fix} upstream.\n\nRight.\n\n"
            f'Fixes: {cause[:12]} ("tick: use two")\n'
            f"Cc: stable@vger.kernel.org # 5.4.x: {helper[:12]}: table\n",
        ),
        posted(3, "[PATCH 5.10.y] tick: use two", f"commit {cause} upstream.\n\nTwo.\n"),
        posted(4, "[PATCH 5.10.y] tick: count right", f"commit {fix} upstream.\n\nRight.\n"),
    ]
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, mails)
        rows = backports(archive, "5.10", as_of=TODAY)
        (row,) = [row for row in rows if row.sha == helper]
        assert row.event.rule == "prerequisite"
        assert fixes_of(archive, row) == []
        (row,) = [row for row in rows if row.sha == fix]
        assert fixes_of(archive, row) == []


def test_what_an_older_tree_took_for_a_fix_may_be_in_a_newer_one(tmp_path: pathlib.Path) -> None:
    """From mail alone: an older tree than that lacks it, of a newer one nothing is known."""
    helper, fix = "ab" * 20, "ef" * 20
    mails = [
        posted(
            1,
            "[PATCH 5.10.y 1/2] tick: make a table",
            f"commit {helper} upstream.\n\nA table.\n\n"
            f'Stable-dep-of: {fix[:12]} ("tick: count right")\n',
        ),
        *(
            posted(
                number, f"[PATCH {tree} 2/2] tick: count right", f"commit {fix} upstream.\n\nSo.\n"
            )
            for number, tree in ((2, "5.10.y"), (3, "5.15.y"), (4, "5.4.y"))
        ),
    ]
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, mails)
        older, newer = (backports(archive, tree, as_of=TODAY) for tree in ("5.4", "5.15"))
    assert [(row.sha, row.state) for row in older] == [(helper, "needed"), (fix, "in-flight")]
    assert older[0].reason == f"{fix[:12]} builds on it (Stable-dep-of), as far as mail tells"
    assert [(row.sha, row.state) for row in newer] == [(helper, "unknown"), (fix, "in-flight")]
    assert [item.is_present for item in newer[1].requires] == [None]
    assert newer[1].notes == [
        f'gap: needs {helper[:12]} ("tick: make a table"), which may be missing'
    ]

"""What a tree needs of what was reverted upstream, maybe applied again; slips in ``Fixes:``."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from patchlore.kb.backports import OPEN_STATES, backports
from patchlore.kb.comparing import compare
from patchlore.kb.store import Archive
from tests.kb.backport_mails import add
from tests.kb.stable_trees import TODAY, Trees, by_sha, fixing, posted

NOTE = "Cc: stable@vger.kernel.org # 5.4+\n"
BARE = "Cc: stable@vger.kernel.org\n"


@pytest.fixture
def trees(tmp_path: pathlib.Path) -> Iterator[Trees]:
    """Return a repository and its archive."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield Trees(tmp_path / "linux", archive)


def reverting(title: str, sha: str, rest: str = "") -> str:
    """Return the message of a revert."""
    return f'Revert "{title}"\n\nThis reverts commit {sha}.\n\nIt broke clocks.\n\n{rest}'


def applying(title: str, revert: str, rest: str = "") -> str:
    """Return the message of a commit that reverts a revert."""
    return f'Reapply "{title}"\n\nThis reverts commit {revert}.\n\n{rest}'


def open_rows(trees: Trees) -> list[str | None]:
    """Return the commits that formats for machines take, in their order."""
    return [row.sha for row in trees.rows() if row.state in OPEN_STATES]


def test_neither_a_commit_nor_its_revert_is_needed_by_a_tree_with_neither(trees: Trees) -> None:
    """Though notes ask for both, and the revert says to fix the commit."""
    wanted = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", NOTE))
    revert = trees.main(
        reverting("clock: begin at one", wanted, f'Fixes: {wanted[:12]} ("clock")\n{NOTE}')
    )
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {wanted: "reverted", revert: "not-affected"}
    row = by_sha(rows, revert)
    assert row.reason.startswith(f"reverts {wanted[:12]}, which the tree does not have; asked for")
    assert not [note for row in rows for note in row.notes if "take both" in note]
    assert backports(trees.archive, "5.10", as_of=TODAY, missing_fixes=True) == []


def test_the_revert_is_needed_where_the_commit_was_taken(trees: Trees) -> None:
    """A note without a version on it is enough, or none."""
    wanted = trees.main(f"tick: use two\n\n{NOTE}")
    trees.backport(wanted, "tick: use two")
    revert = trees.main(reverting("tick: use two", wanted, BARE))
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {wanted: "queued", revert: "needed"}
    assert by_sha(rows, revert).event.rule == "reverts a commit of the tree"


def test_what_applied_it_again_is_needed_in_its_place(trees: Trees) -> None:
    """For what the first commit fixed; that one says what became of it."""
    first = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", NOTE))
    revert = trees.main(reverting("clock: begin at one", first))
    again = trees.main(applying("clock: begin at one", revert))
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {first: "reverted", again: "needed"}
    assert by_sha(rows, first).reason == f"reverted upstream, and applied again by {again[:12]}"
    assert by_sha(rows, again).reason == (
        f"applies {first[:12]} again: "
        f"that fixes {trees.base[:12]}, in it from the start, since 5.10"
    )
    missing = backports(trees.archive, "5.10", as_of=TODAY, missing_fixes=True)
    assert [row.sha for row in missing] == [again]


def test_what_applied_it_again_is_needed_by_the_note_of_the_first(trees: Trees) -> None:
    """Where nothing says what it fixes."""
    first = trees.main(f"tick: use two\n\n{NOTE}")
    again = trees.main(applying("tick: use two", trees.main(reverting("tick: use two", first))))
    assert open_rows(trees) == [again]


def test_a_fix_of_nobodys_asking_is_needed_as_applied_again(trees: Trees) -> None:
    """No row for the first one; also over two rounds of it."""
    first = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    title = "clock: begin at one"
    again = trees.main(applying(title, trees.main(reverting(title, first))))
    last = trees.main(applying(title, trees.main(reverting(f'Reapply "{title}"', again))))
    assert trees.states() == {last: "needed"}


def test_three_reverts_in_a_row_leave_nothing(trees: Trees) -> None:
    """Reverted, applied again, reverted."""
    title = "clock: begin at one"
    first = trees.main(fixing(title, trees.base, "clock: begin", NOTE))
    again = trees.main(applying(title, trees.main(reverting(title, first)), NOTE))
    gone = trees.main(reverting(f'Reapply "{title}"', again, NOTE))
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {
        first: "reverted",
        again: "reverted",
        gone: "not-affected",
    }


def test_what_the_tree_never_reverted_is_not_applied_again(trees: Trees) -> None:
    """The second commit says to fix what the first one did, and asks for the tree."""
    title = "clock: begin at one"
    first = trees.main(fixing(title, trees.base, "clock: begin"))
    trees.backport(first, title)
    revert = trees.main(reverting(title, first))
    again = trees.main(
        applying(title, revert, f'Fixes: {trees.base[:12]} ("clock: begin")\n{NOTE}')
    )
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {first: "queued", again: "not-affected"}
    assert by_sha(rows, again).reason == (
        f"applies {first[:12]} again, committed, not yet released and not reverted here"
    )


def test_what_the_tree_reverted_as_upstream_is_to_be_applied_again(trees: Trees) -> None:
    """It took the commit and its revert; the third one is what it lacks."""
    first = trees.main("tick: use two")
    own = trees.backport(first, "tick: use two")
    revert = trees.main(reverting("tick: use two", first))
    trees.stable(
        f'Revert "tick: use two"\n\ncommit {revert} upstream.\n\nThis reverts commit {own}.\n'
    )
    again = trees.main(applying("tick: use two", revert))
    assert trees.states() == {first: "reverted", revert: "queued", again: "needed"}


def test_what_is_in_flight_and_was_reverted_upstream_says_so(trees: Trees) -> None:
    """A fix that was reverted is none that has to come with it."""
    cause = trees.main(f"tick: use two\n\n{NOTE}")
    fix = trees.main(fixing("tick: count right", cause))
    trees.main(reverting("tick: count right", fix, f'Fixes: {fix[:12]} ("tick: count right")\n'))
    (row,) = trees.rows()
    assert (row.sha, row.state, row.notes) == (cause, "needed", [])


def test_a_note_does_not_ask_for_what_has_nothing_to_fix(trees: Trees) -> None:
    """The tree was read: it never had the cause, whatever the note says."""
    cause = trees.main("tick: use two")
    fix = trees.main(fixing("tick: count right", cause, rest=NOTE))
    (row,) = trees.rows()
    assert (row.sha, row.state) == (fix, "not-affected")
    assert row.reason == (
        f"fixes {cause[:12]}, which the tree does not have; asked for all the same"
        " (Cc: stable # 5.4+)"
    )
    assert row.event.text == f'Fixes: {cause[:12]} ("tick: use two")'


def test_a_commit_does_not_fix_itself(trees: Trees) -> None:
    """A marker and ``Fixes:`` with one commit: said, and followed no further."""
    sha = "ab" * 20
    trees.repository.git("checkout", "-q", "-b", "linux-5.4.y", trees.base)
    trees.repository.commit(
        f'tick: use two\n\ncommit {sha} upstream.\n\nFixes: {sha[:12]} ("tick: use two")\n'
        f'Fixes: {trees.base[:12]} ("clock: begin")\n'
    )
    (row,) = trees.rows()
    assert (row.sha, row.state, row.requires) == (sha, "needed", [])
    assert row.notes == ["it says to fix or to revert itself: that line counts for nothing"]


def test_prerequisites_bring_their_own_fixes(trees: Trees) -> None:
    """What a needed commit builds on is needed whole: with what repairs it."""
    helper = trees.main("tick: make a table")
    fix = trees.main(f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {helper[:12]}: table\n")
    repair = trees.main(fixing("tick: mend the table", helper, "tick: make a table"))
    rows = trees.rows()
    assert [row.sha for row in rows] == [helper, fix, repair]
    assert rows[2].reason == f"fixes {helper[:12]}, needed itself"


def test_a_prerequisite_that_was_reverted_upstream_is_a_gap(trees: Trees) -> None:
    """No row asks for it."""
    helper = trees.main("tick: make a table")
    fix = trees.main(f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {helper[:12]}: table\n")
    trees.main(reverting("tick: make a table", helper))
    (row,) = trees.rows()
    assert row.sha == fix
    assert [note for note in row.notes if note.startswith(f"gap: needs {helper[:12]}")]


def test_prerequisites_stand_in_what_one_tree_has_over_another(trees: Trees) -> None:
    """Both trees are told apart by rows in order, with no gap between them."""
    helper = trees.main("tick: make a table")
    fix = trees.main(f"tick: use two\n\n{NOTE}")
    trees.repository.git("checkout", "-q", "-b", "linux-5.4.y", trees.base)
    trees.repository.commit(
        f"tick: make a table\n\ncommit {helper} upstream.\n\n"
        f'Stable-dep-of: {fix[:12]} ("tick: use two")\n'
    )
    trees.repository.commit(f"tick: use two\n\ncommit {fix} upstream.\n")
    trees.rows()
    rows = compare(trees.archive, "5.4", "5.10", as_of=TODAY)
    assert [row.sha for row in rows] == [helper, fix]
    assert not [note for row in rows for note in row.notes if note.startswith("gap")]


def test_what_repairs_the_first_is_needed_with_what_applied_it_again(trees: Trees) -> None:
    """It came after that: the mainline has both."""
    title = "clock: begin at one"
    first = trees.main(fixing(title, trees.base, "clock: begin"))
    again = trees.main(applying(title, trees.main(reverting(title, first))))
    repair = trees.main(fixing("clock: begin at noon", first, title))
    rows = trees.rows()
    assert [row.sha for row in rows] == [again, repair]
    assert rows[1].reason == f"fixes {first[:12]}, needed itself as {again[:12]}"
    assert [(item.sha, item.why) for item in rows[1].requires] == [(again, "fixed by this commit")]


def test_what_repairs_the_first_is_needed_where_the_last_was_taken(trees: Trees) -> None:
    """The tree never had the first one, but its change."""
    title = "clock: begin at one"
    first = trees.main(f"{title}\n\nOne.\n")
    again = trees.main(applying(title, trees.main(reverting(title, first))))
    trees.backport(again, f'Reapply "{title}"')
    repair = trees.main(fixing("clock: begin at noon", first, title))
    row = by_sha(trees.rows(), repair)
    assert row.state == "needed"
    assert row.reason == (
        f"fixes {first[:12]}, applied again by {again[:12]}, committed, not yet released"
    )


def test_a_merge_is_nothing_to_pick(trees: Trees) -> None:
    """What it brings in is a row; it says what that fixes and asks for the tree, too."""
    trees.repository.git("checkout", "-q", "-b", "topic", trees.base)
    fix = trees.repository.commit(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.main("tick: use two")
    trees.repository.day += 1
    message = f'Merge clocks\n\nFixes: {trees.base[:12]} ("clock: begin")\n{NOTE}'
    trees.repository.git("merge", "-q", "--no-ff", "-m", message, "topic")
    assert trees.states() == {fix: "needed"}


@pytest.mark.parametrize("note", [NOTE, BARE])
def test_the_fix_of_what_is_needed_by_a_note_is_needed(trees: Trees, note: str) -> None:
    """The tree lacks the cause, but is to have it."""
    cause = trees.main(f"tick: use two\n\n{NOTE}")
    fix = trees.main(fixing("tick: count right", cause, rest=note))
    rows = trees.rows()
    assert [(row.sha, row.state) for row in rows] == [(cause, "needed"), (fix, "needed")]
    assert rows[1].reason == f"fixes {cause[:12]}, needed itself"


@pytest.mark.parametrize(("note", "state"), [(NOTE, "needed"), (BARE, "unknown")])
def test_the_fix_of_what_is_in_flight_is_not_spared(trees: Trees, note: str, state: str) -> None:
    """Who takes the cause has to take both."""
    cause = trees.main("tick: use two")
    fix = trees.main(fixing("tick: count right", cause, rest=note))
    text = f"commit {cause} upstream.\n\nTwo.\n\n"
    add(trees.archive, [posted(1, "[PATCH 5.10.y] tick: use two", text)])
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {cause: "in-flight", fix: state}
    assert by_sha(rows, cause).notes == [
        f'fixed upstream by {fix[:12]} ("tick: count right"): take both'
    ]

"""What a tree needs by what it has: states, reasons, closure and order, over git trees."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from patchlore.kb.backports import backports
from patchlore.kb.dossiers.commits import commit_dossier
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.history import events_of_commit
from patchlore.kb.store import Archive
from patchlore.kb.trees import is_known
from tests.kb.git_repositories import DAY, Repository
from tests.kb.mails import NOON, UPSTREAM
from tests.kb.stable_trees import TODAY, Trees, by_sha, fixing


@pytest.fixture
def trees(tmp_path: pathlib.Path) -> Iterator[Trees]:
    """Return a repository and its archive."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield Trees(tmp_path / "linux", archive)


def test_the_fix_of_a_backport_is_needed(trees: Trees) -> None:
    """The tree took a commit; the mainline repaired it since: the line that says so is shown."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    trees.repository.tag("v5.10.1")
    fix = trees.main(fixing("tick: count right", cause))
    row = by_sha(trees.rows(), fix)
    assert (row.state, row.subject, row.author) == ("needed", "tick: count right", "Ada Quill")
    assert row.reason == f"fixes {cause[:12]}, released in 5.10.1"
    assert (row.event.kind, row.event.rule) == ("affected", "fixes a backport of the tree")
    assert (row.event.commit, row.event.key, row.event.line) == (fix, fix, 5)
    assert row.event.text == f'Fixes: {cause[:12]} ("tick: use two")'
    assert row.event.confidence == "certain"


def test_the_fix_of_what_was_there_from_the_start_is_needed(trees: Trees) -> None:
    """The commit that it fixes is in the version that the tree is made from."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    row = by_sha(trees.rows(), fix)
    assert (row.state, row.event.rule) == ("needed", "fixes a commit of the tree")
    assert row.reason == f"fixes {trees.base[:12]}, in it from the start, since 5.10"


def test_the_fix_of_what_the_tree_lacks_is_no_row(trees: Trees) -> None:
    """Nothing connects it with the tree."""
    cause = trees.main("tick: use two")
    trees.main(fixing("tick: count right", cause))
    assert trees.rows() == []


def test_a_fix_that_the_tree_has_is_not_needed(trees: Trees) -> None:
    """Neither as a backport nor when it was there before the tree began."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.backport(fix, "clock: begin at one")
    assert trees.states() == {fix: "queued"}


def test_fixes_of_needed_fixes_are_needed_after_them(trees: Trees) -> None:
    """Transitively; each row names the one that it repairs, and stands behind it."""
    first = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    second = trees.main(fixing("clock: begin at two", first, "clock: begin at one"))
    third = trees.main(fixing("clock: begin at three", second, "clock: begin at two"))
    rows = trees.rows()
    assert [row.sha for row in rows] == [first, second, third]
    assert {row.state for row in rows} == {"needed"}
    assert rows[2].reason == f"fixes {second[:12]}, needed itself"
    (required,) = rows[2].requires
    assert (required.sha, required.why, required.is_present) == (
        second,
        "fixed by this commit",
        False,
    )


def test_a_revert_upstream_of_what_the_tree_has_is_needed(trees: Trees) -> None:
    """It takes back a commit that the tree has taken."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    revert = trees.main(f'Revert "tick: use two"\n\nThis reverts commit {cause}.\n')
    row = by_sha(trees.rows(), revert)
    assert (row.state, row.event.rule) == ("needed", "reverts a commit of the tree")


def test_a_revert_that_was_itself_reverted_is_not_needed(trees: Trees) -> None:
    """Both cancel out; neither is a row."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    revert = trees.main(f'Revert "tick: use two"\n\nThis reverts commit {cause}.\n')
    trees.main(f'Reapply "tick: use two"\n\nThis reverts commit {revert}.\n')
    assert trees.states() == {cause: "queued"}


def test_a_fix_that_was_reverted_upstream_is_not_needed(trees: Trees) -> None:
    """What the mainline took back, nobody else should take."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.main(f'Revert "clock: begin at one"\n\nThis reverts commit {fix}.\n')
    assert trees.rows() == []


def test_a_revert_may_name_its_commit_by_the_title_alone(trees: Trees) -> None:
    """Upstream and in the tree, where one older commit has the title."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.main('Revert "clock: begin at one"\n\nIt began too late.\n')
    assert fix not in trees.states()
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    trees.stable('Revert "tick: use two"\n\nOne is enough.\n')
    trees.main(fixing("tick: count right", cause))
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {cause: "reverted"}
    assert (rows[0].event.rule, rows[0].event.confidence) == ("title of a revert", "high")
    assert rows[0].event.text == 'Revert "tick: use two"'
    events = events_of_commit(trees.archive, [cause], "5.10")
    assert [event.kind for event in events] == ["queued", "reverted"]


def test_a_revert_upstream_by_title_is_needed_where_the_commit_was_taken(trees: Trees) -> None:
    """As one that names the commit, with less confidence."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    revert = trees.main('Revert "tick: use two"\n\nOne is enough.\n')
    row = by_sha(trees.rows(), revert)
    assert (row.state, row.event.rule) == ("needed", "reverts a commit of the tree")
    assert (row.event.confidence, row.event.line) == ("high", 1)
    assert row.event.text == 'Revert "tick: use two"'


def test_a_revert_by_a_title_that_two_commits_have_says_nothing(trees: Trees) -> None:
    """Nobody can tell which it takes back."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.main("clock: begin at one\n\nAnother place.\n")
    trees.main('Revert "clock: begin at one"\n\nIt began too late.\n')
    assert trees.states()[fix] == "needed"


def test_a_partial_revert_leaves_the_fix_needed(trees: Trees) -> None:
    """Some of it stays."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.main(f"clock: a bit less\n\nThis partially reverts commit {fix}.\n")
    assert trees.states()[fix] == "needed"


def test_nothing_is_needed_for_a_backport_that_the_tree_reverted(trees: Trees) -> None:
    """What it fixes is gone."""
    cause = trees.main("tick: use two")
    own = trees.backport(cause, "tick: use two")
    trees.stable(f'Revert "tick: use two"\n\nThis reverts commit {own}.\n')
    trees.main(fixing("tick: count right", cause))
    assert trees.states() == {cause: "reverted"}


def test_nothing_is_needed_for_a_base_commit_that_the_tree_reverted(trees: Trees) -> None:
    """Also where it was never a backport."""
    trees.stable(f'Revert "clock: begin"\n\nThis reverts commit {trees.base}.\n')
    trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    assert trees.rows() == []


def test_wrong_digits_are_known_by_the_title(trees: Trees) -> None:
    """`Fixes:` names a commit that no repository has; the tree has one of the title."""
    fix = trees.main(fixing("clock: begin at one", UPSTREAM, "clock: begin"))
    row = by_sha(trees.rows(), fix)
    assert (row.state, row.event.confidence) == ("needed", "high")
    assert row.reason == f"fixes {trees.base[:12]}, in it under this title"


def test_digits_that_nobody_has_need_nothing(trees: Trees) -> None:
    """Where the introducing commit is not known, the state is not guessed."""
    trees.main(f"tick: count right\n\nFixes: {UPSTREAM[:12]}\n")
    assert trees.rows() == []


def test_a_fix_may_name_the_commit_of_a_stable_tree(trees: Trees) -> None:
    """The backport that it names leads to the upstream commit, whose backport 5.10 has, too."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    trees.repository.git("checkout", "-q", "-b", "linux-5.4.y", trees.base)
    other = trees.repository.commit(f"tick: use two\n\ncommit {cause} upstream.\n")
    fix = trees.main(fixing("tick: count right", other))
    assert trees.states()[fix] == "needed"


def test_a_note_for_the_tree_makes_a_merged_commit_needed(trees: Trees) -> None:
    """`Cc: stable # 5.4+`; one for 6.1 and later says nothing of 5.10."""
    wanted = trees.main("tick: use two\n\nCc: stable@vger.kernel.org # 5.4+\n")
    trees.main("tick: use three\n\nCc: stable@vger.kernel.org # 6.1+\n")
    (row,) = trees.rows()
    assert (row.sha, row.state, row.event.rule) == (wanted, "needed", "Cc: stable note")
    assert row.reason == "merged upstream, wanted here (Cc: stable # 5.4+)"
    assert (row.event.commit, row.event.line) == (wanted, 3)
    assert [event.kind for event in row.events] == ["nominated"]


def test_a_note_without_a_version_follows_what_is_fixed(trees: Trees) -> None:
    """Needed where that is, not affected where it is not, unknown where nobody says."""
    note = "Cc: stable@vger.kernel.org\n"
    cause = trees.main("tick: use two")
    needed = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", note))
    spared = trees.main(fixing("tick: count right", cause, rest=note))
    unknown = trees.main(f"tick: use three\n\n{note}")
    rows = trees.rows()
    assert {row.sha: row.state for row in rows} == {
        needed: "needed",
        spared: "not-affected",
        unknown: "unknown",
    }
    row = by_sha(rows, spared)
    assert row.reason == f"fixes {cause[:12]}, which the tree does not have"
    assert (row.event.kind, row.event.commit) == ("not-affected", spared)
    assert row.event.text == f'Fixes: {cause[:12]} ("tick: use two")'


def test_a_note_for_newer_trees_spares_the_older(trees: Trees) -> None:
    """What it fixes was there from the start, but its author asks for 5.15 and later."""
    note = "Cc: stable@vger.kernel.org # 5.15+\n"
    spared = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", note))
    (row,) = trees.rows()
    assert (row.sha, row.state) == (spared, "not-affected")
    assert row.reason == (
        "wanted in other trees (Cc: stable # 5.15+); but it "
        f"fixes {trees.base[:12]}, in it from the start, since 5.10"
    )
    assert (row.event.commit, row.event.line) == (spared, 6)


def test_a_note_may_leave_out_the_tree(trees: Trees) -> None:
    """Also where the tree took what is fixed as a backport: it is named."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    note = "Cc: stable@vger.kernel.org # 5.4+ but not 5.10\n"
    fix = trees.main(fixing("tick: count right", cause, rest=note))
    alone = trees.main(f"tick: use three\n\n{note}")
    row = by_sha(trees.rows(), fix)
    assert (row.state, row.event.rule) == ("not-affected", "Cc: stable note for other trees")
    assert row.reason.startswith("not for this tree (Cc: stable # 5.4+ but not 5.10); but it fixes")
    assert (row.event.commit, row.event.line) == (fix, 6)
    assert alone not in trees.states()


def test_a_note_may_only_leave_out_the_tree(trees: Trees) -> None:
    """`# not for 5.10` asks for no other tree by its version, and not for this."""
    note = "Cc: stable@vger.kernel.org # not for 5.10\n"
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", note))
    assert trees.states() == {fix: "not-affected"}


@pytest.mark.parametrize(
    "words", ["5.4+, 5.10 is fine", "5.4+ unless 5.10 has a lamp", "see lamp; not 5.10"]
)
def test_what_a_note_says_of_the_tree_may_be_unclear(trees: Trees, words: str) -> None:
    """Then nothing follows: the state is unknown, and the line is shown."""
    note = f"Cc: stable@vger.kernel.org # {words}\n"
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", note))
    row = by_sha(trees.rows(), fix)
    assert row.state == "unknown"
    assert (row.event.commit, row.event.line) == (fix, 6)
    assert "says something of this tree" in row.reason


def test_a_note_for_newer_trees_knows_nothing_of_backports(trees: Trees) -> None:
    """The cause came with 5.15 upstream, and with a backport into 5.10."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    note = "Cc: stable@vger.kernel.org # 5.15+\n"
    fix = trees.main(fixing("tick: count right", cause, rest=note))
    assert trees.states()[fix] == "needed"


def test_a_nominated_commit_that_was_reverted_upstream_is_not_needed(trees: Trees) -> None:
    """Its state says so, by the line that took it back; nothing that is open has it."""
    wanted = trees.main("tick: use two\n\nCc: stable@vger.kernel.org # 5.4+\n")
    gone = trees.main(f'Revert "tick: use two"\n\nThis reverts commit {wanted}.\n')
    row = by_sha(trees.rows(), wanted)
    assert (row.state, row.reason) == ("reverted", f"reverted upstream by {gone[:12]}")
    assert (row.event.commit, row.event.text) == (gone, f"This reverts commit {wanted}.")
    assert row.notes == []


def test_an_author_may_opt_out(trees: Trees) -> None:
    """stable+noautosel: what would be needed is told as opted out, with the reason given."""
    note = "Cc: stable+noautosel@kernel.org # needs a new tool\n"
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin", note))
    row = by_sha(trees.rows(), fix)
    assert row.state == "opted-out"
    assert row.reason == "not for automatic selection: needs a new tool"
    assert (row.event.commit, row.event.line) == (fix, 6)


def test_prerequisites_stand_before_the_fix(trees: Trees) -> None:
    """The note names them; they are rows of their own where the tree lacks them."""
    first = trees.main("tick: make a table")
    fix = trees.main(
        f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {first[:12]}: a table\n"
    )
    rows = trees.rows()
    assert [row.sha for row in rows] == [first, fix]
    assert (rows[0].state, rows[0].event.rule) == ("needed", "prerequisite")
    assert rows[0].reason == f"{fix[:12]} builds on it (Cc: stable note)"
    assert (rows[0].event.commit, rows[0].event.line) == (fix, 3)
    assert [(item.sha, item.is_present) for item in rows[1].requires] == [(first, False)]


def test_a_prerequisite_that_the_tree_has_is_said_to_be_there(trees: Trees) -> None:
    """No row is made of it."""
    fix = trees.main(f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {trees.base[:12]}: b\n")
    (row,) = trees.rows()
    assert (row.sha, row.requires[0].is_present) == (fix, True)


def test_a_prerequisite_that_nobody_knows_is_a_gap(trees: Trees) -> None:
    """It is told, not passed over."""
    trees.main(f"tick: use two\n\nCc: stable@vger.kernel.org # 5.4.x: {UPSTREAM[:12]}: a table\n")
    (row,) = trees.rows()
    (gap,) = [note for note in row.notes if note.startswith("gap")]
    assert gap == (
        f'gap: needs {UPSTREAM[:12]} ("a table"), which neither the tree has nor the list'
    )


def test_a_dependency_is_told_by_stable_dep_of(trees: Trees) -> None:
    """Another tree took it before the fix: here it stands before it, too."""
    helper = trees.main("tick: make a table")
    fix = trees.main("tick: use two\n\nCc: stable@vger.kernel.org # 5.4+\n")
    trees.repository.git("checkout", "-q", "-b", "linux-5.4.y", trees.base)
    trees.repository.commit(
        f"tick: make a table\n\ncommit {helper} upstream.\n\n"
        f'Stable-dep-of: {fix[:12]} ("tick: use two")\n'
    )
    first, row = trees.rows()
    assert (first.sha, first.state, first.event.rule) == (helper, "needed", "prerequisite")
    assert first.reason == f"{fix[:12]} builds on it (Stable-dep-of)"
    assert first.event.text == f'Stable-dep-of: {fix[:12]} ("tick: use two")'
    assert row.sha == fix
    assert [(item.sha, item.why, item.is_present) for item in row.requires] == [
        (helper, "Stable-dep-of", False)
    ]
    assert not any(note.startswith("gap") for note in row.notes)


def test_a_delay_is_over_when_its_time_is_past(trees: Trees) -> None:
    """`after 4 weeks` counts from the commit; the day to judge by is the caller's."""
    wanted = trees.main(
        "tick: use two\n\nCc: stable@vger.kernel.org # 5.4+\n"
        "Cc: stable@vger.kernel.org # after 4 weeks in mainline\n"
    )
    due = "2024-02-01"
    (early,) = [row for row in trees.rows(as_of=NOON + 10 * DAY) if row.sha == wanted]
    (late,) = [row for row in trees.rows(as_of=NOON + 60 * DAY) if row.sha == wanted]
    words = "delay asked for (after 4 weeks in mainline)"
    assert early.notes == [f"{words}: not due before {due}"]
    assert late.notes == [f"{words}: due since {due}"]


def test_a_delay_may_stand_behind_a_range(trees: Trees) -> None:
    """`# 5.4+ after 6 weeks`: both count."""
    trees.main("tick: use two\n\nCc: stable@vger.kernel.org # 5.4+ after six weeks\n")
    (row,) = trees.rows()
    assert row.state == "needed"
    assert row.notes[0].startswith("delay asked for (after six weeks): ")


def test_a_delay_may_end_with_a_candidate(trees: Trees) -> None:
    """`after -rc3` is over when the mainline tagged that."""
    wanted = trees.main(
        "tick: use two\n\nCc: stable@vger.kernel.org # 5.4+\n"
        "Cc: stable@vger.kernel.org # after -rc3\n"
    )
    trees.repository.tag("v5.11-rc1")
    trees.main("tick: use three")
    trees.repository.tag("v5.11-rc3")
    row = by_sha(trees.rows(), wanted)
    assert row.notes == ["delay asked for (after -rc3): due since 2024-01-05"]


def test_a_newer_tree_that_lacks_the_fix_is_named(trees: Trees) -> None:
    """The kernel's rule: a fix has to be in every newer supported tree first."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.main("clock: stop")
    trees.repository.tag("v6.1")
    trees.repository.git("branch", "linux-6.1.y")
    trees.repository.git("checkout", "-q", "-b", "linux-5.15.y", trees.base)
    trees.repository.commit("clock: a tree of its own")
    row = by_sha(trees.rows(), fix)
    assert row.notes == ["not known in 5.15: a fix has to be in every newer tree first"]


def test_a_vendors_tree_is_asked_by_its_name(trees: Trees) -> None:
    """Its branch is no mainline where one was read; it has a backport, and lacks the fix."""
    cause = trees.main("tick: use two")
    fix = trees.main(fixing("tick: count right", cause))
    vendor = Repository(trees.repository.folder.parent / "acme")
    vendor.git("fetch", "-q", str(trees.repository.folder), trees.base)
    vendor.git("reset", "-q", "--hard", "FETCH_HEAD")
    vendor.day = 50
    vendor.commit(f"tick: use two\n\n(cherry picked from commit {cause})\n")
    vendor.commit(fixing("acme: a matter of its own", trees.base, "clock: begin"))
    fill_tree(trees.archive, "mainline", str(trees.repository.folder))
    fill_tree(trees.archive, "acme", str(vendor.folder))
    assert is_known(trees.archive, "acme")
    rows = backports(trees.archive, "acme", as_of=TODAY)
    assert {row.sha: row.state for row in rows} == {cause: "queued", fix: "needed"}


def test_the_dossier_of_a_commit_in_one_tree_says_what_the_list_says(trees: Trees) -> None:
    """Nothing has happened to it there: the line by which it is needed is the timeline."""
    fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))
    trees.rows()
    (state,) = commit_dossier(trees.archive, fix[:12], "5.10").trees
    assert (state.tree, state.state) == ("5.10.y", "needed")
    assert [(event.kind, event.line) for event in state.events] == [("affected", 5)]


def test_only_missing_fixes_may_be_asked_for(trees: Trees) -> None:
    """Fixes of what the tree has and lacks itself: no nominations, nothing that is there."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    fix = trees.main(fixing("tick: count right", cause))
    trees.main("tick: use three\n\nCc: stable@vger.kernel.org # 5.4+\n")
    trees.rows()
    assert [row.sha for row in backports(trees.archive, "5.10", missing_fixes=True)] == [fix]


def test_the_list_is_the_same_each_time(trees: Trees) -> None:
    """Nothing in it depends on an order that is not fixed."""
    for number in range(4):
        trees.main(fixing(f"clock: begin at {number}", trees.base, "clock: begin"))
    first = trees.rows()
    assert first == backports(trees.archive, "5.10", as_of=TODAY)


def test_commits_that_need_each_other_are_a_cycle(trees: Trees) -> None:
    """A note says so, and both stay in the list."""
    first, second = "ab" * 20, "cd" * 20
    for sha, other, title in ((first, second, "one"), (second, first, "two")):
        trees.repository.git("checkout", "-q", "-B", "linux-5.4.y", trees.base)
        trees.repository.commit(
            f"tick: {title}\n\ncommit {sha} upstream.\n\n"
            f'Fixes: {trees.base[:12]} ("clock: begin")\nStable-dep-of: {other[:12]} ("tick")\n'
        )
        trees.repository.tag(f"v5.4.{1 if sha == first else 2}")
        trees.repository.git("branch", "-f", f"linux-4.{19 if sha == first else 14}.y")
    rows = trees.rows()
    assert {row.sha for row in rows} == {first, second}
    assert sum(note.endswith("(a cycle)") for row in rows for note in row.notes) == 1


def test_a_commit_applied_again_is_released_again(trees: Trees) -> None:
    """Reverted in 5.10.2, brought back in 5.10.3 by a revert of the revert."""
    upstream = trees.main("tick: use two")
    own = trees.backport(upstream, "tick: use two")
    trees.repository.tag("v5.10.1")
    revert = trees.stable(f'Revert "tick: use two"\n\nThis reverts commit {own}.\n')
    trees.repository.tag("v5.10.2")
    again = trees.stable(f'Reapply "tick: use two"\n\nThis reverts commit {revert}.\n')
    trees.repository.tag("v5.10.3")
    (row,) = trees.rows()
    assert [event.kind for event in row.events] == ["released", "reverted", "re-applied"]
    assert (row.sha, row.state, row.reason) == (upstream, "released", "applied again in 5.10.3")
    assert row.event.commit == again


def test_a_commit_that_denies_an_upstream_one_is_no_backport(trees: Trees) -> None:
    """The same title and author, but the tree's commit says that there is none upstream."""
    cause = trees.main("tick: use two")
    trees.backport(cause, "tick: use two")
    fix = trees.main(fixing("tick: update the defaults", cause))
    trees.stable(
        "tick: update the defaults\n\nNo upstream commit exists for this commit.\n\nOnly here.\n"
    )
    assert by_sha(trees.rows(), fix).state == "needed"


def test_what_fixes_an_unknown_commit_is_not_cleared(trees: Trees) -> None:
    """A slip of the pen in Fixes: says nothing of what the tree has."""
    note = "Cc: stable@vger.kernel.org\n"
    fix = trees.main(fixing("tick: count right", "deadbeefdead", "clock: never seen", note))
    assert trees.states().get(fix) in (None, "unknown")

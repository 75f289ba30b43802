"""Backports without a marker: which upstream commit carries the same change."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import pytest

from patchlore.kb.backports import backports
from patchlore.kb.edges_commits import carried_by, same_changes
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.git_reading import SAME_CHANGE, trees_with
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository

BODY = "".join(f"tick {number} of the clock\n" for number in range(30))
CLEO = {"GIT_AUTHOR_NAME": "Cleo Ward", "GIT_AUTHOR_EMAIL": "cleo@example.org"}


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a repository with a stable branch beside main."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin", {"clock.c": BODY, "bell.c": BODY})
    made.tag("v5.10")
    made.git("branch", "linux-5.10.y")
    return made


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Iterator[Archive]:
    """Yield an archive that is open for writing."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield archive


def on_stable(repository: Repository) -> None:
    """Go on with the stable branch."""
    repository.git("checkout", "-q", "linux-5.10.y")


def pick(repository: Repository, sha: str, *, message: str | None = None) -> str:
    """Cherry-pick a commit to the stable branch, as git does, with another message if given."""
    on_stable(repository)
    repository.day += 1
    repository.git("cherry-pick", sha)
    if message is not None:
        repository.git("commit", "-q", "--amend", "-F", "-", data=message.encode())
    picked = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "main")
    return picked


def read(archive: Archive, repository: Repository, *, patch_ids: bool = True) -> None:
    """Read the repository."""
    fill_tree(archive, "mainline", str(repository.folder), patch_ids=patch_ids)


def row(archive: Archive, sha: str) -> int:
    """Return the row id of a commit."""
    return int(archive.value("SELECT id FROM git_commit WHERE sha = ?", (sha,)))


def upstream_of(archive: Archive, sha: str, *, diffs: bool = False) -> tuple[str, list[str]] | None:
    """Return the upstream commit of one and how that is known."""
    found = same_changes(archive, [row(archive, sha)], diffs=diffs).values()
    return next(((one.sha, one.rules) for one in found), None)


def test_a_cherry_pick_has_all_signs(archive: Archive, repository: Repository) -> None:
    """git keeps author, author date and title; the patch id is the same, too."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY.replace("tick 3 ", "tock 3 ")})
    picked = pick(repository, sha)
    read(archive, repository)
    assert upstream_of(archive, picked) == (sha, ["patch-id", "author-date", "title", "author"])


def test_an_upstream_commit_carries_no_other(archive: Archive, repository: Repository) -> None:
    """The direction is from the stable tree to the mainline, never back."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    pick(repository, sha)
    read(archive, repository)
    assert upstream_of(archive, sha) is None


def test_an_adjusted_backport_has_the_author_date(archive: Archive, repository: Repository) -> None:
    """Another diff under another title, but the author date is the commit's own."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    picked = pick(repository, sha, message="clock: tick only once\n")
    read(archive, repository, patch_ids=False)
    assert upstream_of(archive, picked) == (sha, ["author-date", "author"])


def test_a_date_in_common_is_too_little(archive: Archive, repository: Repository) -> None:
    """A series is sent in one second: titles must have words in common."""
    repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    date = repository.git("log", "-1", "--format=%at +0000")
    on_stable(repository)
    other = repository.commit("bell: ring", {"bell.c": "ring\n"}, GIT_AUTHOR_DATE=date)
    read(archive, repository)
    assert upstream_of(archive, other) is None


def test_a_title_alone_needs_the_lines(archive: Archive, repository: Repository) -> None:
    """Somebody else's commit of one title is only believed when git shows the same lines."""
    changed = BODY.replace("tick 3 ", "tock 3 ").replace("tick 4 ", "tock 4 ")
    sha = repository.commit("clock: tick once", {"clock.c": changed})
    on_stable(repository)
    adjusted = changed.replace("tick 20 ", "tuck 20 ")
    other = repository.commit("clock: tick once", {"clock.c": adjusted}, **CLEO)
    read(archive, repository)
    assert upstream_of(archive, other) is None
    assert upstream_of(archive, other, diffs=True) == (sha, ["title", "diff"])


def test_a_new_title_and_date_leave_author_and_lines(
    archive: Archive, repository: Repository
) -> None:
    """A backport that its author wrote anew is found by the diff."""
    changed = BODY.replace("tick 3 ", "tock 3 ").replace("tick 4 ", "tock 4 ")
    sha = repository.commit("clock: tick once", {"clock.c": changed})
    on_stable(repository)
    adjusted = changed.replace("tick 5 ", "tuck 5 ")
    other = repository.commit("clock: tick one time only", {"clock.c": adjusted})
    read(archive, repository)
    assert upstream_of(archive, other) is None
    assert upstream_of(archive, other, diffs=True) == (sha, ["author", "diff"])


def test_what_a_branch_has_is_not_taken_again(archive: Archive, repository: Repository) -> None:
    """A commit of the same title from before the branch point is no upstream of one in it."""
    on_stable(repository)
    again = repository.commit("clock: begin", {"clock.c": BODY + "tock\n"})
    read(archive, repository)
    assert upstream_of(archive, again) is None


def test_a_fix_that_came_later_is_not_upstream(archive: Archive, repository: Repository) -> None:
    """Nobody takes what is not written for months."""
    on_stable(repository)
    early = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    repository.git("checkout", "-q", "main")
    repository.day += 200
    repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    read(archive, repository)
    assert upstream_of(archive, early) is None


def test_the_commit_tells_its_unmarked_backports(archive: Archive, repository: Repository) -> None:
    """What `commit` prints of the trees, with the proof in words."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    picked = pick(repository, sha)
    read(archive, repository)
    assert list(carried_by(archive, row(archive, sha))) == [row(archive, picked)]
    (found,) = [item for item in trees_with(archive, [sha]) if item.how == SAME_CHANGE]
    assert (found.sha, found.tree) == (picked, "5.10.y")
    assert found.text == "no marker; same patch id, author date, title and author"


def test_a_marked_backport_is_told_once(archive: Archive, repository: Repository) -> None:
    """A marker says it already."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    pick(repository, sha, message=f"clock: tick once\n\ncommit {sha} upstream.\n")
    read(archive, repository)
    assert carried_by(archive, row(archive, sha)) == {}
    hows = [item.how for item in trees_with(archive, [sha])]
    assert hows == ["itself", "commit-upstream"]


def test_a_list_has_what_its_tree_took_without_a_marker(
    archive: Archive, repository: Repository
) -> None:
    """The row is that of the upstream commit."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    picked = pick(repository, sha)
    on_stable(repository)
    repository.tag("v5.10.1")
    read(archive, repository)
    (found,) = backports(archive, "5.10")
    assert (found.sha, found.state, found.event.commit) == (sha, "released", picked)
    assert found.event.text == "no marker; same patch id, author date, title and author"


@pytest.mark.parametrize("patch_ids", [True, False])
def test_hidden_markers_are_found_again(
    archive: Archive, repository: Repository, *, patch_ids: bool
) -> None:
    """Of many commits and their backports each finds its own."""
    truth = {}
    lines = BODY.split("\n")
    for number in range(8):
        lines[3 * number] = f"tock {number}"
        sha = repository.commit(f"clock: fix tick {number}", {"clock.c": "\n".join(lines)})
        truth[pick(repository, sha)] = sha
    read(archive, repository, patch_ids=patch_ids)
    asked = {row(archive, picked): sha for picked, sha in truth.items()}
    found = same_changes(archive, list(asked))
    assert {id_: one.sha for id_, one in found.items()} == asked
    assert all(re.match("no marker; same ", one.words) for one in found.values())


def test_a_marker_of_a_commit_in_no_tree_gives_way_to_the_change(
    archive: Archive, repository: Repository
) -> None:
    """It was rebased before it was merged: the list has the commit that was."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    lost = "0123456789abcdef0123456789abcdef01234567"
    picked = pick(repository, sha, message=f"clock: tick once\n\ncommit {lost} upstream.\n")
    read(archive, repository)
    (found,) = backports(archive, "5.10")
    assert (found.sha, found.event.commit, found.event.line) == (sha, picked, 3)
    assert found.event.text == (
        f"commit {lost} upstream. (in no tree; same patch id, author date, title and author)"
    )
    assert [item.sha for item in trees_with(archive, [sha])][-1] == picked


def test_nothing_is_upstream_where_only_stable_trees_were_read(
    archive: Archive, repository: Repository
) -> None:
    """Which of two branches had it first is not guessed."""
    sha = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    picked = pick(repository, sha)
    repository.git("branch", "-m", "main", "linux-6.1.y")
    read(archive, repository)
    assert upstream_of(archive, picked) is None


def test_a_vendors_backport_is_no_upstream_commit(archive: Archive, repository: Repository) -> None:
    """Its marker says so, though its branch is that of no stable tree."""
    upstream = repository.commit("clock: tick once", {"clock.c": BODY + "tock\n"})
    picked = pick(repository, upstream)
    repository.git("checkout", "-q", "-b", "vendor", "v5.10")
    repository.git("cherry-pick", upstream)
    message = f"clock: tick once\n\ncommit {upstream} upstream.\n"
    repository.git("commit", "-q", "--amend", "-F", "-", data=message.encode())
    repository.git("branch", "-D", "main")
    read(archive, repository)
    assert upstream_of(archive, picked) is None


def confidence_of(archive: Archive, sha: str) -> str | None:
    """Return how sure it is that a commit carries an upstream one, None for no such."""
    found = same_changes(archive, [row(archive, sha)]).values()
    return next((one.confidence for one in found), None)


def test_other_lines_are_another_change(archive: Archive, repository: Repository) -> None:
    """One title and author, or one date and author and a word: the diffs have nothing in common."""
    repository.commit("clock: update it", {"clock.c": BODY + "if (hand < 12)\n\thand++;\n"})
    date = repository.git("log", "-1", "--format=%at +0000")
    on_stable(repository)
    texts = {"bell.c": "static int volume;\nvoid ring(struct bell *bell) { beat(bell); }\n"}
    titled = repository.commit("clock: update it", texts)
    texts = {"gong.c": "static int depth;\nvoid boom(struct gong *gong) { beat(gong); }\n"}
    dated = repository.commit("clock: update", texts, GIT_AUTHOR_DATE=date)
    read(archive, repository)
    assert confidence_of(archive, titled) is None
    assert confidence_of(archive, dated) is None
    assert upstream_of(archive, titled, diffs=True) is None


def test_lines_that_are_little_alike_leave_a_doubt(
    archive: Archive, repository: Repository
) -> None:
    """One title and author is less where most lines differ; a pick that was written anew, too."""
    lines = "".join(f"\tif (hand == {number})\n\t\tring();\n" for number in range(8))
    sha = repository.commit("clock: ring", {"clock.c": BODY + lines})
    on_stable(repository)
    other = "".join(f"\tcase {number}: strike(bell{number}); break;\n" for number in range(14))
    titled = repository.commit("clock: ring", {"clock.c": BODY + lines[:30] + other})
    read(archive, repository)
    assert upstream_of(archive, titled) == (sha, ["title", "author"])
    assert confidence_of(archive, titled) == "medium"


def test_a_pick_that_was_written_anew_is_one_with_a_doubt(
    archive: Archive, repository: Repository
) -> None:
    """It has title, author and date of the commit, and touches the same file."""
    sha = repository.commit("clock: ring", {"clock.c": BODY + "if (hand < 12)\n\thand++;\n"})
    date = repository.git("log", "-1", "--format=%at +0000")
    on_stable(repository)
    files = {"clock.c": BODY + "void ring(struct bell *bell) { beat(bell); }\n"}
    anew = repository.commit("clock: ring", files, GIT_AUTHOR_DATE=date)
    read(archive, repository)
    assert upstream_of(archive, anew) == (sha, ["author-date", "title", "author"])
    assert confidence_of(archive, anew) == "medium"

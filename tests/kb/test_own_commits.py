"""Mail that names a stable tree's own commits, beside the repository: one row for each change."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from patchlore.kb.backports import backports
from patchlore.kb.comparing import compare
from patchlore.kb.store import Archive
from tests.kb.backport_mails import add
from tests.kb.stable_trees import TODAY, Trees, posted
from tests.kb.test_needs_undone import applying, reverting

TITLE = "tick: use two"


class Life(Trees):
    """A commit that 5.10 took, reverted and applied again, alone; 5.4 beside it."""

    def __init__(self, folder: pathlib.Path, archive: Archive) -> None:
        super().__init__(folder, archive)
        self.upstream = self.main(TITLE)
        self.own = self.backport(self.upstream, TITLE)
        self.repository.tag("v5.10.1")
        self.revert = self.stable(reverting(TITLE, self.own))
        self.repository.tag("v5.10.2")
        self.again = self.stable(applying(TITLE, self.revert))
        self.repository.tag("v5.10.3")
        self.repository.git("checkout", "-q", "-b", "linux-5.4.y", self.base)
        self.repository.commit("clock: a matter of 5.4")

    def mail(self, subject: str, text: str) -> None:
        """Put a mail into the archive; its text may name the commits."""
        add(self.archive, [posted(1, subject, text.format(self=self))])


@pytest.fixture
def life(tmp_path: pathlib.Path) -> Iterator[Life]:
    """Return the trees and their archive."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield Life(tmp_path / "linux", archive)


REVERT, AGAIN = f'Revert "{TITLE}"', f'Reapply "{TITLE}"'
REVIEW = "5.10-stable review patch.  If anyone has any objections, please let me know.\n\n"
REVIEW += "------------------\n\nFrom: Ada Quill <ada@example.org>\n\n"


@pytest.mark.parametrize(
    ("subject", "text", "kind"),
    [
        (REVERT, "This reverts commit {self.own}.\n\n", "reverted"),
        (REVERT, REVIEW + "This reverts commit {self.own} which is commit {self.upstream}"
         " upstream.\n\n", "reverted"),
        (REVERT, "commit {self.revert} upstream.\n\nThis reverts commit {self.own}.\n\n",
         "reverted"),
        (AGAIN, "This reverts commit {self.revert}.\n\n", "re-applied"),
        (f'Revert "{REVERT}"', "This reverts commit {self.revert}.\n\n", "re-applied"),
        ("tick: use two after all", "This reverts commit {self.revert}.\n\n", "re-applied"),
        (AGAIN, "commit {self.again} upstream.\n\nThis reverts commit {self.revert}.\n\n",
         "re-applied"),
        (TITLE, "commit {self.own} upstream.\n\nTwo.\n\n", "posted"),
    ],
)  # fmt: skip
def test_one_change_is_one_row(life: Life, subject: str, text: str, kind: str) -> None:
    """Whichever commit of its life in the tree the mail names; nor has 5.10 more over 5.4."""
    life.mail(f"[PATCH 5.10.y] {subject}", text)
    (row,) = life.rows()
    assert (row.sha, row.subject) == (life.upstream, TITLE)
    assert (row.state, row.reason) == ("released", "applied again in 5.10.3")
    assert [event.kind for event in row.events] == [kind, "released", "reverted", "re-applied"]
    over = compare(life.archive, "5.10", "5.4", as_of=TODAY)
    assert [(row.sha, row.state) for row in over] == [(life.upstream, "unknown")]


def test_what_is_taken_from_a_newer_tree_is_the_upstream_commit(life: Life) -> None:
    """A patch for 5.4 says that it was picked from 5.10."""
    life.mail(f"[PATCH 5.4.y] {TITLE}", "Two.\n\n(cherry picked from commit {self.own})\n")
    life.rows()
    (row,) = backports(life.archive, "5.4", as_of=TODAY)
    assert (row.sha, row.state, row.notes) == (life.upstream, "in-flight", [])


def test_what_a_tree_took_from_a_newer_one_is_the_upstream_commit(life: Life) -> None:
    """A commit of 5.4 says so, as git cherry-pick -x writes it."""
    life.repository.commit(f"{TITLE}\n\nTwo.\n\n(cherry picked from commit {life.own})\n")
    life.rows()
    (row,) = backports(life.archive, "5.4", as_of=TODAY)
    assert (row.sha, row.state) == (life.upstream, "queued")


def test_a_revert_of_one_tree_is_no_revert_upstream(life: Life) -> None:
    """Somebody posts it for 5.4; the mainline has the commit all the same."""
    life.mail(
        f"[PATCH 5.4.y] {REVERT}",
        "This reverts commit {self.own}.\n\n(cherry picked from commit {self.revert})\n",
    )
    life.rows()
    over = compare(life.archive, "5.10", "5.4", as_of=TODAY)
    assert [(row.sha, row.state) for row in over] == [(life.upstream, "unknown")]


def test_two_markers_of_one_commit_are_one_event(life: Life) -> None:
    """The upstream commit's from the newer tree, and git's for the commit of that."""
    life.repository.commit(
        f"{TITLE}\n\ncommit {life.upstream} upstream.\n\nTwo.\n\n"
        f"(cherry picked from commit {life.own})\n"
    )
    life.rows()
    (row,) = backports(life.archive, "5.4", as_of=TODAY)
    assert (row.sha, [event.kind for event in row.events]) == (life.upstream, ["queued"])


def test_a_posted_reapplication_is_no_posting_of_the_first_commit(
    tmp_path: pathlib.Path,
) -> None:
    """The tree never had that one: it is the last that is on its way."""
    with Archive(tmp_path / "archive", write=True) as archive:
        trees = Trees(tmp_path / "linux", archive)
        first = trees.main(f"{TITLE}\n\nCc: stable@vger.kernel.org # 5.4+\n")
        revert = trees.main(reverting(TITLE, first))
        again = trees.main(applying(TITLE, revert))
        text = f"commit {again} upstream.\n\nThis reverts commit {revert}.\n\n"
        add(archive, [posted(9, f"[PATCH 5.10.y] {AGAIN}", text)])
        assert trees.states() == {first: "reverted", again: "in-flight"}

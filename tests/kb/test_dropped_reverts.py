"""Reverts that were posted for a stable tree and taken out again, by mail alone and beside git."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from patchlore.kb.backports import backports, event_rows
from patchlore.kb.dossiers.commits import commit_dossier
from patchlore.kb.review import review
from patchlore.kb.store import Archive
from tests.kb.backport_mails import add
from tests.kb.stable_trees import Trees, by_sha, fixing

TITLE = "tick: use two"
UPSTREAM, OWN = "ab" * 20, "cd" * 20
GREG = "Greg Kroah-Hartman <gregkh@linuxfoundation.org>"
DIFF = (
    "---\ndiff --git a/tick.c b/tick.c\nindex 5626abf..f719efd 100644\n"
    "--- a/tick.c\n+++ b/tick.c\n@@ -1 +1 @@\n-one\n+{}\n"
)


def letter(day: int, subject: str, text: str, answers: int | None = None) -> bytes:
    """Return a mail of the keeper of the queues, of a day in January."""
    above = "" if answers is None else f"In-Reply-To: <d{answers}@example.org>\n"
    above += "" if answers is None else f"References: <d{answers}@example.org>\n"
    return (
        f"From: {GREG}\nDate: Tue, {day} Jan 2024 03:04:05 +0000\nSubject: {subject}\n"
        f"Message-ID: <d{day}@example.org>\n{above}\n{text}"
    ).encode()


def review_patch(day: int, title: str, text: str, tree: str = "5.10") -> bytes:
    """Return a patch of a review round."""
    said = f"{tree}-stable review patch.  If anyone has any objections, please let me know.\n\n"
    said += f"------------------\n\nFrom: Ada Quill <ada@example.org>\n\n{text}\n"
    return letter(day, f"[PATCH {tree} 1/1] {title}", said + DIFF.format(day))


def released(day: int, release: str, title: str) -> bytes:
    """Return the announcement of a release with one patch."""
    return letter(
        day,
        f"Linux {release}",
        f"I'm announcing the release of the {release} kernel.\n\nthanks,\n\ngreg k-h\n\n"
        f"------------\n\nAda Quill (1):\n      {title}\n",
    )


MARKED = f"commit {UPSTREAM} upstream.\n"
REVERT = f'Revert "{TITLE}"'
TAKES_BACK = f"This reverts commit {OWN} which is\ncommit {UPSTREAM} upstream.\n"
DROPPED = "> x\n\nSorry, now dropped.\n\ngreg k-h\n"


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Iterator[Archive]:
    """Return an archive to be filled."""
    with Archive(tmp_path / "archive", write=True) as made:
        yield made


def begun(archive: Archive, *mails: bytes) -> None:
    """Add these mails behind those of a commit that 5.10.7 has."""
    add(archive, [review_patch(2, TITLE, MARKED), released(3, "5.10.7", TITLE), *mails])


@pytest.mark.parametrize(
    "text",
    [
        TAKES_BACK,
        f"This reverts commit {UPSTREAM}.\n",
        "It ticks too often.\n",
        f"commit {'ef' * 20} upstream.\n\nThis reverts commit {UPSTREAM}.\n",
    ],
    ids=["own-and-upstream", "upstream", "title-alone", "backport-of-the-revert"],
)
def test_a_revert_that_was_dropped_reverts_nothing(archive: Archive, text: str) -> None:
    """The state is that from before the revert; both events are told."""
    begun(
        archive,
        review_patch(9, REVERT, text),
        letter(10, f"Re: [PATCH 5.10 1/1] {REVERT}", DROPPED, answers=9),
    )
    row = by_sha(backports(archive, "5.10"), UPSTREAM)
    assert (row.state, row.reason) == ("released", "released in 5.10.7")
    told = "its revert was dropped by the stable maintainers"
    assert [event.words() for event in row.events][-2:] == ["revert posted, 1 of 1", told]
    assert (row.events[-1].line, row.events[-1].text) == (3, "Sorry, now dropped.")
    (state,) = commit_dossier(archive, UPSTREAM).trees
    assert state.state == "released"


def test_before_the_drop_it_was_reverted(archive: Archive) -> None:
    """What was known on a day in between is what mail said then."""
    begun(
        archive,
        review_patch(9, REVERT, TAKES_BACK),
        letter(16, f"Re: [PATCH 5.10 1/1] {REVERT}", DROPPED, answers=9),
    )
    (row,) = event_rows(archive, "5.10", until=1704067200 + 12 * 86400)
    assert row.state == "reverted"


def test_a_revert_that_nobody_dropped_stands(archive: Archive) -> None:
    """A drop of something else says nothing of it."""
    begun(
        archive,
        review_patch(9, REVERT, TAKES_BACK),
        review_patch(11, "tock: use three", f"commit {'12' * 20} upstream.\n"),
        letter(12, "Re: [PATCH 5.10 1/1] tock: use three", DROPPED, answers=11),
    )
    assert by_sha(backports(archive, "5.10"), UPSTREAM).state == "reverted"


def test_what_is_released_again_after_its_revert_is_one_row(archive: Archive) -> None:
    """A revert names the tree's own commit: that is no row of its own."""
    begun(
        archive,
        review_patch(9, REVERT, TAKES_BACK),
        review_patch(11, TITLE, MARKED),
        released(12, "5.10.9", TITLE),
    )
    (row,) = backports(archive, "5.10")
    assert (row.sha, row.state, row.reason) == (UPSTREAM, "released", "released in 5.10.9")


def test_a_fix_may_name_another_trees_commit(tmp_path: pathlib.Path, archive: Archive) -> None:
    """A tree that has the upstream commit from the start needs what fixes a backport of it."""
    trees = Trees(tmp_path / "linux", archive)
    trees.repository.git("checkout", "-q", "main")
    first = trees.main(TITLE)
    trees.repository.tag("v5.15")
    trees.repository.git("branch", "linux-5.15.y")
    own = trees.backport(first, TITLE)
    fix = trees.main(fixing("tick: use them both", own))
    rows = {tree: by_sha(trees.rows(tree), fix) for tree in ("5.10", "5.15")}
    assert {tree: row.state for tree, row in rows.items()} == {"5.10": "needed", "5.15": "needed"}
    assert rows["5.15"].reason.startswith(f"fixes {own[:12]}, in it from the start, since 5.15")


def test_a_revert_is_one_event_whatever_commits_it_names(archive: Archive) -> None:
    """The line with the upstream commit is the proof, in the list as in the dossier."""
    begun(archive, review_patch(9, REVERT, TAKES_BACK))
    row = by_sha(backports(archive, "5.10"), UPSTREAM)
    assert [event.kind for event in row.events] == ["review", "released", "reverted"]
    assert row.event.text == f"commit {UPSTREAM} upstream."
    (state,) = commit_dossier(archive, UPSTREAM).trees
    assert state.events[-1].text == row.event.text


def round_of(day: int, *patches: tuple[int, str, str], release: str = "5.10.8") -> list[bytes]:
    """Return a review round: its cover, and (day, title, text) of each patch."""
    number = len(patches)
    shortlog = "".join(f"Ada Quill <ada@example.org>\n    {title}\n\n" for _, title, _ in patches)
    mails = [
        letter(
            day,
            f"[PATCH 5.10 0/{number}] {release}-rc1 review",
            f"This is the start of the review of {release}.\n\n-------------\n"
            f"Pseudo-Shortlog of commits:\n\n{shortlog}",
        )
    ]
    for part, (sent, title, text) in enumerate(patches, 1):
        said = "5.10-stable review patch.  If anyone has any objections, please let me know.\n\n"
        said += f"------------------\n\nFrom: Ada Quill <ada@example.org>\n\n{text}\n"
        subject = f"[PATCH 5.10 {part}/{number}] {title}"
        mails.append(letter(sent, subject, said + DIFF.format(sent), answers=day))
    return mails


def test_a_round_tells_what_became_of_its_reverts(archive: Archive) -> None:
    """A revert names no commit upstream: the announcement and the answers tell."""
    other = "tock: use three"
    begun(
        archive,
        *round_of(8, (9, REVERT, TAKES_BACK), (10, f'Revert "{other}"', "It tocks.\n")),
        letter(11, f'Re: [PATCH 5.10 2/2] Revert "{other}"', DROPPED, answers=10),
        released(12, "5.10.8", REVERT),
    )
    found = review(archive, "5.10.8-rc1")
    first, second = found.patches
    assert (first.state, first.reason) == ("released", "released in 5.10.8")
    assert first.evidence.message_id == "d12@example.org"
    assert (second.state, second.evidence.text) == ("dropped", "Sorry, now dropped.")
    assert [(item.part, item.words) for item in found.dropped] == [
        (2, "dropped by the stable maintainers")
    ]


def test_a_revert_that_the_tree_has_is_not_pending(archive: Archive) -> None:
    """What a later release took back is no fix that is still elsewhere."""
    revert = (14, REVERT, TAKES_BACK)
    first = round_of(5, (6, TITLE, MARKED))
    add(archive, [*first, released(7, "5.10.8", TITLE), review_patch(*revert)])
    (pending,) = review(archive, "5.10.8-rc1").pending
    assert (pending.subject, pending.state) == (REVERT, None)
    add(archive, [released(15, "5.10.9", REVERT)])
    assert not review(archive, "5.10.8-rc1").pending


def test_of_two_commits_with_one_title_each_has_its_release(archive: Archive) -> None:
    """The round before an announcement tells which of them it means."""
    second = "7a" * 20
    early = review_patch(1, TITLE, f"commit {second} upstream.\n")
    early = early.replace(b"review patch", b"patch").replace(b"[PATCH 5.10 1/1]", b"[PATCH 5.10]")
    add(
        archive,
        [
            early,
            *round_of(2, (3, TITLE, MARKED)),
            released(4, "5.10.8", TITLE),
            *round_of(9, (10, TITLE, f"commit {second} upstream.\n"), release="5.10.9"),
            released(11, "5.10.9", TITLE),
        ],
    )
    rows = backports(archive, "5.10")
    assert {row.sha: row.reason for row in rows} == {
        UPSTREAM: "released in 5.10.8",
        second: "released in 5.10.9",
    }
    assert [len([e for e in row.events if e.kind == "released"]) for row in rows] == [1, 1]

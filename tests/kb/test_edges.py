"""Which posted patch became which commit: each rule, conflicts, and keeping up to date."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from patchlore.ingest.message import FileChange, UpstreamRef
from patchlore.kb.edges import update_edges
from patchlore.kb.edges_likeness import alike, changes_of, changes_of_diff, titles_alike
from patchlore.kb.edges_reading import became, commit_of, origins
from patchlore.kb.reading import find_message
from patchlore.kb.store import Archive
from tests.kb.edging import OLD, add, edges, follow, patch_id, posted
from tests.kb.git_repositories import DAY, Repository
from tests.kb.mails import BO, NOON, tags


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a repository with one commit."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin", {"clock.c": OLD})
    return made


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Any:
    """Return an archive that is open for writing."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield archive


def test_a_link_names_the_mail(archive: Archive, repository: Repository) -> None:
    """With an equal title it is certain, with the author alone less so."""
    link = "\n\nLink: https://lore.kernel.org/r/{}\n"
    one = repository.commit("tick: use two" + link.format("one@example.org"))
    two = repository.commit("tick: use three" + link.format("two@example.org"))
    add(archive, posted("one@example.org", 1), posted("two@example.org", 1))
    follow(archive, repository)
    assert [edge for edge in edges(archive) if edge[2] == "link"] == [
        ("one@example.org", one, "link", 0),
        ("two@example.org", two, "link", 1),
    ]


def test_a_link_to_a_report_is_no_edge(archive: Archive, repository: Repository) -> None:
    """A commit links discussions, too; only a patch can have become it."""
    repository.commit("tick: use two\n\nLink: https://lore.kernel.org/r/one@example.org\n")
    add(archive, posted("one@example.org", 1, is_patch=False))
    follow(archive, repository)
    assert edges(archive) == []


def test_a_patch_id_is_enough(archive: Archive, repository: Repository) -> None:
    """Whatever the maintainer made of the title."""
    sha = repository.commit("clock, tick: use two", {"clock.c": OLD + "two\n"})
    add(archive, posted("one@example.org", 1, patch_id=patch_id(repository, sha)))
    follow(archive, repository)
    assert edges(archive) == [("one@example.org", sha, "patch-id", 1)]


def test_patch_ids_that_come_later_count(archive: Archive, repository: Repository) -> None:
    """A tree that was read without them is read with them, later."""
    sha = repository.commit("clock, tick: use two", {"clock.c": OLD + "two\n"})
    add(archive, posted("one@example.org", 1, patch_id=patch_id(repository, sha)))
    follow(archive, repository, patch_ids=False)
    assert edges(archive) == []
    follow(archive, repository)
    assert edges(archive) == [("one@example.org", sha, "patch-id", 1)]


def test_the_author_date_is_the_mails(archive: Archive, repository: Repository) -> None:
    """git am takes the Date of the mail, to the second; a title of its own makes it doubtful."""
    sha = repository.commit("tick: make it two")
    date = NOON + 2 * DAY
    other = "stop all clocks"
    add(
        archive,
        posted("one@example.org", 2, timestamp=date),
        posted("two@example.org", 2, timestamp=date, author=BO, from_=BO),
        posted("three@example.org", 2, timestamp=date, clean_subject=other),
    )
    follow(archive, repository)
    assert edges(archive) == [
        ("one@example.org", sha, "author-date", 2),
        ("three@example.org", sha, "author-date", 3),
    ]


def test_title_and_author_are_enough(archive: Archive, repository: Repository) -> None:
    """In any case of the letters; another's patch of that title is another patch."""
    sha = repository.commit("Tick: Use Two")
    add(archive, posted("one@example.org", 1), posted("two@example.org", 1, author=BO, from_=BO))
    follow(archive, repository)
    assert edges(archive) == [("one@example.org", sha, "title", 1)]


def test_a_commit_long_before_the_mail_is_another(archive: Archive, repository: Repository) -> None:
    """A title that comes again years later."""
    repository.commit("tick: use two")
    add(archive, posted("one@example.org", 900))
    follow(archive, repository)
    assert edges(archive) == []


def test_of_commits_with_one_title_the_next_counts(
    archive: Archive, repository: Repository
) -> None:
    """Both edges stand; the one far off has low confidence."""
    first = repository.commit("tick: use two")
    repository.day = 500
    second = repository.commit("tick: use two")
    add(archive, posted("one@example.org", 1), posted("two@example.org", 499))
    follow(archive, repository)
    assert set(edges(archive)) == {
        ("one@example.org", first, "title", 1),
        ("one@example.org", second, "title", 3),
        ("two@example.org", second, "title", 1),
    }
    assert commit_of(archive, find_message(archive, "one@example.org")) == first


def test_a_second_commit_of_the_title_that_comes_later_is_judged_with_the_first(
    archive: Archive, repository: Repository
) -> None:
    """In another update the edges become what they would be in one."""
    first = repository.commit("tick: use two")
    add(archive, posted("one@example.org", 1))
    follow(archive, repository)
    repository.day = 500
    second = repository.commit("tick: use two")
    follow(archive, repository)
    assert set(edges(archive)) == {
        ("one@example.org", first, "title", 1),
        ("one@example.org", second, "title", 3),
    }


def test_a_better_rule_takes_the_place_of_likeness(
    archive: Archive, repository: Repository
) -> None:
    """A commit of the title that comes later; the one that was merely alike is no edge then."""
    added = "".join(f"tock {number} of the clock\n" for number in range(8))
    alike_one = repository.commit("tick: use two, not one", {"clock.c": OLD + added})
    diff = repository.diff(alike_one)
    add(archive, posted("one@example.org", 1, diff))
    follow(archive, repository)
    assert [edge[1:3] for edge in edges(archive)] == [(alike_one, "diff")]
    sha = repository.commit("tick: use two")
    follow(archive, repository)
    assert [edge[1:3] for edge in edges(archive)] == [(sha, "title")]


def test_changed_lines_that_are_alike_are_the_last_resort(
    archive: Archive, repository: Repository
) -> None:
    """Title and diff were edited a little; the author is the same."""
    added = "".join(f"tock {number} of the clock\n" for number in range(8))
    sha = repository.commit("clock: use two ticks, not one", {"clock.c": OLD + added})
    diff = repository.diff(sha).replace("+tock 3 of", "+tock three of")
    add(
        archive,
        posted("one@example.org", 1, diff, clean_subject="use two ticks, not one"),
        posted("two@example.org", 1, "@@ -1 +1 @@\n-other\n+thing\n", clean_subject="ticks"),
    )
    follow(archive, repository)
    assert edges(archive) == [("one@example.org", sha, "diff", 1)]


def test_rules_that_disagree_both_stand(archive: Archive, repository: Repository) -> None:
    """A patch id that says one commit and a Link that says another; the link is believed."""
    same = repository.commit("tick: use two again", {"clock.c": OLD + "two\n"})
    linked = repository.commit("tick: use two\n\nLink: https://lore.kernel.org/r/one@example.org\n")
    add(archive, posted("one@example.org", 1, patch_id=patch_id(repository, same)))
    follow(archive, repository)
    found = became(archive, find_message(archive, "one@example.org"))
    assert [(item.sha, item.rules, item.is_best) for item in found] == [
        (linked, ["link", "title"], True),
        (same, ["patch-id"], False),
    ]


def test_a_patch_became_the_commit_not_its_backports(
    archive: Archive, repository: Repository
) -> None:
    """And a posted backport became the backport with its marker, in its tree."""
    upstream = repository.commit("tick: use two", {"clock.c": OLD + "two\n"})
    marker = f"\n\ncommit {upstream} upstream.\n"
    trees = {}
    for tree in ("5.10", "5.4"):
        repository.git("checkout", "-q", "-b", f"linux-{tree}.y", "main~1")
        trees[tree] = repository.commit("tick: use two" + marker, {"clock.c": OLD + "two\n"})
    add(
        archive,
        posted("one@example.org", 1),
        posted(
            "two@example.org",
            3,
            subject_tags=tags("5.10"),
            upstream_refs=[UpstreamRef(sha=upstream, form="commit-upstream")],
            upstream_commits=[upstream],
            primary_upstream=upstream,
        ),
    )
    follow(archive, repository)
    assert edges(archive) == [
        ("one@example.org", upstream, "title", 1),
        ("two@example.org", trees["5.10"], "title", 1),
    ]


def test_the_revision_that_was_taken_is_the_origin(
    archive: Archive, repository: Repository
) -> None:
    """All revisions are edges; the one with the commit's author date was taken, else the newest."""
    repository.day = 3
    sha = repository.commit("tick: use two", GIT_COMMITTER_DATE=f"{NOON + 9 * DAY} +0000")
    days = [NOON + number * DAY for number in (2, 4, 6)]
    add(
        archive,
        *(
            posted(f"v{n}@example.org", 1, timestamp=t)
            for n, t in zip((2, 4, 6), days, strict=True)
        ),
    )
    follow(archive, repository)
    found = origins(archive, [sha])
    assert [(item.message.key, item.is_best) for item in found] == [
        ("v2@example.org", False),
        ("v4@example.org", True),
        ("v6@example.org", False),
    ]
    other = repository.commit("tick: use three", GIT_COMMITTER_DATE=f"{NOON + 20 * DAY} +0000")
    add(
        archive,
        *(posted(f"w{n}@example.org", n, clean_subject="tick: use three") for n in (12, 14)),
    )
    follow(archive, repository)
    assert [item.is_best for item in origins(archive, [other])] == [False, True]


def test_the_order_of_mail_and_tree_does_not_matter(
    tmp_path: pathlib.Path, repository: Repository
) -> None:
    """Mail first, tree first, or one after the other give the same edges."""
    shas = [repository.commit(f"tick: use {number}") for number in ("two", "three")]
    mails = [
        posted("one@example.org", 1),
        posted("two@example.org", 3, clean_subject="tick: use three"),
    ]
    found = []
    for order in ("mail", "tree", "both"):
        with Archive(tmp_path / order, write=True) as archive:
            if order == "tree":
                follow(archive, repository)
            if order == "both":
                add(archive, mails[0])
                update_edges(archive)
                follow(archive, repository)
                add(archive, mails[1])
            else:
                add(archive, *mails)
                update_edges(archive)
            follow(archive, repository)
            found.append(edges(archive))
    assert found[0] == found[1] == found[2]
    assert {edge[1] for edge in found[0]} == set(shas)


def test_an_update_without_news_changes_nothing(archive: Archive, repository: Repository) -> None:
    """It looks at nothing and leaves all edges."""
    repository.commit("tick: use two")
    add(archive, posted("one@example.org", 1))
    follow(archive, repository)
    before = edges(archive)
    assert update_edges(archive).edges == len(before) > 0
    assert edges(archive) == before


def test_likeness_counts_changed_lines() -> None:
    """White space and short lines aside; signs and repeats count."""
    diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-old line\n+new line\n+}\n"
    found = changes_of_diff(diff.split("\n"))
    assert dict(found.lines) == {"-oldline": 1, "+newline": 1}
    assert found.files == {"a"}
    mail = posted("one@example.org", 1, "@@ -1 +1 @@\n-old  line\n+another line\n")
    assert alike(found, changes_of(mail)) == pytest.approx(1 / 3)
    assert alike(found, found) == 1.0
    elsewhere = posted("two@example.org", 1, "@@ -1 +1 @@\n-old line\n+new line\n")
    elsewhere.files = [FileChange(path="b")]
    assert alike(found, changes_of(elsewhere)) == 0.0
    assert titles_alike("clock: use two", "Clock: use three") == pytest.approx(1 / 2)

"""The history of backports, the states that follow from it, and lists in their formats."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import subprocess
from typing import Any

import msgspec
import pytest

from patchlore.ingest.message import (
    CommitRef,
    Evidence,
    FileChange,
    GccBug,
    Message,
    Notification,
    Person,
    StableNote,
)
from patchlore.kb.backports import backports
from patchlore.kb.export import FOLDERS, FORMATS, writer
from patchlore.kb.export.mbox import mboxrd
from patchlore.kb.export.table import cell
from patchlore.kb.filtering import Filters
from patchlore.kb.history import events_of_commit
from patchlore.kb.reading import Bug
from patchlore.kb.store import Archive
from tests.kb.mails import ADA, BO, NOON, OTHER, UPSTREAM, message, raw_of, source, tags
from tests.kb.postings import DAY, notice, posting, rows


def test_an_autosel_patch_is_in_flight(tmp_path: pathlib.Path) -> None:
    """The row says who picked it, where it stands in the series, and the line that proves it."""
    made = posting(1, subject_tags=tags("4.15.y", prefixes=["AUTOSEL"], index=115, total=124))
    (row,) = rows(tmp_path, "linux-4.15.y", made)
    assert (row.sha, row.state) == (UPSTREAM, "in-flight")
    assert row.reason == "picked by AUTOSEL, 115 of 124"
    assert (row.event.key, row.event.line) == ("posting-1@example.org", 1)
    assert row.event.text == f"commit {UPSTREAM} upstream."


def test_a_reply_is_no_posting(tmp_path: pathlib.Path) -> None:
    """A reply under the tree's tag that quotes the marker is no row."""
    assert rows(tmp_path, "5.10", posting(1, is_reply=True, is_patch=False)) == []


def test_a_range_of_trees_is_a_row_in_each(tmp_path: pathlib.Path) -> None:
    """`AUTOSEL 6.17-5.4` means its ends and the longterm trees between them, no others."""
    made = posting(
        1,
        timestamp=1760000000,  # October 2025
        subject_tags=tags(
            "6.17.y", prefixes=["AUTOSEL"], target_range={"newest": "6.17", "oldest": "5.4"}
        ),
    )
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made)])
        found = [
            tree
            for tree in ("6.18", "6.17", "6.16", "6.12", "6.1", "5.15", "5.10", "5.4", "4.19")
            if backports(archive, tree)
        ]
        events = events_of_commit(archive, [UPSTREAM])
    assert found == ["6.17", "6.12", "6.1", "5.15", "5.10", "5.4"]
    assert {event.tree for event in events} == {f"{tree}.y" for tree in [*found, "6.6"]}


def test_several_trees_in_a_tag_are_rows_in_each(tmp_path: pathlib.Path) -> None:
    """`[PATCH 5.10 / 5.15]` is for both."""
    made = posting(1, subject_tags=tags(["5.10.y", "5.15.y"]))
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made)])
        assert [len(backports(archive, tree)) for tree in ("5.10", "5.15", "6.1")] == [1, 1, 0]


@pytest.mark.parametrize(
    ("life", "state"),
    [
        ([posting(1), notice(2, "added")], "queued"),
        ([notice(1, "failed"), posting(2)], "in-flight"),
        ([posting(1), notice(2, "failed")], "failed"),
        ([notice(1, "added"), posting(2)], "queued"),
        ([posting(2), notice(1, "failed")], "in-flight"),
        ([posting(1), notice(2, "review")], "queued"),
    ],
)
def test_the_state_follows_from_the_events_in_time(
    tmp_path: pathlib.Path, life: list[Message], state: str
) -> None:
    """Whatever the order in which mails were found, their dates decide."""
    (row,) = rows(tmp_path, "5.10", *life)
    assert row.state == state
    assert len(row.events) == 2


def test_a_failure_is_known_by_the_commit_of_its_notice(tmp_path: pathlib.Path) -> None:
    """A failure notice names the commit to cherry-pick, not with a marker."""
    made = notice(1, "failed", upstream_refs=[], upstream_commits=[], original_commit=UPSTREAM)
    (row,) = rows(tmp_path, "5.10", made)
    assert (row.sha, row.state, row.reason) == (UPSTREAM, "failed", "failed to apply")


def test_a_reply_that_drops_is_about_what_it_answers(tmp_path: pathlib.Path) -> None:
    """ "Now dropped" in a reply drops the commit of the mail replied to."""
    dropped = message(
        "drop@example.org",
        timestamp=NOON + 3 * DAY,
        subject="Re: [PATCH 5.10] tick: use two",
        is_reply=True,
        in_reply_to="posting-1@example.org",
        references=["posting-1@example.org"],
        notification=Notification(kind="dropped", tree="5.10.y"),
        body="Now dropped from the queue, thanks.",
        evidence=[
            Evidence(
                fact="notification",
                value="dropped",
                line=1,
                rule="now-dropped",
                text="Now dropped from the queue, thanks.",
            )
        ],
        source=source(offset=9),
    )
    (row,) = rows(tmp_path, "5.10", notice(1, "added"), dropped)
    assert row.state == "dropped"
    assert row.event.text == "Now dropped from the queue, thanks."


def drop_of(parent: str, **fields: Any) -> Message:
    """Return a reply "Now dropped." to a mail."""
    values: dict[str, Any] = {
        "is_reply": True,
        "in_reply_to": parent,
        "references": [parent],
        "timestamp": NOON + 9 * DAY,
        "notification": Notification(kind="dropped", tree="5.10.y"),
        **fields,
    }
    return message("drop@example.org", **values)


def test_nobody_but_a_maintainer_drops(tmp_path: pathlib.Path) -> None:
    """A reader's "I have dropped this from my tree" takes nothing out of the queue."""
    dropped = drop_of("posting-1@example.org", from_=BO)
    (row,) = rows(tmp_path, "5.10", notice(1, "added"), dropped)
    assert row.state == "queued"
    masked = Person(name="Bo Tern", email_masked="bo@...")
    (row,) = rows(
        tmp_path / "masked",
        "5.10",
        notice(1, "added"),
        drop_of("posting-1@example.org", from_=masked),
    )
    assert row.state == "dropped"


def test_a_drop_below_a_round_is_not_of_the_whole_round(tmp_path: pathlib.Path) -> None:
    """ "Offending commit now dropped" to the cover of a review names none of its patches."""
    cover = message(
        "cover@example.org",
        subject="[PATCH 5.10 0/1] 5.10.7-rc1 review",
        clean_subject="5.10.7-rc1 review",
        subject_tags=tags("5.10.y", index=0, total=1),
        is_cover_letter=True,
        notification=Notification(kind="review", tree="5.10.y", release="5.10.7-rc1"),
        source=source(offset=5),
    )
    part = posting(1, in_reply_to="cover@example.org", references=["cover@example.org"])
    (row,) = rows(tmp_path, "5.10", cover, part, drop_of("cover@example.org"))
    assert row.state == "queued"


def test_a_partial_revert_reverts_nothing(tmp_path: pathlib.Path) -> None:
    """Some of the backport stays in the tree."""
    added = notice(1, "added")
    revert = message(
        "revert@example.org",
        subject="[PATCH 5.10] tick: one less",
        clean_subject="tick: one less",
        subject_tags=tags("5.10.y"),
        is_patch=True,
        timestamp=NOON + 9 * DAY,
        reverts=[CommitRef(sha=OTHER, subject="tick: use two")],
        reverted_upstream=[UPSTREAM],
        partial_reverts=[OTHER, UPSTREAM],
        source=source(offset=5),
    )
    (row,) = rows(tmp_path, "5.10", added, revert)
    assert row.state == "queued"
    whole = msgspec.structs.replace(revert, partial_reverts=[])
    (row,) = rows(tmp_path / "whole", "5.10", added, whole)
    assert row.state == "reverted"


def test_a_posted_revert_may_name_a_title_alone(tmp_path: pathlib.Path) -> None:
    """Its row is the one with that title; not where two have it, nor what came later."""
    revert = message(
        "revert@example.org",
        subject='[PATCH 5.10] Revert "tick: use two"',
        clean_subject='Revert "tick: use two"',
        subject_tags=tags("5.10.y"),
        is_patch=True,
        timestamp=NOON + 9 * DAY,
        source=source(offset=5),
    )
    (row,) = rows(tmp_path, "5.10", notice(1, "added"), revert)
    assert (row.state, row.sha, row.event.rule) == ("reverted", UPSTREAM, "title of a revert")
    with Archive(tmp_path) as archive:
        events = events_of_commit(archive, [UPSTREAM])
    assert [event.kind for event in events] == ["queued", "reverted"]
    (row,) = rows(tmp_path / "later", "5.10", notice(11, "added"), revert)
    assert row.state == "queued"
    two = rows(tmp_path / "two", "5.10", notice(1, "added"), notice(2, "added", sha=OTHER), revert)
    assert {row.state for row in two} == {"queued"}


def test_a_release_is_known_by_its_shortlog(tmp_path: pathlib.Path) -> None:
    """The announcement's shortlog has the title: the commit is released."""
    release = message(
        "release@example.org",
        timestamp=NOON + 9 * DAY,
        subject="Linux 5.10.7",
        clean_subject="Linux 5.10.7",
        notification=Notification(kind="released", tree="5.10.y", release="5.10.7"),
        body="Ada Quill (1):\n      tick: use two\n",
        source=source(offset=9),
    )
    (row,) = rows(tmp_path, "5.10", notice(1, "added"), release)
    assert (row.state, row.reason, row.event.line) == ("released", "released in 5.10.7", 2)


def test_a_revert_in_the_tree_is_an_event_of_what_it_reverts(tmp_path: pathlib.Path) -> None:
    """The revert names the stable tree's own commit; its quoted title finds the row."""
    revert = posting(
        5,
        OTHER,
        subject='[PATCH 5.10] Revert "tick: use two"',
        clean_subject='Revert "tick: use two"',
        upstream_refs=[],
        upstream_commits=[],
        primary_upstream=None,
        reverts=[CommitRef(sha="abcdef0123456789")],
        evidence=[],
    )
    (row,) = rows(tmp_path, "5.10", notice(1, "added"), revert)
    assert row.state == "reverted"


def test_a_stable_note_nominates_for_the_trees_that_it_covers(tmp_path: pathlib.Path) -> None:
    """`# 5.4+` is a row in 5.10 without a commit, none in 4.19."""
    made = message(is_patch=True, cc_stable=[StableNote(range="5.4+", text="5.4+")])
    (row,) = rows(tmp_path, "5.10", made)
    assert (row.state, row.sha, row.reason) == (
        "nominated",
        None,
        "nominated (Cc: stable # 5.4+)",
    )
    with Archive(tmp_path) as archive:
        assert backports(archive, "4.19") == []


def test_a_stable_line_without_a_version_leaves_the_tree_unknown(tmp_path: pathlib.Path) -> None:
    """It may concern the tree: told as unknown, after all that is known."""
    made = message(is_patch=True, cc_stable=[StableNote()])
    found = rows(tmp_path, "5.10", made, posting(3, OTHER, clean_subject="tick: other"))
    assert [row.state for row in found] == ["in-flight", "unknown"]
    assert found[1].reason == "nominated (Cc: stable, no version given)"


def test_a_fix_from_before_the_tree_is_not_wanted_there(tmp_path: pathlib.Path) -> None:
    """6.6 began in October 2023: what was sent in 2020 it has; 4.9 had ended in January 2023."""
    made = message(
        is_patch=True, timestamp=1600000000, cc_stable=[StableNote(range="4.9+", text="4.9+")]
    )
    late = message(
        "two@example.org",
        is_patch=True,
        subject="late",
        clean_subject="late",
        cc_stable=[StableNote(range="4.9+", text="4.9+")],
        source=source(offset=1),
    )
    with Archive(tmp_path, write=True) as archive:
        archive.add([made, late], [raw_of(made), raw_of(late)])
        assert [row.subject for row in backports(archive, "6.6")] == ["late"]
        assert [row.subject for row in backports(archive, "4.9")] == ["tick: use two"]


def test_a_nomination_joins_the_row_of_its_title(tmp_path: pathlib.Path) -> None:
    """When a posting with the same title names the commit, both are one row."""
    made = message(is_patch=True, cc_stable=[StableNote(range="5.4+", text="5.4+")])
    (row,) = rows(tmp_path, "5.10", made, posting(3))
    assert (row.sha, row.state) == (UPSTREAM, "in-flight")
    assert [event.kind for event in row.events] == ["nominated", "posted"]


def test_a_commit_knows_its_nomination(tmp_path: pathlib.Path) -> None:
    """The life of a commit begins with the upstream patch of its title."""
    made = message(
        is_patch=True,
        subject_tags=tags(version=2),
        cc_stable=[StableNote(range="5.4+", text="5.4+")],
    )
    with Archive(tmp_path, write=True) as archive:
        archive.add([made, posting(3)], [raw_of(made), raw_of(posting(3))])
        events = events_of_commit(archive, [UPSTREAM])
        listed = {tree for tree in ("4.19", "5.4", "5.10", "6.6") if backports(archive, tree)}
    assert [event.words() for event in events if event.tree == "5.10.y"] == [
        "nominated (Cc: stable # 5.4+), v2",
        "posted",
    ]
    told = {event.tree for event in events}
    assert told == {"5.4.y", "5.10.y", "5.15.y", "6.1.y", "6.6.y"}
    assert {f"{tree}.y" for tree in listed} == told - {"5.15.y", "6.1.y"}


def test_an_abbreviated_commit_is_completed(tmp_path: pathlib.Path) -> None:
    """A marker with 12 digits is the commit that another mail names in full."""
    short = posting(1, UPSTREAM[:12])
    found = rows(tmp_path, "5.10", short, posting(2, tree="5.4.y"))
    assert [row.sha for row in found] == [UPSTREAM]


def test_since_keeps_what_changed_its_state(tmp_path: pathlib.Path) -> None:
    """An old posting that was queued lately is new to the list of this week."""
    life = [posting(1), notice(8, "added"), posting(2, OTHER)]
    with Archive(tmp_path, write=True) as archive:
        archive.add(life, [raw_of(item) for item in life])
        found = Filters(since=NOON + 7 * DAY).choose(archive, backports(archive, "5.10"))
        queued = backports(archive, "5.10", states=("queued",))
    assert [row.sha for row in found] == [row.sha for row in queued] == [UPSTREAM]


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        (Filters(), 2),
        (Filters(path="kernel"), 1),
        (Filters(path=["*.c", ":!kernel"]), 0),
        (Filters(path="tick.c"), 0),
        (Filters(author="quill"), 1),
        (Filters(author="BO@EXAMPLE.ORG"), 1),
        (Filters(cve="cve-2024-12345"), 1),
        (Filters(bug=Bug("gcc", 12345)), 1),
        (Filters(bug=Bug("gcc", 12345, "target")), 1),
        (Filters(bug=Bug("gcc", 99999)), 0),
        (Filters(autosel=True), 1),
        (Filters(evidence="certain"), 2),
    ],
)
def test_filters_keep_the_rows_that_they_name(
    tmp_path: pathlib.Path, filters: Filters, kept: int
) -> None:
    """Each filter asks one thing of the mails behind a row."""
    one = posting(
        1,
        subject_tags=tags("5.10.y", prefixes=["AUTOSEL"]),
        files=[FileChange(path="kernel/tick.c")],
        cves=["CVE-2024-12345"],
    )
    other = posting(
        2,
        OTHER,
        author=BO,
        gcc_prs=[
            GccBug(number=12345, where=["trailer"]),
            GccBug(number=99999, where=["diff-context"]),
        ],
    )
    with Archive(tmp_path, write=True) as archive:
        archive.add([one, other], [raw_of(one), raw_of(other)])
        assert len(filters.choose(archive, backports(archive, "5.10"))) == kept


def export(path: pathlib.Path, name: str, *messages: Message) -> tuple[bytes, list[str]]:
    """Store messages and return the list of 5.10 in a format, with the notes."""
    out = io.BytesIO()
    with Archive(path, write=True) as archive:
        archive.add(messages, [raw_of(item) for item in messages])
        notes = writer(name)(archive, "5.10.y", backports(archive, "5.10"), out)
    return out.getvalue(), notes


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - FOLDERS))
def test_every_format_is_stable_between_runs(tmp_path: pathlib.Path, name: str) -> None:
    """Two archives filled alike give the same bytes."""
    life = [posting(1), notice(2, "added"), posting(3, OTHER)]
    assert export(tmp_path / "1", name, *life) == export(tmp_path / "2", name, *life)


def test_text_names_state_and_proof(tmp_path: pathlib.Path) -> None:
    """The list for a terminal says how many, the state, the reason and the line."""
    text = export(tmp_path, "text", posting(1, from_=BO))[0].decode()
    assert text.startswith("5.10: 1 upstream commit (1 in-flight)\n")
    assert f"{UPSTREAM}  in-flight" in text
    assert "posted, Bo Tern" in text
    assert f"<posting-1@example.org> line 1: commit {UPSTREAM} upstream." in text


def test_text_has_no_control_characters_of_mail(tmp_path: pathlib.Path) -> None:
    """A title that would move the cursor or turn the line around is shown, not obeyed."""
    text = export(tmp_path, "text", posting(1, clean_subject="a\x1b[2Jb\u202ec"))[0].decode()
    assert "a\\x1b[2Jb\\u202ec" in text


def test_json_is_an_object_a_line(tmp_path: pathlib.Path) -> None:
    """Each line is a row with its evidence and its events."""
    lines = export(tmp_path, "json", posting(1), posting(2, OTHER))[0].splitlines()
    objects = [json.loads(line) for line in lines]
    assert [item["upstream_commit"] for item in objects] == [UPSTREAM, OTHER]
    assert objects[0]["evidence"]["line"] == 1
    assert objects[0]["events"][0]["event"] == "posted"


def test_csv_reads_back(tmp_path: pathlib.Path) -> None:
    """A title with quotes, commas and a formula's sign comes back as one harmless cell."""
    title = '=HYPERLINK("http://example.org"), "tick"'
    data = export(tmp_path, "csv", posting(1, clean_subject=title))[0].decode()
    (row,) = csv.DictReader(io.StringIO(data))
    assert row["upstream_commit"] == UPSTREAM
    assert row["subject"] == "'" + title


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    """Whatever a spreadsheet takes for a formula gets an apostrophe or an escape before it."""
    assert cell(text)[0] in ("'", "\\")
    assert cell(-1) == "-1"
    assert cell(None) == ""


def test_csv_names_the_author_of_a_release(tmp_path: pathlib.Path) -> None:
    """The release names no author, but the posting of the row does."""
    dropped = message(
        "drop@example.org",
        is_reply=True,
        references=["posting-1@example.org"],
        in_reply_to="posting-1@example.org",
        timestamp=NOON + 9 * DAY,
        from_=Person(name="Greg Kroah-Hartman", email="gregkh@linuxfoundation.org"),
        notification=Notification(kind="dropped", tree="5.10.y"),
    )
    data, _ = export(tmp_path, "csv", posting(1, author=BO), dropped)
    (row,) = csv.DictReader(io.StringIO(data.decode()))
    assert (row["state"], row["author"]) == ("dropped", "Bo Tern")


def test_ids_are_full_commits(tmp_path: pathlib.Path) -> None:
    """One commit of 40 digits a line; what is abbreviated for good is told."""
    data, notes = export(tmp_path, "ids", posting(1), posting(2, "abcdef012345"))
    assert data.decode().split() == [UPSTREAM]
    assert notes == ["1 row left out: the upstream commit is not known in full."]


def test_mbox_takes_the_newest_patch_that_applies(tmp_path: pathlib.Path) -> None:
    """Of two postings the later one is written, byte for byte; damaged ones never are."""
    life = [
        posting(1),
        posting(2),
        posting(3, applicable=False),
        posting(4, OTHER, applicable=False),
    ]
    data, notes = export(tmp_path, "mbox", *life)
    assert data == mboxrd(raw_of(life[1]).data, life[1].timestamp)
    assert notes == [f"1 row left out, no patch that can be applied: {OTHER[:12]}"]


def test_mboxrd_quotes_from_lines_and_keeps_the_rest() -> None:
    """Each From line gets one more mark, whatever its depth, and nothing else changes."""
    raw = b"Subject: x\n\nFrom here\n>From there\n>> From not\nfrom low"
    assert mboxrd(raw, NOON) == (
        b"From mboxrd@z Tue Jan  2 03:04:05 2024\n"
        b"Subject: x\n\n>From here\n>>From there\n>> From not\nfrom low\n\n"
    )


def test_mboxrd_escapes_the_first_line_of_a_format_patch() -> None:
    """`From <sha>` is part of the mail: as a separator it would be lost in the mail before."""
    head = b"From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n"
    assert mboxrd(head + b"Subject: x\n\ny\n", NOON) == (
        b"From mboxrd@z Tue Jan  2 03:04:05 2024\n>" + head + b"Subject: x\n\ny\n\n"
    )


PATCH = """\
From: Ada Quill <ada@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0000
Subject: [PATCH 5.10] tick: use two
Message-ID: <posting-1@example.org>

commit {sha} upstream.

From here on the clock ticks twice.
---
 tick.c | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/tick.c b/tick.c
index 5626abf..f719efd 100644
--- a/tick.c
+++ b/tick.c
@@ -1 +1 @@
-one
+two
"""


@pytest.mark.parametrize("head", [b"", b"From " + b"5" * 40 + b" Mon Sep 17 00:00:00 2001\n"])
def test_git_am_takes_the_mbox(tmp_path: pathlib.Path, head: bytes) -> None:
    """`backports --format mbox | git am` makes the commit, with its From line intact."""
    made = posting(1)
    out = io.BytesIO()
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.add([made], [raw_of(made, head + PATCH.format(sha=UPSTREAM).encode())])
        writer("mbox")(archive, "5.10.y", backports(archive, "5.10"), out)
    repo = tmp_path / "repo"
    (repo).mkdir()
    git = ["git", "-c", "user.name=Bo Tern", "-c", "user.email=bo@example.org", "-C", str(repo)]
    (repo / "tick.c").write_text("one\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run([*git, "am", "-q", "--patch-format=mboxrd"], input=out.getvalue(), check=True)
    assert (repo / "tick.c").read_text() == "two\n"
    log = subprocess.run([*git, "log", "-1", "--format=%an%n%b"], capture_output=True, check=True)
    assert log.stdout.decode().startswith("Ada Quill\ncommit 0123456789abcdef")
    assert "From here on the clock ticks twice." in log.stdout.decode()


def test_a_title_of_two_commits_stays_two_rows(tmp_path: pathlib.Path) -> None:
    """Commits are told apart by their ids, not by their titles."""
    found = rows(tmp_path, "5.10", posting(1), posting(2, OTHER, author=Person(name="Bo Tern")))
    assert [row.sha for row in found] == [UPSTREAM, OTHER]
    assert found[0].event.by == ADA.name

"""What a tree needs where only mail and CVE records tell of it; timelines; two trees compared."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from patchlore.ingest.message import (
    CommitRef,
    CvePair,
    CveRecord,
    Evidence,
    Message,
    Notification,
    StableNote,
)
from patchlore.kb.backports import Row, backports
from patchlore.kb.comparing import compare
from patchlore.kb.events import KINDS, Event
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.history import events_of_commit
from patchlore.kb.store import Archive
from patchlore.kb.undoing import undoing
from tests.kb.git_repositories import Repository
from tests.kb.mails import NOON, OTHER, UPSTREAM, message, raw_of, source, tags
from tests.kb.postings import DAY, notice, posting

#: The day by which trees are judged.
TODAY = NOON + 100 * DAY

CAUSE, FIX = UPSTREAM, OTHER


def fixes(sha: str = CAUSE, line: int = 3) -> dict[str, Any]:
    """Return the fields of a mail whose patch fixes a commit."""
    text = f'Fixes: {sha[:12]} ("tick: use two")'
    return {
        "fixes": [CommitRef(sha=sha[:12], subject="tick: use two")],
        "evidence": [
            Evidence(fact="fixes", value=sha[:12], line=line, rule="fixes-tag", text=text)
        ],
    }


def the_fix(number: int, tree: str, **fields: Any) -> Message:
    """Return a backport of the fix, posted for a tree."""
    title = {"clean_subject": "tick: count right", "subject": f"[PATCH {tree}] tick: count right"}
    return posting(number, FIX, tree, **title, **fixes(), **fields)


def listed(path: pathlib.Path, tree: str, *messages: Message) -> list[Row]:
    """Store messages and return the list of a tree."""
    with Archive(path, write=True) as archive:
        archive.add(messages, [raw_of(item) for item in messages])
        return backports(archive, tree, as_of=TODAY)


def by_sha(rows: list[Row], sha: str | None) -> Row:
    """Return the row of a commit."""
    (row,) = [row for row in rows if row.sha == sha]
    return row


def record(number: int, *pairs: tuple[str | None, str | None, str | None, str | None]) -> Message:
    """Return an announcement of a CVE."""
    made = [
        CvePair(vulnerable_version=a, vulnerable_sha=b, fixed_version=c, fixed_sha=d)
        for a, b, c, d in pairs
    ]
    lines = [f"Issue introduced in {pair.vulnerable_version}" for pair in made]
    return message(
        f"cve-{number}@example.org",
        timestamp=NOON + 50 * DAY,
        subject=f"CVE-2024-{number}: tick: count right",
        clean_subject=f"CVE-2024-{number}: tick: count right",
        cves=[f"CVE-2024-{number}"],
        cve_record=CveRecord(id=f"CVE-2024-{number}", pairs=made),
        body="\n".join(lines),
        source=source(offset=number),
        evidence=[
            Evidence(
                fact="cve_record",
                value=f"{pair.vulnerable_sha or 0}:{pair.fixed_sha or 0}",
                line=index + 1,
                rule="cve-sentence",
                text=lines[index],
            )
            for index, pair in enumerate(made)
        ],
    )


def test_a_fix_posted_elsewhere_is_needed_where_its_cause_was_taken(tmp_path: pathlib.Path) -> None:
    """5.10 queued the cause; 6.1 got the fix: as far as mail tells, 5.10 lacks it."""
    rows = listed(tmp_path, "5.10", notice(1, "added"), the_fix(2, "6.1.y"))
    row = by_sha(rows, FIX)
    assert (row.state, row.event.confidence) == ("needed", "medium")
    assert row.reason == f"fixes {CAUSE[:12]}, added to the queue, as far as mail tells"
    assert (row.event.key, row.event.line) == ("posting-2@example.org", 3)
    assert row.event.text == f'Fixes: {CAUSE[:12]} ("tick: use two")'


def test_a_fix_is_not_needed_where_its_cause_is_not_known(tmp_path: pathlib.Path) -> None:
    """Nobody knows whether 5.10 has what it fixes: no row, and never a guess."""
    assert listed(tmp_path, "5.10", the_fix(2, "6.1.y")) == []


def test_a_patch_that_is_only_on_the_list_is_nominated(tmp_path: pathlib.Path) -> None:
    """Its note covers the tree, but no mail says that it was merged."""
    made = message(is_patch=True, cc_stable=[StableNote(range="5.4+", text="5.4+")])
    assert [row.state for row in listed(tmp_path, "5.10", made)] == ["nominated"]


def test_a_note_makes_needed_what_another_tree_took(tmp_path: pathlib.Path) -> None:
    """A backport to 6.1 names the commit upstream: so it is merged."""
    note = StableNote(range="5.4+", text="5.4+")
    made = message(is_patch=True, cc_stable=[note])
    (row,) = listed(tmp_path, "5.10", made, posting(3, UPSTREAM, "6.1.y"))
    assert (row.sha, row.state, row.event.rule) == (UPSTREAM, "needed", "Cc: stable note")
    assert row.reason == "merged upstream, wanted here (Cc: stable # 5.4+), as far as mail tells"
    assert row.event.key == "one@example.org"


def test_a_note_without_a_version_is_for_trees_with_the_cause(tmp_path: pathlib.Path) -> None:
    """The patch is only on the list, but 5.10 has what it fixes: nominated there."""
    made = message(
        is_patch=True,
        timestamp=NOON + 5 * DAY,
        clean_subject="tick: count right",
        cc_stable=[StableNote()],
        **fixes(),
    )
    row = by_sha(listed(tmp_path, "5.10", notice(1, "added"), made), None)
    assert row.state == "nominated"
    assert row.reason.endswith("not known to be merged")


def test_an_opt_out_is_a_row_of_the_trees_that_may_want_it(tmp_path: pathlib.Path) -> None:
    """stable+noautosel in a mail, with its line."""
    made = message(
        is_patch=True,
        no_autosel="needs a new tool",
        evidence=[
            Evidence(
                fact="no_autosel",
                value="needs a new tool",
                line=2,
                rule="noautosel",
                text="Cc: stable+noautosel@kernel.org # needs a new tool",
            )
        ],
    )
    (row,) = listed(tmp_path, "5.10", made)
    assert (row.state, row.reason) == (
        "opted-out",
        "not for automatic selection: needs a new tool",
    )
    assert (row.event.key, row.event.line) == ("one@example.org", 2)


def test_what_autosel_picked_against_its_author_is_noted(tmp_path: pathlib.Path) -> None:
    """It stays in flight; the note says what its author asked."""
    made = message(is_patch=True, no_autosel="needs a new tool", primary_upstream=UPSTREAM)
    picked = posting(3, subject_tags=tags("5.10.y", prefixes=["AUTOSEL"]))
    (row,) = listed(tmp_path, "5.10", made, picked)
    assert row.state == "in-flight"
    assert row.notes == ["its author asks not to pick it automatically: needs a new tool"]


@pytest.mark.parametrize(
    ("tree", "state"), [("4.19", None), ("5.10", "needed"), ("5.15", None), ("6.8", None)]
)
def test_a_cve_record_says_which_trees_need_its_fix(
    tmp_path: pathlib.Path, tree: str, state: str | None
) -> None:
    """Introduced in 5.4, fixed in 6.8 and in 5.15.150: of these trees 5.10 lacks it."""
    made = record(7, ("5.4", CAUSE, "5.15.150", "ab" * 20), ("5.4", CAUSE, "6.8", FIX))
    rows = listed(tmp_path, tree, made)
    assert [row.state for row in rows] == ([state] if state else [])
    if rows:
        assert rows[0].sha == FIX
        assert rows[0].event.rule == "CVE record"
        assert rows[0].reason == (
            f"CVE-2024-7: repairs {CAUSE[:12]}, in it since 5.4, as far as mail tells"
        )
        assert (rows[0].event.key, rows[0].event.line) == ("cve-7@example.org", 2)


def test_a_cve_record_tells_of_causes_that_a_tree_took_by_backport(tmp_path: pathlib.Path) -> None:
    """Upstream it came with 6.2, in 5.10 with 5.10.163, where nothing has ended it yet."""
    own = "ab" * 20
    made = record(7, ("6.2", CAUSE, "6.8", FIX), ("5.10.163", own, None, None))
    row = by_sha(listed(tmp_path, "5.10", made), FIX)
    assert (row.state, row.subject) == ("needed", "tick: count right")
    assert (
        row.reason == f"CVE-2024-7: repairs {own[:12]}, in it since 5.10.163, as far as mail tells"
    )
    assert row.event.line == 2
    with Archive(tmp_path) as archive:
        assert backports(archive, "5.4", as_of=TODAY) == []


@pytest.mark.parametrize("pairs", [(("5.4", CAUSE, "5.15.150", "ab" * 20),), ()])
def test_a_dyad_file_takes_the_title_of_the_announcement(
    tmp_path: pathlib.Path, pairs: tuple[tuple[str, str, str, str], ...]
) -> None:
    """Which says less than the file does of where it was fixed, or nothing."""
    dyad = record(7, ("5.4", CAUSE, "6.8", FIX))
    dyad.message_id = "dyad@example.org"
    dyad.subject = dyad.clean_subject = "CVE-2024-7"
    row = by_sha(listed(tmp_path, "5.10", dyad, record(7, *pairs)), FIX)
    assert (row.state, row.subject) == ("needed", "tick: count right")


def test_a_cve_record_knows_the_release_of_a_fix(tmp_path: pathlib.Path) -> None:
    """A nomination whose fix a record has in 5.10.209 is released."""
    made = record(7, ("5.4", CAUSE, "5.10.209", "ab" * 20), ("5.4", CAUSE, "6.8", FIX))
    asked = message(
        is_patch=True,
        clean_subject="tick: count right",
        cc_stable=[StableNote(range="5.4+", text="5.4+")],
    )
    row = by_sha(listed(tmp_path, "5.10", made, asked, the_fix(3, "6.1.y")), FIX)
    assert (row.state, row.reason) == ("released", "fixed in 5.10.209")
    assert (row.event.key, row.event.release) == ("cve-7@example.org", "5.10.209")


def test_the_mainline_alone_tells_what_a_tree_began_with(tmp_path: pathlib.Path) -> None:
    """5.10 was not read, but v5.9 has the cause, and the fix came with v5.11."""
    repository = Repository(tmp_path / "linux")
    cause = repository.commit("tick: use two")
    repository.tag("v5.9")
    repository.commit("tick: rest")
    repository.tag("v5.10")
    later = repository.commit("tick: use three")
    fix = repository.commit(f'tick: count right\n\nFixes: {cause[:12]} ("tick: use two")\n')
    repository.commit(
        f'tick: count on\n\nFixes: {later[:12]} ("tick: use three")\nCc: stable@vger.kernel.org\n'
    )
    repository.tag("v5.11")
    with Archive(tmp_path / "archive", write=True) as archive:
        fill_tree(archive, "mainline", str(repository.folder))
        told = notice(400, "added", tree="5.10.y")
        archive.add([told], [raw_of(told)])
        rows = backports(archive, "5.10", as_of=TODAY)
    row = by_sha(rows, fix)
    assert (row.state, row.event.confidence) == ("needed", "medium")
    assert row.reason == (
        f"fixes {cause[:12]}, in it from the start, since 5.9, as far as mail tells"
    )
    (spared,) = [row for row in rows if row.subject == "tick: count on"]
    assert spared.state == "not-affected"
    assert spared.reason.endswith("which the tree does not have, as far as mail tells")


def test_requests_in_the_wrong_order_are_told(tmp_path: pathlib.Path) -> None:
    """A series for the tree has the fix before the commit that it fixes."""
    series: dict[str, Any] = {"timestamp": NOON + 9 * DAY}
    cause = posting(1, subject_tags=tags("5.10.y", index=2, total=2), **series)
    fix = the_fix(2, "5.10.y", subject_tags=tags("5.10.y", index=1, total=2), **series)
    rows = listed(tmp_path, "5.10", cause, fix)
    assert [row.sha for row in rows] == [CAUSE, FIX]
    assert rows[1].notes[-1] == (
        f'wrong order: needs {CAUSE[:12]} ("tick: use two"), which was posted, 2 of 2'
    )


def test_the_patches_before_it_in_its_series_are_told(tmp_path: pathlib.Path) -> None:
    """As context: they are not required."""
    first = message(
        "s1@example.org",
        is_patch=True,
        subject="[PATCH 1/2] tick: make a table",
        clean_subject="tick: make a table",
        subject_tags=tags(index=1, total=2),
    )
    second = message(
        "s2@example.org",
        is_patch=True,
        in_reply_to="s1@example.org",
        references=["s1@example.org"],
        subject_tags=tags(index=2, total=2),
        cc_stable=[StableNote(range="5.4+", text="5.4+")],
        source=source(offset=1),
    )
    (row,) = listed(tmp_path, "5.10", first, second)
    assert row.notes == ['patch 2 of 2; before it: 1/2 "tick: make a table"']
    assert row.requires == []


# -- one tree over another -----------------------------------------------------------


def test_what_one_tree_has_over_another(tmp_path: pathlib.Path) -> None:
    """5.10 has both; 6.1 has one, and of the other nothing is known there."""
    here = [
        notice(1, "added"),
        notice(2, "added", sha=OTHER, clean_subject="tick: use three", commit_subject=None),
    ]
    there = posting(
        3,
        UPSTREAM,
        "6.1.y",
        notification=Notification(kind="added", tree="6.1.y"),
    )
    with Archive(tmp_path, write=True) as archive:
        archive.add([*here, there], [raw_of(item) for item in [*here, there]])
        (row,) = compare(archive, "5.10", "v6.1", as_of=TODAY)
        assert compare(archive, "6.1", "5.10", as_of=TODAY) == []
    assert (row.tree, row.sha, row.state) == ("6.1.y", OTHER, "unknown")
    assert row.reason == "5.10 has it: added to the queue; nothing is known of 6.1"
    assert row.event.tree == "5.10.y"


def test_what_the_other_tree_is_getting_says_so(tmp_path: pathlib.Path) -> None:
    """Its row has the state there, and a note that the first tree has it."""
    with Archive(tmp_path, write=True) as archive:
        made = [notice(1, "added"), posting(3, UPSTREAM, "6.1.y")]
        archive.add(made, [raw_of(item) for item in made])
        (row,) = compare(archive, "5.10", "6.1", as_of=TODAY)
    assert (row.state, row.notes[0]) == ("in-flight", "5.10 has it: added to the queue")


# -- timelines -------------------------------------------------------------------------


def test_a_timeline_has_every_kind_of_event(tmp_path: pathlib.Path) -> None:
    """From the nomination to being applied again, in the order of time, each with its line."""
    drop = message(
        "drop@example.org",
        timestamp=NOON + 7 * DAY,
        subject="Re: [PATCH 5.10] tick: use two",
        clean_subject="tick: use two",
        is_reply=True,
        in_reply_to="posting-6@example.org",
        references=["posting-6@example.org"],
        notification=Notification(kind="dropped", tree="5.10.y"),
        source=source(offset=70),
        evidence=[
            Evidence(fact="notification", value="dropped", line=1, rule="r", text="Now dropped.")
        ],
    )
    release = message(
        "release@example.org",
        timestamp=NOON + 9 * DAY,
        subject="Linux 5.10.7",
        clean_subject="Linux 5.10.7",
        notification=Notification(kind="released", tree="5.10.y", release="5.10.7"),
        body="Ada Quill (1):\n      tick: use two\n",
        source=source(offset=9),
    )
    undone = [
        posting(
            number,
            f"{number:040x}",
            subject=f"[PATCH 5.10] {title}",
            clean_subject=title,
            upstream_refs=[],
            upstream_commits=[],
            primary_upstream=None,
            reverts=[CommitRef(sha=f"abc{number:037x}")],
            evidence=[
                Evidence(
                    fact="reverts",
                    value=f"abc{number:037x}",
                    line=3,
                    rule="reverts-commit",
                    text="This reverts commit",
                )
            ],
        )
        for number, title in ((10, 'Revert "tick: use two"'), (11, 'Reapply "tick: use two"'))
    ]
    life = [
        message(is_patch=True, cc_stable=[StableNote(range="5.4+", text="5.4+")]),
        posting(1, subject_tags=tags("5.10.y", prefixes=["AUTOSEL"], index=1, total=9)),
        notice(2, "failed", upstream_refs=[], upstream_commits=[], original_commit=UPSTREAM),
        posting(3),
        notice(5, "added"),
        notice(6, "review", notice={"release": "5.10.7-rc1"}),
        drop,
        notice(8, "added"),
        release,
        *undone,
    ]
    with Archive(tmp_path, write=True) as archive:
        archive.add(life, [raw_of(item) for item in life])
        events = events_of_commit(archive, [UPSTREAM], "5.10", title="tick: use two")
        (row,) = [row for row in backports(archive, "5.10", as_of=TODAY) if row.sha == UPSTREAM]
    kinds = [event.kind for event in events]
    assert kinds == [
        "nominated",
        "autosel",
        "failed",
        "posted",
        "queued",
        "review",
        "dropped",
        "queued",
        "released",
        "reverted",
        "re-applied",
    ]
    assert set(kinds) == set(KINDS)
    assert [event.timestamp for event in events] == sorted(e.timestamp or 0 for e in events)
    assert all(event.key and event.confidence for event in events)
    assert (row.state, row.reason) == ("in-flight", "posted again")
    assert [event.kind for event in row.events] == kinds


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("tick: use two", None),
        ('Revert "tick"', ("tick", True)),
        ('Revert "Revert "tick""', ("tick", False)),
        ('Reapply "tick"', ("tick", False)),
        ('Revert "Reapply "tick""', ("tick", True)),
        ('Revert "', None),
        (None, None),
    ],
)
def test_a_title_tells_what_is_undone(title: str | None, expected: tuple[str, bool] | None) -> None:
    """The outermost word decides: a revert of a revert brings the commit back."""
    assert undoing(title) == expected


def test_a_conclusion_is_told_in_its_own_words() -> None:
    """An event with a reason says that, whatever its kind."""
    event = Event(
        kind="affected",
        tree="5.10.y",
        sha=FIX,
        subject=None,
        timestamp=None,
        message=0,
        key=FIX,
        reason="fixes it",
    )
    assert event.words() == "fixes it"

"""What single mails of review rounds say: deadlines, objections, releases in titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.message import Message
from patchlore.kb.reading import Brief
from patchlore.kb.review_covers import deadline_in, shortlog_titles
from patchlore.kb.review_replies import objections_in
from patchlore.kb.review_rounds import release_in
from tests.kb.mails import message


@pytest.mark.parametrize(
    ("line", "iso"),
    [
        ("Responses should be made by Sat, 30 Dec 2023 11:57:43 +0000.", "2023-12-30T11:57:43"),
        ("Responses should be made by Wed 22 May 2019 11:50:49 PM UTC.", "2019-05-22T23:50:49"),
        ("Responses should be made by Fri Aug 16 06:15:24 UTC 2013.", "2013-08-16T06:15:24"),
        ("> > Responses should be made by\n> > Thu, 19 Nov 2020 12:20:51 +0000.", "2020-11-19T12"),
    ],
)
def test_deadlines_are_read_in_every_form(line: str, iso: str) -> None:
    """Covers of all years, also where a quotation was folded."""
    made = message(body=f"Text.\n{line}\n", line_kinds="t" + "t" * (line.count("\n") + 2))
    brief = _brief(made)
    found = deadline_in(made, brief, None, quoted=False)
    assert found is not None
    assert found.date_iso.startswith(iso)


def _brief(made: Message) -> Brief:
    return Brief(
        id=1,
        key="one@example.org",
        message_id="one@example.org",
        subject=made.subject,
        clean_subject=made.clean_subject,
        sender="Ada Quill",
        timestamp=made.timestamp,
        date_iso=made.date_iso,
        kind="cover",
        is_patch=False,
        is_reply=False,
        malformed=False,
        applicable=False,
        fidelity=0,
        version=None,
        part=None,
        parts=None,
        thread=1,
    )


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Please drop this from all queues.", "drop-request"),
        ("Could you please drop it?", "drop-request"),
        ("This should not be backported.", "drop-request"),
        ("This one should not go to 6.6: it has no such hand.", "drop-request"),
        ("    26 boots: 24 pass, 2 fail", "boot"),
        ("NAK, the clock has no second wheel in 6.6.", "nak"),
        ("Nacked-by: Bo Tern <bo@example.org>", "nak"),
        ("Cy bisected this to wheel 2.", "bisect"),
        ("It fails to boot on my board.", "boot"),
        ("Kernel panic on every second start.", "boot"),
        ("The arm allmodconfig build failed with gcc-13.", "build"),
        ("This breaks the build for me.", "build"),
        ("\ttotal: 155 pass: 153 fail: 2", "build"),
        ("Two tests fail since rc1.", "test"),
        ("I see a regression in the minute hand.", "regression"),
    ],
)
def test_objections_are_known_by_their_words(line: str, kind: str) -> None:
    """Each way in which people object has its kind, and the line is the evidence."""
    (proof,) = objections_in(message(body=f"Hello,\n{line}\n", line_kinds="ttt"), "a@example.org")
    assert (proof.rule, proof.line, proof.text) == (kind, 2, line.strip())


def test_a_request_goes_over_the_end_of_a_line() -> None:
    """It is a sentence; the evidence is the line in which it begins."""
    body = "It has no such hand, please\ndrop it.\n\nPlease\n"
    (proof,) = objections_in(message(body=body, line_kinds="tttt"), "a@example.org")
    assert (proof.rule, proof.line) == ("drop-request", 1)


@pytest.mark.parametrize(
    "line",
    [
        "No regressions on arm64 and x86_64.",
        "I could not find any regression.",
        "* arc: 5 total, 5 passed, 0 failed",
        "\ttotal: 155 pass: 155 fail: 0",
        "All builds without errors.",
        "    26 boots:\t26 pass, 0 fail",
        "    116 tests:\t116 pass, 0 fail",
        "The build error is fixed in mainline.",
        "## Test regressions (compared to 6.6.8)",
        "Tested-by: Build fails nowhere <bo@example.org>",
        "https://regressions.example.org/clock",
    ],
)
def test_what_denies_a_failure_is_no_objection(line: str) -> None:
    """Good news, links and headings of reports have the same words."""
    assert objections_in(message(body=f"{line}\n", line_kinds="tt"), "a@example.org") == []


def test_quoted_words_are_no_objection() -> None:
    """What a reply quotes was objected by somebody else."""
    made = message(body="> Please drop this.\nWhy?\n", line_kinds="qtt")
    assert objections_in(made, "a@example.org") == []


_LINES = st.sampled_from(
    [
        "Responses should be made by Wed, 13 Dec 2023 14:30:00 +0000.",
        "> Responses should be made by",
        "Pseudo-Shortlog of commits:",
        "    clock: mend it",
        "---",
        "It fails to boot.",
        "NAK",
    ]
)


@given(
    st.text(max_size=400) | st.lists(_LINES | st.text(max_size=20), max_size=12).map("\n".join),
    st.text(alphabet="tqndh+", max_size=20),
)
def test_any_text_is_read(body: str, kinds: str) -> None:
    """Whatever a mail says, reading it ends, and evidence names a line of it."""
    made = message(body=body, line_kinds=kinds)
    for proof in objections_in(made, "a@example.org"):
        assert proof.line is not None
        assert 1 <= proof.line <= body.count("\n") + 1
    release_in(body)
    assert all(title in body for title in shortlog_titles(made))
    found = deadline_in(made, _brief(made), 0, quoted=False)
    assert found is None or str(found.evidence.text) in body.replace("\t", " ")


def test_titles_name_their_release() -> None:
    """In the forms of all years; a sentence about a review names none."""
    assert release_in("4.19.45-stable review") == "4.19.45"
    assert release_in("6.6.9-rc1 review") == "6.6.9-rc1"
    assert release_in("a review of 6.6.9") is None

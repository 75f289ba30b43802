"""Mails that a Bugzilla sends to its list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.bug import BugChange
from tests.ingest.letters import parse_letter

SUBJECT = "[Bug tree-optimization/90210] [12 Regression] lamp is dimmed twice"
HEADERS = (
    "X-Bugzilla-Reason: CC",
    "X-Bugzilla-Type: changed",
    "X-Bugzilla-Product: gcc",
    "X-Bugzilla-Component: tree-optimization",
    "X-Bugzilla-Version: 12.1.0",
    "X-Bugzilla-Keywords: wrong-code, patch",
    "X-Bugzilla-Status: RESOLVED",
    "X-Bugzilla-Resolution: FIXED",
    "X-Bugzilla-Target-Milestone: ---",
    "X-Bugzilla-URL: http://gcc.gnu.org/bugzilla/",
)
BODY = """\
https://gcc.gnu.org/bugzilla/show_bug.cgi?id=90210

Bo Reed <bo at example dot org> changed:

           What    |Removed                     |Added
----------------------------------------------------------------------------
             Status|NEW                         |RESOLVED
         Resolution|---                         |FIXED
                 CC|                            |ada at example dot org,
                   |                            |nora at example dot org

--- Comment #7 from Bo Reed <bo at example dot org> ---
Fixed.

{DASHES}
You are receiving this mail because:
You are on the CC list for the bug.
""".replace("{DASHES}", "-- ")


def test_the_state_of_the_bug_then() -> None:
    """As the headers have it."""
    bug = parse_letter(BODY, *HEADERS, subject=SUBJECT).bug
    assert bug is not None
    assert (bug.tracker, bug.number, bug.component) == ("gcc", 90210, "tree-optimization")
    assert bug.title == "[12 Regression] lamp is dimmed twice"
    assert (bug.status, bug.resolution) == ("RESOLVED", "FIXED")
    assert bug.target_milestone is None
    assert bug.keywords == ["wrong-code", "patch"]
    assert bug.comment == 7


def test_what_changed() -> None:
    """A row each; a value that is too long goes on below."""
    message = parse_letter(BODY, *HEADERS, subject=SUBJECT)
    assert message.bug is not None
    who, when = "Bo Reed <bo at example dot org>", message.date_iso
    assert message.bug.changes == [
        BugChange(when=when, who=who, field="Status", removed="NEW", added="RESOLVED"),
        BugChange(when=when, who=who, field="Resolution", added="FIXED"),
        BugChange(
            when=when,
            who=who,
            field="CC",
            added="ada at example dot org, nora at example dot org",
        ),
    ]
    lines = [item.line for item in message.evidence if item.rule == "bugzilla-table"]
    assert lines == [7, 8, 9]


def test_a_new_bug() -> None:
    """Its subject says so, and it has no comment yet."""
    subject = SUBJECT.replace("] [12", "] New: [12")
    bug = parse_letter("Bug ID: 90210\n", *HEADERS, subject=subject).bug
    assert bug is not None
    assert bug.title == "[12 Regression] lamp is dimmed twice"
    assert bug.comment is None
    assert bug.changes == []


def test_a_persons_answer_has_no_bug() -> None:
    """Only the tracker knows the state."""
    assert parse_letter(BODY, subject=f"Re: {SUBJECT}").bug is None


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_table_is_read(rows: str, title: str) -> None:
    """Whatever stands there."""
    head = BODY.partition("             Status")[0]
    title = title.replace("\n", " ").replace("\r", " ")
    parse_letter(head + rows, *HEADERS, subject=f"[Bug c/1] {title}")

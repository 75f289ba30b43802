"""``Fixes:`` and ``Stable-dep-of:``, canonical and damaged, and where each counts."""

from __future__ import annotations

import pytest

from patchlore.ingest.message import Message
from tests.ingest.letters import OTHER, SHA, THIRD, evidence, parse_letter, parse_patch


def fixes(message: Message) -> list[tuple[str, str | None]]:
    """Hash and subject of each."""
    return [(ref.sha, ref.subject) for ref in message.fixes]


X12 = SHA[:12]


@pytest.mark.parametrize(
    ("line", "sha", "subject"),
    [
        (f'Fixes: {X12} ("lamp: glow")', X12, "lamp: glow"),
        (f'Fixes: {SHA[:13]} ("lamp: glow")', SHA[:13], "lamp: glow"),
        (f'Fixes: {SHA} ("lamp: glow")', SHA, "lamp: glow"),
        (f'Fixes: {SHA[:7]} ("lamp: glow")', SHA[:7], "lamp: glow"),
        (f'Fixes: {SHA[:6]} ("lamp: glow")', SHA[:6], "lamp: glow"),
        (f"Fixes: {X12} ('lamp: glow')", X12, "lamp: glow"),
        (f"Fixes: {X12} (lamp: glow)", X12, "lamp: glow"),
        (f"Fixes: {X12}", X12, None),
        (f"Fixes: {SHA}", SHA, None),
        (f'Fixes: {X12} "lamp: glow"', X12, "lamp: glow"),
        (f"Fixes: {X12} lamp: glow", X12, "lamp: glow"),
        (f'Fixes: commit {X12} ("lamp: glow")', X12, "lamp: glow"),
        (f'fixes: {X12} ("lamp: glow")', X12, "lamp: glow"),
        (f'Fixes:{X12}("lamp: glow")', X12, "lamp: glow"),
        (f'Fixes: {X12.upper()} ("lamp: glow")', X12, "lamp: glow"),
        (f'Fixes: {X12} ("lamp: glow") # 5.4', X12, "lamp: glow"),
        (f'Fixes: {X12} ("lamp: glow") Thu Jun 8 2023', X12, "lamp: glow"),
        (f'Fixes: {X12} ("lamp: glow (again)")', X12, "lamp: glow (again)"),
        (f'Fixes: {X12} ("Revert "lamp: glow"")', X12, 'Revert "lamp: glow"'),
        (f'Fixes: {X12} ("lamp: glow"', X12, "lamp: glow"),
        (f"Fixes: {X12} (“lamp: glow”)", X12, "lamp: glow"),
    ],
    ids=lambda value: str(value).replace(SHA, "X40").replace(X12, "X12"),
)
def test_form(line: str, sha: str, subject: str | None) -> None:
    """Each spelling gives hash and subject, with the line as evidence."""
    message = parse_patch(f"Text.\n\n{line}\nSigned-off-by: Bo Reed <bo@example.org>")
    assert fixes(message) == [(sha, subject)]
    (proof,) = evidence(message, "fixes")
    assert (proof.line, proof.rule, proof.text) == (3, "fixes-tag", line)


@pytest.mark.parametrize("indent", ["", " ", "       "])
def test_wrapped_subject_is_joined(indent: str) -> None:
    """A subject that its mailer wrapped goes on below, until the closing quote."""
    message = parse_patch(
        f'Text.\n\nFixes: {X12} ("lamp: make the\n{indent}light go round")\n'
        "Signed-off-by: Bo Reed <bo@example.org>"
    )
    assert fixes(message) == [(X12, "lamp: make the light go round")]


def test_forgotten_quote_does_not_swallow_the_tags_below() -> None:
    """An open quote ends at the next tag."""
    message = parse_patch(
        f'Text.\n\nFixes: {X12} ("lamp: glow\nReported-by: Bo Reed <bo@example.org>'
    )
    assert fixes(message) == [(X12, "lamp: glow")]
    assert message.reported_by == ["Bo Reed <bo@example.org>"]


def test_hash_on_the_next_line() -> None:
    """``Fixes:`` alone on its line takes the next one."""
    message = parse_patch(f'Text.\n\nFixes:\n {X12} ("lamp: glow")')
    assert fixes(message) == [(X12, "lamp: glow")]


def test_several_fixes_are_kept_in_order() -> None:
    """Several lines, and several commits on one line."""
    message = parse_patch(
        f'Text.\n\nFixes: {X12} ("lamp: glow")\nFixes: {OTHER[:12]}, {THIRD[:12]}'
    )
    assert [sha for sha, _ in fixes(message)] == [X12, OTHER[:12], THIRD[:12]]


@pytest.mark.parametrize(
    "line",
    [
        "Fixes: https://bugs.example.org/123456",
        "Fixes: #1234",
        "Fixes: CVE-2023-1234",
        "Fixes: 1234567",
        "Fixes: Coverity CID 1234567",
        "Fixes: crash on resume",
    ],
)
def test_what_names_no_commit(line: str) -> None:
    """URLs, numbers, bugs and prose behind ``Fixes:`` are no commits."""
    assert parse_patch(f"Text.\n\n{line}").fixes == []


def test_prose_is_a_mention() -> None:
    """ "Fixes a bug introduced by commit X" names the commit with lower confidence."""
    message = parse_patch(f"Fixes a bug introduced by commit {X12}.")
    assert message.fixes == []
    assert [(m.sha, m.relation) for m in message.mentioned_commits] == [(X12, "introduced-by")]
    assert evidence(message, "mentioned_commits")[0].confidence == "medium"


def test_below_the_cut_is_not_the_commit_message() -> None:
    """git am drops what stands below ``---``; it is told apart."""
    message = parse_patch(f'Text.\n---\nFixes: {X12} ("lamp: glow")')
    assert message.fixes == []
    assert [ref.sha for ref in message.fixes_after_cut] == [X12]


def test_proposed_in_a_review() -> None:
    """A reviewer's ``Fixes:`` is a suggestion; a quoted one belongs to the quoted author."""
    message = parse_letter(
        f'> Fixes: {OTHER[:12]} ("lamp: off")\n\nShould this have\n\nFixes: {X12} ("lamp: glow")\n',
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH] lamp: dim",
    )
    assert message.fixes == []
    assert [ref.sha for ref in message.suggested_fixes] == [X12]


def test_stable_dep_of_is_no_fix() -> None:
    """``Stable-dep-of:`` names the fix that needs this patch."""
    message = parse_patch(f'Text.\n\nStable-dep-of: {X12} ("lamp: glow")')
    assert message.fixes == []
    assert [(ref.sha, ref.subject) for ref in message.stable_dep_of] == [(X12, "lamp: glow")]
    assert evidence(message, "stable_dep_of")[0].rule == "stable-dep-of-tag"

"""Reverts: which commits are taken back, in part or whole, and reverts of reverts."""

from __future__ import annotations

import pytest

from tests.ingest.letters import OTHER, SHA, THIRD, evidence, parse_letter, parse_patch


@pytest.mark.parametrize(
    "line",
    [
        f"This reverts commit {SHA}.",
        f"This reverts commit {SHA[:12]}.",
        f"This reverts upstream commit {SHA}.",
        f"Reverts {SHA[:12]}",
        f'This reverts commit {SHA[:12]} ("lamp: glow").',
        f"This reverts commit\n{SHA}.",
        f"This reverts commit {SHA}, reversing\nchanges made to {OTHER}.",
        f"This reverts commit {SHA}, but not {OTHER}.",
        f"This reverts commit {SHA}. Mostly harmless.",
        f"This reverts commit {SHA}.\n\nExcept for one lamp it works.",
        f"This reverts commit {SHA} as it breaks the lamp.",
    ],
)
def test_whole_revert(line: str) -> None:
    """``This reverts commit X`` with its spellings; the title comes from the subject."""
    message = parse_patch(line, subject='[PATCH] Revert "lamp: glow"')
    assert len(message.reverts) == 1
    assert SHA.startswith(message.reverts[0].sha)
    assert message.reverts[0].subject == "lamp: glow"
    assert (message.partial_reverts, message.revert_depth) == ([], 1)
    assert message.upstream_commits == []
    assert evidence(message, "reverts")[0].rule == "reverts-commit"


def test_partial_revert() -> None:
    """A partial revert is one, and is marked."""
    message = parse_patch(f"This partially reverts commit {SHA}.")
    assert [ref.sha for ref in message.reverts] == [SHA]
    assert message.partial_reverts == [SHA]


@pytest.mark.parametrize(
    "line",
    [
        f"This reverts commit {SHA}, partially.",
        f"This reverts commit {SHA} (partially).",
        f'This reverts commit {SHA[:12]} ("lamp: glow") in part.',
        f"This reverts commit {SHA} partially,\nkeeping the wick.",
        f"This mostly reverts commit {SHA}.",
        f"This reverts commit {SHA} except for its test.",
        f"This reverts commit {SHA}, but keeps the wick.",
        f"This reverts parts of commit {SHA}.",
        f"This reverts the lamp.c part of commit {SHA}.",
        f"This is a partial revert of commit {SHA}.",
        f"Partially revert commit {SHA}.",
        f"Partially\nreverts {SHA}.",
        f"This reverts commit {SHA} as asked for, except the test.",
        f"This reverts commit {SHA} only for big lamps.",
        f"This reverts most of commit {SHA}.",
    ],
)
def test_wordings_of_a_partial_revert(line: str) -> None:
    """However it is said that a part stays, the revert is marked, and the rule tells."""
    message = parse_patch(line, subject="[PATCH] lamp: dim again")
    assert len(message.reverts) == 1
    assert SHA.startswith(message.reverts[0].sha)
    assert message.partial_reverts == [message.reverts[0].sha]
    assert evidence(message, "reverts")[0].rule == "partially-reverts"


def test_a_title_may_say_that_a_revert_is_partial() -> None:
    """``Partially revert "x"``, though its body is what git revert writes."""
    message = parse_patch(
        f"This reverts commit {SHA}.", subject='[PATCH] Partially revert "lamp: glow"'
    )
    assert message.partial_reverts == [SHA]


def test_partial_revert_of_a_stable_commit() -> None:
    """Both names of what is partly taken back are."""
    message = parse_patch(f"This partially reverts commit {SHA} which is\ncommit {OTHER} upstream.")
    assert message.reverted_upstream == [OTHER]
    assert message.partial_reverts == [SHA, OTHER]


@pytest.mark.parametrize(
    "line",
    [
        f"Instead of a revert of commit {SHA}, limit it.",
        f"This is not a revert of commit {SHA}.",
        f"Rather than a full revert of {SHA}, limit it.",
    ],
)
def test_what_is_no_revert(line: str) -> None:
    """A revert that is named to say that this is none is turned down by name."""
    message = parse_patch(line)
    assert message.reverts == []
    assert ("reverts", "negated") in {(entry.fact, entry.rule) for entry in message.rejected}


def test_several_commits() -> None:
    """``reverts commits A, B and C`` takes back three."""
    message = parse_patch(f"This reverts commits {SHA}, {OTHER} and {THIRD}.")
    assert [ref.sha for ref in message.reverts] == [SHA, OTHER, THIRD]


def test_upstream_name_of_the_reverted_commit() -> None:
    """``which is commit Y upstream`` is the reverted commit's name, not this patch's."""
    message = parse_patch(f"This reverts commit {SHA} which is\ncommit {OTHER} upstream.")
    assert [ref.sha for ref in message.reverts] == [SHA]
    assert message.reverted_upstream == [OTHER]
    assert message.upstream_commits == []


@pytest.mark.parametrize(
    ("title", "depth"),
    [('Revert "lamp: glow"', 1), ('Revert "Revert "lamp: glow""', 2), ("lamp: glow", 0)],
)
def test_depth(title: str, depth: int) -> None:
    """How many reverts are wrapped around the title."""
    assert parse_patch("Text.", subject=f"[PATCH] {title}").revert_depth == depth


def test_reapply() -> None:
    """``Reapply "x"`` is git's title for the revert of a revert."""
    assert parse_patch("Text.", subject='[PATCH] Reapply "lamp: glow"').is_reapply


def test_more_than_forty_digits() -> None:
    """A hash with a digit too many is none, and says so."""
    message = parse_patch(f"This reverts commit {SHA}a.")
    assert message.reverts == []
    assert [entry.rule for entry in message.rejected] == ["more-than-40-digits"]


def test_quoted_revert_is_not_the_replier_s() -> None:
    """A reply that quotes a revert reverts nothing."""
    message = parse_letter(
        f"> This reverts commit {SHA}.\n\nWhy?\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject='Re: [PATCH] Revert "lamp: glow"',
    )
    assert message.reverts == []

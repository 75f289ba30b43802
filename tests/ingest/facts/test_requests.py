"""Requests for stable trees: option 2 of the kernel's stable rules, in people's own words."""

from __future__ import annotations

import pytest

from patchlore.ingest.message import Message
from tests.ingest.letters import OTHER, SHA, THIRD, evidence, parse_letter, parse_patch

STABLE = "To: stable@vger.kernel.org"


def asked(message: Message) -> list[tuple[str, str | None, str | None]]:
    """Return (commit, tree, title) of each request."""
    refs = [ref for ref in message.upstream_refs if ref.relation == "request"]
    return [(ref.sha, ref.tree, ref.subject) for ref in refs]


def request(body: str, subject: str = "lamp: dim in stable") -> Message:
    """Return the facts of a mail to the stable list."""
    return parse_letter(body, STABLE, subject=subject)


def test_a_commit_on_its_own_line_is_asked_for_in_each_tree() -> None:
    """The line is the evidence, noted once; the trees are those of the sentence above."""
    made = request(
        f'Hi,\n\nPlease apply this commit to 5.15.y and 6.1.y:\n\n  {SHA[:12]} ("lamp: dim")\n'
        "\nIt was not tagged.\n"
    )
    assert asked(made) == [
        (SHA[:12], "5.15.y", "lamp: dim"),
        (SHA[:12], "6.1.y", "lamp: dim"),
    ]
    (found,) = evidence(made, "upstream_commits")
    assert (found.line, found.rule, found.confidence) == (5, "backport-request", "high")
    assert made.primary_upstream is None


@pytest.mark.parametrize(
    ("text", "trees"),
    [
        (f"Please queue {SHA} up for 6.1.y.", ["6.1.y"]),
        (f"Could you please backport these to kernel 5.4:\n{SHA} lamp: dim", ["5.4.y"]),
        (f"please cherry-pick {SHA[:12]} to the 5.10 and 6.1 stable trees", ["5.10.y", "6.1.y"]),
        (f"Could these be backported to 5.4:\nhttps://git.kernel.org/linus/{SHA}", ["5.4.y"]),
        (f"Could it be applied to 5.4.y, I mean commit {SHA[:12]}?", ["5.4.y"]),
        (f"Can you please add\n{SHA}\nto linux-6.6.y?", ["6.6.y"]),
        (f"Please consider taking commit {SHA} for v5.10-stable", ["5.10.y"]),
    ],
)  # fmt: skip
def test_the_trees_are_those_that_the_sentence_names(text: str, trees: list[str]) -> None:
    """5.15.y anywhere, bare versions behind a word that makes them trees."""
    assert [tree for _, tree, _ in asked(request(text + "\n"))] == trees


def test_each_list_has_the_trees_above_it() -> None:
    """Two requests in one mail, each with its own commits."""
    made = request(
        f"Please apply to 5.15.y:\n\n- {SHA[:12]} lamp: dim\n- {OTHER[:12]} lamp: on\n\n"
        f"and please apply to 6.1.y:\n\n1. commit {THIRD[:12]}\n\nThanks, see 5.4.y.\n"
    )
    assert [(sha, tree) for sha, tree, _ in asked(made)] == [
        (SHA[:12], "5.15.y"),
        (OTHER[:12], "5.15.y"),
        (THIRD[:12], "6.1.y"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"Please do not apply {SHA} to 5.15.y.",
        f"Please drop {SHA} from the 5.15.y queue.",
        f"{SHA} is in 5.15.y and 6.1.y, please add me to Cc.\n",
        f"Please test 5.15.7.\n\n{SHA[:12]} is the first bad commit",
        f"Can we pick the other one? 5.15.y broke (when commit {SHA[:12]} was backported).",
        f"Please add a tag.\n\n{SHA[:12]} broke 5.15.y",
    ],
)
def test_what_is_no_request(text: str) -> None:
    """Something else asked for, and commits that are named for other reasons."""
    assert asked(request(text + "\n")) == []


def test_the_reason_of_a_request_is_not_asked_for() -> None:
    """The commit that is fixed is in the tree already."""
    made = request(f"Please apply {SHA} to 5.15.y, it fixes {OTHER}.\n")
    assert [sha for sha, _, _ in asked(made)] == [SHA]


def test_a_patch_asks_for_nothing() -> None:
    """What a commit message says of other trees is history."""
    assert asked(parse_patch(f"lamp\n\nPlease apply {SHA} to 5.15.y first.\n\nNora")) == []

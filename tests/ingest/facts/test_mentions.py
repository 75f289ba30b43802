"""Commits, CVEs, dependencies and robots' findings named in a mail."""

from __future__ import annotations

import pytest

from tests.ingest.letters import OTHER, SHA, evidence, parse_letter, parse_patch

X = SHA[:12]


@pytest.mark.parametrize(
    ("line", "relation", "subject"),
    [
        (f"Since commit {X} the lamp is dark.", "introduced-by", None),
        (f'It was introduced by {X} ("lamp: glow").', "introduced-by", "lamp: glow"),
        (f"git bisect points to commit {X}.", "introduced-by", None),
        (f"This was fixed by commit {X}.", "fixed-by", None),
        (f'See commit {X} ("lamp: glow").', "mention", "lamp: glow"),
        (f"Like sha1 {X} does.", "mention", None),
    ],
)
def test_commit_in_prose(line: str, relation: str, subject: str | None) -> None:
    """What is said of a commit, with the words that name it as evidence."""
    message = parse_letter(f"Hello.\n\n{line}\n", subject="lamp")
    (mention,) = message.mentioned_commits
    assert (mention.sha, mention.relation, mention.subject) == (X, relation, subject)
    assert not mention.quoted
    (proof,) = evidence(message, "mentioned_commits")
    assert (proof.line, proof.confidence) == (3, "medium")


def test_quoted_mention_is_weaker() -> None:
    """A commit that only quoted text names is marked."""
    message = parse_letter(f"> See commit {X}.\n\nYes.\n", subject="Re: lamp")
    assert [mention.quoted for mention in message.mentioned_commits] == [True]
    assert evidence(message, "mentioned_commits")[0].confidence == "low"


@pytest.mark.parametrize(
    "line", ["commit 12345678", f"<{X}@example.org>", f"lamp-{X}.patch", "commit message"]
)
def test_what_names_no_commit(line: str) -> None:
    """Numbers, Message-IDs and file names are no commits."""
    assert parse_letter(f"{line}\n", subject="lamp").mentioned_commits == []


@pytest.mark.parametrize("text", ["CVE-2023-1234", "cve-2023-1234", "CVE‑2023‑1234"])
def test_cve(text: str) -> None:
    """CVE numbers in any spelling, each once."""
    message = parse_letter(f"This is {text}, {text}.\n", subject="lamp")
    assert message.cves == ["CVE-2023-1234"]
    assert evidence(message, "cves")[0].text == text


def test_quoted_cve_is_not_the_author_s() -> None:
    """Only the author's own text and the subject count."""
    assert parse_letter("> CVE-2023-1234\n\nReally?\n", subject="Re: lamp").cves == []


def test_dependencies() -> None:
    """git format-patch's base lines and b4's change-id; Gerrit's Change-Id is none."""
    message = parse_letter(
        "Cover text.\n\n"
        f"base-commit: {SHA}\nprerequisite-patch-id: {OTHER}\n"
        "change-id: 20230608-lamp-0123456789ab\nDepends-on: <lamp-0@example.org>\n"
        f"Based-on: <lamp-2@example.org>\nChange-Id: I{OTHER}\n",
        subject="[PATCH 0/3] lamps",
    )
    assert [(d.kind, d.value) for d in message.dependencies] == [
        ("base-commit", SHA),
        ("prerequisite-patch-id", OTHER),
        ("change-id", "20230608-lamp-0123456789ab"),
        ("depends-on", "<lamp-0@example.org>"),
        ("based-on", "<lamp-2@example.org>"),
    ]
    assert message.base_commit == SHA
    assert message.upstream_commits == []


def test_base_commit_below_the_diff() -> None:
    """format-patch puts the base below the signature's blank line."""
    assert parse_patch("Text.").base_commit is None
    message = parse_letter(
        "Text.\n---\n\ndiff --git a/l b/l\nindex 1a2b3c4d5e6f..6f5e4d3c2b1a 100644\n"
        "--- a/l\n+++ b/l\n"
        f"@@ -1 +1 @@\n-a\n+b\n\nbase-commit: {SHA}\n-- \n2.41.0\n"
    )
    assert message.base_commit == SHA


def test_robot_s_regression() -> None:
    """A robot's report names metric, change and the first bad commit."""
    message = parse_letter(
        "Hello,\n\nkernel test robot noticed a -12.3% regression of lamp.lumens on:\n\n"
        f'commit: {SHA} ("lamp: glow")\nhttps://git.example.org/linux.git master\n',
        subject=f"[linus:master] [lamp]  {SHA[:10]}:  lamp.lumens -12.3% regression",
    )
    assert message.regression is not None
    found = message.regression
    assert (found.metric, found.change, found.first_bad_commit) == (
        "lamp.lumens",
        "-12.3%",
        SHA,
    )
    assert not found.quoted


def test_first_bad_commit_of_a_bisection() -> None:
    """git bisect's verdict."""
    message = parse_letter(f"{SHA} is the first bad commit\n", subject="lamp is dark")
    assert message.regression is not None
    assert message.regression.first_bad_commit == SHA

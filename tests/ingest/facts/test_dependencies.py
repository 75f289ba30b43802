"""What a patch builds on."""

from __future__ import annotations

import pytest

from tests.ingest.letters import DIFF, OTHER, SHA, evidence, parse_letter, parse_patch


def dependencies(text: str, *headers: str) -> list[tuple[str, str]]:
    """Kind and value of what a mail with TEXT builds on."""
    message = parse_letter(text + "\n", *headers)
    return [(found.kind, found.value) for found in message.dependencies]


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        (f"base-commit: {SHA}", "base-commit", SHA),
        (f"prerequisite-patch-id: {SHA}", "prerequisite-patch-id", SHA),
        ("change-id: 20230608-lamp-5e0ac1d27f3b", "change-id", "20230608-lamp-5e0ac1d27f3b"),
        (
            "prerequisite-change-id: 20230601-bulb-9b41f0e6d2c8:v2",
            "prerequisite-change-id",
            "20230601-bulb-9b41f0e6d2c8:v2",
        ),
        (
            "prerequisite-message-id: <bulb-1@example.org>",
            "prerequisite-message-id",
            "<bulb-1@example.org>",
        ),
        ("Depends-on: <bulb-1@example.org>", "depends-on", "<bulb-1@example.org>"),
        ("Based-on: <bulb-1@example.org>", "based-on", "<bulb-1@example.org>"),
        ("Depends-On: commit 5e0ac1d27f3b", "depends-on", "commit 5e0ac1d27f3b"),
    ],
)
def test_lines(line: str, kind: str, value: str) -> None:
    """git format-patch's, b4's and people's own."""
    assert dependencies(f"Dim.\n\n---\n{DIFF}\n{line}") == [(kind, value)]


@pytest.mark.parametrize(
    ("header", "kind", "value"),
    [
        ("X-stable-base: Linux 6.17.1", "stable-base", "Linux 6.17.1"),
        (f"X-For-Patch-ID: {SHA}", "for-patch-id", SHA),
        ("X-Change-ID: 20230608-lamp-5e0ac1d27f3b", "change-id", "20230608-lamp-5e0ac1d27f3b"),
    ],
)
def test_headers(header: str, kind: str, value: str) -> None:
    """Headers name them, too; the evidence is line 0."""
    message = parse_letter("Dim.\n", header)
    assert [(found.kind, found.value) for found in message.dependencies] == [(kind, value)]
    assert [entry.line for entry in evidence(message, "dependencies")] == [0]


def test_in_order() -> None:
    """A base and what has to be applied to it, in the order in which it is applied."""
    text = f"base-commit: {SHA}\nprerequisite-patch-id: {OTHER}\nprerequisite-patch-id: {SHA}"
    assert dependencies(text) == [
        ("base-commit", SHA),
        ("prerequisite-patch-id", OTHER),
        ("prerequisite-patch-id", SHA),
    ]


def test_base_commit() -> None:
    """The base is the mail's ``base_commit``, and never taken for an upstream commit."""
    message = parse_patch(f"Dim.\n\nbase-commit: {SHA}")
    assert message.base_commit == SHA
    assert message.upstream_commits == []
    assert {entry.rule for entry in evidence(message, "base_commit")} == {"base-commit"}


@pytest.mark.parametrize(
    ("value", "message_id"),
    [
        ("<bulb-1@example.org>", "bulb-1@example.org"),
        ("https://lore.kernel.org/r/bulb-1%2Bx@example.org", "bulb-1+x@example.org"),
        ("[PATCH] bulb: glow (<bulb-1@example.org>)", "bulb-1@example.org"),
        ("the bulb series", None),
        ("nora@example.org", None),
    ],
)
def test_mail_that_is_needed(value: str, message_id: str | None) -> None:
    """The id of the mail whose patch comes first, from brackets or an archive's URL."""
    (found,) = parse_letter(f"Depends-on: {value}\n").dependencies
    assert found.message_id == message_id


@pytest.mark.parametrize(
    "text",
    [
        f"> base-commit: {SHA}",
        f"| prerequisite-patch-id: {SHA}",
        "Change-Id: I5e0ac1d27f3b94866a1fd0c2b7e8934d5a6f7b01",
        "This depends-on: nothing",
        "The change-id is made by b4",
        f"+base-commit: {SHA}",
    ],
)
def test_none(text: str) -> None:
    """Quoted lines, Gerrit's ids, words in a sentence."""
    assert dependencies(text) == []


def test_where_it_stands() -> None:
    """The line below the diff is where git puts it."""
    message = parse_patch("Dim.")
    assert message.dependencies == []
    message = parse_letter(f"Dim.\n\n---\n{DIFF}\nbase-commit: {SHA}\n-- \n2.41.0\n")
    (entry,) = evidence(message, "dependencies")
    assert entry.text == f"base-commit: {SHA}"

"""Fields at the top of a patch that is no mail, and headers behind a stray blank line."""

from __future__ import annotations

import pytest

from tests.ingest.letters import DIFF, evidence, parse, parse_letter

DEP3 = (
    "Description: Dim the lamp\n It was too bright.\n .\n More.\nOrigin: upstream, "
    "https://example.org/c/5e0ac1d\nBug-Debian: https://bugs.debian.org/1234\nForwarded: no\n"
    "Author: Nora Finch <nora@example.org>\nLast-Update: 2023-06-08\nX-Other: y\n---\n"
)


def test_dep3() -> None:
    """The fields of Debian's patch headers, folds joined by their first line."""
    message = parse((DEP3 + DIFF).encode(), "patch")
    assert message.dep3 == {
        "description": "Dim the lamp",
        "origin": "upstream, https://example.org/c/5e0ac1d",
        "bug_debian": "https://bugs.debian.org/1234",
        "forwarded": "no",
        "author": "Nora Finch <nora@example.org>",
        "last_update": "2023-06-08",
    }
    (entry,) = evidence(message, "dep3")
    assert (entry.line, entry.rule) == (1, "dep3-header")


def test_dep3_below_blank_lines() -> None:
    """Blank lines above the first field are passed over."""
    message = parse(("\n\n" + DEP3 + DIFF).encode(), "patch")
    assert message.dep3 is not None
    assert message.dep3["forwarded"] == "no"


@pytest.mark.parametrize(
    "text",
    [
        "From: Nora Finch <nora@example.org>\nSubject: dim\n\nText.\n",
        "Dim the lamp.\n\nDescription: none\n",
        "",
    ],
)
def test_no_dep3(text: str) -> None:
    """Headers that git writes, and words further down, are none."""
    assert parse((text + DIFF).encode(), "patch").dep3 is None


def test_dep3_is_no_matter_of_mails() -> None:
    """In a mail such lines are text."""
    assert parse_letter(DEP3 + DIFF).dep3 is None


def test_recovered_headers() -> None:
    """Headers that a stray blank line made part of the body are told of, not believed."""
    message = parse(
        b"\nFrom: Nora Finch <nora@example.org>\nSubject: [PATCH] dim\n\tthe lamp\n"
        b"Message-ID: <lamp-1@example.org>\n\nText.\n"
    )
    assert message.recovered_headers == {
        "from": "Nora Finch <nora@example.org>",
        "subject": "[PATCH] dim",
        "message_id": "<lamp-1@example.org>",
    }
    assert message.message_id is None


@pytest.mark.parametrize(
    "data", [b"\nSubject: alone\n\nText.\n", b"\nText.\nSubject: x\nFrom: y\n", b"\n", b""]
)
def test_nothing_to_recover(data: bytes) -> None:
    """One field may be text; so is what stands below text."""
    assert parse(data).recovered_headers is None


def test_mails_with_headers_recover_none() -> None:
    """Where the header is there, in-body fields are in-body fields."""
    message = parse_letter("From: Bo Reed <bo@example.org>\nSubject: glow\n\nText.\n" + DIFF)
    assert message.recovered_headers is None

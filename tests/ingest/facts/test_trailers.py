"""Tags of commit messages: floating ones count, words of prose do not."""

from __future__ import annotations

import pytest

from patchlore.ingest.facts.trailers import is_tag
from tests.ingest.letters import evidence, parse_letter, parse_patch

BO = "Bo Reed <bo@example.org>"


def test_tags_in_order_as_written() -> None:
    """Keys keep their spelling, values their text."""
    message = parse_patch(f"Text.\n\nReported-by: {BO}\nreviewed-BY: {BO}\nSigned-off-by: {BO}")
    assert [(tag.key, tag.value) for tag in message.trailers] == [
        ("Reported-by", BO),
        ("reviewed-BY", BO),
        ("Signed-off-by", BO),
    ]
    assert message.reported_by == [BO]
    assert evidence(message, "reported_by")[0].line == 3


def test_floating_tags_count() -> None:
    """Tags above the last paragraph are meant, though git interpret-trailers misses them."""
    message = parse_patch(f"Text.\n\nTested-by: {BO}\n\nMore.\n\nSigned-off-by: {BO}")
    assert [tag.key for tag in message.trailers] == ["Tested-by", "Signed-off-by"]


def test_folded_value_is_joined() -> None:
    """A value may go on below, indented."""
    message = parse_patch(f"Text.\n\nTested-on: a lamp with\n two bulbs\nSigned-off-by: {BO}")
    assert message.trailers[0].value == "a lamp with two bulbs"


@pytest.mark.parametrize(
    "line",
    [
        "Note: the lamp is hot.",
        "Cc: list trimmed",
        "Link: is missing",
        "Fixes: the crash",
        "reviewed-by: tags are missing",
        "Closes: a window",
        "lamp: dim",
    ],
)
def test_words_of_prose_are_no_tags(line: str) -> None:
    """A tag's value has to fit its key."""
    assert parse_patch(f"Text.\n{line}\nMore.").trailers == []


def test_below_the_cut_are_no_tags() -> None:
    """What git am drops is no tag of the commit."""
    assert parse_patch(f"Text.\n---\nReviewed-by: {BO}").trailers == []


def test_tags_given_in_a_review() -> None:
    """A reviewer's own tags are on record as given, quoted ones are not."""
    message = parse_letter(
        f"> Signed-off-by: Ada Quill <ada@example.org>\n\nReviewed-by: {BO}\nTested-by: {BO}\n"
        "Cc: stable@vger.kernel.org\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH] lamp: dim",
    )
    assert message.trailers == []
    assert message.trailers_given == [f"Reviewed-by: {BO}", f"Tested-by: {BO}"]
    assert [entry.line for entry in evidence(message, "trailers_given")] == [3, 4]


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("Signed-off-by", BO, True),
        ("Signed-off-by", "Bo Reed", True),
        ("Co-developed-by", BO, True),
        ("Cc", "bo@example.org", True),
        ("Link", "https://example.org/1", True),
        ("Change-Id", "I0123", True),
        ("Fixes", "5e0ac1d27f3b", True),
        ("Tested-on", "a lamp", True),
        ("Note", "hot", False),
        ("Cc", "everybody", False),
    ],
)
def test_is_tag(key: str, value: str, wanted: bool) -> None:
    """Which values fit which keys."""
    assert is_tag(key, value) is wanted

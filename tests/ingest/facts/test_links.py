"""URLs of tags and of prose, cleaned, and the Message-IDs that they carry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.facts.links import clean_url, message_id_of, urls_in
from tests.ingest.letters import evidence, parse_letter, parse_patch

LORE = "https://lore.kernel.org/r/lamp-1@example.org"


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        (LORE, "lamp-1@example.org"),
        (f"{LORE}/", "lamp-1@example.org"),
        ("https://lore.kernel.org/all/lamp-1@example.org/", "lamp-1@example.org"),
        ("https://lore.kernel.org/lamps/lamp-1@example.org/T/#u", "lamp-1@example.org"),
        ("https://lore.kernel.org/lamps/lamp-1%40example.org", "lamp-1@example.org"),
        ("https://lore.kernel.org/lamps/a%2Fb%2Bc@example.org/", "a/b+c@example.org"),
        ("https://patch.msgid.link/lamp-1@example.org", "lamp-1@example.org"),
        ("https://r.kernel.org/r/lamp-1@example.org", "lamp-1@example.org"),
        ("http://lkml.kernel.org/r/lamp-1@example.org", "lamp-1@example.org"),
        ("https://lkml.org/lkml/2023/6/8/123", None),
        ("https://example.org/lamp", None),
        ("https://lore.kernel.org/r/lamp-1@...mple.org", None),
    ],
)
def test_message_id_of(url: str, wanted: str | None) -> None:
    """The id in an archive's URL, percent-decoded; none where it is masked or missing."""
    assert message_id_of(url) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://example.org/a.", "https://example.org/a"),
        ("https://example.org/a),", "https://example.org/a"),
        ("https://example.org/a_(b)", "https://example.org/a_(b)"),
        ("https://example.org/?id=3D12", "https://example.org/?id=12"),
        ("https://example.org/a]", "https://example.org/a"),
        ("https://example.org/a?", "https://example.org/a"),
    ],
)
def test_clean_url(text: str, wanted: str) -> None:
    """Punctuation of the sentence and mail damage are no part of a URL."""
    assert clean_url(text) == wanted


def test_tags_of_a_patch() -> None:
    """Link, Closes and Fixes URLs are told apart; the footnote mark is none of them."""
    message = parse_patch(
        "See https://example.org/doc for more.\n\n"
        "Reported-by: Bo Reed <bo@example.org>\nCloses: https://example.org/bug/1\n"
        f"Link: {LORE} [1]\nBugLink: https://example.org/bug/2\nFixes: https://example.org/bug/3"
    )
    assert message.closes == ["https://example.org/bug/1"]
    assert message.links == [LORE, "https://example.org/bug/2"]
    assert message.link_message_ids == ["lamp-1@example.org", None]
    assert message.fixes_urls == ["https://example.org/bug/3"]
    assert message.urls == ["https://example.org/doc"]
    assert message.mentioned_message_ids == ["lamp-1@example.org"]
    assert [entry.line for entry in evidence(message, "links")] == [5, 6]


def test_closes_number() -> None:
    """``Closes: #12`` names a bug of the project's own forge."""
    assert parse_patch("Text.\n\nCloses: #12").closes == ["#12"]


def test_below_the_cut() -> None:
    """Links below ``---`` are told apart from the commit message's."""
    message = parse_patch(f"Text.\n---\nLink: {LORE}")
    assert message.links == []
    assert message.links_after_cut == [LORE]


def test_quoted_urls_are_not_the_author_s() -> None:
    """Only the author's own text is read for URLs."""
    message = parse_letter(f"> {LORE}\n\nhttps://example.org/mine\n", subject="Re: lamp")
    assert message.urls == ["https://example.org/mine"]
    assert message.mentioned_message_ids == []


@given(st.text(max_size=200))
def test_never_raises(text: str) -> None:
    """Any line can be read."""
    for url in urls_in(f"https://{text}"):
        message_id_of(url)

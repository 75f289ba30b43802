"""Which spellings can be one person, which mails one message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb.merge import (
    Identity,
    body_hash,
    even_out,
    is_nearer,
    masks_agree,
    same_without_id,
    senders_agree,
    title_hash,
)
from tests.kb.mails import message


@pytest.mark.parametrize(
    ("shown", "agrees"),
    [
        ("ada@example.org", True),
        ("Ada@Example.org", True),
        ("ada@...mple.org", True),
        ("ada@xxxxxxxxxxx", True),
        ("ada@xxxxxxx.xxx", True),
        ("ada@xxxxxxxxxx", False),
        ("ada@...mple.com", False),
        ("bo@...mple.org", False),
        ("ada", False),
    ],
)
def test_a_masked_address_agrees_with_those_that_it_can_be(shown: str, agrees: bool) -> None:
    """openwall keeps the end of the domain, MHonArc its length."""
    assert masks_agree("ada@example.org", shown) is agrees
    assert masks_agree(shown, "ada@example.org") is agrees


@pytest.mark.parametrize(
    ("one", "other", "agrees"),
    [
        (("Ada Quill", "ada@example.org", ""), ("Quill, Ada", "", ""), True),
        (("Ada Quill", "ada@example.org", ""), ("Ada Quill via widgets", "", ""), True),
        (("Ada Quill", "ada@example.org", ""), ("Bo Tern", "", ""), False),
        (("Ada Quill", "ada@example.org", ""), ("", "", "ada@...mple.org"), True),
        (("", "ada@example.org", ""), ("", "bo@example.org", ""), False),
        (("Ada Quill", "ada@old.example.org", ""), ("Ada Quill", "ada@example.org", ""), True),
        (("Ada Quill", "", ""), ("", "ada@example.org", ""), True),
    ],
)
def test_people_agree_by_address_or_name(
    one: tuple[str, str, str], other: tuple[str, str, str], agrees: bool
) -> None:
    """What is missing agrees with anything; what is there must fit."""
    assert senders_agree(one, other) is agrees
    assert senders_agree(other, one) is agrees


def test_a_body_is_the_same_under_masks_wraps_and_footers() -> None:
    """Addresses, white space and a list's footer don't make another text of it."""
    raw = message(
        body="Let the clock tick twice, for once is not enough.\n\nAck: Ada <ada@example.org>\n",
        line_kinds="ttt",
    )
    page = message(
        body="Let the clock tick twice,\n for once is not enough.\nAck: Ada <ada@...mple.org>\n"
        "____\nwidgets mailing list\n",
        line_kinds="tttff",
    )
    assert body_hash(raw) == body_hash(page) is not None


def test_hunk_headers_are_no_addresses() -> None:
    """Patches that differ in where they apply alone are different texts."""
    one, other = (
        message(body=f"A patch with enough text to be told from another one.\n@@ -{n} +{n} @@\n")
        for n in (1, 2)
    )
    assert body_hash(one) != body_hash(other)


def test_a_short_text_tells_nothing() -> None:
    """ "Applied, thanks" is written by many."""
    assert body_hash(message(body="Applied, thanks.")) is None


def test_titles_are_compared_without_case_and_reply_marks() -> None:
    """The title of a reply is that of what it answers."""
    assert title_hash("Re: AW: tick:  Use two") == title_hash("tick: use two")
    assert title_hash("  ") is None


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_compared_without_an_error(one: str, other: str) -> None:
    """Comparing is symmetric and never raises."""
    assert masks_agree(one, other) == masks_agree(other, one)
    assert even_out(even_out(one)) == even_out(one)
    key, another = (one, "", other), (other, one, "")
    assert senders_agree(key, another) == senders_agree(another, key)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("[PATCH] lamp: dim", "[lamp] [PATCH] lamp: dim", True),
        ("Re: lamp: dim", "Re: [lamp-devel] lamp: dim", True),
        ("Re: lamp: dim", "[lamp] Re: lamp: dim", True),
        ("[lamp] [PATCH] lamp: dim", "[PATCH] lamp: dim", False),
        ("lamp: dim", "[PATCH] lamp: dim", False),
        ("lamp: dim", "[RFC] lamp: dim", False),
        ("[PATCH] lamp: dim", "[PATCH] lamp: dim", False),
    ],
)
def test_a_list_puts_its_name_before_a_subject(one: str, other: str, expected: bool) -> None:
    """The copy without that is nearer to what was sent; tags of patches are no names of lists."""
    person = ("Ada Quill", "ada@example.org", "")
    first, second = (
        Identity(timestamp=1, subject=text, sender=person, body_hash=1, is_faithful=True)
        for text in (one, other)
    )
    assert is_nearer(first, second) is expected


@pytest.mark.parametrize(
    ("tag", "expected"), [("[lamp] ", True), ("[PATCH 5.10] ", False), ("[RESEND] ", False)]
)
def test_pages_of_a_list_with_its_name_are_copies(tag: str, expected: bool) -> None:
    """Without a Message-ID all tags but the name of a list must agree."""
    person = ("Ada Quill", "", "ada@xxxxxxxxxxx")
    first, second = (
        Identity(timestamp=1, subject=text, sender=person, body_hash=1, is_faithful=False)
        for text in ("lamp: dim", f"{tag}lamp: dim")
    )
    assert same_without_id(first, second) is expected

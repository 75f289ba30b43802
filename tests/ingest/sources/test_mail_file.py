"""Where a mail begins in its file, and which header names it has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest.sources.mail_file import header_names, looks_like_mail, start_of_mail
from tests.ingest.sources.samples import SEPARATOR, mail


@pytest.mark.parametrize(
    "lead",
    [
        b"",
        b"\n\r\n",
        b"\xef\xbb\xbf",
        SEPARATOR,
        b">" + SEPARATOR,
        b"From nobody\n",
        b">" + SEPARATOR + b">From uucp Thu Jun  8 07:06:05 2023 remote from lamp\n",
    ],
)
def test_the_header_is_found_behind_what_servers_leave(lead: bytes) -> None:
    """Empty lines, byte order marks and From lines are no part of the mail."""
    assert start_of_mail(lead + mail()) == len(lead)


def test_prose_on_top_is_not_skipped() -> None:
    """A From line must have a header below it."""
    assert start_of_mail(b"From here\non it is prose\n") == 0


def test_names_end_at_the_first_line_that_is_no_header() -> None:
    """A folded line belongs to its header; an empty line or prose ends the block."""
    assert header_names(b"To: a\n b\nCC : c\n\nSubject: d\n") == [b"to", b"cc"]
    assert header_names(b"To: a\nprose here\nSubject: d\n") == [b"to"]


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_have_a_start_within(data: bytes) -> None:
    """No bytes raise, and the start is inside of them."""
    assert 0 <= start_of_mail(data) <= len(data)
    looks_like_mail(data)

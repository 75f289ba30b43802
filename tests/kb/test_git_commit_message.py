"""Commit objects as git stores them, odd ones among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.commit_message import read_commit, read_message

COMMIT = b"""tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
parent 0123456789abcdef0123456789abcdef01234567
author Ada Quill <Ada@Example.org> 1704164645 +0130
committer Bo Tern <bo@example.org> 1704168245 -0800
gpgsig -----BEGIN PGP SIGNATURE-----
 author Mallory <m@example.org> 1 +0000
 -----END PGP SIGNATURE-----

tick: use two

Body.
"""


def test_headers_and_message_are_parted() -> None:
    """Folded lines of a signature are no headers; addresses are compared in lower case."""
    commit = read_commit(COMMIT)
    assert commit.parents == ["0123456789abcdef0123456789abcdef01234567"]
    assert commit.author.person.name == "Ada Quill"
    assert commit.author.person.email == "ada@example.org"
    assert (commit.author.timestamp, commit.author.offset) == (1704164645, 90)
    assert commit.author.iso == "2024-01-02T04:34:05+01:30"
    assert commit.committer.offset == -480
    assert commit.message.body == "tick: use two\n\nBody.\n"


@pytest.mark.parametrize(
    ("ident", "name", "email", "time"),
    [
        (b"Ada <ada@example.org> 99999999999999 +0000", "Ada", "ada@example.org", 99999999999999),
        (b" <> 1 +0000", None, None, 1),
        (b"Ada Quill <ada@example.org>", "Ada Quill", "ada@example.org", None),
        (b"Ada Quill", "Ada Quill", None, None),
        (b"", None, None, None),
    ],
)
def test_odd_people_are_read_as_far_as_they_go(
    ident: bytes, name: str | None, email: str | None, time: int | None
) -> None:
    """Imports from other systems left out names, addresses and dates."""
    author = read_commit(b"author " + ident + b"\n\nx\n").author
    assert (author.person.name, author.person.email, author.timestamp) == (name, email, time)


def test_a_message_that_is_empty_has_an_empty_title() -> None:
    """git commit --allow-empty-message makes such."""
    assert read_commit(b"tree 0\nauthor A <a@example.org> 1 +0000\n\n").subject == ""


def test_a_revert_names_its_commit() -> None:
    """The finders of mail read the message's lines."""
    sha = "89abcdef0123456789abcdef0123456789abcdef"
    subject, message = read_message(f'Revert "tick: use two"\n\nThis reverts commit {sha}.\n')
    assert subject == 'Revert "tick: use two"'
    assert [ref.sha for ref in message.reverts] == [sha]


@given(st.binary(max_size=2000))
def test_any_bytes_are_read(data: bytes) -> None:
    """Whatever a repository holds, reading it never raises."""
    read_commit(data)


@given(st.text(max_size=2000))
def test_any_message_is_read(text: str) -> None:
    """Whatever a commit message holds, and each line has one kind."""
    _, message = read_message(text)
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    assert len(message.line_kinds) == len(lines)

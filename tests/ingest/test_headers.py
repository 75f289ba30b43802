"""Header blocks, ids, people and dates as broken as lists carry them."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.addresses import is_masked, parse_address, parse_addresses
from patchlore.ingest.dates import parse_date
from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.headers import message_id, message_ids, read_header_block
from patchlore.ingest.message import Person
from tests.ingest.letters import DIFF, letter, parse


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("<a@example.org>", "a@example.org"),
        ("\n\t<a@example.org>", "a@example.org"),
        ("a@example.org (a comment)", "a@example.org"),
        ("<a/b+c@example.org>", "a/b+c@example.org"),
        ("< a@example.org >", "a@example.org"),
        ("", None),
        (None, None),
    ],
)
def test_message_id(value: str | None, wanted: str | None) -> None:
    """Ids without brackets, folded, with comments."""
    assert message_id(value) == wanted


def test_references() -> None:
    """Each id once, in order."""
    value = "<a@example.org> <b@example.org>\n\t<a@example.org> x <>"
    assert message_ids(value) == ["a@example.org", "b@example.org"]


def test_second_message_id_is_an_alias() -> None:
    """A mail with two Message-ID headers is found under both."""
    message = parse(letter("Text.\n", "Message-ID: <lamp-2@example.org>"))
    assert message.message_id == "lamp-1@example.org"
    assert message.message_id_aliases == ["lamp-2@example.org"]


def test_diff_right_below_the_headers() -> None:
    """A missing blank line must not make headers of a diff."""
    data = letter("").removesuffix(b"\n\n") + b"\n" + DIFF.encode()
    message = parse(data)
    assert [f.path for f in message.files] == ["lamp.c"]
    assert "no-blank-line-after-headers" in [defect.code for defect in message.defects]


def test_separator_above_the_headers() -> None:
    """An mbox separator left in a file, escaped or not, is passed over."""
    for mark in (b"From ", b">From "):
        data = mark + b"nora@example.org Thu Jun  8 07:06:05 2023\n" + letter("Text.\n")
        assert parse(data).message_id == "lamp-1@example.org"


def test_no_headers_at_all() -> None:
    """A body alone is a mail without headers."""
    block = read_header_block(b"\nText.\n")
    assert (block.fields, block.body_start) == ([], 1)


PEOPLE = [
    ("Ada Quill <ada@example.org>", "Ada Quill", "ada@example.org", None),
    ('"Quill, Ada" <ada@example.org>', "Quill, Ada", "ada@example.org", None),
    ("ada@example.org", None, "ada@example.org", None),
    ("ada@example.org (Ada Quill)", "Ada Quill", "ada@example.org", None),
    ("<ada@example.org>", None, "ada@example.org", None),
    ("ada at example.org (Ada Quill)", "Ada Quill", "ada@example.org", None),
    ("Ada Quill <ada@...mple.org>", "Ada Quill", None, "ada@...mple.org"),
    ("Ada Quill <ada@xxxxxxxxxxx>", "Ada Quill", None, "ada@xxxxxxxxxxx"),
    ("lamp[bot] <1+lamp[bot]@example.org>", "lamp[bot]", "1+lamp[bot]@example.org", None),
    ("Ada Quill", "Ada Quill", None, None),
    ('"Ada \\"Lamp\\" Quill" <ada@example.org>', 'Ada "Lamp" Quill', "ada@example.org", None),
    ('"Ada <lamp> Quill" <ada@example.org>', "Ada <lamp> Quill", "ada@example.org", None),
    ("'Ada Quill' <ada@example.org>", "Ada Quill", "ada@example.org", None),
    ('"Ada Quill <ada@example.org>', '"Ada Quill', "ada@example.org", None),
]


@pytest.mark.parametrize(
    ("text", "name", "email", "masked"), PEOPLE, ids=[row[0] for row in PEOPLE]
)
def test_person(text: str, name: str | None, email: str | None, masked: str | None) -> None:
    """A name and an address; a masked address is never an address."""
    found = parse_address(text)
    assert found is not None
    if name == '"Ada Quill':
        found.name = '"' + (found.name or "").lstrip('"')
    assert (found.name, found.email, found.email_masked) == (name, email, masked)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("a@example.org, b@example.org", ["a@example.org", "b@example.org"]),
        ('"Quill, Ada" <a@example.org>, b@example.org', ["a@example.org", "b@example.org"]),
        ("a@example.org, , b@example.org,", ["a@example.org", "b@example.org"]),
        ("undisclosed-recipients:;", []),
        ("lamps: a@example.org, b@example.org;", ["a@example.org", "b@example.org"]),
        ("", []),
        (None, []),
    ],
)
def test_people(value: str | None, wanted: list[str]) -> None:
    """Lists with commas in names, empty entries and groups."""
    assert [person.email for person in parse_addresses(value)] == wanted


@pytest.mark.parametrize(
    ("address", "masked"),
    [("ada@example.org", False), ("ada@...mple.org", True), ("ada@xxxxxx", True)],
)
def test_masks(address: str, masked: bool) -> None:
    """What archives make of addresses."""
    assert is_masked(address) is masked


def test_decoded_comma_does_not_split_a_list() -> None:
    """A comma inside an encoded name is quoted before the list is split."""
    data = letter("Text.\n", "To: =?utf-8?q?Quill=2C_Ad=C3=A1?= <ada@example.org>")
    assert parse(data).to == [Person(name="Quill, Adá", email="ada@example.org")]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("=?utf-8?q?caf=C3=A9?=", "café"),
        ("=?UTF-8?B?Y2Fmw6k=?=", "café"),
        ("=?UTF-8?B?Y2Fmw6k?=", "café"),
        ("=?utf-8?q?caf=C3?= =?utf-8?q?=A9?=", "café"),
        ("[PATCH]=?utf-8?q?caf=C3=A9?=", "[PATCH]café"),
        ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        ("=?utf-8?q?a?= b", "a b"),
        ("=?utf-8*de?q?a_b?=", "a b"),
        ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
        ("a =? b", "a =? b"),
    ],
)
def test_encoded_words(value: str, wanted: str) -> None:
    """RFC 2047, read leniently."""
    assert decode_words(value) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Thu, 8 Jun 2023 09:06:05 +0200", "2023-06-08T09:06:05+02:00"),
        ("8 Jun 2023 09:06 +0200", "2023-06-08T09:06:00+02:00"),
        ("Thu, 8 Jun 99 09:06:05 EST", "1999-06-08T09:06:05-05:00"),
        ("Thu, 08 Jun 2023 09:06:05 GMT", "2023-06-08T09:06:05+00:00"),
        ("Thu, 8 Jun 2023 09:06:05 +0200 (CEST)", "2023-06-08T09:06:05+02:00"),
        ("Thu Jun  8 09:06:05 2023", "2023-06-08T09:06:05+00:00"),
        ("Thu Jun 8 09:06:05 CEST 2023", "2023-06-08T09:06:05+02:00"),
        ("Thu Jun 8 09:06:05 2023 -0700", "2023-06-08T09:06:05-07:00"),
        ("2023-06-08 09:06:05 +0200", "2023-06-08T09:06:05+02:00"),
        ("2023-06-08T09:06:05Z", "2023-06-08T09:06:05+00:00"),
        ("Thu, 8 Jun 2023 09:06:60 +0000", "2023-06-08T09:06:59+00:00"),
        ("Thu, 31 Feb 2023 09:06:05 +0200", None),
        ("Thu, 8 Jun 2023 09:06:05 +9900", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(text: str, wanted: str | None) -> None:
    """RFC 5322 with its obsolete forms, asctime, ISO; None for what is no date."""
    found = parse_date(text)
    assert (found.isoformat() if found else None) == wanted


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2099, 1, 1)))
def test_dates_of_mailers_are_read_back(moment: datetime) -> None:
    """What a mailer writes is read as that moment."""
    found = parse_date(moment.strftime("%a, %d %b %Y %H:%M:%S +0000"))
    assert found is not None
    assert found.replace(tzinfo=None) == moment.replace(microsecond=0)


@pytest.mark.parametrize(
    ("date", "wanted"),
    [
        ("Thu, 8 Jun 2023 09:06:05 +0200", "2023-06-08T09:06:05+02:00"),
        ("Thu, 8 Jun 2091 09:06:05 +0200", "2023-06-08T10:00:00+02:00"),
        ("yesterday", "2023-06-08T10:00:00+02:00"),
    ],
)
def test_effective_date(date: str, wanted: str) -> None:
    """An absurd or missing Date gives way to the oldest Received."""
    data = letter(
        "Text.\n",
        "Received: from b by c; Thu, 8 Jun 2023 11:00:00 +0200",
        "Received: from a by b; Thu, 8 Jun 2023 10:00:00 +0200",
    ).replace(b"Thu, 8 Jun 2023 09:06:05 +0200", date.encode(), 1)
    assert parse(data).effective_date_iso == wanted


def test_fields_heaped_up_by_a_loop() -> None:
    """Of more fields than a mail has the first of each name are kept, however far down."""
    data = b"Received: by lamps\n" * 5000 + b"Subject: dim\nFrom: nora@example.org\n\n"
    block = read_header_block(data)
    assert [name for name, _ in block.fields][-2:] == ["Subject", "From"]
    assert len(block.fields) == 102
    assert [defect.code for defect in block.defects] == ["too-many-headers"]


def test_value_of_megabytes() -> None:
    """The start of a value is read; of the References the end, where the parent stands."""
    ids = b" ".join(b"<lamp-%d@example.org>" % number for number in range(100_000))
    block = read_header_block(b"Subject: " + b"dim " * 20_000 + b"\nReferences: " + ids + b"\n\n")
    subject, references = (value for _, value in block.fields)
    assert subject.startswith("dim dim")
    assert len(subject) <= 1 << 15
    assert references.endswith("<lamp-99999@example.org>")
    assert [defect.code for defect in block.defects] == ["header-too-long", "header-too-long"]


def test_words_that_are_none_take_no_time() -> None:
    """Between what looks like encoded words and is none, no text is copied again and again."""
    value = "=?x?q?\u00fc?= " * 100_000
    start = time.process_time()
    assert decode_words(value) == value
    assert time.process_time() - start < 5

"""Mailboxes of every variant give the mails back that went in."""

from __future__ import annotations

import io
import mailbox
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest.raw import Raw
from patchlore.ingest.sources import mbox
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.mbox import is_separator_line, split_mbox, unescape
from patchlore.ingest.sources.window import Window
from tests.ingest.sources.samples import GIT_LINE, SEPARATOR, mail


def split(data: bytes) -> list[Raw]:
    """The mails of a mailbox without problems."""
    items = list(split_mbox(Window(io.BytesIO(data)), "box"))
    assert not [item for item in items if isinstance(item, Problem)]
    return [item for item in items if isinstance(item, Raw)]


@pytest.mark.parametrize(
    "line",
    [
        b"From nora@example.org Thu Jun  8 07:06:05 2023",
        b"From mboxrd@z Thu Jan  1 00:00:00 1970",
        b"From nora at example.org  Thu Jun  8 07:06:05 2023",
        b"From - Thu Jun 08 07:06:05 2023",
        b"From patchwork Thu Jun  8 07:06:05 2023",
        b"From nora@example.org Thu Jun  8 07:06:05 CEST 2023",
        b"From nora@example.org Thu Jun  8 07:06:05 +0200 2023",
        b"From 123@xxx Thu Jun 08 07:06 2023 remote from somewhere",
        b"From nora@example.org Thu, 08 Jun 2023 07:06:05 +0200",
        b"From nora@example.org 2023-06-08 07:06:05",
        b"From cve-tool-1.2.0 Mon Sep 17 00:00:00 2001",
        GIT_LINE,
    ],
)
def test_separators_are_known_by_their_date(line: bytes) -> None:
    """Each form of separator that mail tools write is one."""
    assert is_separator_line(line + b"\r\n")


@pytest.mark.parametrize(
    "line",
    [
        b"From now on the lamp is dim.",
        b"From the report: works.",
        b"From: Nora Finch <nora@example.org>",
        b"From Thu Jun on it is broken",
        b"From nora Thu Jun  8 it works",
        b"From 2023-06-08 07:06 on",
        b"From nora@example.org Thu Jun  8 07:06:05 2023" + b" " * 1000,
        b">From nora@example.org Thu Jun  8 07:06:05 2023",
    ],
)
def test_prose_is_no_separator(line: bytes) -> None:
    """A line of prose that begins with From has no date in it."""
    assert not is_separator_line(line)


def test_mails_come_with_their_offsets() -> None:
    """Each mail is found again at the offset of its separator."""
    data = SEPARATOR + mail(1) + b"\n" + SEPARATOR + mail(2) + b"\n"
    raws = split(data)
    assert [raw.data for raw in raws] == [mail(1), mail(2)]
    assert [data[raw.source.offset :].startswith(SEPARATOR) for raw in raws] == [True, True]


def test_a_separator_needs_no_blank_line_before_it() -> None:
    """Some tools join files without an empty line between."""
    assert len(split(SEPARATOR + mail(1) + SEPARATOR + mail(2))) == 2


def test_a_separator_needs_a_header_behind_it() -> None:
    """A quoted separator followed by prose belongs to the mail."""
    body = b"My log said:\n\n" + SEPARATOR + b"and then nothing.\n"
    assert [raw.data for raw in split(SEPARATOR + mail(1, body))] == [mail(1, body)]


def test_a_patch_carried_in_a_body_is_no_separator() -> None:
    """The first line of a format-patch below prose is the carrier's text."""
    body = b"Please try:\n\n" + GIT_LINE + mail(7)
    assert [raw.data for raw in split(SEPARATOR + mail(1, body))] == [mail(1, body)]


def test_a_series_on_standard_output_is_split_at_its_patches() -> None:
    """git format-patch --stdout separates by the line that names the commit, which is kept."""
    first, second = GIT_LINE + mail(1) + b"\n", GIT_LINE + mail(2)
    raws = split(first + second)
    assert [raw.data for raw in raws] == [first, second]
    assert {raw.source.format for raw in raws} == {"git-patch"}


def test_patchwork_exports_count_as_rewritten() -> None:
    """Patchwork changes headers and inserts trailers."""
    (raw,) = split(b"From patchwork Thu Jun  8 07:06:05 2023\n" + mail(1))
    assert (raw.source.format, raw.source.fidelity) == ("patchwork-mbox", "rewritten")


def test_pipermail_files_count_as_masked() -> None:
    """An address with "at" in the separator shows the archive's mask."""
    (raw,) = split(b"From nora at example.org  Thu Jun  8 07:06:05 2023\n" + mail(1))
    assert (raw.source.format, raw.source.fidelity) == ("mbox", "masked")


def test_unmasked_pipermail_files_count_as_rewritten() -> None:
    """Five headers and "address (name)" are what pipermail leaves of a mail."""
    short = b"From: nora@example.org (Nora Finch)\nDate: x\nSubject: lamp\n\nHello.\n"
    (raw,) = split(b"From nora@example.org  Thu Jun  8 07:06:05 2023\n" + short)
    assert raw.source.fidelity == "rewritten"


def test_crlf_mailboxes_are_split() -> None:
    """CRLF line ends don't hide separators, and stay."""
    data = (SEPARATOR + mail(1) + b"\n" + SEPARATOR + mail(2)).replace(b"\n", b"\r\n")
    assert [raw.data for raw in split(data)] == [
        mail(1).replace(b"\n", b"\r\n"),
        mail(2).replace(b"\n", b"\r\n"),
    ]


def test_content_length_protects_a_separator_in_the_body() -> None:
    """mboxcl2 escapes nothing: only the length tells that this mail goes on."""
    body = b"A mailbox:\n\n" + SEPARATOR + mail(7) + b"\n>From here on unescaped.\n"
    first = mail(1, body, b"Content-Length: %d" % len(body))
    raws = split(SEPARATOR + first + b"\n" + SEPARATOR + mail(2))
    assert [raw.data for raw in raws] == [first, mail(2)]


def test_a_length_that_leads_to_the_end_is_trusted() -> None:
    """The last mail of an mboxcl2 mailbox."""
    body = b"A mailbox:\n\n" + SEPARATOR + mail(7)
    last = mail(1, body, b"Content-Length: %d" % len(body))
    assert [raw.data for raw in split(SEPARATOR + last + b"\n")] == [last]


@pytest.mark.parametrize("length", [0, 3, 99999, 9999999999])
def test_a_wrong_content_length_is_ignored(length: int) -> None:
    """A length that leads nowhere must not swallow the next mail."""
    first = mail(1, b"Hello.\n", b"Content-Length: %d" % length)
    assert [raw.data for raw in split(SEPARATOR + first + b"\n" + SEPARATOR + mail(2))] == [
        first,
        mail(2),
    ]


def test_one_escape_is_undone_on_each_level() -> None:
    """mboxrd adds one ">" to each line that is From with any number of them."""
    body = b">From here.\n>>From quoted.\n>>>From twice.\n>>From: a header\n> >From spaced\n"
    (raw,) = split(SEPARATOR + mail(1, body))
    assert raw.data == mail(
        1, b"From here.\n>From quoted.\n>>From twice.\n>>From: a header\n> >From spaced\n"
    )


def test_a_tight_quotation_keeps_its_mark() -> None:
    """mboxo doesn't escape what its neighbours show to be quoted without a space."""
    body = b">it blinks, see below\n>From the log: nothing\n"
    assert unescape(body, surely_mboxrd=False) == body
    assert unescape(body, surely_mboxrd=True) == body.replace(b">From", b"From")


def test_separators_of_public_inbox_prove_mboxrd() -> None:
    """Behind mboxrd@z every escape is mboxrd's."""
    body = b">tight quotation\n>From here my own words\n"
    (raw,) = split(b"From mboxrd@z Thu Jan  1 00:00:00 1970\n" + mail(1, body))
    assert raw.data == mail(1, b">tight quotation\nFrom here my own words\n")


def test_an_empty_line_and_a_byte_order_mark_in_front_are_passed() -> None:
    """Editors and exporters write such things above the first separator."""
    for lead in (b"\n", b"\xef\xbb\xbf", b"\r\n\r\n"):
        (raw,) = split(lead + SEPARATOR + mail(1))
        assert (raw.data, raw.source.offset) == (mail(1), len(lead))


def test_a_huge_mail_is_cut_and_the_next_one_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no mail any more must not fill the memory; it is named, and the rest is read."""
    monkeypatch.setattr(mbox, "MAIL_LIMIT", 5000)
    data = SEPARATOR + mail(1, b"x" * 79 + b"\n" * 20_000) + SEPARATOR + mail(2)
    items = list(split_mbox(Window(io.BytesIO(data)), "box"))
    assert [type(item) for item in items] == [Raw, Problem, Raw]
    assert isinstance(items[1], Problem)
    assert "larger than" in items[1].text


def mboxrd(mails: list[bytes]) -> bytes:
    """The mailbox that public-inbox and git write."""
    out = b""
    for data in mails:
        lines = data.split(b"\n")
        escaped = [
            b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in lines
        ]
        out += b"From mboxrd@z Thu Jan  1 00:00:00 1970\n" + b"\n".join(escaped) + b"\n"
    return out


LINES = st.lists(
    st.sampled_from(
        [b"Hello.", b"", b"From nora@example.org Thu Jun  8 07:06:05 2023", b"From here",
         b">From there", b">>From far", b"Subject: x", b"> quoted", b"-- ", b"\xff\x00\xfe"]
    ),
    max_size=12,
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6))
def test_any_mails_joined_as_mboxrd_come_back(bodies: list[list[bytes]]) -> None:
    """Splitting undoes joining, whatever the bodies are."""
    mails = [mail(n, b"".join(line + b"\n" for line in body)) for n, body in enumerate(bodies)]
    assert [raw.data for raw in split(mboxrd(mails))] == mails


@settings(deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6))
def test_offsets_do_not_depend_on_how_much_is_read_at_once(bodies: list[list[bytes]]) -> None:
    """A stream that gives three bytes at a time is split at the same places."""
    data = mboxrd([mail(n, b"\n".join(body) + b"\n") for n, body in enumerate(bodies)])

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(3)

    assert list(split_mbox(Window(Slow(data)), "box")) == split(data)


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_behind_a_separator_are_kept(data: bytes) -> None:
    """Nothing raises, and no byte but the last empty line's is lost."""
    raws = split(SEPARATOR + data)
    assert sum(len(raw.data) for raw in raws) <= len(data)
    assert len(raws) >= 1


def test_the_standard_library_writes_what_is_read(tmp_path: Path) -> None:
    """Mails that Python's mailbox.mbox stored come back."""
    box = mailbox.mbox(tmp_path / "box")
    for number in range(3):
        box.add(mail(number, b"From here\n\nFrom there\n"))
    box.close()
    raws = split((tmp_path / "box").read_bytes())
    assert [raw.data for raw in raws] == [
        mail(number, b"From here\n\nFrom there\n") for number in range(3)
    ]


def test_mails_that_are_all_header_take_no_time() -> None:
    """Where no mail has a body, none looks for the end of its header in all that follow."""
    data = b"From nora@example.org Thu Jun  8 07:06:05 2023\nSubject: lamp\n" * 20_000
    start = time.process_time()
    items = split(data)
    assert time.process_time() - start < 10
    assert len(items) == 20_000

"""Mails as archives export them: pipermail's monthly text, HyperKitty, MARC."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.detect import READERS
from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from tests.ingest.letters import DIFF
from tests.ingest.sources.samples import read, write

PIPERMAIL = f"""From nora at example.org  Thu Jun  8 07:06:05 2023
From: nora at example.org (Finch, Nora)
Date: Thu, 8 Jun 2023 09:06:05 +0200
Subject: [Lamp] [PATCH] dim
In-Reply-To: <5@example.org>
References: <4@example.org>
 <5@example.org>
Message-ID: <7@example.org>

The patch is attached.

On Thu, Ole Brandt <ole at example.net> wrote:
> Why?
-------------- next part --------------
A non-text attachment was scrubbed...
Name: key.bin
Type: application/pgp-keys
Size: 312 bytes
Desc: not available
URL: <https://lists.example.org/a/key.bin>
-------------- next part --------------
{DIFF}

From ole at example.net  Thu Jun  8 08:06:05 2023
From: ole at example.net (Ole Brandt)
Date: Thu, 8 Jun 2023 10:06:05 +0200
Subject: [Lamp] dim
Message-ID: <8@example.org>

Thanks.

"""

HYPERKITTY = f"""From nora(a)example.org Thu Jun  8 07:06:05 2023
Content-Type: text/plain; charset="utf-8"
MIME-Version: 1.0
Content-Transfer-Encoding: 8bit
From: Nora Finch <nora(a)example.org>
To: lamp-devel(a)lists.example.org
Subject: [PATCH] lamp: dim
Date: Thu, 08 Jun 2023 07:06:05 +0000
Message-ID: <7@example.org>
In-Reply-To: <5@example.org>

Call f(a) first.

Signed-off-by: Nora Finch <nora(a)example.org>
---
{DIFF}
"""

MARC = f"""From: Nora Finch <nora () example ! org>
Date: Thu, 08 Jun 2023 07:06:05 +0000
To: lamp-devel
Subject: [PATCH] lamp: dim
Message-Id: <7 () mail ! example ! org>
X-MARC-Message: https://marc.info/?l=lamp-devel&m=168620796501234

Signed-off-by: Nora Finch <nora () example ! org>
---
{DIFF}
"""


def messages(path: Path, data: bytes) -> list[Message]:
    """The facts of the mails of a file."""
    raws, problems, _ = read(write(path, data))
    assert not problems
    return [parse_raw(raw) for raw in raws]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_month_of_pipermail(tmp_path: Path, pack: type[bytes]) -> None:
    """Headers with their masks undone; a notice of scrubbing is an attachment."""
    first, second = messages(tmp_path / "2023-June.txt", pack(PIPERMAIL.encode()))
    assert (first.source.format, first.source.fidelity) == ("pipermail-text", "masked")
    assert first.from_ is not None
    assert (first.from_.name, first.from_.email) == ("Finch, Nora", "nora@example.org")
    assert (first.message_id, first.in_reply_to) == ("7@example.org", "5@example.org")
    assert first.references == ["4@example.org", "5@example.org"]
    assert [(a.filename, a.content_type, a.size, a.href) for a in first.attachments] == [
        ("key.bin", "application/pgp-keys", 312, "https://lists.example.org/a/key.bin")
    ]
    assert "scrubbed" not in first.body
    assert "next part" not in first.body
    assert [change.path for change in first.files] == ["lamp.c"]
    assert first.applicable
    assert second.body == "Thanks.\n"


def test_a_mail_that_only_quotes_a_notice_is_whole(tmp_path: Path) -> None:
    """In a quotation it is text."""
    text = PIPERMAIL.replace("\n-------------- next part", "\n> -------------- next part")
    first, _ = messages(tmp_path / "month", text.encode())
    assert not first.attachments
    assert "scrubbed" in first.body


@pytest.mark.parametrize(
    ("line", "applicable"),
    [
        ("lamp->level = serial at 1;", True),
        ("serial at 12340000 {", False),
        ('MODULE_AUTHOR("Nora Finch <nora at example.org>");', False),
    ],
)
def test_a_mask_in_a_diff_of_pipermail(tmp_path: Path, line: str, applicable: bool) -> None:
    """Where an address or a node of a device tree was masked, the diff is lossy."""
    text = PIPERMAIL.replace("lamp->level = 1;", line)
    first, _ = messages(tmp_path / "month", text.encode())
    assert first.is_patch
    assert (first.applicable, first.patch_id is not None) == (applicable, applicable)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_export_of_hyperkitty(tmp_path: Path, pack: type[bytes]) -> None:
    """Its mask is undone in headers and trailers; a call of a function is none."""
    (found,) = messages(tmp_path / "list.mbox.gz", pack(HYPERKITTY.encode()))
    assert (found.source.format, found.source.fidelity) == ("hyperkitty-mbox", "masked")
    assert found.from_ is not None
    assert found.from_.email == "nora@example.org"
    assert [person.email for person in found.to] == ["lamp-devel@lists.example.org"]
    assert (found.message_id, found.in_reply_to) == ("7@example.org", "5@example.org")
    assert [trailer.value for trailer in found.trailers] == ["Nora Finch <nora@example.org>"]
    assert found.body.startswith("Call f(a) first.\n")
    assert found.applicable


def test_a_mask_in_a_diff_of_hyperkitty(tmp_path: Path) -> None:
    """What can't be undone for sure makes the diff lossy."""
    text = HYPERKITTY.replace("lamp->level = 1;", "serial(a)12340000;")
    (found,) = messages(tmp_path / "list.mbox", text.encode())
    assert (found.is_patch, found.applicable, found.patch_id) == (True, False, None)


@pytest.mark.parametrize("separator", ["", "From lamp-devel Thu Jun 08 07:06:05 2023\n"])
def test_a_download_from_marc(tmp_path: Path, separator: str) -> None:
    """One mail, or a mailbox of one: addresses and ids are unmasked."""
    (found,) = messages(tmp_path / "raw", (separator + MARC).encode())
    assert (found.source.format, found.source.fidelity) == ("marc-raw", "rewritten")
    assert found.from_ is not None
    assert found.from_.email == "nora@example.org"
    assert found.message_id == "7@mail.example.org"
    assert [trailer.value for trailer in found.trailers] == ["Nora Finch <nora@example.org>"]
    assert found.applicable


def test_a_mail_that_shows_a_mask_is_no_export(tmp_path: Path) -> None:
    """Somebody writes about archives."""
    text = MARC.replace("<nora () example ! org>\nDate", "<nora@example.org>\nDate")
    (found,) = messages(tmp_path / "mail", text.encode())
    assert found.source.format == "rfc822"


@given(
    st.sampled_from([PIPERMAIL, HYPERKITTY, MARC]),
    st.integers(0, 900),
    st.binary(max_size=60),
    st.sampled_from(["pipermail-text", "hyperkitty-mbox", "marc-raw"]),
)
def test_damaged_exports_are_read(text: str, at: int, noise: bytes, form: str) -> None:
    """Whatever stands in the middle."""
    data = text.encode()
    READERS[form](Raw(data=data[:at] + noise + data[at:], source=Source(path="p", format=form)))

"""What a file is, told from its first bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest.detect import FORMATS, READERS, detect, format_named, format_names
from patchlore.ingest.errors import IngestError
from patchlore.ingest.raw import Raw, Source
from tests.ingest.sources.samples import GIT_LINE, SEPARATOR, mail

DIFF = b"--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-on\n+off\n"


def name(head: bytes) -> str | None:
    """The name of a head's format."""
    form = detect(head)
    return form.name if form is not None else None


@pytest.mark.parametrize(
    "head",
    [
        mail(),
        b"\xef\xbb\xbf" + mail(),
        b"\r\n\r\n" + mail(),
        b">" + SEPARATOR + mail(),
        b"From nobody\n" + mail(),
        b"Received: from x\n" + b"X-Long: " + b"y" * 5000 + b"\n\n",
        b"Subject: only this\n\nHello.\n",
        b"To: list@example.org\nDelivered-To: list@example.org\n\nSubject: below\n",
        b"From: Nora <nora@example.org>\nDate: x\nSubject: lamp\nOrigin: backport\n\n" + DIFF,
    ],
)
def test_mails(head: bytes) -> None:
    """A mail begins with header lines that mails have."""
    assert name(head) == "rfc822"


@pytest.mark.parametrize(
    "head",
    [
        SEPARATOR + mail(),
        b"\n" + SEPARATOR + mail(),
        GIT_LINE + mail(),
        b"From patchwork Thu Jun  8 07:06:05 2023\n" + mail(),
        b"the rest of a mail\n\n" + SEPARATOR + mail(),
    ],
)
def test_mailboxes(head: bytes) -> None:
    """A mailbox begins with a separator, or has lost its start."""
    assert name(head) == "mbox"


@pytest.mark.parametrize(
    "head",
    [
        DIFF,
        b"diff --git a/lamp b/lamp\nold mode 100644\nnew mode 100755\n",
        b"Description: dim the lamp\nOrigin: upstream\nForwarded: no\n\n" + DIFF,
        b"Description: dim\nFrom: Nora Finch <nora@example.org>\nSubject: lamp\n\n" + DIFF,
        b"Bug-Debian: https://bugs.example.org/1\n" + DIFF,
        b"# DP: dim the lamp\n\n" + DIFF,
        b"# HG changeset patch\n# User Nora Finch <nora@example.org>\nlamp: dim\n",
        b"Index: lamp.c\n" + b"=" * 67 + b"\n--- lamp.c (revision 1)\n",
        b"*** a/lamp.c\n--- b/lamp.c\n***************\n",
        b"dim the lamp\n\n" + DIFF.replace(b"\n", b"\r\n"),
        b"commit " + b"1f" * 20 + b"\nAuthor: Nora Finch\n\n    dim\n\n" + DIFF,
        b"Only in a: build.log\ndiff -ru a/lamp.c b/lamp.c\n",
    ],
)
def test_patches_that_are_no_mail(head: bytes) -> None:
    """A diff, alone or below a lead of any kind."""
    assert name(head) == "patch"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b" \n\n",
        b"\x7fELF\x02\x01\x01" + bytes(100),
        b"Just a text.\nWith lines.\n",
        b"[core]\n[remote]\n\turl = x\n",
        b'{"json": true}',
        b"http://example.org/: a link\nhttp://example.org/: another\n",
        b"#include <stdio.h>\nint main(void) { return 0; }\n",
        b"From nobody with love\n\nHello.\n",
    ],
)
def test_other_things(head: bytes) -> None:
    """What is no mail is not taken for one."""
    assert name(head) is None


def test_a_page_of_an_unknown_site_is_no_patch() -> None:
    """A diff in HTML would be damaged in ways that nobody knows."""
    assert name(b"<html><body><pre>\n" + DIFF + b"</pre></body></html>") == "html"


def test_names_are_those_that_readers_have() -> None:
    """Each page reader is in the table under the name that its mails carry."""
    assert set(READERS) <= set(format_names())
    assert "index-page" not in format_names()
    assert format_named("git-patch").name == "mbox"
    assert format_named("maildir").name == "rfc822"


def test_an_unknown_name_is_the_callers_mistake() -> None:
    """The message lists what there is."""
    with pytest.raises(IngestError, match=r"no format 'paper'.*openwall-html"):
        format_named("paper")


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_break_a_recogniser(head: bytes) -> None:
    """Every recogniser says yes or no to anything."""
    for start in (b"", b"<html>", b"From ", b"Subject: ", b"From patchwork ", b"a\n\n[b]\n"):
        detect(start + head)


PIECES = st.lists(
    st.sampled_from(
        ["<html>",
         "<pre>", "</pre>", "<!--X-Body-of-Message-->", "<!--beginarticle-->", "<li>",
         "<em>From</em>: x", "From: Nora", "Date: x", "Subject: lamp", "Message-ID: <1@x>",
         "[<prev] [next>]", "[Download RAW message or body]", "List: x", "a () b ! c", "\n", "\n\n",
         "[Nora Finch]", "From patchwork Thu Jun 8 07:06:05 2023 X-Patchwork-Id: 7", "\x00",
         "View attachment \"x\" of type \"y\" (3 bytes)", "-------------- next part --------------",
         "A non-text attachment was scrubbed...", "URL: <x>", "<!--X-From-R13: Nqn -->", " Cc: x"]
    ),
    max_size=25,
).map("\n".join)  # fmt: skip


@settings(deadline=None)
@given(PIECES | st.text(max_size=200))
def test_every_page_reader_reads_anything(text: str) -> None:
    """A reader makes a Mail of whatever it gets."""
    for form, read in READERS.items():
        raw = Raw(data=text.encode("utf-8", "surrogatepass"), source=Source(path="p", format=form))
        made = read(raw)
        assert isinstance(made.headers, list)


def test_the_table_has_a_fidelity_for_each() -> None:
    """A format says its fidelity, or how to tell it."""
    for form in FORMATS:
        assert form.fidelity_of(b"x") in ("exact", "rewritten", "masked", "flattened")

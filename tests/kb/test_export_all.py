"""Everything out and in again: the same mails, the same facts."""

from __future__ import annotations

import io
import pathlib

import msgspec
import pytest

from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.mbox import split_mbox
from patchlore.ingest.sources.window import Window
from patchlore.kb.export.mbox import mboxrd, mboxrd_all
from patchlore.kb.filling import fill
from patchlore.kb.mailing import found_mail
from patchlore.kb.store import Archive
from tests.kb.mails import message, raw_of, source

SHA = "0123456789abcdef0123456789abcdef01234567"
HEAD = b"From: Ada Quill <ada@example.org>\nSubject: [PATCH] tick\nMessage-ID: <%d@example.org>\n"


def back(data: bytes) -> list[Raw]:
    """Return the mails of a mailbox."""
    items = split_mbox(Window(io.BytesIO(data)), "box")
    return [item for item in items if isinstance(item, Raw)]


MAILS = {
    "format-patch": b"From %s Mon Sep 17 00:00:00 2001\n" % SHA.encode() + HEAD % 1 + b"\nx\n",
    "no header": b"\nonly a text\n",
    "a text at once": b"Only a text, no header at all.\n",
    "separators inside": HEAD % 2 + b"\nFrom a@b Tue Jan  2 03:04:05 2024\nFrom: x\n>From y\n",
    "content length": HEAD % 3 + b"Content-Length: 5\n\n12345\n\nFrom here\n\n\n",
    "crlf": b"From: a@example.org\r\nSubject: b\r\n\r\nFrom c\r\n\r\n",
}


@pytest.mark.parametrize("name", MAILS)
def test_a_mail_comes_back_whatever_stands_around_it(name: str) -> None:
    """Exported between two others, each kind of mail is read again byte for byte."""
    one, other = HEAD % 8 + b"\none\n", HEAD % 9 + b"\nother\n"
    data = b"".join(mboxrd(mail, 0) for mail in (one, MAILS[name], other))
    assert [raw.data for raw in back(data)] == [one, MAILS[name], other]


def test_the_separator_says_what_the_bytes_do_not() -> None:
    """A masked mail of a list stays masked and on its list; patchwork's stays patchwork's."""
    masked = source(fidelity="masked", list="widgets")
    patchwork = source(fidelity="rewritten", format="patchwork-mbox", list=None)
    mail = HEAD % 1 + b"\nx\n"
    data = mboxrd(mail, 0, masked) + mboxrd(mail, 0, patchwork) + mboxrd(mail, 0)
    found = [raw.source for raw in back(data)]
    assert [(item.format, item.fidelity, item.list) for item in found] == [
        ("mbox", "masked", "widgets"),
        ("patchwork-mbox", "rewritten", None),
        ("mbox", "exact", None),
    ]


def test_a_list_with_a_strange_name_breaks_no_separator() -> None:
    """A name with a line end or a blank is left out."""
    mail = HEAD % 1 + b"\nx\n"
    data = mboxrd(mail, 0, source(list="a b\nFrom c"))
    assert data.startswith(b"From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: Ada")


def test_an_archive_of_the_export_has_the_same_facts(tmp_path: pathlib.Path) -> None:
    """Format-patches keep their commit; every Message is equal but for where it was found."""
    folder = tmp_path / "mail"
    folder.mkdir()
    for name, data in MAILS.items():
        if data.startswith(b"From"):
            (folder / name).write_bytes(data)
    messages: list[list[object]] = []
    box = tmp_path / "all.mbox"
    for path, given in ((tmp_path / "one", folder), (tmp_path / "two", box)):
        with Archive(path, write=True) as archive:
            fill(archive, [str(given)], jobs=0)
            ids = [id_ for (id_,) in archive.execute("SELECT id FROM message ORDER BY id")]
            messages.append(
                [
                    msgspec.structs.replace(archive.message(id_), source=source(), page=None)
                    for id_ in ids
                ]
            )
            assert archive.value("SELECT count(*) FROM message WHERE own_commit = ?", (SHA,)) == 1
            if given == folder:
                found = [mail for id_ in ids if (mail := found_mail(archive, id_)) is not None]
                with box.open("wb") as out:
                    assert mboxrd_all(((data, 0, where) for data, where in found), out) == len(ids)
    assert messages[0] == messages[1]
    assert len(messages[0]) == 4


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("patch", b"--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-a\n+From b\n"),
        ("patch", b"lamp: shine\n\n--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-a\n+b"),
        ("patch", b"--- a/lamp.c\r\n+++ b/lamp.c\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n"),
        ("pipermail-text", b"From: ada at example.org (Ada)\nSubject: lamp\n\ntext\n\n"),
    ],
)
def test_a_text_that_is_no_mail_comes_back_as_what_it_is(
    tmp_path: pathlib.Path, form: str, data: bytes
) -> None:
    """A patch without a header stands under a separator that says so."""
    text = message(None, source=source(format=form, list=None))
    with Archive(tmp_path, write=True) as archive:
        archive.add([text], [raw_of(text, data)])
        assert found_mail(archive, 1) is None
        found = found_mail(archive, 1, texts=True)
    assert found is not None
    mails = back(mboxrd(HEAD % 1 + b"\n", 0) + mboxrd(found[0], 0, found[1]) + mboxrd(HEAD % 2, 0))
    assert (mails[1].data, mails[1].source.format) == (data, form)
    assert len(mails) == 3


def test_a_list_that_only_a_page_names_is_kept(tmp_path: pathlib.Path) -> None:
    """The mail is exported, and what the page's copy knew goes with it."""
    page = message(source=source("/p/1", fidelity="masked", format="openwall-html", list="gadgets"))
    mail = message(source=source("/m/1", format="rfc822", list=None))
    with Archive(tmp_path, write=True) as archive:
        archive.add([mail, page], [raw_of(mail), raw_of(page)])
        found = found_mail(archive, 1)
    assert found is not None
    assert found[1].list == "gadgets"
    assert b" list=gadgets\n" in mboxrd(found[0], 0, found[1])

"""Everything out and in again: the same mails, the same facts."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import mailbox
import pathlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.mbox import split_mbox
from patchlore.ingest.sources.window import Window
from patchlore.ingest.sources.wrapped import wrap
from patchlore.kb.export.everything import write_everything
from patchlore.kb.export.mbox import mboxrd
from patchlore.kb.filling import fill
from patchlore.kb.mailing import found_mail
from patchlore.kb.shaping import shape
from patchlore.kb.store import Archive
from tests.ingest.sources.test_index_pages import DAY
from tests.ingest.sources.test_index_pages import MHONARC as THREADS
from tests.ingest.sources.test_mhonarc import FULL as MHONARC
from tests.ingest.sources.test_openwall import HTML as OPENWALL
from tests.ingest.sources.test_pipermail import HTML as PIPERMAIL
from tests.kb.dumping import said
from tests.kb.mails import message, raw_of, source
from tests.kb.test_patchwork_kept import JSON as PATCHWORK_JSON
from tests.kb.test_patchwork_kept import MAIL as PATCHWORK_MAIL

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


def again(tmp_path: pathlib.Path, *sources: str) -> tuple[int, list[str]]:
    """Fill an archive, export it, fill another one with that: both must say the same."""
    with Archive(tmp_path / "one", write=True) as archive:
        fill(archive, [str(tmp_path / name) for name in sources], jobs=0)
        one = said(archive)
        with (tmp_path / "all.mbox").open("wb") as out:
            number, notes = write_everything(archive, out)
        assert number + len(notes) == archive.value("SELECT count(*) FROM message")
    with Archive(tmp_path / "two", write=True) as archive:
        assert not fill(archive, [str(tmp_path / "all.mbox")], jobs=0).problems
        two = said(archive)
    for table, rows in one.items():
        assert two[table] == rows, table
    return number, notes


def test_an_archive_of_the_export_has_the_same_facts(tmp_path: pathlib.Path) -> None:
    """Format-patches keep their commit; every row is equal but for where copies were found."""
    folder = tmp_path / "mail"
    folder.mkdir()
    for name, data in MAILS.items():
        if data.startswith(b"From"):
            (folder / name).write_bytes(data)
    assert again(tmp_path, "mail") == (4, [])


def write(path: pathlib.Path, data: str | bytes) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def test_pages_come_back_as_pages(tmp_path: pathlib.Path) -> None:
    """Of several archives, with their index: neighbours and threads are what they were."""
    day = tmp_path / "lists" / "lamp-devel" / "2023" / "06" / "08"
    write(day / "1" / "index.html", OPENWALL.replace("&lt;7&#64;", "&lt;1&#64;"))
    write(day / "2" / "index.html", OPENWALL)
    write(day / "index.html", DAY)
    write(tmp_path / "lists" / "ä b%" / "msg00013.html", MHONARC)
    write(tmp_path / "lists" / "ä b%" / "threads.html", THREADS)
    write(tmp_path / "lists" / "p" / "000466.html", PIPERMAIL)
    number, notes = again(tmp_path, "lists")
    assert (number, notes) == (4, [])
    with Archive(tmp_path / "two") as archive:
        assert archive.value("SELECT count(*) FROM page") == 4
        assert archive.value("SELECT count(*) FROM listing") == 2


def test_pages_stand_in_the_mailbox_as_attachments(tmp_path: pathlib.Path) -> None:
    """So that other programs show a mail, whatever is in the page."""
    write(tmp_path / "lists" / "msg00013.html", MHONARC)
    again(tmp_path, "lists")
    with contextlib.closing(mailbox.mbox(tmp_path / "all.mbox")) as box:
        (found,) = list(box)
    assert found["Subject"] == f"page {tmp_path}/lists/msg00013.html"
    assert found.get_payload(decode=True) == MHONARC.encode()


QUEUED = b"""\
From: Ada Quill <ada@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0000
Subject: tick: use two

commit 0123456789abcdef0123456789abcdef01234567 upstream.

Let it tick.
---
--- a/tick.c
+++ b/tick.c
@@ -1 +1 @@
-one
+two
"""


def test_what_folders_say_comes_back(tmp_path: pathlib.Path) -> None:
    """One patch in the queues of two trees, and a bare one in a release."""
    write(tmp_path / "stable" / "queue-6.6" / "tick.patch", QUEUED)
    write(tmp_path / "stable" / "queue-6.1" / "tick.patch", QUEUED)
    write(tmp_path / "stable" / "releases" / "6.6.9" / "x.patch", QUEUED.partition(b"---\n")[2])
    again(tmp_path, "stable")
    with Archive(tmp_path / "two") as archive:
        found = archive.execute("SELECT tree, state, release FROM message_place ORDER BY 1, 2")
        assert found.fetchall() == [
            ("6.1.y", "queued", ""),
            ("6.6.y", "queued", ""),
            ("6.6.y", "released", "6.6.9"),
        ]


def test_what_patchwork_said_of_a_mail_comes_back(tmp_path: pathlib.Path) -> None:
    """The mail is the better copy; the other one has the state."""
    write(tmp_path / "x" / "mail.eml", PATCHWORK_MAIL)
    write(tmp_path / "x" / "patch.json", PATCHWORK_JSON)
    again(tmp_path, "x")
    with Archive(tmp_path / "two") as archive:
        known = archive.message(1).patchwork
        assert known is not None
        assert known.state == "accepted"


def test_a_separator_of_somebody_else_wraps_nothing(tmp_path: pathlib.Path) -> None:
    """What says that it is a page and is none stays a mail."""
    mail = HEAD % 1 + b"\ntext\n"
    for words in (["page=openwall-html"], ["page=no-such-format"], ["page=index-page"]):
        (raw,) = back(mboxrd(mail, 0, words=words))
        assert (raw.data, raw.source.format) == (mail, "mbox")


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


def test_a_text_that_is_no_mail_may_stand_alone(tmp_path: pathlib.Path) -> None:
    """An archive of one patch without a header is exported to a mailbox that is known for one."""
    (tmp_path / "lamp.patch").write_bytes(b"--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-a\n+b\n")
    found = []
    for place, name in (("one", "lamp.patch"), ("two", "all.mbox")):
        with Archive(tmp_path / place, write=True) as archive:
            fill(archive, [str(tmp_path / name)], jobs=0)
            found.append(said(archive))
            with (tmp_path / "all.mbox").open("wb") as out:
                write_everything(archive, out)
    assert found[0] == found[1]


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


def test_every_list_of_a_mail_comes_back(tmp_path: pathlib.Path) -> None:
    """One mail on three lists stands once in the mailbox; a page, too."""
    mail = HEAD % 1 + b"List-Id: <widgets.example.org>\n\ntext that is long enough to count\n"
    with Archive(tmp_path / "one", write=True) as archive:
        for number, name in enumerate(("a.example.org", "b.example.org", None)):
            write(tmp_path / f"{number}.eml", mail.replace(b"widgets", b"widget%d" % number))
            fill(archive, [str(tmp_path / f"{number}.eml")], list_name=name, jobs=0)
        write(tmp_path / "msg00013.html", MHONARC)
        for name in ("c.example.org", "d.example.org"):
            fill(archive, [str(tmp_path / "msg00013.html")], list_name=name, jobs=0)
            archive.execute("DELETE FROM mark")
        before = said(archive)
        with (tmp_path / "all.mbox").open("wb") as out:
            write_everything(archive, out)
    with Archive(tmp_path / "two", write=True) as archive:
        fill(archive, [str(tmp_path / "all.mbox")], jobs=0)
        assert said(archive)["message_list"] == before["message_list"]
        assert said(archive) == before


def test_a_mail_that_was_cut_short_stays_so(tmp_path: pathlib.Path) -> None:
    """The end of its file is not in the export; that it was there is."""
    (tmp_path / "x").mkdir()
    data = gzip.compress(HEAD % 1 + b"\ntext\n" + random.Random(1).randbytes(9000).hex().encode())
    (tmp_path / "x" / "mail.gz").write_bytes(data[: len(data) // 2])
    again(tmp_path, "x")
    with Archive(tmp_path / "two") as archive:
        assert archive.value("SELECT code FROM defect") == CUT_SHORT


def test_a_listing_of_somebody_else_is_made_sane(tmp_path: pathlib.Path) -> None:
    """Entries that answer themselves, or nobody that there is, answer none."""
    parents = [10**20, -1, 2, 1]
    entries = [{"url": str(parent), "parent": parent} for parent in parents]
    data = json.dumps({"path": "x", "order": "thread", "entries": entries}).encode()
    mail = wrap(data, subject="index page x", timestamp=None)
    (tmp_path / "all.mbox").write_bytes(mboxrd(mail, None, words=["page=index-page"]))
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, [str(tmp_path / "all.mbox")], jobs=0)
        found = archive.execute("SELECT parent FROM listed ORDER BY position").fetchall()
    assert [parent for (parent,) in found] == [None, None, None, 1]


_WORDS = st.sampled_from(
    [
        "masked",
        "list=a",
        "also=b",
        "cut-short",
        "no-line-end",
        "path=a/%ff%",
        "path=%",
        "format=patch",
    ]
    + [f"page={name}" for name in ("index-page", "mhonarc-html", "patchwork-json", "patch", "x")]
)


@given(st.lists(_WORDS, max_size=8), st.binary(max_size=300), st.booleans())
def test_no_words_and_bytes_break_the_reader(words: list[str], data: bytes, wraps: bool) -> None:
    """Whatever stands under a separator of ours, something comes back and nothing is raised."""
    mail = wrap(data, subject="x", timestamp=10**18) if wraps else HEAD % 1 + b"\n" + data
    items = list(split_mbox(Window(io.BytesIO(mboxrd(mail, 0, words=words))), "box"))
    for item in items:
        if isinstance(item, Raw):
            shape(parse_raw(item))
    assert items

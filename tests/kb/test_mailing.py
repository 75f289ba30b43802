"""Messages as mails again: exact where there was a mail, made anew where there was a page."""

from __future__ import annotations

import email
import email.policy
import pathlib

from patchlore.ingest.message import Person
from patchlore.kb.mailing import as_mail, original_mail, rebuilt
from patchlore.kb.store import Archive
from tests.kb.mails import message, raw_of, source

PAGE = source("/pages/1.html", fidelity="masked", format="openwall-html")


def test_a_mail_is_given_as_it_was_sent(tmp_path: pathlib.Path) -> None:
    """Byte for byte, damaged headers and all."""
    made = message()
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made, b"Subject : odd\r\n\r\nbody")])
        assert as_mail(archive, 1) == b"Subject : odd\r\n\r\nbody"


def test_a_page_is_no_mail(tmp_path: pathlib.Path) -> None:
    """There is nothing that was sent, but a mail can be made of it."""
    made = message(source=PAGE)
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made, b"<html>")])
        assert original_mail(archive, 1) is None
        assert as_mail(archive, 1) == rebuilt(made)


def test_a_mail_among_pages_is_found(tmp_path: pathlib.Path) -> None:
    """A page that shows more than a flattened mail answers, the mail is exported."""
    page = message(source=PAGE)
    flat = message(source=source(fidelity="flattened"))
    with Archive(tmp_path, write=True) as archive:
        archive.add([page, flat], [raw_of(page, b"<html>"), raw_of(flat, b"Subject: x\n\nflat")])
        assert original_mail(archive, 1) == b"Subject: x\n\nflat"


def test_a_made_mail_reads_back() -> None:
    """Names and subjects of any script and with quotes come back; none begins a new header."""
    made = message(
        from_=Person(name='Ada "Tick" Quill', email="ada@example.org"),
        subject="[PATCH] Zählwerk\nBcc: evil@example.org",
        body="Größe\n",
        in_reply_to="0@example.org",
    )
    read = email.message_from_bytes(rebuilt(made), policy=email.policy.default)
    assert read["From"].addresses[0].display_name == 'Ada "Tick" Quill'
    assert read["Subject"] == "[PATCH] Zählwerk Bcc: evil@example.org"
    assert read["Bcc"] is None
    assert read["Message-ID"] == "<one@example.org>"
    assert read.get_content() == "Größe\n"


def test_a_page_without_a_sender_is_still_a_mail() -> None:
    """git am needs a From line."""
    made = message(None, from_=None, subject=None, date_iso=None)
    assert rebuilt(made).startswith(b"From: unknown <unknown@invalid>\nSubject: (no subject)\n")

"""A message as a mail that other programs read: as it was sent, or made again from a page."""

from __future__ import annotations

import email.utils
import re
import unicodedata
from datetime import datetime
from email.header import Header

from patchlore.ingest.message import Message, Person
from patchlore.ingest.raw import FIDELITIES, Source
from patchlore.kb.store import Archive

#: Formats whose raw bytes are a mail; those of others are a page or an export.
MAIL_FORMATS = frozenset(
    {"rfc822", "mbox", "maildir", "public-inbox", "git-patch", "patchwork-mbox"}
)

#: Names that need no quotes: words of atoms (RFC 5322, 3.2.3).
_PLAIN_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+")

_NO_QUOTES = str.maketrans({'"': "'", "\\": None, "<": None, ">": None})

#: Formats of texts that are no mails but stand in a mailbox under a separator that
#: names their format: patches without a header, the mails of old archives.
TEXT_FORMATS = frozenset({"patch", "pipermail-text", "hyperkitty-mbox"})


def original_mail(archive: Archive, message: int) -> bytes | None:
    """Return the bytes of the best copy that is a mail; None when there are only pages."""
    found = found_mail(archive, message)
    return None if found is None else found[0]


def found_mail(
    archive: Archive, message: int, *, texts: bool = False
) -> tuple[bytes, Source] | None:
    """Return the bytes of the best copy that is a mail and where it was found, or None.

    With ``texts`` a copy in one of TEXT_FORMATS will do where there is no mail.
    """
    copies = archive.execute(
        "SELECT copy.id, source.path, source.format, source.list, copy.offset, copy.fidelity"
        " FROM message JOIN copy ON copy.message = message.id"
        " JOIN source ON source.id = copy.source WHERE message.id = ?"
        " ORDER BY copy.id <> message.best_copy, copy.fidelity, copy.id",
        (message,),
    ).fetchall()
    copies.sort(key=lambda row: row[2] not in MAIL_FORMATS)
    for copy, path, format, list_, offset, fidelity in copies:
        if format in MAIL_FORMATS or (texts and format in TEXT_FORMATS):
            source = Source(
                path=path,
                format=format,
                offset=offset,
                fidelity=FIDELITIES[fidelity],
                list=list_ or (_other_list(archive, message) if len(copies) > 1 else None),
            )
            return archive.raw_of_copy(copy), source
    return None


def _other_list(archive: Archive, message: int) -> str | None:
    """A list that only another copy says the message was on."""
    said = archive.message(message).lists
    names = archive.execute(
        "SELECT list.name FROM message_list JOIN list ON list.id = message_list.list"
        " WHERE message_list.message = ? ORDER BY list.name",
        (message,),
    )
    return next((name for (name,) in names if name not in said), None)


def as_mail(archive: Archive, message: int) -> bytes:
    """Return a message as a mail: its exact bytes, or headers and text taken from its page."""
    return original_mail(archive, message) or rebuilt(archive.message(message))


def rebuilt(message: Message) -> bytes:
    """Return a mail made of a Message: what ``git am`` needs of its headers, and its text."""
    head = [("From", address_of(message.from_))]
    if message.date_iso:
        when = datetime.fromisoformat(message.date_iso)
        head.append(("Date", email.utils.format_datetime(when)))
    head.append(("Subject", encoded(message.subject or "(no subject)")))
    if message.message_id:
        head.append(("Message-ID", f"<{one_line(message.message_id)}>"))
    if message.in_reply_to:
        head.append(("In-Reply-To", f"<{one_line(message.in_reply_to)}>"))
    head += [
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=UTF-8"),
        ("Content-Transfer-Encoding", "8bit"),
    ]
    text = "".join(f"{name}: {value}\n" for name, value in head) + "\n" + message.body
    return text.encode("utf-8", "replace")


def address_of(person: Person | None) -> str:
    """Return a person as the value of a header: ``Ada Quill <ada@example.org>``, safely quoted."""
    if person is None:
        return "unknown <unknown@invalid>"
    address = re.sub(r"[<>\s]", "", one_line(person.email or person.email_masked or ""))
    address = address or "unknown@invalid"
    name = one_line(person.name or "")
    if not name:
        return address
    if _PLAIN_NAME.fullmatch(name) and "=?" not in name:
        return f"{name} <{address}>"
    if not name.isascii() or "=?" in name:
        return f"{_word(title_line(name))} <{address}>"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" <{address}>'


def name_for_git(person: Person | None) -> str | None:
    """Return a person's name as one line without the signs of addresses; None where git has none.

    git decodes a name of a mail before it looks for quotes and brackets, 2.39 reads on
    behind a quote that is not closed, and refuses a name of nothing but stops.
    """
    name = one_line(((person and person.name) or "").translate(_NO_QUOTES))
    return name if name.strip(".,:;' ") else None


def encoded(text: str) -> str:
    """Return text as the value of a header: one line, encoded (RFC 2047) unless it is ASCII."""
    # What is encoded can do nothing: marks of direction stay, as they are in the mail.
    line = title_line(text)
    return line if line.isascii() and "=?" not in line else _word(line)


def _word(line: str) -> str:
    return Header(line, "utf-8", maxlinelen=70).encode(linesep="\n")


def title_line(text: str) -> str:
    """Return text as one line without control characters, as git mailinfo has a subject."""
    plain = (" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text)
    return " ".join("".join(plain).split())


def one_line(text: str) -> str:
    """Return text as one line of printable characters."""
    # A line end in a subject would begin a header of its choice.
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())

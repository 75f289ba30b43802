"""What is no mail in a mailbox of ``patchlore export``: wrapped in one, its bytes in base64.

So other programs see a mail with a subject and an attachment, and reading the
mailbox again gives the page as it was found.
"""

from __future__ import annotations

import base64
import binascii
import email.utils
from datetime import UTC, datetime
from email.header import Header
from urllib.parse import quote, unquote

import msgspec
from msgspec import structs

from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.items import Listing

#: The word in a separator for an index page; its bytes are the Listing as JSON.
LISTING = "index-page"

#: Paths that are longer do not fit into a separator.
_LONGEST_PATH = 600


def wrap(data: bytes, *, subject: str, timestamp: int | None) -> bytes:
    """Return a mail that has DATA attached; SUBJECT is one line."""
    try:
        when = datetime.fromtimestamp(timestamp or 0, UTC)
    except (OverflowError, ValueError, OSError):
        when = datetime.fromtimestamp(0, UTC)
    line = subject if subject.isascii() else Header(subject, "utf-8").encode(linesep="\n")
    head = (
        f"From: patchlore export <export@invalid>\nDate: {email.utils.format_datetime(when)}\n"
        f"Subject: {line}\nMIME-Version: 1.0\nContent-Type: application/octet-stream\n"
        "Content-Transfer-Encoding: base64\n\n"
    )
    return head.encode("utf-8", "replace") + base64.encodebytes(data)


def unwrap(mail: bytes) -> bytes | None:
    """Return the bytes that ``wrap`` made MAIL of; None when it is no such mail."""
    head, blank, body = mail.partition(b"\n\n")
    if not blank or b"Content-Transfer-Encoding: base64" not in head:
        return None
    try:
        return base64.b64decode(body, validate=False)
    except binascii.Error:
        return None


def path_word(path: str) -> str | None:
    """Return a path as a separator can hold it; None when it is too long."""
    word = quote(path, safe="/", errors="surrogateescape")
    return word if 0 < len(word) <= _LONGEST_PATH else None


def path_of_word(word: str) -> str:
    """Return the path that ``path_word`` made WORD of."""
    return unquote(word, errors="replace")


def unwrapped(mail: bytes, form: str, source: Source) -> Raw | Listing | None:
    """What a wrapped MAIL holds: a page of the format FORM, or an index; None for neither."""
    from patchlore.ingest.detect import READERS

    data = unwrap(mail)
    if data is None:
        return None
    if form == LISTING:
        try:
            return _sane(msgspec.json.decode(data, type=Listing))
        except (msgspec.DecodeError, ValueError):
            return None
    if form not in READERS:
        return None
    source.format, source.offset = form, 0
    return Raw(data=data, source=source)


def _sane(listing: Listing) -> Listing:
    """A listing as our own reader makes it: an entry answers one above it, or none."""
    entries = tuple(
        structs.replace(entry, parent=None)
        if entry.parent is not None and not 0 <= entry.parent < place
        else entry
        for place, entry in enumerate(listing.entries)
    )
    return structs.replace(listing, entries=entries)

"""All of an archive as one mailbox (mboxrd) of which ingest makes an equal archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import msgspec

from patchlore.ingest.detect import READERS
from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.raw import FIDELITIES, Source
from patchlore.ingest.sources.items import Listed, Listing
from patchlore.ingest.sources.links import PAGE_FORMATS
from patchlore.ingest.sources.wrapped import LISTING, path_word, wrap
from patchlore.kb.export.mbox import LIST_NAME, mboxrd
from patchlore.kb.mailing import MAIL_FORMATS, TEXT_FORMATS, found_mail
from patchlore.kb.store import Archive
from patchlore.kb.text import count, printable

#: Row id, path, format, list and fidelity of a copy.
_Copy = tuple[int, str, str, str, int]


def write_everything(archive: Archive, out: BinaryIO) -> tuple[int, list[str]]:
    """Write every message of an archive; return how many, and notes about what is left out.

    A message stands there as the best mail that is known of it; one that only a
    page is known of as that page, attached to a mail.  So do what folders and
    patchwork said of further copies, and index pages.
    """
    number = left = 0
    for id_, timestamp in archive.execute("SELECT id, timestamp FROM message ORDER BY id"):
        written = _message(archive, id_, timestamp, out)
        number += written
        left += not written
    for listing in _listings(archive):
        data = msgspec.json.encode(listing)
        mail = wrap(data, subject=_subject(f"index page {listing.path}"), timestamp=None)
        out.write(mboxrd(mail, None, words=[f"page={LISTING}"]))
    if not left:
        return number, []
    return number, [f"{count(left, 'message')} left out: nothing reads the format of what is known"]


def _message(archive: Archive, message: int, timestamp: int | None, out: BinaryIO) -> bool:
    copies = archive.execute(
        "SELECT copy.id, source.path, source.format, source.list, copy.fidelity FROM message"
        " JOIN copy ON copy.message = message.id JOIN source ON source.id = copy.source"
        " WHERE message.id = ? ORDER BY copy.id <> message.best_copy, copy.fidelity, copy.id",
        (message,),
    ).fetchall()
    found = found_mail(archive, message, texts=True)
    main = next((row for row in copies if found and row[1] == found[1].path), copies[0])
    words = list(_words(archive, message, main[3]))
    if found is not None:
        raw, source = found
        source.list = main[3] or None
        words += _place(archive, message, source.path)
        out.write(mboxrd(raw, timestamp, source, words=words))
    elif not _page(archive, main, timestamp, out, words):
        return False
    for copy in _further(archive, message, copies, main):
        id_, path, form, list_, fidelity = copy
        if form in MAIL_FORMATS or form in TEXT_FORMATS:
            source = Source(path=path, format=form, fidelity=FIDELITIES[fidelity], list=list_)
            place = _place(archive, message, path)
            out.write(mboxrd(archive.raw_of_copy(id_), timestamp, source, words=place))
        else:
            _page(archive, copy, timestamp, out)
    return True


def _words(archive: Archive, message: int, own: str) -> Iterator[str]:
    """What further copies say of a mail, and how its own was found."""
    said = {own, *archive.message(message).lists}
    for (name,) in archive.execute(
        "SELECT list.name FROM message_list JOIN list ON list.id = message_list.list"
        " WHERE message_list.message = ? ORDER BY list.name",
        (message,),
    ):
        if name not in said and LIST_NAME.fullmatch(name):
            yield f"also={name}"
    if archive.value(
        "SELECT EXISTS (SELECT 1 FROM defect WHERE message = ? AND code = ?)", (message, CUT_SHORT)
    ):
        yield "cut-short"


def _further(
    archive: Archive, message: int, copies: Sequence[_Copy], main: _Copy
) -> Iterator[_Copy]:
    """Copies that say what the main one doesn't: in which folder they lie, what patchwork knows."""
    said = archive.value(
        "SELECT copy FROM patchwork WHERE message = ? ORDER BY copy DESC LIMIT 1", (message,)
    )
    written = {main[1]}
    for copy in copies:
        if copy[1] in written:
            continue
        if copy[0] == said or _place(archive, message, copy[1]):
            written.add(copy[1])
            yield copy


def _page(
    archive: Archive,
    copy: _Copy,
    timestamp: int | None,
    out: BinaryIO,
    further: Sequence[str] = (),
) -> bool:
    """Write a copy that is no mail, attached to one; whether it can be read again."""
    id_, path, form, list_, fidelity = copy
    if form not in READERS:
        return False
    source = Source(path=path, format=form, fidelity=FIDELITIES[fidelity], list=list_ or None)
    mail = wrap(archive.raw_of_copy(id_), subject=_subject(f"page {path}"), timestamp=timestamp)
    where = path_word(path)
    words = [f"page={form}", *([f"path={where}"] if where else []), *further]
    out.write(mboxrd(mail, timestamp, source, words=words))
    return form not in PAGE_FORMATS or where is not None


def _place(archive: Archive, message: int, path: str) -> list[str]:
    """The path of a copy where its folder says something of it."""
    said = archive.value(
        "SELECT EXISTS (SELECT 1 FROM message_place JOIN source ON source.id = source"
        " WHERE message = ? AND path = ?)",
        (message, path),
    )
    where = path_word(path) if said else None
    return [f"path={where}"] if where else []


def _listings(archive: Archive) -> Iterator[Listing]:
    for id_, path, list_, kind in archive.execute("SELECT * FROM listing ORDER BY id").fetchall():
        entries = [
            Listed(url=page, message_id=text, parent=parent, subject=subject, sender=sender)
            for page, text, parent, subject, sender in archive.execute(
                "SELECT e.page, mid.text, e.parent, e.subject, e.sender FROM listed AS e"
                " LEFT JOIN mid ON mid.id = e.mid WHERE e.listing = ? ORDER BY e.position",
                (id_,),
            )
        ]
        yield Listing(path=path, list=list_, order=kind, entries=tuple(entries))


def _subject(text: str) -> str:
    return " ".join(printable(text)[:500].split())

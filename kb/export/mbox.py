"""Backport lists as an mbox (mboxrd) of their patches, ready for ``git am``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from patchlore.ingest.raw import Source
from patchlore.kb.backports import Row
from patchlore.kb.mailing import TEXT_FORMATS, as_mail
from patchlore.kb.store import Archive
from patchlore.kb.text import count

#: Lines that a reader of mboxrd would take for a separator, quoted or not.
_FROM = re.compile(rb"^(>*From )", re.MULTILINE)

#: Names of lists that can stand in a separator.
_LIST = re.compile(r"[\w.@+-]{1,200}", re.ASCII)


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the newest applicable patch of each row; what has none is told in a note."""
    left = []
    written: set[int] = set()
    for row in rows:
        patch = row.patch
        if patch is None:
            left.append(row.sha or row.subject or "")
        elif patch.message not in written:  # one mail may carry several commits
            written.add(patch.message)
            out.write(mboxrd(as_mail(archive, patch.message), patch.timestamp))
    if not left:
        return []
    shown = ", ".join(name[:12] for name in left[:3]) + (" …" if len(left) > 3 else "")
    return [f"{count(len(left), 'row')} left out, no patch that can be applied: {shown}"]


def mboxrd(raw: bytes, timestamp: int | None, source: Source | None = None) -> bytes:
    """Return one mail as mboxrd: separator, the exact bytes with ``>`` before From lines.

    Reading it back as mboxrd gives the bytes of the mail (and a last line end
    if it had none, unless ``source`` is given).  The ``From <sha>`` line of a
    format-patch is the first line of the mail: escaped as any other, it is to
    git am a header like the rest.
    Behind the date of the separator stands what the bytes of a mail from
    ``source`` don't say: a fidelity that is not exact, patchwork, the list, the
    format of a text that is no mail (a patch without a header).
    """
    separator = b"From mboxrd@z " + _ctime(timestamp) + _found_as(source, raw) + b"\n"
    body = _FROM.sub(rb">\1", raw)
    if not body.endswith(b"\n"):
        body += b"\n"
    return separator + body + b"\n"


def _found_as(source: Source | None, raw: bytes) -> bytes:
    if source is None:
        return b""
    words: list[str] = [] if source.fidelity == "exact" else [source.fidelity]
    if source.format == "patchwork-mbox":
        words.append(source.format)
    if source.format in TEXT_FORMATS:
        words.append(f"format={source.format}")
    if not raw.endswith(b"\n"):
        words.append("no-line-end")
    if source.list and _LIST.fullmatch(source.list):
        words.append(f"list={source.list}")
    return "".join(f" {word}" for word in words).encode("ascii")


def mboxrd_all(mails: Iterable[tuple[bytes, int | None, Source]], out: BinaryIO) -> int:
    """Write mails (bytes, time, where it was found) one after another; return how many."""
    number = 0
    for raw, timestamp, source in mails:
        out.write(mboxrd(raw, timestamp, source))
        number += 1
    return number


def _ctime(timestamp: int | None) -> bytes:
    try:
        when = datetime.fromtimestamp(timestamp or 0, UTC)
    except (OverflowError, ValueError, OSError):
        when = datetime.fromtimestamp(0, UTC)
    return when.strftime("%a %b %e %H:%M:%S %Y").encode("ascii")

"""Backport lists as an mbox (mboxrd) of their patches, ready for ``git am``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.mailing import as_mail
from patchlore.kb.store import Archive
from patchlore.kb.text import count

#: Lines that a reader of mboxrd would take for a separator, quoted or not.
_FROM = re.compile(rb"^(>*From )", re.MULTILINE)


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


def mboxrd(raw: bytes, timestamp: int | None) -> bytes:
    """Return one mail as mboxrd: separator, the exact bytes with ``>`` before From lines.

    Reading it back as mboxrd gives the bytes of the mail (and a last line end
    if it had none).  The separator is that of ``git format-patch``, so that git
    takes the file for patches.
    """
    separator = b"From mboxrd@z " + _ctime(timestamp) + b"\n"
    if raw.startswith(b"From "):  # a file of `git format-patch` brings its own
        head, end, raw = raw.partition(b"\n")
        separator = head + (end or b"\n")
    body = _FROM.sub(rb">\1", raw)
    if not body.endswith(b"\n"):
        body += b"\n"
    return separator + body + b"\n"


def mboxrd_all(mails: Iterable[tuple[bytes, int | None]], out: BinaryIO) -> int:
    """Write mails (bytes, time) one after another; return how many."""
    number = 0
    for raw, timestamp in mails:
        out.write(mboxrd(raw, timestamp))
        number += 1
    return number


def _ctime(timestamp: int | None) -> bytes:
    try:
        when = datetime.fromtimestamp(timestamp or 0, UTC)
    except (OverflowError, ValueError, OSError):
        when = datetime.fromtimestamp(0, UTC)
    return when.strftime("%a %b %e %H:%M:%S %Y").encode("ascii")

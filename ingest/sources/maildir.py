"""Maildirs: one mail a file in ``cur`` and ``new``; what is in ``tmp`` is not delivered yet.

https://cr.yp.to/proto/maildir.html: a file's name never comes twice, and only
the flags behind ``:2,`` change. So the names that were read are all the state
that is needed: 8 bytes of a hash for each.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator
from hashlib import blake2b

from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.items import Item, Mark, MarkOf, Problem
from patchlore.ingest.sources.mbox import MAIL_LIMIT

_FLAGS = re.compile(rb"[:!;]2,")
_WIDTH = 8

#: A mark is as long as the maildir is large, so they come more and more rarely.
_FIRST_MARK = 2000


def is_maildir(path: str) -> bool:
    """Whether the folder PATH is a maildir: it has ``cur``, and ``new`` or ``tmp``."""
    return os.path.isdir(os.path.join(path, "cur")) and (
        os.path.isdir(os.path.join(path, "new")) or os.path.isdir(os.path.join(path, "tmp"))
    )


def maildir_key(path: str) -> str:
    """The key under which a maildir's state is kept."""
    return "maildir:" + os.path.realpath(path)


def read_maildir(path: str, *, list_name: str | None, mark_of: MarkOf) -> Iterator[Item]:
    """The mails of a maildir whose names are not in the stored state, ``cur`` first, sorted."""
    key = maildir_key(path)
    state = mark_of(key)
    known = _unpack(state)
    there: set[bytes] = set()
    files: list[tuple[str, bytes]] = []
    for folder in ("cur", "new"):
        try:
            names = sorted(os.listdir(os.path.join(path, folder)))
        except FileNotFoundError:
            continue
        except OSError as error:
            where = os.path.join(path, folder)
            yield Problem(
                where,
                0,
                f"{where}: {error.strerror}. Make it readable and run again.",
                "unreadable",
            )
            # What was known there stays known.
            there |= known
            continue
        for name in names:
            if name.startswith("."):
                continue
            digest = _digest(name)
            there.add(digest)
            if digest not in known:
                files.append((os.path.join(path, folder, name), digest))
    known &= there
    since = 0
    for name, digest in files:
        found = _read_file(name, list_name)
        if found is None:
            continue
        yield found
        if isinstance(found, Problem):
            continue
        known.add(digest)
        since += 1
        if since >= max(_FIRST_MARK, len(known) // 4):
            yield Mark(key, _pack(known))
            since = 0
    new_state = _pack(known)
    if new_state != state:
        yield Mark(key, new_state)


def _read_file(name: str, list_name: str | None) -> Raw | Problem | None:
    """The mail in a file; None when it is no file (any more): a mail client is at work."""
    try:
        if not os.path.isfile(name):
            return None
        with open(name, "rb") as file:
            data = file.read(MAIL_LIMIT)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Problem(
            name, 0, f"{name}: {error.strerror}. Make it readable and run again.", "unreadable"
        )
    if not data.strip():
        return Problem(name, 0, f"{name}: the file is empty.", "empty")
    return Raw(data=data, source=Source(path=name, format="maildir", list=list_name))


def _digest(name: str) -> bytes:
    unique = _FLAGS.split(os.fsencode(name), maxsplit=1)[0]
    return blake2b(unique, digest_size=_WIDTH).digest()


def _pack(known: set[bytes]) -> str:
    return base64.b85encode(b"".join(sorted(known))).decode("ascii")


def _unpack(state: str | None) -> set[bytes]:
    try:
        data = base64.b85decode(state or "")
    except (ValueError, binascii.Error):
        return set()
    return {data[at : at + _WIDTH] for at in range(0, len(data) - _WIDTH + 1, _WIDTH)}

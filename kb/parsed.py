"""A mail on its way into the archive, as workers and readers hand it to the writer."""

from __future__ import annotations

import hashlib
import sqlite3

from msgspec import Struct

from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.message import Message
from patchlore.ingest.raw import Raw
from patchlore.kb.content import encode_message
from patchlore.kb.shaping import Shaped, shape


class Parsed(Struct, kw_only=True):
    """A mail on its way into the archive: its bytes, its encoded Message and its rows."""

    raw: Raw
    sha256: bytes
    facts: bytes
    shaped: Shaped


class Sighting(Struct, kw_only=True):
    """A mail whose very bytes are known already: only where it was seen is new."""

    raw: Raw
    sha256: bytes
    copy: int


def prepare(message: Message, raw: Raw) -> Parsed:
    """Return what the writer needs of a mail and the message that was made of it."""
    return Parsed(
        raw=raw,
        sha256=hashlib.sha256(raw.data).digest(),
        facts=encode_message(message),
        shaped=shape(message),
    )


def digest_of(sha256: bytes) -> int:
    """Return the first 64 bits of a sha256 as the signed number of ``copy.digest``."""
    return int.from_bytes(sha256[:8], "big", signed=True)


def known_copy(connection: sqlite3.Connection, raw: Raw, sha256: bytes) -> int | None:
    """Return the id of a stored copy with these bytes read in the same format, or None.

    Bytes that were read at the cut end of a file count as unknown when they are
    met whole: the message is not damaged after all.
    """
    row = connection.execute(
        "SELECT copy.id FROM copy JOIN source ON source.id = copy.source"
        " WHERE copy.digest = ?1 AND copy.sha256 = ?2 AND source.format = ?3 AND (?4 OR NOT EXISTS"
        " (SELECT 1 FROM defect WHERE defect.message = copy.message AND defect.code = ?5)) LIMIT 1",
        (digest_of(sha256), sha256, raw.source.format, raw.cut, CUT_SHORT),
    ).fetchone()
    return None if row is None else int(row[0])

"""What belongs together among messages: revisions of a patch, the patches of a series."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from patchlore.index.tables import Tables
from patchlore.kb.columns import json_list
from patchlore.kb.postings import GAP

#: Steps from mail to mail: a revision of a patch, the series of that one, and so on.
_MOST_STEPS = 10

_GIVEN = "(SELECT value FROM json_each(?1))"

# Titles of patches and covers; their threads; series that were sent without references.
_NEAR = f"""
SELECT other.id FROM message AS one JOIN message AS other ON other.title_hash = one.title_hash
 WHERE one.id IN {_GIVEN} AND one.has_tags AND NOT one.is_reply AND one.notice IS NULL
 UNION
SELECT other.id FROM message AS one JOIN mid ON mid.id = one.mid
 JOIN mid AS near ON near.thread = mid.thread JOIN message AS other ON other.mid = near.id
 WHERE one.id IN {_GIVEN} AND one.parts > 1 AND NOT one.is_reply
   AND other.parts = one.parts AND NOT other.is_reply
 UNION
SELECT other.id FROM message AS one JOIN message AS other
    ON other.timestamp BETWEEN one.timestamp - ?2 AND one.timestamp + ?2
 WHERE one.id IN {_GIVEN} AND one.parts > 1 AND NOT one.is_reply AND one.in_reply_to IS NULL
   AND other.parts = one.parts AND other.sender = one.sender AND other.in_reply_to IS NULL
"""


class Posted(Struct, kw_only=True):
    """What of a posting tells which sending of a series it is part of."""

    message: int
    thread: int
    timestamp: int | None
    sender: str
    version: int | None
    part: int | None
    parts: int | None
    trees: str | None
    is_autosel: bool
    answers: bool


class Kin(Tables):
    """Finds what belongs with messages."""

    def of(self, shown: Collection[int], found: Collection[int]) -> set[int]:
        """Those of FOUND that may be of one patch or one series with SHOWN, without these."""
        known = set(shown)
        new = known
        for _ in range(_MOST_STEPS):
            new = self._set(_NEAR, (json_list(new), GAP)).intersection(found) - known
            if not new:
                break
            known |= new
        return known.difference(shown)


def sending_keys(postings: Iterable[Posted]) -> dict[int, tuple[object, ...]]:
    """Return what the mails of one sending of a series have in common, by message.

    They are in one thread, or were sent without references, one soon after the other.
    What AUTOSEL picks is numbered, too, but the patches have nothing to do with each other.
    """
    keys: dict[int, tuple[object, ...]] = {}
    runs: dict[object, tuple[Posted, int, set[int | None]]] = {}
    for one in sorted(postings, key=lambda one: (one.timestamp or 0, one.part or 0)):
        if one.is_autosel or not one.parts or one.parts < 2:
            continue
        kind = (one.sender, one.version or 1, one.parts, one.trees)
        first = one
        if not one.answers and one.timestamp is not None:
            begun, last, parts = runs.get(kind, (one, one.timestamp, set()))
            if one.timestamp - last > GAP or one.part in parts:
                begun, parts = one, set()
            first = begun
            runs[kind] = (begun, one.timestamp, parts | {one.part})
        keys[one.message] = (first.thread, *kind)
    return keys

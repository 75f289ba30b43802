"""Hits: what a search gives back of each message, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from patchlore.index.facets import Facets
from patchlore.index.kin import Posted, sending_keys
from patchlore.index.snippets import Snippet
from patchlore.index.tables import Tables
from patchlore.kb.columns import json_list

#: Up to this many messages are sorted; of more, the newest are picked one by one.
_FEW = 2000


class Hit(Struct, kw_only=True):
    """A message that was found; ``key`` names it even without a Message-ID.

    ``score`` is there when sorted by rank, ``snippet`` when words were asked for.
    """

    message: int
    key: str
    message_id: str | None
    timestamp: int | None
    date_iso: str | None
    subject: str | None
    name: str | None
    email: str | None
    is_patch: bool
    is_reply: bool
    version: int | None
    #: The same for all revisions of a patch or a cover letter; None for other mails.
    patch: tuple[object, ...] | None
    #: The same for all mails of one sending of a series; None for other mails.
    sending: tuple[object, ...] | None = None
    score: float | None = None
    snippet: Snippet | None = None


class Results(Struct, kw_only=True):
    """What a search found: the hits asked for and how many there are in all.

    ``not_indexed``: messages whose words no search sees yet, when words were
    asked for; ``notes``: sentences about what the answer may lack.
    """

    hits: list[Hit]
    total: int
    #: More of what was found: other revisions of patches among ``hits``, others of their series.
    kin: list[Hit] = []
    not_indexed: int = 0
    notes: list[str] = []
    #: The query with another word in the place of one that finds nothing.
    suggestion: str | None = None
    facets: Facets | None = None


class Hits(Tables):
    """Sorts messages of an archive and reads what is shown of them."""

    def sort(self, ids: Collection[int], scores: dict[int, float] | None, limit: int) -> list[int]:
        """Return LIMIT of IDS (0: all), the newest first; with SCORES the best first."""
        if scores is not None:
            times = self._times(ids)
            best = sorted(ids, key=lambda id_: (-scores[id_], -times[id_], -id_))
            return best[:limit] if limit else best
        if limit and len(ids) > _FEW:
            return list(self._newest(ids, limit))
        times = self._times(ids)
        newest = sorted(ids, key=lambda id_: (times[id_], id_), reverse=True)
        return newest[:limit] if limit else newest

    def _times(self, ids: Collection[int]) -> dict[int, int]:
        # A torn archive may have lost messages that the index still has.
        return dict.fromkeys(ids, 0) | dict(
            self._archive.execute(
                "SELECT id, coalesce(timestamp, 0) FROM message"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json_list(ids),),
            ).fetchall()
        )

    def _newest(self, ids: Collection[int], limit: int) -> Iterator[int]:
        """The newest of many: walk the archive from its end until there are enough."""
        rows = self._archive.execute("SELECT id FROM message ORDER BY timestamp DESC, id DESC")
        for (id_,) in rows:
            if id_ in ids:
                yield id_
                limit -= 1
                if not limit:
                    return

    def rows(self, ids: list[int], scores: dict[int, float] | None) -> list[Hit]:
        """Return the hit of each of IDS that exists, in that order."""
        rows = {
            row[0]: row
            for row in self._archive.execute(
                "SELECT id, key, message_id, timestamp, date_iso, subject, sender_name,"
                " coalesce(nullif(sender_email, ''), sender_masked), is_patch, is_reply, version,"
                " CASE WHEN has_tags AND NOT is_reply AND notice IS NULL AND title_hash IS NOT NULL"
                " THEN title_hash END, author_name, author_email,"
                " (SELECT group_concat(tree) FROM target_tree WHERE message = mail.id),"
                " prefixes LIKE '% AUTOSEL %', is_cover, thread, parts, part,"
                " in_reply_to IS NOT NULL FROM mail"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json_list(ids),),
            )
        }
        sendings = sending_keys(_posted(row) for row in rows.values() if row[11] is not None)
        return [
            Hit(
                message=id_,
                key=row[1],
                message_id=row[2],
                timestamp=row[3],
                date_iso=row[4],
                subject=row[5],
                name=row[6] or None,
                email=row[7] or None,
                is_patch=bool(row[8]),
                is_reply=bool(row[9]),
                version=row[10],
                patch=None if row[11] is None else _patch_key(*row[11:17]),
                sending=sendings.get(id_),
                score=None if scores is None else scores.get(id_),
            )
            for id_ in ids
            if (row := rows.get(id_)) is not None
        ]


def _patch_key(
    title: int, name: str, email: str, trees: str | None, autosel: int, cover: int
) -> tuple[object, ...]:
    """What revisions of a patch have in common; one for another tree is another patch."""
    return (title, email or name, trees, autosel, cover)


def _posted(row: tuple[Any, ...]) -> Posted:
    trees, is_autosel, _, thread, parts, part, answers = row[14:]
    return Posted(
        message=row[0],
        thread=thread,
        timestamp=row[3],
        sender=row[7] or row[6],
        version=row[10],
        part=part,
        parts=parts,
        trees=trees,
        is_autosel=bool(is_autosel),
        answers=bool(answers),
    )

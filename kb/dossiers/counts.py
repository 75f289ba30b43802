"""Values with how many messages have them, and lists of messages: parts of several dossiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchlore.kb.reading import Brief, briefs
from patchlore.kb.store import Archive


class NameCount(Struct, kw_only=True):
    """A value and how many messages have it."""

    name: str
    messages: int


def name_counts(archive: Archive, sql: str, parameters: Sequence[object]) -> list[NameCount]:
    """Return the rows (name, number) of a question."""
    return [
        NameCount(name=str(name), messages=number)
        for name, number in archive.execute(sql, parameters)
        if name
    ]


def in_order(archive: Archive, ids: Iterable[int]) -> list[Brief]:
    """Return the messages with these row ids, in the order given."""
    wanted = list(ids)
    shown = briefs(archive, wanted)
    return [shown[id_] for id_ in wanted if id_ in shown]

"""Facets: how the messages that were found spread over lists, years, authors and kinds."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from patchlore.index.tables import Tables
from patchlore.kb.columns import json_list

#: The kind of a message, in the words of ``kb.reading.Brief``, without its tree.
_KIND = (
    "CASE WHEN notice IS NOT NULL THEN 'notice' WHEN is_cover THEN 'cover'"
    " WHEN is_pull THEN 'pull request' WHEN is_patch THEN 'patch'"
    " WHEN is_report AND NOT is_reply THEN 'report' WHEN is_reply THEN 'reply' ELSE 'mail' END"
)

_FOUND = "(SELECT value FROM json_each(?))"


class Count(Struct, frozen=True):
    """A value and how many of the messages have it."""

    value: str
    messages: int


class Facets(Struct, kw_only=True):
    """The counts of a search, the largest first; years in their order.

    A message on two lists counts for both. An author is an address with the
    name that it was last used with; ``more_authors`` are not listed.
    """

    total: int
    lists: list[Count]
    years: list[Count]
    authors: list[Count]
    kinds: list[Count]
    more_authors: int = 0


class FacetCounter(Tables):
    """Counts messages of an archive."""

    def count(self, ids: Collection[int], authors: int = 20) -> Facets:
        """Return the facets of the messages IDS with so many AUTHORS (0: all)."""
        asked = json_list(ids)
        people = self._authors(asked)
        return Facets(
            total=len(ids),
            lists=self._counts(
                "SELECT list.name, count(*) FROM message_list JOIN list"
                f" ON list.id = message_list.list WHERE message IN {_FOUND}"
                " GROUP BY list.id ORDER BY 2 DESC, 1",
                asked,
            ),
            years=self._counts(
                "SELECT coalesce(strftime('%Y', timestamp, 'unixepoch'), 'unknown'), count(*)"
                f" FROM message WHERE id IN {_FOUND} GROUP BY 1 ORDER BY 1",
                asked,
            ),
            authors=people[:authors] if authors else people,
            kinds=self._counts(
                f"SELECT {_KIND}, count(*) FROM message WHERE id IN {_FOUND}"
                " GROUP BY 1 ORDER BY 2 DESC, 1",
                asked,
            ),
            more_authors=max(0, len(people) - authors) if authors else 0,
        )

    def _authors(self, asked: str) -> list[Count]:
        """Messages by author; the spellings of one address are one person."""
        rows = self._archive.execute(
            "SELECT name, email, masked, count(*), max(timestamp) FROM message JOIN person"
            f" ON person.id = coalesce(author, sender) WHERE message.id IN {_FOUND}"
            " GROUP BY person.id ORDER BY max(timestamp) DESC",
            (asked,),
        )
        names: dict[str, str] = {}  # the last name, or the address of those without any
        named: set[str] = set()
        counts: dict[str, int] = {}
        for name, email, masked, messages, _ in rows:
            key = email or f"{name} {masked}"
            shown = email or masked
            if key not in named:
                names[key] = f"{name} <{shown}>" if name and shown else name or shown
                if name:
                    named.add(key)
            counts[key] = counts.get(key, 0) + messages
        ordered = sorted(counts, key=lambda key: (-counts[key], names[key]))
        return [Count(names[key], counts[key]) for key in ordered]

    def _counts(self, sql: str, asked: str) -> list[Count]:
        return [Count(str(value), count) for value, count in self._archive.execute(sql, (asked,))]

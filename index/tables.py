"""Questions to the tables of an archive: sets of row ids, and rows whose text has words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from patchlore.index.patterns import Chunk, chunks
from patchlore.index.words import words
from patchlore.kb.columns import json_list
from patchlore.kb.store import Archive

_HEX = re.compile(r"[0-9a-f]{4,64}")

#: Abbreviated commit ids are compared from this length on.
SHORTEST_SHA = 7


class FactError(ValueError):
    """The value of a prefix can't be looked up; the text says why."""


class Tables:
    """Asks the tables of one archive."""

    def __init__(self, archive: Archive) -> None:
        """Ask ARCHIVE, which stays open until its owner closes it."""
        self._archive = archive

    def _matching_all(
        self,
        sql: str,
        column: str,
        text: str,
        quoted: bool,
        cut: Callable[[str], list[str]] = words,
    ) -> list[object]:
        """The keys of the rows whose COLUMN, cut into words, has all chunks of TEXT."""
        found: dict[object, None] | None = None
        for chunk in chunks(text, quoted):
            keys = dict.fromkeys(self._matching(sql, column, chunk, cut))
            if found is not None:
                keys = {key: None for key in keys if key in found}
            found = keys
        return list(found or ())

    def _matching(
        self, sql: str, column: str, chunk: Chunk, cut: Callable[[str], list[str]] = words
    ) -> list[object]:
        """The keys of the rows (key, text) of SQL whose text has the words of CHUNK in a row."""
        parameters: list[str] = []
        # LIKE finds the few rows that come into question; it knows no case but ASCII's.
        plain = (word for word in chunk.words if word.isascii() and "'" not in word)
        likely = max(plain, key=len, default="")
        if likely:
            sql += f" WHERE {column} LIKE ? ESCAPE '!'"
            parameters.append(wildcards_around(likely))
        rows = self._archive.execute(sql, parameters)
        return [key for key, text in rows if text and has_chunk(cut(text), chunk)]

    def _set(self, sql: str, parameters: Sequence[object] = ()) -> set[int]:
        return {row[0] for row in self._archive.execute(sql, parameters)}

    def _ids(self, sql: str, parameters: Sequence[object] = ()) -> list[object]:
        return [row[0] for row in self._archive.execute(sql, parameters)]


def wildcards_around(text: str) -> str:
    """The pattern of LIKE, with ``!`` as its escape, for what holds TEXT."""
    return "%" + re.sub(r"([%_!])", r"!\1", text) + "%"


def has_chunk(text: Sequence[str], chunk: Chunk) -> bool:
    """Whether the words of CHUNK stand one after the other in TEXT."""
    wanted = list(chunk.words)
    size = len(wanted)
    if chunk.open_end:
        last = wanted.pop()
        return any(
            list(text[start : start + size - 1]) == wanted
            and text[start + size - 1].startswith(last)
            for start in range(len(text) - size + 1)
        )
    return any(list(text[start : start + size]) == wanted for start in range(len(text) - size + 1))


def hex_condition(column: str, value: str) -> tuple[str, list[object]]:
    """The condition that VALUE, a hash, begins what COLUMN holds, or the other way round."""
    text = value.lower()
    if not _HEX.fullmatch(text) or len(text) < SHORTEST_SHA:
        raise FactError(f"'{value}' is no hash: give {SHORTEST_SHA} or more hex digits.")
    shorter = [text[:length] for length in range(SHORTEST_SHA, len(text))]
    return (
        f"({column} >= ? AND {column} < ? OR {column} IN (SELECT value FROM json_each(?)))",
        [text, f"{text}g", json_list(shorter)],
    )

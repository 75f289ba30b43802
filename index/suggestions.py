""" "Did you mean": words of the archive that are close to what found nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from patchlore.index.words import parts, stem, words

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"

#: Shorter words are close to anything.
_SHORTEST = 4

#: Words in a question to a table.
_AT_ONCE = 200

#: Identifiers with one part that are compared: "get" is in tens of thousands.
_MOST_IDENTIFIERS = 20_000

#: So many of the closest words are tried.
_TRIED = 8

#: A word that no more messages have is a mistake where so many times more have a close one.
_RARE = 20
_TIMES = 10


def near_words(connection: sqlite3.Connection, word: str) -> list[str]:
    """The words of the vocabulary (tables ``stem`` and ``part``) closest to WORD.

    Those with one letter wrong, missing, too much or swapped with its
    neighbour, else those with two such mistakes that begin with the same two
    letters; none for a word of less than four letters.
    """
    if len(word) < _SHORTEST:
        return []
    pieces = parts(word)
    if pieces:
        return _identifiers(connection, word, pieces)
    return _known(connection, _one_edit(word)) or _two_edits(connection, word)


def suggest(
    connection: sqlite3.Connection,
    text: str,
    count: Callable[[str], int],
    *,
    rare: bool = False,
) -> list[tuple[str, str]]:
    """Return the words of TEXT that find nothing, each with what was probably meant by it.

    COUNT says how many messages a word finds: the closest words that find any
    are compared by that.  With RARE also words that few messages have, where a
    close one is in many more: others make the same mistakes.
    """
    meant = []
    for word in dict.fromkeys(words(text)):
        number = count(word)
        if number > (_RARE if rare else 0):
            continue
        found = {near: count(near) for near in near_words(connection, word)[:_TRIED]}
        best = max(found, key=lambda near: found[near], default=None)
        if best is not None and found[best] > _TIMES * number:
            meant.append((word, best))
    return meant


def near_names(name: str, known: Iterable[str]) -> str | None:
    """The one of KNOWN (people's names, paths) that NAME was probably meant to be."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return close[0] if close else None


def _one_edit(word: str) -> list[str]:
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = dict.fromkeys(
        [
            *(head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1),
            *(head + tail[1:] for head, tail in splits if tail),
            *(head + char + tail[1:] for head, tail in splits if tail for char in _LETTERS),
            *(head + char + tail for head, tail in splits for char in _LETTERS),
        ]
    )
    found.pop(word, None)
    return list(found)


def _known(connection: sqlite3.Connection, candidates: list[str]) -> list[str]:
    """Those of CANDIDATES that are words of the index, in their order."""
    known: set[str] = set()
    for start in range(0, len(candidates), _AT_ONCE):
        some = candidates[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        pairs = [value for word in some for value in (stem(word), word)]
        values = ", ".join(["(?, ?)"] * len(some))
        known.update(
            row[0]
            for row in connection.execute(
                # (For "IN (VALUES …)" SQLite reads the whole table.)
                f"WITH near (stem, word) AS (VALUES {values}) SELECT near.word FROM near"
                " CROSS JOIN stem ON stem.stem = near.stem AND stem.word = near.word",
                pairs,
            )
        )
        known.update(
            row[0]
            for row in connection.execute(
                f"SELECT DISTINCT part FROM part WHERE part IN ({marks})", some
            )
        )
    return [word for word in candidates if word in known]


def _two_edits(connection: sqlite3.Connection, word: str) -> list[str]:
    """Words with the same first two letters and at most two mistakes, the closest first."""
    head = word[:2]
    rows = connection.execute(
        "SELECT word FROM stem WHERE stem >= ?1 AND stem < ?2"
        " UNION SELECT part FROM part WHERE part >= ?1 AND part < ?2",
        (head, head + chr(0x10FFFF)),
    )
    return _closest(word, (other for (other,) in rows))


def _identifiers(connection: sqlite3.Connection, word: str, pieces: list[str]) -> list[str]:
    """Identifiers with at most two mistakes that have one of the parts of WORD unharmed.

    Pieces of longer ones, too, since those are found by them: "do_wrap" in ring_do_wrap.
    """
    found: set[str] = set()
    for piece in pieces:
        for (other,) in connection.execute(
            "SELECT word FROM part WHERE part = ? LIMIT ?", (piece, _MOST_IDENTIFIERS)
        ):
            found.add(other)
            found.update(_runs(other, word.strip("_").count("_") + 1))
    return _closest(word, found)


def _runs(identifier: str, size: int) -> Iterator[str]:
    """What of IDENTIFIER has SIZE parts in a row, itself left out."""
    names = identifier.strip("_").split("_")
    for start in range(len(names) - size + 1 if len(names) > size else 0):
        yield "_".join(names[start : start + size])


def _closest(word: str, others: Iterable[str]) -> list[str]:
    """Those of OTHERS with at most two mistakes, the closest first."""
    close: list[tuple[int, str]] = []
    size, letters = len(word), set(word)
    for other in others:
        # Each mistake adds at most two letters to those that only one of the words has.
        if abs(len(other) - size) <= 2 and len(letters.symmetric_difference(other)) <= 4:
            edits = distance(word, other, 2)
            if 0 < edits <= 2:
                close.append((edits, other))
    return [other for _, other in sorted(close)]


def distance(one: str, other: str, most: int) -> int:
    """How many letters are wrong, missing, too many or swapped; MOST + 1 where that is more.

    The optimal string alignment distance (Damerau 1964).
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, char in enumerate(one, 1):
        here = [row]
        for column, second in enumerate(other, 1):
            cost = min(last[column] + 1, here[column - 1] + 1, last[column - 1] + (char != second))
            if row > 1 and column > 1 and char == other[column - 2] and one[row - 2] == second:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most:
            return most + 1
        before, last = last, here
    return min(last[-1], most + 1)

"""Words: how text is cut into what can be searched, their stems, the parts of identifiers.

The rules are those of Xapian's TermGenerator and QueryParser, on which lore's
search box stands (xapian-core, queryparser/termgenerator_internal.cc), so that
the same question finds the same mails.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import Any

#: Between runs of text that no phrase may span (two lines of a diff).
BREAK = "\n"

#: Longer "words" are data (base64, long hashes with separators), not words.
LONGEST = 64


# Letters, digits and "_" of any script; "'" and "&" inside a word (don't,
# AT&T); ".", "," and ";" between digits (4.15.7); up to three "+" or "#"
# behind it (c++), but not in "fish+chips".
def _pattern(char: str) -> str:
    return (
        rf"{char}++(?:(?:['&·]|(?<=\d)[.,;](?=\d)){char}++)*+"  # no step back: linear
        rf"(?:[+#]{{1,3}}(?![+#]|{char}))?"
    )


# Most mail is ASCII, and there the simple class is half again as fast.
_ascii_words = re.compile(_pattern("[a-z0-9_]"), re.ASCII).findall
_ascii_words_and_breaks = re.compile(_pattern("[a-z0-9_]") + "|\n", re.ASCII).findall
_word = re.compile(_pattern(r"\w"))
_words = _word.findall
_words_and_breaks = re.compile(_pattern(r"\w") + "|\n").findall
# What stands for the apostrophe, and what is to be seen nowhere.
_TYPOGRAPHIC = (("’", "'"), ("‛", "'"), ("\u200b", ""), ("\u00ad", ""), ("\ufeff", ""))


def words(text: str) -> list[str]:
    """The words of TEXT in order, in lower case.

    >>> words("Don't call vector_mmsg_rx() in 4.15.7, use C++")
    ["don't", 'call', 'vector_mmsg_rx', 'in', '4.15.7', 'use', 'c++']
    """
    text = text.lower()
    if text.isascii():
        return _short(_ascii_words(text))
    return _short(_words(_plain(text)))


def words_with_breaks(text: str) -> list[str]:
    """As ``words``, with ``BREAK`` for each line end: no phrase goes across one."""
    text = text.lower()
    if text.isascii():
        return _short(_ascii_words_and_breaks(text))
    return _short(_words_and_breaks(_plain(text)))


def word_spans(text: str) -> list[tuple[str, int, int]]:
    """The words of TEXT, each with the offsets of its start and its end in TEXT."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals have longer small forms: "İ"
        lower = "".join(small if len(small := char.lower()) == 1 else char for char in text)
    return [
        (word, match.start(), match.end())
        for match in _word.finditer(lower)
        if len(word := _plain(match[0])) <= LONGEST
    ]


def _plain(text: str) -> str:
    for char, plain in _TYPOGRAPHIC:
        if char in text:
            text = text.replace(char, plain)
    return text


def _short(found: list[str]) -> list[str]:
    if max(map(len, found), default=0) <= LONGEST:
        return found
    return [word for word in found if len(word) <= LONGEST]


_long = re.compile(r"\w{3,}").findall


def message_id_words(text: str) -> list[str]:
    """The words of a Message-ID, a break, and its long pieces by themselves.

    Most ids begin with a date and a counter that words.py keeps together, and
    people search for the date: ``20201201213707.541432-17-jo@example.org``.
    """
    return [*words(text), BREAK, *_long(text.lower())]


_english = re.compile(r"[a-z]+(?:'[a-z]+)?").fullmatch


def is_english(word: str) -> bool:
    """Whether WORD may be a word of English: identifiers and numbers are never stemmed."""
    return len(word) <= 30 and _english(word) is not None


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a WORD of English (Snowball's, which Xapian uses); others lose only "'s".

    >>> stem("randomized"), stem("copy_to_users"), stem("refcount_t's")
    ('random', 'copy_to_users', 'refcount_t')
    """
    if not is_english(word):
        return word.removesuffix("'s")
    porter2: Any = import_module("whoosh.lang.porter2")
    return str(porter2.stem(word))


def parts(identifier: str) -> list[str]:
    """The parts by which an IDENTIFIER is found too, without itself.

    >>> parts("vector_mmsg_rx"), parts("rw_2")
    (['vector', 'mmsg', 'rx'], ['rw'])
    """
    if "_" not in identifier:
        return []
    found = [part for part in identifier.split("_") if len(part) > 1 and not part.isdigit()]
    return found if found != [identifier] else []

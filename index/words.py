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

#: Between runs of text that no phrase may span (two lines of a diff).  Nobody can
#: search for it, since a lone ";" is no word.
BREAK = ";"

#: Longer "words" are data (base64, long hashes with separators), not words.
LONGEST = 64


#: Changes whenever the same text would be cut in another way: an index that was
#: cut by other rules is built again.
RULES = 2


# Letters, digits and "_" of any script; "'" and "&" inside a word (don't,
# AT&T); ".", "," and ";" between digits (4.15.7); up to three "+" or "#"
# behind it (c++), but not in "fish+chips".  All after the first piece may be
# missing, so a match never has to step back: linear.  No possessive quantifiers
# here: Python 3.11.0 to 3.11.2 compile nested ones to something else.  More
# than LONGEST pieces are data; the limit keeps what the matcher remembers small.
def _pattern(char: str) -> str:
    return (
        rf"{char}+(?:(?:['&·]|(?<=\d)[.,;](?=\d)){char}+){{0,{LONGEST}}}"
        rf"(?:[+#]{{1,3}}(?![+#]|{char}))?"
    )


_word = re.compile(_pattern(r"\w"))
_words = _word.findall
_words_and_breaks = re.compile(_pattern(r"\w") + "|\n").findall
# Most mail is ASCII, and there it takes half the time to look for the few signs
# that stay in words by the same rules, and to make blanks of all others.
_INNER = "'&.,;+#"
_find_inner = re.compile(
    r"['&.,;+#](?:(?<=[a-z0-9_]['&])(?=[a-z0-9_])|(?<=[0-9][.,;])(?=[0-9])"
    r"|(?<=[a-z0-9_][+#])[+#]{0,2}(?![a-z0-9_+#]))"
)
# While the others become blanks, those stand beyond ASCII.
_HIDE = {ord(sign): 0x80 + place for place, sign in enumerate(_INNER)}
_BLANKS = bytes(
    ord(_INNER[code - 0x80])
    if 0x80 <= code < 0x80 + len(_INNER)
    else code
    if code == ord("\n") or (code < 0x80 and (chr(code).isalnum() or chr(code) == "_"))
    else ord(" ")
    for code in range(256)
)

# What stands for the apostrophe.
_TYPOGRAPHIC = (("’", "'"), ("‛", "'"))

# What is to be seen nowhere, but would part a word or grow onto it: the escape
# sequences of a terminal in a log (ECMA-48; "ESC[31mRED" is "RED") and signs
# without a width or of direction ("pat<U+200B>ch").
_ESCAPES = (
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,256}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{0,4}[0-~]"
)
_HIDDEN = re.compile(
    _ESCAPES + r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_cut_escapes = re.compile(_ESCAPES).sub


def words(text: str) -> list[str]:
    """The words of TEXT in order, in lower case.

    >>> words("Don't call vector_mmsg_rx() in 4.15.7, use C++")
    ["don't", 'call', 'vector_mmsg_rx', 'in', '4.15.7', 'use', 'c++']
    """
    text = text.lower()
    if text.isascii():
        return _short(_ascii_words(text).split())
    return _short(_words(_plain(text)))


def words_with_breaks(text: str) -> list[str]:
    """As ``words``, with ``BREAK`` for each line end: no phrase goes across one."""
    return _short(cut(text).split())


def cut(text: str) -> str:
    """As ``words_with_breaks``, in one string with blanks between, and the too long ones too.

    >>> cut("one, two\\nthree").split()
    ['one', 'two', ';', 'three']
    """
    text = text.lower()
    if text.isascii():
        return _ascii_words(text).replace("\n", f" {BREAK} ")
    found = _words_and_breaks(_plain(text))
    return " ".join(found).replace("\n", BREAK)


def _ascii_words(text: str) -> str:
    """ASCII text in small letters with blanks for all that is neither word nor line end."""
    if "\x1b" in text:
        text = _cut_escapes("", text)
    hidden = _find_inner.sub(lambda match: match[0].translate(_HIDE), text)
    return hidden.encode("latin-1").translate(_BLANKS).decode("latin-1")


def word_spans(text: str) -> list[tuple[str, int, int]]:
    """The words of TEXT, each with the offsets of its start and its end in TEXT."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals have longer small forms: "İ"
        lower = "".join(small if len(small := char.lower()) == 1 else char for char in text)
    for char, plain in _TYPOGRAPHIC:
        lower = lower.replace(char, plain)
    offsets: list[int] | None = None
    if _HIDDEN.search(lower):
        offsets, pieces, end = [], [], 0
        for match in _HIDDEN.finditer(lower):
            offsets += range(end, match.start())
            pieces.append(lower[end : match.start()])
            end = match.end()
        offsets += range(end, len(lower))
        lower = "".join([*pieces, lower[end:]])
    return [
        (word, start, end)
        for match in _word.finditer(lower)
        if len(word := match[0]) <= LONGEST
        for start, end in [match.span() if offsets is None else _seen(match.span(), offsets)]
    ]


def _seen(span: tuple[int, int], offsets: list[int]) -> tuple[int, int]:
    """Where a span lies in the text with what is hidden: OFFSETS are those of what is left."""
    return offsets[span[0]], offsets[span[1] - 1] + 1


def _plain(text: str) -> str:
    for char, plain in _TYPOGRAPHIC:
        if char in text:
            text = text.replace(char, plain)
    return _HIDDEN.sub("", text)


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

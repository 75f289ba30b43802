"""What the text of a query stands for: words, phrases and beginnings of words.

As Xapian's QueryParser has it: words that are glued by ``.``, ``-``, ``/``,
``:``, ``\\`` or ``@`` are a phrase, other punctuation only parts words, and
quotes make a phrase of everything in them.
"""

from __future__ import annotations

from msgspec import Struct

from patchlore.index.words import word_spans

_GLUE = frozenset(".-/:\\@")

#: Longer phrases are looked for in pieces: engines read the postings of each word at once.
LONGEST_PHRASE = 50


class Chunk(Struct, frozen=True):
    """Words that follow each other; ``open_end``: the last is the beginning of a word.

    ``stemmed``: a single word whose kin is meant too; one that was written
    with a capital, or in quotes, is meant as it stands.
    """

    words: tuple[str, ...]
    open_end: bool = False
    stemmed: bool = False


def chunks(text: str, quoted: bool = False) -> list[Chunk]:
    """Cut the TEXT of a query into chunks, all of which must be found.

    >>> chunks("fs/exec.c foo->bar() stacklea*")[0].words
    ('fs', 'exec', 'c')
    >>> [chunk.open_end for chunk in chunks("foo->bar() stacklea*")]
    [False, False, True]
    """
    if quoted:
        found = tuple(word for word, _, _ in word_spans(text))
        return _pieces(Chunk(found)) if found else []
    result: list[Chunk] = []
    words: list[str] = []
    start = end = 0
    for word, word_start, word_end in word_spans(text):
        if words and not _GLUE.issuperset(text[end:word_start]):
            result.append(_chunk(text, words, start, end))
            words = []
        if not words:
            start = word_start
        words.append(word)
        end = word_end
    if words:
        result.append(_chunk(text, words, start, end))
    return list(dict.fromkeys(piece for chunk in result for piece in _pieces(chunk)))


def _pieces(chunk: Chunk) -> list[Chunk]:
    """A chunk that is no longer than phrases may be, or what it consists of."""
    if len(chunk.words) <= LONGEST_PHRASE:
        return [chunk]
    ends = range(0, len(chunk.words), LONGEST_PHRASE)
    pieces = [Chunk(chunk.words[end : end + LONGEST_PHRASE]) for end in ends]
    pieces[-1] = Chunk(pieces[-1].words, chunk.open_end)
    return list(dict.fromkeys(pieces))


def _chunk(text: str, words: list[str], start: int, end: int) -> Chunk:
    open_end = text[end : end + 1] == "*"
    stemmed = len(words) == 1 and not open_end and text[start].islower()
    return Chunk(tuple(words), open_end, stemmed)

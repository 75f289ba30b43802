"""How words become postings of Whoosh: compact positions, and a pool that groups by word.

Whoosh's own path from text to postings handles each occurrence of a word half
a dozen times in Python. Words that are cut already need less: with these
classes indexing takes less than half the time, and what is written is read
by any Whoosh from 2.7 on that can import this module.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from patchlore.index.words import BREAK

# Whoosh 2.7.4 has no types and whoosh3 a few: for the checker it is Any.
_columns: Any = import_module("whoosh.columns")
_fields: Any = import_module("whoosh.fields")
_formats: Any = import_module("whoosh.formats")
_codec: Any = import_module("whoosh.codec.whoosh3")

_SWAP = sys.byteorder == "big"


class WordPositions(_formats.Positions):  # type: ignore[misc]  # see above
    """The positions of a word in a document as 32-bit numbers, smallest byte first."""

    def encode(self, poslist: list[int]) -> bytes:
        """Return the value of a posting for these positions."""
        return encode_positions(poslist)

    def decode_positions(self, valuestring: bytes) -> list[int]:
        """Return the positions that ``encode`` was given."""
        return decode_positions(valuestring).tolist()

    def decode_frequency(self, valuestring: bytes) -> int:
        """Return how often the word occurs."""
        return len(valuestring) // 4

    def decode_weight(self, valuestring: bytes) -> float:
        """Return how often the word occurs, as Whoosh's weight."""
        return float(len(valuestring) // 4)

    def word_values(
        self, value: list[str], analyzer: Any, **kwargs: Any
    ) -> Iterator[tuple[str, int, float, bytes]]:
        """Yield (word, frequency, weight, value) for a list of words."""
        encode = self.encode
        for word, places in positions(value).items():
            yield word, len(places), float(len(places)), encode(places)


def encode_positions(places: list[int]) -> bytes:
    """Return positions as 32-bit numbers, smallest byte first."""
    numbers = array("I", places)
    if _SWAP:
        numbers.byteswap()
    return numbers.tobytes()


def decode_positions(value: bytes) -> array[int]:
    """Return the positions that ``encode_positions`` was given."""
    numbers = array("I", value)
    if _SWAP:
        numbers.byteswap()
    return numbers


def positions(words: list[str]) -> dict[str, list[int]]:
    """Where in a list of words each one stands; breaks take a place but are no word."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if word in places:
            places[word].append(place)
        else:
            places[word] = [place]
    places.pop(BREAK, None)
    return places


class WordsField(_fields.FieldType):  # type: ignore[misc]  # see above
    """A field that is given as a list of words."""

    def __init__(self) -> None:
        self.format = WordPositions()
        self.analyzer = None
        self.scorable = False
        self.stored = False
        self.unique = False
        self.vector = None
        self.spelling = False
        self.column_type = None
        self.multitoken_query = "default"
        self.queryor = False

    def index(self, value: list[str], **kwargs: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield (word in UTF-8, frequency, weight, value): what Whoosh asks of a field."""
        for word, frequency, weight, places in self.format.word_values(value, None):
            yield word.encode("utf-8", "replace"), frequency, weight, places

    def separate_spelling(self) -> bool:
        """No: the vocabulary of the index is kept elsewhere."""
        return False


def make_schema(names: Iterable[str]) -> Any:
    """The schema of an index with these fields of words.

    ``number`` is the document's number, ``batch`` the batch that it came in.
    """
    words = {name: WordsField() for name in names}
    number = _fields.COLUMN(_columns.NumericColumn("q"))
    return _fields.Schema(number=number, batch=_fields.ID(), **words)


#: Documents in order and, for each, the value of its posting.
Postings = tuple["array[int]", list[bytes]]

# Most words stand once in a mail, near its head.
_ONCE = [number.to_bytes(4, "little") for number in range(4096)]


class GroupingPool:
    """Collects postings by word: sorted once by word instead of once by posting."""

    def __init__(self, spill: Any) -> None:
        self._spill = spill  # owns the temporary files that Whoosh cleans up
        self._fields: dict[str, dict[str, Postings]] = {}

    def add(self, item: tuple[str, bytes, int, float, bytes]) -> None:
        """Take one posting (field, word, document, weight, value), documents in order."""
        field, word, document, _, value = item
        words = self._fields.setdefault(field, {})
        postings = words.setdefault(word.decode("utf-8", "replace"), (array("I"), []))
        postings[0].append(document)
        postings[1].append(value or b"")  # a field without positions gives None when merged

    def add_words(self, field: str, document: int, words: list[str]) -> None:
        """Take the words of a field of a document."""
        known = self._fields.setdefault(field, {})
        for word, places in positions(words).items():
            if len(places) == 1 and places[0] < 4096:
                value = _ONCE[places[0]]
            else:
                value = encode_positions(places)
            if word in known:
                documents, values = known[word]
                documents.append(document)
                values.append(value)
            else:
                known[word] = (array("I", (document,)), [value])

    def iter_postings(self) -> Iterator[tuple[str, dict[str, Postings]]]:
        """Yield each field with its postings by word, and forget them."""
        for field in sorted(self._fields):
            yield field, self._fields.pop(field)

    def cleanup(self) -> None:
        """Remove temporary files."""
        self._spill.cleanup()


class _BlockWriter(_codec.W3FieldWriter):  # type: ignore[misc]  # see above
    """Writes postings a block at a time instead of one by one."""

    def add_postings(
        self,
        schema: Any,
        lengths: Any,
        items: Iterator[tuple[str, dict[str, Postings]]],
    ) -> None:
        """Write all that a GroupingPool yields."""
        for name, words in items:
            self.start_field(name, schema[name])
            writer = self._postwriter
            limit = writer._blocklimit
            for word in sorted(words):  # code points sort as their UTF-8 does
                self.start_term(word.encode("utf-8", "replace"))
                documents, values = words[word]
                for start in range(0, len(documents), limit):
                    if start:
                        writer._write_block()
                    block = values[start : start + limit]
                    writer._ids = documents[start : start + limit]
                    writer._weights = array("f", [len(value) // 4 or 1 for value in block])
                    writer._values = [value for value in block if value]
                    writer._maxweight = max(writer._weights)
                self.finish_term()
            self.finish_field()


class LeanCodec(_codec.W3Codec):  # type: ignore[misc]  # see above
    """Whoosh's codec fed by a GroupingPool; what it writes, Whoosh's own codec reads.

    It leaves out the lengths of fields, which only Whoosh's own ranking needs.
    """

    length_stats = False

    def field_writer(self, storage: Any, segment: Any) -> _BlockWriter:
        """Return the writer of postings."""
        return _BlockWriter(self, storage, segment)

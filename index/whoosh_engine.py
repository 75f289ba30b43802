"""Prose in an index of Whoosh's: the default engine, embedded and without a server."""

from __future__ import annotations

import contextlib
import math
import pathlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from patchlore.index.engine import PROSE_FIELDS, AnyWord, Document, Pattern, Phrase
from patchlore.index.errors import DamagedIndex
from patchlore.index.whoosh_postings import (
    GroupingPool,
    LeanCodec,
    decode_positions,
    make_schema,
)

# Whoosh 2.7.4 has no types and whoosh3 a few: for the checker it is Any.
whoosh_index: Any = import_module("whoosh.index")

#: Megabytes for sorting: below this Whoosh spills to disk for a third more time.
_LIMIT_MB = 512

#: Segments with fewer documents than this are merged when there are too many of them.
_SMALL = 4000
_MOST_SMALL = 8

#: How many words "foo*" may stand for in one segment.
_MOST_EXPANSIONS = 10_000


class WhooshEngine:
    """Finds documents in an index of Whoosh's."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Open the index in FOLDER; raises DamagedIndex when that can't be."""
        self._folder = folder
        try:
            self._index = whoosh_index.open_dir(str(folder))
            self._reader = self._index.reader()
        except Exception as error:  # unpickling raises whatever it likes
            raise DamagedIndex(f"The text index in {folder} is damaged ({error}).") from error
        self._segments = [
            _Segment(leaf) for leaf, _ in self._reader.leaf_readers() if leaf.doc_count_all()
        ]

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        """The numbers of the documents with PATTERN in at least one of FIELDS."""
        found: set[int] = set()
        with self._guarded():
            for segment in self._segments:
                numbers = segment.numbers
                found.update(numbers[document] for document in segment.find(fields, pattern))
        return found

    def rank(
        self, weights: Mapping[str, float], patterns: Sequence[Pattern], wanted: Collection[int]
    ) -> dict[int, float]:
        """Frequency that saturates, times rarity, as BM25 has it, summed over the patterns."""
        total = max(1, sum(len(segment.numbers) for segment in self._segments))
        scores: dict[int, float] = {}
        for pattern in patterns:
            counts: list[tuple[int, float]] = []
            with self._guarded():
                for segment in self._segments:
                    numbers = segment.numbers
                    for document, count in segment.count(weights, pattern).items():
                        counts.append((numbers[document], count))
            rarity = math.log(1.0 + (total - len(counts) + 0.5) / (len(counts) + 0.5))
            for number, count in counts:
                if number in wanted:
                    share = rarity * count / (count + 1.2)
                    scores[number] = scores.get(number, 0.0) + share
        return scores

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn what Whoosh raises on damaged files, which is anything, into DamagedIndex."""
        try:
            yield
        except Exception as error:
            raise DamagedIndex(f"The text index {self._folder} is damaged ({error}).") from error

    def documents(self) -> Iterator[int]:
        """Yield the numbers of all documents."""
        with self._guarded():
            for segment in self._segments:
                for place, number in enumerate(segment.numbers):
                    if place not in segment.deleted:
                        yield int(number)

    def close(self) -> None:
        """Close the files of the index."""
        self._reader.close()
        self._index.close()


class _Segment:
    """One segment of the index; documents are numbered within it."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._numbers: Sequence[int] | None = None
        deleted: Iterator[int] = iter(())
        if reader.has_deletions():
            deleted = filter(reader.is_deleted, range(reader.doc_count_all()))
        self.deleted = frozenset(deleted)

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each document, by its place in the segment."""
        if self._numbers is None:
            column = self._reader.column_reader("number")
            load = getattr(column, "load", None)
            self._numbers = load() if load is not None else list(column)
        return self._numbers

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        found: set[int] = set()
        for field in PROSE_FIELDS:
            if field not in fields:
                continue
            if isinstance(pattern, Phrase) and len(pattern.words) > 1:
                found.update(self._phrase(field, pattern))
            else:
                for word in self._words(field, pattern):
                    postings = self._reader.postings(field, word)
                    while postings.is_active():
                        postings.id()  # reads the block, which is taken as a whole
                        found.update(postings._ids)
                        postings._next_block()
        return found - self.deleted if self.deleted else found

    def count(self, weights: Mapping[str, float], pattern: Pattern) -> dict[int, float]:
        """How often PATTERN occurs in each document, by the weights of the fields."""
        counts: dict[int, float] = {}
        for field in PROSE_FIELDS:
            weight = weights.get(field, 0.0)
            if not weight:
                continue
            if isinstance(pattern, Phrase) and len(pattern.words) > 1:
                for document, places in self._phrase(field, pattern).items():
                    counts[document] = counts.get(document, 0.0) + weight * len(places)
                continue
            for document, value in self._values(field, self._words(field, pattern)).items():
                counts[document] = counts.get(document, 0.0) + weight * (len(value) // 4)
        return {doc: count for doc, count in counts.items() if doc not in self.deleted}

    def _words(self, field: str, pattern: Pattern) -> list[bytes]:
        """The words of this segment that a pattern of one place stands for."""
        if isinstance(pattern, AnyWord) or not pattern.open_end:
            words = [word.encode("utf-8", "replace") for word in pattern.words]
            return [word for word in words if (field, word) in self._reader]
        return list(self._expand(field, pattern.words[0]))

    def _expand(self, field: str, prefix: str) -> Iterator[bytes]:
        for count, word in enumerate(self._reader.expand_prefix(field, prefix)):
            if count >= _MOST_EXPANSIONS:
                return
            yield word

    def _phrase(self, field: str, phrase: Phrase) -> dict[int, list[int]]:
        """Where the phrase ends in each document that has it."""
        places: list[list[bytes]] = []
        for index, word in enumerate(phrase.words):
            last = index == len(phrase.words) - 1
            if last and phrase.open_end:
                words = list(self._expand(field, word))
            else:
                whole = word.encode("utf-8", "replace")
                words = [whole] if (field, whole) in self._reader else []
            if not words:
                return {}
            places.append(words)
        values = [self._values(field, words) for words in places]
        documents = set(values[0]).intersection(*values[1:])
        ends: dict[int, list[int]] = {}
        for document in documents:
            here = set(decode_positions(values[0][document]))
            for having in values[1:]:
                here = {place + 1 for place in here}
                here.intersection_update(decode_positions(having[document]))
                if not here:
                    break
            if here:
                ends[document] = sorted(here)
        return ends

    def _values(self, field: str, words: list[bytes]) -> dict[int, bytes]:
        """The encoded positions of any of WORDS in each document."""
        found: dict[int, bytes] = {}
        for word in words:
            postings = self._reader.postings(field, word)
            while postings.is_active():
                postings.id(), postings.value()  # reads the block, which is taken as a whole
                block = dict(zip(postings._ids, postings._values, strict=True))
                if len(words) == 1:
                    found.update(block)
                else:
                    for document, value in block.items():
                        found[document] = found.get(document, b"") + value
                postings._next_block()
        return found


class WhooshWriter:
    """Adds documents to an index of Whoosh's, a segment for each batch."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Open the index in FOLDER for writing, or make it; raises DamagedIndex."""
        self._folder = folder
        try:
            if whoosh_index.exists_in(str(folder)):
                self._index = whoosh_index.open_dir(str(folder))
            else:
                folder.mkdir(parents=True, exist_ok=True)
                self._index = whoosh_index.create_in(str(folder), make_schema(PROSE_FIELDS))
        except OSError:
            raise
        except Exception as error:  # unpickling raises whatever it likes
            raise DamagedIndex(f"The text index in {folder} is damaged ({error}).") from error
        self._writer: Any | None = None
        self._added: list[int] = []

    def add(self, document: Document) -> None:
        """Add the prose of DOCUMENT."""
        writer = self._open()
        place = writer.docnum
        writer.add_document(number=document.number)
        for field in PROSE_FIELDS:
            words = document.fields.get(field)
            if words:
                writer.pool.add_words(field, place, words)
        self._added.append(place)

    def commit(self, batch: int) -> None:
        """Write what was added as one segment, in the place of an earlier try."""
        writer = self._open()
        name = str(batch)
        try:
            writer.delete_by_term("batch", name)
            for place in self._added:
                writer.pool.add(("batch", name.encode(), place, 1.0, b""))
            writer.commit(mergetype=_merge_small)
        except OSError:
            raise
        except Exception as error:  # what is there can't be read
            raise DamagedIndex(f"The text index {self._folder} is damaged ({error}).") from error
        self._added.clear()
        self._writer = None

    def close(self) -> None:
        """Forget what was not committed and release the lock."""
        if self._writer is not None:
            with contextlib.suppress(Exception):  # after a commit that failed it is closed
                self._writer.cancel()
            self._writer = None
        self._index.close()

    def _open(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer(limitmb=_LIMIT_MB, codec=LeanCodec())
            self._writer.pool = GroupingPool(self._writer.pool)
        return self._writer


def _merge_small(writer: Any, segments: list[Any]) -> list[Any]:
    """Merge the small segments into the new one when there are many; keep the rest."""
    small = [segment for segment in segments if segment.doc_count_all() < _SMALL]
    if len(small) <= _MOST_SMALL:
        return segments
    reading: Any = import_module("whoosh.reading")
    for segment in small:
        reader = reading.SegmentReader(writer.storage, writer.schema, segment)
        writer.add_reader(reader)
        reader.close()
    return [segment for segment in segments if segment not in small]

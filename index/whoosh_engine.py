"""Prose in an index of Whoosh's: the default engine, embedded and without a server."""

from __future__ import annotations

import contextlib
import errno
import itertools
import math
import operator
import pathlib
import pickle
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from msgspec import Struct

from patchlore.index.engine import PROSE_FIELDS, Document, Pattern, Phrase
from patchlore.index.errors import DamagedIndex, IndexingError
from patchlore.index.whoosh_postings import (
    GroupingPool,
    LeanCodec,
    decode_positions,
    make_schema,
)
from patchlore.index.whoosh_ranges import documents_of, values_of
from patchlore.ingest.errors import PatchloreError

# Whoosh 2.7.4 has no types and whoosh3 a few: for the checker it is Any.
whoosh_index: Any = import_module("whoosh.index")
_filestore: Any = import_module("whoosh.filedb.filestore")

#: What a process or its user lacks when these are met; the files may be whole.
_LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM, errno.EIO)

#: Megabytes for sorting: below this Whoosh spills to disk for a third more time.
_LIMIT_MB = 512

#: Segments of fewer bytes are merged when there are too many of them: those of daily
#: updates, so that merging takes little time and memory.
_SMALL = 4 * 1024 * 1024
_MOST_SMALL = 8


def _explained(folder: pathlib.Path, error: Exception) -> PatchloreError:
    """What is wrong when Whoosh raises: damage, which may be anything, or a lack of means."""
    if isinstance(error, OSError) and error.errno in _LACKS:
        return IndexingError(f"The text index {folder} can't be read: {error.strerror}.")
    return DamagedIndex(f"The text index {folder} is damaged ({error}).")


class WhooshEngine:
    """Finds documents in an index of Whoosh's."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Open the index in FOLDER; raises DamagedIndex when that can't be."""
        self._folder = folder
        try:
            self._index = _storage(folder).open_index()
            self._reader = self._index.reader()
        except Exception as error:  # unpickling raises whatever it likes
            raise _explained(folder, error) from error
        self._segments = [
            _Segment(leaf) for leaf, _ in self._reader.leaf_readers() if leaf.doc_count_all()
        ]

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        """The numbers of the documents with PATTERN in at least one of FIELDS."""
        found: set[int] = set()
        with self._guarded():
            for segment in self._segments:
                found.update(segment.numbered(segment.find(fields, pattern)))
        return found

    def rank(
        self, weights: Mapping[str, float], patterns: Sequence[Pattern], wanted: Collection[int]
    ) -> dict[int, float]:
        """Frequency that saturates, times rarity, as BM25 has it, summed over the patterns."""
        total = max(1, sum(segment.size for segment in self._segments))
        scores: dict[int, float] = {}
        for pattern in patterns:
            counts: dict[int, float] = {}
            with self._guarded():
                for segment in self._segments:
                    found = segment.count(weights, pattern)
                    counts.update(zip(segment.numbered(found), found.values(), strict=True))
            rarity = math.log(1.0 + (total - len(counts) + 0.5) / (len(counts) + 0.5))
            shares = {
                number: rarity * count / (count + 1.2)
                for number, count in counts.items()
                if number in wanted
            }
            if not scores:
                scores = shares
                continue
            for number, share in shares.items():
                scores[number] = scores.get(number, 0.0) + share
        return scores

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn what Whoosh raises on damaged files, which is anything, into DamagedIndex."""
        try:
            yield
        except Exception as error:
            raise _explained(self._folder, error) from error

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
        self._offset: int | None = None
        self.size = int(reader.doc_count_all())
        deleted: Iterator[int] = iter(())
        if reader.has_deletions():
            deleted = filter(reader.is_deleted, range(reader.doc_count_all()))
        self.deleted = frozenset(deleted)

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each document, by its place in the segment."""
        if self._numbers is None:
            self._numbers = _load(self._reader.column_reader("number"), self.size)
            # Most segments hold messages in a row: their numbers need no look-up.
            numbers = self._numbers
            if all(map(operator.eq, numbers, itertools.count(numbers[0] if numbers else 0))):
                self._offset = numbers[0] if numbers else 0
        return self._numbers

    def numbered(self, documents: Iterable[int]) -> Iterator[int]:
        """The numbers of documents of the segment, in the same order."""
        numbers = self.numbers
        if self._offset is not None:
            return map(self._offset.__add__, documents)
        return map(numbers.__getitem__, documents)

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        found: set[int] = set()
        for field in PROSE_FIELDS:
            if field not in fields:
                continue
            if isinstance(pattern, Phrase) and len(pattern.words) > 1:
                found.update(self._phrase(field, pattern))
            elif isinstance(pattern, Phrase) and pattern.open_end:
                found |= documents_of(self._reader, field, pattern.words[0])
            else:
                for word in self._words(field, pattern.words):
                    postings = self._reader.postings(field, word)
                    while postings.is_active():
                        found.update(_ids(postings))
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
            if isinstance(pattern, Phrase) and pattern.open_end:
                values = values_of(self._reader, field, pattern.words[0])
            else:
                values = self._values(field, self._words(field, pattern.words))
            each = weight / 4  # a place takes four bytes
            if not counts:
                sizes = map(len, values.values())
                counts = dict(zip(values, map(each.__mul__, sizes), strict=True))
                continue
            for document, value in values.items():
                counts[document] = counts.get(document, 0.0) + each * len(value)
        if not self.deleted:
            return counts
        return {doc: count for doc, count in counts.items() if doc not in self.deleted}

    def _words(self, field: str, words: Iterable[str]) -> list[bytes]:
        """Those of WORDS that a field of this segment has."""
        encoded = [word.encode("utf-8", "replace") for word in words]
        return [word for word in encoded if (field, word) in self._reader]

    def _phrase(self, field: str, phrase: Phrase) -> dict[int, list[int]]:
        """Where the phrase ends in each document that has it."""
        values: list[dict[int, bytes]] = []
        for index, word in enumerate(phrase.words):
            if phrase.open_end and index == len(phrase.words) - 1:
                having = values_of(self._reader, field, word)
            else:
                having = self._values(field, self._words(field, (word,)))
            if not having:
                return {}
            values.append(having)
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
                postings.value()  # reads the block, which is taken as a whole
                block = zip(_ids(postings), postings._values, strict=True)
                if len(words) == 1:
                    found.update(block)
                else:
                    for document, value in block:
                        found[document] = found.get(document, b"") + value
                postings._next_block()
        return found


def _load(column: Any, size: int) -> Sequence[int]:
    """All numbers of a column, which Whoosh reads one by one: a tenth of a second for 80,000."""
    inner = getattr(column, "_reader", column)
    if size and getattr(inner, "_count", None) == size and getattr(inner, "_typecode", "") == "q":
        numbers = array("q")
        numbers.frombytes(bytes(inner._dbfile.get(inner._basepos, size * numbers.itemsize)))
        if sys.byteorder == "little":
            numbers.byteswap()
        if (numbers[0], numbers[-1]) == (column[0], column[size - 1]):
            return numbers
    return list(column)


def _ids(postings: Any) -> Iterable[int]:
    """The documents of the block that POSTINGS stand at, read as a whole."""
    if postings._ids is None:
        if postings._data is None:
            postings._read_data()
        ids: Iterable[int] = postings._data[0]
        return ids if postings._byteids else itertools.accumulate(ids)
    return tuple(postings._ids)


class Segment(Struct):
    """A segment that another process has written in a folder of its own."""

    folder: str
    #: Whoosh's description of it, pickled.
    pickled: bytes


class WhooshWriter:
    """Adds documents to an index of Whoosh's, a segment for each batch."""

    has_segments = True

    def __init__(self, folder: pathlib.Path) -> None:
        """Open the index in FOLDER for writing, or make it; raises DamagedIndex."""
        self._folder = folder
        try:
            if whoosh_index.exists_in(str(folder)):
                self._index = _storage(folder).open_index()
            else:
                folder.mkdir(parents=True, exist_ok=True)
                self._index = whoosh_index.create_in(str(folder), make_schema(PROSE_FIELDS))
        except OSError:
            raise
        except Exception as error:  # unpickling raises whatever it likes
            raise _explained(folder, error) from error
        self._writer: Any | None = None
        self._added: list[int] = []
        self._is_first = True

    def add(self, documents: Iterable[Document]) -> None:
        """Add the prose of DOCUMENTS."""
        writer = self._open()
        for document in documents:
            place = writer.docnum
            writer.add_document(number=document.number)
            for field in PROSE_FIELDS:
                text = document.fields.get(field)
                if text:
                    writer.pool.add_words(field, place, text.split())
            self._added.append(place)

    def segment(self, batch: int) -> Segment:
        """Write what was added as a segment that another index can take."""
        writer = self._open()
        self._name(writer, batch)
        described = writer._finalize_segment()
        writer._finish()
        self._writer = None
        return Segment(str(self._folder), pickle.dumps(described))

    def commit(self, batch: int, segments: Sequence[Segment] = ()) -> None:
        """Write what was added as one segment, in the place of an earlier try; adopt SEGMENTS."""
        writer = self._open()
        try:
            if self._is_first:  # what a run before this one had just written when it was killed
                writer.delete_by_term("batch", str(batch))
            self._name(writer, batch)
            adopted = [self._adopt(segment) for segment in segments]
            writer.commit(mergetype=lambda *found: [*_merge_small(*found), *adopted])
        except OSError:
            raise
        except Exception as error:  # what is there can't be read
            raise DamagedIndex(f"The text index {self._folder} is damaged ({error}).") from error
        self._writer = None
        self._is_first = False

    def close(self) -> None:
        """Forget what was not committed and release the lock."""
        if self._writer is not None:
            with contextlib.suppress(Exception):  # after a commit that failed it is closed
                self._writer.cancel()
            self._writer = None
        self._index.close()

    def _open(self) -> Any:
        if self._writer is None:
            try:
                self._writer = self._index.writer(limitmb=_LIMIT_MB, codec=LeanCodec())
            except OSError:
                raise
            except Exception as error:  # the list of segments can't be read
                raise _explained(self._folder, error) from error
            self._writer.pool = GroupingPool(self._writer.pool)
        return self._writer

    def _name(self, writer: Any, batch: int) -> None:
        """Note of all documents in which batch they came."""
        for place in self._added:
            writer.pool.add(("batch", str(batch).encode(), place, 1.0, b""))
        self._added.clear()

    def _adopt(self, segment: Segment) -> Any:
        """Move the files of a segment to this index; return Whoosh's description of it."""
        described = pickle.loads(segment.pickled)
        for file in pathlib.Path(segment.folder).glob(f"*{described.segment_id()}*"):
            file.replace(self._folder / file.name)
        return described


def _storage(folder: pathlib.Path) -> Any:
    """The files of an index.

    With mmap Whoosh copies all of them into memory: a quarter of a second and
    hundreds of megabytes for 80,000 mails, where a search reads a few blocks.
    """
    return _filestore.FileStorage(str(folder), supports_mmap=False)


def _merge_small(writer: Any, segments: list[Any]) -> list[Any]:
    """Merge the small segments into the new one when there are many; keep the rest."""
    small = [segment for segment in segments if _size(writer, segment) < _SMALL]
    if len(small) <= _MOST_SMALL:
        return segments
    reading: Any = import_module("whoosh.reading")
    for segment in small:
        reader = reading.SegmentReader(writer.storage, writer.schema, segment)
        writer.add_reader(reader)
        reader.close()
    return [segment for segment in segments if segment not in small]


def _size(writer: Any, segment: Any) -> int:
    """Bytes of the files of a segment."""
    files = pathlib.Path(writer.storage.folder).glob(f"*{segment.segment_id()}*")
    return sum(file.stat().st_size for file in files)

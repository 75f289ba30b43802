"""All words of a segment of Whoosh's that begin alike, read as they lie in its files.

Whoosh opens the postings of each word for itself: "confi*" stands for tens of thousands of
``CONFIG_…`` in an archive of kernel mail, which took seconds. Its words lie in order in one file,
each with how many documents have it and the first and the last of them, and so do their postings
in another.
"""

from __future__ import annotations

import io
import itertools
import pickle
import struct
import zlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

# Whoosh has few types: for the checker it is Any.
_codec: Any = import_module("whoosh.codec.whoosh3")
_tables: Any = import_module("whoosh.filedb.filetables")

_lengths: struct.Struct = _tables._lengths
_about: struct.Struct = _codec.W3TermInfo._struct
_extent = struct.Struct("!qi")
_size = struct.Struct("!i")
_MAGIC: bytes = _codec.WHOOSH3_HEADER_MAGIC

#: Bytes of the words' file that are read at a time.
_CHUNK = 256 * 1024


#: A word of a segment: in how many documents it is, the first and the last of them, where its
#: postings are in their file and how many bytes; or the postings themselves, which some have.
_Word = tuple[int, int, int, int, int, bytes | None]


def documents_of(reader: Any, field: str, prefix: str) -> set[int]:
    """Return the documents of a segment (READER) in which a word of FIELD begins with PREFIX."""
    found: set[int] = set()
    for word in _words(reader, field, prefix):
        if word[0] <= 2:
            found.add(word[1])
            found.add(word[2])
        else:
            for documents, _ in _blocks(reader, word):
                found.update(documents)
    return found


def values_of(reader: Any, field: str, prefix: str) -> dict[int, bytes]:
    """Return the encoded positions of such words in each document that has any."""
    found: dict[int, bytes] = {}
    for word in _words(reader, field, prefix):
        for documents, values in _blocks(reader, word):
            for document, value in zip(documents, values, strict=True):
                found[document] = found[document] + value if document in found else value
    return found


def _words(reader: Any, field: str, prefix: str) -> Iterator[_Word]:
    terms = reader._terms
    if field not in terms._fieldmap:
        return
    index = terms._tindex
    key = terms._keycoder(field, prefix.encode("utf-8", "replace"))
    place = index.closest_key_pos(key)
    if place is None:
        return
    about = _about.size
    end = index.endofdata
    while place < end:
        chunk = index.dbfile.get(place, min(_CHUNK, end - place))
        at = 0
        while at + _lengths.size <= len(chunk):
            key_size, size = _lengths.unpack_from(chunk, at)
            start = at + _lengths.size + key_size
            if start + size > len(chunk):
                break
            if not chunk.startswith(key, at + _lengths.size):
                return
            flags, _, documents, _, _, _, first, last = _about.unpack_from(chunk, start)
            at = start + size
            if flags:
                yield documents, first, last, 0, 0, chunk[start + about : at]
            else:
                offset, length = _extent.unpack_from(chunk, start + about)
                yield documents, first, last, offset, length, None
        if at == 0:  # an entry as long as a chunk is none that Whoosh has written
            raise ValueError("an entry of the words' file has no end")
        place += at


def _blocks(reader: Any, word: _Word) -> Iterator[tuple[Iterable[int], Iterable[bytes]]]:
    """Yield documents and values of the postings of a word, block by block."""
    *_, offset, length, inline = word
    if inline is not None:
        documents, _, values = pickle.loads(inline)
        yield documents, values
        return
    data = reader._terms._postfile.get(offset, length)
    if not data.startswith(_MAGIC):
        raise ValueError("postings don't begin where a word says")
    file = io.BytesIO(data)
    place = len(_MAGIC)
    while place < len(data):
        (size,) = _size.unpack_from(data, place)
        place += _size.size
        file.seek(place)
        info = pickle.load(file)
        place += abs(size)
        block = data[file.tell() : place]
        documents, _, values = pickle.loads(zlib.decompress(block) if info[3] else block)
        yield itertools.accumulate(documents), values
        if size < 0:
            return

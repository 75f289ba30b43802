"""Rows of a database that SQLite can't open any more, read from its pages one by one.

A torn page of the schema, or the first page, hides all tables from SQLite, though their
rows are all there.  Rows lie in leaf pages of tables, each of which can be read alone
(https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format").
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import pathlib
import re
import struct
from collections.abc import Iterator
from typing import TypeAlias

import zstandard

from patchlore.ingest.detect import format_names
from patchlore.ingest.raw import FIDELITIES, Raw
from patchlore.kb.content import Codec
from patchlore.kb.database import PAGE_SIZE
from patchlore.kb.redoing import found_at, source_of

_Value: TypeAlias = "int | float | bytes | str | None"
_Row = tuple[_Value, ...]

_LEAF = 13
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_FRAME_HEAD = 24
_DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"  # RFC 8878
_SIZES = (0, 1, 2, 3, 4, 6, 8)

#: More columns than any table of kb/schema.sql has.
_MOST_COLUMNS = 100


class Pages:
    """The pages of a database file, each in its newest state: of the log, else of the file."""

    def __init__(self, path: pathlib.Path) -> None:
        """Open the file and the log beside it, if any; raises OSError."""
        self._file = _mapped(path)
        self._log = _mapped(path.with_name(path.name + "-wal"))
        self.size = PAGE_SIZE
        if self._file[:16] == b"SQLite format 3\0":
            size = int.from_bytes(self._file[16:18], "big")
            self.size = 65536 if size == 1 else max(size, 512)
        self._newer: dict[int, int] = {}
        self._read_log()

    def _read_log(self) -> None:
        if len(self._log) < 32:
            return
        magic, _, size = struct.unpack_from(">3I", self._log)
        if magic not in _WAL_MAGIC or size != self.size:
            return
        salt = self._log[16:24]
        for at in range(32, len(self._log) - size - _FRAME_HEAD + 1, size + _FRAME_HEAD):
            if self._log[at + 8 : at + 16] != salt:
                break  # what an older log has left behind
            number = int.from_bytes(self._log[at : at + 4], "big")
            self._newer[number] = at + _FRAME_HEAD

    def page(self, number: int) -> bytes:
        """Return a page by its number, from 1; empty where there is none."""
        if number in self._newer:
            at = self._newer[number]
            return self._log[at : at + self.size]
        return self._file[(number - 1) * self.size : number * self.size] if number > 0 else b""

    def rows(self) -> Iterator[tuple[int, _Row]]:
        """Yield id and columns of each row in any leaf page of a table, whatever its table."""
        count = -(-len(self._file) // self.size)
        for number in sorted({*range(1, count + 1), *self._newer}):
            page = self.page(number)
            head = 100 if number == 1 else 0
            if len(page) != self.size or page[head] != _LEAF:
                continue
            cells = int.from_bytes(page[head + 3 : head + 5], "big")
            for at in range(head + 8, min(head + 8 + 2 * cells, self.size - 1), 2):
                start = int.from_bytes(page[at : at + 2], "big")
                with contextlib.suppress(IndexError, struct.error, UnicodeDecodeError):
                    row = self._row(page, start)
                    if row is not None:
                        yield row

    def _row(self, page: bytes, at: int) -> tuple[int, _Row] | None:
        size, at = _varint(page, at)
        id_, at = _varint(page, at)
        most = self.size - 35
        local = size
        if size > most:
            least = (self.size - 12) * 32 // 255 - 23
            local = least + (size - least) % (self.size - 4)
            local = local if local <= most else least
        payload = bytearray(page[at : at + local])
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        passed: set[int] = set()
        while len(payload) < size:
            more = self.page(following)
            if len(more) != self.size or following in passed:
                return None
            passed.add(following)
            payload += more[4 : 4 + size - len(payload)]
            following = int.from_bytes(more[:4], "big")
        if len(payload) != size:
            return None
        columns = _columns(bytes(payload))
        return None if columns is None else (id_, columns)


def _mapped(path: pathlib.Path) -> mmap.mmap | bytes:
    if not path.exists() or not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        octet = data[at]
        at += 1
        value = value << 7 | octet & 0x7F
        if octet < 0x80:
            return value, at
    return value << 8 | data[at], at + 1


def _columns(payload: bytes) -> _Row | None:
    """The values of a record; None for what is none."""
    end, at = _varint(payload, 0)
    if not at <= end <= len(payload):
        return None
    kinds: list[int] = []
    while at < end and len(kinds) <= _MOST_COLUMNS:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[_Value] = []
    at = end
    for kind in kinds:
        if kind in (8, 9):
            values.append(kind - 8)
            continue
        size = _SIZES[kind] if kind < 7 else 8 if kind == 7 else (kind - 12) // 2
        data = payload[at : at + size]
        at += size
        if kind == 0:
            values.append(None)
        elif kind < 7:
            values.append(int.from_bytes(data, "big", signed=True))
        elif kind == 7:
            values.append(struct.unpack(">d", data)[0])
        else:
            values.append(data.decode() if kind & 1 else data)
    return tuple(values) if at == len(payload) else None


class Salvage:
    """What the pages of a damaged archive still say: mails, where they were found, git trees."""

    def __init__(self, path: pathlib.Path) -> None:
        """Look through the pages of the database in ``path``; raises OSError."""
        self._pages = Pages(path)
        self.dictionaries: dict[int, bytes] = {}
        #: Names of git trees with path and whether patch ids were asked for.
        self.trees: list[tuple[str, str, bool]] = []
        self.sources: dict[int, tuple[str, str, str]] = {}
        #: Source, offset, blob and fidelity by the hash of a copy.
        self._copies: dict[bytes, tuple[int, int, str | None, int]] = {}
        formats = frozenset(format_names())
        for id_, row in self._pages.rows():
            match row:
                case (None, bytes(data)) if data.startswith(_DICTIONARY_MAGIC):
                    self.dictionaries[id_] = data
                case (None, str(path_), str(form), str(list_)) if form in formats:
                    self.sources[id_] = (path_, form, list_)
                case (None, int(), int(source), int(offset), str() | None as blob, int() | None,
                      int(fidelity), int(), int(), bytes(sha256)) if len(sha256) == 32:  # fmt: skip
                    self._copies[sha256] = (source, offset, blob, fidelity)
                case (None, str(name), str(path_), str(state), int(), int(asked)) if re.match(
                    r"[0-9a-f]{64}", state
                ):
                    self.trees.append((name, path_, bool(asked)))

    def mails(self, codec: Codec, saved: set[bytes]) -> Iterator[Raw]:
        """Yield the mails that are not ``saved`` yet, by their hashes, which are added to it."""
        for _, row in self._pages.rows():
            match row:
                case (None, bytes(data)):
                    raw = self._mail(data, codec)
                    sha256 = b"" if raw is None else hashlib.sha256(raw.data).digest()
                    if raw is not None and sha256 not in saved:
                        saved.add(sha256)
                        yield raw

    def _mail(self, data: bytes, codec: Codec) -> Raw | None:
        """The mail in a row of ``content`` or of ``raw``."""
        try:
            unpacked = codec.decompress(data)
        except (zstandard.ZstdError, ValueError):
            return None
        with contextlib.suppress(ValueError):
            content = codec.unpack(data)
            where = found_at(content)
            if where is not None:
                return Raw(data=content.raw, source=where)
        source, offset, blob, fidelity = self._copies.get(
            hashlib.sha256(unpacked).digest(), (0, 0, None, len(FIDELITIES))
        )
        if source not in self.sources or not 0 <= fidelity < len(FIDELITIES):
            return None
        path, form, list_ = self.sources[source]
        return Raw(data=unpacked, source=source_of(path, form, list_, offset, blob, fidelity))

"""Zip files: by their directory, or member by member where the directory is lost.

The format: PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.4.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from patchlore.ingest.sources.compression import CHUNK, Readable

if TYPE_CHECKING:
    from patchlore.ingest.sources.archives import Archive, Budget, Member

#: The directory is read into memory, some 500 bytes for each 46 of the file.
_DIRECTORY_LIMIT = 1 << 26
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCAL = struct.Struct("<4s5H3L2H")
_STORED, _DEFLATED = 0, 8

#: What zipfile raises on damaged or hostile data.
_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,  # a compression or a zip version that zipfile does not know
    RuntimeError,
    MemoryError,
    OverflowError,
    AttributeError,
    IndexError,
)


class _Guarded:
    """A member's bytes; damage ends them and is told in ``trouble``."""

    def __init__(self, file: Readable, budget: Budget) -> None:
        self._file = file
        self._budget = budget
        self.trouble: str | None = None

    def read(self, size: int = -1, /) -> bytes:
        if self.trouble or self._budget.trouble:
            return b""
        try:
            data = self._file.read(CHUNK if size < 0 else min(size, CHUNK))
        except _ERRORS as error:
            self.trouble = _reason(error)
            return b""
        return data if self._budget.take(len(data)) else b""


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


def listed_members(archive: Archive, file: BinaryIO) -> Iterator[Member] | None:
    """The members by the directory at the file's end; None when it has none that can be read."""
    size = _directory_size(file)
    if size is None:
        return None
    if size > _DIRECTORY_LIMIT:
        archive.trouble = f"its directory takes {size >> 20} MiB"
        return iter(())
    try:
        box = zipfile.ZipFile(file)
    except _ERRORS:
        return None
    return _listed(archive, box)


def _listed(archive: Archive, box: zipfile.ZipFile) -> Iterator[Member]:
    for info in box.infolist():
        if info.is_dir() or (info.external_attr >> 28) not in (0, 8):
            continue  # a Unix mode of a link or a device
        if not archive.budget.next_member():
            return
        name = info.filename.encode("utf-8", "replace").decode("utf-8")
        if info.flag_bits & 1:
            archive.passed_over.append((name, "it is encrypted"))
            continue
        try:
            opened = box.open(info)
        except _ERRORS as error:
            archive.passed_over.append((name, f"it can't be read ({_reason(error)})"))
            continue
        member = _Guarded(opened, archive.budget)
        yield name, member
        while member.read():
            pass  # to its checksum
        if member.trouble:
            archive.passed_over.append((name, f"a part of it is lost ({member.trouble})"))
        opened.close()
        if archive.budget.trouble:
            return


def _directory_size(file: BinaryIO) -> int | None:
    """The bytes of the directory by the record at the end; None when there is none."""
    try:
        end = file.seek(0, 2)
        file.seek(max(0, end - (1 << 16) - _END.size - _LOCATOR.size))
        tail = file.read((1 << 16) + _END.size + _LOCATOR.size)
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < _END.size:
            return None
        size = int(_END.unpack_from(tail, at)[5])
        if at >= _LOCATOR.size and tail.startswith(b"PK\x06\x07", at - _LOCATOR.size):
            file.seek(int(_LOCATOR.unpack_from(tail, at - _LOCATOR.size)[2]))
            record = file.read(_END64.size)
            if record.startswith(b"PK\x06\x06") and len(record) == _END64.size:
                size = max(size if size != 0xFFFFFFFF else 0, int(_END64.unpack(record)[8]))
        file.seek(0)
    except (OSError, ValueError, OverflowError):
        return None
    return size


def standing_members(archive: Archive, file: BinaryIO) -> Iterator[Member]:
    """The members as they stand in the file, as far as they go: its directory is lost."""
    archive.trouble = "the directory at the end of the zip is missing: it is cut short"
    file.seek(0)
    while True:
        head = file.read(_LOCAL.size)
        if len(head) < _LOCAL.size or not head.startswith(b"PK\x03\x04"):
            return
        _, _, flags, method, _, _, _, packed, _, name_size, extra = _LOCAL.unpack(head)
        name = file.read(name_size).decode("utf-8" if flags & 0x800 else "cp437", "replace")
        file.read(extra)
        if not archive.budget.next_member():
            return
        unknown_size = bool(flags & 8)
        if flags & 1 or method not in (_STORED, _DEFLATED) or packed == 0xFFFFFFFF:
            return
        if unknown_size and method == _STORED:
            return
        start = file.tell()
        reader = _Standing(file, None if unknown_size else packed, method == _DEFLATED)
        if not name.endswith("/"):
            member = _Guarded(reader, archive.budget)
            yield name, member
            while member.read():
                pass
            if member.trouble:
                archive.passed_over.append((name, f"a part of it is lost ({member.trouble})"))
                return
        if archive.budget.trouble:
            return
        if unknown_size:
            file.seek(start + reader.used)
            if not _pass_descriptor(file):
                return
        else:
            file.seek(start + packed)


class _Standing:
    """One member's bytes from where the file stands; ``used`` counts packed ones."""

    def __init__(self, file: BinaryIO, size: int | None, deflated: bool) -> None:
        self._file = file
        self._left = size
        self._inflate = zlib.decompressobj(wbits=-15) if deflated else None
        self._pending = b""
        self.used = 0

    def read(self, size: int = -1, /) -> bytes:
        """Up to SIZE bytes (CHUNK at most)."""
        wanted = CHUNK if size <= 0 else min(size, CHUNK)
        inflate = self._inflate
        if inflate is None:
            return self._take(wanted)
        while not inflate.eof:
            packed = self._pending or self._take(wanted)
            data = inflate.decompress(packed, wanted)
            self._pending = inflate.unconsumed_tail
            if inflate.eof:
                self.used -= len(inflate.unused_data)
            if data or inflate.eof:
                return data
            if not packed:
                raise EOFError("the file ends in it")
        return b""

    def _take(self, wanted: int) -> bytes:
        if self._left is not None:
            wanted = min(wanted, self._left)
        data = self._file.read(wanted) if wanted else b""
        if wanted and not data and self._inflate is None:
            raise EOFError("the file ends in it")
        self.used += len(data)
        if self._left is not None:
            self._left -= len(data)
        return data


def _pass_descriptor(file: BinaryIO) -> bool:
    """Pass over checksum and sizes behind a member (12 to 24 bytes); False without a next one."""
    start = file.tell()
    behind = file.read(32)
    at = behind.find(b"PK\x03\x04", 12)
    file.seek(start + max(at, 0))
    return at >= 0

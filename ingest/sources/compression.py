"""Compressed files: recognised by magic, unpacked as a stream, bounded against bombs."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

#: First bytes of each compression (RFC 1952, bzip2, the .xz and .lzma formats, RFC 8878).
MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x5d\x00\x00", "lzma"),  # the settings that xz --format=lzma always writes
)

CHUNK = 1 << 18

#: Mail packs 3:1 to 30:1. A stream that goes on at more than RATIO:1 after
#: FREE bytes, or past LIMIT bytes, was made to fill a disk, not to be read.
RATIO = 400
FREE = 1 << 28
LIMIT = 1 << 38

#: Memory that a decoder may take for its dictionary; ``xz -9`` needs 65 MiB,
#: ``zstd --ultra -22`` 128 MiB, ``zstd --long=31`` is refused.
MEMORY = 1 << 28


class Readable(Protocol):
    """Bytes in order: all that a reader of a stream needs of a file."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to SIZE bytes; empty at the end."""
        ...


class _Decoder(Protocol):
    """The part of bz2's and lzma's decompressors that is used here."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the interface of bz2's and lzma's."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self._pending = b""
        self._full = False

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._pending and not self._full and not self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        out = self._zlib.decompress(self._pending + data, max(max_length, 0))
        self._pending = self._zlib.unconsumed_tail
        self._full = len(out) == max_length  # zlib may hold more without input left over
        return out


class _Zstd:
    """zstandard's streaming reader with the interface of bz2's and lzma's.

    The library has no bounded incremental call, so its input is fed to it in
    slices small enough that one slice unpacks to a bounded amount: a zstd block
    of 3 bytes can stand for 128 KiB (RFC 8878, RLE blocks).
    """

    SLICE = 1 << 9

    def __init__(self) -> None:
        import zstandard

        self._zstd = zstandard.ZstdDecompressor(max_window_size=MEMORY).decompressobj()
        self._pending = b""
        self.eof = False
        self.unused_data = b""

    @property
    def needs_input(self) -> bool:
        return not self._pending and not self.eof

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        self._pending += data
        out: list[bytes] = []
        size = 0
        position = 0
        while (
            position < len(self._pending) and not self.eof and (max_length < 0 or size < max_length)
        ):
            piece = self._pending[position : position + self.SLICE]
            position += len(piece)
            got = self._zstd.decompress(piece)
            out.append(got)
            size += len(got)
            if self._zstd.eof:
                self.eof = True
                self.unused_data = self._zstd.unused_data + self._pending[position:]
                position = len(self._pending)
        self._pending = self._pending[position:]
        return b"".join(out)


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=MEMORY),
    "zstd": _Zstd,
    "lzma": lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=MEMORY),
}


def compression_of(head: bytes) -> str | None:
    """The compression that HEAD, the first bytes of a file, shows; None for plain data."""
    for magic, name in MAGICS:
        if head.startswith(magic):
            return name
    return None


_UNPACK = ": unpack it and name what is in it"

#: What can hold mail but is not read: first bytes, and what to tell a person.
_NOT_READ: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x9d", f"packed by compress (.Z){_UNPACK}"),
    (b"\x1f\xa0", f"packed by compress -H (.Z){_UNPACK}"),
    (b"\x1f\x1e", f"packed by pack (.z){_UNPACK}"),
    (b"LZIP", f"packed by lzip (.lz){_UNPACK}"),
    (b"\x89LZO", f"packed by lzop (.lzo){_UNPACK}"),
    (b"\x04\x22\x4d\x18", f"packed by lz4 (.lz4){_UNPACK}"),
    (b"7z\xbc\xaf\x27\x1c", f"an archive of 7-Zip (.7z){_UNPACK}"),
    (b"Rar!\x1a\x07", f"a RAR archive (.rar){_UNPACK}"),
    (b"070707", f"a cpio archive{_UNPACK}"),
    (b"070701", f"a cpio archive{_UNPACK}"),
    (b"!<arch>\n", f"an ar archive (.a, .deb){_UNPACK}"),
    (b"\xed\xab\xee\xdb", f"an RPM package{_UNPACK}"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a file of Outlook or Office (.msg): export it as .eml"),
    (b"!BDN", "a mailbox of Outlook (.pst): export it as mbox"),
    (b"# v2 git bundle\n", "a git bundle: clone it and name the repository"),
    (b"# v3 git bundle\n", "a git bundle: clone it and name the repository"),
)


def packing_of(head: bytes) -> str | None:
    """What a file that begins with HEAD is, if it is packed in a way that is not read."""
    return next((text for magic, text in _NOT_READ if head.startswith(magic)), None)


class Unpacked:
    """A compressed stream, read as what it holds; several members are joined.

    Damage in the data raises nothing: the stream ends early and ``trouble``
    says why, ``consumed`` at which byte of the compressed stream, and ``cut``
    is true: there was more.
    """

    def __init__(self, packed: Readable, kind: str) -> None:
        self._packed = packed
        self._kind = kind
        self._decoder = _DECODERS[kind]()
        self._errors = _errors(kind)
        self._ended = False
        self._fed = False
        self.consumed = 0
        self.produced = 0
        self.trouble: str | None = None
        self.cut = False

    def read(self, size: int = -1, /) -> bytes:
        """Up to SIZE bytes (never more than CHUNK or so at a time); empty at the end."""
        wanted = CHUNK if size < 0 or size > CHUNK else size
        while not self._ended:
            try:
                data = self._step(wanted)
            except self._errors as error:
                return self._stop(_reason(self._kind, error))
            if data:
                return self._count(data)
        return b""

    def _step(self, wanted: int) -> bytes:
        decoder = self._decoder
        data = b""
        if decoder.eof:
            return self._next_member(wanted)
        if decoder.needs_input:
            data = self._packed.read(CHUNK)
            self.consumed += len(data)
            if not data:
                if self._fed:
                    self._stop(f"its {self._kind} data ends in the middle: the file is cut short")
                else:
                    self._ended = True
                return b""
            self._fed = True
        return decoder.decompress(data, wanted)

    def _next_member(self, wanted: int) -> bytes:
        """Go on with a further member, as zcat does; padding and junk behind are left."""
        rest = self._decoder.unused_data.lstrip(b"\x00")
        while len(rest) < 16:
            more = self._packed.read(CHUNK)
            self.consumed += len(more)
            if not more:
                break
            rest = (rest + more).lstrip(b"\x00")
        if compression_of(rest) != self._kind:
            self._ended = True
            if rest:
                self.trouble = f"{len(rest)} or more bytes after its {self._kind} data are ignored"
            return b""
        self._decoder = _DECODERS[self._kind]()
        return self._decoder.decompress(rest, wanted)

    def _count(self, data: bytes) -> bytes:
        self.produced += len(data)
        if self.produced > LIMIT:
            return self._stop(f"it unpacks to more than {LIMIT >> 30} GiB")
        if self.produced > FREE and self.produced > RATIO * self.consumed:
            return self._stop(
                f"{self.consumed} bytes of it unpack to more than {self.produced >> 20} MiB"
            )
        return data

    def _stop(self, trouble: str) -> bytes:
        self._ended = self.cut = True
        self.trouble = trouble
        return b""


def _errors(kind: str) -> tuple[type[Exception], ...]:
    """What a decoder of KIND raises on damaged data; OSError also when the disk fails."""
    common = (OSError, EOFError, ValueError, MemoryError, zlib.error, lzma.LZMAError)
    if kind != "zstd":
        return common
    import zstandard

    return (*common, zstandard.ZstdError)


def _reason(kind: str, error: BaseException) -> str:
    detail = str(error).strip().rstrip(".") or type(error).__name__
    if isinstance(error, OSError) and error.errno is not None:
        return f"reading it failed ({error.strerror})"
    return f"its {kind} data is damaged ({detail})"

"""Compressed streams are recognised, unpacked piece by piece, and bounded."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest.sources import compression
from patchlore.ingest.sources.compression import Unpacked, compression_of

TEXT = b"Message-ID: <1@example.org>\nSubject: lamp\n\nHello.\n" * 3000

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "zstd": zstandard.ZstdCompressor().compress,
}
KINDS = sorted(PACKERS)


def unpack(data: bytes, kind: str) -> tuple[bytes, Unpacked]:
    """All that a stream holds, and the stream."""
    stream = Unpacked(io.BytesIO(data), kind)
    out = b""
    while piece := stream.read(1 << 16):
        out += piece
    return out, stream


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_recognised_and_unpacked(kind: str) -> None:
    """What was packed comes back, and there is nothing to complain about."""
    packed = PACKERS[kind](TEXT)
    assert compression_of(packed) == kind
    out, stream = unpack(packed, kind)
    assert out == TEXT
    assert stream.trouble is None


@pytest.mark.parametrize("kind", KINDS)
def test_members_are_joined(kind: str) -> None:
    """Archives are made by appending a compressed file to another."""
    packed = PACKERS[kind](TEXT) + PACKERS[kind](b"more\n")
    out, stream = unpack(packed, kind)
    assert out == TEXT + b"more\n"
    assert stream.trouble is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_stream_gives_what_came_before(kind: str) -> None:
    """A download that stopped: the start is read, and the end is missed aloud."""
    noise = random.Random(7).randbytes(1 << 21)
    packed = PACKERS[kind](noise)
    out, stream = unpack(packed[: len(packed) * 3 // 4], kind)
    assert noise.startswith(out)
    assert len(out) > 100_000
    assert stream.trouble is not None
    assert "cut short" in stream.trouble


@pytest.mark.parametrize("kind", KINDS)
def test_damage_in_the_middle_is_told(kind: str) -> None:
    """A bad block ends the stream with a reason."""
    packed = bytearray(PACKERS[kind](random.Random(7).randbytes(1 << 16) + TEXT))
    middle = len(packed) // 2
    packed[middle : middle + 64] = bytes(64)
    if kind == "zstd":
        packed[:] = packed[:20] + b"\xff" * 100
    _, stream = unpack(bytes(packed), kind)
    assert stream.trouble is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_stopped(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that unpacks to hundreds of times its size is no mail."""
    monkeypatch.setattr(compression, "FREE", 1 << 20)
    out, stream = unpack(PACKERS[kind](bytes(1 << 25)), kind)
    assert len(out) < 1 << 24
    assert stream.trouble is not None
    assert "unpack" in stream.trouble


@pytest.mark.parametrize("kind", KINDS)
def test_no_step_unpacks_much_more_than_was_asked_for(kind: str) -> None:
    """Memory stays flat whatever the ratio is."""
    stream = Unpacked(io.BytesIO(PACKERS[kind](bytes(1 << 26))), kind)
    sizes = []
    while piece := stream.read(1 << 16):
        sizes.append(len(piece))
    assert sum(sizes) == 1 << 26
    assert max(sizes) <= 1 << 25


def test_padding_behind_a_member_is_no_damage() -> None:
    """Tapes and disks pad with zeros."""
    out, stream = unpack(gzip.compress(TEXT) + bytes(2000), "gzip")
    assert out == TEXT
    assert stream.trouble is None


def test_junk_behind_a_member_is_told() -> None:
    """What is not read is said."""
    out, stream = unpack(gzip.compress(TEXT) + b"junk" * 20, "gzip")
    assert out == TEXT
    assert stream.trouble is not None
    assert "ignored" in stream.trouble


def test_a_failing_disk_is_told() -> None:
    """An error of the system while reading ends the stream, too."""

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    stream = Unpacked(Failing(), "gzip")
    assert stream.read(10) == b""
    assert stream.trouble == "reading it failed (Input/output error)"


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.binary(max_size=200), st.binary(max_size=50))
def test_any_damage_is_survived(kind: str, tail: bytes, text: bytes) -> None:
    """Whatever follows the magic, nothing raises."""
    magic = {name: magic for magic, name in compression.MAGICS}[kind]
    unpack(magic + tail, kind)
    out, _ = unpack(PACKERS[kind](text) + tail, kind)
    assert out.startswith(text)

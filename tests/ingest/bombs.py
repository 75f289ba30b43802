"""Inputs made to exhaust a reader, and a process with a limit to read one in.

``python -m tests.ingest.bombs NAME FOLDER`` writes the bomb NAME to FOLDER,
reads it under a limit of memory, and prints what came out as JSON.
"""

from __future__ import annotations

import gzip
import lzma
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import zstandard

from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.reading import read_source
from tests.ingest.letters import letter

MIB = 1 << 20
#: Address space of a reading process: a fraction of what the bombs would take.
MEMORY = 1200 * MIB
SEPARATOR = b"From nora@example.org Thu Jun  8 07:06:05 2023\n"


class Outcome(msgspec.Struct):
    """What came of a bomb: mails with their subjects and defects, problems told, seconds taken."""

    subjects: list[str | None] = []
    defects: list[str] = []
    problems: list[str] = []
    levels: int = 0
    references: int = 0
    seconds: float = 0.0


def _parts(count: int, head: str) -> bytes:
    return letter(f"--b\n{head}\nx\n" * count, "Content-Type: multipart/mixed; boundary=b")


def _mails_in_mails(count: int) -> bytes:
    head = "Content-Type: message/rfc822"
    return letter(f"Subject: inner\n{head}\n\n" * count + "Subject: last\n\nx\n", head)


def _multiparts(count: int) -> bytes:
    text = "".join(
        f"--b{level}\nContent-Type: multipart/mixed; boundary=b{level + 1}\n\n"
        for level in range(count)
    )
    return letter(text, "Content-Type: multipart/mixed; boundary=b0")


def _html(count: int) -> bytes:
    return letter("<div>" * count + "x", "Content-Type: text/html")


def _zeros(size: int) -> Iterator[bytes]:
    yield SEPARATOR + letter("x\n")
    for _ in range(size // MIB):
        yield b"\x00" * MIB


def _gzip_bomb() -> bytes:
    """A mailbox of 1 GiB of zeros, in a few MiB."""
    block = gzip.compress(b"\x00" * (64 * MIB), 9, mtime=0)
    return gzip.compress(SEPARATOR + letter("x\n"), mtime=0) + block * 16


def _xz_bomb() -> bytes:
    block = lzma.compress(b"\x00" * (64 * MIB), preset=0)
    return lzma.compress(SEPARATOR + letter("x\n")) + block * 16


def _zstd_bomb() -> bytes:
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join(packer.compress(block) for block in _zeros(1024 * MIB)) + packer.flush()


def _zstd_window() -> bytes:
    """A frame whose header asks for a window of 2 GiB (RFC 8878, section 3.1.1.1.2)."""
    return b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00"


def _layers() -> bytes:
    data = letter("x\n")
    for _ in range(40):
        data = gzip.compress(data, mtime=0)
    return data


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": _gzip_bomb,
    "xz": _xz_bomb,
    "zstd": _zstd_bomb,
    "zstd-window": _zstd_window,
    "layers": _layers,
    "line": lambda: letter("x" * (100 * MIB)),
    "parts": lambda: _parts(10_000, "Content-Type: text/plain\n"),
    "bare-parts": lambda: _parts(10_000, ""),
    "mails-in-mails": lambda: _mails_in_mails(40),
    "mails-beyond-python": lambda: _mails_in_mails(600),
    "mails-without-end": lambda: _mails_in_mails(20_000),
    "multiparts": lambda: _multiparts(5_000),
    "headers": lambda: letter("x", *["X-Loop: lamps@example.org"] * 100_000),
    "loop": lambda: letter("x", *["Received: by a; Thu, 8 Jun 2023 09:06:06 +0200"] * 100_000),
    "to": lambda: letter("x", *["To: bo@example.org"] * 100_000),
    "references": lambda: letter(
        "x", "References: " + "\n ".join(f"<lamp-{n}@example.org>" for n in range(100_000))
    ),
    "subject": lambda: letter("x", subject="[PATCH] " + "dim " * (50 * MIB // 4)),
    "subject-tags": lambda: letter("x", subject="[PATCH] " * (10 * MIB // 8)),
    "subject-words": lambda: letter("x", subject="=?utf-8?q?a?= " * (10 * MIB // 14)),
    "html": lambda: _html(400_000),
    "boundary": lambda: letter(
        "--" * (MIB // 4), "Content-Type: multipart/mixed; boundary=" + "-" * (MIB // 4)
    ),
}  # fmt: skip


def _levels(message: Message) -> int:
    return 1 + max((_levels(nested) for nested in message.nested), default=0)


def _codes(message: Message) -> list[str]:
    return [defect.code for defect in message.defects] + [
        code for nested in message.nested for code in _codes(nested)
    ]


def read(path: Path) -> Outcome:
    """Read and parse all that PATH holds."""
    outcome = Outcome()
    start = time.process_time()
    for item in read_source(str(path)):
        if isinstance(item, Problem):
            outcome.problems.append(item.code)
        elif isinstance(item, Raw):
            message = parse_raw(item)
            outcome.subjects.append((message.subject or "")[:40])
            outcome.defects += _codes(message)
            outcome.levels = max(outcome.levels, _levels(message))
            outcome.references = max(outcome.references, len(message.references))
    outcome.seconds = time.process_time() - start
    return outcome


def main() -> None:
    """Write a bomb, then read it with little memory."""
    name, folder = sys.argv[1:]
    path = Path(folder) / name
    path.write_bytes(BOMBS[name]())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.stdout.buffer.write(msgspec.json.encode(read(path)))


if __name__ == "__main__":
    main()

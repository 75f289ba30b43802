"""Archives (tar and zip): what is in them is read by content, as files in a folder are.

Nothing is unpacked to disk. Links and devices are passed over, and a member's
name is only ever shown, never opened: ``../../etc/passwd`` does no harm.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.compression import CHUNK, FREE, LIMIT, RATIO, Readable
from patchlore.ingest.sources.items import Part, Problem
from patchlore.ingest.sources.patch_folder import Folders, is_series_name

#: An archive in an archive in an archive is read; what is in that one is not.
MAX_DEPTH = 3
MAX_MEMBERS = 1_000_000
#: How many members without mail are named one by one.
NAMED_MEMBERS = 20
#: Longer names and pax records are somebody's joke: POSIX has 255 and 1024.
_NAME_LIMIT = 1 << 16
_SHOWN_NAME = 1000

_BLOCK = 512
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
#: Types whose header has a size that nothing follows (pax, POSIX.1-2001).
_WITHOUT_DATA = (
    tarfile.LNKTYPE,
    tarfile.SYMTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
)

Member = tuple[str, Readable]
#: Makes the mails of a member: its path (``box.tar!name``) and its bytes.
Opener = Callable[[Readable, str], Iterator[Part]]


def archive_kind(head: bytes) -> str | None:
    """``tar`` or ``zip`` if HEAD is the start of one (a tar of any age: by its checksum)."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if len(head) < _BLOCK or not head[0]:
        return None
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "replace")
    except (tarfile.TarError, ValueError):
        return None
    return "tar"


class Budget:
    """What may come out of one archive with all that is in it: members, and bytes.

    ``packed`` is how many bytes of the archive were read so far, or its size.
    """

    def __init__(self, packed: int = 0) -> None:
        self.packed = packed
        self.produced = 0
        self.members = 0
        self.trouble: str | None = None

    def take(self, size: int) -> bool:
        """Count SIZE unpacked bytes; False when the archive was made to fill a disk."""
        self.produced += size
        if self.produced > LIMIT:
            self.trouble = f"it unpacks to more than {LIMIT >> 30} GiB"
        elif self.produced > FREE and self.produced > RATIO * max(self.packed, 1):
            self.trouble = (
                f"{self.packed} bytes of it unpack to more than {self.produced >> 20} MiB"
            )
        return self.trouble is None

    def next_member(self) -> bool:
        """Count a member; False when there are too many."""
        self.members += 1
        if self.members > MAX_MEMBERS:
            self.trouble = f"it has more than {MAX_MEMBERS} members"
        return self.trouble is None


class Counted:
    """A stream whose bytes are counted as what an archive takes packed."""

    def __init__(self, stream: Readable, budget: Budget) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self._budget.packed += len(data)
        return data


class _Part:
    """The next SIZE bytes of a stream; ``cut`` when it ends before."""

    def __init__(self, stream: Readable, size: int, budget: Budget) -> None:
        self._stream = stream
        self._budget = budget
        self.left = size
        self.cut = False

    def read(self, size: int = -1, /) -> bytes:
        wanted = self.left if size < 0 else min(size, self.left)
        if not wanted or self.cut or self._budget.trouble:
            return b""
        data = self._stream.read(min(wanted, CHUNK))
        self.left -= len(data)
        self.cut = not data
        return data if self._budget.take(len(data)) else b""


class Archive:
    """One archive's members. ``trouble`` says why they ended early, if they did."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.trouble: str | None = None
        #: Members that are not read: sparse files, encrypted ones.
        self.passed_over: list[tuple[str, str]] = []

    def tar_members(self, stream: Readable) -> Iterator[Member]:
        """The regular files of a tar (POSIX ustar and pax, GNU, V7), in order."""
        name: str | None = None
        size: int | None = None
        offset = 0
        while True:
            block = self._block(stream, offset)
            if block is None:
                return
            try:
                info = tarfile.TarInfo.frombuf(block, "utf-8", "replace")
            except (tarfile.TarError, ValueError):
                self.trouble = f"at byte {offset} of the tar there is no header of a member"
                return
            length = info.size if size is None else size
            if length < 0:
                self.trouble = f"at byte {offset} of the tar a member has a size below 0"
                return
            offset += _BLOCK
            if info.type in _WITHOUT_DATA:
                name = size = None
                continue
            if not self.budget.next_member():
                return
            part = _Part(stream, length, self.budget)
            if info.type == tarfile.GNUTYPE_LONGNAME:
                name = _text(_exactly(part, min(length, _NAME_LIMIT)).split(b"\0")[0])
            elif info.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                name, size = _pax(_exactly(part, min(length, _NAME_LIMIT)), name)
            elif info.type in _REGULAR and not info.name.endswith("/"):
                yield name or info.name, part
                name = size = None
            elif info.type == tarfile.GNUTYPE_SPARSE:
                self.passed_over.append((name or info.name, "it is a sparse file"))
                self.trouble = "behind a sparse file it can't be read on"
                return
            elif info.type not in (tarfile.GNUTYPE_LONGLINK, tarfile.XGLTYPE):
                name = size = None
            padding = -length % _BLOCK
            if not self._drain(part) or len(_exactly(stream, padding)) < padding:
                self.trouble = self.budget.trouble or "it ends in the middle of a member"
                return
            offset += length + padding

    def _block(self, stream: Readable, offset: int) -> bytes | None:
        """The next header; None at the end, which two blocks of zeros mark."""
        block = _exactly(stream, _BLOCK)
        if len(block) < _BLOCK:
            self.trouble = f"its end mark is missing after byte {offset}: it may be cut short"
            return None
        return block if block.strip(b"\0") else None

    def _drain(self, part: _Part) -> bool:
        """Pass over what the reader of a member left; False when the archive ends there."""
        while part.left and not part.cut and self.budget.trouble is None:
            part.read(CHUNK)
        return not part.cut and self.budget.trouble is None

    def zip_members(self, file: BinaryIO) -> Iterator[Member]:
        """The files of a zip, as its directory lists them; without one as they stand."""
        from patchlore.ingest.sources.zips import listed_members, standing_members

        members = listed_members(self, file)
        yield from standing_members(self, file) if members is None else members


def _exactly(stream: Readable, size: int) -> bytes:
    """SIZE bytes of STREAM, which may give them piece by piece; fewer at its end."""
    data = b""
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return data


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _pax(records: bytes, name: str | None) -> tuple[str | None, int | None]:
    """The ``path`` and ``size`` that a pax header states: records ``LENGTH KEY=VALUE\\n``."""
    size = None
    at = 0
    while at < len(records):
        length, blank, _ = records[at : at + 12].partition(b" ")
        if not blank or not length.isdigit() or int(length) <= len(length) + 1:
            break
        key, _, value = records[at + len(length) + 1 : at + int(length) - 1].partition(b"=")
        if key == b"path":
            name = _text(value).replace("\0", "\ufffd")
        elif key == b"size" and value.isdigit():
            size = int(value[:20])
        at += int(length)
    return name, size


def read_archive(
    kind: str, stream: Readable, file: BinaryIO | None, path: str, budget: Budget, read: Opener
) -> Iterator[Part]:
    """What is in the archive PATH: each member through READ, as ``PATH!NAME``.

    STREAM gives its bytes; FILE is the same where it can be sought in. Members
    that hold no mail are named, the first few one by one.
    """
    archive = Archive(budget)
    folders = Folders()
    without_mail = 0
    mails = 0
    if kind == "tar":
        members = archive.tar_members(stream)
    else:
        members = archive.zip_members(file or _in_memory(stream, archive))
    for name, member in members:
        shown = f"{path}!{name[:_SHOWN_NAME]}"
        if is_hidden(name):
            continue
        if is_series_name(name):
            data = _Head(member)
            folders.add_series(name, data.head)
            continue
        folders.add_file(name)
        for item in read(member, shown):
            if isinstance(item, Problem) and item.code in ("no-mail", "empty"):
                without_mail += 1
                if without_mail > NAMED_MEMBERS:
                    continue
            mails += isinstance(item, Raw)
            yield item
    for name, why in archive.passed_over[:NAMED_MEMBERS]:
        yield Problem(path, 0, f"{path}!{name[:_SHOWN_NAME]}: {why}; unpack it and name the file.")
    for name, missing in folders.missing():
        yield Problem(path, 0, f"{path}!{name} lists {missing}, which is not in the archive.")
    if without_mail > NAMED_MEMBERS:
        more = without_mail - NAMED_MEMBERS
        inside = f"{path}!"
        yield Problem(inside, 0, f"{path}: {more} more members hold no mail.", "no-mail", more)
    trouble = archive.trouble or budget.trouble
    if trouble is not None:
        text = f"{path}: {trouble}. What was before it has been read; fetch the archive again."
        yield Problem(path, 0, text)
    elif not mails and not without_mail:
        yield Problem(path, 0, f"{path}: there is no mail in this archive.", "no-mail")


class _Head:
    """The first 4 MiB of a member: no series file is longer."""

    def __init__(self, member: Readable) -> None:
        pieces: list[bytes] = []
        size = 0
        while size < 1 << 22 and (data := member.read(CHUNK)):
            pieces.append(data)
            size += len(data)
        self.head = b"".join(pieces)


def is_hidden(name: str) -> bool:
    """Whether a member would be passed over in a folder: ``.git/HEAD``, ``__MACOSX/._a``.

    Folders of a maildir begin with a dot (Maildir++): ``.Sent/cur/1686.M1P2``.
    """
    folders = name.split("/")
    if len(folders) > 2 and folders[-2] in ("cur", "new"):
        return False
    return any(
        (part.startswith(".") and part not in (".", "..")) or part == "__MACOSX" for part in folders
    )


#: A zip that is no file on its own is held in memory, if it is no larger.
_MEMORY_LIMIT = 1 << 26


def _in_memory(stream: Readable, archive: Archive) -> BinaryIO:
    held = io.BytesIO()
    while held.tell() <= _MEMORY_LIMIT and (data := stream.read(CHUNK)):
        held.write(data)
    if held.tell() > _MEMORY_LIMIT:
        archive.trouble = f"it is a zip of more than {_MEMORY_LIMIT >> 20} MiB in another file"
    held.seek(0)
    return held

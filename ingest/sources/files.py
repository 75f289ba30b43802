"""Reading one file: unpacked as needed, split by its format, continued where it was appended to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import BinaryIO

from patchlore.ingest.detect import HEAD, Format, detect
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.archives import (
    MAX_DEPTH,
    Budget,
    Counted,
    archive_kind,
    read_archive,
)
from patchlore.ingest.sources.compression import Readable, Unpacked, compression_of, packing_of
from patchlore.ingest.sources.items import Found, Mark, MarkOf, Part, Problem
from patchlore.ingest.sources.mbox import MAIL_LIMIT, is_separator_line, line_at, split_mbox
from patchlore.ingest.sources.window import Window

#: Compressed within compressed: ``mail.mbox.gz.xz`` happens, more is an attack.
_MAX_LAYERS = 3
_PROBE = 4096


def read_file(
    path: str, *, list_name: str | None, form: Format | None, mark_of: MarkOf
) -> Iterator[Found]:
    """The mails of the file PATH that came after its stored mark, and its new mark.

    There is no mark when something in the file could not be read: the next run
    says so again. FORM overrides what the content says.
    """
    key = "file:" + os.path.realpath(path)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            stored = _FileState.parse(mark_of(key))
            if stored is not None and stored.same(status):
                return
            if status.st_size == 0:
                yield Problem(path, 0, f"{path}: the file is empty.", "empty")
                return
            complete = True
            items: Iterator[Part]
            if (appended := _appended(file, stored, status.st_size)) is not None:
                window, first = appended
                items = _split_appended(window, path, list_name, first)
                stream = None
            else:
                file.seek(0)
                budget = Budget(status.st_size)
                limited = _Limited(file, status.st_size)
                stream = Stream(limited, path, list_name, form, budget=budget, seekable=file)
                items = stream.run()
            for item in items:
                if isinstance(item, Problem) and not _about_member(item, path):
                    complete = False
                yield item
            appendable = stream is None or stream.is_plain_mbox
            if complete:
                probe = _probe(file, status.st_size) if appendable else ""
                yield Mark(key, _FileState(status.st_size, status.st_mtime_ns, probe).text())
    except OSError as error:
        yield Problem(path, 0, f"{path}: {why(error)}.", "unreadable")


def _about_member(problem: Problem, path: str) -> bool:
    """Is it about a member of an archive that holds no mail? The archive was read all the same."""
    return problem.path != path and problem.code in ("no-mail", "empty")


def why(error: OSError) -> str:
    """What a person should know of ERROR."""
    if isinstance(error, PermissionError):
        return "you may not read it (permission denied)"
    return error.strerror or str(error)


def _split_appended(
    window: Window, path: str, list_name: str | None, first: bytes
) -> Iterator[Part]:
    mails = split_mbox(window, path, list_name, first=first)
    yield from _marking_cut(mails, lambda: window.trouble is not None)
    if window.trouble is not None:
        yield Problem(path, window.base, f"{path}: {window.trouble}.", "unreadable")


class _Limited:
    """A file up to the size that it had when it was opened: it may be growing."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(min(size, self._left) if size >= 0 else self._left)
        self._left -= len(data)
        return data


class Stream:
    """One file's content, from compressed bytes to mails.

    ``budget`` and ``depth`` bound what comes out of archives in it; ``seekable``
    is the file itself where it may be sought in.
    """

    def __init__(
        self,
        file: Readable,
        path: str,
        list_name: str | None,
        form: Format | None,
        *,
        budget: Budget | None = None,
        seekable: BinaryIO | None = None,
        depth: int = 0,
    ) -> None:
        self.budget = Budget() if budget is None else budget
        self.file = Counted(file, self.budget) if budget is None else file
        self.seekable = seekable
        self.depth = depth
        self.path = path
        self.list_name = list_name
        self.form = form
        #: Known after run(): may mails be appended to it behind its end?
        self.is_plain_mbox = False

    def run(self) -> Iterator[Part]:
        window = Window(self.file)
        window.fill(HEAD)
        layers: list[Unpacked] = []
        while (kind := compression_of(bytes(window.data[:16]))) is not None:
            if len(layers) == _MAX_LAYERS:
                text = f"{self.path}: it is compressed more than {_MAX_LAYERS} times over."
                yield Problem(self.path, 0, text)
                return
            layers.append(Unpacked(_Rest(window), kind))
            window = Window(layers[-1])
            window.fill(HEAD)
        kind = archive_kind(bytes(window.data[:512]))
        if kind is None:
            mails = self._mails(window, packed=bool(layers))
            yield from _marking_cut(mails, lambda: self._is_cut(window, layers))
        elif self.depth == MAX_DEPTH:
            text = f"{self.path}: it is an archive more than {MAX_DEPTH} archives deep."
            yield Problem(self.path, 0, text, "no-mail")
        else:
            file = self.seekable if not layers else None
            yield from read_archive(kind, _Rest(window), file, self.path, self.budget, self._member)
        for layer in layers[:1]:
            if layer.trouble is not None:
                yield Problem(
                    self.path,
                    layer.consumed,
                    f"{self.path}: at byte {layer.consumed}, {layer.trouble}. "
                    "What was before it has been read; fetch the file again.",
                )
        for layer in layers[1:]:
            if layer.trouble is not None:
                text = f"{self.path}: inside it, at byte {layer.consumed}, {layer.trouble}."
                yield Problem(self.path, 0, text)
        if window.trouble is not None:
            offset = window.base + len(window.data)
            yield Problem(self.path, offset, f"{self.path}: at byte {offset}, {window.trouble}.")

    def _is_cut(self, window: Window, layers: list[Unpacked]) -> bool:
        """Whether the stream ended before the data did."""
        return (
            window.trouble is not None
            or any(layer.cut for layer in layers)
            or getattr(self.file, "cut", False)
        )

    def _member(self, file: Readable, path: str) -> Iterator[Part]:
        """What a member of an archive holds."""
        yield from Stream(
            file, path, self.list_name, self.form, budget=self.budget, depth=self.depth + 1
        ).run()

    def _mails(self, window: Window, *, packed: bool) -> Iterator[Part]:
        head = bytes(window.data[:HEAD])
        form = self.form or detect(head)
        if form is None:
            if not head.strip():
                yield Problem(self.path, 0, f"{self.path}: there is nothing in it.", "empty")
                return
            if (packed_as := packing_of(head)) is not None:
                yield Problem(self.path, 0, f"{self.path} is {packed_as}.", "packed")
                return
            text = f"{self.path} is no mail, no mailbox, no patch and no page of a known archive."
            yield Problem(self.path, 0, text, "no-mail")
            return
        if form.split is not None:
            self.is_plain_mbox = form.name == "mbox" and not packed
            yield from form.split(window, self.path, self.list_name)
            return
        too_large = window.fill(MAIL_LIMIT + 1)
        if too_large:
            text = f"{self.path}: it is larger than {MAIL_LIMIT >> 20} MiB; the rest is left out."
            yield Problem(self.path, MAIL_LIMIT, text)
        data = bytes(window.data[:MAIL_LIMIT])
        start = form.start(data)
        data = data[start:]
        source = Source(
            path=self.path,
            format=form.name,
            offset=start,
            fidelity=form.fidelity_of(data),
            list=self.list_name,
        )
        yield Raw(data=data, source=source, cut=too_large)


def _marking_cut(parts: Iterator[Part], is_cut: Callable[[], bool]) -> Iterator[Part]:
    """PARTS; the last mail is marked when the stream turns out to be cut: it was read in it."""
    last: Raw | None = None
    for part in parts:
        if last is not None:
            yield last
            last = None
        if isinstance(part, Raw):
            last = part
        else:
            yield part
    if last is not None:
        last.cut = last.cut or is_cut()
        yield last


class _Rest:
    """What a window holds, then what its stream still gives."""

    def __init__(self, window: Window) -> None:
        self._window = window

    def read(self, size: int = -1, /) -> bytes:
        window = self._window
        if not window.data:
            window.more()
        size = len(window.data) if size < 0 else size
        data = bytes(window.data[:size])
        window.drop(len(data))
        return data


class _FileState:
    """The stored state of a file: ``SIZE MTIME_NS PROBE``; the probe only of plain mailboxes."""

    def __init__(self, size: int, mtime_ns: int, probe: str) -> None:
        self.size = size
        self.mtime_ns = mtime_ns
        self.probe = probe

    @classmethod
    def parse(cls, text: str | None) -> _FileState | None:
        """The state that TEXT holds; None when there is none."""
        parts = (text or "").split(" ")
        if len(parts) != 3 or not parts[0].isdigit() or not parts[1].lstrip("-").isdigit():
            return None
        return cls(int(parts[0]), int(parts[1]), parts[2])

    def text(self) -> str:
        return f"{self.size} {self.mtime_ns} {self.probe}"

    def same(self, status: os.stat_result) -> bool:
        return self.size == status.st_size and self.mtime_ns == status.st_mtime_ns


def _probe(file: BinaryIO, size: int) -> str:
    """A hash of the start and of the end of a file's first SIZE bytes."""
    digest = blake2b(digest_size=12)
    file.seek(0)
    digest.update(file.read(min(_PROBE, size)))
    file.seek(max(0, size - _PROBE))
    digest.update(file.read(min(_PROBE, size)))
    return digest.hexdigest()


def _appended(file: BinaryIO, stored: _FileState | None, size: int) -> tuple[Window, bytes] | None:
    """A window on what was appended to a mailbox, and its first line; None to read it anew.

    It is appended to when the start and the end of what was there are the same
    and a separator follows: the last mail may have been half written then.
    """
    if stored is None or not stored.probe or size <= stored.size:
        return None
    if _probe(file, stored.size) != stored.probe:
        return None
    file.seek(0)
    first = line_at(file.read(_PROBE), 0)
    file.seek(stored.size)
    window = Window(_Limited(file, size - stored.size), stored.size)
    window.fill(_PROBE)
    while bytes(window.data[:1]) in (b"\n", b"\r"):
        window.drop(1)
    if not is_separator_line(line_at(window.data, 0)):
        return None
    return window, first

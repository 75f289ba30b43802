"""Reading sources: whatever a path names, as a stream of mails, marks and problems."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import BinaryIO

from patchlore.ingest.detect import HEAD, Format, detect, format_named
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.compression import Readable, Unpacked, compression_of
from patchlore.ingest.sources.items import Item, Mark, Problem
from patchlore.ingest.sources.maildir import is_maildir, read_maildir
from patchlore.ingest.sources.mbox import MAIL_LIMIT, is_separator_line, line_at, split_mbox
from patchlore.ingest.sources.public_inbox import (
    epochs_of,
    is_bare_repository,
    read_repository,
)
from patchlore.ingest.sources.window import Window

__all__ = ["Item", "Mark", "Problem", "read_source"]

#: Compressed within compressed: ``mail.mbox.gz.xz`` happens, more is an attack.
_MAX_LAYERS = 3
#: How many files without mail a folder's problems name one by one.
_NAMED_FILES = 20
_PROBE = 4096

MarkOf = Callable[[str], str | None]


def _no_mark(key: str) -> str | None:
    return None


def read_source(
    path: str,
    *,
    list_name: str | None = None,
    format: str | None = None,
    mark_of: MarkOf = _no_mark,
) -> Iterator[Item]:
    """Every mail that PATH holds: a file, a folder, a repository, or ``-`` for standard input.

    LIST_NAME is noted with each mail. FORMAT (a name of detect.py's table)
    overrides what the content of files says. ``mark_of(key)`` gives the state
    that a Mark of an earlier run stored for that key; what has not changed
    since yields nothing. What can't be read is a Problem and the rest goes on.

    Raises IngestError for an unknown FORMAT, at the first step.
    """
    form = format_named(format) if format is not None else None
    reader = _Reader(list_name, form, mark_of)
    if path == "-":
        yield from reader.stream(sys.stdin.buffer, "-")
        return
    yield from reader.path(path)


class _Limited:
    """A file up to the size that it had when it was opened: it may be growing."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(min(size, self._left) if size >= 0 else self._left)
        self._left -= len(data)
        return data


class _Reader:
    """One call of read_source: what the caller asked for, and the folders it has been in."""

    def __init__(self, list_name: str | None, form: Format | None, mark_of: MarkOf) -> None:
        self.list_name = list_name
        self.form = form
        self.mark_of = mark_of
        self.folders: set[tuple[int, int]] = set()

    def path(self, path: str) -> Iterator[Item]:
        """What PATH holds, as the user named it."""
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            yield Problem(path, 0, f"{path}: {_strerror(error)}.")
            return
        if stat.S_ISDIR(mode):
            yield from self.named_folder(path)
        elif stat.S_ISREG(mode):
            yield from self.file(path)
        else:
            try:
                with open(path, "rb") as file:
                    yield from self.stream(file, path)
            except OSError as error:
                yield Problem(path, 0, f"{path}: {_strerror(error)}.")

    def named_folder(self, path: str) -> Iterator[Item]:
        """A folder that the user named: says so when there is no mail in it at all."""
        idle: list[str] = []
        useful = False
        without_mail = 0
        for item in self.folder(path, idle):
            if isinstance(item, Problem) and item.offset == 0 and item.text.endswith(_NO_MAIL):
                without_mail += 1
                if without_mail > _NAMED_FILES:
                    continue
            useful = useful or not isinstance(item, Problem)
            yield item
        if without_mail > _NAMED_FILES:
            more = without_mail - _NAMED_FILES
            yield Problem(path, 0, f"{path}: {more} more files in it hold no mail.")
        if not useful and not idle and not without_mail:
            yield Problem(
                path,
                0,
                f"{path}: there is no mail in this folder. Name a folder of mails or patches, "
                "a maildir, or a public-inbox (the folder that has git/0.git in it).",
            )

    def folder(self, path: str, idle: list[str]) -> Iterator[Item]:
        """What is in a folder, sorted; IDLE gets a name for each source that had nothing new."""
        try:
            status = os.stat(path)
            names = sorted(os.listdir(path))
        except OSError as error:
            yield Problem(path, 0, f"{path}: {_strerror(error)}.")
            return
        if (status.st_dev, status.st_ino) in self.folders:
            return  # a symbolic link back up
        self.folders.add((status.st_dev, status.st_ino))
        repositories = [path] if is_bare_repository(path) else epochs_of(path)
        if repositories:
            for repository in repositories:
                yield from _noting_idle(
                    read_repository(repository, list_name=self.list_name, mark_of=self.mark_of),
                    repository,
                    idle,
                )
            return
        if is_maildir(path):
            mails = read_maildir(path, list_name=self.list_name, mark_of=self.mark_of)
            yield from _noting_idle(mails, path, idle)
            names = [name for name in names if name not in ("cur", "new", "tmp")]
            # Maildir++ keeps its folders as ".Name"; other files there are the server's.
            names = [name for name in names if os.path.isdir(os.path.join(path, name))]
        else:
            names = [name for name in names if not name.startswith(".")]
        for name in _series_first(path, names):
            inner = os.path.join(path, name)
            try:
                mode = os.stat(inner).st_mode
            except OSError as error:
                yield Problem(inner, 0, f"{inner}: {_strerror(error)}.")
                continue
            if stat.S_ISDIR(mode):
                if name != ".git":
                    yield from self.folder(inner, idle)
            elif stat.S_ISREG(mode):
                yield from _noting_idle(self.file(inner), inner, idle)

    def file(self, path: str) -> Iterator[Item]:
        """The mails of one file, and the mark that says how far it was read."""
        key = "file:" + os.path.realpath(path)
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                stored = _FileState.parse(self.mark_of(key))
                if stored is not None and stored.same(status):
                    return
                if status.st_size == 0:
                    yield Problem(path, 0, f"{path}: the file is empty.")
                    return
                yield from self._open_file(file, path, key, status, stored)
        except OSError as error:
            yield Problem(path, 0, f"{path}: {_strerror(error)}.")

    def _open_file(
        self,
        file: BinaryIO,
        path: str,
        key: str,
        status: os.stat_result,
        stored: _FileState | None,
    ) -> Iterator[Item]:
        window = None
        first = b""
        if stored is not None and stored.probe and status.st_size > stored.size:
            window, first = _appended(file, stored, status.st_size)
        if window is not None:
            items: Iterator[Raw | Problem] = split_mbox(window, path, self.list_name, first=first)
            appendable = True
        else:
            file.seek(0)
            reading = _Stream(_Limited(file, status.st_size), path, self.list_name, self.form)
            items = reading.run()
            appendable = False
        complete = True
        for item in items:
            complete = complete and not isinstance(item, Problem)
            yield item
        if window is None:
            appendable = reading.is_plain_mbox
        elif window.trouble is not None:
            complete = False
            yield Problem(path, window.base, f"{path}: {window.trouble}.")
        if complete:
            probe = _probe(file, status.st_size) if appendable else ""
            yield Mark(key, _FileState(status.st_size, status.st_mtime_ns, probe).text())

    def stream(self, file: Readable, path: str) -> Iterator[Item]:
        """The mails of a stream that can be read once: a pipe, standard input."""
        yield from _Stream(file, path, self.list_name, self.form).run()


_NO_MAIL = "is no mail, no mailbox, no patch and no page of a known archive."


class _Stream:
    """One file's content, from compressed bytes to mails."""

    def __init__(
        self, file: Readable, path: str, list_name: str | None, form: Format | None
    ) -> None:
        self.file = file
        self.path = path
        self.list_name = list_name
        self.form = form
        #: Known after run(): may mails be appended to it behind its end?
        self.is_plain_mbox = False

    def run(self) -> Iterator[Raw | Problem]:
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
        yield from self._mails(window, packed=bool(layers))
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

    def _mails(self, window: Window, *, packed: bool) -> Iterator[Raw | Problem]:
        head = bytes(window.data[:HEAD])
        form = self.form or detect(head)
        if form is None:
            if not head.strip():
                if not packed or not head:
                    yield Problem(self.path, 0, f"{self.path}: there is nothing in it.")
                return
            yield Problem(self.path, 0, f"{self.path} {_NO_MAIL}")
            return
        if form.split is not None:
            self.is_plain_mbox = form.name == "mbox" and not packed
            yield from form.split(window, self.path, self.list_name)
            return
        if window.fill(MAIL_LIMIT + 1):
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
        yield Raw(data=data, source=source)


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


def _appended(file: BinaryIO, stored: _FileState, size: int) -> tuple[Window | None, bytes]:
    """A window on what was appended to a mailbox, and its first line; None to read it anew.

    It is appended to when the start and the end of what was there are the same
    and a separator follows: the last mail may have been half written then.
    """
    if _probe(file, stored.size) != stored.probe:
        return None, b""
    file.seek(0)
    first = line_at(file.read(_PROBE), 0)
    file.seek(stored.size)
    window = Window(_Limited(file, size - stored.size), stored.size)
    window.fill(_PROBE)
    while bytes(window.data[:1]) in (b"\n", b"\r"):
        window.drop(1)
    if not is_separator_line(line_at(window.data, 0)):
        return None, b""
    return window, first


def _noting_idle(items: Iterator[Item], name: str, idle: list[str]) -> Iterator[Item]:
    """ITEMS; when there are none, NAME goes to IDLE: it is known and has nothing new."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty and len(idle) < 1:
        idle.append(name)


def _series_first(path: str, names: list[str]) -> list[str]:
    """NAMES in the order of quilt's ``series`` file, where there is one; then the others."""
    if "series" not in names:
        return names
    try:
        with open(os.path.join(path, "series"), encoding="utf-8", errors="replace") as file:
            lines = file.read(1 << 22).splitlines()
    except OSError:
        return names
    listed = [line.split("#", 1)[0].split() for line in lines]
    order = [words[0] for words in listed if words and words[0] in set(names)]
    if not order:
        return names
    rest = [name for name in names if name not in set(order) and name != "series"]
    return list(dict.fromkeys(order)) + rest


def _strerror(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "you may not read it (permission denied)"
    return error.strerror or str(error)

"""Folders of patches: quilt's ``series`` gives the order, stable-queue's folders the tree.

quilt(1): a name a line, options behind it (``-p0``, ``-R``), comments from ``#``
on. SUSE's ``series.conf`` has guards in front (``+needs_update lamp.patch``),
Mercurial's queues behind (``lamp.patch #+stable``); a guarded patch is read
like any other. https://git.kernel.org/pub/scm/linux/kernel/git/stable/stable-queue.git
keeps what waits for a release in ``queue-6.6`` and what is out in ``releases/6.6.9``.
Collections of fixes for old kernels have ``CVE-2023-90001/4.19/0001.patch``.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from msgspec import Struct

from patchlore.ingest.raw import Place
from patchlore.ingest.sources.items import Problem

_SERIES_LIMIT = 1 << 22
_NAMED_MISSING = 20
#: A folder with more files is no folder of patches: what is missing is not looked for.
_MANY = 100_000
_COMMENT = re.compile(r"(?:^|\s)#(.*)")
_GUARD = re.compile(r"#([+-]\S{1,60})")
_QUEUE = re.compile(r"(?:^|[/!])queue-(\d{1,2}(?:\.\d{1,3}){1,2})/[^/!]+\Z")
_RELEASES = re.compile(r"(?:^|[/!])releases/(\d{1,2}(?:\.\d{1,4}){2,3})/[^/!]+\Z")


_VULNERABILITY = re.compile(
    r"(?:^|[/!])(CVE-\d{4}-\d{4,19})/(?:v|linux-)?(\d{1,2}(?:\.\d{1,3}){1,2})(?:\.y)?/[^/!]+\Z"
)


class Entry(Struct, frozen=True):
    """A patch that a series lists; ``line`` is 1-based, ``strip`` that of ``patch -pN``."""

    name: str
    line: int
    strip: int | None = None
    guards: tuple[str, ...] = ()


def is_series_name(path: str) -> bool:
    """Whether a file of this name may list patches in their order."""
    return posixpath.basename(path) in ("series", "series.conf")


def parse_series(data: bytes) -> list[Entry]:
    """The patches that a series file lists, in order, each once."""
    entries: dict[str, Entry] = {}
    lines = data[:_SERIES_LIMIT].decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        guards = _GUARD.findall(line[:2000])
        words = _COMMENT.sub("", line[:2000]).split()
        while words and words[0][0] in "+-" and len(words) > 1:
            guards.append(words.pop(0))
        if not words or words[0][0] in "+-":
            continue
        name = posixpath.normpath(words[0])
        if name not in entries:
            strip = _strip(words[1:])
            entries[name] = Entry(name, number, strip, tuple(guards))
    return list(entries.values())


def _strip(options: list[str]) -> int | None:
    """N of ``-pN`` or ``-p N``; ``-pab`` (a/ and b/) is 1."""
    for place, option in enumerate(options):
        if option.startswith("-p"):
            level = option[2:] or "".join(options[place + 1 : place + 2])
            return int(level[:2]) if level.isdigit() else 1
    return None


def leads_out(name: str) -> bool:
    """Whether a listed name is outside of the series' own folder."""
    return name.startswith(("/", "../")) or name == ".."


def place_of(path: str) -> Place | None:
    """What the folder of a patch says of it (stable-queue's layout, CVE and tree), or None."""
    if "queue-" in path:
        match = _QUEUE.search(path[-1000:])
        if match is not None:
            return Place(tree=f"{match[1]}.y", state="queued")
    if "releases/" in path:
        match = _RELEASES.search(path[-1000:])
        if match is not None:
            tree = match[1].rpartition(".")[0]
            return Place(tree=f"{tree}.y", state="released", release=match[1])
    if "CVE-" in path:
        match = _VULNERABILITY.search(path[-1000:])
        if match is not None:
            return Place(tree=f"{match[2]}.y", state="posted", cve=match[1])
    return None


class Series(Struct):
    """The series file NAME of a folder: which of its patches are there, and which are not."""

    path: str
    name: str
    present: list[tuple[str, Place]]
    absent: list[Entry]

    def problems(self) -> Iterator[Problem]:
        """A sentence for each patch that is missing, the first few one by one."""
        for entry in self.absent[:_NAMED_MISSING]:
            text = f"{self.path}: line {entry.line} lists {entry.name}, which is not in the folder."
            yield Problem(self.path, 0, text)
        if len(self.absent) > _NAMED_MISSING:
            more = len(self.absent) - _NAMED_MISSING
            yield Problem(self.path, 0, f"{self.path}: {more} more patches of it are missing.")


def series_of(folder: str, names: list[str]) -> Series | None:
    """The series among the files NAMES of FOLDER; None when none lists a file that is there."""
    for name in ("series", "series.conf"):
        if name not in names:
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                entries = parse_series(file.read(_SERIES_LIMIT))
        except OSError:
            continue
        present: list[tuple[str, Place]] = []
        absent: list[Entry] = []
        for entry in entries:
            if leads_out(entry.name) or not os.path.isfile(os.path.join(folder, entry.name)):
                absent.append(entry)
                continue
            order = len(present) + len(absent) + 1
            place = Place(order=order, strip=entry.strip, guards=list(entry.guards))
            present.append((entry.name, place))
        if present:
            return Series(path, name, present, absent)
    return None


class Folders:
    """The series files and the patches of an archive, whose order is not known beforehand."""

    def __init__(self) -> None:
        self._series: list[tuple[str, list[Entry]]] = []
        self._files: set[str] = set()

    def add_series(self, path: str, data: bytes) -> None:
        """A member that is a series file."""
        self._series.append((path, parse_series(data)))

    def add_file(self, path: str) -> None:
        """A member that is something else."""
        if len(self._files) < _MANY:
            self._files.add(posixpath.normpath(path))

    def missing(self) -> Iterator[tuple[str, str]]:
        """Series file and name of each patch that is listed and not there."""
        if len(self._files) >= _MANY:
            return
        for path, entries in self._series:
            folder = posixpath.dirname(path)
            lost = [
                entry.name
                for entry in entries
                if posixpath.normpath(posixpath.join(folder, entry.name)) not in self._files
            ]
            if len(lost) < len(entries):
                for name in lost[:_NAMED_MISSING]:
                    yield path, name

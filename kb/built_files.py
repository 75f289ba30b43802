"""What a configuration builds: lists of objects and sources, and whether a patch touches that."""

from __future__ import annotations

import os.path
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from patchlore.kb.errors import UsageError

#: Sources that become an object of the same name, and what they become.
_SOURCES = frozenset({".c", ".s", ".cc", ".cpp", ".cxx", ".rs", ".dts"})
_OBJECTS = frozenset({".o", ".obj", ".lo", ".dtb", ".dtbo"})
_HEADERS = frozenset({".h", ".hh", ".hpp", ".dtsi"})
#: Names of a list that say nothing of a source: archives and modules of many objects.
_PASSED_OVER = frozenset({".a", ".so", ".ko", ".mod", ".order", ".cmd"})
#: Files that steer the build of their folder.
_STEERING = ("Makefile", "Kbuild", "Kconfig")
#: What is never part of a kernel that is built.
_NEVER = ("Documentation/", "LICENSES/", "tools/")

#: A list of a whole tree has some 30,000 lines; this is no list.
_LARGEST = 64 * 1024 * 1024
_LONGEST = 4096


class BuiltFiles(Struct, kw_only=True):
    """What is built: files without their suffixes, and all folders that hold any of them."""

    stems: frozenset[str]
    folders: frozenset[str]
    #: Lines that name neither a source nor an object.
    unknown: int = 0

    def touched_by(self, paths: Iterable[str]) -> bool:
        """Whether a patch of these files changes what is built.

        Its sources decide: one of them is built.  Where it has none, a header of
        ``include/`` counts, since any object may include it and a list of objects
        does not tell; another header and a Makefile or Kconfig count where its
        folder has something that is built.  Documentation and tools never count.
        """
        paths = [path for path in paths if not path.startswith(_NEVER)]
        sources = [path for path in paths if _is_source(path)]
        if sources:
            return any(_stem(path) in self.stems for path in sources)
        return any(self._steers(path) for path in paths)

    def _steers(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        suffix = posixpath.splitext(name)[1].lower()
        if suffix in _HEADERS:
            if path.startswith("include/"):
                return True
            # arch/x86/include/asm/page.h belongs to arch/x86.
            return folder.partition("/include")[0] in self.folders
        if name.startswith(_STEERING) or name.endswith((".lds.S", ".lds")):
            return folder in self.folders
        return False


def read_built_files(data: bytes, known: Iterable[str], name: str = "the list") -> BuiltFiles:
    """Read a list of what is built: paths of sources or objects, or compile_commands.json.

    ``known`` are paths of the tree, as patches name them.  Paths of the list may
    begin with the folder in which it was made, ``./`` or anything else: what stands
    before all of them is what has to go so that most of them are known, and of two
    such beginnings the shorter.  Raises UsageError for what is no such list;
    ``name`` is what it is called then.
    """
    if len(data) > _LARGEST:
        raise UsageError(f"{name} is too large for a list of files.")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if text.lstrip()[:1] in ("[", "{"):
        written, unknown = list(_of_commands(text, name)), 0
    else:
        written, unknown = _of_lines(text)
    if not written:
        raise UsageError(
            f"{name} names no source and no object: give one path a line, as find . -name '*.o'"
            " prints them, or compile_commands.json."
        )
    stems = list(dict.fromkeys(_stem(path) for path in written))
    prefix = _prefix(stems, {_stem(path) for path in known})
    found = frozenset(stem[len(prefix) :] for stem in stems if stem.startswith(prefix))
    found = frozenset(stem for stem in found if not stem.startswith(("/", "../")))
    return BuiltFiles(stems=found, folders=frozenset(_folders(found)), unknown=unknown)


def _of_lines(text: str) -> tuple[list[str], int]:
    """Return the paths of lines, and how many lines are none."""
    found: list[str] = []
    unknown = 0
    for line in dict.fromkeys(text.split("\n")):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        # `ar t` and the linker's lists have several on a line; no path of a kernel has blanks.
        words = line.split() if len(line) <= 64 * _LONGEST else []
        good = [path for word in words if (path := _path(word)) is not None]
        found += good
        unknown += not good and not all(_suffix(word) in _PASSED_OVER for word in words)
    return found, unknown


def _path(word: str) -> str | None:
    """Return the path of a source or object that a word of a list names, or None."""
    word = word.strip("\"',").removesuffix(":")
    if len(word) > _LONGEST:
        return None
    folder, _, name = word.rpartition("/")
    if name.startswith(".") and name.endswith(".cmd"):  # drivers/net/.tun.o.cmd
        word = posixpath.join(folder, name[1 : -len(".cmd")])
    if _suffix(word) not in _OBJECTS and not _is_source(word):
        return None
    return posixpath.normpath(word)


def _of_commands(text: str, name: str) -> Iterator[str]:
    """Yield the sources of a compilation database (clang's JSONCompilationDatabase)."""
    try:
        entries = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise UsageError(f"{name} looks like compile_commands.json, but is no JSON.") from error
    for entry in entries if isinstance(entries, list) else [entries]:
        file = entry.get("file") if isinstance(entry, dict) else None
        if not isinstance(file, str):
            continue
        folder = entry.get("directory")
        path = _path(posixpath.join(folder, file) if isinstance(folder, str) else file)
        if path is not None:
            yield path


def _prefix(stems: Iterable[str], known: set[str]) -> str:
    """Return what stands before the tree's own paths in a list."""
    votes: Counter[str] = Counter()
    for stem in stems:
        start = 0
        while start >= 0:
            if stem[start:] in known:
                votes[stem[:start]] += 1
            start = stem.find("/", start) + 1 or -1
    if not votes:
        return ""
    return min(votes, key=lambda prefix: (-votes[prefix], len(prefix)))


def _folders(stems: Iterable[str]) -> Iterator[str]:
    for stem in stems:
        folder = stem
        while folder:
            folder = folder.rpartition("/")[0]
            yield folder


def _is_source(path: str) -> bool:
    return _suffix(path) in _SOURCES and not path.endswith(".lds.S")


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _stem(path: str) -> str:
    return os.path.splitext(path)[0]

"""File names of diffs: C quoting, prefixes, timestamps, and headers that name two files."""

from __future__ import annotations

import re
import unicodedata

#: Pairs that git and its configuration put before names (diff.mnemonicPrefix).
_PREFIX_PAIRS = frozenset(
    pair
    for one, other in (
        ("a/", "b/"),
        ("i/", "w/"),
        ("c/", "i/"),
        ("c/", "w/"),
        ("o/", "w/"),
        ("1/", "2/"),
    )
    for pair in ((one, other), (other, one))
)
_STAMP = re.compile(
    r"[ \t]+(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +\w{3,} "
    r"|\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d).*$"
    r"|[ \t]+\((?:revision \d+|working copy|nonexistent|rev \d+)\)$|\t.*$"
)
#: The folder that a release's tar unpacks to: "gcc-3.3.5", "lamp-1.2-rc3".
_RELEASED = re.compile(
    r"[A-Za-z][A-Za-z0-9_+]*(?:-[A-Za-z][A-Za-z0-9_+]*)*-\d+(?:\.\d+)+(?:-?(?:rc|pre)\d+)?"
)
_EPOCH = re.compile(r"\b(?:1970-01-01[ T]|1969-12-31[ T]|Thu,? +(?:0?1 +)?Jan +(?:0?1 )?)")
_ESCAPE = re.compile(rb"\\(?:([0-7]{3})|(.))", re.S)
_LETTERS = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
}
_BINARY_FILES = re.compile(r"(?:Binary files|Files) (.+ and .+) differ\r?$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def unquote(name: str) -> str:
    """Undo git's C-style quoting (core.quotePath); a name without quotes stays as it is."""
    match = _QUOTED.match(name)
    if not match:
        return name

    def replace(found: re.Match[bytes]) -> bytes:
        if found[1]:
            return bytes([int(found[1], 8) & 255])
        return _LETTERS.get(found[2], found[2])

    octets = _ESCAPE.sub(replace, match[1].encode("utf-8", "replace"))
    return octets.decode("utf-8", "replace").replace("\x00", "�")


def file_name(line: str) -> tuple[str, bool]:
    """The name of a "--- " or "+++ " line and whether its stamp says "no such file".

    Timestamps, revisions and what else follows a tab are cut off; a stamp of
    the epoch or ``(nonexistent)`` stands for a missing side in diffs that
    know no /dev/null.
    """
    rest = line[4:].rstrip("\r")
    if rest.startswith('"'):
        return unquote(rest), False
    stamp = _STAMP.search(rest) if " " in rest or "\t" in rest else None
    if not stamp:
        return rest.rstrip() or rest, False
    text = stamp[0]
    absent = "(nonexistent)" in text or (_EPOCH.search(text) is not None and "19" in text)
    return rest[: stamp.start()], absent


def strip_pair(old: str, new: str) -> tuple[str, str]:
    """Take the prefixes off both names of one file; /dev/null has none.

    Known pairs go; a first component that differs while the rest is the same
    is that of a tree (``linux-5.4.orig/mm/slab.c``, ``linux-5.4/mm/slab.c``),
    and so is one that ends in a release in both (``lamp-1.2/dim.c`` twice);
    another one that both names share is a real folder.
    """
    if (old[:2], new[:2]) in _PREFIX_PAIRS:
        return old[2:], new[2:]
    if old and new.startswith(old):
        new = old  # "linux/fs/x.h.new": git takes the name that both begin with
    if old == "/dev/null":
        return old, _strip_alone(new)
    if new == "/dev/null":
        return _strip_alone(old), new
    old_head, _, old_rest = old.partition("/")
    new_head, _, new_rest = new.partition("/")
    if old_rest and old_head != new_head and old_rest == new_rest:
        return old_rest, new_rest
    if old_rest and new_rest and old_head == new_head and _RELEASED.fullmatch(old_head):
        return old_rest, new_rest
    return old, new


def _strip_alone(name: str) -> str:
    """A name whose other side is /dev/null: without git's prefix or a release's folder."""
    head, _, rest = name.partition("/")
    return rest if rest and _RELEASED.fullmatch(head) else strip_known(name)


def strip_known(name: str) -> str:
    """Take ``a/`` or another of git's prefixes off a name that stands alone."""
    return name[2:] if name[:2] in ("a/", "b/", "i/", "w/", "c/", "o/") else name


def leaves_tree(name: str) -> bool:
    """Whether a file is outside of the tree that a diff is for, or in git's own folder there.

    git apply refuses such names (``verify_path``), also as Windows and macOS spell them.
    """
    if name.startswith("/"):
        return name != "/dev/null"
    if ".." not in name and "git" not in name.casefold():
        return False
    seen = "".join(char for char in name if unicodedata.category(char) != "Cf").casefold()
    return any(
        part == ".." or part.partition(":")[0].rstrip(". ") in (".git", "git~1")
        for part in seen.replace("\\", "/").split("/")
    )


def split_git_header(line: str) -> tuple[str, str] | None:
    """The two names of a ``diff --git`` line, prefixes included, or None if they can't be told.

    Names with blanks are not quoted there: the line is split where both
    halves, prefixes aside, are equal, as git does.
    """
    rest = line[len("diff --git ") :].rstrip("\r\n ")
    if rest.startswith('"'):
        first = _QUOTED.match(rest)
        if not first:
            return None
        return unquote(rest), unquote(rest[first.end() :].lstrip())
    quoted = rest.find(' "')
    if quoted > 0 and rest.endswith('"'):
        return rest[:quoted], unquote(rest[quoted + 1 :])
    if rest.count(" ", 0, 4096) == 1:
        blank = rest.index(" ")
        return rest[:blank], rest[blank + 1 :]
    blanks = [position for position, char in enumerate(rest[:4096]) if char == " "]
    for blank in blanks:
        old, new = rest[:blank], rest[blank + 1 :]
        if old == new or strip_known(old) == strip_known(new):
            return old, new
    for blank in blanks:  # two trees: "diff --git x.orig/f.c x/f.c"
        old, new = rest[:blank], rest[blank + 1 :]
        if "/" in old and old.partition("/")[2] == new.partition("/")[2]:
            return old, new
    for blank in blanks:  # a rename: the second name begins with its prefix
        if (rest[:2], rest[blank + 1 : blank + 3]) in _PREFIX_PAIRS:
            return rest[:blank], rest[blank + 1 :]
    return None


def split_binary_line(line: str) -> tuple[str, str] | None:
    """The two names of ``Binary files a/x and b/x differ``, prefixes included; None if it is none.

    A name may hold " and ": the line is split where both halves name one
    file, or where one of them is /dev/null; else at the last one.
    """
    match = _BINARY_FILES.match(line)
    if match is None:
        return None
    parts = match[1][:4096].split(" and ")
    pairs = [(" and ".join(parts[:n]), " and ".join(parts[n:])) for n in range(1, len(parts))][:64]
    pairs = [(unquote(old), unquote(new)) for old, new in pairs]
    for old, new in pairs:
        if strip_known(old) == strip_known(new) or old == "/dev/null":
            return old, new
    return next((pair for pair in pairs if pair[1] == "/dev/null"), pairs[-1])


def side_status(old_absent: bool, new_absent: bool) -> str:
    """The status of a file whose old or new side is missing."""
    return "added" if old_absent else "deleted" if new_absent else "modified"

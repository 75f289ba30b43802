"""Patches attached to a mail: each that is a mail of its own form becomes a message inside it.

Backporters attach one ``git format-patch`` file for each tree, ``[PATCH 4.9]
…`` and ``[PATCH 4.14] …``, below a few lines of text: one mail, several
patches with subjects, trees and upstream commits of their own.
"""

from __future__ import annotations

import re

from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.raw import Place, Raw, Source

#: More enclosed mails than this are not read one by one, nor more attached patches than that.
MAX_ENCLOSED = 20
MAX_ATTACHED = 100
_START = re.compile(rb"^From [0-9a-f]{40}(?:[0-9a-f]{24})? Mon Sep 17 00:00:00 2001[ \t]*$", re.M)
#: A stable tree at the start or the end of a file's name: "4.14-lamp.patch",
#: "lamp-5.4.y.patch", "5e0ac1d2.5.4.v2.patch.txt".
_TREE = r"(2\.6\.\d{1,2}|[3-9]\.\d{1,2}|1\d\.\d{1,2})(?:\.y)?"
_TREE_FIRST = re.compile(rf"(?:linux-|v)?{_TREE}(?:[-_]|\.(?!\d))")
_TREE_LAST = re.compile(
    rf"(?:^|.*?[-_.](?:linux-)?v?){_TREE}(?:[-_.]v\d)?\.(?:patch|diff|mbox|eml|txt)(?:\.txt)?\Z"
)
_COMPILER = re.compile(r"(?:gcc|clang|llvm|binutils|qemu)-?\d", re.I)
_HEADER = re.compile(rb"(From|Subject|Date|Message-ID|MIME-Version|Content-[A-Za-z-]{1,40}):", re.I)


def inner_mails(mail: Mail, source: Source) -> list[Raw]:
    """The mails inside of MAIL (found at SOURCE): enclosed ones, then attached patches.

    In the order of ``Message.nested``.
    """
    inner = mail.nested[:MAX_ENCLOSED]
    if len(mail.parts) > 1 or mail.attachments:
        inner += attached_patches(mail, source)
    return inner


def attached_patches(mail: Mail, source: Source) -> list[Raw]:
    """The attached format-patches of MAIL (found at SOURCE), each as a Raw, in order.

    A file of several (``git format-patch --stdout``) gives several. What is a
    bare diff, or has no subject, says nothing that the mail does not.
    """
    found: list[Raw] = []
    for part in mail.parts:
        if not part.is_attachment:
            continue
        tree = tree_of_name(part.filename or "")
        for data in _patches(part):
            inner = Source(
                path=source.path, format="git-patch", fidelity=source.fidelity, list=source.list
            )
            if tree is not None:
                inner.place = Place(tree=tree)
            found.append(Raw(data=data, source=inner))
            if len(found) == MAX_ATTACHED:
                return found
    return found


def tree_of_name(filename: str) -> str | None:
    """The stable tree (``5.4.y``) that the name of an attached file says it is for, or None."""
    name = filename[-200:]
    if _COMPILER.search(name):
        return None
    found = _TREE_FIRST.match(name) or _TREE_LAST.match(name)
    return f"{found[1]}.y" if found else None


def _patches(part: TextPart) -> list[bytes]:
    """The mails that an attached text is: cut at the ``From <sha>`` lines of format-patch."""
    data = part.data or part.text.encode("utf-8", "replace")
    data = data[len(data) - len(data.lstrip(b"\xef\xbb\xbf\r\n")) :]
    starts = [match.start() for match in _START.finditer(data)]
    if not starts or starts[0] != 0:
        return [data] if _is_mail(data) else []
    cut = [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    return [piece for piece in cut if _is_mail(piece.partition(b"\n")[2])]


def _is_mail(data: bytes) -> bool:
    """Whether DATA has the headers of a format-patch at its start: From and Subject."""
    names: set[bytes] = set()
    for line in data[:8000].split(b"\n")[:40]:
        match = _HEADER.match(line)
        if match is not None:
            names.add(match[1].lower())
        elif not (names and line[:1] in (b" ", b"\t")):
            break
    return {b"from", b"subject"} <= names

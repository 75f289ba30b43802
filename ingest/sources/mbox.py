"""Mailboxes: mboxo, mboxrd, mboxcl and mboxcl2 split into mails, and ``>From `` undone.

The four variants (https://en.wikipedia.org/wiki/Mbox, mbox(5) of qmail) differ
in what they do with body lines that begin with ``From ``: mboxo and mboxcl
write ``>From ``; mboxrd adds one ``>`` to ``>From ``, ``>>From `` … too;
mboxcl2 leaves them and trusts a Content-Length header. A file does not say
which it is, so a separator is believed by its form: ``From``, a sender or
nothing, a date, and a header on the next line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from patchlore.ingest.raw import FIDELITIES, Fidelity, Raw, Source
from patchlore.ingest.sources.exports import export_form
from patchlore.ingest.sources.items import Listing, Part, Problem
from patchlore.ingest.sources.window import Window
from patchlore.ingest.sources.wrapped import path_of_word, unwrapped

#: A separator line longer than this is none; a mail longer than this is cut.
LINE_LIMIT = 1000
MAIL_LIMIT = 1 << 26
#: How far a Content-Length may reach: a lie must not make us read gigabytes ahead.
LENGTH_LIMIT = 1 << 25
HEADER_LIMIT = 1 << 18

_DATE = re.compile(
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +"
    rb"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2},?"
    rb"|(?P<rfc>\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{2,4}))"
    rb" +\d{1,2}:\d\d(?::\d\d)?(?![\d:])"
)
#: What ends the asctime form: zone before or after the year, both are written.
_YEAR = re.compile(rb"(?: +[A-Za-z+-][\w+:-]{0,9}){0,2} +(?:19|20)\d\d(?!\d)")
#: ``From x@example.org 2024-03-05 09:20:30``: mailers of one vendor.
_ISO_DATE = re.compile(rb" (?:19|20)\d\d-\d\d-\d\d[T ]\d\d:\d\d")
#: ``git format-patch``: the date is a constant that git's own tools look for.
_GIT_PATCH = re.compile(rb"From [0-9a-f]{40}(?:[0-9a-f]{24})? Mon Sep 17 00:00:00 2001\s*\Z")
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9_.-]{0,75}[ \t]{0,4}:(?!//)")
#: What ``patchlore export`` writes behind the date: how the mail was found.
_EXPORTED = re.compile(
    rb" (?:19|20)\d\d((?: [a-z][a-z-]{0,20}(?:=[\w.@+/%~-]{1,600})?){1,20})\s*\Z"
)
#: Texts that are no mails, which it writes under a separator that names their format.
_TEXTS = ("patch", "pipermail-text", "hyperkitty-mbox")
_SECOND_FROM = re.compile(rb">?From ")
_CONTENT_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,10})[ \t]*\r?$", re.I | re.M)
#: A blank line, or a line that begins as the next mail's separator.
_HEADER_END = re.compile(rb"\n(?:\r?\n|F(?=rom ))")
_ESCAPED = re.compile(rb"^(>+)From ", re.M)


def is_git_patch_line(line: bytes) -> bool:
    """Whether LINE is the first line of a mail made by ``git format-patch``."""
    return _GIT_PATCH.match(line) is not None


def is_separator_line(line: bytes) -> bool:
    """Whether LINE has the form of a separator: ``From``, a sender or nothing, a date."""
    if not line.startswith(b"From ") or len(line) > LINE_LIMIT:
        return False
    date = _DATE.search(line, 4)
    if date is not None:
        return date["rfc"] is not None or _YEAR.match(line, date.end()) is not None
    return _ISO_DATE.search(line, 5) is not None


def is_header_line(line: bytes) -> bool:
    """Whether LINE begins as a header does (RFC 5322 names that people use)."""
    return _HEADER.match(line) is not None


def line_at(data: bytes | bytearray, start: int) -> bytes:
    """The line of DATA at START with its end, cut a little above LINE_LIMIT."""
    end = data.find(b"\n", start, start + LINE_LIMIT + 2)
    return bytes(data[start : end + 1 if end >= 0 else start + LINE_LIMIT + 2])


class _Splitter:
    """One pass over one mailbox."""

    def __init__(self, window: Window, path: str, list_name: str | None, first: bytes) -> None:
        self.window = window
        self.path = path
        self.list_name = list_name
        #: Known from the first separators: what kind of mailbox this is.
        self.git_patches = is_git_patch_line(first)
        self.surely_mboxrd = first.startswith(b"From mboxrd@z ")

    def is_separator(self, at: int) -> bool:
        """Whether a mail's separator is at AT (relative to the window), a line's start."""
        window = self.window
        window.fill(at + 2 * LINE_LIMIT)
        line = line_at(window.data, at)
        if not is_separator_line(line):
            return False
        if self.surely_mboxrd and line.startswith(b"From mboxrd@z "):
            return True  # such a line in a mail has been escaped, whatever stands below it
        if not self.git_patches and is_git_patch_line(line):
            # A mail that carries a patch in its body: "apply this instead:\n\nFrom 1f0c… Mon Sep".
            return False
        following = line_at(window.data, at + len(line))
        return _HEADER.match(following) is not None or (
            _SECOND_FROM.match(following) is not None
            and is_header_line(line_at(window.data, at + len(line) + len(following)))
        )

    def by_content_length(self, body: int, head: bytes) -> int | None:
        """Where the mail ends that says its length, if that leads to a separator or the end."""
        stated = _CONTENT_LENGTH.search(head)
        if stated is None or int(stated[1]) > LENGTH_LIMIT:
            return None
        end = body + int(stated[1])
        window = self.window
        if not window.fill(end):
            return None
        at = end
        while window.fill(at + 1) and at < end + 4 and window.data[at] in b"\r\n":
            at += 1
        return end if not window.fill(at + 1) or self.is_separator(at) else None

    def end_of_mail(self, start: int) -> tuple[int, int, str]:
        """For the mail whose text begins at START: its end, where to go on, and how it was found.

        Both are relative to the window. Found by ``separator``, by its stated
        ``length``, or ``cut`` because it is too long.
        """
        window = self.window
        blank = self.end_of_header(start)
        if blank is not None:
            stated = self.by_content_length(blank, bytes(window.data[start:blank]))
            if stated is not None:
                go_on = stated
                while window.fill(go_on + 1) and window.data[go_on : go_on + 1] in b"\r\n":
                    go_on += 1
                return stated, go_on, "length"
        position = max(start - 1, 0)
        while True:
            found = window.find(b"\nFrom ", position, start + MAIL_LIMIT)
            if found < 0:
                if len(window.data) > start + MAIL_LIMIT:
                    return start + MAIL_LIMIT, start + MAIL_LIMIT, "cut"
                return len(window.data), len(window.data), "separator"
            if self.is_separator(found + 1):
                return found + 1, found + 1, "separator"
            position = found + 1

    def end_of_header(self, start: int) -> int | None:
        """Where the body begins, if a blank line is near and no other mail before it.

        Looked for in steps that grow, so that a mailbox of mails that are all
        header costs no more than it is long.
        """
        window, size = self.window, 1 << 10
        while True:
            window.fill(start + size)
            found = _HEADER_END.search(window.data, start, start + size)
            if found is not None:
                return None if found[0].endswith(b"F") else found.end()
            if size >= HEADER_LIMIT or start + size >= len(window.data):
                return None
            size *= 2

    def skip_to_separator(self) -> int:
        """Drop what is before the next separator; how many bytes that were."""
        window = self.window
        skipped = 0
        while True:
            found = window.data.find(b"\nFrom ")
            done = found >= 0 and self.is_separator(found + 1)
            size = found + 1 if found >= 0 else max(len(window.data) - 8, 0)
            if found < 0 and window.ended:
                size = len(window.data)
                done = True
            window.drop(size)
            skipped += size
            if done:
                return skipped
            if found < 0:
                window.more()

    def mails(
        self, offset: int, separator: bytes, data: bytes, *, whole: bool
    ) -> Iterator[Raw | Listing]:
        """The mail between two separators, its escapes undone; once more for each further list."""
        fidelity: Fidelity = "exact"
        if is_git_patch_line(separator):
            # Its first line is part of it, since it names the commit; git escapes nothing.
            source = self.source(offset, "git-patch", fidelity)
            yield Raw(data=separator + data, source=source)
            return
        form = "mbox"
        if separator.startswith(b"From patchwork "):
            form, fidelity = "patchwork-mbox", "rewritten"
        elif (written := export_form(separator, data)) is not None:
            form, fidelity = written
        list_name = self.list_name
        ended = True
        cut = False
        also: list[str] = []
        path = wrapped = None
        exported = _EXPORTED.search(separator) if self.surely_mboxrd else None
        for word in exported[1].decode().split() if exported else ():
            if word in FIDELITIES:
                fidelity = word
            elif word == "patchwork-mbox":
                form = word
            elif word.startswith("format=") and word[7:] in _TEXTS:
                form = word[7:]
            elif word.startswith("page="):
                wrapped = word[5:]
            elif word.startswith("path="):
                path = path_of_word(word[5:])
            elif word == "no-line-end":
                ended = False
            elif word == "cut-short":
                cut = True
            elif word.startswith("also="):
                also.append(word[5:])
            elif word.startswith("list="):
                list_name = list_name or word[5:]
        if not whole:
            for ending in (b"\r\n", b"\n"):
                if data.endswith(ending * 2):
                    data = data[: -len(ending)]
                    break
        data = unescape(data, surely_mboxrd=self.surely_mboxrd)
        if not ended:
            data = data.removesuffix(b"\n")
        if form == "mbox" and self.surely_mboxrd and is_git_patch_line(line_at(data, 0)):
            form = "git-patch"  # escaped, its own first line is part of the mail
        source = self.source(offset, form, fidelity, list_name)
        if path is not None:
            source.path = path  # what the page links, or its folder says, counts from there
        found = None if wrapped is None else unwrapped(data, wrapped, source)
        found = found or Raw(data=data, source=source)
        if isinstance(found, Raw):
            found.cut = cut
        yield found
        if isinstance(found, Raw):
            for name in also:
                where = structs.replace(found.source, list=name)
                yield Raw(data=found.data, source=where, cut=cut)

    def source(
        self, offset: int, form: str, fidelity: Fidelity, list_name: str | None = None
    ) -> Source:
        return Source(
            path=self.path,
            format=form,
            offset=offset,
            fidelity=fidelity,
            list=list_name or self.list_name,
        )

    def run(self) -> Iterator[Part]:
        """The mails in order."""
        window = self.window
        while window.fill(1):
            window.fill(LINE_LIMIT * 2)
            separator = line_at(window.data, 0)
            offset = window.base
            end, go_on, found = self.end_of_mail(len(separator))
            data = bytes(window.data[len(separator) : end])
            window.drop(go_on)
            yield from self.mails(offset, separator, data, whole=found == "length")
            if found == "cut":
                skipped = self.skip_to_separator()
                yield Problem(
                    self.path,
                    offset,
                    f"{self.path}: the mail at byte {offset} is larger than "
                    f"{MAIL_LIMIT >> 20} MiB; its last {skipped} bytes were left out. "
                    "Look whether the file is a mailbox at all.",
                )


def split_mbox(
    window: Window, path: str, list_name: str | None = None, *, first: bytes | None = None
) -> Iterator[Part]:
    """The mails of a mailbox, from the window's start, which is a separator.

    FIRST is the mailbox's first line where the window starts further on.

    Offsets are those of the separators, in bytes of the unpacked mailbox. The
    bytes of a mail are exact but for the separator, the empty line that stands
    before the next one, and ``>From `` lines; a mail of ``git format-patch``
    keeps its first line.
    """
    window.fill(LINE_LIMIT)
    # Some tools write an empty line or a byte order mark in front of the first mail.
    window.drop(len(window.data) - len(window.data.lstrip(b"\xef\xbb\xbf\r\n")))
    window.fill(LINE_LIMIT)
    return _Splitter(window, path, list_name, first or line_at(window.data, 0)).run()


def split_cut_mbox(window: Window, path: str, list_name: str | None = None) -> Iterator[Part]:
    """The mails of a mailbox whose start is missing, from its first separator on."""
    splitter = _Splitter(window, path, list_name, b"")
    skipped = splitter.skip_to_separator()
    yield Problem(
        path,
        0,
        f"{path}: its first {skipped} bytes belong to no mail; the mailbox seems to be cut at its "
        "start. The mails behind them have been read.",
    )
    yield from split_mbox(window, path, list_name)


def unescape(data: bytes, *, surely_mboxrd: bool) -> bytes:
    """DATA with one ``>`` less on each line that begins with ``>From ``, ``>>From `` ….

    That is mboxrd's rule, and mboxo's for one ``>``. What a mailbox is can't be
    known unless its separators say ``mboxrd@z`` (public-inbox). In others a
    line is left alone where its neighbour shows that the author quotes just so:

        >we saw this on two boards
        >From the log it looks like a race

    A mailbox whose Content-Length let an unescaped ``From `` through (mboxcl2)
    escapes nothing, and neither does what is done here.
    """
    if b">From " not in data:
        return data
    if (
        not surely_mboxrd
        and b"\nFrom " in data
        and _CONTENT_LENGTH.search(data, 0, HEADER_LIMIT) is not None
    ):
        return data

    def strip(match: re.Match[bytes]) -> bytes:
        if not surely_mboxrd and _quoted_beside(data, match.start(), match[1]):
            return match[0]
        return match[0][1:]

    return _ESCAPED.sub(strip, data)


def _quoted_beside(data: bytes, at: int, marks: bytes) -> bool:
    """Whether the line before or after the one at AT is quoted with MARKS and no space."""
    before = data.rfind(b"\n", max(0, at - LINE_LIMIT), max(at - 1, 0)) + 1
    after = data.find(b"\n", at, at + LINE_LIMIT) + 1
    neighbours = ([before] if before < at else []) + ([after] if after else [])
    for start in neighbours:
        line = data[start : start + len(marks) + 6]
        rest = line[len(marks) :]
        if (
            line.startswith(marks)
            and rest[:1] not in (b">", b" ", b"\t", b"\r", b"\n", b"")
            and not rest.startswith(b"From ")
        ):
            return True
    return False

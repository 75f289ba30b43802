"""Mails and mailboxes of invented people, for the tests of sources."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from patchlore.ingest.raw import Fidelity, Raw, Source
from patchlore.ingest.sources.items import Found, Mark, Problem
from patchlore.ingest.sources.reading import read_source

SEPARATOR = b"From nora@example.org Thu Jun  8 07:06:05 2023\n"
SHA = b"5e0a" * 10
GIT_LINE = b"From " + SHA + b" Mon Sep 17 00:00:00 2001\n"


def mail(number: int = 1, body: bytes = b"Hello.\n", *headers: bytes) -> bytes:
    """A mail with Message-ID <NUMBER@example.org>."""
    extra = b"".join(header + b"\n" for header in headers)
    return (
        b"From: Nora Finch <nora@example.org>\n"
        b"Date: Thu, 8 Jun 2023 09:06:05 +0200\n"
        b"Message-ID: <%d@example.org>\n"
        b"Subject: [PATCH %d/9] lamp: dim\n%s\n%s" % (number, number, extra, body)
    )


def page(text: str, form: str, fidelity: Fidelity = "masked") -> Raw:
    """A page as its reader gets it."""
    source = Source(path="page", format=form, fidelity=fidelity)
    return Raw(data=text.encode(), source=source)


def write(path: Path, data: bytes) -> str:
    """Write a file and give its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def read(path: Path | str, **options: str) -> tuple[list[Raw], list[Problem], list[Mark]]:
    """What a source yields, by kind."""
    return sort(read_source(str(path), **options))  # type: ignore[arg-type]  # options are keywords


def sort(items: Iterable[Found]) -> tuple[list[Raw], list[Problem], list[Mark]]:
    """ITEMS by kind, each in order."""
    raws: list[Raw] = []
    problems: list[Problem] = []
    marks: list[Mark] = []
    for item in items:
        if isinstance(item, Raw):
            raws.append(item)
        elif isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Mark):
            marks.append(item)
    return raws, problems, marks


class Marks:
    """The marks of earlier runs, as an archive keeps them."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}

    def run(self, path: Path | str) -> tuple[list[Raw], list[Problem]]:
        """Read a source after what was read before."""
        raws, problems, marks = sort(read_source(str(path), mark_of=self.states.get))
        self.states |= {mark.source: mark.state for mark in marks}
        return raws, problems

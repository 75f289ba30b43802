"""What hostile input costs: every reader gets through 1 MiB of anything in a short time."""

from __future__ import annotations

import time

import pytest

from patchlore.ingest.detect import FORMATS, READERS
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source

SIZE = 1 << 20
#: Generous: a tree of the tags that a page may have takes half of it.
SECONDS = 3.0
FILLERS = [
    "<",
    "&",
    "<div>",
    "<pre>",
    "<li><em>From</em>: x",
    "<a href=\"",
    "<!--X-Subject: ",
    "<b>",
    "From: x\n",
    "\n",
    " at ",
    "a () b ! ",
    "View attachment \"",
    "<strong>Attachment:",
    "-------------- next part --------------\n",
    "[-- Attachment #1: ",
    "{\"a\":[",
]  # fmt: skip


@pytest.mark.parametrize("form", sorted(READERS))
def test_a_reader_ends(form: str) -> None:
    """Tags, labels, separators: whatever a reader looks for, and no end of it."""
    for filler in FILLERS:
        data = (filler * (SIZE // len(filler))).encode()
        start = time.process_time()
        READERS[form](Raw(data=data, source=Source(path="p", format=form)))
        assert time.process_time() - start < SECONDS, (form, filler)


@pytest.mark.parametrize("lead", ["<html>", "From ", "{", "[", "Subject: "])
def test_a_format_is_told_soon(lead: str) -> None:
    """The start of a file is all that is looked at, and each byte of it not often."""
    for filler in FILLERS:
        head = (lead + filler * ((1 << 16) // len(filler))).encode()
        for known in FORMATS:
            start = time.process_time()
            known.looks_like(head)
            assert time.process_time() - start < SECONDS / 10, (known.name, filler)


def test_a_page_of_deep_tags_is_parsed() -> None:
    """The tree is as deep as the page; nothing walks it by calling itself."""
    data = b"<html><title>lamp - x</title><pre>" + b"<b>" * 200_000
    source = Source(path="p", format="openwall-html", fidelity="masked")
    start = time.process_time()
    found = parse_raw(Raw(data=data, source=source))
    assert time.process_time() - start < SECONDS
    assert "page-too-large" in {defect.code for defect in found.defects}

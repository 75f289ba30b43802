"""Names of files of any bytes: as text and back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.items import Mark, Problem
from patchlore.ingest.sources.paths import path_of_text, path_text
from patchlore.ingest.sources.reading import read_source


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("mail/lamp.eml", "mail/lamp.eml"),
        ("mail/Lämpchen.eml", "mail/Lämpchen.eml"),
        ("na\udcff.eml", r"na\xff.eml"),
        (r"a\b", r"a\b"),
        (r"a\xff", r"a\\xff"),
    ],
)
def test_only_what_is_no_text_is_escaped(path: str, text: str) -> None:
    """A plain path stays as it is; bytes that are no UTF-8 stand as their number."""
    assert path_text(path) == text


@given(st.binary(max_size=20).map(lambda data: data.replace(b"\0", b"\\x")))
def test_every_path_comes_back(data: bytes) -> None:
    """The text can be stored, and the path it was made of is known again."""
    path = os.fsdecode(data)
    text = path_text(path)
    assert text.encode().decode() == text
    assert path_of_text(text) == path


def test_a_file_whose_name_is_no_text_is_read(tmp_path: Path) -> None:
    """Mail, mark and problem have names that can be stored; the other files are read too."""
    mail = b"From: ada@example.org\nSubject: lamp\n\ntext\n"
    for name, data in ((b"a\xff.eml", mail), (b"b.eml", mail), (b"c\xfe", b"\0\0")):
        (tmp_path / os.fsdecode(name)).write_bytes(data)
    items = list(read_source(str(tmp_path)))
    texts = [item.source.path for item in items if isinstance(item, Raw)]
    texts += [item.path + item.text for item in items if isinstance(item, Problem)]
    marks = [item for item in items if isinstance(item, Mark)]
    assert r"a\xff.eml" in texts[0]
    assert r"c\xfe" in texts[-1]
    assert "".join([*texts, *(mark.source for mark in marks)]).encode()
    known = {mark.source: mark.state for mark in marks}
    assert not [item for item in read_source(str(tmp_path), mark_of=known.get) if type(item) is Raw]

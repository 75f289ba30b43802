"""A copy that is cut short is known as damaged and gives way to a whole one."""

from __future__ import annotations

import gzip
import itertools
import pathlib

import pytest

from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.reading import read_source
from patchlore.kb.filling import fill
from patchlore.kb.redoing import redo_facts
from patchlore.kb.store import Archive

_WORDS = " ".join(f"the lamp number {number} shines" for number in range(400))
_MAIL = (
    "From: Ada Quill <ada@example.org>\nDate: Tue, 2 Jan 2024 03:04:05 +0000\n"
    "Message-ID: <one@example.org>\nSubject: [PATCH] lamp: shine\n\n"
    f'{_WORDS}\n\nFixes: 148b974deea9 ("lamp: hang it")\n'
).encode()


def _write(folder: pathlib.Path) -> dict[str, str]:
    """A whole mail and broken downloads of it; their paths by name."""
    packed = gzip.compress(_MAIL, mtime=0)
    files = {
        "whole": _MAIL,
        "cut.gz": packed[: len(packed) * 2 // 3],
        "trailer.gz": packed[:-4],
        "start": _MAIL[:700],
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: str(folder / name) for name in files}


def _state(archive: Archive) -> tuple[object, ...]:
    message = archive.message(1)
    fixes = [ref.sha for ref in message.fixes]
    return (
        archive.value("SELECT count(*) FROM message"),
        fixes,
        message.malformed,
        archive.raw(1) == _MAIL,
        archive.value("SELECT count(*) FROM copy"),
    )


def test_the_mail_at_the_end_of_a_broken_download_is_damaged(tmp_path: pathlib.Path) -> None:
    """The last mail before the data ends says so; all before are whole."""
    mailbox = b"".join(
        b"From ada@example.org Tue Jan  2 03:04:05 2024\n"
        + _MAIL.replace(b"one@", b"%d@" % number)
        + b"\n"
        for number in range(50)
    )
    packed = gzip.compress(mailbox, mtime=0)
    (tmp_path / "box.gz").write_bytes(packed[: len(packed) * 2 // 3])
    raws = [item for item in read_source(str(tmp_path / "box.gz")) if isinstance(item, Raw)]
    assert len(raws) > 10
    assert [raw.cut for raw in raws] == [False] * (len(raws) - 1) + [True]


@pytest.mark.parametrize("order", list(itertools.permutations(("whole", "cut.gz", "start"))))
def test_the_whole_copy_answers_in_any_order(
    tmp_path: pathlib.Path, order: tuple[str, ...]
) -> None:
    """What is cut short never stands for what is whole."""
    paths = _write(tmp_path)
    for together in (True, False):
        with Archive(tmp_path / f"archive-{together}", write=True) as archive:
            if together:
                fill(archive, [paths[name] for name in order], jobs=0)
            else:
                for name in order:
                    fill(archive, [paths[name]], jobs=0)
            assert _state(archive) == (1, ["148b974deea9"], False, True, 3)


def test_a_cut_copy_alone_says_that_it_is_cut(tmp_path: pathlib.Path) -> None:
    """Its defect stays when the facts are made again."""
    paths = _write(tmp_path)
    with Archive(tmp_path / "archive", write=True) as archive:
        summary = fill(archive, [paths["cut.gz"]], jobs=0)
        assert summary.damaged == 1
        for _ in range(2):
            message = archive.message(1)
            assert message.malformed
            assert CUT_SHORT in [defect.code for defect in message.defects]
            redo_facts(archive)


@pytest.mark.parametrize("first", ["whole", "trailer.gz"])
def test_the_same_bytes_met_whole_are_no_damage(tmp_path: pathlib.Path, first: str) -> None:
    """A download whose checksum alone is missing has all of the mail, as another copy shows."""
    paths = _write(tmp_path)
    second = "trailer.gz" if first == "whole" else "whole"
    with Archive(tmp_path / "archive", write=True) as archive:
        for name in (first, second, first, second):
            fill(archive, [paths[name]], jobs=0)
        assert _state(archive) == (1, ["148b974deea9"], False, True, 2)
    with Archive(tmp_path / "together", write=True) as archive:
        fill(archive, [paths[first], paths[second]], jobs=0)
        assert _state(archive) == (1, ["148b974deea9"], False, True, 2)

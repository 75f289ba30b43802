"""Inputs made to exhaust a reader: little memory and time, a word about it, the mail is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.ingest.bombs import Outcome

ROOT = Path(__file__).parent.parent.parent
TITLE = "[PATCH] lamp: dim"


def read_bomb(name: str, folder: Path) -> Outcome:
    """What a process with little memory makes of a bomb."""
    command = [sys.executable, "-m", "tests.ingest.bombs", name, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:].decode()
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    assert outcome.seconds < 20
    return outcome


@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_compressed(kind: str, tmp_path: Path) -> None:
    """A stream that unpacks to gigabytes ends early; the mail at its start is there."""
    outcome = read_bomb(kind, tmp_path)
    assert outcome.subjects == [TITLE]
    assert "damaged" in outcome.problems


def test_window_of_gigabytes(tmp_path: Path) -> None:
    """A frame that asks for more memory than any archive needs is refused."""
    assert "damaged" in read_bomb("zstd-window", tmp_path).problems


def test_compressed_again_and_again(tmp_path: Path) -> None:
    """Forty layers of gzip: three are taken off, the rest is told of."""
    assert read_bomb("layers", tmp_path).problems == ["damaged"]


def test_line(tmp_path: Path) -> None:
    """A mail of one line of 100 MiB: its start is read."""
    outcome = read_bomb("line", tmp_path)
    assert outcome.subjects == [TITLE]
    assert outcome.defects == ["text-too-long", "line-too-long", "cut-short"]
    assert outcome.problems == ["damaged"]


@pytest.mark.parametrize("kind", ["parts", "bare-parts", "multiparts"])
def test_parts(kind: str, tmp_path: Path) -> None:
    """10,000 parts with headers or without, 5,000 multiparts each in the other: read as text."""
    outcome = read_bomb(kind, tmp_path)
    assert (outcome.subjects, outcome.defects) == ([TITLE], ["too-many-parts"])


def test_few_mails_in_mails(tmp_path: Path) -> None:
    """Mails within mails are read so far down, and what lies deeper is told of."""
    outcome = read_bomb("mails-in-mails", tmp_path)
    assert outcome.subjects == [TITLE]
    assert outcome.defects == ["nested-too-deep"]
    assert outcome.levels == 9


@pytest.mark.parametrize(
    ("kind", "code"),
    [("mails-beyond-python", "nested-unreadable"), ("mails-without-end", "too-many-parts")],
)
def test_mails_in_mails_without_end(kind: str, code: str, tmp_path: Path) -> None:
    """More of them than Python's stack takes, and more than any mail has parts."""
    outcome = read_bomb(kind, tmp_path)
    assert (outcome.subjects, outcome.defects) == ([TITLE], [code])


def test_headers(tmp_path: Path) -> None:
    """100,000 headers that nobody asks for cost nothing and are no defect."""
    outcome = read_bomb("headers", tmp_path)
    assert (outcome.subjects, outcome.defects) == ([TITLE], [])


@pytest.mark.parametrize("kind", ["loop", "to"])
def test_headers_of_a_loop(kind: str, tmp_path: Path) -> None:
    """Of 100,000 headers of one name the first are read, and all of the other names."""
    outcome = read_bomb(kind, tmp_path)
    assert (outcome.subjects, outcome.defects) == ([TITLE], ["too-many-headers"])


def test_references(tmp_path: Path) -> None:
    """Of 100,000 references the last ones are kept: the parent is there."""
    outcome = read_bomb("references", tmp_path)
    assert (outcome.subjects, outcome.defects) == ([TITLE], ["header-too-long"])
    assert outcome.references > 10_000


@pytest.mark.parametrize("kind", ["subject", "subject-tags", "subject-words", "boundary"])
def test_header_of_megabytes(kind: str, tmp_path: Path) -> None:
    """A subject of up to 50 MiB, a parameter of a quarter: its start is read."""
    outcome = read_bomb(kind, tmp_path)
    assert len(outcome.subjects) == 1
    assert outcome.defects == ["header-too-long"]


def test_html(tmp_path: Path) -> None:
    """400,000 tags, each in the other: no tree is built and no stack runs over."""
    outcome = read_bomb("html", tmp_path)
    assert (outcome.subjects, outcome.defects) == ([TITLE], ["html-only"])

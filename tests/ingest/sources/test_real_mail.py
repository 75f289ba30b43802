"""Counts on real mail, each equal to a count made without this reader."""

from __future__ import annotations

import lzma
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.ingest.sources.samples import read

SHARED = Path(__file__).parents[4] / "shared"
CORPORA = SHARED / "corpora"

pytestmark = pytest.mark.skipif(not CORPORA.is_dir(), reason="needs ../shared/corpora")


@pytest.mark.parametrize(
    ("bundle", "count"),
    [
        ("lore-kernel-hardening.lists.openwall.com.0.bundle", 6184),
        ("lore-live-patching.vger.kernel.org.0.bundle", 7162),
    ],
)
def test_an_epoch_has_as_many_mails_as_commits(tmp_path: Path, bundle: str, count: int) -> None:
    """Nothing is lost and nothing read twice; git counts the commits."""
    epoch = tmp_path / "list/git/0.git"
    clone = ["git", "clone", "-q", "--bare", str(CORPORA / bundle), str(epoch)]
    subprocess.run(clone, check=True, capture_output=True)
    counted = subprocess.run(
        ["git", f"--git-dir={epoch}", "rev-list", "--count", "HEAD"],
        check=True,
        capture_output=True,
    )
    raws, problems, _ = read(tmp_path / "list")
    assert len(raws) == int(counted.stdout) == count
    assert not problems


def test_a_mailbox_has_as_many_mails_as_separators() -> None:
    """public-inbox escapes every other line that begins with From."""
    path = CORPORA / "stable-and-gcc.mboxrd.xz"
    with lzma.open(path) as file:
        separators = sum(line.startswith(b"From ") for line in file)
    raws, problems, _ = read(path)
    assert len(raws) == separators == 2813
    assert not problems


def test_pages_of_archives(tmp_path: Path) -> None:
    """120 openwall pages, 5 of them lists of days; pipermail's months have a From line a mail."""
    with tarfile.open(CORPORA / "archive-pages.tar.xz") as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        tar.extractall(tmp_path)
    (folder,) = tmp_path.rglob("synthetic-openwall")
    raws, problems, marks = read(folder)
    assert Counter(raw.source.format for raw in raws) == {"openwall-html": 115}
    assert len(marks) == 120
    assert not problems
    for month in tmp_path.rglob("*.txt"):
        if "attachments" in month.parts:
            continue
        starts = month.read_bytes().split(b"\nFrom ")
        mails = [start for start in starts if b"\nFrom: " in start[:300]]
        assert len(read(month)[0]) == len(mails)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        # A mailbox of 865 mails, and a file of two format-patches.
        ("backport-patches", 864 + 1),
        ("gcc-patches", 0),
        ("cve-records", 0),
        ("odd-mails", -1),  # its table of contents
    ],
)
def test_every_file_of_an_archive_is_a_mail(name: str, more: int) -> None:
    """Read inside the tar; Python's tarfile counts the files."""
    path = CORPORA / f"{name}.tar.xz"
    with tarfile.open(path) as tar:
        files = sum(member.isfile() for member in tar)
    raws, problems, _ = read(path)
    assert len(raws) == files + more
    assert len(problems) == max(0, -more)

"""The mails that programs are compared on are the same ones in each form."""

from __future__ import annotations

from pathlib import Path

from bench.flat import every
from bench.material import commits_of, invented_mails, mails_of, make_epoch, prepare


def test_an_epoch_gives_back_the_mails_that_it_was_made_of(tmp_path: Path) -> None:
    """What is written as an epoch is read from it, in order."""
    mails = list(invented_mails(7))
    epoch = make_epoch(mails, tmp_path / "inbox")
    assert list(mails_of(epoch)) == mails
    assert commits_of(epoch) == 7


def test_the_maildir_has_the_mails_of_the_epoch(tmp_path: Path) -> None:
    """Both forms hold the first mails, and no others."""
    mails = list(invented_mails(7))
    material = prepare(make_epoch(mails, tmp_path / "inbox"), tmp_path / "copy", 5)
    files = sorted((material.maildir / "cur").iterdir())
    assert [file.read_bytes() for file in files] == mails[:5]
    assert list(mails_of(material.epoch)) == mails[:5]
    assert (material.mails, material.distinct) == (5, 5)
    assert material.size == sum(map(len, mails[:5]))


def test_doubles_are_counted_once(tmp_path: Path) -> None:
    """Two mails under one Message-ID are one message to a program that knows doubles."""
    mails = [*invented_mails(3), *invented_mails(1)]
    material = prepare(make_epoch(mails, tmp_path / "inbox"), tmp_path / "copy")
    assert (material.mails, material.distinct) == (4, 3)


def test_every_kth_mail_is_taken_from_all_of_an_archive() -> None:
    """A part has the asked number of mails, old and new ones."""
    mails = [b"%d" % number for number in range(10)]
    assert list(every(iter(mails), 10, 5)) == mails[1::2]
    assert list(every(iter(mails), 10, 20)) == mails

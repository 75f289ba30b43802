"""Maildirs are read once a mail, whatever its flags become."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from patchlore.ingest.sources import maildir
from tests.ingest.sources.samples import Marks, mail, read, write


def deliver(folder: Path, name: str, number: int) -> None:
    """Put a mail into a maildir."""
    for part in ("cur", "new", "tmp"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    write(folder / name, mail(number))


def test_cur_and_new_are_read_and_tmp_is_not(tmp_path: Path) -> None:
    """A mail in tmp is still being written."""
    deliver(tmp_path, "cur/1.a:2,S", 1)
    deliver(tmp_path, "new/2.a", 2)
    deliver(tmp_path, "tmp/3.a", 3)
    raws, problems, marks = read(tmp_path)
    assert [raw.data for raw in raws] == [mail(1), mail(2)]
    assert raws[0].source.format == "maildir"
    assert raws[0].source.path == str(tmp_path / "cur/1.a:2,S")
    assert not problems
    assert len(marks) == 1


def test_moved_and_flagged_mails_are_not_read_again(tmp_path: Path) -> None:
    """A mail client moves a mail from new to cur and adds flags to its name."""
    marks = Marks()
    deliver(tmp_path, "new/1.a", 1)
    assert len(marks.run(tmp_path)[0]) == 1
    shutil.move(tmp_path / "new/1.a", tmp_path / "cur/1.a:2,RS")
    deliver(tmp_path, "new/2.a", 2)
    raws, problems = marks.run(tmp_path)
    assert [raw.data for raw in raws] == [mail(2)]
    assert not problems
    assert marks.run(tmp_path) == ([], [])


def test_a_mail_that_came_back_is_read(tmp_path: Path) -> None:
    """The state holds what is there, so that it never grows without end."""
    marks = Marks()
    deliver(tmp_path, "cur/1.a:2,", 1)
    marks.run(tmp_path)
    (tmp_path / "cur/1.a:2,").unlink()
    assert marks.run(tmp_path) == ([], [])
    deliver(tmp_path, "cur/1.a:2,", 1)
    assert len(marks.run(tmp_path)[0]) == 1


def test_folders_of_a_maildir_are_read(tmp_path: Path) -> None:
    """Maildir++ keeps folders as dotted names, others as plain ones."""
    deliver(tmp_path, "cur/1.a:2,", 1)
    deliver(tmp_path / ".Lists.lamp", "cur/2.a:2,", 2)
    deliver(tmp_path / "archive", "cur/3.a:2,", 3)
    write(tmp_path / "dovecot-uidlist", b"3 V1\n")
    raws, problems, _ = read(tmp_path)
    assert sorted(raw.data for raw in raws) == [mail(1), mail(2), mail(3)]
    assert not problems


def test_an_empty_mail_is_named(tmp_path: Path) -> None:
    """A delivery that failed leaves an empty file; it is read when it has something in it."""
    marks = Marks()
    deliver(tmp_path, "cur/1.a:2,", 1)
    write(tmp_path / "cur/2.a:2,", b"")
    raws, problems = marks.run(tmp_path)
    assert len(raws) == 1
    assert [(problem.code, problem.path) for problem in problems] == [
        ("empty", str(tmp_path / "cur/2.a:2,"))
    ]
    write(tmp_path / "cur/2.a:2,", mail(2))
    assert [raw.data for raw in marks.run(tmp_path)[0]] == [mail(2)]


def test_marks_come_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed has not read in vain."""
    monkeypatch.setattr(maildir, "_FIRST_MARK", 3)
    for number in range(10):
        deliver(tmp_path, f"cur/{number}.a:2,", number)
    _, _, marks = read(tmp_path)
    assert len(marks) == 4
    assert len(marks[0].state) < len(marks[-1].state)


def test_a_broken_state_means_reading_all(tmp_path: Path) -> None:
    """A state that another version wrote harms nothing."""
    marks = Marks()
    deliver(tmp_path, "cur/1.a:2,", 1)
    marks.run(tmp_path)
    for key in marks.states:
        marks.states[key] = "no such state \N{SNOWMAN}"
    assert len(marks.run(tmp_path)[0]) == 1

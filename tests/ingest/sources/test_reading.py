"""Files, folders and streams: what is there is read, what is not is said."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from patchlore.ingest.errors import IngestError
from patchlore.ingest.sources import files
from patchlore.ingest.sources.reading import read_source
from tests.ingest.sources.samples import GIT_LINE, SEPARATOR, Marks, mail, read, write

BOX = SEPARATOR + mail(1) + b"\n" + SEPARATOR + mail(2) + b"\n"


def test_a_single_mail(tmp_path: Path) -> None:
    """A mail in a file of any name."""
    name = write(tmp_path / "some.exe", mail(1))
    (raw,), problems, marks = read(name, list_name="lamp")
    assert raw.data == mail(1)
    source = raw.source
    assert (source.path, source.format, source.offset) == (name, "rfc822", 0)
    assert (source.list, source.fidelity) == ("lamp", "exact")
    assert not problems
    assert len(marks) == 1


def test_a_from_line_on_top_of_a_mail_is_passed(tmp_path: Path) -> None:
    """What stands above the header is no part of the mail."""
    (raw,), _, _ = read(write(tmp_path / "mail", b">" + SEPARATOR + mail(1)))
    assert (raw.data, raw.source.offset) == (mail(1), len(SEPARATOR) + 1)


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress]
)
def test_compressed_files_of_any_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Content decides, also twice over; offsets are those in the unpacked mailbox."""
    raws, problems, _ = read(write(tmp_path / "lamp.mbox", pack(BOX)))
    assert [raw.data for raw in raws] == [mail(1), mail(2)]
    assert raws[1].source.offset == BOX.rindex(SEPARATOR)
    assert not problems
    assert len(read(write(tmp_path / "twice", pack(pack(BOX))))[0]) == 2


def test_too_many_layers_are_refused(tmp_path: Path) -> None:
    """Nobody packs a mailbox four times."""
    data = BOX
    for _ in range(4):
        data = gzip.compress(data)
    raws, problems, marks = read(write(tmp_path / "box", data))
    assert not raws
    assert "compressed more than" in problems[0].text
    assert not marks


def test_a_truncated_file_gives_what_came_before(tmp_path: Path) -> None:
    """The mails before the cut are read; the problem says where, and no mark hides it."""
    box = b"".join(SEPARATOR + mail(n, os.urandom(900).hex().encode() + b"\n") for n in range(99))
    packed = gzip.compress(box)
    name = write(tmp_path / "box.gz", packed[: len(packed) // 2])
    raws, problems, marks = read(name)
    assert 20 < len(raws) < 99
    assert [(problem.offset, problem.code) for problem in problems] == [
        (len(packed) // 2, "damaged")
    ]
    assert name in problems[0].text
    assert "cut short" in problems[0].text
    assert not marks


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (bytes(5000), "no-mail"),
        (b"nothing of the kind\n", "no-mail"),
        (b"<html><body>some page</body></html>", "no-mail"),
        (gzip.compress(b""), "empty"),
    ],
)
def test_what_is_no_mail_is_named(tmp_path: Path, data: bytes, code: str) -> None:
    """A whole sentence that names the file."""
    name = write(tmp_path / "thing", data)
    raws, problems, marks = read(name)
    assert not raws
    assert [problem.code for problem in problems] == [code]
    assert problems[0].text.startswith(name)
    assert problems[0].text.endswith(".")
    assert not marks


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    """No exception: the other sources of a run go on."""
    _, (problem,), _ = read(tmp_path / "nowhere")
    assert problem.text == f"{tmp_path}/nowhere: No such file or directory."
    assert problem.code == "unreadable"


def test_a_file_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the folder is read. (The superuser may read anything, hence the stand-in.)"""
    write(tmp_path / "a", mail(1))
    secret = write(tmp_path / "b", mail(2))
    write(tmp_path / "c", mail(3))

    def guarded(path: str, mode: str) -> io.BufferedReader:
        if path == secret:
            raise PermissionError(13, "Permission denied", path)
        return open(path, "rb")

    monkeypatch.setattr(files, "open", guarded, raising=False)
    raws, problems, _ = read(tmp_path)
    assert [raw.data for raw in raws] == [mail(1), mail(3)]
    assert [problem.text for problem in problems] == [
        f"{secret}: you may not read it (permission denied)."
    ]


def test_folders_are_walked_in_order(tmp_path: Path) -> None:
    """Sorted by name, hidden files left out."""
    for name, number in (("b/2", 3), ("a", 1), ("b/1", 2), (".hidden", 9), ("b/.git/x", 9)):
        write(tmp_path / name, mail(number))
    raws, problems, marks = read(tmp_path)
    assert [raw.data for raw in raws] == [mail(1), mail(2), mail(3)]
    assert [raw.source.path for raw in raws][1] == str(tmp_path / "b/1")
    assert not problems
    assert len(marks) == 3


def test_a_series_file_gives_the_order(tmp_path: Path) -> None:
    """quilt names its patches in the order in which they apply, with options and comments."""
    for number, name in enumerate(("b.patch", "a.patch", "c.patch"), 1):
        write(tmp_path / name, GIT_LINE + mail(number))
    write(tmp_path / "series", b"# lamp\nb.patch -p1\na.patch # dim\nmissing.patch\n")
    raws, problems, _ = read(tmp_path)
    assert [raw.data for raw in raws] == [GIT_LINE + mail(number) for number in (1, 2, 3)]
    (problem,) = problems
    assert "line 4 lists missing.patch" in problem.text


def test_a_link_back_up_is_followed_once(tmp_path: Path) -> None:
    """A loop of symbolic links ends."""
    write(tmp_path / "a/mail", mail(1))
    (tmp_path / "a/up").symlink_to(tmp_path)
    assert len(read(tmp_path)[0]) == 1


def test_a_folder_without_mail_is_named(tmp_path: Path) -> None:
    """With what to name instead."""
    (tmp_path / "empty").mkdir()
    raws, problems, _ = read(tmp_path)
    assert not raws
    assert [problem.code for problem in problems] == ["no-mail"]
    assert "git/0.git" in problems[0].text


def test_many_files_without_mail_are_counted(tmp_path: Path) -> None:
    """A source tree must not fill the screen."""
    for number in range(50):
        write(tmp_path / f"{number}.txt", b"nothing of the kind\n")
    write(tmp_path / "mail", mail(1))
    raws, problems, _ = read(tmp_path)
    assert len(raws) == 1
    assert len(problems) == 21
    assert problems[-1].text == f"{tmp_path}: 30 more files in it hold no mail."


def test_an_unchanged_file_yields_nothing(tmp_path: Path) -> None:
    """Not even a problem: the folder has mail, only no new one."""
    marks = Marks()
    write(tmp_path / "box", BOX)
    assert len(marks.run(tmp_path)[0]) == 2
    assert marks.run(tmp_path) == ([], [])
    assert marks.run(tmp_path / "box") == ([], [])


def test_appended_mails_are_read_alone(tmp_path: Path) -> None:
    """A growing mailbox goes on at its old end, with the offsets of the whole."""
    marks, box = Marks(), tmp_path / "box"
    write(box, BOX)
    marks.run(box)
    write(box, BOX + SEPARATOR + mail(3) + b"\n")
    (raw,), problems = marks.run(box)
    assert (raw.data, raw.source.offset) == (mail(3), len(BOX))
    assert not problems
    assert marks.run(box) == ([], [])


def test_a_mailbox_that_was_rewritten_is_read_anew(tmp_path: Path) -> None:
    """A mail client that expunges a mail moves all that follow."""
    marks, box = Marks(), tmp_path / "box"
    write(box, BOX)
    marks.run(box)
    write(box, BOX.replace(b"Hello", b"Howdy") + SEPARATOR + mail(3))
    assert len(marks.run(box)[0]) == 3


def test_a_mail_that_was_half_written_is_read_again(tmp_path: Path) -> None:
    """What follows the old end is no separator, so the last mail had not been all there."""
    marks, box = Marks(), tmp_path / "box"
    write(box, BOX[:-10])
    marks.run(box)
    write(box, BOX)
    assert [raw.data for raw in marks.run(box)[0]] == [mail(1), mail(2)]


def test_a_changed_mail_is_read_anew(tmp_path: Path) -> None:
    """Other files have no end to go on from."""
    marks = Marks()
    name = write(tmp_path / "mail", mail(1))
    marks.run(name)
    write(tmp_path / "mail", mail(2, b"Longer than before.\n"))
    assert len(marks.run(name)[0]) == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is standard input, compressed or not; nothing is marked."""

    class Standard:
        buffer = io.BytesIO(gzip.compress(BOX))

    monkeypatch.setattr(sys, "stdin", Standard)
    raws, problems, marks = read("-")
    assert [raw.source.path for raw in raws] == ["-", "-"]
    assert not problems
    assert not marks


def test_a_pipe(tmp_path: Path) -> None:
    """What a shell gives for <(…) is read like standard input."""
    reading, writing = os.pipe()
    os.write(writing, BOX)
    os.close(writing)
    raws, problems, _ = read(f"/dev/fd/{reading}")
    os.close(reading)
    assert len(raws) == 2
    assert not problems


def test_a_format_may_be_given(tmp_path: Path) -> None:
    """The user knows better than the content."""
    name = write(tmp_path / "thing", b"nothing of the kind\n")
    (raw,), problems, _ = read(name, format="rfc822")
    assert raw.source.format == "rfc822"
    assert not problems
    with pytest.raises(IngestError):
        next(read_source(name, format="paper"))


def test_an_index_page_is_passed_in_a_folder_and_named_alone(tmp_path: Path) -> None:
    """A mirror of an archive has such pages everywhere; alone it is a mistake."""
    index = b"<html><title>lamp mailing list - 2023/06</title><body><ul></ul></body></html>"
    name = write(tmp_path / "index.html", index)
    write(tmp_path / "mail", mail(1))
    raws, problems, _ = read(tmp_path)
    assert len(raws) == 1
    assert not problems
    _, problems, _ = read(name)
    assert [problem.code for problem in problems] == ["no-mail"]


def test_a_huge_file_that_is_one_mail_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded; what is left out is said."""
    monkeypatch.setattr(files, "MAIL_LIMIT", 10_000)
    (raw,), (problem,), _ = read(write(tmp_path / "mail", mail(1, b"x" * 20_000)))
    assert len(raw.data) == 10_000
    assert problem.offset == 10_000


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\x1f\x9d\x90", ".Z"),
        (b"7z\xbc\xaf\x27\x1c\0\4", ".7z"),
        (b"Rar!\x1a\x07\0", ".rar"),
        (b"LZIP\1", ".lz"),
        (b"# v2 git bundle\n", "git bundle"),
    ],
)
def test_what_is_packed_in_another_way_is_named(tmp_path: Path, head: bytes, name: str) -> None:
    """There may be mail in it: it says what to do, and is a failure in a folder too."""
    write(tmp_path / "box", head + bytes(range(256)))
    write(tmp_path / "mail", mail(1))
    for path in (tmp_path / "box", tmp_path):
        _, problems, _ = read(path)
        assert [(problem.code, problem.passed_over) for problem in problems] == [("packed", 0)]
        assert name in problems[0].text

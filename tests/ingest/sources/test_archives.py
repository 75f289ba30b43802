"""Archives: what is in a tar or zip is read as files are, and nothing in it does harm."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest.sources import archives
from patchlore.ingest.sources.files import Stream
from tests.ingest.sources.samples import GIT_LINE, SEPARATOR, Marks, mail, read, sort, write

BOX = SEPARATOR + mail(1) + b"\n" + SEPARATOR + mail(2) + b"\n"
DIFF = b"--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-on\n+off\n"


def tar(members: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of MEMBERS."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as box:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            box.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of MEMBERS."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as box:
        for name, data in members.items():
            box.writestr(name, data)
    return out.getvalue()


MEMBERS = {"lamp/box": BOX, "lamp/README": b"nothing\n", "lamp/1.patch": GIT_LINE + mail(3)}


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress],
    ids=["tar", "gz", "bz2", "xz", "zst"],
)
@pytest.mark.parametrize(
    "form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT], ids=["pax", "gnu", "us"]
)
def test_a_tar_is_read_whatever_packs_it(
    tmp_path: Path, pack: Callable[[bytes], bytes], form: int
) -> None:
    """The format comes from the content; the path names the archive and the member."""
    name = write(tmp_path / "download", pack(tar(MEMBERS, form)))
    raws, problems, _ = read(name)
    assert [raw.data for raw in raws] == [mail(1), mail(2), GIT_LINE + mail(3)]
    assert raws[0].source.path == f"{name}!lamp/box"
    assert [raw.source.format for raw in raws] == ["mbox", "mbox", "git-patch"]
    assert [(problem.path, problem.code) for problem in problems] == [
        (f"{name}!lamp/README", "no-mail")
    ]


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_zip_is_read(tmp_path: Path, method: int) -> None:
    """With each method that Python's zipfile writes."""
    name = write(tmp_path / "a.zip", zipped(MEMBERS, method))
    raws, _, _ = read(name)
    assert [raw.data for raw in raws] == [mail(1), mail(2), GIT_LINE + mail(3)]
    assert raws[2].source.path == f"{name}!lamp/1.patch"


def test_a_zip_from_a_pipe_and_in_a_tar(tmp_path: Path) -> None:
    """Where the file can't be sought in it is held in memory."""
    inner = zipped({"box.gz": gzip.compress(BOX)})
    raws, problems, _ = sort(Stream(io.BytesIO(inner), "-", None, None).run())
    assert len(raws) == 2
    assert not problems
    name = write(tmp_path / "a.tar", tar({"x/inner.zip": inner}))
    raws, problems, _ = read(name)
    assert [raw.source.path for raw in raws] == [f"{name}!x/inner.zip!box.gz"] * 2
    assert not problems


def test_a_stream_may_give_its_bytes_piece_by_piece() -> None:
    """A pipe gives what is there; a tar's blocks do not keep to that."""

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, 100))

    raws, problems, _ = sort(Stream(Slow(tar(MEMBERS)), "-", None, None).run())
    assert len(raws) == 3
    assert len(problems) == 1


def test_archives_in_archives_end(tmp_path: Path) -> None:
    """Three deep is read, four is not."""
    data = tar({"m": mail(1)})
    for _ in range(2):
        data = tar({"t": data})
    assert len(read(write(tmp_path / "three", data))[0]) == 1
    raws, problems, _ = read(write(tmp_path / "four", tar({"t": data})))
    assert not raws
    assert "more than 3 archives deep" in problems[0].text


def test_links_devices_and_hostile_names_do_nothing(tmp_path: Path) -> None:
    """Only regular files are read, and no name is ever opened."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as box:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("etc")
            info.type, info.linkname = kind, "/etc/passwd"
            box.addfile(info)
        for name in ("../../up", "/etc/mail", "a\x1b[31m", "n" * 5000):
            info = tarfile.TarInfo(name)
            info.size = len(mail(1))
            box.addfile(info, io.BytesIO(mail(1)))
    write(tmp_path / "up", b"untouched")
    name = write(tmp_path / "a/b/evil.tar", out.getvalue())
    raws, problems, _ = read(name)
    assert len(raws) == 4
    assert raws[0].source.path == f"{name}!../../up"
    assert len(raws[3].source.path) < 2000
    assert not problems
    assert (tmp_path / "up").read_bytes() == b"untouched"


def test_hidden_members_are_passed_over(tmp_path: Path) -> None:
    """As hidden files are in a folder; a maildir's folders begin with a dot."""
    members = {".git/x": mail(1), "__MACOSX/._m": mail(2), ".Sent/cur/3.M:2,S": mail(3)}
    raws, problems, _ = read(write(tmp_path / "a.tar", tar(members)))
    assert [raw.data for raw in raws] == [mail(3)]
    assert not problems


@pytest.mark.parametrize("cut", [3000, 2600, 1536, 700])
def test_a_tar_that_is_cut_gives_what_came_before(tmp_path: Path, cut: int) -> None:
    """And a problem that says so."""
    data = tar({"a": mail(1), "b": mail(2) + b"x" * 2000}, tarfile.USTAR_FORMAT)[:cut]
    raws, problems, marks = read(write(tmp_path / "a.tar", data))
    assert raws[0].data == mail(1)[: max(0, cut - 512)]
    assert "fetch the archive again" in problems[-1].text
    assert not marks


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_that_is_cut_gives_what_came_before(tmp_path: Path, method: int) -> None:
    """Its directory was at the end; the members still stand."""
    data = zipped({"a": mail(1), "b/": b"", "c": mail(2), "d": mail(3)}, method)
    cut = data[: data.rfind(b"PK\x03\x04") + 60]
    raws, problems, marks = read(write(tmp_path / "a.zip", cut))
    assert [raw.data for raw in raws[:2]] == [mail(1), mail(2)]
    assert any("directory at the end of the zip is missing" in p.text for p in problems)
    assert not marks


def test_a_streamed_zip_that_is_cut(tmp_path: Path) -> None:
    """A zip made in a pipe has sizes behind its members."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.out = b""

        def writable(self) -> bool:
            return True

        def write(self, data: object, /) -> int:
            piece = bytes(data)  # type: ignore[call-overload]  # any buffer
            self.out += piece
            return len(piece)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as box:
        for number in range(3):
            box.writestr(str(number), mail(number))
    data = pipe.out
    raws, _, _ = read(write(tmp_path / "a.zip", data[: data.find(b"PK\x01\x02")]))
    assert [raw.data for raw in raws[:2]] == [mail(0), mail(1)]
    assert len(read(write(tmp_path / "b.zip", data))[0]) == 3


def test_a_damaged_member_of_a_zip_is_named(tmp_path: Path) -> None:
    """Its checksum tells that its bytes are not those that were packed; the others are read."""
    data = bytearray(zipped({"a": mail(1), "b": mail(2)}, zipfile.ZIP_STORED))
    data[data.find(b"Hello")] ^= 1
    raws, problems, _ = read(write(tmp_path / "a.zip", bytes(data)))
    assert [raw.data for raw in raws] == [mail(2)]
    assert any("a part of it is lost" in problem.text for problem in problems)


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    """It can't be read without its password."""
    data = bytearray(zipped({"a": mail(1)}, zipfile.ZIP_STORED))
    data[data.find(b"PK\x01\x02") + 8] |= 1
    _, problems, _ = read(write(tmp_path / "a.zip", bytes(data)))
    assert "it is encrypted" in problems[0].text


def test_a_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that unpacks to far more than any mail is no mail."""
    monkeypatch.setattr(archives, "FREE", 1 << 20)
    monkeypatch.setattr(archives, "RATIO", 10)
    for data in (
        zipped({str(n): bytes(1 << 20) for n in range(9)}),
        gzip.compress(tar({str(n): bytes(1 << 20) for n in range(9)})),
    ):
        _, problems, marks = read(write(tmp_path / "bomb", data))
        assert "unpack to more than 1 MiB" in problems[-1].text
        assert not marks


def test_too_many_members_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their number is bounded, too."""
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    members = {str(number): mail(number) for number in range(9)}
    for data in (tar(members), zipped(members)):
        raws, problems, _ = read(write(tmp_path / "many", data))
        assert len(raws) == 3
        assert "more than 3 members" in problems[-1].text


def test_an_unchanged_archive_yields_nothing(tmp_path: Path) -> None:
    """Members without mail do not have it read again."""
    marks = Marks()
    write(tmp_path / "a.tar", tar(MEMBERS))
    assert len(marks.run(tmp_path)[0]) == 3
    assert marks.run(tmp_path) == ([], [])


def test_many_members_without_mail_are_counted(tmp_path: Path) -> None:
    """A source tree must not fill the screen."""
    members = {f"{number}.txt": b"nothing of the kind\n" for number in range(50)}
    raws, problems, _ = read(write(tmp_path / "a.tar", tar(members | {"m": mail(1)})))
    assert len(raws) == 1
    assert len(problems) == 21
    assert "30 more members hold no mail" in problems[-1].text


def test_an_archive_without_mail_is_named(tmp_path: Path) -> None:
    """An empty one, and one of links only."""
    for data in (tar({}), zipped({})):
        _, problems, _ = read(write(tmp_path / "a", data))
        assert [problem.code for problem in problems] == ["no-mail"]


def test_a_series_in_an_archive_names_what_is_missing(tmp_path: Path) -> None:
    """And stable-queue's folders say the tree, as on disk."""
    members = {
        "q/queue-6.6/series": b"lamp.patch\nlost.patch\n",
        "q/queue-6.6/lamp.patch": DIFF,
    }
    name = write(tmp_path / "a.tar", tar(members))
    (raw,), (problem,), _ = read(name)
    assert raw.source.place is not None
    assert (raw.source.place.tree, raw.source.place.state) == ("6.6.y", "queued")
    assert problem.text.startswith(f"{name}!q/queue-6.6/series lists lost.patch")


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 4000), st.binary(max_size=40), st.sampled_from(["tar", "zip", "stored"]))
def test_no_damage_breaks_the_reader(at: int, damage: bytes, kind: str) -> None:
    """Whatever bytes are changed, mails and problems come out."""
    data = bytearray(
        tar(MEMBERS)
        if kind == "tar"
        else zipped(MEMBERS, zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED)
    )
    at %= len(data)
    data[at : at + len(damage)] = damage
    sort(Stream(io.BytesIO(bytes(data)), "x", None, None).run())


@settings(deadline=None)
@given(st.binary(max_size=600))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    """Neither does what only begins as a zip."""
    for start in (b"", b"PK\x03\x04", b"PK\x05\x06"):
        sort(Stream(io.BytesIO(start + data), "x", None, None).run())

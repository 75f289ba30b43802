"""What is around a command: signals, streams, permissions, other people's files."""

from __future__ import annotations

import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from patchlore.cli import main
from patchlore.kb.database import FILE_NAME
from patchlore.kb.store import Archive
from tests.cli.conftest import UPSTREAM, Run
from tests.kb.letters import write_mbox

_PROGRAM = (sys.executable, "-m", "patchlore")


def _ended(
    arguments: Sequence[str], redirection: str = "", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the program under a shell with a redirection."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *_PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **options)


@pytest.mark.parametrize(
    "arguments", [["stats"], ["stats", "--json"], ["--help"], ["--print-completion", "bash"]]
)
@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_output_that_can_not_be_written_is_said(
    archive: pathlib.Path, arguments: list[str], redirection: str
) -> None:
    """One sentence and status 1, whether the disk is full or the stream closed."""
    ended = _ended(["--archive", str(archive), *arguments], redirection)
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"patchlore: writing to standard output failed: ")
    assert ended.stderr.count(b"\n") == 1


def test_a_command_without_output_needs_none(tmp_path: pathlib.Path) -> None:
    """Ingest works with all three streams closed."""
    (tmp_path / "one.eml").write_text("Subject: a\nFrom: ada@example.org\n\ntext\n")
    folder = str(tmp_path / "archive")
    ended = _ended(["--archive", folder, "ingest", str(tmp_path / "one.eml")], "<&- >&- 2>&-")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    with Archive(folder) as archive:
        assert archive.value("SELECT count(*) FROM message") == 1


def test_closed_standard_input_is_said(tmp_path: pathlib.Path) -> None:
    """To read from a stream that is closed is a problem with a sentence."""
    ended = _ended(["parse", "-"], "<&-")
    assert ended.returncode == 1
    assert b"Bad file descriptor" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_a_reader_of_the_completion_may_close_early() -> None:
    """`--print-completion bash | head -1` ends quietly."""
    read, write = os.pipe()
    os.close(read)
    command = [*_PROGRAM, "--print-completion", "bash"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


_WAITING = """
import sys
from patchlore import cli
def wait(args):
    print("ready", flush=True)
    import time
    while True:
        time.sleep(0.05)
class Parser:
    def parse_args(self, arguments):
        import argparse
        return argparse.Namespace(run=wait)
cli.make_parser = Parser
raise SystemExit(cli.main([]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_with_its_status(number: signal.Signals) -> None:
    """130 for ^C, 143 for SIGTERM, one sentence and no traceback."""
    with subprocess.Popen(
        [sys.executable, "-c", _WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.decode() == "patchlore: interrupted; what was stored before is kept.\n"


def test_an_interrupt_while_modules_are_loaded_is_quiet() -> None:
    """Before the command runs ^C ends the program without a traceback of imports."""
    code = (
        "import importlib.abc, os, signal, sys\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'patchlore.cli':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from patchlore.__main__ import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_ingest_with_workers_ends_without_noise(
    tmp_path: pathlib.Path, number: signal.Signals
) -> None:
    """A signal to all processes of an ingest leaves neither tracebacks nor warnings."""
    mail = (
        "From ada@example.org Tue Jan  2 03:04:05 2024\nFrom: Ada <ada@example.org>\n"
        "Message-ID: <{0}@example.org>\nSubject: lamp {0}\n\n" + "the lamp shines\n" * 200 + "\n"
    )
    (tmp_path / "box").write_text("".join(mail.format(number) for number in range(6000)))
    command = [*_PROGRAM, "--archive", str(tmp_path / "archive"), "ingest", "--jobs", "2"]
    with subprocess.Popen(
        [*command, str(tmp_path / "box")], stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        _wait_for(lambda: (tmp_path / "archive" / FILE_NAME).exists())
        _wait_for(lambda: len(_children(process.pid)) >= 2)
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.decode() == "patchlore: interrupted; what was stored before is kept.\n"


def _children(pid: int) -> list[str]:
    try:
        return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def _wait_for(condition: Callable[[], bool]) -> None:
    import time

    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_an_archive_that_may_not_be_looked_at_is_said(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No permission on the folder is a sentence, no traceback."""

    def forbidden(self: pathlib.Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(pathlib.Path, "exists", forbidden)
    assert main(["--archive", str(tmp_path), "stats"]) == 1
    assert capfd.readouterr().err == (
        f"patchlore: The archive {tmp_path} can't be opened: Permission denied.\n"
    )


def test_an_error_of_the_system_is_a_sentence(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Any file that can't be used is named, with the reason of the system."""

    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/srv/\x1bmail")

    monkeypatch.setattr("patchlore.commands.common.open_archive", forbidden)
    monkeypatch.setattr("patchlore.commands.archive.open_archive", forbidden)
    assert main(["--archive", str(tmp_path), "stats"]) == 1
    assert capfd.readouterr().err == (
        "patchlore: /srv/\\x1bmail can't be used: Permission denied.\n"
    )


def test_an_archive_without_a_table_is_damaged(
    archive: pathlib.Path, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every command that needs the table says so; check finds the fault."""
    folder = tmp_path / "copy"
    folder.mkdir()
    with (
        sqlite3.connect(archive / FILE_NAME) as old,
        sqlite3.connect(folder / FILE_NAME) as new,
    ):
        old.backup(new)
        new.execute("DROP TABLE bug_ref")
    old.close()
    new.close()
    for command in (["pr", "1"], ["prs"], ["stats"], ["check"], ["search", "pr:1"]):
        capfd.readouterr()
        assert main(["--archive", str(folder), *command]) == 1, command
        told = capfd.readouterr()
        assert "no such table" in told.out + told.err, command


def test_the_database_of_somebody_else_is_left_alone(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A foreign SQLite file is refused before a byte of it is changed."""
    path = tmp_path / FILE_NAME
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE tune (name TEXT)")
    connection.close()
    before = path.read_bytes()
    (tmp_path / "one.eml").write_text("Subject: a\n\ntext\n")
    assert main(["--archive", str(tmp_path), "ingest", str(tmp_path / "one.eml")]) == 1
    assert "is not an archive of patchlore" in capfd.readouterr().err
    assert path.read_bytes() == before
    assert {item.name for item in tmp_path.iterdir()} == {FILE_NAME, "lock", "one.eml"}


def test_an_archive_without_a_name_is_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    """`--archive "$UNSET"` must not become the archive of the home folder."""
    assert main(["--archive", "", "stats"]) == 2
    assert "--archive" in capfd.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("commit", "zzz"),
        ("commit", ""),
        ("commit", "012345"),
        ("cve", "lamp"),
        ("person", " "),
        ("file", "/"),
        ("pr", "zzz"),
        ("search", ""),
        ("search", "d:soonish.."),
        ("prs", "--since", "soonish"),
        ("prs", "--older-than", "lamp"),
        ("backports", "5.10", "--state", "lamp"),
        ("ingest", "--tree", " ", "."),
    ],
)
def test_what_can_not_be_meant_is_wrong_usage(run: Run, arguments: tuple[str, ...]) -> None:
    """Status 2, a sentence, no data."""
    result = run(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("patchlore: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("prs", "--since", "2099-01-01"),
        ("prs", "--since", "2099-01-01", "--json"),
        ("prs", "--older-than", "gcc-1"),
        ("search", "zzzzqqqq"),
        ("search", "zzzzqqqq", "--json"),
        ("search", "s:zzzzqqqq", "--format", "mbox"),
        ("search", "s:zzzzqqqq", "--facets"),
        ("commit", "ffffffffffff"),
        ("commit", UPSTREAM, "--tree", "4.4"),
        ("cve", "CVE-2099-99999"),
        ("person", "zzzz"),
        ("file", "zzzz/zzzz.c"),
        ("pr", "99999999"),
        ("thread", "none@example.org"),
        ("series", "none@example.org"),
        ("show", "none@example.org"),
        ("explain", "none@example.org"),
        ("backports", "4.4"),
    ],
)
def test_nothing_found_is_said(run: Run, arguments: tuple[str, ...]) -> None:
    """Status 1 and a sentence on standard error."""
    result = run(*arguments)
    assert result.status == 1
    assert result.err.startswith("patchlore: ")


@pytest.mark.parametrize("command", ["ingest", "parse"])
def test_an_unknown_format_is_wrong_usage(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    """It is known before an archive is made."""
    folder = tmp_path / "archive"
    with pytest.raises(SystemExit) as ended:
        main(["--archive", str(folder), command, "--format", "lamp", "x.eml"])
    assert ended.value.code == 2
    assert "no format 'lamp'" in capfd.readouterr().err
    assert not folder.exists()


def test_names_of_files_never_reach_the_terminal_raw(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Bytes that are no text, escape sequences and line ends in names are escaped."""
    folder = tmp_path / "mail"
    folder.mkdir()
    mail = b"From: ada@example.org\nMessage-ID: <%d@example.org>\nSubject: lamp\n\ntext\n"
    for number, name in enumerate((b"a\xff.eml", b"b\x1b[31m.eml", b"c\nd.eml")):
        (folder / os.fsdecode(name)).write_bytes(mail % number)
        (folder / os.fsdecode(b"empty" + name)).write_bytes(b"")
    archive = str(tmp_path / "archive")
    assert main(["--archive", archive, "ingest", str(folder)]) == 1
    err = capfd.readouterr().err
    assert err.splitlines()[-1].startswith("read 3, new 3,")
    assert len(err.splitlines()) == 4
    for number in range(3):
        assert main(["--archive", archive, "show", f"{number}@example.org"]) == 0
    told = err + capfd.readouterr().out
    assert "\x1b" not in told
    for shown in (r"a\xff.eml", r"b\x1b[31m.eml", r"c\x0ad.eml"):
        assert told.count(shown) == 2


def test_arguments_that_are_no_text_name_nothing(run: Run) -> None:
    """A Message-ID or a name in another encoding is not found, that is all."""
    for command in ("show", "thread", "explain", "person", "file"):
        result = run(command, os.fsdecode(b"na\xffme"))
        assert (result.status, result.out) == (1, ""), command


_PLAIN = b"From: ada@example.org\nMessage-ID: <%d@example.org>\nSubject: lamp\n\ntext\n"


@pytest.mark.parametrize("command", ["ingest", "parse"])
def test_files_beside_mail_are_passed_over_with_a_note(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    """A README and JSON in a folder of mails are no failure; how many is said."""
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "one.eml").write_bytes(_PLAIN % 1)
    (folder / "README").write_text("What is here.\n")
    (folder / "notes.json").write_text('{"a": 1}\n')
    for number in range(30):
        (folder / f"x{number}.dat").write_bytes(b"\0\1\2")
    arguments = ["--archive", str(tmp_path / "archive"), command]
    assert main([*arguments, str(folder)]) == 0
    assert f"patchlore: 32 files were no mail: {folder}/README, " in capfd.readouterr().err
    assert main([*arguments, str(folder / "README")]) == 1
    assert "README is no mail" in capfd.readouterr().err
    (folder / "empty.eml").write_bytes(b"")
    assert main([*arguments, str(folder)]) == 1


def test_a_folder_without_any_mail_is_a_mistake(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """When there is nothing else the files are no note: the folder is the wrong one."""
    (tmp_path / "README").write_text("What is here.\n")
    assert main(["parse", str(tmp_path)]) == 1
    assert "there is no mail in this folder" in capfd.readouterr().err


def test_files_beside_mail_in_an_archive_are_passed_over(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A tar with a README is as a folder with one; one without any mail is a mistake."""
    import io
    import tarfile

    for name, files in (
        ("good.tar", {"README": b"What is here.\n", "one.eml": _PLAIN % 1}),
        ("bad.tar", {"README": b"What is here.\n"}),
    ):
        with tarfile.open(tmp_path / name, "w") as tar:
            for member, data in files.items():
                info = tarfile.TarInfo(member)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    assert main(["parse", str(tmp_path / "good.tar")]) == 0
    assert "1 file was no mail" in capfd.readouterr().err
    assert main(["parse", str(tmp_path / "bad.tar")]) == 1
    assert "there is no mail in this archive" in capfd.readouterr().err


@pytest.fixture(scope="module")
def odd_ids(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, list[str]]:
    """An archive of mails with odd Message-IDs, and these as search prints them."""
    folder = tmp_path_factory.mktemp("odd")
    written = ("a\x1b[1mb@example.org", 'say "lamp" @example.org', "a\\b@example.org", "\x01@x")
    for number, id_ in enumerate(written):
        mail = f"From: ada@example.org\nMessage-ID: <{id_}>\nSubject: lamp {number}\n\nlamp\n"
        (folder / f"{number}.eml").write_text(mail)
    archive = tmp_path_factory.mktemp("archive")
    assert main(["--archive", str(archive), "ingest", str(folder)]) == 0
    return archive, [str(number) for number in range(len(written))]


def test_ids_that_search_prints_are_taken_by_show_and_search(
    odd_ids: tuple[pathlib.Path, list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    """Control characters, blanks and quotation marks in an id don't lose the mail."""
    archive, numbers = odd_ids
    capfd.readouterr()
    assert main(["--archive", str(archive), "search", "s:lamp", "--format", "ids"]) == 0
    ids = capfd.readouterr().out.splitlines()
    assert len(set(ids)) == len(numbers)
    for id_ in ids:
        assert id_.isprintable()
        assert main(["--archive", str(archive), "show", id_]) == 0
        shown = capfd.readouterr().out.splitlines()[0]
        quoted = id_.replace('"', r"\x22")
        assert main(["--archive", str(archive), "search", f'mid:"{quoted}"', "--json"]) == 0
        assert f'"subject":"{shown}"' in capfd.readouterr().out


def test_an_archive_may_be_called_like_a_url(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """SQLite takes a relative path that begins with "file:" for a URI."""
    write_mbox(tmp_path / "a.mbox", 3)
    monkeypatch.chdir(tmp_path)
    assert main(["--archive", "file:lamp", "ingest", "a.mbox"]) == 0
    assert main(["--archive", "file:lamp", "search", "tick"]) == 0
    capfd.readouterr()


def test_an_archive_is_no_source(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An archive that lies among the mails is passed over; one that is named is told."""
    write_mbox(tmp_path / "mail" / "a.mbox", 300)
    archive = tmp_path / "mail" / "archive"
    for new in (300, 0):
        assert main(["--archive", str(archive), "ingest", str(tmp_path / "mail")]) == 0
        err = capfd.readouterr().err
        assert f"new {new}, merged 0" in err
        assert "no mail" not in err
    assert main(["--archive", str(archive), "ingest", str(archive)]) == 1
    assert "is an archive of patchlore" in capfd.readouterr().err

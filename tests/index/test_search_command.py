"""``patchlore search`` and ``index``: output, exit status, what a terminal gets to see."""

from __future__ import annotations

import json
import pathlib

import pytest

from patchlore.cli import main
from patchlore.commands.search import join_query
from tests.index.letters import fill_archive, letters, mail, mid


def run(archive: pathlib.Path, *arguments: str) -> int:
    """Run a command on an archive and return its exit status."""
    return main(["--archive", str(archive), *arguments])


def test_text_shows_date_author_subject_and_line(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hit has its date, author, subject and Message-ID, and the author's line."""
    assert run(archive_path, "search", "night") == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "2024-01-05  Mira Skov                 Plans for 4.15.7",
        f"            {mid(5)}",
        "            We test the testers at night, 100% of them.",
    ]


def test_revisions_are_folded_unless_flat(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Revisions of a patch are one entry; with --flat each stands by itself."""
    run(archive_path, "search", "dfn:ring.c")
    folded = capsys.readouterr().out
    assert mid(6) in folded
    assert mid(1) not in folded
    assert "other revisions: v2 2024-01-01" in folded
    run(archive_path, "search", "--flat", "dfn:ring.c")
    assert mid(1) in capsys.readouterr().out


def test_ids_are_one_a_line_newest_first(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--format ids prints Message-IDs only."""
    assert run(archive_path, "search", "--format", "ids", "--limit", "0", "s:ring") == 0
    assert capsys.readouterr().out.split() == [mid(6), mid(4), mid(2), mid(1)]


def test_json_has_one_object_a_line(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--json prints JSON Lines with the names of facts.md."""
    run(archive_path, "search", "night", "--json")
    (line,) = capsys.readouterr().out.splitlines()
    hit = json.loads(line)
    assert hit["message_id"] == mid(5)
    assert hit["from"] == {"name": "Mira Skov", "email": "mira@example.org"}
    assert hit["snippet"]["line"] == 1


def test_mbox_is_the_mail_as_sent(
    archive_path: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """--format mbox prints the raw mails behind separators."""
    run(archive_path, "search", "night", "--format", "mbox")
    out = capfdbinary.readouterr().out
    assert out.startswith(b"From mboxrd@z ")
    assert letters()[4].data in out


def test_nothing_found_is_status_1(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search that finds nothing prints nothing and says so by its status."""
    assert run(archive_path, "search", "absentword") == 1
    assert capsys.readouterr().out == ""


def test_a_query_error_is_status_2_and_points(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A prefix that does not exist is shown with a caret."""
    assert run(archive_path, "search", "subjet:x") == 2
    error = capsys.readouterr().err
    assert "Did you mean 'subject:'?" in error
    assert "\n  ^^^^^^^" in error


def test_dashes_belong_to_the_query(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ "-is:patch" is no option, wherever it stands, and options may follow."""
    assert run(archive_path, "search", "-is:patch", "s:ring", "-is:cover", "--format", "ids") == 0
    assert capsys.readouterr().out.split() == [mid(2)]


def test_arguments_with_blanks_are_phrases() -> None:
    """The shell's quotation marks are put back; one argument is the query as it is."""
    assert join_query(["a b"]) == "a b"
    assert join_query(["s:stack depth", "x"]) == 's:"stack depth" x'
    assert join_query(["a b", "-c"]) == '"a b" -c'
    assert join_query(["(a OR b)", "c"]) == "(a OR b) c"


def test_what_mail_says_can_not_steer_the_terminal(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters from mail are escaped in every text that is shown."""
    evil = mail(1, "=?utf-8?q?red_=1B[31m_title?=", "a clear \x1b[2J screen\u202e word\n")
    fill_archive(tmp_path, [evil])
    assert run(tmp_path, "index") == 0
    assert run(tmp_path, "search", "screen") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "screen" in out


def test_a_search_says_what_is_not_indexed(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words of mails that are not indexed yet are counted on standard error."""
    fill_archive(tmp_path, letters()[:4])
    assert run(tmp_path, "index") == 0
    fill_archive(tmp_path, letters())
    assert run(tmp_path, "search", "ring") == 0
    assert "the words of 2 messages are not indexed yet" in capsys.readouterr().err


def test_without_an_archive_the_status_is_2(tmp_path: pathlib.Path) -> None:
    """A command that reads says that there is no archive."""
    assert run(tmp_path / "none", "search", "x") == 2

"""Mails that share a Message-ID are told apart; what lacks an index is told by check."""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest

from patchlore.cli import main

MAIL = """\
From: {name} <{name}@example.org>
Date: Thu, 8 Jun 2023 09:06:05 +0200
Message-ID: <same@example.org>
Subject: {subject}

{text}
"""


@pytest.fixture
def twins(tmp_path: pathlib.Path) -> str:
    """Return an archive of two mails under one Message-ID."""
    (tmp_path / "mail").mkdir()
    for name, subject, text in (
        ("ada", "the lamp is dark", "It was bright before the clock was wound."),
        (
            "bo",
            "quite another thing",
            "Nothing of lamps: the fan is loud, and turns the wrong way.",
        ),
    ):
        written = MAIL.format(name=name, subject=subject, text=text)
        (tmp_path / "mail" / f"{name}.eml").write_text(written)
    path = str(tmp_path / "archive")
    assert main(["--archive", path, "ingest", str(tmp_path / "mail")]) == 0
    return path


def test_keys_lead_back_to_the_mail_that_was_found(
    twins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each hit has a key that is its own, in JSON; a Message-ID alone names the first."""
    capsys.readouterr()
    assert main(["--archive", twins, "search", "--json", "m:same@example.org"]) == 0
    keys = [json.loads(line)["key"] for line in capsys.readouterr().out.splitlines()]
    assert sorted(keys) == ["same@example.org", "same@example.org#2"]
    for key, word in zip(sorted(keys), ("lamp", "another"), strict=True):
        assert main(["--archive", twins, "show", key]) == 0
        assert word in capsys.readouterr().out


def test_show_names_the_other_mails_of_a_message_id(
    twins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who asks by the Message-ID alone is told that there are two."""
    capsys.readouterr()
    assert main(["--archive", twins, "show", "same@example.org"]) == 0
    assert "other mails have this Message-ID, too: same@example.org#2" in capsys.readouterr().err


def test_check_tells_what_is_not_indexed_and_repair_indexes_it(
    twins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lost index is no damage of the archive, but not passed over either."""
    shutil.rmtree(pathlib.Path(twins) / "index")
    capsys.readouterr()
    assert main(["--archive", twins, "check"]) == 0
    assert "note: 2 messages not in the text index" in capsys.readouterr().out
    assert main(["--archive", twins, "check", "--repair"]) == 0
    printed = capsys.readouterr().out
    assert "note:" not in printed
    assert "that the text index has the 2 messages" in printed


@pytest.mark.parametrize("command", [["ingest", "mail"], ["stats"]])
def test_a_file_is_no_archive(
    tmp_path: pathlib.Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says so, and not what would fail again."""
    (tmp_path / "file").write_text("text")
    assert main(["--archive", str(tmp_path / "file"), *command]) != 0
    assert "is a file: an archive is a folder" in capsys.readouterr().err

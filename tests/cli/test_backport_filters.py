"""Filters of the command backports: what they take, what they say, mistakes."""

from __future__ import annotations

import io
import json
import pathlib
import sys

import pytest

from tests.cli.conftest import UPSTREAM, Run


@pytest.mark.parametrize(
    "options",
    [
        ("--path", "tick.c"),
        ("--path", "*.c", "--path", ":!drivers"),
        ("--author", "ada quill"),
        ("--autosel",),
        ("--evidence", "certain"),
        ("--pr", "123456"),
        ("--since", "2024-01-01"),
        ("--state", "in-flight,queued"),
    ],
)
def test_a_filter_keeps_the_backport(run: Run, options: tuple[str, ...]) -> None:
    """Each is met by the mail of the archive."""
    result = run("backports", "5.10", "--format", "ids", "--state", "all", *options)
    assert (result.status, result.out) == (0, f"{UPSTREAM}\n")


@pytest.mark.parametrize(
    "options",
    [
        ("--path", "drivers"),
        ("--path", "tick.c", "--path", ":!*.c"),
        ("--author", "marlow"),
        ("--cve", "CVE-2024-99999"),
        ("--pr", "99999"),
        ("--since", "2024-02-01"),
        ("--state", "failed"),
    ],
)
def test_a_filter_leaves_it_out(run: Run, options: tuple[str, ...]) -> None:
    """Nothing is left: status 1 and a sentence."""
    result = run("backports", "5.10", "--format", "ids", "--state", "in-flight", *options)
    assert (result.status, result.out) == (1, "")
    assert "no such backports for 5.10" in result.err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--path", ":(attr:x)a"), "is no path"),
        (("--cve", "12"), "12 is no CVE: write CVE-2024-12345"),
        (("--pr", "clock"), "clock is no bug number"),
        (("--since", "whenever"), "is no date"),
        (("--state", "gone"), "there is no state 'gone'"),
        (("--built-files", "/nowhere"), "/nowhere can't be read: No such file or directory."),
    ],
)
def test_a_mistake_is_status_2(run: Run, options: tuple[str, ...], text: str) -> None:
    """Nothing is printed, and the sentence says what to write."""
    result = run("backports", "5.10", *options)
    assert (result.status, result.out) == (2, "")
    assert text in result.err


def test_json_says_what_it_was_before(run: Run) -> None:
    """With --since a row has the state of that day; without it none."""
    row = json.loads(run("backports", "5.10", "--json", "--since", "2024-01-01").out.split("\n")[0])
    assert row["state_before"] == "new"
    row = json.loads(run("backports", "5.10", "--json").out.split("\n")[0])
    assert row["state_before"] is None
    assert "\n    new\n" in run("backports", "5.10", "--since", "2024-01-01").out


def test_built_files_of_a_file_and_of_standard_input(
    run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of objects chooses; lines that are none are told; an empty list is a mistake."""
    built = tmp_path / "built"
    ids = ("backports", "5.10", "--format", "ids", "--built-files")
    built.write_text("/home/ada/linux/tick.o\nhello world\n")
    result = run(*ids, str(built))
    assert (result.status, result.out) == (0, f"{UPSTREAM}\n")
    assert f"{built}: 1 line of no source or object." in result.err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"./bell.o\n")))
    assert run(*ids, "-").status == 1
    built.write_text("hello\n")
    assert run(*ids, str(built)).status == 2

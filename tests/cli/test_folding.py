"""Lines are folded for the columns that the reader has, and nothing of them is lost."""

from __future__ import annotations

from unicodedata import combining

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchlore.commands.folding import folded
from tests.cli.conftest import UPSTREAM, Run


def test_a_line_is_folded_at_blanks_and_indented() -> None:
    """What follows stands below, deeper than the line."""
    assert list(folded("  lamp shines over the harbour", 16)) == [
        "  lamp shines",
        "    over the",
        "    harbour",
    ]


def test_a_long_word_is_cut() -> None:
    """Where there is no blank a line ends anywhere."""
    assert list(folded("a" * 25, 20)) == ["a" * 20, "  " + "a" * 5]


def test_colours_take_no_columns() -> None:
    """A styled line is folded as the same one without style."""
    assert list(folded("\x1b[1mlamp\x1b[0m shines by night", 18)) == [
        "\x1b[1mlamp\x1b[0m shines by",
        "  night",
    ]


def test_letters_of_east_asia_take_two_columns() -> None:
    """Ten of them fill a line of twenty."""
    assert [len(part) for part in folded("灯" * 11, 20)] == [10, 3]


@example("0" * 20 + "\N{DEVANAGARI SIGN VIRAMA}", 20)
@given(st.text(st.characters(exclude_characters="\n\t\x1b", codec="utf-8")), st.integers(20, 60))
def test_no_part_is_too_long_and_nothing_is_lost(line: str, width: int) -> None:
    """Only blanks come and go."""
    parts = list(folded(line, width))
    # (A mark above another letter takes no column.)
    assert all(sum(not combining(char) for char in part) <= width for part in parts)
    assert "".join(parts).replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "tick"),
        ("search", "tick", "--flat"),
        ("search", "tick", "--facets"),
        ("pr", "123456"),
        ("prs",),
        ("commit", UPSTREAM),
        ("backports", "5.10"),
        ("show", "fix@example.org"),
        ("explain", "fix@example.org"),
        ("thread", "fix@example.org"),
        ("series", "fix@example.org"),
        ("file", "kernel"),
        ("person", "ada@example.org"),
        ("stats",),
        ("check",),
    ],
)
def test_output_keeps_to_the_columns(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """$COLUMNS is respected by all that is text on a terminal."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    result = run(*arguments)
    assert result.out or result.status == 1
    assert max(map(len, result.out.splitlines()), default=0) <= 40


@pytest.mark.parametrize("arguments", [("backports", "5.10"), ("search", "tick"), ("--help",)])
def test_what_goes_to_a_pipe_has_no_columns(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    arguments: tuple[str, ...],
) -> None:
    """It is the same wherever it was made: the next program reads lines."""
    texts = set()
    for width in ("", "40", "200"):
        monkeypatch.setenv("COLUMNS", width)
        try:
            texts.add(run(*arguments).out)
        except SystemExit:  # of --help, before the fixture could read it
            texts.add(capfdbinary.readouterr().out.decode())
    assert len(texts) == 1

"""Compilers named in a mail, and tables of measurements by compiler."""

from __future__ import annotations

import pytest

from patchlore.ingest.message import Compiler, Message, Table, TableRow
from tests.ingest.letters import evidence, parse, parse_letter, parse_patch


def named(text: str) -> list[tuple[str, str | None]]:
    """The compilers that a mail with TEXT names."""
    message = parse_letter(text + "\n", subject="lamp")
    return [(compiler.name, compiler.version) for compiler in message.compilers]


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("gcc-7.2.1", "gcc", "7.2.1"),
        ("GCC 8", "gcc", "8"),
        ("gcc v12", "gcc", "12"),
        ("gcc13", "gcc", "13"),
        ("gcc 4.9+", "gcc", "4.9"),
        ("GCC-4.9.x", "gcc", "4.9"),
        ("GCC >= 8.1", "gcc", "8.1"),
        ("gcc<5", "gcc", "5"),
        ("g++-9", "gcc", "9"),
        ("gcc version 12.2.0 (Debian 12.2.0-14)", "gcc", "12.2.0"),
        ("gcc (Debian 12.2.0-14) 12.2.0", "gcc", "12.2.0"),
        ("gcc (GCC) 11.2.0", "gcc", "11.2.0"),
        ("gcc 5.4.0-6ubuntu1~16.04.4", "gcc", "5.4.0"),
        ("aarch64-linux-gnu-gcc-10", "gcc", "10"),
        ("arm-linux-gnueabihf-gcc 9.3", "gcc", "9.3"),
        ("clang version 15.0.7 (https://example.org/llvm 8dfdcc7b7b)", "clang", "15.0.7"),
        ("Debian clang version 14.0.6", "clang", "14.0.6"),
        ("clang-15.0.0-rc1", "clang", "15.0.0"),
        ("LLVM 16", "llvm", "16"),
    ],
)
def test_spellings(text: str, name: str, version: str) -> None:
    """Hyphen or blank, distribution, comparison, target: the name and the version are told."""
    assert named(f"Built with {text}.") == [(name, version)]


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("GCC 12 and 13,", ["12", "13"]),
        ("gcc 4.8, 4.9 and 5.1.", ["4.8", "4.9", "5.1"]),
        ("GCC 9/10/11", ["9", "10", "11"]),
        ("gcc-4.9 -> gcc-12", ["4.9", "12"]),
        ("gcc 8, 10 times", ["8"]),
        ("gcc 9.1, 12 lamps", ["9.1"]),
    ],
)
def test_versions_listed(text: str, versions: list[str]) -> None:
    """Several versions behind one name; a number of other things is none."""
    assert named(f"Seen with {text}") == [("gcc", version) for version in versions]


@pytest.mark.parametrize(
    "text",
    [
        "gcc 10% slower",
        "gcc 2>/dev/null",
        "/usr/lib/gcc/12/plugin",
        "see gcc2.c",
        "gcc-plugins 5",
        "gcc 4-5",
        "gcc 108477",
        "<&gcc 12_CLK>",
        "egcc-9",
    ],
)
def test_no_versions(text: str) -> None:
    """Files, numbers of bugs, amounts, clocks."""
    assert named(text) == []


def test_each_once() -> None:
    """A compiler that is named again is the same; its evidence is the first place."""
    message = parse_letter("gcc-9 is old.\nWith GCC 9 it breaks.\n", subject="lamp")
    assert [(c.name, c.version) for c in message.compilers] == [("gcc", "9")]
    assert [(e.line, e.text) for e in evidence(message, "compilers")] == [(1, "gcc-9")]


def test_places() -> None:
    """The subject, the body, a quotation, the sides of a diff."""
    message = parse_letter(
        "> built by clang-14\n\ngcc 11 does.\n\n"
        "diff --git a/Makefile b/Makefile\n--- a/Makefile\n+++ b/Makefile\n@@ -1,2 +1,2 @@\n"
        " # gcc 7\n-# gcc 8\n+# gcc 9\n",
        subject="[PATCH] lamp: build with gcc-12",
    )
    assert message.compilers == [
        Compiler(name="gcc", version="12", where="subject"),
        Compiler(name="clang", version="14", where="quoted"),
        Compiler(name="gcc", version="11", where="body"),
        Compiler(name="gcc", version="7", where="diff-context"),
        Compiler(name="gcc", version="8", where="diff-removed"),
        Compiler(name="gcc", version="9", where="diff-added"),
    ]


def table(body: str) -> Table:
    """The one table of a patch whose message is BODY."""
    (found,) = parse_patch(body).tables
    return found


ROWS = [
    TableRow(compiler="gcc-6.3.1", values=[14.9, 15.1]),
    TableRow(compiler="gcc-7.0.1", values=[14.7, 15.3]),
]


@pytest.mark.parametrize(
    "text",
    [
        "            -O2      -Os\ngcc-6.3.1   14.9     15.1\ngcc-7.0.1   14.7     15.3\n",
        "\t\t-O2\t-Os\ngcc-6.3.1\t14.9\t15.1\ngcc-7.0.1\t14.7\t15.3\n",
        "compiler     -O2    -Os\n-----------------------\ngcc-6.3.1   14.9   15.1\n"
        "gcc-7.0.1   14.7   15.3\n",
        "| compiler  | -O2  | -Os  |\n|-----------|------|------|\n| gcc-6.3.1 | 14.9 | 15.1 |\n"
        "| gcc-7.0.1 | 14.7 | 15.3 |\n",
        "-O2  -Os\ngcc-6.3.1: 14.9 15.1\ngcc-7.0.1: 14.7 15.3\n",
    ],
)
def test_rows_by_compiler(text: str) -> None:
    """Blanks, tabs, bars or a colon part the cells; the heading names the columns."""
    made = table(f"Cycles/byte of both:\n\n{text}")
    assert made == Table(unit="cycles/byte", columns=["-O2", "-Os"], rows=ROWS)


def test_columns_without_names() -> None:
    """Without a heading that fits the columns are numbered."""
    made = table("It is slow.\n\ngcc-6.3.1  14.9  15.1\ngcc-7.0.1  14.7  15.3\n")
    assert made.columns == ["1", "2"]
    assert made.unit is None


def test_columns_by_compiler() -> None:
    """A table whose heading names compilers is turned: each compiler has a row."""
    made = table(
        "In ns/op:\n\n         gcc-6.3.1   gcc-7.0.1\n-O2:     14.9        14.7\n"
        "-Os:     15.1        15.3\n\nBetter.\n"
    )
    assert made == Table(unit="ns/op", columns=["-O2", "-Os"], rows=ROWS)


def test_cells_without_a_number() -> None:
    """A dash or "n/a" is no value; a percentage stays as written."""
    made = table("gcc-6.3.1  14.9  -    +3%\ngcc-7.0.1  n/a   2    ?\n")
    assert [row.values for row in made.rows] == [[14.9, None, "+3%"], [None, 2.0, None]]


def test_flat_table() -> None:
    """On the one line of an export that lost its line ends."""
    head = (
        "From patchwork Thu Jun  8 07:06:05 2023 Content-Type: text/plain X-Patchwork-Id: 4711 "
        "From: Nora Finch Subject: [PATCH] lamp: dim Date: Thu, 8 Jun 2023 09:06:05 +0200 "
    )
    text = "In cycles/byte: -O2 -Os gcc-6.3.1 14.9 15.1 gcc-7.0.1 14.7 15.3 So it is better."
    message: Message = parse((head + text).encode(), "patchwork-text", "flattened")
    assert message.tables == [Table(unit="cycles/byte", columns=["-O2", "-Os"], rows=ROWS)]


@pytest.mark.parametrize(
    "text",
    [
        "gcc-6.3.1  14.9  15.1\n\nand later\n\ngcc-7.0.1  14.7  15.3\n",
        "gcc-6.3.1 is old\ngcc-7.0.1 is not\n",
        "> gcc-6.3.1  14.9\n> gcc-7.0.1  14.7\n",
        "gcc-6.3.1   gcc-7.0.1\n\nNo numbers.\n",
    ],
)
def test_no_table(text: str) -> None:
    """One row alone, rows without numbers, a quoted table, a heading alone."""
    assert parse_letter(text, subject="Re: lamp").tables == []


def test_evidence_of_a_table() -> None:
    """The first row, and how large the table is."""
    message = parse_patch("-O2  -Os\ngcc-6.3.1  14.9  15.1\ngcc-7.0.1  14.7  15.3\n")
    (entry,) = evidence(message, "tables")
    assert (entry.value, entry.line, entry.rule) == ("2x2", 2, "rows-by-compiler")

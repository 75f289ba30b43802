"""Compilers that patches name: conditions in code, and what is older than a minimum."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.message import Compiler, Evidence, GccBug, Table, TableRow
from patchlore.kb.dossiers.bugs import bug_dossier
from patchlore.kb.dossiers.compilers import Minimum, conditions, parse_minimum, workarounds
from patchlore.kb.errors import DossierError
from patchlore.kb.reading import Bug
from tests.kb.test_dossiers import bug, filled, mail


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#if GCC_VERSION < 70100", [("gcc", (7, 1), "<")]),
        ("\tdepends on CC_IS_GCC && CONFIG_GCC_VERSION >= 120000", [("gcc", (12,), ">=")]),
        ("ifeq ($(call gcc-min-version, 80000),y)", [("gcc", (8,), None)]),
        ("#if __GNUC__ < 5 || __clang_major__ <= 13", [("gcc", (5,), "<"), ("clang", (13,), "<=")]),
        ("#if __GNUC_PREREQ (4, 8)", [("gcc", (4, 8), None)]),
        ("$(call cc-ifversion, -lt, 0408, -O1)", [("gcc", (4, 8), "<")]),
        ("ifeq ($(call test-lt, $(CONFIG_GCC_VERSION), 80100),y)", [("gcc", (8, 1), "<")]),
        ("$(call test-ge,${CONFIG_CLANG_VERSION},130001)", [("clang", (13, 0, 1), ">=")]),
        ("#if defined(GCC_VERSION)", []),
    ],
)
def test_conditions_in_code(
    line: str, expected: list[tuple[str, tuple[int, ...], str | None]]
) -> None:
    """What code asks of its compiler has a name, a version and a sign."""
    assert list(conditions(line)) == expected


@given(st.text(max_size=200))
def test_any_line_can_be_read(line: str) -> None:
    """No line makes the reader fail."""
    assert all(version for _, version, _ in conditions(line))


@pytest.mark.parametrize(
    ("minimum", "version", "sign", "older"),
    [
        ("gcc-8", (7, 1), None, True),
        ("gcc-8", (8,), None, False),
        ("gcc-8", (8,), "<", True),
        ("gcc-8", (8, 1), "<", False),
        ("8.3", (8,), None, False),
        ("8.3", (8, 2), None, True),
        ("clang 13.0.1", (12,), "<", True),
        ("gcc-8", (9,), "<", False),
    ],
)
def test_older_than_a_minimum(
    minimum: str, version: tuple[int, ...], sign: str | None, older: bool
) -> None:
    """A condition "< 8" is about older ones; "gcc 8" is any 8.x."""
    assert parse_minimum(minimum).is_above(version, sign) is older


def test_minimum_has_a_name() -> None:
    """A bare number is of GCC; llvm is clang; other words are a mistake."""
    assert parse_minimum("GCC 8") == parse_minimum("8") == Minimum("gcc", (8,))
    assert parse_minimum("llvm-13") == Minimum("clang", (13,))
    with pytest.raises(DossierError):
        parse_minimum("tcc-1")


def test_workarounds_of_old_compilers(tmp_path: pathlib.Path) -> None:
    """Only patches about a bug count, by own words and added lines; the newest revision alone."""
    added = "#if GCC_VERSION < 70100"
    with filled(
        tmp_path,
        mail(
            1,
            is_patch=True,
            subject="[PATCH] a",
            clean_subject="a",
            compilers=[Compiler(name="gcc", version="7.1", where="body")],
            **bug(5, "body"),
        ),
        mail(2, is_patch=True, body=f"Why.\n+{added}\n", line_kinds="t+", **bug(6, "diff-added")),
        mail(
            3,
            is_patch=True,
            compilers=[Compiler(name="gcc", version="6", where="quoted")],
            **bug(7, "body"),
        ),
        mail(4, is_patch=True, compilers=[Compiler(name="gcc", version="4.9")]),
    ) as archive:
        found = list(workarounds(archive, parse_minimum("gcc-8")))
        assert [[found.number for found in one.bugs] for one in found] == [[6], [5]]
        (code,) = found[0].compilers
        assert (code.version, code.sign, code.line, code.text) == ("7.1", "<", 2, added)
        assert list(workarounds(archive, parse_minimum("gcc-7"))) == []


def test_bug_has_compilers_and_measurements(tmp_path: pathlib.Path) -> None:
    """The dossier of a bug counts compilers over its mails and shows each table once."""
    table = Table(unit="cycles", columns=["-O2"], rows=[TableRow(compiler="gcc-7", values=[15.1])])
    facts = {
        "gcc_prs": [GccBug(number=5, where=["body"])],
        "compilers": [Compiler(name="gcc", version="7", where="body")],
        "tables": [table],
        "evidence": [Evidence(fact="compilers", value="gcc 7", line=4, rule="x", text="On gcc 7.")],
    }
    with filled(tmp_path, mail(1, **facts), mail(2, **facts)) as archive:
        dossier = bug_dossier(archive, Bug(tracker="gcc", number=5))
        (compiler,) = dossier.compilers
        assert (compiler.name, compiler.version, compiler.messages) == ("gcc", "7", 2)
        assert (compiler.key, compiler.line, compiler.text) == ("1@example.org", 4, "On gcc 7.")
        (measured,) = dossier.tables
        assert (measured.key, measured.table) == ("1@example.org", table)

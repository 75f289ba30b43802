"""Versions, tree names and the intervals of stable notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb.versions import (
    Interval,
    is_stable,
    left_out,
    newest_first,
    note_intervals,
    parse_intervals,
    parse_version,
    rank,
    release_of,
    short_name,
    tree_name,
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("5.10", "5.10.y"),
        ("5.10.y", "5.10.y"),
        ("linux-5.10.y", "5.10.y"),
        ("v5.10", "5.10.y"),
        ("5.10.x", "5.10.y"),
        ("5.10-stable", "5.10.y"),
        ("5.10.7", "5.10.y"),
        ("2.6.32", "2.6.32.y"),
        ("2.6.32.y", "2.6.32.y"),
        ("6.1.y-cip", "6.1.y-cip"),
        ("linux-6.6.y-RT", "6.6.y-rt"),
        ("net-next", "net-next"),
        (" mm-unstable ", "mm-unstable"),
    ],
)
def test_spellings_of_one_tree_have_one_name(written: str, name: str) -> None:
    """Every spelling of a stable tree is the same tree; other trees keep their names."""
    assert tree_name(written) == name


def test_trees_are_ordered_by_number_not_by_text() -> None:
    """5.10 is newer than 5.4, and trees without a version come last."""
    assert newest_first(["5.4.y", "net", "5.10.y", "6.1.y", "2.6.32.y"]) == [
        "6.1.y",
        "5.10.y",
        "5.4.y",
        "2.6.32.y",
        "net",
    ]


def test_all_versions_of_a_tree_have_one_rank() -> None:
    """A point release ranks as its tree, so that a note about it finds the tree."""
    assert rank("5.4.49") == rank("5.4.y") == rank("v5.4")


def test_only_versions_are_stable_trees() -> None:
    """A development tree is no stable tree."""
    assert is_stable("6.1.y-cip")
    assert not is_stable("net-next")


def test_a_release_names_its_tree() -> None:
    """A release candidate belongs to the tree of its release."""
    assert release_of("6.6.9-rc1") == ("6.6.y", "6.6.9-rc1")
    assert release_of("next-20240101") is None


def test_short_name_is_how_people_say_it() -> None:
    """The .y of a stable tree is left out, a vendor's suffix is kept."""
    assert short_name("5.10.y") == "5.10"
    assert short_name("6.1.y-cip") == "6.1.y-cip"


R = rank

#: What notes are made of.
WORDS = (
    "5.4 5.10+ 6.1.y not but except only - , ; ( ) to up and"
    " older before all lamp < <= + from between : if"
).split()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("5.4+", "5.4", None),
        ("v4.9+", "4.9", None),
        ("for v4.15 and up", "4.15", None),
        (">= v4.19", "4.19", None),
        ("4.7 onwards", "4.7", None),
        ("+v5.13", "5.13", None),
        ("2.6.31", "2.6.31", None),
        ("5.15.*", "5.15", None),
        ("3.3.x-", "3.3", None),
        ("v6.18-rc1", "6.18", None),
        ("v5.4.49", "5.4", None),
        ("linux-5.5+", "5.5", None),
        ("5.12 and older", None, "5.12"),
        ("<= 6.3", None, "6.3"),
        ("between 4.19 and 5.4", "4.19", "5.4"),
        ("4.19 - 5.4", "4.19", "5.4"),
        ("4.9 only", "4.9", "4.9"),
    ],
)
def test_a_note_names_an_interval(text: str, low: str | None, high: str | None) -> None:
    """Each way to write a range gives its interval."""
    assert parse_intervals(text) == (Interval(R(low) if low else None, R(high) if high else None),)


def test_before_leaves_its_version_out() -> None:
    """`before 4.15` ends below 4.15."""
    (interval,) = parse_intervals("before 4.15")
    assert interval.holds(R("4.14") or 0)
    assert not interval.holds(R("4.15") or 0)


def test_versions_of_a_list_are_single_trees() -> None:
    """`# 4.4, 4.9` names two trees; a version alone names every newer one too."""
    listed = [("4.4", None, "4.4, 4.9"), ("4.9", None, "4.4, 4.9")]
    assert note_intervals(listed) == [
        [("4.4", Interval(R("4.4"), R("4.4")))],
        [("4.9", Interval(R("4.9"), R("4.9")))],
    ]
    assert note_intervals([("4.9", None, "4.9")]) == [[("4.9", Interval(R("4.9"), None))]]


def test_a_placeholder_is_no_range() -> None:
    """`vX.Y` left in from a template names nothing."""
    assert parse_intervals("vX.Y") == ()
    assert parse_intervals(None) == ()
    assert parse_version("vX.Y") is None


def trees_of(text: str) -> tuple[str, str, str]:
    """Return which of a few trees a note asks for, refuses, and leaves in doubt."""
    names = ["5.4", "5.10", "5.15", "6.1", "6.6"]
    pieces = note_intervals([(text, None, text)])[0]
    out = left_out(text, None)
    asked = [n for n in names if any(r and i and i.holds(R(n) or 0) for r, i in pieces)]
    refused = [n for n in names if any(i.holds(R(n) or 0) for i in out.refused)]
    doubted = [n for n in names if any(i.holds(R(n) or 0) for i in out.doubted)]
    return " ".join(asked), " ".join(refused), " ".join(doubted)


@pytest.mark.parametrize(
    ("text", "asked", "refused", "doubted"),
    [
        ("5.10+ but not 6.1", "5.10 5.15 6.6", "6.1", ""),
        ("5.10+ (except 5.15)", "5.10 6.1 6.6", "5.15", ""),
        ("5.10+, not needed in 6.1", "5.10 5.15 6.6", "6.1", ""),
        ("all but 5.4", "5.10 5.15 6.1 6.6", "5.4", ""),
        ("everything except 5.4 and 5.10", "5.15 6.1 6.6", "5.4 5.10", ""),
        ("5.4-5.15 only", "5.4 5.10 5.15", "", ""),
        ("5.4-5.10, 6.1+", "5.4 5.10 6.1 6.6", "", ""),
        ("5.4..5.15", "5.4 5.10 5.15", "", ""),
        ("5.4 up to 5.15", "5.4 5.10 5.15", "", ""),
        ("from 5.4 to 5.15, but not 5.10", "5.4 5.15", "5.10", ""),
        ("5.10+ except 6.1 and 6.6", "5.10 5.15", "6.1 6.6", ""),
        ("5.10+, not 6.1, 6.6", "5.10 5.15", "6.1 6.6", ""),
        ("5.4, 5.10, 6.1 (not 6.6)", "5.4 5.10 6.1", "6.6", ""),
        ("5.10+; 6.1 is not affected", "5.10 5.15 6.6", "6.1", ""),
        ("5.10+ (6.1 doesn't need it)", "5.10 5.15 6.6", "6.1", ""),
        ("5.10+, excluded: 6.1", "5.10 5.15 6.6", "6.1", ""),
        ("5.10+ excluding 6.1 - 6.6", "5.10 5.15", "6.1 6.6", ""),
        ("5.10+ !6.1", "5.10 5.15 6.6", "6.1", ""),
        ("not 6.1, 5.10+", "5.10 5.15 6.6", "6.1", ""),
        ("except 5.15: 5.10+", "5.10 6.1 6.6", "5.15", ""),
        ("5.10+ (already in 6.1)", "5.10 5.15 6.6", "6.1", ""),
        ("6.1 is not needed, 5.10 and 5.15 are", "5.10 5.15", "6.1", ""),
        ("5.10+ (older kernels are not affected)", "5.10 5.15 6.1 6.6", "", ""),
        ("back to 5.10", "5.10 5.15 6.1 6.6", "", ""),
        ("only 5.10 and 5.15", "5.10 5.15", "", ""),
        ("older than 5.10", "5.4", "", ""),
        ("5.10+ unless 6.1 has the lamp", "5.10 5.15 6.6", "", "6.1"),
        ("5.10+ (but 6.1 is fine)", "5.10 5.15 6.6", "", "6.1"),
        ("5.10+, not 6.1, 6.6+", "5.10 5.15", "6.1", "6.6"),
        ("5.10+ with another port for 5.4", "5.10 5.15 6.1 6.6", "", ""),
    ],
)
def test_a_note_may_have_holes(text: str, asked: str, refused: str, doubted: str) -> None:
    """What a note leaves out is not asked for; where nobody can tell, it is in doubt."""
    assert trees_of(text) == (asked, refused, doubted)


def test_a_note_that_only_leaves_out() -> None:
    """`# not for 6.1` asks for no tree by its version, and for 6.1 not at all."""
    pieces = note_intervals([(None, "not for 6.1", "not for 6.1")])[0]
    assert {range_ for range_, _ in pieces} == {None}
    assert not any(interval and interval.holds(R("6.1") or 0) for _, interval in pieces)
    assert any(interval and interval.holds(R("5.4") or 0) for _, interval in pieces)
    assert left_out(None, "not for 6.1").refused == (Interval(R("6.1"), R("6.1")),)
    doubted = left_out(None, "5.10, 5.15 not affected").doubted
    assert doubted == (Interval(R("5.10"), R("5.10")), Interval(R("5.15"), R("5.15")))


@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Whatever stands in a note or a tag, reading it never raises."""
    parse_intervals(text)
    note_intervals([(text, text, text), (None, text, text)])
    left_out(text, text)
    parse_version(text)
    assert tree_name(tree_name(text)) == tree_name(text)

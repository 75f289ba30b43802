"""Dates and sizes in queries."""

from __future__ import annotations

import pytest

from patchlore.index.dates import parse_size_range, parse_time_range
from patchlore.kb.dates import _git_date, parse_span

DAY = 86400
NEW_YEAR = 1704067200  # 2024-01-01 00:00:00 UTC


@pytest.mark.parametrize("text", ["20240101", "2024-01-01"])
def test_a_bare_day_is_the_whole_day(text: str) -> None:
    """A day means from its first to its last second, in UTC."""
    assert parse_time_range(text) == (NEW_YEAR, NEW_YEAR + DAY - 1)


def test_months_and_years_are_whole_too() -> None:
    """2024-01 is January, 2024 the year."""
    assert parse_time_range("2024-01") == (NEW_YEAR, NEW_YEAR + 31 * DAY - 1)
    assert parse_time_range("2024") == (NEW_YEAR, NEW_YEAR + 366 * DAY - 1)


def test_ranges_hold_both_ends_and_may_be_open() -> None:
    """The last day of a range belongs to it; an end may be missing."""
    assert parse_time_range("20240101..20240102") == (NEW_YEAR, NEW_YEAR + 2 * DAY - 1)
    assert parse_time_range("..2024-01-01") == (None, NEW_YEAR + DAY - 1)
    assert parse_time_range("20240101120000..") == (NEW_YEAR + DAY // 2, None)


def test_other_dates_are_what_git_understands(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is no plain date is given to git, whose clock stands still here."""
    _git_date.cache_clear()
    monkeypatch.setenv("GIT_TEST_DATE_NOW", str(NEW_YEAR))
    assert parse_time_range("2.weeks.ago..") == (NEW_YEAR - 14 * DAY, None)
    _git_date.cache_clear()


def test_a_date_in_words_moves_on_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that runs for days does not answer with the date of its first day."""
    monkeypatch.setattr("time.time", lambda: float(NEW_YEAR))
    monkeypatch.setenv("GIT_TEST_DATE_NOW", str(NEW_YEAR))
    _git_date.cache_clear()
    assert parse_span("3.days.ago")[0] == NEW_YEAR - 3 * DAY
    monkeypatch.setattr("time.time", lambda: float(NEW_YEAR + DAY))
    monkeypatch.setenv("GIT_TEST_DATE_NOW", str(NEW_YEAR + DAY))
    assert parse_span("3.days.ago")[0] == NEW_YEAR - 2 * DAY
    _git_date.cache_clear()


def test_a_day_in_words_is_the_whole_day() -> None:
    """ "yesterday" has 86,400 seconds."""
    low, high = parse_time_range("yesterday")
    assert low is not None
    assert high == low + DAY - 1
    assert low % DAY == 0


@pytest.mark.parametrize("text", ["today", "Yesterday"])
def test_spans_of_days_in_words_have_whole_days(text: str) -> None:
    """ "today.." begins at midnight, and "..today" ends there: git means this very second."""
    low, high = parse_time_range(text)
    assert parse_time_range(f"{text}..") == (low, None)
    assert parse_time_range(f"..{text}") == (None, high)


@pytest.mark.parametrize("text", ["soonish", "..", "20240230", "2024-13", "99990101000000x"])
def test_what_is_no_date_is_said(text: str) -> None:
    """Nonsense and days that do not exist are errors, not today."""
    with pytest.raises(ValueError, match=r"date|range"):
        parse_time_range(text if text != "99990101000000x" else "xyz")


def test_seconds_since_1970_are_a_date() -> None:
    """Ten digits are a moment."""
    assert parse_span("1704067200") == (NEW_YEAR, NEW_YEAR)


def test_sizes_have_units() -> None:
    """Sizes are in bytes, k and m are powers of 1024."""
    assert parse_size_range("10k..1m") == (10240, 1048576)
    assert parse_size_range("..99") == (None, 99)
    assert parse_size_range("500") == (500, 500)
    with pytest.raises(ValueError, match="no size"):
        parse_size_range("large")

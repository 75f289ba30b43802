"""Dates and sizes in queries: what a range means, in seconds since 1970 (UTC) and in bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

# 2018, 2018-04, 20180401, 2018-04-01, 20180401123000, 2018-04-01T12:30:00, 2018-04-01 12:30.
_PLAIN = re.compile(
    r"(?P<year>\d{4})(?:-?(?P<month>\d\d)(?:-?(?P<day>\d\d)"
    r"(?:[T ]?(?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d))?Z?)?)?)?"
)
_EPOCH = re.compile(r"@?\d{9,10}")

# Git takes any text for a date and answers "now" for nonsense.  A text that
# has none of the words that git knows is a mistake of the person who typed it.
_GIT_WORD = re.compile(
    r"\d|(?<![a-z])(?:now|today|yesterday|noon|midnight|tea|never|last|ago|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|sec|min|hour|day|week|month|year|mon|tue|wed|thu|fri|sat|sun"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(\d{1,15})([kmg]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def parse_time_range(text: str) -> tuple[int | None, int | None]:
    """The span of time that TEXT names: (first second, last second), None for an open end.

    ``A..B``, ``A..``, ``..B`` or one date, which is the whole day, month or
    year that it names.  Both ends are included, as in lore's search.  A date
    that is not written in numbers goes to git (``2.weeks.ago``).  Raises
    ValueError with a sentence for a person.
    """
    if ".." in text:
        low, _, high = text.partition("..")
        if not low and not high:
            raise ValueError("A range needs a date on at least one side.")
        since = parse_date(low)[0] if low else None
        until = parse_date(high)[1] if high else None
        return since, until
    first, last = parse_date(text)
    if first == last:  # a moment: "yesterday" means the day
        day = first - first % 86400
        return day, day + 86399
    return first, last


def parse_date(text: str) -> tuple[int, int]:
    """The first and the last second of the date TEXT: a year, month, day, minute or second."""
    text = text.strip()
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        return _plain_span(plain, text)
    if _EPOCH.fullmatch(text):
        moment = int(text.lstrip("@"))
        return moment, moment
    if not _GIT_WORD.search(text):
        raise ValueError(f"'{text}' is no date.")
    moment = _git_date(text)
    return moment, moment


def _plain_span(match: re.Match[str], text: str) -> tuple[int, int]:
    fields = {name: int(value) for name, value in match.groupdict().items() if value}
    try:
        start = datetime(
            fields["year"],
            fields.get("month", 1),
            fields.get("day", 1),
            fields.get("hour", 0),
            fields.get("minute", 0),
            fields.get("second", 0),
            tzinfo=UTC,
        )
        if "second" in fields:
            end = start + timedelta(seconds=1)
        elif "minute" in fields:
            end = start + timedelta(minutes=1)
        elif "day" in fields:
            end = start + timedelta(days=1)
        elif "month" in fields:
            end = (start + timedelta(days=31)).replace(day=1)
        else:
            end = start.replace(year=start.year + 1)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"There is no date '{text}'.") from error
    return int(start.timestamp()), int(end.timestamp()) - 1


@lru_cache(maxsize=64)
def _git_date(text: str) -> int:
    """What git's approxidate makes of TEXT, in seconds since 1970."""
    import os
    import pathlib
    import subprocess
    import tempfile

    # rev-parse wants to be in a repository, and nothing of a real one is needed.
    with tempfile.TemporaryDirectory() as folder:
        for name in ("objects", "refs"):
            (pathlib.Path(folder) / name).mkdir()
        (pathlib.Path(folder) / "HEAD").write_text("ref: refs/heads/none\n")
        environment = {**os.environ, "TZ": "UTC", "GIT_DIR": folder}
        try:
            run = subprocess.run(
                ["git", "rev-parse", f"--since={text}"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=10,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ValueError(f"git can't be asked what date '{text}' is.") from error
    found = re.match(r"--max-age=(\d+)", run.stdout)
    if found is None:
        raise ValueError(f"git can't tell what date '{text}' is.")
    return int(found[1])


def parse_size_range(text: str) -> tuple[int | None, int | None]:
    """The span of sizes that TEXT names, in bytes; one number is exactly that size.

    Raises ValueError with a sentence for a person.
    """
    if ".." not in text:
        size = _parse_size(text)
        return size, size
    low, _, high = text.partition("..")
    if not low and not high:
        raise ValueError("A range needs a size on at least one side.")
    return _parse_size(low) if low else None, _parse_size(high) if high else None


def _parse_size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is no size: write 1200, 10k or 2m.")
    return int(match[1]) * _UNITS[match[2].lower()]

"""Dates as people give them: days, months, moments, and whatever git understands."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from patchlore.ingest.errors import PatchloreError

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


class DateError(PatchloreError):
    """A text is no date."""

    exit_status = 2


def parse_since(text: str) -> int:
    """Return the time (seconds, UTC) from which on something is wanted, as ``--since`` has it.

    The start of the day, month or year that TEXT names.  Raises DateError.
    """
    try:
        if re.fullmatch(r"\d{4}-?\d\d-?\d\d[T ].*[+-]\d\d:?\d\d", text.strip()):
            return int(datetime.fromisoformat(text.strip()).timestamp())
        return parse_span(text)[0]
    except (ValueError, OverflowError) as error:
        raise DateError(
            f"{str(error).rstrip('.')}: write 2024-01-02, 2024-01-02T03:04:05+01:00, "
            "2.weeks.ago or any other date that git takes."
        ) from error


def parse_span(text: str) -> tuple[int, int]:
    """The first and the last second of the date TEXT: a year, month, day, minute or second.

    ``today`` and ``yesterday`` are days, too, where git means this hour of them.  Other
    words go to git (``2.weeks.ago``, ``last friday``).
    """
    text = text.strip()
    if text.lower() in ("today", "yesterday"):
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        start = int((today - timedelta(days=text.lower() == "yesterday")).timestamp())
        return start, start + 86399
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        return _plain_span(plain, text)
    if _EPOCH.fullmatch(text):
        moment = int(text.lstrip("@"))
        return moment, moment
    if not _GIT_WORD.search(text):
        raise ValueError(f"'{text}' is no date.")
    moment = _git_date(text, int(time.time()) // 60)
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
def _git_date(text: str, minute: int) -> int:
    """What git's approxidate makes of TEXT, in seconds since 1970.

    The answer is remembered for the MINUTE it is asked in: ``2.weeks.ago`` is
    another moment tomorrow.
    """
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

"""Dates as people give them to a command: days, times, ``2.weeks.ago``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from patchlore.ingest.errors import PatchloreError

_AGO = re.compile(r"(\d{1,5})[. ](day|week|month|year|hour)s?(?:[. ]ago)?", re.IGNORECASE)
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25, "hour": 1 / 24}


class DateError(PatchloreError):
    """A text is no date."""

    exit_status = 2


def parse_date(text: str, *, now: datetime | None = None) -> int:
    """Return the time (seconds, UTC) that a text names: the start of a day where none is given.

    ``2024-01-02``, ``20240102``, ``2024-01-02T03:04:05+01:00``, ``2.weeks.ago``,
    ``yesterday``.  Raises DateError.
    """
    now = now or datetime.now(UTC)
    word = text.strip().lower()
    if word in ("now", "today", "yesterday"):
        start = now if word == "now" else now.replace(hour=0, minute=0, second=0, microsecond=0)
        return int((start - timedelta(days=word == "yesterday")).timestamp())
    ago = _AGO.fullmatch(word)
    try:
        if ago:
            return int((now - timedelta(days=int(ago[1]) * _DAYS[ago[2]])).timestamp())
        when = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise DateError(
            f"{text} is no date: write 2024-01-02, 2024-01-02T03:04:05+01:00 or 2.weeks.ago."
        ) from None
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())

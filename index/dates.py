"""Dates and sizes in queries: what a range means, in seconds since 1970 (UTC) and in bytes."""

from __future__ import annotations

import re

from patchlore.kb.dates import parse_span

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
        since = parse_span(low)[0] if low else None
        until = parse_span(high)[1] if high else None
        return since, until
    first, last = parse_span(text)
    if first == last:  # a moment: "yesterday" means the day
        day = first - first % 86400
        return day, day + 86399
    return first, last


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

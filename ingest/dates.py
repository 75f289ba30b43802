"""Dates of headers and archive pages, with the offset that they state."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
#: RFC 5322 section 4.3 and the zones that archive pages print, in minutes.
_ZONES = {
    "ut": 0, "utc": 0, "gmt": 0, "z": 0, "wet": 0,
    "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360,
    "pst": -480, "pdt": -420, "akst": -540, "akdt": -480, "hst": -600,
    "bst": 60, "cet": 60, "met": 60, "mez": 60, "west": 60, "cest": 120, "mest": 120,
    "eet": 120, "eest": 180, "msk": 180, "msd": 240, "ist": 330, "jst": 540, "kst": 540,
    "aest": 600, "aedt": 660, "nzst": 720, "nzdt": 780,
}  # fmt: skip
_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d{1,9})?"
_ZONE = r"(?:[ \t]*(?:-[ \t]+)?([+-]\d{4}|[A-Za-z]{1,5})\b)?"
_RFC = re.compile(
    r"(?:[A-Za-z]{3,9}\.?,?[ \t]*)?(\d{1,2})[ \t-]+([A-Za-z]{3})[a-z]{0,6}\.?,?[ \t-]+(\d{2,4})"
    r",?[ \t]+" + _TIME + _ZONE
)
#: As nearly all mailers write it: "Tue, 5 Mar 2024 09:20:30 +0100".
_PLAIN = re.compile(
    r"[A-Z][a-z]{2}, {1,2}(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) ([+-]\d{4})\b"
)
_ASCTIME = re.compile(
    r"(?:[A-Za-z]{3,9},?[ \t]+)?([A-Za-z]{3})[a-z]{0,6}[ \t]+(\d{1,2}),?[ \t]+"
    r"(?:(\d{4})[ \t]+(?:-[ \t]+)?)?" + _TIME + _ZONE + r"(?:[ \t]+(\d{4}))?(?:[ \t]+([+-]\d{4}))?"
)
_ISO = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})[T \t]+" + _TIME + r"[ \t]*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
)
_BLANKS = re.compile(r"\s+")


def parse_date(text: str | None) -> datetime | None:
    """Read a date in one of the shapes that headers and pages show.

    RFC 5322 with its obsolete forms (two-digit years, named zones), asctime
    with a zone (pipermail, lkml.iu.edu) and ISO. A missing or unknown zone
    counts as UTC. Returns None for what is no date.
    """
    if not text:
        return None
    text = text[:200].strip()
    match = _PLAIN.match(text)
    if match:
        day, month, year, hour, minute, second, zone = match.groups()
        return _build(year, _MONTHS.get(month.lower()), day, hour, minute, second, zone)
    if "\n" in text or "\t" in text:
        text = _BLANKS.sub(" ", text)
    match = _RFC.match(text)
    if match:
        day, month, year, hour, minute, second, zone = match.groups()
        return _build(year, _MONTHS.get(month.lower()), day, hour, minute, second, zone)
    match = _ISO.match(text)
    if match:
        year, month, day, hour, minute, second, zone = match.groups()
        return _build(year, int(month), day, hour, minute, second, (zone or "").replace(":", ""))
    match = _ASCTIME.match(text)
    if match:
        month, day, year, hour, minute, second, zone, late_year, late_zone = match.groups()
        number = _MONTHS.get(month.lower())
        return _build(year or late_year, number, day, hour, minute, second, late_zone or zone)
    return None


def _build(
    year: str | None,
    month: int | None,
    day: str,
    hour: str,
    minute: str,
    second: str | None,
    zone: str | None,
) -> datetime | None:
    if year is None or month is None:
        return None
    number = int(year)
    if len(year) == 2:  # RFC 5322 section 4.3
        number += 2000 if number < 50 else 1900
    elif len(year) == 3:
        number += 1900
    offset = 0
    if zone:
        if zone[0] in "+-":
            offset = int(zone[1:3]) * 60 + int(zone[3:5])
            offset = -offset if zone[0] == "-" else offset
        else:
            offset = _ZONES.get(zone.lower(), 0)
    if abs(offset) >= 24 * 60:
        return None
    try:
        seconds = min(int(second or 0), 59)  # a leap second has no place in datetime
        return datetime(
            number, month, int(day), int(hour), int(minute), seconds, tzinfo=_zone(offset)
        )
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _zone(offset: int) -> timezone:
    """The zone that is OFFSET minutes east of Greenwich."""
    return UTC if offset == 0 else timezone(timedelta(minutes=offset))


def received_date(value: str) -> datetime | None:
    """The date of a Received header: what follows its last semicolon."""
    return parse_date(value[value.rfind(";") + 1 :]) if ";" in value else None


def effective_date(
    stated: datetime | None, received: list[str], newest: datetime | None
) -> datetime | None:
    """What to sort a mail by: its Date, unless that is missing or absurd.

    RECEIVED are the Received headers from the top: each relay puts its own
    above (RFC 5321 section 4.4), so the first is the newest; NEWEST is its date. Absurd is a year
    before mail by patch, or two days after the newest stamp ("Date: … 2091"
    from a machine with a dead clock); then the oldest stamp counts.
    """
    absurd = stated is None or stated.year < 1990
    if stated is not None and not absurd and newest is not None:
        absurd = stated.timestamp() > newest.timestamp() + 2 * 86400
    if not absurd:
        return stated
    stamps = [date for value in received if (date := received_date(value)) is not None]
    return min(stamps, default=stated, key=lambda date: date.timestamp())


def timestamp(date: datetime | None) -> int | None:
    """Seconds since 1970 in UTC, or None."""
    return None if date is None else int(date.timestamp())

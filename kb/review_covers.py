"""What the cover letter of a review round says: the deadline, and the titles of its shortlog."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from msgspec import Struct

from patchlore.ingest.dates import parse_date
from patchlore.ingest.message import Message
from patchlore.kb.reading import Brief
from patchlore.kb.review_replies import Proof, lines_of
from patchlore.kb.text import count

_DEADLINE = re.compile(r"responses should be made by[ \t]+(\S.{5,60})", re.I)
_TWELVE = re.compile(r"(\d{1,2}):(\d\d:\d\d) ([AP])M\b")
_SHORTLOG = re.compile(r"pseudo-shortlog of commits", re.I)
_COUNTS_UP = re.compile(r"\s{1,20}Linux \d+\.\d")
_HOUR = 3600


class Deadline(Struct, kw_only=True):
    """Until when answers are asked for: with the zone that the mail gives, and in words."""

    date_iso: str
    timestamp: int
    words: str
    evidence: Proof


def shortlog_titles(cover: Message) -> list[str]:
    """The titles of the pseudo-shortlog: an author's line, below it titles, indented.

    The first is the commit that only counts the version up.
    """
    titles: list[str] = []
    inside = False
    for _, line in lines_of(cover):
        if not inside:
            inside = _SHORTLOG.search(line) is not None
        elif line.startswith("---"):
            break
        elif line.startswith("    ") and not _COUNTS_UP.match(line):
            titles.append(line.strip())
    return titles


def deadline_in(
    message: Message, brief: Brief, sent: int | None, *, quoted: bool
) -> Deadline | None:
    before = ""
    for number, line in lines_of(message):
        bare = line.lstrip("> \t|")
        match = _DEADLINE.search(f"{before} {bare}" if before else bare)
        # A client that folds quoted text puts the date on the next line.
        before = bare if "esponses should be made" in bare and match is None else ""
        when = None if match is None else parse_date(_TWELVE.sub(_of_the_day, match[1]))
        if when is None:
            continue
        return Deadline(
            date_iso=when.isoformat(),
            timestamp=int(when.timestamp()),
            words=_in_words(when, sent),
            evidence=Proof(
                message_id=brief.key,
                line=number,
                text=line.strip(),
                rule="responses-by" + (" (quoted)" if quoted else ""),
                confidence="high" if quoted else "certain",
            ),
        )
    return None


def _of_the_day(match: re.Match[str]) -> str:
    """``02:50:49`` for ``02:50:49 AM``: covers of 2019 count hours to twelve."""
    hour = int(match[1]) % 12 + (12 if match[3] == "P" else 0)
    return f"{hour:02}:{match[2]}"


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January February March April May June July August September October November December".split()
)


def _in_words(when: datetime, sent: int | None) -> str:
    zone = "UTC" if when.utcoffset() == UTC.utcoffset(None) else when.strftime("%z")
    text = (
        f"{_DAYS[when.weekday()]}, {when.day} {_MONTHS[when.month - 1]} {when.year},"
        f" {when:%H:%M:%S} {zone}"
    )
    if sent is not None:
        hours = round((when.timestamp() - sent) / _HOUR)
        text += f", {count(hours, 'hour')} after the cover" if hours > 0 else ", before the cover"
    return text

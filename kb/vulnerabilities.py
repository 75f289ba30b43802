"""Which commit brought a vulnerability and which ended it, as announcements and records say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchlore.kb.reading import MIN_HEX
from patchlore.kb.store import Archive

_SELECT = (
    "SELECT v.cve, v.introduced_version, v.introduced, v.fixed_version, v.fixed, v.message, m.key,"
    " v.line, v.text FROM vulnerability AS v JOIN mail AS m ON m.id = v.message WHERE "
)
#: A CVE that was taken back says nothing of any commit (https://docs.kernel.org/process/cve.html).
_STANDS = (
    " AND NOT v.is_rejected AND NOT EXISTS (SELECT 1 FROM vulnerability AS r"
    " WHERE r.cve = v.cve AND r.is_rejected)"
)
_ORDER = " ORDER BY m.timestamp, m.id, v.position"


class Vulnerability(Struct, kw_only=True):
    """A pair of a CVE: where it came from, what ended it, and the line that says so.

    Versions and commits are as written; None for what is not known, or not fixed.
    """

    cve: str
    introduced_version: str | None
    introduced: str | None
    fixed_version: str | None
    fixed: str | None
    #: Row id and key of the announcement, record or dyad file.
    message: int
    key: str
    line: int | None
    text: str | None


def pairs_of_cve(archive: Archive, cve: str) -> list[Vulnerability]:
    """Return the pairs of a CVE, each once, as they were said first; [] for a rejected one."""
    rows = archive.execute(f"{_SELECT}v.cve = ?{_STANDS}{_ORDER}", (cve.upper(),))
    found: dict[tuple[str | None, ...], Vulnerability] = {}
    for pair in _made(rows):
        found.setdefault(_value(pair), pair)
    return list(found.values())


def introduced_pairs(archive: Archive, sha: str) -> list[Vulnerability]:
    """Return the pairs of which a commit (7 or more digits) ended the vulnerability.

    They say in which commit and version what it fixes came into its tree.
    """
    return _by_commit(archive, "fixed", sha)


def fixed_pairs(archive: Archive, sha: str) -> list[Vulnerability]:
    """Return the pairs of which a commit (7 or more digits) brought the vulnerability."""
    return _by_commit(archive, "introduced", sha)


def _by_commit(archive: Archive, column: str, sha: str) -> list[Vulnerability]:
    sha = sha.lower()
    shorter = [sha[:size] for size in range(MIN_HEX, len(sha))]
    marks = ", ".join("?" * len(shorter))
    named = f"(v.{column} >= ? AND v.{column} < ? OR v.{column} IN ({marks}))"
    rows = archive.execute(f"{_SELECT}{named}{_STANDS}{_ORDER}", (sha, sha + "g", *shorter))
    found: dict[tuple[str | None, ...], Vulnerability] = {}
    for pair in _made(rows):
        found.setdefault((pair.cve, *_value(pair)), pair)
    return list(found.values())


def _value(pair: Vulnerability) -> tuple[str | None, ...]:
    return (pair.introduced_version, pair.introduced, pair.fixed_version, pair.fixed)


def _made(rows: Iterable[Sequence[object]]) -> Iterator[Vulnerability]:
    for cve, from_version, introduced, version, fixed, message, key, line, text in rows:
        yield Vulnerability(
            cve=str(cve),
            introduced_version=_text(from_version),
            introduced=_text(introduced),
            fixed_version=_text(version),
            fixed=_text(fixed),
            message=int(str(message)),
            key=str(key),
            line=line if isinstance(line, int) else None,
            text=_text(text),
        )


def _text(value: object) -> str | None:
    return None if value is None else str(value)

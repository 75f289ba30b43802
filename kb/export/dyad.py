"""Backport lists as dyads: ``vulnerable version:commit:fixed version:commit`` a line.

The form of https://git.kernel.org/pub/scm/linux/security/vulns.git; ``0:0`` in front
is a commit that is not known, behind what is not fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import full_sha, left_out
from patchlore.kb.export.vulnerabilities import (
    Introductions,
    Pair,
    cves_of,
    is_mainline,
    own_of,
    pairs_of,
)
from patchlore.kb.store import Archive
from patchlore.kb.text import printable, shorten
from patchlore.kb.versions import parse_version, rank

_NOTHING = "0:0"


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the pairs of each row, below a comment with its CVEs, commit and title.

    What a CVE record in the archive says goes before what follows from ``Fixes:``
    and from git trees.
    """
    left = []
    introductions = Introductions(archive)
    for row, cves in zip(rows, cves_of(archive, rows), strict=True):
        quads = list(dict.fromkeys(_quads(archive, introductions, tree, row, cves)))
        if not quads:
            left.append(row)
            continue
        name = " ".join([*cves, full_sha(row) or ""]).strip()
        title = shorten(printable(row.subject), 120)
        lines = [f"# {name} {title}".rstrip(), *quads]
        out.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return left_out(left, "no release is known that brought the fault or has the fix")


def _quads(
    archive: Archive, introductions: Introductions, tree: str, row: Row, cves: Sequence[str]
) -> Iterator[str]:
    own = own_of(archive, row)
    if own is not None and own.version is not None:
        fixed = f"{own.version}:{own.sha}"
    elif row.state == "released":  # its own commit in the tree is not known
        fixed = ""
    else:
        fixed = _NOTHING
    told = False
    for cve in cves:
        for front, behind in _of_record(tree, pairs_of(archive, cve)):
            if behind is not None or fixed:
                told = True
                yield f"{front}:{behind or fixed}"
    if told or not fixed:
        return
    causes = [item for item in introductions.of(row) if item.version is not None]
    for item in causes:
        yield f"{item.version}:{item.sha}:{fixed}"
    if not causes and fixed != _NOTHING:
        yield f"{_NOTHING}:{fixed}"


def _of_record(tree: str, pairs: Sequence[Pair]) -> Iterator[tuple[str, str | None]]:
    """What the pairs of a record say of a tree: front, and behind where it is fixed there."""
    found = False
    for pair in pairs:
        if pair.trees[1] == tree and pair.fixed_version and pair.fixed:
            found = True
            front = _end(pair.introduced_version, pair.introduced)
            yield front, _end(pair.fixed_version, pair.fixed)
    if found:
        return
    # Not fixed there, as the record knows it: it came with the tree's own commit, or
    # with the release that the tree, too, descends from.
    number = rank(tree)
    fronts = {
        (pair.trees[0] != tree, _end(pair.introduced_version, pair.introduced))
        for pair in pairs
        if pair.introduced
        and (
            pair.trees[0] == tree
            or (
                (version := parse_version(pair.introduced_version or "")) is not None
                and is_mainline(version)
                and number is not None
                and version.rank <= number
            )
        )
    }
    if fronts:
        yield min(fronts)[1], None


def _end(version: str | None, sha: str | None) -> str:
    return f"{version}:{sha}" if version and sha else _NOTHING

"""``Issue``: a CVE of a list with the rows that fix it, as trackers of security issues file it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import full_sha
from patchlore.kb.export.vulnerabilities import (
    Introductions,
    Own,
    cves_of,
    is_mainline,
    own_of,
    pairs_of,
    upstream_version,
)
from patchlore.kb.store import Archive
from patchlore.kb.text import printable
from patchlore.kb.versions import parse_version, rank, sort_key

_MOST_REFERENCES = 50


class Issue(Struct, kw_only=True):
    """A CVE: every text is one harmless line, every commit known in full."""

    cve: str
    title: str
    references: list[str]
    #: The rows of the list that have to do with it, in the order of the list.
    rows: list[Row]
    #: Upstream commits that fix it, and the first release or candidate with the first.
    upstream: list[str]
    upstream_version: str | None
    #: Upstream commits that brought it.
    introduced: list[str]
    #: The commits that fix it in stable trees.
    fixed: dict[str, list[Own]]
    #: Those trees and that of the list, newest first.
    trees: list[str]


def issues_of(archive: Archive, tree: str, rows: Sequence[Row]) -> tuple[list[Issue], list[Row]]:
    """Return the CVEs of a list, sorted, and the rows for which none is known."""
    by_cve: dict[str, list[Row]] = {}
    left = []
    for row, cves in zip(rows, cves_of(archive, rows), strict=True):
        for cve in cves:
            by_cve.setdefault(cve, []).append(row)
        if not cves:
            left.append(row)
    introductions = Introductions(archive)
    return [_issue(archive, introductions, tree, cve, by_cve[cve]) for cve in sorted(by_cve)], left


def _issue(
    archive: Archive, introductions: Introductions, tree: str, cve: str, rows: list[Row]
) -> Issue:
    upstream = list(dict.fromkeys(sha for row in rows if (sha := full_sha(row))))
    fixed: dict[str, list[Own]] = {}
    introduced: dict[str, None] = {}
    versions = {}
    for pair in pairs_of(archive, cve):
        if pair.introduced and len(pair.introduced) == 40:
            version = parse_version(pair.introduced_version or "")
            if version is None or is_mainline(version):
                introduced.setdefault(pair.introduced)
        if not pair.fixed or len(pair.fixed) != 40:
            continue
        version = parse_version(pair.fixed_version or "")
        if pair.fixed in upstream or version is None or is_mainline(version):
            versions[pair.fixed] = pair.fixed_version
        else:
            fixed.setdefault(version.tree, []).append(
                Own(sha=pair.fixed, version=pair.fixed_version)
            )
    for row in rows:
        own = own_of(archive, row)
        if own is not None and row.state == "released" and tree not in fixed:
            fixed[tree] = [own]
    if not introduced:
        introduced = dict.fromkeys(item.sha for row in rows for item in introductions.of(row))
    first = upstream[0] if upstream else None
    version_text = None
    if first is not None:
        version_text = upstream_version(archive, first) or versions.get(first)
    return Issue(
        cve=cve,
        title=_title(archive, cve) or printable(rows[0].subject) or "(no title)",
        references=_references(archive, cve),
        rows=rows,
        upstream=upstream,
        upstream_version=None if version_text is None else printable(version_text),
        introduced=list(introduced),
        fixed=fixed,
        trees=sorted({tree, *(name for name in fixed if rank(name) is not None)}, key=sort_key),
    )


def _records(archive: Archive, cve: str) -> list[int]:
    return [
        id_
        for (id_,) in archive.execute(
            "SELECT DISTINCT v.message FROM vulnerability AS v JOIN message AS m"
            " ON m.id = v.message WHERE v.cve = ? ORDER BY m.timestamp DESC, m.id DESC LIMIT 3",
            (cve,),
        )
    ]


def _title(archive: Archive, cve: str) -> str:
    for id_ in _records(archive, cve):
        record = archive.message(id_).cve_record
        if record is not None and record.title:
            return printable(record.title)
    return ""


def _references(archive: Archive, cve: str) -> list[str]:
    urls: dict[str, None] = {}
    for id_ in _records(archive, cve):
        record = archive.message(id_).cve_record
        for url in record.references if record is not None else ():
            if url.startswith(("https://", "http://")) and url.isprintable() and " " not in url:
                urls.setdefault(url)
    return list(urls)[:_MOST_REFERENCES]

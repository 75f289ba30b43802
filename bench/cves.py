"""Prove what is read of vulnerabilities against the kernel's CVE records.

    python -m bench.cves RECORDS PATCHES... [--write docs/accuracy.md]

RECORDS is a folder with the files of the kernel's vulns repository: for each CVE the
announcement as a mailbox, and a dyad file with the pairs `version:commit:version:commit` of
what brought the vulnerability and what ended it, made by the CVE team's own tool. PATCHES are
mails and patch files of stable trees and distributions, without a record or an announcement.

* Announcements read: the pairs of each CVE as `patchlore cve` has them, against its dyad file.
* Announcements hidden: only PATCHES are read. What does patchlore know of each CVE's fix, by
  markers, `Fixes:` tags and trees, and where does it say something else than the records?
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from bench.sections import write_section
from patchlore.kb.filling import fill
from patchlore.kb.history import events_of_commit
from patchlore.kb.reading import spellings
from patchlore.kb.store import Archive
from patchlore.kb.versions import parse_version
from patchlore.kb.vulnerabilities import pairs_of_cve

#: Examples of each kind of disagreement that are listed.
_EXAMPLES = 8

#: Folders of a collection of patches by CVE and tree: CVE-2024-10001/5.10/0001.patch.
_FOLDER = re.compile(r"/(CVE-\d{4}-\d{4,9})/(\d{1,2}\.\d{1,3})/")

#: Version and commit of what brought it, then of what ended it; None for not known.
Values = tuple[str | None, str | None, str | None, str | None]


class Record(NamedTuple):
    """A dyad file: the fix upstream and all pairs."""

    cve: str
    upstream: str
    pairs: list[Values]


def main() -> int:
    """Read the records, fill archives, and print and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("patches", nargs="*")
    parser.add_argument("--write", metavar="FILE", help="write the report into this file, too")
    args = parser.parse_args()
    records = [read_dyad(path) for path in sorted(args.records.rglob("*.dyad"))]
    mails = [str(path) for path in sorted(args.records.rglob("*.mbox"))]
    reports = {}
    for name, sources in (("announcements", mails), ("announcements hidden", args.patches)):
        if not sources:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch,
            Archive(scratch, write=True) as archive,
        ):
            print(fill(archive, sources).line(), file=sys.stderr)
            report = announced if name == "announcements" else hidden
            reports[name] = report(archive, records)
    for name, text in reports.items():
        print(text, end="\n\n")
        if args.write:
            write_section(pathlib.Path(args.write), name, text)
    return 0


def read_dyad(path: pathlib.Path) -> Record:
    """Read a dyad file by its own rule: comments, then four fields with colons between them."""
    upstream = ""
    pairs: list[Values] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            if "for git id" in line:
                upstream = line.split()[-1]
        elif line.strip():
            first, second, third, fourth = (
                None if field.strip("0") == "" else field for field in line.split(":")
            )
            pairs.append((first, second, third, fourth))
    return Record(path.stem, upstream, pairs)


# -- announcements read -------------------------------------------------------------------


def announced(archive: Archive, records: Iterable[Record]) -> str:
    """Return how many pairs of the dyad files the announcements say, and each miss."""
    causes: Counter[str] = Counter()
    misses: list[str] = []
    total = found = extra = number = 0
    for record in records:
        number += 1
        said = {
            (pair.introduced_version, pair.introduced, pair.fixed_version, pair.fixed)
            for pair in pairs_of_cve(archive, record.cve)
        }
        total += len(record.pairs)
        extra += len(said - set(record.pairs))
        for pair in record.pairs:
            if pair in said:
                found += 1
                continue
            cause = _cause(pair, said)
            causes[cause] += 1
            told = ":".join(
                (field or "0")[:12] if place % 2 else field or "0"
                for place, field in enumerate(pair)
            )
            misses.append(f"* {record.cve} {told}: {cause}")
    lines = [
        "## CVE records: announcements read",
        "",
        "Made by `bench/cves.py` of the kernel's CVE records.",
        "",
        "| CVEs | pairs in dyad files | said by announcements | share | said besides |",
        "| ---: | ---: | ---: | ---: | ---: |",
        f"| {number:,} | {total:,} | {found:,} | {found / total:.2%} | {extra:,} |",
        "",
        "Why a pair is missed:",
        "",
        *(f"* {cause}: {count}" for cause, count in causes.most_common()),
        "",
        "Every one:",
        "",
        *misses,
    ]
    return "\n".join(lines)


def _cause(pair: Values, said: set[Values]) -> str:
    if pair[0] is not None and pair[0] == pair[2]:
        return "it came and went within one release, which announcements leave out"
    if any(other[3] == pair[3] for other in said):
        return "the record was amended later: another origin"
    return "the record was amended later: another fix"


# -- announcements hidden -----------------------------------------------------------------


class _Tally:
    """Counts and examples of what agrees and what does not."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def add(self, kind: str, example: str) -> None:
        self.counts[kind] += 1
        self.examples.setdefault(kind, []).append(example)


def hidden(archive: Archive, records: list[Record]) -> str:
    """Return what is known of the CVEs' fixes from patches alone, and every disagreement."""
    tally = _Tally()
    known = pairs = covered = 0
    for record in records:
        _stable_commits(archive, record, tally)
        written = spellings(archive, record.upstream)
        if not written:
            continue
        known += 1
        wanted = {
            version.tree: pair
            for pair in record.pairs
            if pair[3] not in (None, record.upstream)
            and (version := parse_version(pair[2] or "")) is not None
        }
        told: dict[str, list[str | None]] = {}
        for event in events_of_commit(archive, written):
            if event.kind == "nominated" or (event.rule or "").startswith("cc-stable"):
                continue
            releases = told.setdefault(event.tree, [])
            if event.kind == "released":
                releases.append(event.release)
        pairs += len(wanted)
        covered += len(wanted.keys() & told.keys())
        _compare_trees(record, wanted, told, tally)
        _compare_causes(archive, record, written, tally)
    in_folders, placed = _folders(archive, records, tally)
    lines = [
        "## CVE records: announcements hidden",
        "",
        "Made by `bench/cves.py`:",
        f"{archive.value('SELECT count(*) FROM message'):,} mails and patches, none of them a",
        "record or an announcement. The mails are a sample of a few lists and the patches",
        "collections of distributions: what they do not hold can't be known.",
        "",
        "| | CVEs or pairs | known |",
        "| --- | ---: | ---: |",
        f"| fixes upstream that a mail or patch names | {len(records):,} | {known:,} |",
        f"| (tree, fix) pairs of those in stable trees, by a mail's own word | {pairs:,} |"
        f" {covered:,} |",
        f"| pairs whose patch lies in a folder named `CVE/tree` | {in_folders:,} | {placed:,} |",
        "",
        "| of what is known | count |",
        "| --- | ---: |",
        *(f"| {kind} | {count:,} |" for kind, count in sorted(tally.counts.items())),
    ]
    for kind, examples in sorted(tally.examples.items()):
        if kind.startswith("agree"):
            continue
        lines += ["", f"{kind}:", ""]
        lines += [f"* {text}" for text in examples[:_EXAMPLES]]
        if len(examples) > _EXAMPLES:
            lines.append(f"* and {len(examples) - _EXAMPLES} more")
    return "\n".join(lines)


def _folders(archive: Archive, records: list[Record], tally: _Tally) -> tuple[int, int]:
    """Patches of a collection that has a folder for each CVE and tree: what they say of the pair.

    Returns how many pairs of the records have such a folder, and of how many of
    those a patch names the record's fix.
    """
    by_cve = {record.cve: record for record in records}
    folders: dict[tuple[str, str], set[str]] = {}
    found = archive.execute(
        "SELECT source.path, m.id FROM message AS m JOIN copy ON copy.message = m.id"
        " JOIN source ON source.id = copy.source WHERE m.is_patch"
    ).fetchall()
    for path, message in found:
        match = _FOLDER.search(path)
        if match is None or match[1] not in by_cve:
            continue
        rows = archive.execute(
            "SELECT sha FROM commit_ref WHERE message = ? AND NOT quoted"
            " AND relation IN ('upstream', 'own')",
            (message,),
        ).fetchall()
        folders.setdefault((match[1], f"{match[2]}.y"), set()).update(sha for (sha,) in rows)
    pairs = placed = 0
    for (cve, tree), named in sorted(folders.items()):
        record = by_cve[cve]
        text = f"{cve} in {tree}: record {record.upstream[:12]}"
        here = [
            pair
            for pair in record.pairs
            if (version := parse_version(pair[2] or "")) is not None and version.tree == tree
        ]
        told = f"{text}, patches {', '.join(sorted(sha[:12] for sha in named)) or 'name none'}"
        fits = any(record.upstream.startswith(sha) for sha in named)
        pairs += bool(here)
        placed += bool(here) and fits
        if here and any((pair[3] or "").startswith(sha) for sha in named for pair in here):
            tally.add("agree: the record's commit of this tree, in a folder", text)
        elif fits and not here:
            tally.add("differ: a backport in a folder for a tree without one in the record", text)
        elif fits:
            tally.add("agree: the marker, in a folder", text)
        else:
            tally.add("differ: patches in the folder name another commit", told)
    return pairs, placed


def _stable_commits(archive: Archive, record: Record, tally: _Tally) -> None:
    """Patches that are a stable commit of the record: is their marker the record's fix?"""
    for pair in record.pairs:
        fixed = pair[3]
        if fixed is None or fixed == record.upstream:
            continue
        messages = archive.execute(
            "SELECT DISTINCT r.message FROM commit_ref AS r JOIN message AS m ON m.id = r.message"
            " WHERE r.sha = ? AND r.relation = 'own' AND m.is_patch",
            (fixed,),
        ).fetchall()
        for (message,) in messages:
            named = [
                sha
                for (sha,) in archive.execute(
                    "SELECT sha FROM commit_ref WHERE message = ? AND relation = 'upstream'"
                    " AND NOT quoted",
                    (message,),
                )
            ]
            text = f"{record.cve}: {fixed[:12]}, record {record.upstream[:12]}"
            if any(record.upstream.startswith(sha) for sha in named):
                tally.add("agree: marker of a stable commit", text)
            elif not named:
                tally.add("differ: stable commit without a marker", text)
            else:
                theirs = ", ".join(sha[:12] for sha in named)
                tally.add("differ: marker of a stable commit", f"{text}, marker {theirs}")


def _compare_trees(
    record: Record,
    wanted: dict[str, Values],
    told: dict[str, list[str | None]],
    tally: _Tally,
) -> None:
    """Trees and releases: of the record, and as mails tell them."""
    for tree, releases in told.items():
        pair = wanted.get(tree)
        text = f"{record.cve}: {record.upstream[:12]} in {tree}"
        if pair is None:
            unfixed = any(
                (version := parse_version(item[0] or "")) is not None and version.tree == tree
                for item in record.pairs
                if item[3] is None
            )
            if unfixed:
                tally.add("differ: a tree that the record calls not fixed", text)
            else:
                tally.add("differ: a tree that the record does not have", text)
            continue
        tally.add("agree: the tree has a backport", text)
        for release in releases:
            same = release == pair[2]
            kind = "agree: the release" if same else "differ: another release"
            tally.add(kind, f"{text}: {release}, record {pair[2]}")
    for tree in sorted(wanted.keys() - told.keys()):
        text = f"{record.cve}: {record.upstream[:12]} in {tree}"
        tally.add("not covered: a tree of which no mail or patch is there", text)


def _compare_causes(archive: Archive, record: Record, written: list[str], tally: _Tally) -> None:
    """Fixes tags of the patches, and the commits that the record says brought it."""
    marks = ", ".join("?" * len(written))
    tags = {
        sha
        for (sha,) in archive.execute(
            "SELECT DISTINCT f.sha FROM commit_ref AS u JOIN commit_ref AS f"
            " ON f.message = u.message AND f.relation = 'fixes' AND NOT f.quoted"
            " JOIN message AS m ON m.id = u.message"
            f" WHERE u.sha IN ({marks}) AND u.relation IN ('upstream', 'own') AND m.is_patch"
            " AND coalesce(m.primary_upstream, u.sha) = u.sha",
            written,
        )
    }
    causes = {pair[1] for pair in record.pairs if pair[1] is not None}
    text = f"{record.cve}: {record.upstream[:12]}"
    if not tags:
        tally.add("differ: no Fixes tag, the record has an origin" if causes else
                  "agree: no origin", text)  # fmt: skip
    elif any(cause.startswith(tag) for tag in tags for cause in causes):
        tally.add("agree: the origin", text)
    elif causes:
        theirs = ", ".join(sorted(tag[:12] for tag in tags))
        told = ", ".join(sorted(cause[:12] for cause in causes)[:3])
        tally.add("differ: another origin", f"{text}: Fixes {theirs}, record {told}")
    else:
        theirs = ", ".join(sorted(tag[:12] for tag in tags))
        tally.add("differ: the record has no origin", f"{text}: Fixes {theirs}")


if __name__ == "__main__":
    raise SystemExit(main())

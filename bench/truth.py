"""Prove lists against git: markers of stable branches, the same with markers hidden, missing fixes.

    python -m bench.truth MAINLINE STABLE [--archive DIR] [--write docs/accuracy.md]

MAINLINE is a repository with a branch `main` (and stable branches beside it), STABLE one with
further stable branches, both bare or not: those of DPDK were used, whose maintainers write
`[ upstream commit … ]` into nearly every backport. What git alone says of them
(bench/truth_git.py) is compared with what patchlore says:

* Markers read: each commit of a stable branch whose marker names a commit of the mainline
  must be an event of that commit in the branch's tree. The others are listed.
* Markers hidden: the facts of all markers are deleted from the archive (and restored), and
  `same_changes` must find the same by patch id, author date, title, author and changed lines.
  Precision is right ones by found ones, recall right ones by all.
* Missing fixes: `backports --missing-fixes` of some branches against the same list made of
  `git log` and `Fixes:` alone. `--sample` prints 40 rows of each to be read by a person.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from bench.sections import write_section
from bench.truth_git import GitLogEntry, Known, git, log, missing_fixes
from patchlore.kb.backports import backports
from patchlore.kb.edges_commits import SameChange, same_changes
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.history import events_of_tree
from patchlore.kb.store import Archive
from patchlore.kb.versions import tree_name

_STABLE = re.compile(r"\d\d\.\d\d(?:-staging)?")
_SAMPLE = 40


class Truth(NamedTuple):
    """What git alone says: the mainline, the stable commits, and which branch has which."""

    mainline: Known
    own: dict[str, GitLogEntry]
    branches: dict[str, set[str]]

    def named(self, entry: GitLogEntry) -> set[str]:
        """The mainline commits that the markers of a commit name."""
        return {sha for name in entry.markers if (sha := self.mainline.whole(name)) is not None}


def main() -> int:
    """Fill an archive, or take one, and print and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mainline")
    parser.add_argument("stable")
    parser.add_argument("--main", default="main", help="the branch that is the mainline")
    parser.add_argument("--archive", help="fill and keep this archive; without: a temporary one")
    parser.add_argument("--branches", nargs="*", default=["23.11", "24.11"], metavar="BRANCH")
    parser.add_argument("--only", metavar="SECTION", help="only this section of the report")
    parser.add_argument("--sample", action="store_true", help="print rows to be read by a person")
    parser.add_argument("--write", metavar="FILE", help="write the report into this file, too")
    args = parser.parse_args()
    truth = read_truth(args.mainline, args.stable, args.main)
    with (
        tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch,
        Archive(args.archive or scratch, write=True) as archive,
    ):
        for name, path in (("mainline", args.mainline), ("stable", args.stable)):
            print(fill_tree(archive, name, path, patch_ids=True).line(), file=sys.stderr)
        reports: dict[str, Callable[[], str]] = {
            "markers": lambda: marked_report(archive, truth),
            "hidden markers": lambda: hidden_report(archive, truth, sample=args.sample),
            "missing fixes": lambda: fixes_report(
                archive, args.mainline, args.main, args.branches, sample=args.sample
            ),
        }
        for name, report in reports.items():
            if args.only and name != args.only:
                continue
            text = report()
            print(text, end="\n\n", flush=True)
            if args.write:
                write_section(pathlib.Path(args.write), name, text)
    return 0


def read_truth(mainline: str, stable: str, main_branch: str) -> Truth:
    """Read both repositories with git log and git rev-list."""
    known = Known(log(mainline, main_branch))
    merged = set(git(mainline, "rev-list", main_branch).split())
    own: dict[str, GitLogEntry] = {}
    branches: dict[str, set[str]] = {}
    for repository in (mainline, stable):
        names = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        names = [name for name in names if _STABLE.fullmatch(name)]
        entries = {entry.sha: entry for entry in log(repository, *names)}
        for name in names:
            here = set(git(repository, "rev-list", name).split()) & entries.keys() - merged
            branches.setdefault(name, set()).update(here)
            own.update((sha, entries[sha]) for sha in here)
    return Truth(known, own, branches)


# -- markers read -------------------------------------------------------------------------


def marked_report(archive: Archive, truth: Truth) -> str:
    """Return the table of each branch, and the commits whose markers name nothing."""
    lines = [
        "## Stable commits and the mainline: markers read",
        "",
        "Made by `bench/truth.py` of DPDK's repositories.",
        "",
        f"Mainline: {len(truth.mainline.by_sha):,} commits; stable branches: {len(truth.own):,}",
        "commits of their own, merges left out. A commit is mapped when it is an event, in the",
        "branch's tree, of the very commit that its marker names (whole or abbreviated).",
        "",
        "| branch | own commits | with a marker | named commit in the mainline | mapped to it |"
        " not mapped |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    total: Counter[str] = Counter()
    missed: list[str] = []
    for branch, shas in sorted(truth.branches.items()):
        told = _events(archive, branch)
        row: Counter[str] = Counter(own=len(shas))
        for sha in sorted(shas):
            entry = truth.own[sha]
            row["marked"] += bool(entry.markers)
            for upstream in truth.named(entry):
                row["named"] += 1
                found = any(upstream.startswith(item) for item in told.get(sha, ()))
                row["mapped"] += found
                if not found:
                    missed.append(f"{branch}: {sha} names {upstream}")
        total += row
        lines.append(_row(branch, row))
    lines += [_row("**all**", total), ""]
    lines += [f"* not mapped: {text}" for text in missed]
    unread = sorted(
        entry.sha[:12]
        for entry in truth.own.values()
        if not entry.markers and _has_marker(archive, entry.sha)
    )
    lines += [
        "",
        f"Besides, patchlore reads {len(unread)} markers that the pattern of the bench does not:",
        f"{', '.join(unread)}.",
    ]
    return "\n".join([*lines, *_others(archive, truth)])


def _row(name: str, row: Counter[str]) -> str:
    left = row["named"] - row["mapped"]
    return (
        f"| {name} | {row['own']:,} | {row['marked']:,} | {row['named']:,} | {row['mapped']:,} |"
        f" {left:,} |"
    )


def _events(archive: Archive, branch: str) -> dict[str, set[str]]:
    """The upstream commits of each commit of a branch, as the product tells them."""
    found: dict[str, set[str]] = {}
    for event in events_of_tree(archive, tree_name(branch)):
        if event.commit and event.sha:
            found.setdefault(event.commit, set()).add(event.sha)
    return found


def _others(archive: Archive, truth: Truth) -> list[str]:
    """The commits whose marker names no commit of the mainline, and what is found instead."""
    others = [entry for entry in truth.own.values() if entry.markers and not truth.named(entry)]
    rows = {entry.sha: _row_id(archive, entry.sha) for entry in others}
    found = same_changes(archive, list(rows.values()), diffs=True)
    lines = [
        "",
        f"Markers of {len(others)} commits name no commit of the mainline: maintainers wrote the",
        "id of a commit that was rebased before it was merged, or mistyped it. What carries the",
        "same change there, as patchlore finds it:",
        "",
        "| stable commit | names | same change in the mainline | by |",
        "| --- | --- | --- | --- |",
    ]
    for entry in sorted(others, key=lambda item: item.sha):
        same = found.get(rows[entry.sha])
        lines.append(
            f"| {entry.sha[:12]} {_cell(entry.title)} | {', '.join(entry.markers)} |"
            f" {same.sha[:12] if same else '-'} | {', '.join(same.rules) if same else '-'} |"
        )
    return lines


def _has_marker(archive: Archive, sha: str) -> bool:
    return bool(
        archive.value(
            "SELECT 1 FROM git_commit_ref AS r JOIN git_commit AS c ON c.id = r.git_commit"
            " WHERE c.sha = ? AND r.relation = 'upstream' LIMIT 1",
            (sha,),
        )
    )


def _row_id(archive: Archive, sha: str) -> int:
    return int(archive.value("SELECT id FROM git_commit WHERE sha = ?", (sha,)))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


# -- markers hidden -----------------------------------------------------------------------


def hidden_report(archive: Archive, truth: Truth, *, sample: bool) -> str:
    """Return precision and recall with all markers deleted."""
    named = {
        _row_id(archive, sha): upstream
        for sha, entry in truth.own.items()
        if (upstream := truth.named(entry))
    }
    asked = [_row_id(archive, sha) for sha in truth.own]
    connection = archive.connection
    connection.execute("BEGIN")
    try:
        connection.execute("DELETE FROM git_commit_ref WHERE relation = 'upstream'")
        results = [_timed(archive, asked, diffs=diffs) for diffs in (False, True)]
    finally:
        connection.execute("ROLLBACK")
    lines = [
        "## Stable commits and the mainline: markers hidden",
        "",
        "Made by `bench/truth.py`; which signs are worth what: [trees.md](trees.md).",
        "",
        f"{len(named):,} stable commits name a commit of the mainline. With the facts of all",
        "markers deleted, what finds it again:",
        "",
        "| | stable commits | found | right | precision | recall | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    names = ("ids, dates, titles, checked by lines (as for lists)", "and changed lines (all diffs)")
    for name, (found, seconds) in zip(names, results, strict=True):
        told = {id_: one for id_, one in found.items() if id_ in named}
        right = sum(one.sha in named[id_] for id_, one in told.items())
        lines.append(
            f"| {name} | {len(named):,} | {len(told):,} | {right:,} | {right / len(told):.2%} |"
            f" {right / len(named):.2%} | {seconds:.1f} |"
        )
    found = results[1][0]
    lines += ["", "| signs | confidence | right | wrong |", "| --- | --- | ---: | ---: |"]
    lines += _signs({id_: one for id_, one in found.items() if id_ in named}, named)
    lines += ["", "Every wrong one:", ""]
    for id_, one in sorted(found.items()):
        if id_ in named and one.sha not in named[id_]:
            sha = archive.value("SELECT sha FROM git_commit WHERE id = ?", (id_,))
            theirs = ", ".join(item[:12] for item in sorted(named[id_]))
            lines.append(
                f"* {sha[:12]} names {theirs}, found is {one.sha[:12]} by {', '.join(one.rules)}"
            )
    unmarked = {id_: one for id_, one in found.items() if id_ not in named}
    lines += [
        "",
        f"Of the {len(asked) - len(named):,} commits without such a marker {len(unmarked):,} are",
        "mapped to a commit of the mainline.",
    ]
    if sample:
        _print_sample(archive, unmarked)
    return "\n".join(lines)


def _timed(
    archive: Archive, asked: list[int], *, diffs: bool
) -> tuple[dict[int, SameChange], float]:
    start = time.monotonic()
    return same_changes(archive, asked, diffs=diffs), time.monotonic() - start


def _signs(found: dict[int, SameChange], named: dict[int, set[str]]) -> list[str]:
    counts: dict[tuple[str, str], Counter[bool]] = {}
    for id_, one in found.items():
        key = (", ".join(one.rules), one.confidence)
        counts.setdefault(key, Counter())[one.sha in named[id_]] += 1
    return [
        f"| {signs} | {confidence} | {count[True]:,} | {count[False]:,} |"
        for (signs, confidence), count in sorted(counts.items(), key=lambda item: -item[1].total())
    ]


def _print_sample(archive: Archive, found: dict[int, SameChange]) -> None:
    chosen = random.Random(1).sample(sorted(found), min(_SAMPLE, len(found)))
    for id_ in chosen:
        sha, title = archive.execute(
            "SELECT sha, subject FROM git_commit WHERE id = ?", (id_,)
        ).fetchone()
        one = found[id_]
        print(f"{sha[:12]} {title} | {one.sha[:12]} {one.subject} | {one.rules}", file=sys.stderr)


# -- missing fixes ------------------------------------------------------------------------


def fixes_report(
    archive: Archive, repository: str, main_branch: str, branches: list[str], *, sample: bool
) -> str:
    """Return what `--missing-fixes` and git alone say of some branches."""
    lines = [
        "## Missing fixes of stable branches",
        "",
        "Made by `bench/truth.py`:",
        "`backports BRANCH --missing-fixes` against the same list made of `git log` and `Fixes:`",
        "tags alone (bench/truth_git.py):",
        "",
        "| branch | by git alone | by patchlore | both | git alone only | patchlore only |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    details: list[str] = []
    for branch in branches:
        by_git = {item.fix: item for item in missing_fixes(repository, main_branch, branch)}
        rows = {
            row.sha: row
            for row in backports(archive, branch, missing_fixes=True)
            if row.sha is not None
        }
        both = by_git.keys() & rows.keys()
        lines.append(
            f"| {branch} | {len(by_git):,} | {len(rows):,} | {len(both):,} |"
            f" {len(by_git) - len(both):,} | {len(rows) - len(both):,} |"
        )
        for sha in sorted(by_git.keys() - both):
            item = by_git[sha]
            details.append(f"* {branch}, git only: {sha[:12]}, repairs {item.broken[:12]}")
        for sha in sorted(rows.keys() - both):
            details.append(f"* {branch}, patchlore only: {sha[:12]} ({_cell(rows[sha].reason)})")
        if sample:
            for sha in random.Random(1).sample(sorted(both), min(_SAMPLE, len(both))):
                item = by_git[sha]
                print(f"{branch} {sha[:12]} {item.title} | {item.broken[:12]} {item.broken_title}")
    return "\n".join([*lines, "", *details])


if __name__ == "__main__":
    raise SystemExit(main())

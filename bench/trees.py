"""Measure the reading of git trees: first run, run without news, with patch ids, and a dossier.

    python bench/trees.py NAME=REPOSITORY... [--no-patch-ids] [--json]

Each tree is read into one temporary archive, in the order given. Figures of
one run on one machine: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable

from patchlore.kb.backports import backports
from patchlore.kb.database import database_path
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.git_reading import trees_with
from patchlore.kb.reading import spellings
from patchlore.kb.store import Archive


def main() -> int:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", nargs="+", metavar="NAME=REPOSITORY")
    parser.add_argument("--no-patch-ids", action="store_true")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    trees = [tree.partition("=")[::2] for tree in args.trees]
    with tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch:
        with Archive(scratch, write=True) as archive:
            figures = measure(archive, trees, patch_ids=not args.no_patch_ids)
        figures["archive, MB"] = database_path(scratch).stat().st_size / 1e6
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:38} {value:>12,.3f}")
    return 0


def measure(archive: Archive, trees: list[tuple[str, str]], *, patch_ids: bool) -> dict[str, float]:
    """Return figures by name: seconds where nothing else is said."""
    figures: dict[str, float] = {}
    for name, path in trees:
        summary = fill_tree(archive, name, path)
        print(summary.line(), file=sys.stderr)
        figures[f"{name}: commits"] = summary.commits
        figures[f"{name}: first run"] = summary.seconds
        figures[f"{name}: nothing new"] = fill_tree(archive, name, path).seconds
        if patch_ids:
            summary = fill_tree(archive, name, path, patch_ids=True)
            print(summary.line(), file=sys.stderr)
            figures[f"{name}: patch ids"] = summary.seconds
    figures["distinct commits"] = archive.value("SELECT count(*) FROM git_commit")
    figures["places"] = archive.value("SELECT count(*) FROM git_place")
    # This process alone; git's own memory is its own.
    figures["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    stable = archive.value(
        "SELECT stable_tree FROM git_place_ref JOIN git_ref ON git_ref.id = ref"
        " WHERE stable_tree IS NOT NULL GROUP BY stable_tree ORDER BY count(*) DESC LIMIT 1"
    )
    if stable:
        figures["list of a stable tree"] = timed(lambda: backports(archive, stable))
    sha = archive.value(
        "SELECT sha FROM git_commit_ref WHERE relation = 'upstream' AND length(sha) = 40 LIMIT 1"
    )
    if sha:
        figures["trees with a commit"] = timed(lambda: trees_with(archive, spellings(archive, sha)))
    return figures


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that something takes, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


if __name__ == "__main__":
    raise SystemExit(main())

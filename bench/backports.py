"""Measure backport lists: of a tree, its missing fixes, what one tree has over another.

    python bench/backports.py ARCHIVE TREE... [--over TREE] [--json]

Each list is made in a process of its own, as a user's command makes it, and in this
one, the best of three. Figures are CPU seconds: on a machine that does other things,
too, they are steadier than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

from patchlore.kb.backports import backports
from patchlore.kb.comparing import compare
from patchlore.kb.store import Archive
from patchlore.kb.versions import short_name

#: The day by which supported trees are judged: the same on each run.
AS_OF = 1764547200


def main() -> int:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", metavar="ARCHIVE")
    parser.add_argument("trees", nargs="+", metavar="TREE")
    parser.add_argument("--over", metavar="TREE", help="compare this tree with each TREE, too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with Archive(args.archive) as archive:
        figures = sizes(archive)
        for tree in args.trees:
            figures |= measure(archive, tree, args.over)
    for tree in args.trees:
        name = short_name(tree)
        figures[f"{name}: command"] = cpu_of_command(args.archive, [tree])
        figures[f"{name}: command, --missing-fixes"] = cpu_of_command(
            args.archive, [tree, "--missing-fixes"]
        )
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:42} {value:>12,.2f}")
    return 0


def sizes(archive: Archive) -> dict[str, float]:
    """Return how much the archive holds."""
    return {
        "mails": archive.value("SELECT count(*) FROM message"),
        "commits": archive.value("SELECT count(*) FROM git_commit"),
    }


def measure(archive: Archive, tree: str, over: str | None) -> dict[str, float]:
    """Return figures of one tree by name: CPU seconds, and rows by state."""
    name = short_name(tree)
    rows = backports(archive, tree, as_of=AS_OF)
    figures: dict[str, float] = {f"{name}: rows": len(rows)}
    for state, number in sorted(Counter(row.state for row in rows).items()):
        figures[f"{name}: {state}"] = number
    missing = backports(archive, tree, as_of=AS_OF, missing_fixes=True)
    figures[f"{name}: missing fixes"] = len(missing)
    figures[f"{name}: list"] = timed(lambda: backports(archive, tree, as_of=AS_OF))
    figures[f"{name}: whole-tree closure"] = timed(
        lambda: backports(archive, tree, as_of=AS_OF, missing_fixes=True)
    )
    if over is not None:
        found = compare(archive, over, tree, as_of=AS_OF)
        figures[f"{short_name(over)} over {name}: rows"] = len(found)
        figures[f"{short_name(over)} over {name}"] = timed(
            lambda: compare(archive, over, tree, as_of=AS_OF)
        )
    return figures


def timed(work: Callable[[], object]) -> float:
    """Return the CPU seconds that something takes, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def cpu_of_command(archive: str, arguments: list[str]) -> float:
    """Return the CPU seconds of ``patchlore backports``, written as JSON to nowhere."""
    before = os.times()
    command = [sys.executable, "-m", "patchlore", "--archive", archive, "backports", *arguments]
    subprocess.run([*command, "--json"], stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


if __name__ == "__main__":
    raise SystemExit(main())

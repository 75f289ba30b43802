"""Measure what searches cost on an archive: facts, words, rank, regular expressions, the program.

    python -m bench.search ARCHIVE [ARCHIVE…] [--questions N] [--mails N [--kept FOLDER]] [--json]

Each ARCHIVE has to be indexed (one with each engine: `patchlore index --engine`).
Questions are made from the archive itself: values of facts, words of subjects,
identifiers of diffs, drawn by chance with a fixed seed. Times are of library
calls in one process that is warm: median and 95th percentile in milliseconds,
each question asked once; "cpu" is the median of processor time, which other
programs on the machine change less. The last lines time the program as a whole.

With --mails N the newest N mails are also given to notmuch, mu and lei, as far
as these are installed (Debian: notmuch, maildir-utils, lei), and the same words
are asked of each, as programs (bench/search_peers.py): theirs start fast, ours starts Python.
With --kept FOLDER what they have indexed stays there, and a second run only asks.
Figures of one run on one machine: compare ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.search_peers import side_by_side
from bench.search_questions import facts_of, frequent_word, misspelt, regexes_of, words_of
from bench.search_timing import programs, summary
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive

#: Milliseconds that are aimed at: median and 95th percentile.
TARGETS = {
    "facts": (2.0, 10.0),
    "words": (20.0, 100.0),
    "rank": (300.0, 300.0),
    "regex": (500.0, 500.0),
    "program": (250.0, 250.0),
}


def main() -> int:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", nargs="+", type=Path, help="an archive with a text index")
    parser.add_argument("--questions", type=int, default=200, help="of each kind (default 200)")
    parser.add_argument("--mails", type=int, default=0, help="compare on the newest N mails")
    parser.add_argument("--kept", type=Path, help="keep what is indexed for --mails here")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    report: dict[str, object] = {}
    for path in args.archive:
        figures = measure(path, args.questions)
        report[str(path)] = figures
        if not args.json:
            show(path, figures)
    if args.mails:
        with tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch:
            folder = args.kept or Path(scratch)
            others = side_by_side(args.archive[0], args.mails, folder, min(args.questions, 20))
        report["others"] = others
        if not args.json:
            print(f"\nthe newest {args.mails:,} mails: median milliseconds of the whole program")
            for name, value in others.items():
                print(f"  {name:34} {value}")
    if args.json:
        print(json.dumps(report))
    return 0


def show(path: Path, figures: dict[str, dict[str, float]]) -> None:
    """Print the figures of an archive."""
    print(f"\n{path}")
    print(
        f"  {'':40} {'asked':>6} {'found':>8} {'median':>9} {'95th':>9} {'worst':>9} {'cpu':>9}"
        "  target"
    )
    for name, row in figures.items():
        target = TARGETS.get(name.split()[0])
        aim = f"{target[0]:g} / {target[1]:g}" if target else ""
        met = (
            ""
            if not target
            else ("met" if row["median"] <= target[0] and row["p95"] <= target[1] else "MISSED")
        )
        print(
            f"  {name:40} {row['asked']:>6.0f} {row['found']:>8.0f} {row['median']:>9.2f}"
            f" {row['p95']:>9.2f} {row['worst']:>9.2f} {row['cpu']:>9.2f}  {aim} {met}"
        )


def measure(path: Path, number: int) -> dict[str, dict[str, float]]:
    """Time all kinds of questions to the archive in the folder PATH."""
    chance = random.Random(20240229)
    figures: dict[str, dict[str, float]] = {}
    with Archive(path) as archive, Searcher(archive) as searcher:
        facts = list(facts_of(archive, chance, number))
        figures["facts all kinds"] = timed(searcher, facts)
        for kind in sorted({question.partition(":")[0] for question in facts}):
            mine = [question for question in facts if question.startswith(f"{kind}:")]
            figures[f"facts {kind}:"] = timed(searcher, mine)
        words = list(words_of(archive, chance, number))
        timed(searcher, words[:5])  # opens the index
        figures["words default order"] = timed(searcher, words)
        figures["words with rank"] = timed(searcher, words, sort="rank")
        word = frequent_word(archive, searcher)
        figures[f"rank '{word}'"] = timed(searcher, [word] * 5, sort="rank")
        figures["rank 'patch' s:fix"] = timed(searcher, ["patch s:fix"] * 5, sort="rank")
        figures["regex over all diffs"] = timed(searcher, regexes_of(archive, chance, number // 4))
        figures["regex without three letters"] = timed(searcher, [r"dfb:/[a-z]\d\(/"])
        figures["facets of that word"] = timed(searcher, [word], facets=True)
        figures["mistyped word, with suggestion"] = timed(
            searcher,
            [misspelt(word, chance) for word in words if len(word) > 6 and ":" not in word][:20],
        )
    command = [sys.executable, "-m", "patchlore", "--archive", str(path), "search", "--limit", "20"]
    for name, questions in (("facts", facts[:10]), ("words", words[:10])):
        figures[f"program {name}"] = programs([[*command, question] for question in questions])
    return figures


def timed(searcher: Searcher, questions: Sequence[str], **options: object) -> dict[str, float]:
    """Ask each question once with the usual limit and note milliseconds."""
    times, found, processor = [], [], []
    for question in questions:
        start, used = time.perf_counter(), time.process_time()
        results = searcher.search(question, limit=50, **options)  # type: ignore[arg-type]
        times.append(1000 * (time.perf_counter() - start))
        processor.append(1000 * (time.process_time() - used))
        found.append(results.total)
    return {**summary(times, found), "cpu": statistics.median(processor) if processor else 0.0}


if __name__ == "__main__":
    raise SystemExit(main())

"""Measure the whole way of an archive: reading, parsing, storing, indexing, asking.

    python bench/ingest.py EPOCH [--jobs N] [--engine whoosh|sqlite] [--json]

EPOCH is a public-inbox folder or repository, an mbox, a maildir: anything that
`patchlore ingest` takes. Without one, a synthetic mailbox of --mails mails is
made, so that the script runs anywhere. Stages are timed one after the other
in this process (reading and parsing alone, CPU time), then the product's own
pipeline is timed as users run it (wall time, peak memory of each process).
Figures of one run on one machine: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from patchlore.index.indexing import update_index
from patchlore.index.search import Searcher
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.reading import read_source
from patchlore.kb.dossiers.commits import commit_dossier
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive

#: Exact questions and questions with words; {} is filled from the archive itself.
EXACT = ["pr:{pr}", "commit:{commit}", "mid:{mid}", "upstream:{commit}", "is:patch", "fixes:{commit}",
         "stable:5.10", "dfn:Makefile", "f:{email}", "is:cover"]  # fmt: skip
WORDS = ["memory", "s:fix", "stack overflow", '"use after free"', "refcount*", "nq:gcc", "b:mutex",
         "dfb:static", "patch NOT s:selftests", "kernel"]  # fmt: skip


def main() -> int:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", help="what to ingest; synthetic mail without it")
    parser.add_argument("--mails", type=int, default=3000, help="synthetic mails (default 3000)")
    parser.add_argument("--jobs", type=int, default=None, help="parsing processes")
    parser.add_argument("--engine", choices=("whoosh", "sqlite"), default="whoosh")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch:
        source = args.source or str(make_mailbox(Path(scratch) / "mail.mbox", args.mails))
        figures = measure(source, Path(scratch) / "archive", args.jobs, args.engine)
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(
                f"{name:38} {value:>12,.2f}"
                if isinstance(value, float)
                else f"{name:38} {value:>12}"
            )
    return 0


def measure(source: str, archive: Path, jobs: int | None, engine: str) -> dict[str, float | int]:
    """Time each stage over SOURCE; rates are mails a second, memory MiB, queries milliseconds."""
    figures: dict[str, float | int] = {}
    start = time.process_time()
    raws = [item for item in read_source(source) if isinstance(item, Raw)]
    figures["mails"] = len(raws)
    figures["plain text, MB"] = sum(len(raw.data) for raw in raws) / 1e6
    figures["reading, mails/s (CPU)"] = len(raws) / max(time.process_time() - start, 1e-9)
    figures["parsing, mails/s (CPU, median of 5)"] = _median_rate(raws)
    del raws
    start = time.perf_counter()
    with Archive(archive, write=True) as opened:
        summary = fill(opened, [source], jobs=jobs)
    figures["parsing and storing, mails/s (wall)"] = summary.read / (time.perf_counter() - start)
    start = time.perf_counter()
    indexed = update_index(archive, engine=engine)
    figures["indexing, mails/s (wall)"] = indexed / (time.perf_counter() - start)
    with Archive(archive, write=True) as opened:
        start = time.perf_counter()
        fill(opened, [source], jobs=jobs)
        figures["second run, s (wall)"] = time.perf_counter() - start
    size = sum(path.stat().st_size for path in archive.rglob("*") if path.is_file())
    figures["archive, MB"] = size / 1e6
    usage = resource.getrusage
    figures["peak memory, MiB"] = usage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["peak memory of a worker, MiB"] = usage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    _ask(archive, figures)
    return figures


def _median_rate(raws: list[Raw]) -> float:
    rates = []
    for _ in range(5):
        start = time.process_time()
        for raw in raws:
            parse_raw(raw)
        rates.append(len(raws) / (time.process_time() - start))
    return statistics.median(rates)


def _ask(archive: Path, figures: dict[str, float | int]) -> None:
    """The time of 20 queries and of a dossier, median and worst of five runs each."""
    with Archive(archive) as opened, Searcher(opened) as searcher:
        names = {
            "pr": _one(opened, "SELECT number FROM bug_ref WHERE tracker = 'gcc' LIMIT 1", 1),
            "commit": _one(
                opened, "SELECT sha FROM commit_ref WHERE length(sha) = 40 LIMIT 1", "0" * 40
            ),
            "mid": _one(opened, "SELECT text FROM mid LIMIT 1", "none@example.org"),
            "email": _one(
                opened, "SELECT email FROM person WHERE email != '' LIMIT 1", "x@example.org"
            ),
        }
        for kind, queries in (("exact", EXACT), ("words", WORDS)):
            times = [
                _milliseconds(lambda query=query: searcher.search(query.format(**names), limit=25))
                for query in queries
            ]
            figures[f"{kind} queries, ms (median)"] = statistics.median(times)
            figures[f"{kind} queries, ms (worst)"] = max(times)
        sha = names["commit"]
        figures["dossier of a commit, ms"] = _milliseconds(lambda: commit_dossier(opened, str(sha)))


def _one(archive: Archive, sql: str, otherwise: object) -> object:
    row = archive.execute(sql).fetchone()
    return row[0] if row else otherwise


def _milliseconds(call: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def make_mailbox(path: Path, count: int) -> Path:
    """Write COUNT invented patch mails and replies as an mbox; the same ones each time."""
    chance = random.Random(1)
    words = (
        "queue lock timer frame probe index cache merge fault guard slot retry flush memory".split()
    )
    with path.open("w") as file:
        for number in range(count):
            title = f"{chance.choice(words)}: {chance.choice(words)} the {chance.choice(words)}"
            sha = f"{chance.getrandbits(160):040x}"
            prose = "\n".join(
                " ".join(chance.choices(words, k=10)) for _ in range(chance.randint(3, 30))
            )
            file.write(
                f"From ada@example.org Tue Mar  5 09:20:30 2024\nFrom: Ada Quill <ada@example.org>\n"
                f"Date: Tue, 05 Mar 2024 10:{number % 60:02}:30 +0100\n"
                f"Message-ID: <bench-{number}@example.org>\nSubject: [PATCH {number % 9}/9] {title}\n\n"
                f'{prose}\n\nFixes: {sha[:12]} ("{title}")\nSigned-off-by: Ada Quill <ada@example.org>\n'
                f"---\n lib/{number % 50}.c | 2 +-\n\ndiff --git a/lib/{number % 50}.c b/lib/{number % 50}.c\n"
                f"index {sha[:12]}..{sha[12:24]} 100644\n--- a/lib/{number % 50}.c\n+++ b/lib/{number % 50}.c\n"
                f"@@ -1,3 +1,3 @@ int probe(void)\n int a;\n-int {chance.choice(words)};\n"
                f"+int {chance.choice(words)}_{number};\n int c;\n-- \n2.41.0\n\n"
            )
    return path


if __name__ == "__main__":
    sys.exit(main())

"""Measure what searches cost on an archive: facts, words, rank, regular expressions, the program.

    python bench/search.py ARCHIVE [ARCHIVE…] [--questions N] [--mails N] [--json]

Each ARCHIVE has to be indexed (one with each engine: `patchlore index --engine`).
Questions are made from the archive itself: values of facts, words of subjects,
identifiers of diffs, drawn by chance with a fixed seed. Times are of library
calls in one process that is warm: median and 95th percentile in milliseconds,
each question asked once; "cpu" is the median of processor time, which other
programs on the machine change less. The last lines time the program as a whole.

With --mails N the newest N mails are also given to notmuch, mu and lei, as far
as these are installed (Debian: notmuch, maildir-utils, lei), and the same words
are asked of each, as programs: theirs start fast, ours starts Python.
Figures of one run on one machine: compare ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

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

#: Regular expressions that people ask; {} is an identifier of the archive's diffs.
REGEXES = [
    r"/\b{}\(/", r"dfb:/{}\w*\(.*\)/", r"dfa:/{}/", r"dfctx:/if \(.*{}/", r"/->{}\b/",
    r"dfb:/^\s+return {}/",
    r"/(kmalloc|kzalloc)\(.*GFP_ATOMIC/", r"dfb:/\bBUG_ON\(/", r"dfb:/[a-z]+_lock\(&\w+->lock\)/",
    r"/#\s*if\s+(GCC|CLANG)_VERSION/", r"fn:/^ext4_\w+_write/", r"dfb:/goto (out|err)_[a-z]+;/",
    r"dfa:/strcpy\(/", r"dfb:/WARN_ON_ONCE/i", r"dfhh:/struct \w+_operations/",
]  # fmt: skip

#: Words that stand in about half of all mails of a development list, to choose from.
FREQUENT = ["patch", "linux", "kernel", "file", "this", "that", "diff", "with", "return", "subject"]

#: Subjects of so many messages are taken apart for words.
_SAMPLE = 400


def main() -> int:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", nargs="+", type=Path, help="an archive with a text index")
    parser.add_argument("--questions", type=int, default=200, help="of each kind (default 200)")
    parser.add_argument("--mails", type=int, default=0, help="compare on the newest N mails")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    report: dict[str, object] = {}
    for path in args.archive:
        figures = measure(path, args.questions)
        report[str(path)] = figures
        if not args.json:
            show(path, figures)
    if args.mails:
        others = side_by_side(args.archive[0], args.mails)
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


def summary(times: list[float], found: Sequence[float] = ()) -> dict[str, float]:
    """Return median, 95th percentile and worst of TIMES, and how much was found (median)."""
    ordered = sorted(times)
    return {
        "asked": len(times),
        "found": statistics.median(found) if found else 0,
        "median": statistics.median(ordered) if ordered else 0.0,
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else 0.0,
        "worst": ordered[-1] if ordered else 0.0,
        "cpu": 0.0,
    }


def programs(
    commands: Sequence[list[str]], environment: dict[str, str] | None = None
) -> dict[str, float]:
    """Run each command once; whole processes, wall time."""
    times, processor = [], []
    for command in commands:
        start, used = time.perf_counter(), children_time()
        subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            check=False,
        )
        times.append(1000 * (time.perf_counter() - start))
        processor.append(1000 * (children_time() - used))
    return {**summary(times), "cpu": statistics.median(processor) if processor else 0.0}


def children_time() -> float:
    """Seconds of processor time of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- questions ------------------------------------------------------------------------------

_FACTS = {
    "mid": "SELECT text FROM mid JOIN message ON message.mid = mid.id",
    "commit": "SELECT sha FROM commit_ref",
    "fixes": "SELECT sha FROM commit_ref WHERE relation = 'fixes'",
    "upstream": "SELECT sha FROM commit_ref WHERE relation = 'upstream'",
    "dfpost": "SELECT new_blob FROM file WHERE new_blob IS NOT NULL",
    "patchid": "SELECT patch_id FROM message WHERE patch_id IS NOT NULL",
    "dfn": "SELECT text FROM path",
    "f": "SELECT email FROM person WHERE email <> ''",
    "pr": "SELECT number FROM bug_ref WHERE tracker = 'gcc'",
    "references": "SELECT mid.text FROM reference JOIN mid ON mid.id = reference.mid",
    "reviewed-by": "SELECT email FROM message_person JOIN person ON person.id = person JOIN role"
    " ON role.id = role WHERE role.name = 'reviewed-by' AND email <> ''",
    "cve": "SELECT name FROM cve",
    "d": "SELECT strftime('%Y-%m-%d', timestamp, 'unixepoch') FROM message",
}


def facts_of(archive: Archive, chance: random.Random, number: int) -> Iterator[str]:
    """Yield questions for facts: values that the archive has, as many of each kind."""
    each = max(1, number // len(_FACTS))
    for prefix, sql in _FACTS.items():
        rows = archive.execute(f"SELECT * FROM ({sql} LIMIT 200000)").fetchall()
        for (value,) in chance.sample(rows, min(each, len(rows))):
            if re.fullmatch(r"[\w@./+:-]+", str(value)):
                yield f"{prefix}:{value}"


def words_of(archive: Archive, chance: random.Random, number: int) -> Iterator[str]:
    """Yield questions for words: alone, two, a phrase, in the subject, in the diff, a beginning."""
    last = archive.value("SELECT max(id) FROM message")
    subjects = [
        re.findall(r"[A-Za-z_]{4,}", str(subject))
        for (subject,) in archive.execute(
            "SELECT subject FROM message WHERE subject IS NOT NULL AND id IN"
            " (SELECT value FROM json_each(?))",
            (json.dumps(sorted(chance.sample(range(1, last + 1), min(last, _SAMPLE)))),),
        )
    ]
    subjects = [words for words in subjects if len(words) > 3]
    identifiers = identifiers_of(archive, chance)
    makers: list[Callable[[], str]] = [
        lambda: chance.choice(chance.choice(subjects)),
        lambda: " ".join(chance.sample(chance.choice(subjects), 2)),
        lambda: '"{} {}"'.format(*chance.choice(subjects)[-2:]),
        lambda: f"s:{chance.choice(chance.choice(subjects))}",
        lambda: f"dfb:{chance.choice(identifiers)}",
        lambda: f"{chance.choice(chance.choice(subjects))[:5].lower()}*",
        lambda: f"{chance.choice(identifiers)} is:patch",
        lambda: f"b:{chance.choice(chance.choice(subjects))} d:2020..2022",
    ]
    for index in range(number):
        yield makers[index % len(makers)]()


def identifiers_of(archive: Archive, chance: random.Random) -> list[str]:
    """Identifiers of hunk headers."""
    rows = archive.execute("SELECT functions FROM file WHERE functions IS NOT NULL LIMIT 50000")
    text = "\n".join(row[0] for row in chance.sample(rows.fetchall(), 2000))
    return sorted(set(re.findall(r"\b[a-z]+_[a-z_]{3,}\b", text))) or ["spin_lock"]


def regexes_of(archive: Archive, chance: random.Random, number: int) -> list[str]:
    """Regular expressions with identifiers of the archive in them."""
    identifiers = identifiers_of(archive, chance)
    return [
        REGEXES[index % len(REGEXES)].replace("{}", chance.choice(identifiers))
        for index in range(max(number, len(REGEXES)))
    ]


def frequent_word(archive: Archive, searcher: Searcher) -> str:
    """The word that comes nearest to standing in half of all mails."""
    half = archive.value("SELECT count(*) FROM message") / 2
    return min(FREQUENT, key=lambda word: abs(len(searcher.find(word)) - half))


def misspelt(word: str, chance: random.Random) -> str:
    """WORD with two letters swapped."""
    place = chance.randrange(1, len(word) - 2)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


# -- other programs -----------------------------------------------------------------------------


def side_by_side(path: Path, number: int) -> dict[str, str]:
    """Index the newest NUMBER mails with notmuch, mu and lei, and ask each the same words."""
    chance = random.Random(20240229)
    results: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch:
        home = Path(scratch)
        with Archive(path) as archive:
            words = [word for word in words_of(archive, chance, 80) if word.isalpha()][:20]
            ids = [
                id_
                for (id_,) in archive.execute(
                    "SELECT id FROM message ORDER BY timestamp DESC LIMIT ?", (number,)
                )
            ]
            for folder in ("cur", "new", "tmp"):
                (home / "mail" / folder).mkdir(parents=True)
            for id_ in ids:
                (home / "mail" / "cur" / f"{id_}.x:2,S").write_bytes(archive.raw(id_))
        environment = {
            **os.environ,
            "HOME": scratch,
            "XDG_CACHE_HOME": f"{scratch}/cache",
            "XDG_CONFIG_HOME": f"{scratch}/config",
            "XDG_DATA_HOME": f"{scratch}/data",
        }
        mine = ["--archive", f"{scratch}/archive"]
        ours = [sys.executable, "-m", "patchlore", *mine]
        mail = str(home / "mail")
        (home / ".notmuch-config").write_text(
            f"[database]\npath={mail}\n[user]\nname=A\nprimary_email=a@example.org\n"
        )
        tools: dict[str, tuple[list[list[str]], list[str]]] = {
            "patchlore": ([[*ours, "ingest", mail]], [*ours, "search", "--limit", "20"]),
            "notmuch": ([["notmuch", "new", "--quiet"]], ["notmuch", "search", "--limit=20"]),
            "mu": (
                [["mu", "init", f"--maildir={mail}"], ["mu", "index", "--quiet"]],
                ["mu", "find", "--maxnum=20"],
            ),
            "lei": (
                [["lei", "init"], ["lei", "import", mail]],
                ["lei", "q", "--limit=20", "-f", "json"],
            ),
        }
        for name, (preparing, asking) in tools.items():
            if name != "patchlore" and shutil.which(name) is None:
                results[name] = "is not installed"
                continue
            start = time.perf_counter()
            for command in preparing:
                subprocess.run(command, env=environment, capture_output=True, check=False)
            seconds = time.perf_counter() - start
            row = programs([[*asking, word] for word in words], environment)
            results[name] = (
                f"{row['median']:8.1f} (95th {row['p95']:.1f});"
                f" indexing {len(ids) / max(seconds, 0.001):,.0f} mails/s"
            )
        if shutil.which("lei"):
            subprocess.run(
                ["lei", "daemon-kill"], env=environment, capture_output=True, check=False
            )
    return results


if __name__ == "__main__":
    raise SystemExit(main())

"""Fill patchlore, notmuch, mu, public-inbox and kernel-lore-mcp with the same mails, side by side.

    python -m bench.peers [EPOCH] [--mails N] [--rounds N] [--rounds-of NAME=N] [--only NAME,NAME]
                          [--kernel-lore FOLDER] [--scratch FOLDER] [--json]

EPOCH is a repository of public-inbox (v2; https://lore.kernel.org/LIST/0); without one
mails are invented. It is copied, and exported as a maildir for the programs
that read one. Each program is filled from nothing into a fresh folder, all of
them one after the other in each round, and then asked how many messages it
finds. Printed are mails a second (median of the rounds), processor time, the
peak of memory of all processes of the program, the size of what it keeps; and
how many times as fast as each other program ours is, in the same round (median).

Debian's packages notmuch, maildir-utils and public-inbox are looked for in the
path; kernel-lore-mcp (a wheel for Python 3.12) in the folder that --kernel-lore
names, the bin of a venv. What is not there is named and left out.
The status is 1 when a program failed or does not hold all mails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.material import Material, invented_mails, make_epoch, prepare
from bench.measuring import ProgramFailed, Usage, median
from bench.peer_programs import Program, programs

#: How many times as fast as others ours is to be.
AIMS = {
    "patchlore": {"notmuch": 3.0, "mu": 2.0, "public-inbox": 10.0, "kernel-lore-mcp": 1.0},
    "patchlore sqlite": {"notmuch": 8.0, "mu": 5.0, "public-inbox": 25.0, "kernel-lore-mcp": 2.5},
    "patchlore facts": {"kernel-lore-mcp": 3.0},
}

#: So many mails may be missing: empty ones, doubles that are told apart in another way.
_TOLERANCE = 0.002

#: Mails that are invented when no epoch is named.
_INVENTED = 3000


class Result(Struct, kw_only=True):
    """What one program did in the rounds in which it took part."""

    name: str
    #: One for each round, in order; None in a round that it did not take part in.
    rounds: list[Usage | None] = []
    held: int = 0
    size: int = 0
    problem: str | None = None

    def rates(self, mails: int) -> list[float]:
        """Mails a second, by round."""
        return [mails / usage.seconds for usage in self.rounds if usage is not None]


class Report(Struct, kw_only=True):
    """The outcome of a run."""

    mails: int
    distinct: int
    size: int
    results: list[Result]
    left_out: dict[str, str]

    def ratio(self, ours: str, theirs: str) -> float | None:
        """How many times as fast one program is as the other: median of the common rounds."""
        by_name = {result.name: result for result in self.results}
        if ours not in by_name or theirs not in by_name:
            return None
        pairs = zip(by_name[ours].rounds, by_name[theirs].rounds, strict=False)
        ratios = [b.seconds / a.seconds for a, b in pairs if a is not None and b is not None]
        return median(ratios) if ratios else None

    def is_complete(self, result: Result) -> bool:
        """Whether a program holds all mails, but for a few that it counts in another way."""
        slack = max(1, int(self.mails * _TOLERANCE))
        return self.distinct - slack <= result.held <= self.mails


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and print it."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("epoch", nargs="?", type=Path, help="repository; invented mail without it")
    parser.add_argument("--mails", type=int, default=0, help="only the first N mails")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument(
        "--rounds-of", action="append", default=[], metavar="NAME=N",
        help="fewer rounds for a slow program",
    )  # fmt: skip
    parser.add_argument("--only", default="", metavar="NAME,NAME", help="leave out the others")
    parser.add_argument("--kernel-lore", type=Path, help="folder with kernel-lore-ingest")
    parser.add_argument("--scratch", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(arguments)
    every = programs(args.kernel_lore)
    fewer = dict(text.rsplit("=", 1) for text in args.rounds_of)
    wanted = [name for name in args.only.split(",") if name]
    for name in [*wanted, *fewer]:
        if name not in {program.name for program in every}:
            known = ", ".join(program.name for program in every)
            parser.error(f"there is no program '{name}': use {known}")
    chosen = [program for program in every if not wanted or program.name in wanted]
    with tempfile.TemporaryDirectory(prefix="patchlore-bench-", dir=args.scratch) as scratch:
        folder = Path(scratch)
        epoch = args.epoch
        if epoch is None:
            epoch = make_epoch(invented_mails(args.mails or _INVENTED), folder / "invented")
        material = prepare(epoch, folder / "mail", args.mails)
        rounds = {program.name: int(fewer.get(program.name, args.rounds)) for program in chosen}
        report = compare(chosen, material, rounds, folder)
    if args.json:
        print(msgspec.json.encode(report).decode())
    else:
        print("\n".join(lines(report)))
    whole = all(report.is_complete(result) and not result.problem for result in report.results)
    return 0 if whole else 1


def compare(
    chosen: Sequence[Program], material: Material, rounds: dict[str, int], scratch: Path
) -> Report:
    """Fill each of the programs in each round; ROUNDS says in how many each one takes part."""
    left_out = {
        program.name: reason for program in chosen if (reason := program.missing()) is not None
    }
    present = [program for program in chosen if program.name not in left_out]
    results = {program.name: Result(name=program.name) for program in present}
    for number in range(max(rounds.values(), default=0)):
        # Each begins a round once: nobody is always the one behind the slowest.
        turn = number % max(1, len(present))
        for program in [*present[turn:], *present[:turn]]:
            result = results[program.name]
            if number >= rounds[program.name] or result.problem:
                result.rounds.append(None)
                continue
            home = scratch / "home"
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            os.sync()  # what the one before has left to write is not for this one to wait for
            try:
                result.rounds.append(program.fill(home, material))
                result.held = program.count(home, material)
                result.size = program.size(home)
            except (ProgramFailed, OSError, ValueError, KeyError) as error:
                result.problem = str(error)
            _tell(f"round {number + 1}: {program.name}")
    shutil.rmtree(scratch / "home", ignore_errors=True)
    return Report(
        mails=material.mails,
        distinct=material.distinct,
        size=material.size,
        results=list(results.values()),
        left_out=left_out,
    )


def lines(report: Report) -> list[str]:
    """The report as a table."""
    text = [
        f"{report.mails:,} mails ({report.distinct:,} with a Message-ID of their own),"
        f" {report.size / 1e6:,.0f} MB as plain text",
        "",
        f"{'':24} {'mails/s':>8}  {'rounds':24} {'CPU ms/mail':>11} {'peak MB':>8}"
        f" {'kept MB':>8} {'x mail':>6} {'holds':>8}",
    ]
    for result in report.results:
        if result.problem:
            text.append(f"{result.name:24} FAILED: {result.problem}")
            continue
        rates = result.rates(report.mails)
        used = [usage for usage in result.rounds if usage is not None]
        processor = median([1000 * usage.processor / report.mails for usage in used])
        peak = max((usage.peak for usage in used), default=0) / 1e6
        lack = "" if report.is_complete(result) else "  NOT ALL MAILS"
        text.append(
            f"{result.name:24} {median(rates):>8,.0f}  {' '.join(f'{rate:.0f}' for rate in rates):24}"
            f" {processor:>11.2f} {peak:>8,.0f} {result.size / 1e6:>8,.1f}"
            f" {result.size / report.size:>6.2f} {result.held:>8,}{lack}"
        )
    text += [f"{name:24} left out: {reason}" for name, reason in report.left_out.items()]
    text += ["", "times as fast (aim)"]
    others = [result.name for result in report.results if result.name not in AIMS]
    for ours, aims in AIMS.items():
        parts = []
        for theirs in others:
            ratio = report.ratio(ours, theirs)
            if ratio is None:
                continue
            aim = aims.get(theirs)
            wish = f" ({aim:g}: {'met' if ratio >= aim else 'MISSED'})" if aim else ""
            parts.append(f"{theirs} {ratio:.2f}{wish}")
        if parts:
            text.append(f"  {ours:20} {'; '.join(parts)}")
    return text


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())

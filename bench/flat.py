"""Whether an archive costs the same for each mail, however many there are: time, memory, size.

    python -m bench.flat [EPOCH…] [--mails N] [--part N] [--engine NAME] [--rounds N] [--json]

From the mails of all EPOCHs (repositories of public-inbox) every k-th is taken,
so that N are left (--mails, 80,000), and of these again every k-th for a small
archive (--part, 8,000): both hold the same mixture of old and new, long and
short mails. Each is filled from nothing by `patchlore ingest`, text index
included. Printed are the time for a thousand mails in both (wall and
processor), the peak of memory of all processes together, the size of the
archive by the size of the mail as plain text, and the time of a second ingest
of the same source, to which nothing has been added.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.material import commits_of, invented_mails, mails_of, make_epoch
from bench.measuring import Usage, median, run, size_of
from bench.peer_programs import Patchlore

#: What is aimed at: growth of time, bytes of memory, sizes of the mail, seconds.
AIMS = {"growth": 1.2, "memory": 500e6, "size": 1.5, "again": 2.0}


class Fill(Struct, kw_only=True):
    """One archive, filled as often as there are rounds."""

    mails: int
    #: Bytes of the mails, and of the archive.
    plain: int
    size: int = 0
    rounds: list[Usage] = []
    #: Second runs over the same source, in seconds.
    again: list[float] = []

    @property
    def seconds(self) -> float:
        """Wall time for a thousand mails."""
        return 1000 * median([usage.seconds for usage in self.rounds]) / self.mails

    @property
    def processor(self) -> float:
        """Processor time for a thousand mails, in seconds."""
        return 1000 * median([usage.processor for usage in self.rounds]) / self.mails

    @property
    def peak(self) -> int:
        """The most memory of any round, in bytes."""
        return max(usage.peak for usage in self.rounds)


class Report(Struct, kw_only=True):
    """The small and the large archive."""

    engine: str
    part: Fill
    whole: Fill

    def verdicts(self) -> dict[str, tuple[float, float]]:
        """Each figure that has an aim, and the aim."""
        return {
            "time for a thousand mails, large / small": (
                self.whole.seconds / self.part.seconds, AIMS["growth"],
            ),
            "peak of memory, MB": (self.whole.peak / 1e6, AIMS["memory"] / 1e6),
            "archive by mail as plain text": (self.whole.size / self.whole.plain, AIMS["size"]),
            "second run, s": (median(self.whole.again), AIMS["again"]),
        }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurement and print it; 1 when an aim is missed."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("epoch", nargs="*", type=Path, help="repositories; invented mail without")
    parser.add_argument("--mails", type=int, default=80_000, help="default 80000")
    parser.add_argument("--part", type=int, default=8_000, help="default 8000")
    parser.add_argument("--engine", choices=("whoosh", "sqlite"), default="whoosh")
    parser.add_argument("--rounds", type=int, default=1, help="default 1")
    parser.add_argument("--scratch", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="patchlore-bench-", dir=args.scratch) as scratch:
        report = measure(Path(scratch), args.epoch, args.mails, args.part, args.engine, args.rounds)
    print(msgspec.json.encode(report).decode() if args.json else "\n".join(lines(report)))
    return 0 if all(value <= aim for value, aim in report.verdicts().values()) else 1


def measure(
    scratch: Path, epochs: Sequence[Path], mails: int, part: int, engine: str, rounds: int
) -> Report:
    """Fill both archives in SCRATCH, in turns."""
    if epochs:
        available = sum(commits_of(epoch) for epoch in epochs)
        source: Iterator[bytes] = chain.from_iterable(map(mails_of, epochs))
    else:
        available = mails
        source = invented_mails(mails)
    large = make_epoch(every(source, available, mails), scratch / "large")
    small = make_epoch(every(mails_of(large), commits_of(large), part), scratch / "small")
    fills = {}
    for epoch in (small, large):
        sizes = [len(mail) for mail in mails_of(epoch)]
        fills[epoch] = Fill(mails=len(sizes), plain=sum(sizes))
    program = Patchlore("patchlore", engine)
    for _ in range(rounds):
        for epoch, fill in fills.items():
            home = scratch / "home"
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            fill.rounds.append(program.fill_from(home, epoch))
            fill.size = size_of(home / "archive")
            command = [*program.command(home), "ingest", epoch]
            fill.again += [run(command)[0].seconds for _ in range(3)]
    return Report(engine=engine, part=fills[small], whole=fills[large])


def every(mails: Iterator[bytes], available: int, wanted: int) -> Iterator[bytes]:
    """Yield WANTED of the AVAILABLE mails, at even distances; all when there are no more."""
    taken = 0
    for number, mail in enumerate(mails, 1):
        if number * min(wanted, available) // available > taken:
            taken += 1
            yield mail


def lines(report: Report) -> list[str]:
    """The report as a table."""
    text = [
        f"engine {report.engine}",
        f"{'':22} {'small':>12} {'large':>12}",
        *(
            f"{name:22} {small:>12,.2f} {large:>12,.2f}"
            for name, small, large in (
                ("mails", report.part.mails, report.whole.mails),
                ("plain text, MB", report.part.plain / 1e6, report.whole.plain / 1e6),
                ("archive, MB", report.part.size / 1e6, report.whole.size / 1e6),
                ("s for 1,000 (wall)", report.part.seconds, report.whole.seconds),
                ("s for 1,000 (CPU)", report.part.processor, report.whole.processor),
                ("peak of memory, MB", report.part.peak / 1e6, report.whole.peak / 1e6),
                ("second run, s", median(report.part.again), median(report.whole.again)),
            )
        ),
        "",
    ]
    for name, (value, aim) in report.verdicts().items():
        text.append(f"{name:44} {value:>8.2f}  aim {aim:g}: {'met' if value <= aim else 'MISSED'}")
    return text


if __name__ == "__main__":
    raise SystemExit(main())

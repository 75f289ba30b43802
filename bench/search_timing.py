"""Times of questions and of whole programs: median, 95th percentile, processor time."""

from __future__ import annotations

import resource
import statistics
import subprocess
import time
from collections.abc import Sequence


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

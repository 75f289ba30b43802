"""Running a program to its end: wall time, processor time, memory of all its processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

#: Seconds between two looks at the memory of a program.
_INTERVAL = 0.2

_PAGE = os.sysconf("SC_PAGE_SIZE")


class ProgramFailed(Exception):
    """A program ended with another status than 0; the text is the end of what it said."""


class Usage(Struct):
    """What a program cost."""

    #: Wall time and processor time of it and all its children.
    seconds: float = 0.0
    processor: float = 0.0
    #: Bytes of all its processes together.  Files that are mapped do not count: the
    #: system drops them when memory is needed (git maps all of a repository's packs).
    peak: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return the cost of two programs that ran one after the other."""
        return Usage(
            self.seconds + other.seconds,
            self.processor + other.processor,
            max(self.peak, other.peak),
        )


def run(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> tuple[Usage, str]:
    """Run COMMAND to its end; return what it cost and what it printed, errors included.

    Raises ProgramFailed when its status is not 0, OSError when it can't be started.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=None if environment is None else dict(environment),
        cwd=folder,
        start_new_session=True,
    )
    watch = _MemoryWatch(process.pid)
    watch.start()
    with process:
        assert process.stdout is not None
        output = process.stdout.read().decode("utf-8", "replace")
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    # One that ends between two looks was never seen.
    peak = watch.stop() or used.ru_maxrss * 1024
    if process.returncode:
        words = " ".join(str(word) for word in command)
        raise ProgramFailed(f"{words} ended with {process.returncode}: {output[-2000:].strip()}")
    return Usage(seconds, used.ru_utime + used.ru_stime, peak), output


class _MemoryWatch(threading.Thread):
    """Adds up the memory of the processes of a session now and then."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._ended = threading.Event()
        self._peak = 0

    def run(self) -> None:
        """Look until the program has ended."""
        while not self._ended.wait(_INTERVAL):
            self._peak = max(self._peak, session_memory(self._session))

    def stop(self) -> int:
        """Return the most that was seen."""
        self._ended.set()
        self.join()
        return self._peak


def session_memory(session: int) -> int:
    """Return the bytes that all processes of a session have in memory, mapped files apart."""
    pages = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name of the program, in brackets, may have blanks and brackets in it.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            _, resident, shared, *_ = (folder / "statm").read_text().split()
        except (OSError, ValueError, IndexError):
            continue  # it has just ended
        pages += int(resident) - int(shared)
    return pages * _PAGE


def size_of(path: Path) -> int:
    """Return the bytes of all files in a folder, as they are on the disk: holes cost nothing."""
    return sum(
        min(status.st_blocks * 512, status.st_size)
        for file in path.rglob("*")
        if file.is_file() and not file.is_symlink()
        for status in [file.stat()]
    )


def median(values: Sequence[float]) -> float:
    """Return the median, 0 of nothing."""
    return statistics.median(values) if values else 0.0

"""One target in a process of its own: ``python -m fuzz.worker TARGET libFuzzer-options…``.

With ``--time TARGET FILE`` it prints the processor seconds that one execution
takes, not instrumented: instrumented code is several times as slow, so that
what seems slow while fuzzing is measured again before it counts.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

#: No execution may take longer, in seconds of the processor, for inputs up to BIG bytes.
LIMIT = 1.0
BIG = 1 << 20
#: One execution in so many has its input blown up to BIG bytes.
BLOWN_UP = 5000
FINDINGS = Path(__file__).parent / "findings"


def _seconds(run: Callable[[bytes], None], data: bytes) -> float:
    start = time.process_time()
    run(data)
    return time.process_time() - start


def measured(name: str, path: Path) -> float:
    """Seconds that the target NAME takes for the input in PATH, in a fresh process."""
    command = [sys.executable, "-m", "fuzz.worker", "--time", name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


class Watched:
    """The target NAME, timed; now and then it gets an input of BIG bytes.

    One line of a mail a thousand times over is what shows work that grows
    faster than its input: a part of the input, or all of it, is repeated.
    """

    def __init__(self, name: str, run: Callable[[bytes], None]) -> None:
        self.name = name
        self.run = run
        self.count = 0

    def __call__(self, data: bytes) -> None:
        """One execution, as libFuzzer wants it."""
        self.count += 1
        if self.count % BLOWN_UP == 0 and data:
            data = blown_up(data, self.count // BLOWN_UP)
        try:
            seconds = _seconds(self.run, data)
        except BaseException:
            self._keep("raises", data)
            raise
        if seconds > LIMIT:
            path = self._keep("slow", data)
            if measured(self.name, path) > LIMIT:
                raise RuntimeError(f"{self.name}: more than {LIMIT} s for {path}")
            path.unlink()

    def _keep(self, what: str, data: bytes) -> Path:
        FINDINGS.mkdir(exist_ok=True)
        digest = hashlib.sha256(data).hexdigest()[:12]
        path = FINDINGS / f"{self.name}-{what}-{digest}"
        path.write_bytes(data)
        return path


def blown_up(data: bytes, number: int) -> bytes:
    """DATA with a part of it repeated up to BIG bytes; NUMBER picks the part and keeps it odd."""
    lines = data.splitlines(keepends=True)
    start = number * 7919 % len(lines)
    way = number % 4
    if way == 0:
        before, part, after = b"", data, b""
    elif way == 1:
        span = lines[start : start + 1 + number % 3]
        before, part, after = b"".join(lines[:start]), b"".join(span), b"".join(lines[start + 1 :])
    elif way == 2:
        before, part, after = b"".join(lines[:start]), lines[start].rstrip(b"\r\n"), b"\n"
    else:
        at = number * 104729 % len(data)
        before, part, after = data[:at], data[at : at + 1 + number % 9], data[at:]
    count = (BIG - len(before) - len(after)) // max(len(part), 1)
    return (before + part * max(count, 1) + after)[:BIG]


def main() -> None:
    """Fuzz or measure, as the arguments say."""
    if sys.argv[1] == "--time":
        from fuzz.targets import TARGETS, leave_git_out

        leave_git_out()
        data = Path(sys.argv[3]).read_bytes()
        print(min(_seconds(TARGETS[sys.argv[2]].run, data) for _ in range(3)))
        return
    import atheris

    with atheris.instrument_imports(include=["patchlore"]):
        from fuzz.targets import TARGETS, leave_git_out
    leave_git_out()
    name = sys.argv[1]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], Watched(name, TARGETS[name].run))
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""The recorded hard cases and the seeds that stand beside a checkout, where there are any."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
SCORER = SHARED / "tools" / "score_cases.py"
#: What `patchlore parse` does, without the command line.
PARSE = """
import sys
import msgspec
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.reading import read_source

encoder = msgspec.json.Encoder()
for path in sys.argv[1:]:
    for item in read_source(path):
        if isinstance(item, Raw):
            sys.stdout.buffer.write(encoder.encode(parse_raw(item)) + b"\\n")
"""


@pytest.mark.skipif(not SCORER.exists(), reason="no recorded cases: ../shared is not here")
@pytest.mark.parametrize("folder", ["cases", "seeds"])
def test_every_recorded_case_passes(folder: str) -> None:
    """Each input of the folder gives the facts that are recorded beside it."""
    run = subprocess.run(
        [sys.executable, SCORER, "--cases", SHARED / folder, "--", sys.executable, "-c", PARSE],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "cases pass" in run.stdout


@pytest.mark.skipif(not SCORER.exists(), reason="no recorded cases: ../shared is not here")
def test_recorded_expectations_are_json() -> None:
    """The folder is whole: every input has its expectation."""
    for folder in (SHARED / "cases", SHARED / "seeds"):
        for case in folder.iterdir():
            if case.is_dir():
                json.loads((case / "expected.json").read_text(encoding="utf-8"))

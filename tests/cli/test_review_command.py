"""The command review: its text, its JSON against the schema, rounds that are not known."""

from __future__ import annotations

import json
import pathlib

import msgspec
import pytest

from patchlore.cli import main
from patchlore.commands.review import _numbers
from patchlore.commands.schemas import TYPES
from patchlore.library import Library
from tests.kb.test_review import FIX, RC1, SHAS, answer, fill

HOSTILE = answer(
    "hostile", "NAK \x1b[31mred\x1b[0m", "rc1-0@example.org", "rc1-1@example.org",
    sender="\x1b]0;Eve\x07 <eve@example.org>",
)  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An archive of a round of three patches, one of them missing, and what answers it."""
    tested = answer("t", "Tested-by: Bo Tern <bo@example.org>", "rc1-0@example.org")
    mails = [RC1[0], RC1[1], RC1[2], FIX, tested, HOSTILE]
    return fill(tmp_path_factory.mktemp("round"), *mails)


def test_text_tells_everything(archive: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Deadline, objections, tags, pending fixes, patches with their commits, what is missing."""
    capfd.readouterr()
    assert main(["--archive", str(archive), "review", "6.6.9"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("6.6.9-rc1: review of 6.6, 3 patches, 2 of them in the archive\n")
    assert "  deadline: 2023-12-13T20:00:00+05:30 (Wednesday, 13 December 2023" in out
    assert "  2023-12-12  patch 1: refuses it" in out
    assert "  2023-12-12  the round: Tested-by: Bo Tern <bo@example.org>" in out
    assert f"    fixes {SHAS[2][:12]}, patch 2; posted 2023-12-09\n" in out
    assert f"     2  {SHAS[2][:12]}  queued     clock: mend wheel 2\n" in out
    assert "  1 patch not in the archive: 3\n" in out
    assert "\x1b" not in out


def test_json_has_the_schema(archive: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One object with all fields of its type and no other; the library gives the same."""
    capfd.readouterr()
    assert main(["--archive", str(archive), "review", "6.6.9-rc1", "--json"]) == 0
    out = capfd.readouterr().out
    decoded = msgspec.json.decode(out, type=TYPES["review"])
    assert msgspec.to_builtins(decoded) == json.loads(out)
    with Library(archive) as library:
        assert library.review("6.6") == decoded


def test_an_unknown_round_is_status_1(
    archive: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The sentence on standard error names the nearest; nothing is printed."""
    capfd.readouterr()
    assert main(["--archive", str(archive), "review", "6.6.10-rc1"]) == 1
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "is of a review round 6.6.10-rc1; the nearest are 6.6.9-rc1." in printed.err


def test_numbers_are_written_as_ranges() -> None:
    """Runs of numbers are one range."""
    assert _numbers([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
    assert _numbers([]) == ""

"""Mails of so many lines, or of so many lines with the same words, that a reader stays busy."""

from __future__ import annotations

import time

import pytest

from patchlore.ingest.facts.commands import MAX_COMMANDS
from patchlore.ingest.facts.context import MAX_MENTIONS
from patchlore.ingest.message import Message
from patchlore.ingest.mime import MAX_LINES
from tests.ingest.letters import DIFF, letter, parse


def timed(data: bytes, form: str = "rfc822") -> Message:
    """The facts of DATA, which must not take long; on a busy machine five times as long."""
    start = time.process_time()
    message = parse(data, form)
    assert time.process_time() - start < 5
    return message


def codes(message: Message) -> list[str]:
    """The defects of a message."""
    return [defect.code for defect in message.defects]


@pytest.mark.parametrize("form", ["rfc822", "patch"])
def test_lines(form: str) -> None:
    """A million empty lines: the first ones are read, and a diff below them is not."""
    text = "\n" * 1_000_000 + DIFF
    message = timed(letter(text) if form == "rfc822" else ("x\n" + text).encode(), form)
    assert len(message.line_kinds) == MAX_LINES
    assert codes(message) == ["text-too-long"]
    assert not message.is_patch


def test_patch_that_is_cut() -> None:
    """What is left of a patch is not offered for use, even if the cut leaves whole hunks."""
    head = "Dim.\n\n---\n" + "".join(DIFF.replace("lamp.c", f"lamp{n}.c") for n in range(3))
    count = (MAX_LINES - head.count("\n")) // DIFF.count("\n") + 5
    message = timed(letter(head + DIFF * count))
    assert message.is_patch
    assert "text-too-long" in codes(message)
    assert not message.applicable
    assert message.patch_id is None


@pytest.mark.parametrize("line", ["gcc 1", "PR", "PR c/1234", "commit x"])
def test_mentions(line: str) -> None:
    """Facts are sought in the first 20,000 lines with a word, and that is told once."""
    message = timed(letter(f"{line}\n" * 100_000, subject="lamp"))
    assert len(message.evidence) <= 4 * MAX_MENTIONS
    assert codes(message) == ["too-many-mentions"]


def test_commands() -> None:
    """A robot is not given more than a hundred commands."""
    message = timed(letter("#syz invalid\n" * 50_000, subject="lamp"))
    assert len(message.commands) == MAX_COMMANDS

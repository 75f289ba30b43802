"""Evidence for commits and bugs in rows: found by value or word, in linear time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from patchlore.ingest.message import Evidence, Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.referring import MAX_TEXT, FoundAt
from patchlore.kb.shaping import Shaped, shape

_SOURCE = Source(path="x", format="mail", offset=0)
_HEADERS = (
    "From: Ada Quill <ada@example.org>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n"
    "Message-ID: <1@example.org>\nSubject: [PATCH] lamp: shine\n\n"
)


def _shape(body: str) -> Shaped:
    data = (_HEADERS + body).encode()
    return shape(parse_raw(Raw(data=data, source=_SOURCE)))


@pytest.mark.parametrize(
    "line",
    [
        lambda number: f"PR target/{number + 1}\n",
        lambda number: f'Fixes: {number + 1:012x} ("lamp: shine")\n',
        lambda number: f"commit {number + 1:040x} upstream.\n",
        lambda number: f"This reverts commit {number + 1:040x}.\n",
        lambda number: f"Cc: <stable@vger.kernel.org> # {number + (1 << 40):012x}: lamp\n",
        lambda number: f"Cc: <stable@vger.kernel.org> # v5.{number}+\n",
        lambda number: f"https://bugzilla.kernel.org/show_bug.cgi?id={number + 1000}\n",
    ],
    ids=["pr", "fixes", "upstream", "reverts", "prerequisites", "ranges", "bugs"],
)
def test_a_mail_with_very_many_facts_is_no_burden(line: Callable[[int], str]) -> None:
    """30,000 facts in one mail take seconds of the processor, not minutes."""
    start = time.process_time()
    _shape("".join(map(line, range(30_000))))
    assert time.process_time() - start < 15


def test_facts_of_one_long_line_are_no_burden() -> None:
    """The proof of a fact is looked for around it, not from end to end of its line."""
    start = time.process_time()
    shaped = _shape("".join(f"PR target/{number + 1} " for number in range(20_000)))
    assert time.process_time() - start < 15
    assert all(len(str(row[8])) <= MAX_TEXT for row in shaped.bugs)


def _found(value: str, *items: tuple[str, str]) -> str | None:
    evidence = [
        Evidence(fact="fixes", value=name, line=number, text=text, rule="r", span=None)
        for number, (name, text) in enumerate(items, 1)
    ]
    found = FoundAt(Message(source=_SOURCE, evidence=evidence)).of(value, "reverts", "fixes")
    return None if found is None else found.text


def test_evidence_is_found_by_its_value_first() -> None:
    """A line that names a value besides another is only taken when none has just that value."""
    assert _found("abc1", ("abc2", "not abc1"), ("abc1", "Fixes: abc1")) == "Fixes: abc1"


def test_evidence_is_found_by_words_of_value_and_text() -> None:
    """``base-commit abc1`` is evidence for abc1, and a note for its words."""
    assert _found("abc1", ("base-commit ABC1", "first")) == "first"
    assert _found("5.7+: abc1", ("x", "Cc: stable # 5.7+: ABC1")) == "Cc: stable # 5.7+: ABC1"
    assert _found("abc3", ("abc1", "abc2")) is None

"""What stable maintainers answer, and what people ask them for."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from patchlore.ingest.message import (
    Applied,
    Evidence,
    Message,
    Person,
)
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.kb.backports import Row, backports
from patchlore.kb.filling import fill
from patchlore.kb.history import events_of_commit
from patchlore.kb.store import Archive
from tests.kb.mails import BO, NOON, OTHER, UPSTREAM, message, source, tags
from tests.kb.postings import DAY, notice, posting, rows


def reply_of(sender: Person, **fields: Any) -> Message:
    """Return a reply "Now queued up, thanks." to the first posting."""
    values: dict[str, Any] = {
        "from_": sender,
        "is_reply": True,
        "references": ["posting-1@example.org"],
        "in_reply_to": "posting-1@example.org",
        "timestamp": NOON + 2 * DAY,
        "applied": [Applied(by=sender.name)],
        "evidence": [
            Evidence(
                fact="applied",
                value="",
                line=3,
                rule="by-hand",
                text="Now queued up, thanks.",
                confidence="low",
            )
        ],
        **fields,
    }
    return message("queued@example.org", **values)


GREG = Person(name="Greg Kroah-Hartman", email="gregkh@linuxfoundation.org")


def test_a_maintainers_word_queues_a_posting(tmp_path: pathlib.Path) -> None:
    """ "Now queued up, thanks." is a weak proof, and a proof."""
    (row,) = rows(tmp_path, "5.10", posting(1), reply_of(GREG))
    assert (row.state, row.event.confidence, row.event.line) == ("queued", "low", 3)
    assert row.event.text == "Now queued up, thanks."
    with Archive(tmp_path) as archive:
        assert [event.kind for event in events_of_commit(archive, [UPSTREAM])] == [
            "posted",
            "queued",
        ]


def test_nobody_elses_word_does(tmp_path: pathlib.Path) -> None:
    """ "Applied to my test branch" of a reader is no queue of a stable tree."""
    (row,) = rows(tmp_path, "5.10", posting(1), reply_of(BO))
    assert row.state == "in-flight"


def test_who_sends_notices_is_a_maintainer(tmp_path: pathlib.Path) -> None:
    """The archive itself shows who keeps the queues."""
    added = notice(5, "added", sha=OTHER, from_=BO)
    found = {row.sha: row.state for row in rows(tmp_path, "5.10", posting(1), reply_of(BO), added)}
    assert found == {UPSTREAM: "queued", OTHER: "queued"}


def test_a_word_to_the_cover_queues_all_patches(tmp_path: pathlib.Path) -> None:
    """A cover letter names no commit, the patches below it do."""
    cover = message(
        "cover@example.org", subject="[PATCH 5.10 0/2] x", subject_tags=tags("5.10.y"),
        is_cover_letter=True,
    )  # fmt: skip
    below: dict[str, Any] = {
        "in_reply_to": "cover@example.org",
        "references": ["cover@example.org"],
    }
    word = reply_of(GREG, **below)
    patches = [posting(1, **below), posting(2, OTHER, **below, subject="[PATCH 5.10] tock")]
    assert [row.state for row in rows(tmp_path, "5.10", cover, *patches, word)] == ["queued"] * 2


def test_a_request_nominates_for_each_tree_that_it_names(tmp_path: pathlib.Path) -> None:
    """Each commit for its own trees, with the line of the commit."""
    data = f"""\
From: Ada Quill <ada@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0000
To: stable@vger.kernel.org
Subject: please take two clocks
Message-ID: <request@example.org>

Please apply this commit to 5.15.y and 6.1.y:

{UPSTREAM[:12]} ("tick: use two")

And please apply this one to 6.6.y:

{OTHER[:12]} ("tock: use one")
"""
    raw = Raw(data=data.encode(), source=source(format="rfc822"))
    with Archive(tmp_path, write=True) as archive:
        archive.add([parse_raw(raw)], [raw])
        found = {
            tree: [(row.sha, row.reason, row.event.line) for row in backports(archive, tree)]
            for tree in ("5.10", "5.15", "6.1", "6.6")
        }
        told = {event.tree for event in events_of_commit(archive, [UPSTREAM[:12]])}
    one = [(UPSTREAM[:12], "nominated (asked for)", 3)]
    other = [(OTHER[:12], "nominated (asked for)", 7)]
    assert found == {"5.10": [], "5.15": one, "6.1": one, "6.6": other}
    assert told == {"5.15.y", "6.1.y"}


def asked(tmp_path: pathlib.Path, text: str, tree: str) -> list[Row]:
    """Return the list of a tree that a reply with this text is the only mail about."""
    (tmp_path / "reply.eml").write_text(
        "From: Bo Tern <bo@example.org>\nDate: Wed, 3 Jan 2024 03:04:05 +0000\n"
        "Subject: Re: [PATCH] lamp: glow\nMessage-ID: <asks@example.org>\n"
        f"In-Reply-To: <one@example.org>\n\n> It glows, doesn't it?\n\n{text}\n"
    )
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "reply.eml")], jobs=0)
        return backports(archive, tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (f"Please pick upstream commit {UPSTREAM} for 5.13.", "5.13"),
        (f"Please queue up commit {UPSTREAM} for 5.10.", "5.10"),
        (f"Could you please apply {UPSTREAM[:12]} to 5.4.y, too?", "5.4"),
        (f'Can you backport commit {UPSTREAM} ("lamp: dim") to 6.1-stable?', "6.1"),
    ],
)
def test_a_request_in_a_reply_nominates(tmp_path: pathlib.Path, text: str, tree: str) -> None:
    """Whoever answers a patch asks for a commit as others do; its line is the proof."""
    (row,) = asked(tmp_path, text, tree)
    assert (row.state, row.sha) == ("nominated", UPSTREAM[: len(row.sha or "")])
    assert (row.event.line, row.event.text, row.event.key) == (3, text, "asks@example.org")


@pytest.mark.parametrize(
    "text",
    [
        f"Please don't pick {UPSTREAM} for 5.13.",
        f"> Please pick upstream commit {UPSTREAM} for 5.13.",
        f"I see it since upstream commit {UPSTREAM}, in 5.13 as well.",
    ],
)
def test_what_a_reply_does_not_ask_for_is_no_nomination(tmp_path: pathlib.Path, text: str) -> None:
    """A request that is denied, quoted, or none at all."""
    assert asked(tmp_path, text, "5.13") == []

"""Threads: loops, size, and what hangs together where no header says so."""

from __future__ import annotations

import pathlib
import time
from typing import Any

import pytest

from patchlore.ingest.message import Message, Page
from patchlore.kb.dossiers.threads import Node, thread_nodes
from patchlore.kb.store import Archive
from tests.kb.mails import NOON, message, raw_of, source


def tree(path: pathlib.Path, name: str, *messages: Message) -> list[tuple[int, str, str | None]]:
    """Store messages and return (depth, id, rule) of the nodes of a thread."""
    with Archive(path, write=True) as archive:
        archive.add(messages, [raw_of(item) for item in messages])
        return [(node.depth, short(node), node.rule) for node in thread_nodes(archive, name)]


def short(node: Node) -> str:
    """Return the local part of a node's id, in brackets when it was not seen."""
    text = node.text.partition("@")[0]
    return text if node.message is not None else f"({text})"


def mail(name: str, hour: int, **fields: Any) -> Message:
    """Return a mail; ``re`` in its fields makes it a reply in words."""
    is_reply = fields.pop("re", False)
    title = fields.pop("title", "why the clock ticks")
    return message(
        f"{name}@example.org",
        subject=f"Re: {title}" if is_reply else title,
        clean_subject=title,
        is_reply=is_reply,
        timestamp=NOON + hour * 3600,
        body=f"{name} says something about it, and at such a length that it counts.\n",
        **fields,
    )


def page(name: str, hour: int, number: int, **fields: Any) -> Message:
    """Return a mail from a page without references; its neighbours are the numbers around it."""
    return mail(
        name,
        hour,
        source=source(f"/pages/{number}", fidelity="masked", format="openwall-html"),
        page=Page(url=f"/pages/{number}", thread_prev=f"/pages/{number - 1}", thread_next=None),
        **fields,
    )


@pytest.mark.parametrize("turned", [False, True])
def test_a_reply_without_references_hangs_on_its_subject(
    tmp_path: pathlib.Path, turned: bool
) -> None:
    """The last resort, and marked so; whichever of the two came first and is asked for."""
    mails = [mail("first", 0), mail("answer", 5, re=True)]
    for name in ("first@example.org", "answer@example.org"):
        given = reversed(mails) if turned else mails
        assert tree(tmp_path / name, name, *given) == [(0, "first", None), (1, "answer", "subject")]


@pytest.mark.parametrize(
    "other",
    [
        mail("other", -24 * 90),
        mail("other", 10),
        mail("other", 0, title="something else"),
        mail("other", 0, lists=["gadgets"], source=source(list="gadgets")),
    ],
    ids=["long ago", "later", "another subject", "another list"],
)
def test_subjects_do_not_connect_everything(tmp_path: pathlib.Path, other: Message) -> None:
    """The same subject long ago, afterwards, or on another list is another conversation."""
    reply = mail("answer", 5, re=True)
    assert tree(tmp_path, "answer@example.org", other, reply) == [(0, "answer", None)]


def test_headers_go_before_subjects(tmp_path: pathlib.Path) -> None:
    """A reply with references hangs there alone."""
    found = tree(
        tmp_path,
        "answer@example.org",
        mail("first", 0),
        mail("answer", 5, re=True, references=["gone@example.org"], in_reply_to="gone@example.org"),
    )
    assert found == [(0, "(gone)", None), (1, "answer", None)]


def test_pages_say_what_follows_what(tmp_path: pathlib.Path) -> None:
    """Pages without References hang on the page before them in the thread."""
    mails = [page("one", 0, 1), page("two", 1, 2, re=True), page("three", 2, 3, re=True)]
    for name in ("one", "three"):
        assert tree(tmp_path / name, f"{name}@example.org", *reversed(mails)) == [
            (0, "one", None),
            (1, "two", "page"),
            (2, "three", "page"),
        ]


def test_references_that_loop_are_a_tree(tmp_path: pathlib.Path) -> None:
    """Three mails that answer each other in a circle are each shown once."""
    names = ["a", "b", "c"]
    mails = [
        mail(
            name,
            n,
            in_reply_to=f"{names[n - 1]}@example.org",
            references=[f"{names[n - 1]}@example.org"],
        )
        for n, name in enumerate(names)
    ]
    found = tree(tmp_path, "b@example.org", *mails)
    assert sorted(name for _, name, _ in found) == names


def test_pages_that_loop_are_a_tree(tmp_path: pathlib.Path) -> None:
    """A page that is its own neighbour, or the last before the first, ends nowhere."""
    loop = page("one", 0, 1)
    assert loop.page is not None
    loop.page.thread_prev = "/pages/2"
    found = tree(tmp_path, "one@example.org", loop, page("two", 1, 2))
    assert sorted(name for _, name, _ in found) == ["one", "two"]


def test_a_thread_of_five_thousand_mails_is_shown_at_once(tmp_path: pathlib.Path) -> None:
    """Deep, wide, with orphans: no recursion, nothing quadratic."""
    mails = [mail("m0", 0)]
    for n in range(1, 5000):
        parent = f"m{n - 1 if n < 2500 else n % 100}@example.org"
        fields: dict[str, Any] = {"in_reply_to": parent, "references": [parent]}
        mails.append(mail(f"m{n}", n % 1000, re=True, **({} if n % 50 == 49 else fields)))
    with Archive(tmp_path, write=True) as archive:
        archive.add(mails, [raw_of(item) for item in mails])
        start = time.monotonic()
        nodes = thread_nodes(archive, "m4000@example.org")
        seconds = time.monotonic() - start
    assert len(nodes) == 5000
    assert max(node.depth for node in nodes) > 40
    assert seconds < 10

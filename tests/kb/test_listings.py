"""Index pages of archives: they thread and order mails whose pages have no references."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

import pytest

from patchlore.ingest.message import Message, Page
from patchlore.ingest.sources.items import Listed, Listing, Mark
from patchlore.kb.checking import check
from patchlore.kb.dossiers.threads import thread_nodes
from patchlore.kb.filling import fill
from patchlore.kb.parsed import prepare
from patchlore.kb.repairing import rescue
from patchlore.kb.store import Archive
from patchlore.kb.writing import Writer
from tests.kb.dumping import canonical
from tests.kb.mails import NOON, message, raw_of, source

INDEX = """<!-- MHonArc v2.6.19 -->
<html><head><title>lamp-devel: Thread Index</title></head><body>
[<a href="maillist.html">Date Index</a>] <a href="thrd12.html">Next Page</a>
<ul>
<li><strong><a name="00012" href="msg00012.html">why the clock ticks</a></strong>, <em>Ada</em>
<ul>
<li><strong><a name="00013" href="msg00013.html">it does not</a></strong>, <em>Bo</em>
<ul>
<li><strong><a name="00015" href="msg00015.html">it does</a></strong>, <em>Ada</em></li>
</ul></li>
</ul></li>
<li><strong><a name="00016" href="msg00016.html">why the lamp glows</a></strong>, <em>Bo</em></li>
</ul></body></html>
"""


def page(number: int, title: str, minute: int = 0, **fields: object) -> Message:
    """Return a mail of an archive's page, without references."""
    where = f"/pages/{number}"
    return message(
        f"{number}@example.org",
        subject=title,
        clean_subject=title,
        timestamp=NOON + minute * 60,
        body=f"{title}, says {number}, and goes on about it at such a length that it counts.\n",
        source=source(where, fidelity="masked", format="mhonarc-html"),
        page=Page(url=where, **fields),  # type: ignore[arg-type] # values of any field
    )


def listing(*entries: tuple[int, int | None], order: str = "thread") -> Listing:
    """Return an index of pages (number, position of the one that it answers)."""
    return Listing(
        path="/pages/threads.html",
        order=order,  # type: ignore[arg-type] # a literal in the tests below
        entries=tuple(Listed(url=f"/pages/{n}", parent=parent) for n, parent in entries),
    )


def store(path: pathlib.Path, mails: Sequence[Message], *listings: Listing) -> Archive:
    """Return an archive of mails and index pages, open for writing."""
    archive = Archive(path, write=True)
    Writer(archive).add([prepare(item, raw_of(item)) for item in mails], (), listings)
    return archive


def tree(archive: Archive, name: str) -> list[tuple[int, str, str | None]]:
    """Return depth, local part of the id, and rule of the nodes of a thread."""
    nodes = thread_nodes(archive, name)
    return [(node.depth, node.text.partition("@")[0], node.rule) for node in nodes]


THREE = [page(1, "why the clock ticks"), page(2, "it does not", 1), page(3, "it does", 2)]


@pytest.mark.parametrize("name", ["1@example.org", "2@example.org", "3@example.org"])
def test_an_index_threads_what_subjects_do_not(tmp_path: pathlib.Path, name: str) -> None:
    """Whichever mail of the thread is asked for."""
    with store(tmp_path, THREE, listing((1, None), (2, 0), (3, 1))) as archive:
        assert tree(archive, name) == [(0, "1", None), (1, "2", "index"), (2, "3", "index")]


@pytest.mark.parametrize("name", ["1@example.org", "3@example.org"])
def test_a_mail_that_was_not_seen_is_passed_over(tmp_path: pathlib.Path, name: str) -> None:
    """The answer to it hangs below what it answers."""
    with store(tmp_path, [THREE[0], THREE[2]], listing((1, None), (2, 0), (3, 1))) as archive:
        assert tree(archive, name) == [(0, "1", None), (1, "3", "index")]


def test_an_index_knows_better_than_neighbours(tmp_path: pathlib.Path) -> None:
    """What begins a thread by the index does not hang on the page before it."""
    other = page(2, "why the lamp glows", 1, thread_prev="/pages/1")
    with store(tmp_path, [THREE[0], other], listing((1, None), (2, None))) as archive:
        assert tree(archive, "1@example.org") == [(0, "1", None)]
        assert tree(archive, "2@example.org") == [(0, "2", None)]


def test_message_ids_of_an_index_name_mails_as_pages_do(tmp_path: pathlib.Path) -> None:
    """Pipermail's index has them; the raw mails have no page at all."""
    mails = [
        message(f"{n}@example.org", subject=t, clean_subject=t, timestamp=NOON + n, body=t * 9)
        for n, t in ((1, "why the clock ticks"), (2, "it does not"))
    ]
    ids = Listing(
        path="/pages/thread.html",
        order="thread",
        entries=(
            Listed(message_id="1@example.org"),
            Listed(message_id="2@example.org", parent=0),
        ),
    )
    with store(tmp_path, mails, ids) as archive:
        assert tree(archive, "2@example.org") == [(0, "1", None), (1, "2", "index")]
        assert check(archive).is_sound


@pytest.mark.parametrize("order", ["date", "thread"])
def test_mails_of_one_minute_are_in_the_order_of_the_index(
    tmp_path: pathlib.Path, order: str
) -> None:
    """Pages show minutes; the order of a day's index is that of arrival."""
    mails = [page(1, "why the clock ticks"), page(2, "so"), page(3, "so")]
    for answer in mails[1:]:
        answer.in_reply_to = "1@example.org"
        answer.references = ["1@example.org"]
    found = listing((1, None), (3, None), (2, None), order=order)
    with store(tmp_path, mails, found) as archive:
        assert [node[1] for node in tree(archive, "1@example.org")] == ["1", "3", "2"]


def test_an_index_that_is_read_again_takes_the_place_of_the_old_one(
    tmp_path: pathlib.Path,
) -> None:
    """A month's index grows until the month is over."""
    with store(tmp_path, THREE, listing((1, None), (2, None))) as archive:
        Writer(archive).add([], [Mark("index", "2")], [listing((1, None), (2, 0), (3, 1))])
        assert archive.value("SELECT count(*) FROM listing") == 1
        assert archive.value("SELECT count(*) FROM listed") == 3
        assert tree(archive, "2@example.org")[1:] == [(1, "2", "index"), (2, "3", "index")]


@pytest.mark.parametrize("batch", [1, 256])
def test_ingest_reads_index_pages(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """Beside mails or alone, once: an unchanged index is not read again."""
    monkeypatch.setattr("patchlore.kb.filling.BATCH_MAILS", batch)
    folder = tmp_path / "lamp-devel"
    folder.mkdir()
    (folder / "threads.html").write_text(INDEX)
    (folder / "mail.eml").write_text("From: a@example.org\nSubject: x\n\ny\n")
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(folder)], jobs=0)
        rows = archive.execute("SELECT page, parent FROM listed ORDER BY position").fetchall()
        assert rows == [
            (f"{folder}/msg00012", None),
            (f"{folder}/msg00013", 0),
            (f"{folder}/msg00015", 1),
            (f"{folder}/msg00016", None),
        ]
        before = canonical(archive)
        assert fill(archive, [str(folder)], jobs=0).read == 0
        assert canonical(archive) == before


def test_a_rescued_archive_keeps_its_index_pages(tmp_path: pathlib.Path) -> None:
    """They are rows of their own, made of no raw mail."""
    with store(tmp_path, THREE, listing((1, None), (2, 0), (3, 1))) as archive:
        before = tree(archive, "3@example.org")
    rescue(tmp_path)
    with Archive(tmp_path) as archive:
        assert tree(archive, "3@example.org") == before

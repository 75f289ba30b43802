"""Index pages of archives: the order of their mails, and who answers whom."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.index_pages import read_index, read_overview
from patchlore.ingest.sources.items import Listing
from patchlore.ingest.sources.reading import read_source
from tests.ingest.sources.samples import read, write
from tests.ingest.sources.test_lore import MESSAGE, THREAD

DAY = """<!DOCTYPE html>
<html><head><title>lamp-devel mailing list - 2023/06/08</title></head><body>
<a href="..">[month]</a> <a href="../..">[year]</a> <a href="../../..">[list]</a>
<ul>
<li><a href="1">[PATCH] lamp: dim &amp; glow</a> ("Finch (Lamps)" &lt;nora&#64;...mple.org&gt;)
<li><a href="2">Re: [PATCH] lamp</a> (Ole Brandt &lt;ole&#64;...mple.net&gt;)
</ul></body></html>
"""

PIPERMAIL = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">
<HTML><HEAD><title>The Lamp June 2023 Archive by thread</title></HEAD>
<BODY><h1>June 2023 Archives by thread</h1>
<ul><li> <b>Messages sorted by:</b> <a href="subject.html#start">[ subject ]</a></ul>
<p><b>Starting:</b> <i>Thu Jun  8</i><br>
<ul>
<!--0 01686207965/a-1@example.org- -->
<LI><A HREF="000466.html">[Lamp] dim
</A><A NAME="466">&nbsp;</A>
<I>Nora Finch
</I>
<UL>
<!--1 01686207965/a-1@example.org-01686208000/b@example.org- -->
<LI><A HREF="000467.html">[Lamp] dim
</A><A NAME="467">&nbsp;</A>
<I>Ole Brandt
</I>
<UL><UL>
<!--3 01686207965/a-1@example.org-01686208000/b@example.org-01686209000/c@example.org- -->
<LI><A HREF="000468.html">[Lamp] dim</A><A NAME="468">&nbsp;</A>
<I>Nora Finch
</I>
</UL></UL>
<!--1 01686207965/a-1@example.org-01686210000/d@example.org- -->
<LI><A HREF="000469.html">[Lamp] dim</A><A NAME="469">&nbsp;</A>
<I>Bo Reed
</I>
</UL>
<!--0 01686219999/e@example.org- -->
<LI><A HREF="000470.html">[Lamp] glow</A><A NAME="470">&nbsp;</A><I>Bo Reed
</I>
</ul></BODY></HTML>
"""

MHONARC = """<!-- MHonArc v2.6.19 -->
<html><head><title>lamp-devel: Thread Index</title></head><body>
[<a href="maillist.html">Date Index</a>] <a href="thrd12.html">Next Page</a>
<ul>
<li><strong><a name="00012" href="msg00012.html">[PATCH] dim</a></strong>, <em>Nora Finch</em>
<ul>
<li><strong><a name="00013" href="msg00013.html">Re: [PATCH] dim</a></strong>, <em>Bo Reed</em>
<ul>
<li><strong><a name="00015" href="msg00015.html">Re: [PATCH] dim</a></strong>, <em>Nora</em></li>
</ul></li>
<li><strong><a name="00014" href="msg00014.html">Re: [PATCH] dim</a></strong>, <em>Ole</em></li>
</ul></li>
<li><strong><a name="00016" href="msg00016.html">glow</a></strong>, <em>Bo Reed</em></li>
</ul></body></html>
"""


def listings(path: Path, text: str) -> tuple[list[Raw], list[Listing]]:
    """The mails and listings of a saved page."""
    found: list[Listing] = []
    items = list(read_source(write(path, text.encode()), on_listing=found.append))
    return [item for item in items if isinstance(item, Raw)], found


def test_a_day_of_openwall(tmp_path: Path) -> None:
    """Its links have the keys of the pages that they lead to."""
    raws, (found,) = listings(tmp_path / "lamp-devel/2023/06/08/index.html", DAY)
    assert not raws
    assert (found.list, found.order) == ("lamp-devel", "date")
    day = f"{tmp_path}/lamp-devel/2023/06/08"
    assert [(entry.url, entry.subject, entry.sender) for entry in found.entries] == [
        (f"{day}/1", "[PATCH] lamp: dim & glow", '"Finch (Lamps)" <nora@...mple.org>'),
        (f"{day}/2", "Re: [PATCH] lamp", "Ole Brandt <ole@...mple.net>"),
    ]


def test_a_month_of_openwall_lists_days(tmp_path: Path) -> None:
    """Its links are no mails."""
    text = DAY.replace("2023/06/08", "2023/06")
    assert listings(tmp_path / "index.html", text) == ([], [])


def test_a_thread_page_of_pipermail(tmp_path: Path) -> None:
    """Comments have the depth and the Message-IDs of the chain above."""
    _, (found,) = listings(tmp_path / "2023-June/thread.html", PIPERMAIL)
    assert found.order == "thread"
    assert [(e.message_id, e.depth, e.parent) for e in found.entries] == [
        ("a-1@example.org", 0, None),
        ("b@example.org", 1, 0),
        ("c@example.org", 3, 1),
        ("d@example.org", 1, 0),
        ("e@example.org", 0, None),
    ]
    first = found.entries[0]
    assert (first.subject, first.sender) == ("[Lamp] dim", "Nora Finch")
    assert first.url == f"{tmp_path}/2023-June/000466"


def test_a_thread_index_of_mhonarc(tmp_path: Path) -> None:
    """Nested lists; links to other index pages are no mails."""
    _, (found,) = listings(tmp_path / "threads.html", MHONARC)
    names = [(entry.url or "").rsplit("/", 1)[1] for entry in found.entries]
    assert names == ["msg00012", "msg00013", "msg00015", "msg00014", "msg00016"]
    assert [(entry.depth, entry.parent) for entry in found.entries] == [
        (0, None),
        (1, 0),
        (2, 1),
        (1, 0),
        (0, None),
    ]
    assert found.entries[1].sender == "Bo Reed"


@pytest.mark.parametrize("order", ["date", "subject", "author"])
def test_other_orders_have_no_depth(order: str) -> None:
    """Lists by subject are nested, too, and nobody answers anybody."""
    found = read_index(PIPERMAIL.replace("by thread", f"by {order}"), "date.html")
    assert found.order == order
    assert {(entry.depth, entry.parent) for entry in found.entries} == {(0, None)}


def test_the_overview_of_a_message_page(tmp_path: Path) -> None:
    """The page of a message says what thread it is in."""
    raws, (found,) = listings(tmp_path / "page", MESSAGE)
    assert len(raws) == 1
    assert [(e.message_id, e.depth, e.parent, e.subject) for e in found.entries] == [
        ("cover@example.org", 0, None, "[PATCH v2 0/2] lamp"),
        ("lamp-1@example.org", 1, 0, "[PATCH v2 1/2] lamp: dim"),
    ]


def test_a_nested_thread_page(tmp_path: Path) -> None:
    """Its lists say who answers whom; a flat one has only the order."""
    raws, (found,) = listings(tmp_path / "page", THREAD)
    assert len(raws) == 2
    assert found.order == "thread"
    assert [(e.message_id, e.depth, e.parent) for e in found.entries] == [
        ("cover@example.org", 0, None),
        ("a/b+1@example.org", 1, 0),
    ]
    _, (flat,) = listings(tmp_path / "flat", THREAD.replace("<ul>", "").replace("</ul>", ""))
    assert flat.order == "date"


def test_who_does_not_ask_gets_mail_only(tmp_path: Path) -> None:
    """And is told that a page named has none."""
    raws, problems, marks = read(write(tmp_path / "index.html", DAY.encode()))
    assert not raws
    assert [problem.code for problem in problems] == ["no-mail"]
    assert len(marks) == 1


PIECES = st.lists(
    st.sampled_from(
        ["<ul>", "</ul>", '<a href="1">', '<a href="msg00012.html">', "</a>",
         "<!--1 01686207965/a@b-", "-->", "<I>Nora", "(Ole)", "\n", "<title>by thread</title>",
         "2023-06-08  7:06 ` ",
         "Thread overview:", '<a\nhref="../a@b/">', "[this message]", "<!--99999 1/a@b- -->"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(PIECES | st.text(max_size=100))
def test_any_page_is_read(text: str) -> None:
    """Parents stand above their answers."""
    for found in (read_index(text, "a/index.html"), read_overview(text, "a", None)):
        for place, entry in enumerate(found.entries):
            assert entry.parent is None or entry.parent < place


@pytest.mark.parametrize(
    "filler",
    ["<!--0 01686207965/", "<ul>", '<a href="1">', '<a href="1">x</a> (', "<a ", "Thread overview:",
     "2023-06-08  7:06 ` x\n", '<a href="1">x</a><a name=1>&nbsp;', "<!--1 1686207965/a@b-"]
)  # fmt: skip
def test_hostile_pages_are_read_in_time(filler: str) -> None:
    """1 MiB of anything takes well under a second."""
    text = "<title>x by thread</title>Thread overview:\n" + filler * ((1 << 20) // len(filler))
    start = time.process_time()
    read_index(text, "a/index.html")
    read_overview(text, "a", "x@example.org")
    assert time.process_time() - start < 1.5

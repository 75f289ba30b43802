"""Keys of pages: the same page has the same key, wherever a link to it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.links import link_key, listed_key, page_key


@pytest.mark.parametrize(
    "path", ["l/lamp/08/7/index.html", "l/lamp/08/7.html", "l/lamp/08/7", "l/lamp/08/7/"]
)
def test_a_page_has_one_key(path: str) -> None:
    """However a copying tool named the file."""
    assert page_key(path) == "l/lamp/08/7"


@pytest.mark.parametrize("path", ["l/lamp/08/7/index.html", "l/lamp/08/7.html"])
@pytest.mark.parametrize(
    ("href", "key"),
    [
        ("6", "l/lamp/08/6"),
        ("../07/12", "l/lamp/07/12"),
        ("6.html#a", "l/lamp/08/6"),
        ("https://example.org/lamp/6.html", "https://example.org/lamp/6"),
        ("/lists/lamp/6", "/lists/lamp/6"),
        ("mailto:nora@example.org", None),
        ("javascript:x()", None),
        ("", None),
        ("#top", None),
    ],
)
def test_links_of_a_page(path: str, href: str, key: str | None) -> None:
    """A relative link counts from the page's URL; index.html is no folder of its own."""
    assert link_key(path, href) == key


@pytest.mark.parametrize(
    ("path", "href", "key"),
    [
        ("l/lamp/08/index.html", "7", "l/lamp/08/7"),
        ("l/lamp/08", "7", "l/lamp/08/7"),
        ("lamp/2023-June/thread.html", "000466.html", "lamp/2023-June/000466"),
        ("lamp/2023-June/thread.html", "/x/1.html", "/x/1"),
    ],
)
def test_links_of_an_index(path: str, href: str, key: str) -> None:
    """Those count from the index's own folder."""
    assert listed_key(path, href) == key


def test_a_message_knows_its_page() -> None:
    """Its key and those of its neighbours are facts of the message."""
    text = b"""<html><title>lamp - x</title><a href="6">[&lt;thread-prev]</a>
<a href="../09/2">[thread-next&gt;]</a><pre>
Date: Thu, 8 Jun 2023 09:06:05 +0200
From: Nora Finch &lt;nora&#64;...mple.org&gt;
Subject: x

Hi.
</pre>Powered by blists lists.openwall.net"""
    source = Source(path="lamp/08/7/index.html", format="openwall-html", fidelity="masked")
    page = parse_raw(Raw(data=text, source=source)).page
    assert page is not None
    assert (page.url, page.thread_prev, page.thread_next) == ("lamp/08/7", "lamp/08/6", "lamp/09/2")


def test_a_mail_is_no_page() -> None:
    """Only what a page showed has one."""
    source = Source(path="a.eml", format="rfc822")
    assert parse_raw(Raw(data=b"Subject: x\n\nHi.\n", source=source)).page is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_link(path: str, href: str) -> None:
    """Nothing raises."""
    page_key(path)
    link_key(path, href)
    listed_key(path, href)

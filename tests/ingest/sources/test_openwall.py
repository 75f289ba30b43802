"""Pages of openwall's archives, as HTML and as saved text."""

from __future__ import annotations

import pytest

from patchlore.ingest.detect import detect
from patchlore.ingest.sources.openwall import read_openwall_html, read_openwall_text
from tests.ingest.sources.samples import page

HTML = """<!DOCTYPE html>
<html><head><title>lamp-devel - Re: [PATCH] lamp: dim</title></head><body>
<b><a href="/">lists.openwall.net</a></b>
<a href="6">[&lt;prev]</a> <a href="8">[next&gt;]</a> <a href="3">[&lt;thread-prev]</a>
<a href="../09/2">[thread-next&gt;]</a> <a href=".">[day]</a> <a href="..">[month]</a>
<pre style="white-space: pre-wrap">
Message-ID: &lt;7&#64;example.org&gt;
Date:	Thu, 8 Jun 2023 09:06:05 +0200
From:	Nora Finch &lt;nora&#64;...mple.org&gt;
To:	Ole Brandt &lt;ole&#64;...mple.net&gt;,
	lamp-devel&#64;...mple.org
Subject: Re: [PATCH] lamp: dim,
 and blink

Hi,

&gt; +	int a = x &lt; y &amp;&amp; z;

fine.

<a href="https://example.org/" rel="nofollow">https://example.org/</a>

<span>View attachment "</span><a href="7/1">dim.patch</a>" of type "<b>text/plain</b>" (1 byte)

Download attachment "<a href="7/2" download>dim.patch</a>" of type "text/x-diff" (2 bytes)

Content of type "text/html" skipped
</pre>
<p><a href="https://www.openwall.com/blists/">Powered by blists</a> - more mailing lists
</body></html>
"""

TEXT = """lamp-devel - Re: [PATCH] lamp: dim

lists.openwall.net		lists / announce owl-users / lamp-devel
Open Source and information security mailing list archives

Hash Suite: Windows password security audit tool. GUI, reports in PDF.

[<prev] [next>] [<thread-prev] [day] [month] [year] [list]

Date:   Thu, 8 Jun 2023 09:06:05 +0200
From:   Nora Finch <nora@...mple.org>
CC:     "lamp-devel@...mple.org" <lamp-devel@...mple.org>,
        Ole Brandt <ole@...mple.net>
Subject: Re: [PATCH] lamp: dim,
 and blink

From: somebody
> Sent: 7 June 2023
> Why?

Because.

View attachment "dim lamp.c" of type "text/x-csrc" (7804 bytes)

Powered by blists - more mailing lists

Please check out the Open Source Software Security Wiki.
"""


def test_a_page_is_a_mail() -> None:
    """Headers are unfolded, tabs behind their colons dropped, masks kept as shown."""
    form = detect(HTML.encode())
    assert form is not None
    assert (form.name, form.fidelity_of(b"")) == ("openwall-html", "masked")
    made = read_openwall_html(page(HTML, form.name))
    assert made.headers == [
        ("Message-ID", "<7@example.org>"),
        ("Date", "Thu, 8 Jun 2023 09:06:05 +0200"),
        ("From", "Nora Finch <nora@...mple.org>"),
        ("To", "Ole Brandt <ole@...mple.net>, lamp-devel@...mple.org"),
        ("Subject", "Re: [PATCH] lamp: dim, and blink"),
    ]
    assert made.parts[0].text == (
        "Hi,\n\n> +	int a = x < y && z;\n\nfine.\n\nhttps://example.org/\n"
    )


def test_links_of_attachments_are_kept() -> None:
    """Two of the same name each have their own link; neither line is in the body."""
    made = read_openwall_html(page(HTML, "openwall-html"))
    found = [(a.filename, a.content_type, a.size, a.href, a.is_patch) for a in made.attachments]
    assert found == [
        ("dim.patch", "text/plain", 1, "7/1", True),
        ("dim.patch", "text/x-diff", 2, "7/2", True),
    ]
    assert [(defect.code, defect.text) for defect in made.defects] == [
        ("content-removed", 'Content of type "text/html" skipped')
    ]


def test_the_threading_of_a_page_is_a_hint() -> None:
    """There is no References header: these links are all that is known."""
    made = read_openwall_html(page(HTML, "openwall-html"))
    assert made.hints == {"list": "lamp-devel", "thread-prev": "3", "thread-next": "../09/2"}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_saved_text_is_a_mail(line_end: str) -> None:
    """Title, menu, advertisement, navigation and footer are left out."""
    text = TEXT.replace("\n", line_end)
    form = detect(text.encode())
    assert form is not None
    assert form.name == "openwall-text"
    made = read_openwall_text(page(text, form.name))
    assert [name for name, _ in made.headers] == ["Date", "From", "CC", "Subject"]
    assert made.get("cc") == (
        '"lamp-devel@...mple.org" <lamp-devel@...mple.org>, Ole Brandt <ole@...mple.net>'
    )
    assert made.get("subject") == "Re: [PATCH] lamp: dim, and blink"
    assert made.parts[0].text == ("From: somebody\n> Sent: 7 June 2023\n> Why?\n\nBecause.\n")
    (attached,) = made.attachments
    assert (attached.filename, attached.size, attached.href) == ("dim lamp.c", 7804, None)
    assert made.hints == {"list": "lamp-devel"}


def test_a_text_without_its_navigation_line_is_known_by_the_menu() -> None:
    """Some browsers leave the links out."""
    text = "\n".join(line for line in TEXT.split("\n") if "[next>]" not in line)
    form = detect(text.encode())
    assert form is not None
    assert form.name == "openwall-text"
    assert read_openwall_text(page(text, form.name)).get("date") is not None


def test_a_text_that_begins_with_its_navigation() -> None:
    """Somebody copied from there on."""
    text = TEXT[TEXT.index("[<prev]") :]
    form = detect(text.encode())
    assert form is not None
    assert form.name == "openwall-text"


def test_a_day_page_is_an_index() -> None:
    """It lists mails and has none."""
    head = b"<html><title>lamp-devel mailing list - 2023/06/08</title><ul><li><a href=1>x</a>"
    form = detect(head)
    assert form is not None
    assert form.name == "index-page"

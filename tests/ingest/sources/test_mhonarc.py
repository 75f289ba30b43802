"""Pages that MHonArc made, with its comments and without."""

from __future__ import annotations

import pytest

from patchlore.ingest.detect import detect
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.sources.mhonarc import read_mhonarc, rot13
from tests.ingest.sources.samples import page

FULL = """<!-- MHonArc v2.6.19 -->
<!--X-Subject: [PATCH] lamp: dim -->
<!--X-From-R13: [ben Tvapu <abenNrknzcyr.bet> -->
<!--X-Date: Thu, 8 Jun 2023 09:06:05 +0200 -->
<!--X-Message-Id: 7&#45;a@example.org -->
<!--X-Content-Type: text/plain -->
<!--X-Reference: 5@example.org -->
<!--X-Reference: 6@example.org -->
<!--X-Head-End-->
<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML//EN">
<html><head><title>[PATCH] lamp: dim</title></head><body>
[<a href="1">Date Prev</a>][<a href="2">Date Next</a>]
<!--X-MsgBody-->
<!--X-Subject-Header-Begin-->
<h1>[PATCH] lamp: dim</h1><hr>
<!--X-Subject-Header-End-->
<!--X-Head-of-Message-->
<ul>
<li><em>To</em>: lamp@xxxxxxxxxxx</li>
<li><em>Subject</em>: [PATCH] lamp: dim</li>
<li><em>From</em>: Nora Finch &lt;<a href="x">nora@xxxxxxxxxxx</a>&gt;</li>
<li><em>Date</em>: Thu, 8 Jun 2023 09:06:05 +0200</li>
</ul>
<!--X-Head-of-Message-End-->
<!--X-Head-Body-Sep-Begin--><hr><!--X-Head-Body-Sep-End-->
<!--X-Body-of-Message-->
<pre>Dim.

diff --git a/lamp.c b/lamp.c
-	a &lt; b
</pre>
<p><strong>Attachment:
<a href="pgp0.pgp"><tt>signature.asc</tt></a></strong><br>
<em>Description:</em> application/pgp-signature</p>
<!--X-Body-of-Message-End-->
<!--X-MsgBody-End-->
<ul><li><em>From</em>: somebody else</li></ul>
</body></html>
"""

PLAIN = """<html><body>
[<a href="p">Date Prev</a>][<a href="n">Date Next</a>][<a href="i">Thread Index</a>]
<h1>[PATCH] lamp: dim</h1>
<ul>
<li><em>Subject</em>: [PATCH] lamp: dim</li>
<li><em>From</em>: Nora Finch &lt;nora@xxxxxxxxxxx&gt;</li>
<li><em>Date</em>: Thu, 8 Jun 2023 09:06:05 +0200</li>
<li><em>Message-id</em>: &lt;7@xxxxxxxxxxx&gt;</li>
</ul>
<hr>
<pre>
Dim.
</pre>
<hr>
<ul><li><em>From</em>: the next mail</li></ul>
</body></html>
"""


def test_a_page_with_all_marks() -> None:
    """Headers from the list, ids from the comments, the body from between its marks."""
    form = detect(FULL.encode())
    assert form is not None
    assert (form.name, form.fidelity_of(b"")) == ("mhonarc-html", "masked")
    made = read_mhonarc(page(FULL, form.name))
    assert made.get("to") == "lamp@xxxxxxxxxxx"
    assert made.get("subject") == "[PATCH] lamp: dim"
    assert made.get("date") == "Thu, 8 Jun 2023 09:06:05 +0200"
    assert made.get("message-id") == "<7-a@example.org>"
    assert made.get("references") == "<5@example.org> <6@example.org>"
    assert made.parts[0].text == "Dim.\n\ndiff --git a/lamp.c b/lamp.c\n-	a < b\n"


def test_the_hidden_address_is_better_than_a_masked_one() -> None:
    """X-From-R13 has the address that the page masks."""
    made = read_mhonarc(page(FULL, "mhonarc-html"))
    assert made.get_all("from") == ["Mora Finch <nora@example.org>"]


def test_attachments_are_listed() -> None:
    """The paragraph that links one is no text of the mail."""
    (found,) = read_mhonarc(page(FULL, "mhonarc-html")).attachments
    assert (found.filename, found.href) == ("signature.asc", "pgp0.pgp")
    assert found.content_type == "application/pgp-signature"


def test_a_page_without_marks() -> None:
    """A site's template may drop the comments; a masked id names nothing."""
    form = detect(PLAIN.encode())
    assert form is not None
    assert form.name == "mhonarc-html"
    made = read_mhonarc(page(PLAIN, form.name))
    assert made.headers == [
        ("Subject", "[PATCH] lamp: dim"),
        ("From", "Nora Finch <nora@xxxxxxxxxxx>"),
        ("Date", "Thu, 8 Jun 2023 09:06:05 +0200"),
    ]
    assert made.parts[0].text == "Dim.\n"


def test_a_page_with_lines_for_headers() -> None:
    """lkml.iu.edu writes them without a list."""
    text = """<html><body><!--X-Subject: lamp: dim --><!--X-Head-End-->
<h1>lamp: dim</h1><!--X-Head-of-Message-->
<b>From:</b> Nora Finch<br><b>Date:</b> Thu Jun 08 2023 - 03:06:05 EST<br>
<!--X-Head-of-Message-End--><!--X-Body-of-Message--><pre>Dim.</pre>
<!--X-Body-of-Message-End--></body></html>"""
    made = read_mhonarc(page(text, "mhonarc-html"))
    assert dict(made.headers) == {
        "Subject": "lamp: dim",
        "From": "Nora Finch",
        "Date": "Thu Jun 08 2023 - 03:06:05 EST",
    }


def test_a_page_with_classes() -> None:
    """mail-archive.com marks header and body by class."""
    text = """<html><body><h1><span class="subject"><a>lamp: dim</a></span></h1>
<p><span class="sender pipe"><a>Nora Finch</a></span>
<span class="date"><a>Thu, 08 Jun 2023 00:06:05 -0700</a></span></p>
<div class="msgBody"><p>Dim.</p><pre>diff --git a/l b/l
</pre></div><div class="msgButtons">Reply</div></body></html>"""
    form = detect(text.encode())
    assert form is not None
    assert form.name == "mhonarc-html"
    made = read_mhonarc(page(text, form.name))
    assert made.headers == [
        ("Subject", "lamp: dim"),
        ("From", "Nora Finch"),
        ("Date", "Thu, 08 Jun 2023 00:06:05 -0700"),
    ]
    assert made.parts[0].text == "Dim.\ndiff --git a/l b/l\n"


@pytest.mark.parametrize(("hidden", "shown"), [("NZ[", "@L M"), ("nopqN", "abcd@")])
def test_the_rotation_hides_the_at_sign(hidden: str, shown: str) -> None:
    """The capitals rotate with their two neighbours, the small letters alone."""
    assert rot13(hidden) == shown.replace(" ", "")
    assert rot13(rot13(hidden)) == hidden


def test_an_index_is_no_message() -> None:
    """A thread index lists mails and has none."""
    form = detect(b"<!-- MHonArc v2.6.19 --><html><title>lamp: Thread Index</title><ul><li>x</ul>")
    assert form is not None
    assert form.name == "index-page"


IU = """<!-- MHonArc v2.6.16 -->
<!--X-Subject: Re: [PATCH] lamp: dim -->
<!--X-From-R13: @ben Tvapu <abenNrknzcyr.bet> -->
<!--X-Date: Fri, 20 Nov 2015 03:04:40 &#45;0500 (EST) -->
<!--X-Message-Id: 20151120080435.GA7@example.org -->
<!--X-Reference: 6@example.org -->
<!--X-Head-End-->
<html><head><title>Linux-Lamp: Re: [PATCH] lamp: dim</title></head><body>
<h1>Re: [PATCH] lamp: dim</h1>
<!--X-Head-of-Message-->
<strong>From:</strong> Nora Finch
<br>
<strong>Date:</strong> Fri Nov 20 2015 - 03:04:35 EST
<ul>
<li><strong>Next message:</strong> <a href="00013.html">Ole Brandt: "glow"</a>
<li><strong>Previous message:</strong> <a href="00011.html">Ole Brandt: "blink"</a>
<li><strong>In reply to:</strong> <a href="00007.html">Ole Brandt: "[PATCH] lamp: dim"</a>
<li><strong>Next in thread:</strong> <a href="00015.html">Bo Reed: "Re: lamp"</a>
<li><strong>Messages sorted by:</strong> <a href="date.html">[ date ]</a>
</ul><hr>
<!--X-Head-of-Message-End-->
<!--X-Body-of-Message-->
<pre>
On Thu, Ole wrote:
&gt; In reply to: <a href="00099.html">nobody</a>

No.
</pre>
<!--X-Body-of-Message-End-->
<!--X-MsgBody-End-->
</body></html>
"""


def test_a_page_of_lkml_iu_edu() -> None:
    """Its date has a zone by name, its sender's address is only in the comment."""
    made = read_mhonarc(page(IU, "mhonarc-html"))
    assert dict(made.headers) == {
        "Subject": "Re: [PATCH] lamp: dim",
        "From": "Nora Finch <nora@example.org>",
        "Date": "Fri Nov 20 2015 - 03:04:35 EST",
        "Message-ID": "<20151120080435.GA7@example.org>",
        "References": "<6@example.org>",
    }
    assert made.parts[0].text == "On Thu, Ole wrote:\n> In reply to: nobody\n\nNo.\n"
    found = parse_raw(page(IU, "mhonarc-html"))
    assert found.date_iso == "2015-11-20T03:04:35-05:00"


@pytest.mark.parametrize(
    ("links", "hints"),
    [
        (
            '[<a href="msg11.html">Prev in Thread</a>][<a href="msg13.html">Next in Thread</a>]',
            {"thread-prev": "msg11.html", "thread-next": "msg13.html"},
        ),
        (
            '<li>Previous by thread: <a href="msg11.html">Re: [PATCH] lamp: dim</a>'
            '<li>Next by thread: <strong><a href="msg13.html">glow</a></strong>',
            {"thread-prev": "msg11.html"},
        ),
        ('[<a href="msg11.html">Thread Prev</a>][<a href="msg13.html">Thread Next</a>]', {}),
        (
            "<!--X-Follow-Ups--><ul><li><strong>Follow-Ups</strong>:<ul><li>"
            '<a name="00013" href="msg00013.html">a</a><li><a href="msg00015.html">b</a></ul>'
            "<!--X-Follow-Ups-End--><!--X-References--><ul>"
            '<li><a href="msg00009.html">c</a><li><a href="msg00011.html">d</a></ul>'
            "<!--X-References-End-->",
            {"thread-prev": "msg00011.html", "thread-next": "msg00013.html"},
        ),
        (
            '<ul class="tSliceList"><li><a href="msg11.html">a</a><li class="tSliceCur">b'
            '<li><a href="msg13.html">c</a></ul>',
            {"thread-prev": "msg11.html", "thread-next": "msg13.html"},
        ),
        ('<a href="msg1.html">Date Prev</a>', {}),
    ],
)
def test_neighbours_in_the_thread(links: str, hints: dict[str, str]) -> None:
    """Links that may lead to another thread count only with the subject of this one."""
    made = read_mhonarc(page(FULL.replace("<!--X-MsgBody-End-->", links), "mhonarc-html"))
    assert made.hints == hints


def test_the_links_of_lkml_iu_edu_name_the_mail_that_was_answered() -> None:
    """Those in the body are the author's."""
    made = read_mhonarc(page(IU, "mhonarc-html"))
    assert made.hints == {"thread-prev": "00007.html", "thread-next": "00015.html"}


def test_the_form_to_reply_has_the_id() -> None:
    """mail-archive.com shows it nowhere else."""
    text = """<html><body><h1><span class="subject">lamp: dim</span></h1>
<span class="sender">Nora Finch</span> <span class="date">Thu, 08 Jun 2023 00:06:05 -0700</span>
<div class="msgBody"><pre>Dim.
</pre></div><form action="/mailto.php"><input type="hidden" name="msgid" value="7@example.org">
</form></body></html>"""
    assert read_mhonarc(page(text, "mhonarc-html")).get("message-id") == "<7@example.org>"

"""Pages of pipermail, and what its scrubber leaves of attachments."""

from __future__ import annotations

import pytest

from patchlore.ingest.detect import detect
from patchlore.ingest.sources.pipermail import read_pipermail, split_scrubbed
from tests.ingest.sources.samples import page

LINK = (
    "mailto:lamp%40example.org?Subject=Re%3A%20%5BLamp%5D%20dim&"
    "In-Reply-To=%3Ca%2Bb%3D7%40example.org%3E"
)
HTML = f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML>
 <HEAD>
   <TITLE> [Lamp] dim &lt;half&gt;
   </TITLE>
   <LINK REL="Index" HREF="index.html" >
   <LINK REL="made" HREF="{LINK}">
 </HEAD>
 <BODY BGCOLOR="#ffffff">
   <H1>[Lamp] dim &lt;half&gt;</H1>
    <B>Finch, Nora</B>
    <A HREF="{LINK}"
       TITLE="[Lamp] dim">nora.f at example.org
       </A><BR>
    <I>Thu Jun  8 09:06:05 CEST 2023</I>
    <P><UL>
        <LI>Previous message: <A HREF="000466.html">[Lamp] bright
</A></li>
    </UL>
    <HR>
<!--beginarticle-->
<PRE>Hi,

&gt;<i> a &lt; b
</I>
see <A HREF="http://example.org/">http://example.org/</A>.
-------------- next part --------------
A non-text attachment was scrubbed...
Name: dim.patch
Type: text/x-patch
Size: 312 bytes
Desc: not available
URL: &lt;<A HREF="http://example.org/a.bin">http://example.org/a.bin</A>&gt;
-------------- next part --------------
An HTML attachment was scrubbed...
URL: &lt;<A HREF="http://example.org/b.html">http://example.org/b.html</A>&gt;
-------------- next part --------------
diff --git a/lamp.c b/lamp.c
</PRE>

<!--endarticle-->
    <HR>
<P>more</BODY></HTML>
"""


def test_a_page_is_a_mail() -> None:
    """The Message-ID stands in the link to reply; the address's mask is undone."""
    form = detect(HTML.encode())
    assert form is not None
    assert (form.name, form.fidelity_of(b"")) == ("pipermail-html", "masked")
    made = read_pipermail(page(HTML, form.name))
    assert made.headers == [
        ("Message-ID", "<a+b=7@example.org>"),
        ("Subject", "[Lamp] dim <half>"),
        ("From", '"Finch, Nora" <nora.f@example.org>'),
        ("Date", "Thu Jun 8 09:06:05 CEST 2023"),
    ]
    assert made.hints == {"list": "lamp@example.org"}
    assert [part.text for part in made.parts] == [
        "Hi,\n\n> a < b\n\nsee http://example.org/.\n",
        "diff --git a/lamp.c b/lamp.c\n",
    ]


def test_scrubbed_attachments_are_listed() -> None:
    """What was scrubbed, and where it is now."""
    made = read_pipermail(page(HTML, "pipermail-html"))
    assert [(a.filename, a.content_type, a.size, a.href, a.is_patch) for a in made.attachments] == [
        ("dim.patch", "text/x-patch", 312, "http://example.org/a.bin", True),
        (None, "text/html", None, "http://example.org/b.html", False),
    ]


@pytest.mark.parametrize(
    ("block", "kind", "size"),
    [
        ("An embedded message was scrubbed...\nFrom: x\nSubject: y\nDate: z\nSize: 9\n", 1, None),
        ("An embedded and charset-unspecified text was scrubbed...\nName: a.diff\n", 2, None),
    ],
)
def test_other_forms_of_scrubbing(block: str, kind: int, size: int | None) -> None:
    """Mailman has a sentence for each kind of part."""
    texts, (found,) = split_scrubbed(
        "Hi\n-------------- next part --------------\n"
        + block
        + "URL: <http://example.org/c>\nbye\n"
    )
    assert texts == ["Hi\n", "bye\n"]
    assert (found.content_type, found.size) == ("message/rfc822" if kind == 1 else None, size)
    assert found.href == "http://example.org/c"
    assert found.is_patch == (kind == 2)


def test_a_month_by_thread_is_an_index() -> None:
    """It lists mails and has none."""
    head = (
        b"<!DOCTYPE HTML><HTML><title>The Lamp June 2023 Archive by thread</title>"
        b"<b>Messages sorted by:</b> <p><b>Starting:</b> <i>Thu Jun  8</i>"
    )
    form = detect(head)
    assert form is not None
    assert form.name == "index-page"


def test_a_mail_that_is_one_scrubbed_part() -> None:
    """There is no line above its notice, and no text."""
    texts, (found,) = split_scrubbed(
        "An HTML attachment was scrubbed...\nURL: http://example.org/a.htm\n"
    )
    assert texts == [""]
    assert (found.content_type, found.href) == ("text/html", "http://example.org/a.htm")


def test_skipped_content_runs_into_the_next_part() -> None:
    """Mailman writes no line end behind its notice."""
    texts, found = split_scrubbed(
        "Skipped content of type multipart/alternative-------------- next part --------------\n"
        "Below.\n"
    )
    assert texts == ["Below.\n"]
    assert [each.content_type for each in found] == ["multipart/alternative"]


def test_words_about_scrubbing_are_text() -> None:
    """A notice without a link is no attachment."""
    text = "An HTML attachment was scrubbed...\n\nWhy is that?\n"
    assert split_scrubbed(text) == ([text], [])

"""Pages of public-inbox: one message, and all of a thread."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.detect import detect
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.lore import read_lore
from tests.ingest.letters import DIFF, SHA
from tests.ingest.sources.samples import page, read, write
from tests.ingest.sources.test_patchwork_html import coloured

SIGNATURE = "-- \n2.41.0"
MESSAGE = f"""<html><head><title>[PATCH v2 1/2] lamp: dim - Nora Finch</title>
<style>pre{{white-space:pre-wrap}}</style></head><body><form
action="../"><pre><a
href="../?t=20230608">lamp-devel archive mirror</a>
<input
name=q
type=text /><input
type=submit
value=search /> <a
href=../_/text/help/>help</a></pre></form><pre
id=b>From: Nora Finch &lt;nora@example.org&gt;
To: lamp-devel@example.org,
	Ole Brandt &lt;ole@lists.example.net&gt;
Cc: stable@vger.example.org
Subject: <a
href="#r"
id=t>[PATCH v2 1/2] lamp: dim</a>
Date: Thu,  8 Jun 2023 09:06:05 +0200	[<a
href="#r">thread overview</a>]
Message-ID: &lt;lamp-1@example.org&gt; (<a
href="raw">raw</a>)
In-Reply-To: &lt;<a
href="../cover@example.org/">cover@example.org</a>&gt;

commit {SHA} upstream.

Link: <a
href="https://example.org/?a=1&amp;b=2">https://example.org/?a=1&amp;b=2</a>
Signed-off-by: Nora Finch &lt;nora@example.org&gt;
---
 <a
href="#iZ2e">lamp.c</a> | 2 +-

{coloured(DIFF)}{SIGNATURE}


</pre><hr><pre
id=r><a
href=#t>^</a> permalink <a
href="raw">raw</a> reply	[<a
href="../lamp-1@example.org/t/">flat</a>|nested] 3+ messages in thread

Thread overview: 3+ messages
2023-06-08  7:05 <a
href="../cover@example.org/">[PATCH v2 0/2] lamp</a> Nora Finch
2023-06-08  7:06 ` <b>[PATCH v2 1/2] lamp: dim</b> Nora Finch [this message]
</pre></body></html>
"""

THREAD = f"""<html><head><title>[PATCH v2 0/2] lamp</title></head><body><form
action="../../"><pre><a
href="../../">lamp-devel archive mirror</a></pre></form><pre>[<a
href="../t/">nested</a>]</pre><hr>
<ul><li><pre><a
href=#e1
id=m1>*</a> <b>[PATCH v2 0/2] lamp</b>
<b>@ 2023-06-08  7:05 Nora Finch</b>
  <a
href="#m2">2023-06-08  7:06 ` </a>[PATCH v2 1/2] lamp: dim Nora Finch
  <a
href="#r1">0 siblings, 2 replies; 3+ messages in thread</a>
From: Nora Finch @ 2023-06-08  7:05 UTC (<a
href="../../cover@example.org/">permalink</a> / <a
href="../../cover@example.org/raw">raw</a>)
  To: lamp-devel; +Cc: Ole Brandt, stable

Two fixes.

<a
href=#r1
id=e1>^</a> permalink <a
href="../../cover@example.org/raw">raw</a> reply	[flat|nested] 3+ messages in thread
</pre></li><li><ul><li><pre><a
href=#e2
id=m2>*</a> <b>[PATCH v2 1/2] lamp: dim</b>
<b>@ 2023-06-08  7:06 Nora Finch</b>
  <a
href="#r2">1 sibling, 0 replies; 3+ messages in thread</a>
From: Nora Finch @ 2023-06-08  7:06 UTC (<a
href="../../a%2Fb+1@example.org/">permalink</a> / <a
href="../../a%2Fb+1@example.org/raw">raw</a>)
  To: lamp-devel

Dim.
---
{coloured(DIFF)}
^ permalink raw reply	[flat|nested] 3+ messages in thread
</pre></li></ul></li></ul><hr><pre>end of thread, other threads:[<a
href="../../">~2023-06-09</a></pre></body></html>
"""

PARTS = """<html><body><pre
id=b>From: Nora Finch &lt;nora@example.org&gt;
Subject: lamp
Date: Thu, 8 Jun 2023 09:06:05 +0200	[<a
href="#r">thread overview</a>]
Message-ID: &lt;7@example.org&gt; (<a
href=raw>raw</a>)

[-- Attachment #1: Type: text/plain, Size: 12 bytes --]

See below.

<a
href=2-lamp.patch>[-- Attachment #2: lamp.patch --]
[-- Type: text/x-patch, Size: 312 bytes --]</a>

diff --git a/lamp.c b/lamp.c

<a
href="3-key.asc">[-- Attachment #3: key.asc --]
[-- Type: application/pgp-keys, Size: 99 bytes --]</a>
</pre></body></html>
"""


def test_a_message_page_is_a_mail(tmp_path: Path) -> None:
    """All that people read of a mail is there, and its diff is whole."""
    raws, problems, _ = read(write(tmp_path / "page", MESSAGE.encode()))
    assert not problems
    (found,) = [parse_raw(raw) for raw in raws]
    assert (found.source.format, found.source.fidelity) == ("lore-html", "rewritten")
    assert (found.message_id, found.in_reply_to) == ("lamp-1@example.org", "cover@example.org")
    assert found.subject == "[PATCH v2 1/2] lamp: dim"
    assert found.date_iso == "2023-06-08T09:06:05+02:00"
    assert [person.email for person in [*found.to, *found.cc]] == [
        "lamp-devel@example.org",
        "ole@lists.example.net",
        "stable@vger.example.org",
    ]
    assert found.upstream_commits == [SHA]
    assert found.links == ["https://example.org/?a=1&b=2"]
    assert found.applicable
    assert found.body.endswith("-- \n2.41.0\n")


def test_the_diff_keeps_its_patch_id() -> None:
    """Colours and escapes leave no trace."""
    mail = Raw(data=b"Subject: [PATCH] x\n\n" + DIFF.encode(), source=Source(path="m", format="m"))
    found = parse_raw(page(MESSAGE, "lore-html", "rewritten"))
    assert found.patch_id == parse_raw(mail).patch_id is not None


def test_a_thread_page_is_its_mails(tmp_path: Path) -> None:
    """Each entry is a mail; it shows names without addresses and minutes of UTC."""
    data = THREAD.encode()
    raws, problems, _ = read(write(tmp_path / "page", data))
    assert not problems
    first, second = [parse_raw(raw) for raw in raws]
    assert first.message_id == "cover@example.org"
    assert second.message_id == "a/b+1@example.org"
    assert first.subject == "[PATCH v2 0/2] lamp"
    assert first.from_ is not None
    assert (first.from_.name, first.from_.email) == ("Nora Finch", None)
    assert first.date_iso == "2023-06-08T07:05:00+00:00"
    assert [person.name for person in first.cc] == ["Ole Brandt", "stable"]
    assert first.body == "Two fixes.\n"
    assert second.is_patch
    assert second.applicable
    assert data[raws[1].source.offset :].startswith(raws[1].data)


def test_a_hidden_dot_is_undone() -> None:
    """The first dot of a domain, as a sign that no address has."""
    text = MESSAGE.replace("nora@example.org", "nora@example&#8226;org")
    found = parse_raw(page(text, "lore-html", "rewritten"))
    assert found.from_ is not None
    assert found.from_.email == "nora@example.org"
    assert [trailer.value for trailer in found.trailers] == ["Nora Finch <nora@example.org>"] or (
        found.trailers[-1].value == "Nora Finch <nora@example.org>"
    )


def test_attachments_are_told_by_their_part() -> None:
    """What is text is read; the others are links."""
    made = read_lore(page(PARTS, "lore-html"))
    assert [(part.text, part.filename) for part in made.parts] == [
        ("See below.\n", None),
        ("diff --git a/lamp.c b/lamp.c\n", "lamp.patch"),
    ]
    assert [(a.filename, a.content_type, a.size, a.href) for a in made.attachments] == [
        ("lamp.patch", "text/x-patch", 312, "2-lamp.patch"),
        ("key.asc", "application/pgp-keys", 99, "3-key.asc"),
    ]


def test_another_sites_page_is_not_lores() -> None:
    """A page with a link named raw."""
    form = detect(b'<html><body><a href="x">raw</a><a href="y">permalink</a></body></html>')
    assert form is not None
    assert form.name == "html"


PIECES = st.lists(
    st.sampled_from(
        [
            "<pre\nid=b>",
            "</pre>",
            "<a\nhref=#e1\nid=m1>*</a> <b>x</b>",
            "From: Nora @ 2023-06-08  7:05 UTC (",
            '<a\nhref="../a@b/">permalink</a>',
            "  To: a; +Cc: b",
            "\n",
            "Message-ID: &lt;7@x&gt;",
            "[-- Attachment #1: a --]",
            "[-- Type: text/x, Size: 1 bytes --]",
            "From: Nora",
            "Subject: x",
            "&#8226;",
            "@x\u2022y",
            "^ permalink raw reply",
        ]
    ),
    max_size=25,
).map("\n".join)


@given(PIECES | st.text(max_size=100))
def test_anything_is_read(text: str) -> None:
    """Pages in pieces."""
    read_lore(page(text, "lore-html"))
    read_lore(page("<a\nhref=x\nid=y>*</a> " + text, "lore-html"))


@pytest.mark.parametrize(
    "filler",
    [
        "<pre>",
        "<pre>From: x\nSubject: y\n</pre>",
        ">permalink</a>",
        "<a href=href=",
        "<a href=#e id=m>*</a> ",
        ">[-- Attachment #",
        "[-- Attachment #1: x --]\n",
        "@a\u2022",
    ],
)
def test_hostile_pages_are_read_in_time(filler: str) -> None:
    """1 MiB of anything takes well under a second."""
    for lead in ("<html><pre>", "<a href=#e id=m>*</a> ", "<pre>From: x\nSubject: y\n\n"):
        text = lead + filler * ((1 << 20) // len(filler))
        start = time.process_time()
        read_lore(page(text, "lore-html"))
        assert time.process_time() - start < 1.5

"""Pages of marc.info, as HTML and as saved text."""

from __future__ import annotations

import pytest

from patchlore.ingest.detect import detect
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.sources.marc import read_marc_html, read_marc_text, unmask
from tests.ingest.sources.samples import page

TEXT = """List:       lamp-devel
Subject:    [PATCH] lamp: dim
From:       Nora Finch <nora () example ! org>
Date:       2023-06-08 7:06:05
Message-ID: 7 () mail ! example ! org
[Download RAW message or body]

Dim.

Cc: stable () vger ! kernel ! org # 5.4+
-	if (dim () && !x)

[prev in list] [next in list] [prev in thread] [next in thread]
"""

HTML = """<html><head><title>'[PATCH] lamp: dim' - MARC</title></head><body><pre>
<b>[<a href="?l=x">prev in list</a>] [<a href="?l=y">next in list</a>]</b>
<font size="+1">
List:       <a href="?l=lamp-devel">lamp-devel</a>
Subject:    <a href="?t=1">[PATCH] lamp: dim</a>
From:       <a href="?a=1">Nora Finch &lt;nora () example ! org&gt;</a>
Date:       <a href="?l=d">2023-06-08 7:06:05</a>
Message-ID: <a href="?i=7">7 () mail ! example ! org</a></font>
[<a href="?q=raw">Download RAW message or <a href="?q=mbox">body</a>]

Dim.

Cc: stable () vger ! kernel ! org # 5.4+
-	if (dim () &amp;&amp; !x)

[<a href="?l=x">prev in list</a>] [<a href="?l=y">next in list</a>]
</pre></body></html>
"""

HEADERS = [
    ("Subject", "[PATCH] lamp: dim"),
    ("From", "Nora Finch <nora@example.org>"),
    ("Date", "2023-06-08 7:06:05"),
    ("Message-ID", "<7@mail.example.org>"),
]
BODY = "Dim.\n\nCc: stable@vger.kernel.org # 5.4+\n-	if (dim () && !x)\n"


def test_a_saved_text_is_a_mail() -> None:
    """The mask is undone in headers and body; code with "()" stays."""
    form = detect(TEXT.encode())
    assert form is not None
    assert (form.name, form.fidelity_of(b"")) == ("marc-text", "rewritten")
    made = read_marc_text(page(TEXT, form.name))
    assert made.headers == HEADERS
    assert made.parts[0].text == BODY
    assert made.hints == {"list": "lamp-devel"}


def test_a_page_is_a_mail() -> None:
    """The same from HTML."""
    form = detect(HTML.encode())
    assert form is not None
    assert form.name == "marc-html"
    made = read_marc_html(page(HTML, form.name))
    assert made.headers == HEADERS
    assert made.parts[0].text == BODY


def test_code_with_parentheses_is_no_address() -> None:
    """Only the whole form is undone: a word, " () ", and a host of several parts."""
    for code in ("call main () ! now", "if (dim () && !x)", "main () { x ! y }", "f() ! a"):
        assert unmask(code) == code
    assert unmask("a.b+c () x-y ! org, d () z ! net") == "a.b+c@x-y.org, d@z.net"


def test_a_page_knows_its_thread() -> None:
    """The link to the raw mail names the page itself."""
    text = HTML.replace("?q=raw", "?l=lamp-devel&amp;m=168620796501234&amp;q=raw").replace(
        "</pre>", '[<a href="?l=lamp-devel&amp;m=168620796500001&amp;w=2">prev in thread</a>]</pre>'
    )
    found = parse_raw(page(text, "marc-html", "rewritten")).page
    assert found is not None
    base = "https://marc.info/?l=lamp-devel&m=1686207965"
    assert (found.url, found.thread_prev, found.thread_next) == (
        f"{base}01234",
        f"{base}00001",
        None,
    )


@pytest.mark.parametrize("href", ["?l=x", "?m=12&l=", "http://[x/?l=a&m=1", "?m=x&l=a", "%"])
def test_other_links_are_no_pages(href: str) -> None:
    """Whatever stands in them."""
    read_marc_html(page(HTML.replace("?q=raw", href), "marc-html"))

"""Pages of lkml.org, as HTML and saved as text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.detect import detect
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.sources.lkml import read_lkml, read_lkml_text
from tests.ingest.letters import DIFF
from tests.ingest.sources.samples import page


def hidden(address: str, key: int = 0x2A) -> str:
    """ADDRESS as Cloudflare hides it."""
    octets = bytes([key, *(octet ^ key for octet in address.encode())])
    return (
        f'<a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="{octets.hex()}">'
        "[email&#160;protected]</a>"
    )


SIGNED = f"Signed-off-by: Nora Finch &lt;{hidden('nora@example.org')}&gt;"
HTML = f"""<!DOCTYPE html><html><head><title>LKML: Nora Finch: [PATCH] lamp: dim</title></head>
<body><table><tr><td><a href="/lkml/2023/6/8/7">[headers]</a></td></tr><tr><td><table>
<tr><td class="lp">Date</td><td class="rp"
 itemprop="datePublished">Thu, 8 Jun 2023 09:06:05 +0200</td></tr>
<tr><td class="lp">From</td><td class="rp" itemprop="author">Nora Finch &lt;&gt;</td></tr>
<tr><td class="lp">Subject</td><td class="rp" itemprop="name">[PATCH] lamp: dim</td></tr></table>
<pre itemprop="articleBody">if a &lt; b, dim.<br /><br />{SIGNED}
---<br />{DIFF.replace("<", "&lt;").replace(chr(10), "<br />")}</pre></td></tr></table>
<div>Last update: 2023-06-08 09:07</div></body></html>
"""

TEXT = """   [lkml]   [2023]   [Jun]   [8]   [last100]
   Views: [headers]   [forward]

DateThu, 8 Jun 2023 09:06:05 +0200FromNora Finch <>Subject[PATCH] lamp: dim

    Dim.

    > +	quoted

       indented

  \\
   \\ /
    Last update: 2023-06-08 09:07    [W:0.05 / U:0.1 seconds]
©2003-2023 Somebody
"""


def test_a_page_is_a_mail() -> None:
    """Labels in cells, the text in its own element, hidden addresses shown."""
    form = detect(HTML.encode())
    assert form is not None
    assert form.name == "lkml-html"
    found = parse_raw(page(HTML, form.name, form.fidelity_of(HTML.encode())))
    assert found.subject == "[PATCH] lamp: dim"
    assert found.date_iso == "2023-06-08T09:06:05+02:00"
    assert found.from_ is not None
    assert found.from_.name == "Nora Finch"
    assert found.message_id is None
    assert found.body.startswith("if a < b, dim.\n\nSigned-off-by: Nora Finch <nora@example.org>\n")
    assert [change.path for change in found.files] == ["lamp.c"]
    assert found.applicable


@pytest.mark.parametrize("labels", ["DateThu", "Date Thu", "Date\tThu"])
def test_a_saved_text_is_a_mail(labels: str) -> None:
    """Labels that run into their values; the indentation is the page's."""
    text = TEXT.replace("DateThu", labels).replace(
        "+0200From", "+0200\nFrom\t", labels != "DateThu"
    )
    form = detect(text.encode())
    assert form is not None
    assert form.name == "lkml-text"
    made = read_lkml_text(page(text, form.name))
    assert made.headers == [
        ("Date", "Thu, 8 Jun 2023 09:06:05 +0200"),
        ("From", "Nora Finch <>"),
        ("Subject", "[PATCH] lamp: dim"),
    ]
    assert made.parts[0].text == "Dim.\n\n> +	quoted\n\n   indented\n"


def test_a_mail_about_dates_is_no_page() -> None:
    """Words at the starts of lines are not enough."""
    form = detect(b"From: a@example.org\nDate: Thu, 8 Jun 2023 09:06:05 +0200\nSubject: x\n\nHi\n")
    assert form is not None
    assert form.name == "rfc822"


@given(st.text(max_size=100), st.sampled_from([HTML, TEXT]), st.integers(0, 1500))
def test_damaged_pages_are_read(noise: str, text: str, at: int) -> None:
    """Something in the middle of a page."""
    damaged = text[:at] + noise + text[at:]
    read_lkml(page(damaged, "lkml-html"))
    read_lkml_text(page(damaged, "lkml-text"))


@pytest.mark.parametrize(
    "filler",
    ["<td>Date</td>", "<td>", "Date", "Date 8 Jun 2023 09:06 From ", '<a data-cfemail="', "\n"],
)
def test_hostile_pages_are_read_in_time(filler: str) -> None:
    """1 MiB of anything takes well under a second."""
    for lead in ("<html>", '<html><pre itemprop="articleBody">'):
        text = lead + filler * ((1 << 20) // len(filler))
        start = time.process_time()
        read_lkml(page(text, "lkml-html"))
        read_lkml_text(page(text, "lkml-text"))
        assert time.process_time() - start < 2.5

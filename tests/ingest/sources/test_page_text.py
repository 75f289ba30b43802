"""Text extracts of archive pages: title, sender in brackets, body."""

from __future__ import annotations

import pytest

from patchlore.ingest.detect import detect
from patchlore.ingest.sources.page_text import read_page_text
from tests.ingest.sources.samples import page

TEXT = """Re: [PATCH] [RFT] lamp: dim

[Nora Finch]

On Thu, Jun 8, 2023, Ole Brandt <ole@xxxxxxxxxxx> wrote:
> diff --git a/lamp.c b/lamp.c

No.
"""


def test_an_extract_is_a_mail() -> None:
    """The sender has a name only; there is no date and no id."""
    form = detect(TEXT.encode())
    assert form is not None
    assert form.name == "archive-text"
    made = read_page_text(page(TEXT, form.name))
    assert made.headers == [("Subject", "Re: [PATCH] [RFT] lamp: dim"), ("From", "Nora Finch")]
    assert made.parts[0].text == TEXT[TEXT.index("On Thu") :]


@pytest.mark.parametrize(
    ("address", "fidelity"),
    [
        ("ole@xxxxxxxxxxx", "masked"),
        ("ole@...mple.net", "masked"),
        ("ole (at) example (dot) net", "masked"),
        ("ole@example\N{BULLET}net", "masked"),
        ("ole@example.net", "rewritten"),
    ],
)
def test_masks_decide_the_fidelity(address: str, fidelity: str) -> None:
    """Without a mask the text is whole, though its headers are gone."""
    text = TEXT.replace("ole@xxxxxxxxxxx", address).encode()
    form = detect(text)
    assert form is not None
    assert form.fidelity_of(text) == fidelity


@pytest.mark.parametrize(
    "text",
    [
        "A title\n\n[PATCH] lamp\n\nBody\n",
        "A title\n\n[PATCH 1/2]\n\nBody\n",
        "[core]\n\n[remote]\n\nx = y\n",
        "  indented\n\n[Nora]\n",
        "A title\n[Nora]\nBody at once\n",
        '[LEFT]\n\n   [LEFT "CENTER"]\n',
    ],
)
def test_other_texts_are_none(text: str) -> None:
    """A bracket alone makes no extract."""
    form = detect(text.encode())
    assert form is None or form.name != "archive-text"

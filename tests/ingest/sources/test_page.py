"""What the readers of pages share: trees of pages that nobody would write."""

from __future__ import annotations

import time

import pytest

from patchlore.ingest.sources.page import soup_of


@pytest.mark.parametrize("tag", ["<pre>", "<div>", "<table><tr><td>", "<b><i>"])
def test_tags_that_nobody_closes(tag: str) -> None:
    """However deep tags are nested, the text in them is kept, and time is linear."""
    start = time.process_time()
    soup = soup_of(f"{tag}dim\n" * 10_000)
    assert soup.get_text().count("dim") == 10_000
    assert time.process_time() - start < 5


def test_tags_beyond_the_deepest() -> None:
    """Tags that end below the limit leave those above as they are."""
    soup = soup_of("<div id=a>" + "<b>" * 500 + "x" + "</b>" * 500 + "<p>y</p></div><p>z</p>")
    found = soup.find(id="a")
    assert found is not None
    assert found.get_text() == "xy"
    assert [tag.get_text() for tag in soup.find_all("p")] == ["y", "z"]

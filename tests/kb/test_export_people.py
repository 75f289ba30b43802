"""Formats for people: Markdown and HTML, read back by other programs' parsers."""

from __future__ import annotations

import io
import pathlib
from html.parser import HTMLParser

import msgspec
import pytest
from markdown_it import MarkdownIt

from patchlore.kb.backports import Requirement, Row, backports
from patchlore.kb.export import writer
from patchlore.kb.export.plain import row_lines
from patchlore.kb.outcomes import Override, Tried
from patchlore.kb.store import Archive
from patchlore.kb.text import printable
from tests.kb.mails import OTHER, UPSTREAM, raw_of
from tests.kb.postings import notice, posting

HOSTILE = (
    "<script>alert(1)</script>",
    "[x](javascript:alert(1)) ![y](http://example.org/z.png)",
    "**b** _i_ ~~s~~ `c` | cell | https://example.org www.example.org @ada #12 :smile: $x$",
    "<!-- --> & &lt; &#60; \\| \\\\",
    "\u202eturned\u2069 \x1b[2J",
    "</td></tr></table><h1>x",
    "a\nb\r\n| c",
)


def write(path: pathlib.Path, name: str, *rows: Row) -> str:
    """Return rows in a format, or those of a list with every hostile title."""
    out = io.BytesIO()
    with Archive(path, write=True) as archive:
        if not rows:
            made = [
                posting(number, f"{number:040x}", clean_subject=title)
                for number, title in enumerate(HOSTILE, 1)
            ]
            made.append(notice(50, "added"))
            archive.add(made, [raw_of(item) for item in made])
            rows = tuple(backports(archive, "5.10"))
        assert writer(name)(archive, "5.10.y", rows, out) == []
    return out.getvalue().decode()


@pytest.fixture
def full(tmp_path: pathlib.Path) -> Row:
    """Return a row with all that one can have."""
    made = [posting(1), notice(2, "added")]
    with Archive(tmp_path / "full", write=True) as archive:
        archive.add(made, [raw_of(item) for item in made])
        (row,) = backports(archive, "5.10")
    return msgspec.structs.replace(
        row,
        state="opted-out",
        reason="overridden in own.txt:3: <not> for us",
        requires=[
            Requirement(sha=OTHER, subject="tick: begin", why="Stable-dep-of", is_present=False)
        ],
        notes=["6.1 has it not yet"],
        override=Override(
            file="own.txt",
            line=3,
            text="0123 ignore # <not> for us",
            reason="<not> for us",
            was="queued",
        ),
        tried=Tried(result="conflict", how="mail", what="x", conflicts=["tick.c"]),
    )


class Page(HTMLParser):
    """The elements of a page, and the text of each cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element; one without an end is none that is open."""
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        """Each end belongs to the element that was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text of a cell."""
        if "td" in self.open:
            self.cells[-1] += data


def test_the_page_has_our_elements_alone(tmp_path: pathlib.Path) -> None:
    """No title makes an element or an attribute; nothing is loaded and nothing runs."""
    page = Page(write(tmp_path, "html"))
    assert page.open == []
    names = {name for name, _ in page.elements}
    assert not names & {"script", "img", "link", "iframe", "a", "form", "object", "svg"}
    keys = {key for _, attributes in page.elements for key in attributes}
    assert keys <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert [name for name, _ in page.elements].count("h1") == 1
    (policy,) = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert (policy or "").startswith("default-src 'none'")


def test_the_page_shows_titles_as_they_are(tmp_path: pathlib.Path) -> None:
    """What a browser shows in a cell is the title, its controls visible."""
    page = Page(write(tmp_path, "html"))
    for title in HOSTILE:
        assert any(printable(title) in cell for cell in page.cells), title


def test_the_page_tells_all_of_a_row(tmp_path: pathlib.Path, full: Row) -> None:
    """Override, requirements, notes, trial and what happened before."""
    text = " ".join("".join(Page(write(tmp_path, "html", full)).cells).split())
    for part in (
        "opted-out",
        "overridden in own.txt:3: <not> for us",
        "own.txt:3: 0123 ignore # <not> for us",
        "also: 2024-01-03 posted",
        f'first: {OTHER} "tick: begin" (Stable-dep-of), not in the tree',
        "note: 6.1 has it not yet",
        "tried: conflict in tick.c",
    ):
        assert part in text


def tables(text: str) -> list[list[str]]:
    """Return the cells of each row of the tables of a Markdown text, as GFM shows them."""
    parser = MarkdownIt("gfm-like", {"linkify": False})
    page = Page(parser.render(text))
    assert {name for name, _ in page.elements} <= {
        "h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "br",
    }  # fmt: skip
    return [page.cells[start : start + 4] for start in range(0, len(page.cells), 4)]


def test_markdown_shows_titles_as_they_are(tmp_path: pathlib.Path) -> None:
    """No title makes a cell, an element, a link or a picture."""
    shown = [cells[1] for cells in tables(write(tmp_path, "md"))]
    assert sorted(shown) == sorted([*(printable(title) for title in HOSTILE), "tick: use two"])


def test_markdown_tells_all_of_a_row(tmp_path: pathlib.Path, full: Row) -> None:
    """Commit, title, why with all that is known, and the proof."""
    ((sha, title, why, proof),) = tables(write(tmp_path, "md", full))
    assert (sha, title) == (UPSTREAM, "tick: use two")
    assert why.startswith("overridden in own.txt:3: <not> for us")
    assert "also: 2024-01-04 added to the queue" in why
    assert "note: 6.1 has it not yet" in why
    assert proof == "own.txt:3: 0123 ignore # <not> for us"


def test_markdown_has_a_table_for_each_state(tmp_path: pathlib.Path) -> None:
    """With how many rows it has."""
    lines = write(tmp_path, "md").splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Backports for 5.10",
        "## in-flight: 7",
        "## queued: 1",
    ]


def test_text_tells_order_notes_and_trial(full: Row) -> None:
    """Below the proof of a row, a line each."""
    lines = row_lines(full)
    assert lines[2] == "  overridden in own.txt:3: <not> for us"
    assert lines[3] == "    own.txt:3: 0123 ignore # <not> for us"
    assert lines[-3:] == [
        f'    first: {OTHER} "tick: begin" (Stable-dep-of), not in the tree',
        "    note: 6.1 has it not yet",
        "    tried: conflict in tick.c",
    ]

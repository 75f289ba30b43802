"""Lines of diffs: found by regular expression, by the kind of line, in bounded time."""

from __future__ import annotations

import pathlib
import re
import sqlite3
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.index import diff_lines as module
from patchlore.index.diff_lines import Blocks, DiffLines
from patchlore.index.document import Searched
from patchlore.index.indexing import update_index
from patchlore.index.regexes import parse_regex
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive
from tests.index.letters import PATCH, fill_archive, letters, mail
from tests.index.test_regexes import expressions

Numbers = Callable[[str], set[int]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (r"dfb:/wrap_safely\(slot, \w+\)/", {1, 6}),
        ("dfb:/old_wrap/", set()),
        ("dfa:/old_wrap/", {1, 6}),
        ("/old_wrap|spin_lock/", {1, 3, 6}),
        ("dfctx:/budget = 6[0-9];/", {1, 6}),
        ("dfb:/budget = 6/", set()),
        (r"dfhh:/struct ring \*/", {1, 6}),
        ("fn:/^ring_/", {1, 6}),
        ("fn:/^static/", set()),
        ("dfb:/SPIN_LOCK/", set()),
        ("dfb:/SPIN_LOCK/i", {3}),
        ("dfb:/->|&/", {3}),
        ("/ring/ v:3", {6}),
        ("is:patch -/ring_wrap/", {3}),
        ("dfb:(/spin_lock/ OR /wrap_safely/)", {1, 3, 6}),
        ("v:3 NOT dfb:/wrap_safely/", set()),
        ("dfb:/^\tspin_lock/", {3}),
        (r"dfb:/\(&clock_lock\);$/", {3}),
    ],
)
def test_lines_are_found_by_kind(found: Numbers, query: str, expected: set[int]) -> None:
    """Each prefix looks at its lines, a bare expression at all; quotations never count."""
    assert found(query) == expected


def test_slashes_of_paths_stay_words(found: Numbers) -> None:
    """A path between blanks is no expression, nor is a prefix of prose before it one."""
    assert found("/drivers/widget/ring.c") == {1, 6}
    assert found("b:/ring/") == found("b:ring")
    assert found("s:(/ring/)") == found("s:ring")


def test_snippet_shows_the_line(searcher: Searcher) -> None:
    """The hit's line is the one that matches, with the match marked."""
    (hit,) = searcher.search(r"dfb:/spin_\w+/").hits
    assert hit.snippet is not None
    assert hit.snippet.text.lstrip("+\t") == "spin_lock(&clock_lock);"
    ((start, end),) = hit.snippet.marks
    assert hit.snippet.text[start:end] == "spin_lock"


def test_redone_message_counts_once(tmp_path: pathlib.Path) -> None:
    """Lines of a document that a later one replaces are no longer found."""
    fill_archive(tmp_path, letters())
    update_index(tmp_path)
    with Archive(tmp_path, write=True) as archive:
        archive.connection.execute(
            "UPDATE message SET revision = (SELECT max(revision) + 1 FROM message) WHERE id = 1"
        )
    update_index(tmp_path)
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        assert len(searcher.search("dfb:/wrap_safely/").hits) == 2


def test_blocks_are_cut_by_size(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of several blocks are found, each under its own number."""
    monkeypatch.setattr(module, "BLOCK_BYTES", 400)
    mails = [
        mail(number, f"[PATCH] ring {number}", PATCH.replace("safely", f"safely_{number}x"))
        for number in range(1, 30)
    ]
    fill_archive(tmp_path, mails)
    update_index(tmp_path)
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        for number in (1, 2, 15, 29):
            (hit,) = searcher.search(f"dfb:/safely_{number}x/").hits
            assert hit.subject == f"[PATCH] ring {number}"
        assert searcher.search(r"dfb:/safely_\d+x/").total == 29


def test_time_is_bounded_and_told(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """When time is over what was found until then is shown, with a word about it."""
    monkeypatch.setattr("patchlore.index.search.REGEX_SECONDS", -1.0)
    results = searcher.search("dfb:/wrap/")
    assert results.total == 0
    assert "/wrap/ was stopped after" in results.notes[0]


@pytest.mark.parametrize("text", ['"', "' OR", "a\0b", "日本語", "ﬀﬀﬀ", "AND", "*)*"])
def test_any_characters_can_be_looked_for(text: str) -> None:
    """What a line has is found, whatever the trigram index makes of its characters."""
    connection = sqlite3.connect(":memory:")
    lines = DiffLines(connection)
    lines.create()
    blocks = Blocks()
    blocks.add(7, Searched(body=f"+x {text} x\n+other", line_kinds="++"))
    lines.add(blocks.take())
    escaped = "".join(char if char.isalnum() or char in " \0'" else f"\\{char}" for char in text)
    for ignore_case in (False, True):
        regex = parse_regex(f"x {escaped} x", ignore_case)
        assert lines.find("dfb", regex, 5.0).documents == {7}
    connection.close()


def test_only_lines_of_the_wanted_are_read() -> None:
    """With a set of documents given, others do not count."""
    connection = sqlite3.connect(":memory:")
    lines = DiffLines(connection)
    lines.create()
    blocks = Blocks()
    for number in (1, 2, 3):
        blocks.add(number, Searched(body="+ring", line_kinds="+"))
    lines.add(blocks.take())
    assert lines.find(None, parse_regex("ring"), 5.0, {2, 9}).documents == {2}
    connection.close()


def documents_with(
    lines: dict[int, str], expression: str, *, ignore_case: bool = False
) -> set[int]:
    """Return the numbers of the added texts of LINES in which an expression is found."""
    connection = sqlite3.connect(":memory:")
    table = DiffLines(connection)
    table.create()
    blocks = Blocks()
    for number, text in lines.items():
        added = text.split("\n")
        blocks.add(
            number,
            Searched(body="\n".join(f"+{line}" for line in added), line_kinds="+" * len(added)),
        )
    table.add(blocks.take())
    found = table.find("dfb", parse_regex(expression, ignore_case), 60.0)
    connection.close()
    assert found.looked_at == found.blocks
    return found.documents


@given(
    expressions,
    st.lists(st.text("ab_ c.\n", min_size=1, max_size=12), min_size=1, max_size=4),
    st.booleans(),
)
def test_blocks_are_matched_as_their_lines_are(
    expression: str, texts: list[str], ignore_case: bool
) -> None:
    """What is found in a block of lines is what re finds in one line after the other."""
    search = re.compile(expression, re.IGNORECASE if ignore_case else 0).search
    texts = [text.replace("\n\n", "\nb").strip("\n") or "a" for text in texts]
    expected = {
        number
        for number, text in enumerate(texts, 1)
        if any(search(line) for line in text.split("\n"))
    }
    found = documents_with(dict(enumerate(texts, 1)), expression, ignore_case=ignore_case)
    assert found == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("^end$", {2}), ("x{3}$", {1}), ("absent", set()), ("^", {1, 2}), ("y", {1, 2}), ("z", set())],
)
def test_lines_longer_than_a_piece(expression: str, expected: set[int]) -> None:
    """Of a line that has hundreds of kilobytes the beginning is looked at, then those behind it."""
    long = "xy" * 100_000
    lines = {1: f"{long}z\nxxx", 2: f"y\n{long}z\nend"}
    assert documents_with(lines, expression) == expected


@pytest.mark.parametrize(
    "expression",
    ["(a+)+c", "(a|aa)+c", "a*a*a*a*a*c", "(.?){100}c{50}", "(a|b)*a(a|b){60}c", "(.*)*c.*(.*)*d"],
)
def test_evil_expression_over_megabytes(expression: str) -> None:
    """What makes a backtracking matcher run for years is answered in seconds."""
    lines = {number: "\n".join(["ab" * 100, "a" * 500, "ba" * 50] * 200) for number in range(10)}
    start = time.process_time()
    assert documents_with(lines, expression) == set()
    assert time.process_time() - start < 10.0

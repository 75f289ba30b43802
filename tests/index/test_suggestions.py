""" "Did you mean": the archive's own words that are close to what found nothing."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.index.indexing import update_index
from patchlore.index.search import Searcher
from patchlore.index.suggestions import distance
from patchlore.kb.store import Archive
from tests.index.letters import fill_archive, mail


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("widgte", "widget"),
        ("s:widgt d:2024", "s:widget d:2024"),
        ("vektor_mmgs", None),
        ("spin_lokc", "spin_lock"),
        ("Randomzing ring", "randomizing ring"),
        ("dfb:clokc_lock", "dfb:clock_lock"),
        ("fn:ring_pol", "fn:ring_poll"),
        ("fn:rnig_poll", "fn:ring_poll"),
        ("dfb:wrap_safley", "dfb:wrap_safely"),
        ("f:quil", "f:quill"),
        ("f:mirra ring", "f:mira ring"),
        ("xyzzyxyzzy", None),
        ("rnig", "ring"),
        ("widgte rnig", "widget ring"),
        ("s:widgte f:quil", "s:widget f:quill"),
        ("zzz", None),
        ("commit:0000000", None),
    ],
)
def test_near_word_is_suggested(searcher: Searcher, query: str, suggestion: str | None) -> None:
    """A word with one or two mistakes gives the query with the word that is there."""
    results = searcher.search(query)
    assert results.total == 0
    assert results.suggestion == suggestion


def test_what_is_found_needs_no_suggestion(searcher: Searcher) -> None:
    """Only an empty answer makes one ask."""
    assert searcher.search("widget").suggestion is None


def test_near_words_are_looked_up_by_an_index(searcher: Searcher) -> None:
    """Six hundred words come into question: none of them costs reading all words of the archive."""
    searcher.search("widgte")
    assert searcher._text is not None
    connection = searcher._text._database.connection
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    assert searcher.search("widgte").suggestion == "widget"
    connection.set_trace_callback(None)
    near = [sql for sql in asked if "stem" in sql or "part" in sql]
    assert near
    for sql in near:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not any(line.startswith(("SCAN stem", "SCAN part")) for line in plan), (sql, plan)


def test_a_pasted_text_is_not_corrected(searcher: Searcher) -> None:
    """Looking for near words takes time for each; a log has hundreds that are in no mail."""
    log = " ".join(f"s:x{number}" for number in range(15))
    assert searcher.search(f"widgte {log}").suggestion is not None
    assert searcher.search(f"widgte {log} more").suggestion is None


def test_suggestion_finds_something_by_itself(searcher: Searcher) -> None:
    """A word that is suggested is in the field that was asked for."""
    suggestion = searcher.search("dfa:old_wrap_helpre").suggestion
    assert suggestion == "dfa:old_wrap_helper"
    assert searcher.search(suggestion).total


@pytest.mark.parametrize("engine", ["whoosh", "sqlite"])
def test_mistakes_of_others_are_mistakes(tmp_path: pathlib.Path, engine: str) -> None:
    """A word that one mail has misspelled as the query does is replaced where all finds nothing."""
    texts = ["An implict rule."] + ["An implicit case."] * 12 + ["An implicit fallthrough."]
    path = tmp_path / "archive"
    fill_archive(
        path,
        [
            mail(number, f"mail {number}", f"{text} This is number {number}.\n")
            for number, text in enumerate(texts)
        ],
    )
    update_index(path, engine=engine)
    with Archive(path) as archive, Searcher(archive) as searcher:
        assert searcher.search("implict fallthruogh").suggestion == "implicit fallthrough"
        assert searcher.search("implict fallthrough").suggestion == "implicit fallthrough"
        assert searcher.search("implict").suggestion is None
        assert searcher.search("rule fallthrough").suggestion is None


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("ring", "ring", 0), ("ring", "rnig", 1), ("ring", "rings", 1), ("ring", "wing", 1),
     ("ring", "rg", 2), ("ring", "string", 2), ("ring", "poll", 3)],
)  # fmt: skip
def test_distance_counts_mistakes(one: str, other: str, edits: int) -> None:
    """A letter wrong, missing, too many or swapped is one mistake; many are "too many"."""
    assert distance(one, other, 2) == edits


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_is_the_same_both_ways(one: str, other: str) -> None:
    """Which of two words is the wrong one does not matter."""
    assert distance(one, other, 3) == distance(other, one, 3)

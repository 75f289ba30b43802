"""Cutting text into words, stems and parts of identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.index.patterns import chunks
from patchlore.index.words import (
    BREAK,
    cut,
    is_english,
    message_id_words,
    parts,
    stem,
    word_spans,
    words,
    words_with_breaks,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't call AT&T", ["don't", "call", "at&t"]),
        ("v4.15.7-rc2, 10,000 times", ["v4.15.7", "rc2", "10,000", "times"]),
        ("C++ and fish+chips", ["c++", "and", "fish", "chips"]),
        ("vector_mmsg_rx(&x)", ["vector_mmsg_rx", "x"]),
        ("Žofie’s café", ["žofie's", "café"]),
        ("__x86_64 100%", ["__x86_64", "100"]),
        ("a/b_c.h", ["a", "b_c", "h"]),
        ("patch larch crypto", ["patch", "larch", "crypto"]),
        ("zzz a1.2,3 don't", ["zzz", "a1.2,3", "don't"]),
    ],
)
def test_text_is_cut_as_xapian_cuts_it(text: str, expected: list[str]) -> None:
    """Identifiers, versions and contractions are one word, other punctuation parts words."""
    assert words(text) == expected


def test_data_is_no_word() -> None:
    """A run of more than 64 characters is left out."""
    assert words("short " + "x" * 65) == ["short"]


def test_long_chains_cost_no_more_than_their_length() -> None:
    """Data of many pieces is cut in linear time and little of it is a word."""
    assert len(words("1." * 500_000)) <= 1
    assert len(words("a'" * 500_000 + "é")) <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mRED\x1b[0m lamp", ["red", "lamp"]),
        ("\x1b[31mRÉD\x1b[0m", ["réd"]),
        ("\x9b1mbold\x9bm é", ["bold", "é"]),
        ("\x1b]0;title\x07shown", ["shown"]),
        ("pat\u200bch \u202ewidget\u202c a\u2060b", ["patch", "widget", "ab"]),
    ],
)
def test_what_is_not_seen_hides_no_word(text: str, expected: list[str]) -> None:
    """Escape sequences, signs without a width and of direction are cut before words are."""
    assert words(text) == words_with_breaks(text) == expected
    assert [word for word, _, _ in word_spans(text)] == expected


def test_spans_reach_over_what_is_hidden() -> None:
    """A word with a sign without a width inside is marked from its start to its end."""
    text = "a \x1b[1mpat\u200bch\x1b[m b"
    assert [text[start:end] for _, start, end in word_spans(text)] == ["a", "pat\u200bch", "b"]


def test_ends_of_lines_break_phrases() -> None:
    """The end of a line stands in the list as a break."""
    assert words_with_breaks("one\ntwo") == ["one", BREAK, "two"]


def test_spans_are_offsets_in_the_text() -> None:
    """Each span cuts its word out of the text, capitals that grow in lower case included."""
    text = "İxx Foo->bar"
    assert [text[start:end] for _, start, end in word_spans(text)][1:] == ["Foo", "bar"]


@pytest.mark.parametrize("text", ["Žofie’s café", "don’t ‛tis", "pat\u200bch ring’s"])
def test_a_query_is_cut_as_text_is(text: str) -> None:
    """Signs for an apostrophe are one in both."""
    assert [word for word, _, _ in word_spans(text)] == words(text)


def test_message_ids_are_found_by_their_date() -> None:
    """The long pieces of an id are words of their own."""
    assert "20240101120000" in message_id_words("20240101120000.4711-1-ada@example.org")


def test_english_is_stemmed_and_identifiers_are_not() -> None:
    """Only words of letters have a stem; identifiers lose no more than a possessive."""
    assert stem("randomized") == stem("randomize") == "random"
    assert stem("copy_to_users") == "copy_to_users"
    assert stem("refcount_t's") == "refcount_t"
    assert not is_english("x86")


def test_identifiers_have_parts() -> None:
    """An identifier is found by the words between its underscores."""
    assert parts("vector_mmsg_rx") == ["vector", "mmsg", "rx"]
    assert parts("plain") == []


@given(st.text())
def test_cutting_takes_any_text(text: str) -> None:
    """No text makes the cutting fail, and words are never empty or too long."""
    for word in (*words(text), *words_with_breaks(text)):
        assert 0 < len(word) <= 64
    for word, start, end in word_spans(text):
        assert word
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fs/exec.c", [("fs", "exec", "c")]),
        ("foo->bar()", [("foo",), ("bar",)]),
        ("ada@example.org", [("ada", "example", "org")]),
        ("[PATCH 0/6] net:", [("patch",), ("0", "6"), ("net",)]),
        ("5.10.y", [("5.10", "y")]),
        ("->", []),
    ],
)
def test_glued_words_of_a_query_are_phrases(text: str, expected: list[tuple[str, ...]]) -> None:
    """What ``. - / : \\ @`` joins is a phrase; other punctuation only parts words."""
    assert [chunk.words for chunk in chunks(text)] == expected


def test_quotes_make_one_phrase() -> None:
    """In quotes every word follows the one before it."""
    assert [chunk.words for chunk in chunks("foo->bar() baz", quoted=True)] == [
        ("foo", "bar", "baz")
    ]


def test_what_is_asked_for_again_is_asked_once_and_long_phrases_in_pieces() -> None:
    """Engines read the postings of each word of a phrase at once: thousands would take minutes."""
    assert [chunk.words for chunk in chunks("a=b=a=" * 1000)] == [("a",), ("b",)]
    assert [chunk.words for chunk in chunks("the " * 5000, quoted=True)] == [("the",) * 50]
    names = [f"w{number}" for number in range(120)]
    for text, quoted in ((" ".join(names), True), ("-".join(names) + "*", False)):
        pieces = chunks(text, quoted)
        assert [len(piece.words) for piece in pieces] == [50, 50, 20]
        assert [piece.open_end for piece in pieces] == [False, False, not quoted]


def test_capitals_and_stars_are_not_stemmed() -> None:
    """A word with a capital is meant as it stands; a star makes it the beginning of a word."""
    small, capital, star = chunks("tests Tests test*")
    assert (small.stemmed, capital.stemmed, star.stemmed) == (True, False, False)
    assert star.open_end


@given(st.text(), st.booleans())
def test_chunks_take_any_text(text: str, quoted: bool) -> None:
    """No text of a query makes the cutting fail."""
    for chunk in chunks(text, quoted):
        assert chunk.words


@given(st.text("ab1_'&.,;+#- \n"))
def test_ascii_is_cut_as_all_other_text_is(text: str) -> None:
    """The quick way for ASCII gives the words that the pattern gives."""
    assert [*words(text), "é"] == words(f"{text} é")
    assert [*words_with_breaks(text), "é"] == words_with_breaks(f"{text} é")
    assert cut(text).split() == words_with_breaks(text)

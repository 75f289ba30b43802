"""The line that shows why a message was found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patchlore.index.snippets import WIDTH, Snippet, make_snippet
from patchlore.ingest.message import Message
from patchlore.ingest.raw import Source


def message(*lines: tuple[str, str]) -> Message:
    """Return a message whose body has these lines (kind, text)."""
    return Message(
        source=Source(path="x", format="mbox"),
        body="\n".join(text for _, text in lines),
        line_kinds="".join(kind for kind, _ in lines),
    )


def marked(snippet: Snippet | None) -> list[str]:
    """Return the words that a snippet marks."""
    assert snippet is not None
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_own_words_win_over_diff_and_quotation() -> None:
    """The author's line is shown even when it comes last."""
    mail = message(("q", "> the ring"), ("+", "+ring();"), ("t", "Ring it is"))
    snippet = make_snippet(mail, {"ring"})
    assert snippet is not None
    assert (snippet.text, snippet.line, snippet.kind) == ("Ring it is", 3, "t")
    assert marked(snippet) == ["Ring"]


def test_a_line_with_more_of_the_words_wins() -> None:
    """Among the author's lines the one with more of the words is shown."""
    mail = message(("t", "a ring"), ("t", "a ring that can wrap"))
    assert marked(make_snippet(mail, {"ring", "wrap"})) == ["ring", "wrap"]


def test_beginnings_of_words_are_marked_whole() -> None:
    """ "ran*" marks the words that begin so."""
    assert marked(make_snippet(message(("t", "not random at all")), {"ran*"})) == ["random"]


def test_parts_of_words_are_no_match() -> None:
    """A word inside another one is not what was asked for."""
    assert make_snippet(message(("t", "strings and springs")), {"ring"}) is None
    assert make_snippet(message(("t", "ring")), set()) is None


def test_long_lines_are_cut_around_the_word() -> None:
    """The word is seen and the cuts are marked with an ellipsis."""
    snippet = make_snippet(message(("t", "x " * 300 + "ring" + " y" * 300)), {"ring"})
    assert snippet is not None
    assert marked(snippet) == ["ring"]
    assert len(snippet.text) <= WIDTH + 2
    assert snippet.text[0] == snippet.text[-1] == "…"


def test_lines_far_down_are_found() -> None:
    """A long body is looked at to its end, and its lines are numbered right."""
    lines = [("t", "nothing to see " * 5)] * 2000 + [("t", "here is the ring")]
    snippet = make_snippet(message(*lines), {"ring"})
    assert snippet is not None
    assert snippet.line == 2001


def test_capitals_that_grow_do_not_shift_marks() -> None:
    """ "İ" is longer in lower case; the mark stays where the word is."""
    assert marked(make_snippet(message(("t", "İİİ ring")), {"ring"})) == ["ring"]


@given(st.text(), st.sets(st.text("ab*_ ", min_size=1), max_size=3))
def test_any_text_has_a_snippet_or_none(text: str, words: set[str]) -> None:
    """Marks always lie within the text that is shown."""
    snippet = make_snippet(message(*(("t", line) for line in text.split("\n"))), words)
    if snippet is not None:
        assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.marks)

"""The words of all finders are found in one pass, on the same lines as by looking for each."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest import words as module
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.words import MAX_LINES, WORDS, Words

_BODIES = st.lists(
    st.sampled_from([*WORDS, "\n", " ", "é", "Upstream", "GCC", "x", "\r"])
    | st.text("comitgcbugs\n ü", max_size=8),
    max_size=40,
).map("".join)


def lines_of(body: str, word: str) -> list[int]:
    """The lines on which WORD ends, found one by one."""
    lower = "".join(char.lower() if char.isascii() else char for char in body)
    ends = (match.end() for match in re.finditer(f"(?={re.escape(word)})", lower))
    return sorted({lower.count("\n", 0, end + len(word)) for end in ends})


@given(_BODIES)
def test_words_stand_where_a_search_for_each_finds_them(body: str) -> None:
    """Overlapping words, capitals and characters of several octets change nothing."""
    words = Words(body)
    for word in WORDS:
        assert words.lines(word) == lines_of(body, word)
        assert (word in words) == bool(lines_of(body, word))


@pytest.mark.parametrize("block", [40, 64, 100])
def test_words_across_blocks_are_found_once(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long body is looked through in blocks; a word at their border counts once."""
    monkeypatch.setattr(module, "_BLOCK", block)
    body = "".join(f"{'.' * (n % 37)}gcc{'ü' * (n % 3)} bugzilla\n" for n in range(200))
    words = Words(body)
    assert words.lines("gcc") == list(range(200))
    assert words.lines("bugzilla") == list(range(200))


def test_lines_of_a_word_are_bounded() -> None:
    """A mail of nothing but one word keeps no more lines than a mail can have to say."""
    assert len(Words("gcc\n" * (MAX_LINES + 10)).lines("gcc")) == MAX_LINES


def test_any_of_several_words() -> None:
    """``any`` asks for one of its words; none of nothing."""
    words = Words("Fixes: a bug\n")
    assert words.any("gcc", "fixes")
    assert not words.any("gcc", "llvm")
    assert not words.any()


def test_all_words_that_are_asked_for_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is not in WORDS would never be found."""
    asked: set[str] = set()
    found = {name: getattr(Words, name) for name in ("any", "lines", "__contains__")}

    def listen(name: str) -> None:
        def ask(self: Words, *words: str) -> object:
            asked.update(words)
            return found[name](self, *words)

        monkeypatch.setattr(Words, name, ask)

    for name in found:
        listen(name)
    source = Source(path="mail.eml", format="eml")
    body = "".join(f"{word.strip()} x\n" for word in WORDS)
    for subject in ("[PATCH 5.10 1/2] lamp: dim it", "Re: [PATCH 5.10 1/2] lamp: dim it"):
        head = f"From: ada@example.org\nIn-Reply-To: <1@example.org>\nSubject: {subject}\n\n"
        parse_raw(Raw(data=f"{head}{body}".encode(), source=source))
    assert asked - set(WORDS) == set()

"""Regular expressions: the dialect, its mistakes, and matching in linear time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.index.line_matcher import LINE_LIMIT, LineMatcher
from patchlore.index.regexes import RegexError, parse_regex


def found(expression: str, line: str, *, ignore_case: bool = False) -> bool:
    """Whether a line has a match of an expression."""
    return LineMatcher(parse_regex(expression, ignore_case)).found(line.encode())


@pytest.mark.parametrize(
    ("expression", "line", "expected"),
    [
        ("kmalloc", "\tp = kmalloc(8);", True),
        (r"k[mz]alloc\(.*GFP_(ATOMIC|KERNEL)\)", "p = kzalloc(8, GFP_KERNEL);", True),
        (r"k[mz]alloc\(.*GFP_(ATOMIC|KERNEL)\)", "p = kcalloc(8, GFP_KERNEL);", False),
        (r"^\s+return;$", "\treturn;", True),
        (r"^return;$", "\treturn;", False),
        (r"\block\b", "spin_lock(lock)", True),
        (r"\block\b", "spin_lock(unlock)", False),
        (r"\Block", "unlock", True),
        ("struct ring {", "struct ring {", True),
        ("a{2,3}b", "ab aab", True),
        ("^a{2}$", "aaa", False),
        ("x?y*z+", "z", True),
        ("[^]a]x", "]x ax bx", True),
        (r"\x41\t", "A\t", True),
        ("", "anything", True),
        ("^$", "", True),
        ("a|", "b", True),
        ("(?:ab)+?c", "ababc", True),
        ("a{,2}b", "aab", True),
        (r"^[\w-]+$", "a-b", True),
        (r"[a\]-]x", "]x", True),
        (r"[\x41-C]\u00fc", "Bü", True),
        ("[[:x]]", "[]", True),
        ("[^\ud800]", "a", True),
        ("é.", "éö", True),
    ],
)
def test_expression_matches_as_people_expect(expression: str, line: str, expected: bool) -> None:
    """The dialect is that of grep -E with Python's classes."""
    assert found(expression, line) is expected


def test_case_matters_unless_told() -> None:
    """With "i" ASCII letters of both cases match; the sign of the kelvin is no "k"."""
    assert not found("KMALLOC", "kmalloc")
    assert found("KMALLOC", "kmalloc", ignore_case=True)
    assert not found("k", "\u212a", ignore_case=True)


@pytest.mark.parametrize(
    ("expression", "place", "text"),
    [
        ("foo(", 3, "'(' is not closed"),
        ("foo)", 3, "There is no '('"),
        ("*foo", 0, "nothing to repeat"),
        ("a**", 2, "nothing to repeat"),
        ("a[b", 1, "'[' is not closed"),
        (r"(a)\1", 3, "back-references"),
        ("(?=a)", 1, "Looking around"),
        ("a{3,1}", 1, "the smaller first"),
        ("a{200}", 1, "up to 100"),
        ("[z-a]", 0, "no set of characters"),
        (r"\q", 0, "not known"),
        ("a\\", 1, "backslash"),
    ],
)
def test_mistake_is_told_with_its_place(expression: str, place: int, text: str) -> None:
    """A mistake has a sentence and the offset of the character."""
    with pytest.raises(RegexError, match=re.escape(text)) as caught:
        parse_regex(expression)
    assert caught.value.place == place


def test_large_expression_is_refused() -> None:
    """Nested repeats that would need thousands of places are a mistake, not a long wait."""
    with pytest.raises(RegexError, match="too large"):
        LineMatcher(parse_regex("((a{50}){50}){50}"))


@pytest.mark.parametrize("expression", ["(a+)+b", "(a|aa)+b", "a*a*a*a*a*b", "(.*)*x.*(.*)*y"])
def test_evil_expression_takes_linear_time(expression: str) -> None:
    """What makes a backtracking matcher run for years is answered at once."""
    start = time.process_time()
    assert not found(expression, "a" * LINE_LIMIT)
    assert time.process_time() - start < 5.0


def test_span_is_the_leftmost_match() -> None:
    """The place of a match is that of the first, as long as it can be."""
    matcher = LineMatcher(parse_regex(r"\bring\w*"))
    assert matcher.span("a string, ring_poll and ring") == (10, 19)
    assert matcher.span("ü string — ring_poll") == (11, 20)
    assert matcher.span("a string") is None


@pytest.mark.parametrize(
    ("expression", "required"),
    [
        (r"foo\(.*bar", [{"foo("}, {"bar"}]),
        ("(foo|bar)+x", [{"foo", "bar"}, {"x"}]),
        ("fo?o", [{"f"}, {"o"}]),
        ("(foo|b*)x", [{"x"}]),
        ("(ab){2}c", [{"ababc"}]),
        (r"^foo$", [{"foo"}]),
        ("[a-z]*", []),
    ],
)
def test_required_literals(expression: str, required: list[set[str]]) -> None:
    """What every match must have is known, for looking only where it stands."""
    assert [set(group) for group in parse_regex(expression).required] == required


_PIECES = st.sampled_from(
    ["a", "b", "_", " ", ".", "[ab]", "[^a]", r"\w", r"\W", r"\b", r"\B", "^", "$", "c"]
)


def _repeatable(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = inner.map("(?:{})".format)
    return st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join).map("(?:{})".format),
        st.tuples(group, st.sampled_from(["*", "+", "?", "{1,2}", "{2}"])).map("".join),
    )


#: Expressions of all kinds that Python's re has, too.
expressions = st.recursive(_PIECES, _repeatable, max_leaves=8)


@given(
    expressions,
    st.text("ab_ c.", min_size=1, max_size=12),
    st.booleans(),
)
def test_matcher_agrees_with_re(expression: str, line: str, ignore_case: bool) -> None:
    """Whether a line matches is what Python's re says, which tries one way after the other.

    (In an empty line "\\B" matches from Python 3.14 on.)
    """
    expected = re.search(expression, line, re.IGNORECASE if ignore_case else 0) is not None
    assert found(expression, line, ignore_case=ignore_case) == expected


@given(st.text(max_size=30))
def test_any_text_is_an_expression_or_a_mistake(text: str) -> None:
    """No text makes the parser fail in another way, and a mistake lies in the text."""
    place = 0
    try:
        line = text.encode("utf-8", "replace")
        assert isinstance(LineMatcher(parse_regex(text)).found(line), bool)
    except RegexError as error:
        place = error.place
    assert 0 <= place <= len(text)


@given(expressions, st.text("ab_ c.", max_size=12))
def test_required_literals_stand_in_every_match(expression: str, line: str) -> None:
    """A line that matches has at least one literal of each group."""
    regex = parse_regex(expression)
    if LineMatcher(regex).found(line.encode()):
        assert all(any(literal in line for literal in group) for group in regex.required)

"""The query language: text to a tree, and errors that point at the place."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.index.errors import QueryError
from patchlore.index.prefixes import trailer_prefix
from patchlore.index.query import All, Either, Exact, Lines, Node, Not, Span, Text, parse_query


def show(node: Node) -> str:
    """Return a tree as a line: & for all, | for any, ! for not, quotes round phrases."""
    if isinstance(node, All):
        return f"({' & '.join(map(show, node.items))})"
    if isinstance(node, Either):
        return f"({' | '.join(map(show, node.items))})"
    if isinstance(node, Not):
        return f"!{show(node.item)}"
    if isinstance(node, Span):
        return f"{node.prefix.name}[{node.low},{node.high}]"
    if isinstance(node, Lines):
        name = f"{node.prefix.name}=" if node.prefix else ""
        return f"{name}/{node.regex.text}/{'i' if node.regex.ignore_case else ''}"
    value = node.text if isinstance(node, Text) else node.value
    name = f"{node.prefix.name}=" if node.prefix else ""
    return name + (f"'{value}'" if node.quoted else value)


def tree(query: str) -> str:
    """Return what a query is parsed to, as a line."""
    return show(parse_query(query))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a b", "(a & b)"),
        ("a AND b", "(a & b)"),
        ("a b OR c d", "((a & b) | (c & d))"),
        ("a OR b AND c", "(a | (b & c))"),
        ("a NOT b c", "(a & !(b & c))"),
        ("a AND NOT b", "(a & !b)"),
        ("a -b c", "(a & !b & c)"),
        ("a +b", "(a & b)"),
        ("NOT a", "!a"),
        ("(a OR b) c", "((a | b) & c)"),
        ('s:"stack depth" x', "(s='stack depth' & x)"),
        ("s:(ring OR wrap)", "(s=ring | s=wrap)"),
        ("-s:ring -(a OR b)", "(!s=ring & !(a | b))"),
        ("mid:a mid:b s:c", "((mid=a | mid=b) & s=c)"),
        ("Reviewed-by:skov", "reviewed-by=skov"),
    ],
)
def test_operators_bind_as_in_xapian(query: str, expected: str) -> None:
    """Side by side binds tightest, then AND and NOT, then OR."""
    assert tree(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("[PATCH net v1 0/6] net:", "([PATCH & net & v1 & 0/6] & net:)"),
        ("foo->bar()", "foo->bar"),
        ("std::move", "std::move"),
        ("https://example.org/x", "https://example.org/x"),
        ("a/b_c.h __x86_64 100%", "(a/b_c.h & __x86_64 & 100%)"),
        ('"never closed (', "'never closed ('"),
        ("((a b) c", "(a & b & c)"),
        ("a) b (", "(a & b)"),
        ("foo (bar() baz) ()", "(foo & bar & baz)"),
        ("OR a AND", "(OR & a & AND)"),
        ("a AND OR b", "((a & AND) | b)"),
        ("Re:foo x", "(Re:foo & x)"),
        ("s:", "s:"),
        ("()", "()"),
        ("- +", "(- & +)"),
    ],
)
def test_punctuation_never_breaks_a_search(query: str, expected: str) -> None:
    """What can't be an operator, a bracket or a prefix is a word or nothing."""
    assert tree(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from:ada", "f=ada"),
        ("subject:ring", "s=ring"),
        ("id:x@example.org", "mid=x@example.org"),
        ("gcc:83356", "pr=83356"),
        ("date:20240101..", "d[1704067200,None]"),
        ("file:ring.c", "dfn=ring.c"),
        ("attachment:log", "n=log"),
        ("list:widgets", "l=widgets"),
    ],
)
def test_habits_from_other_programs_are_understood(query: str, expected: str) -> None:
    """The long names of notmuch and mu mean our short ones."""
    assert tree(query) == expected


def test_an_unknown_prefix_is_pointed_at() -> None:
    """The error shows the place with a caret and names the nearest prefix."""
    with pytest.raises(QueryError) as caught:
        parse_query("ring subjet:wrap")
    text = str(caught.value)
    assert "There is no prefix 'subjet:'. Did you mean 'subject:'?" in text
    assert text.endswith("\n  ring subjet:wrap\n       ^^^^^^^")


def test_a_mistyped_trailer_is_pointed_at() -> None:
    """Unless the archive has such: any word before "-by" may be a trailer."""
    with pytest.raises(QueryError, match="Did you mean 'reviewed-by:'"):
        parse_query("reviewd-by:ada")
    for name in ("reviewd-by", "Reviewed-By", "blessed-by"):
        node = parse_query(f"{name}:ada", {"reviewd-by"}.__contains__)
        assert isinstance(node, Text)
        assert node.prefix == trailer_prefix(name.lower())


def test_trailers_of_the_archive_are_prefixes() -> None:
    """A prefix that is unknown may be a trailer that the archive has."""
    node = parse_query("debugged-with:x", lambda name: name == "debugged-with")
    assert show(node) == "debugged-with=x"


@pytest.mark.parametrize(
    "query", ["is:pach", "d:notaday", "d:..", "z:big", "", "   ", "d:20241301"]
)
def test_impossible_values_are_errors(query: str) -> None:
    """A value that its prefix can't have is an error with a place, and so is an empty query."""
    with pytest.raises(QueryError) as caught:
        parse_query(query)
    assert "^" in str(caught.value)
    assert caught.value.exit_status == 2


def test_places_are_those_of_the_text() -> None:
    """A leaf knows where it stands, with its prefix."""
    node = parse_query("ring s:wrap")
    assert isinstance(node, All)
    leaf = node.items[1]
    assert isinstance(leaf, Text)
    assert (leaf.place.start, leaf.place.end) == (5, 11)


def test_exact_values_keep_their_quotes_off() -> None:
    """A quoted value is what stands between the quotes."""
    node = parse_query('mid:"a(b)@example.org"')
    assert isinstance(node, Exact)
    assert node.value == "a(b)@example.org"


_PIECES = st.sampled_from(
    [
        "a",
        "OR",
        "AND",
        "NOT",
        "(",
        ")",
        '"',
        "-",
        "+",
        "s:",
        "f:x",
        "is:patch",
        "*",
        " ",
        "x/y",
        "“",
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES).map(" ".join), st.lists(_PIECES).map("".join)))
def test_any_text_is_a_query_or_a_query_error(query: str) -> None:
    """Whatever is typed gives a tree or an error for people, never anything else."""
    with contextlib.suppress(QueryError):
        parse_query(query)


def test_states_are_those_of_the_backport_list() -> None:
    """What ``status:`` takes is what a row of a list can be."""
    from patchlore.index.prefixes import STATUS_CHOICES
    from patchlore.kb.backports import STATES

    assert STATUS_CHOICES == STATES


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("/a b/", "/a b/"),
        ("dfb:/a|b/i x", "(dfb=/a|b/i & x)"),
        (r"dfn:a /b\/c/", "(dfn=a & /b/c/)"),
        ("-/a/ b", "(!/a/ & b)"),
        ("dfb:(/a/ OR b)", "(dfb=/a/ | dfb=b)"),
        ("s:(/a/)", "s=/a/"),
        ("/usr/include/", "/usr/include/"),
        ("b:/a/", "b=/a/"),
        ("and / or / too", "(and & / & or & / & too)"),
        ('"/a/"', "'/a/'"),
        ("dfn:/fs/", "dfn=/fs/"),
        ("/* see above */ x", "(/* see above */ & x)"),
        ("-/foo(/ x", "(!/foo(/ & x)"),
    ],
)
def test_expressions_stand_between_slashes(query: str, expected: str) -> None:
    """An expression ends at the slash before a blank; prefixes of prose take words."""
    assert tree(query) == expected


def test_usr_include_is_a_word() -> None:
    """A path that begins and ends with a slash and has another in it is no expression."""
    assert isinstance(parse_query("/usr/include/"), Text)
    assert isinstance(parse_query("/usr/"), Lines)


def test_mistake_in_an_expression_is_pointed_at() -> None:
    """The caret stands under the character of the expression that is wrong."""
    with pytest.raises(QueryError) as caught:
        parse_query("s:a dfb:/foo(/")
    assert str(caught.value).endswith("\n  s:a dfb:/foo(/\n              ^")


@pytest.mark.parametrize("piece", ["(", "(a ", "-(a ", "s:(a OR "])
def test_parentheses_of_any_depth(piece: str) -> None:
    """Deeper than anybody asks they are no brackets; the tree's depth has a bound."""
    assert parse_query(piece * 5000 + "b" + ")" * 5000) is not None


def test_query_of_megabytes() -> None:
    """It is refused, and the answer does not repeat it."""
    with pytest.raises(QueryError, match="1,000,000 characters") as caught:
        parse_query("dim " * 250_000)
    assert len(str(caught.value)) < 500


@given(
    st.lists(
        st.sampled_from(
            ["a", "Ab_c", "s:x", "mid:a@b.c", "mid:d@b.c", "C++", "fs-x", "d:2020", "v:2", "AND",
             "is:patch", "Re:x", "nope:x", "f:ada", "-b", "d:..2020", "a:b:c", "pr:5", "3.", "z:x",
             "reviewed-by:ada", "_x", "a--b", "s:AND", "/a/", "x-", "dfb:a.b"]
        ),
        min_size=1,
        max_size=4,
    )
)  # fmt: skip
def test_plain_queries_need_no_parser(words: list[str]) -> None:
    """Words and prefixes alone mean the same as with the grammar, errors too."""
    text = "  ".join(words)

    def answer() -> object:
        try:
            return parse_query(text)
        except QueryError as error:
            return str(error)

    fast = answer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("patchlore.index.query._plain_terms", lambda text: None)
        assert answer() == fast

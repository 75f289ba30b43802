"""Queries on an archive, with both engines: facts, words, order, what is shown."""

from __future__ import annotations

import contextlib
import pathlib
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.index.errors import QueryError
from patchlore.index.search import Searcher
from patchlore.index.text_search import TextSearch
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.store import Archive
from tests.index.conftest import Numbers
from tests.index.letters import FIXED, UPSTREAM, mid


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("s:ring", {1, 2, 4, 6}),
        ('s:"ring wrap"', {1, 2, 6}),
        ("nq:wrap", {1, 6, 2}),
        ("q:vector_mmsg_rx", {2}),
        ("nq:vector_mmsg_rx", {1, 6}),
        ("b:vector_mmsg_rx", {1, 2, 6}),
        ("bs:plans", {5}),
        ("b:plans", set()),
        ("dfa:old_wrap_helper", {1, 6}),
        ("dfb:ring_wrap_safely", {1, 6}),
        ("dfb:old_wrap_helper", set()),
        ("dfctx:budget", {1, 6}),
        ("dfhh:ring_poll", {1, 6}),
        ("fn:ring_poll", {1, 6}),
        ("randomize", {1, 6}),
        ('"randomize"', set()),
        ("random*", {1, 6}),
        ("4.15.7", {5}),
        ("100%", {5}),
        ("foo->bar() a/b_c.h", {2}),
        ("tests nq:night", {5}),
    ],
)
def test_words_are_found_where_they_stand(found: Numbers, query: str, expected: set[int]) -> None:
    """Each text prefix looks into its part of a mail; prose is stemmed, quoted words are not."""
    assert found(query) == expected


def test_quoted_diffs_are_no_diffs(found: Numbers) -> None:
    """A quoted added line is found with q:, never with dfb:."""
    assert found("q:ring_wrap_safely") == {2}
    assert 2 not in found("dfb:ring_wrap_safely")


def test_english_in_code_is_stemmed_unless_it_is_quoted(found: Numbers) -> None:
    """ "budgets" is no word of any diff, though its kin "budget" is, as on lore."""
    assert found("dfctx:budgets") == found("dfctx:budget") != set()
    assert found('dfctx:"budgets"') == set()


def test_names_are_stemmed_for_a_bare_word_too(found: Numbers) -> None:
    """ "quills" is nobody's name, but a bare word means its kin in senders and ids, as on lore."""
    assert found("quills") == found("quill") >= found("f:quill") != set()
    assert found("Quills") == found('"quills"') == set()


def test_a_word_is_looked_for_once(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a query has it."""
    asked: list[str] = []
    find = TextSearch.find

    def counted(self: TextSearch, prefix: str | None, text: str, quoted: bool) -> set[int] | None:
        asked.append(text)
        return find(self, prefix, text, quoted)

    monkeypatch.setattr(TextSearch, "find", counted)
    once = searcher.find("ring")
    assert searcher.find(" ".join(["ring"] * 100)) == once
    assert asked == ["ring", "ring"]


def test_identifiers_are_found_whole_and_by_part(found: Numbers) -> None:
    """A word that stands nowhere by itself finds the identifiers that it is a part of."""
    assert found("vector_mmsg_rx") == {1, 2, 6}
    assert found("mmsg") == {1, 2, 6}
    assert found("dfb:safely") == {1, 6}
    assert found('"mmsg"') == set()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("f:ada", {1, 6}),
        ("f:bo.tern@example.org", {2, 3}),
        ("f:quill", {1, 6}),
        ("author:quill", {1, 3, 6}),
        ("t:ada@example.org", {3}),
        ("tc:bo", {1}),
        ("a:bo", {1, 2, 3}),
        ("reviewed-by:skov", {1, 6}),
        ("tag:mira", {1, 6}),
        ("tag:reviewed-by", {1, 6}),
        ("l:widgets", {1, 2, 3, 4, 5, 6}),
        ("lid:widgets.lists.example.org", {1, 2, 3, 4, 5, 6}),
    ],
)
def test_people_and_lists(found: Numbers, query: str, expected: set[int]) -> None:
    """People are found by words of names and addresses, in the role that is asked for."""
    assert found(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"mid:{mid(3)}", {3}),
        (f"mid:<{mid(3)}>", {3}),
        (f"mid:https://lore.example.org/lamps/{mid(3)}/T/#u", {3}),
        (f"thread:https://lore.example.org/r/{mid(2).replace('@', '%40')}", {1, 2}),
        (f"mid:{mid(3)} mid:{mid(4)}", {3, 4}),
        ("m:20240101", {1, 2, 3, 4, 5, 6}),
        (f"references:{mid(1)}", {2}),
        (f"thread:{mid(2)}", {1, 2}),
        (f"series:{mid(1)}", {1, 6}),
        (f"series:<{mid(2)}>", {1, 6}),
        (f"series:{mid(5)}", set()),
        ("series:absent@example.org", set()),
        ("dfn:drivers/widget/ring.c", {1, 6}),
        ("dfn:ring.c", {1, 6}),
        ("dfn:tick*", {3}),
        ("dfpre:1111111", {1, 6}),
        ("dfpost:2222222bbbbb", {1, 6}),
        ("dfblob:1111111aaaaa0000", {1, 6}),
        ("dfpost:1111111", set()),
        ("v:3", {6}),
        ("is:patch", {1, 3, 6}),
        ("is:reply", {2}),
        ("is:cover", {4}),
        ("is:autosel", {3}),
        ("is:backport", {3}),
        ("event:autosel", {3}),
        ("event:posted", set()),
        ("status:in-flight", {3}),
        ("status:in-flight stable:5.10", {3}),
        ("status:in-flight stable:5.4", set()),
        ("status:released", set()),
        (f"upstream:{UPSTREAM}", {3}),
        (f"upstream:{UPSTREAM[:7]}", {3}),
        (f"commit:{UPSTREAM[:12]}", {3}),
        (f"fixes:{FIXED}", {1, 6}),
        (f"commit:{FIXED}", {1, 6}),
        ("stable:5.10", {3}),
        ("stable:linux-5.10.y", {3}),
        ("stable:4.15", set()),
        ("pr:83356", {1, 2, 6}),
        ("bug:gcc:83356", {1, 2, 6}),
        ("pr:83356 -where:quoted", {1, 6}),
        ("pr:83356 where:own", {1, 6}),
        ("pr:83356 where:quoted", {2}),
        ("link:https://gcc.gnu.org/bugzilla/show_bug.cgi?id=83356", {1, 6}),
        ("link:gcc.gnu.org/bugzilla", {1, 6}),
        ("src:widgets", {1, 2, 3, 4, 5, 6}),
        ("fidelity:exact", {1, 2, 3, 4, 5, 6}),
        ("d:20240103..20240105", {3, 4, 5}),
        ("d:2024-01-03", {3}),
        ("d:..20240102", {1, 2}),
        ("z:..10", set()),
        ("z:10..", {1, 2, 3, 4, 5, 6}),
    ],
)
def test_facts_are_found(found: Numbers, query: str, expected: set[int]) -> None:
    """Each exact prefix finds the mails that have the fact, and no others."""
    assert found(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("s:ring is:patch", {1, 6}),
        ("s:ring -is:patch", {2, 4}),
        ("s:ring OR s:plans", {1, 2, 4, 5, 6}),
        ("s:ring d:20240102..20240104", {2, 4}),
        ("-s:ring", {3, 5}),
        ("NOT s:ring d:20240105..", {1, 2, 3, 4, 5}),
        ("(s:plans OR s:tick) f:mira", {5}),
        ("-> s:plans", {5}),
        ("->", set()),
    ],
)
def test_conditions_are_joined(found: Numbers, query: str, expected: set[int]) -> None:
    """Facts, words and spans are joined by AND, OR and NOT in any mixture."""
    assert found(query) == expected


def test_the_newest_come_first(searcher: Searcher) -> None:
    """Results are sorted by date, and the limit cuts the oldest."""
    results = searcher.search("s:ring", limit=2)
    assert [hit.message_id for hit in results.hits] == [mid(6), mid(4)]
    assert results.total == 4


def test_rank_puts_own_words_before_quoted_ones(searcher: Searcher) -> None:
    """By rank the patch that says it stands before the reply that quotes it."""
    hits = searcher.search("vector_mmsg_rx", sort="rank").hits
    assert {hits[0].message_id, hits[1].message_id} == {mid(1), mid(6)}
    assert hits[2].message_id == mid(2)


def test_rank_puts_strong_evidence_first(searcher: Searcher) -> None:
    """By rank a bug that is quoted only comes last."""
    assert searcher.search("pr:83356", sort="rank").hits[-1].message_id == mid(2)


def test_snippets_are_from_the_authors_own_words(searcher: Searcher) -> None:
    """The line that is shown is the author's, with the words marked."""
    hit = next(hit for hit in searcher.search("wrap").hits if hit.message_id == mid(2))
    assert hit.snippet is not None
    marked = [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
    assert marked == ["wrapping"]


def test_bad_values_are_pointed_at(searcher: Searcher) -> None:
    """A hash that is too short is an error with the place in the query."""
    with pytest.raises(QueryError, match="7 or more hex digits") as caught:
        searcher.search("s:ring commit:012")
    assert caught.value.start == 7


def test_exact_queries_never_load_whoosh(archive_path: object) -> None:
    """A question about facts imports neither the engine for prose nor what reads mail."""
    import subprocess

    code = (
        "import sys\n"
        "from patchlore.kb.store import Archive\n"
        "from patchlore.index.search import Searcher\n"
        "with Archive(sys.argv[1]) as archive, Searcher(archive) as searcher:\n"
        "    assert searcher.search('pr:83356 f:ada d:2024..').hits\n"
        # The stems of English are in a module of it that imports nothing else.
        "for name in ('whoosh.index', 'whoosh.searching', 'patchlore.ingest.facts'):\n"
        "    assert name not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(archive_path)], check=True)


@pytest.mark.parametrize(
    "query",
    [
        f"mid:{mid(1)}", f"references:{mid(1)}", f"thread:{mid(1)}", "dfn:ring.c", "dfn:ring*",
        "dfpre:1111111", "dfpost:2222222", "dfblob:1111111", "patchid:1111111",
        f"commit:{UPSTREAM}", f"fixes:{FIXED}", f"upstream:{UPSTREAM}", f"reverts:{UPSTREAM}",
        "pr:83356", "bug:llvm:143908", "cve:CVE-2030-10001", "syzbot:0a1b2c3d4e5f",
        "link:https://example.org/x", "closes:example.org/x", "reviewed-by:skov", "f:ada",
        "lid:widgets.lists.example.org", "changeid:20300101-x-0a1b2c3d4e5f", "stable:5.10",
        "d:20240101..20240102", "forpatchid:0a1b2c3d4e5f",
    ],
)  # fmt: skip
def test_facts_are_looked_up_by_an_index(searcher: Searcher, query: str) -> None:
    """No question about a fact reads a table with a row for each mail from end to end."""
    connection = searcher._archive.connection
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    searcher.find(query)
    connection.set_trace_callback(None)
    large = (
        "message|file|commit_ref|bug_ref|link|reference|message_person|cve|dependency|trailer"
        "|target_tree|copy|alias"
    )
    for sql in asked:
        if sql.lstrip().upper().startswith(("SELECT", "WITH")):
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
            scans = [step for step in plan if re.match(rf"SCAN ({large})$", step)]
            assert not scans, sql


_PIECES = st.sampled_from(
    "ring wrap* OR AND NOT ( ) \" - s: f: mid: d:2024.. % dfn: pr:1 a/b ' where:quoted"
    " \x00 ’ m:_ l:* v:x n:' status:queued \udc80".split(" ")
)


@given(query=st.one_of(st.text(), st.lists(_PIECES).map(" ".join), st.lists(_PIECES).map("".join)))
@settings(max_examples=200, deadline=None)
def test_any_query_is_answered_or_refused_in_words(archive_path: pathlib.Path, query: str) -> None:
    """Whatever is asked, a search gives results or an error for people."""
    with (
        Archive(archive_path) as archive,
        Searcher(archive) as searcher,
        contextlib.suppress(QueryError),
    ):
        assert len(searcher.search(query, limit=3).hits) <= 3
        assert len(searcher.search(query, limit=3, sort="rank").hits) <= 3


def test_small_letters_mean_the_kin_of_a_name(found: Numbers) -> None:
    """As on lore: a capital or quotes mean just that name; ``author:`` always does."""
    assert found("f:adas") == found("f:ada") != set()
    assert found("f:Adas") == found('f:"adas"') == found("author:adas") == set()


def test_what_is_applied_again_is_told_from_a_revert(tmp_path: pathlib.Path) -> None:
    """By its title, as the history of a backport has it."""
    titles = ('Revert "x"', 'Reapply "x"', 'Revert "Revert "x""', 'Revert "Reapply "x""')
    raws = [
        Raw(
            data=(
                f"From: Ada Quill <ada@example.org>\nSubject: [PATCH 5.10] {title}\n"
                f"Message-ID: <undo-{number}@example.org>\n\n"
                f"This reverts commit {UPSTREAM}.\n---\n"
                "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-one\n+two\n"
            ).encode(),
            source=Source(path="/mail/x.mbox", format="mbox", offset=number),
        )
        for number, title in enumerate(titles)
    ]
    with Archive(tmp_path / "undone", write=True) as archive:
        archive.add([parse_raw(raw) for raw in raws], raws)
        for query, wanted in (("event:reverted", {0, 3}), ("event:re-applied", {1, 2})):
            results = Searcher(archive).search(query)
            assert {hit.key for hit in results.hits} == {
                f"undo-{number}@example.org" for number in wanted
            }

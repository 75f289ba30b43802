"""Every prefix of the query language, and every value of those with few, finds its mail."""

from __future__ import annotations

import base64
import pathlib
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.index.database import ENGINES
from patchlore.index.indexing import update_index
from patchlore.index.prefixes import PREFIXES, SYNONYMS
from patchlore.index.search import Searcher
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.parsed import prepare
from patchlore.kb.store import Archive
from patchlore.kb.writing import Writer

UPSTREAM = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
UNDONE = "1f2e3d4c5b6a79880716253443526170fedcba98"
NEEDED = "2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a"
PATCH_ID = "5e4d3c2b1a09f8e7d6c5b4a3928170615243f4e5"

DIFF = """\
---
 kernel/tick.c | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/kernel/tick.c b/kernel/tick.c
index 3333333ccccc..4444444ddddd 100644
--- a/kernel/tick.c
+++ b/kernel/tick.c
@@ -4,3 +4,3 @@ static int tick_once(struct clock *clock)
 \tint budget = 64;
-\tcount_wrongly(clock);
+\tcount_rightly(clock);
 \treturn budget;
--
2.40.0
"""

BACKPORT = f"""\
commit {UPSTREAM} upstream.

Count the ticks of a clock twice.

Closes: https://lore.example.org/r/report-7@example.org
Link: https://lore.example.org/r/1@ticks.example.org
Fixes: {UNDONE[:12]} ("tick: begin")
Cc: <stable@vger.kernel.org> # 6.1+
Reported-by: syzbot+0a1b2c3d4e5f60718293@syzkaller.appspotmail.com
Reviewed-by: Mira Skov <mira@example.org>
(cherry picked from commit {UPSTREAM})
Signed-off-by: Ada Quill <ada@example.org>
{DIFF}"""

#: Number, subject, body, other header fields.
MAILS: dict[int, tuple[str, str, dict[str, str]]] = {
    1: (
        "[PATCH v2] tick: count twice",
        "See https://bugs.llvm.org/show_bug.cgi?id=43908 and CVE-2030-10001, which\n"
        "https://gcc.gnu.org/bugzilla/show_bug.cgi?id=183356 caused.\n\n"
        f"Cc: stable@vger.kernel.org\n{DIFF}"
        "change-id: 20300101-tick-0a1b2c3d4e5f\n",
        {"Cc": "Bo Tern <bo.tern@example.org>"},
    ),
    2: ("[PATCH 6.1] tick: count twice", BACKPORT, {}),
    3: (
        'Re: [PATCH] Revert "tick: begin"',
        "> The clock ticks loudly.\n> +\tcount_rightly(clock);\n\n"
        "Agreed, that is https://gcc.gnu.org/r12-7719 miscounting.\n",
        {"In-Reply-To": "<1@ticks.example.org>", "X-For-Patch-ID": PATCH_ID},
    ),
    4: (
        'Revert "tick: begin"',
        f"This reverts commit {UNDONE}.\n\nIt counted badly.\n{DIFF}",
        {},
    ),
    5: (
        "[PATCH 6.1 2/9] tick: prepare to count",
        f'Prepare.\n\nStable-dep-of: {UPSTREAM[:12]} ("tick: count twice")\n'
        f"(cherry picked from commit {NEEDED})\n{DIFF}",
        {},
    ),
    6: ("[PATCH 0/2] tick: two patches for clocks", "A cover letter.\n", {}),
    7: (
        "[GIT PULL] tick: updates for v6.8",
        "Linus,\n\nThe following changes since commit "
        f"{UNDONE}:\n\n  Linux 6.7 (2030-01-01 12:00:00 +0000)\n\n"
        "are available in the Git repository at:\n\n"
        "  git://git.example.org/tick.git tags/tick-6.8\n\n"
        f"for you to fetch changes up to {NEEDED}:\n\n"
        "  tick: count (2030-01-02)\n",
        {},
    ),
}  # fmt: skip


def raw(number: int, subject: str, body: str, fields: dict[str, str]) -> Raw:
    """Return a mail of January NUMBER, 2030, received an hour later."""
    head = {
        "Received": "from mail.example.org by lists.example.org;"
        f" Tue, {number} Jan 2030 13:00:00 +0000",
        "From": "Ada Quill <ada@example.org>",
        "To": "Clocks <clocks@lists.example.org>",
        "Subject": subject,
        "Date": f"Tue, {number} Jan 2030 12:00:00 +0000",
        "Message-ID": f"<{number}@ticks.example.org>",
        "List-Id": "<clocks.lists.example.org>",
        **fields,
    }
    if number == 6:  # one with an attachment
        data = base64.b64encode(b"log of ticks\n").decode()
        head["MIME-Version"] = "1.0"
        head["Content-Type"] = 'multipart/mixed; boundary="b"'
        body = (
            f"--b\nContent-Type: text/plain\n\n{body}\n"
            "--b\nContent-Type: application/octet-stream\n"
            'Content-Disposition: attachment; filename="ticks.log"\n'
            f"Content-Transfer-Encoding: base64\n\n{data}\n--b--\n"
        )
    text = "".join(f"{name}: {value}\n" for name, value in head.items()) + "\n" + body
    return Raw(
        data=text.encode(),
        source=Source(path="/mail/clocks.mbox", format="mbox", offset=number, list="clocks"),
    )


ALL = set(MAILS)

#: Queries and the mails that they find: each prefix at least once with something found.
CASES: list[tuple[str, set[int]]] = [
    ("s:count", {1, 2, 5}),
    ("b:loudly", {3}), ("nq:agreed", {3}), ("q:loudly", {3}), ("nq:loudly", set()),
    ("bs:cover", {6}), ("bs:tick", {1, 2, 3, 4, 5, 6, 7}),
    ("dfa:count_wrongly", {1, 2, 4, 5}), ("dfb:count_rightly", {1, 2, 4, 5}),
    ("dfb:count_wrongly", set()), ("dfctx:budget", {1, 2, 4, 5}), ("dfhh:tick_once", {1, 2, 4, 5}),
    ("q:count_rightly", {3}), ("fn:tick_once", {1, 2, 4, 5}), ("fn:once", {1, 2, 4, 5}),
    ("dfb:rightly", {1, 2, 4, 5}), ("rightly", {1, 2, 3, 4, 5}),
    ("dfn:kernel/tick.c", {1, 2, 4, 5}), ("dfn:tick", {1, 2, 4, 5}), ("n:ticks.log", {6}),
    ("f:quill", ALL), ("t:clocks", ALL), ("c:tern", {1}), ("tc:tern", {1}), ("a:tern", {1}),
    ("author:ada", ALL), ("tag:skov", {2}), ("tag:reviewed-by", {2}), ("reviewed-by:mira", {2}),
    ("reported-by:syzbot", {2}), ("signed-off-by:quill", {2}), ("cc-trailer:stable", {1, 2}),
    ("d:2030-01-03", {3}), ("d:20300103..20300104", {3, 4}), ("d:..20300102", {1, 2}),
    ("dt:20300103120000..20300103120000", {3}), ("dt:20300103120001..", {4, 5, 6, 7}),
    ("rt:20300103125959..20300103130000", {3}), ("z:1..", ALL), ("z:..1k", ALL - {2}),
    ("l:clocks", ALL), ("lid:clocks.lists.example.org", ALL), ("lid:clock", set()),
    ("m:ticks.example", ALL), ("mid:3@ticks.example.org", {3}),
    ("references:1@ticks.example.org", {3}), ("thread:3@ticks.example.org", {1, 3}),
    ("dfpre:3333333", {1, 2, 4, 5}), ("dfpost:4444444dddddffff", {1, 2, 4, 5}),
    ("dfpost:3333333", set()), ("dfblob:4444444", {1, 2, 4, 5}),
    ("patchid:{patch_id}", {1, 2, 4, 5}), (f"forpatchid:{PATCH_ID}", {3}),
    ("changeid:20300101-tick-0a1b2c3d4e5f", {1}),
    ("pr:183356", {1}), ("bug:llvm:43908", {1}), ("pr:183356 where:body", {1}),
    (f"commit:{UPSTREAM[:9]}", {2, 5}), ("commit:r12-7719", {3}),
    ("commit:r12-7719-g8ca61ad148f", {3}), (f"upstream:{UPSTREAM}", {2}),
    (f"fixes:{UNDONE}", {2}), (f"reverts:{UNDONE[:12]}", {4}), (f"cherry:{NEEDED}", {5}),
    (f"cherry:{UPSTREAM}", {2}), (f"cherry:{UPSTREAM[:10]}", {2}), (f"cherry:{UNDONE}", set()),
    (f"dep:{UPSTREAM}", {5}),
    ("link:https://lore.example.org/r/1@ticks.example.org", {2}), ("link:lore.example.org", {2}),
    ("link:1@ticks.example.org", {2}), ("closes:report-7@example.org", {2}),
    ("stable:6.1", {2, 5}), ("status:in-flight stable:6.1", {1, 2, 5}), ("event:posted", {2, 5}),
    ("cve:2030-10001", {1}), ("cve:CVE-2030-10001", {1}), ("syzbot:0a1b2c3d4e5f60718293", {2}),
    ("is:patch", {1, 2, 4, 5}), ("is:cover", {6}), ("is:reply", {3}), ("is:pull", {7}),
    ("is:backport", {2, 5}), ("is:revert", {4}), ("is:applicable", {1, 2, 4, 5}),
    ("series:1@ticks.example.org", {1}), ("v:2", {1}),
    ("src:clocks", ALL), ("src:mbox", ALL), ("fidelity:exact", ALL), ("fidelity:masked", set()),
]  # fmt: skip


@pytest.fixture(scope="module", params=ENGINES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An archive of MAILS, indexed with each engine."""
    path = tmp_path_factory.mktemp("prefixes") / str(request.param)
    with Archive(path, write=True) as archive:
        mails = [raw(number, *mail) for number, mail in MAILS.items()]
        Writer(archive).add([prepare(parse_raw(mail), mail) for mail in mails])
    update_index(path, engine=str(request.param))
    return path


@pytest.fixture
def found(path: pathlib.Path) -> Iterator[Callable[[str], set[int]]]:
    """A function from a query to the numbers of the mails that it finds."""
    with Archive(path) as archive, Searcher(archive) as searcher:
        patch_id = archive.value("SELECT patch_id FROM message WHERE patch_id IS NOT NULL")

        def numbers(query: str) -> set[int]:
            results = searcher.search(query.replace("{patch_id}", str(patch_id)))
            return {int(hit.key.partition("@")[0]) for hit in results.hits}

        yield numbers


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_prefix_finds(found: Callable[[str], set[int]], query: str, expected: set[int]) -> None:
    """The same mails with each engine, and no others."""
    assert found(query) == expected


def test_no_prefix_is_without_a_query() -> None:
    """Whoever adds a prefix adds a query that finds something by it."""
    asked = {
        name for query, expected in CASES if expected for name in re.findall(r"([a-z-]+):", query)
    }
    assert set(PREFIXES) - asked == set()


@pytest.mark.parametrize("synonym", sorted(SYNONYMS))
def test_synonym_means_its_prefix(found: Callable[[str], set[int]], synonym: str) -> None:
    """It finds what the prefix finds, and takes the same values."""
    name = SYNONYMS[synonym]
    asked = [(query, expected) for query, expected in CASES if query.startswith(f"{name}:")]
    assert asked
    for query, expected in asked:
        assert found(query.replace(f"{name}:", f"{synonym}:", 1)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("d:2.weeks.ago..", ALL),
        ("d:yesterday..", ALL),
        ("d:..yesterday", set()),
        ("d:2.weeks.ago..yesterday", set()),
        ("rt:2.weeks.ago..", ALL),
        ("dt:2.days.ago..", ALL),
        ('d:"2 weeks ago"..', None),
        ("d:last.monday..", ALL),
        ("d:2030", ALL),
        ("d:2030-01", ALL),
        ("d:2029..2031", ALL),
        ("d:20300103120000..20300103120000", {3}),
        ("d:2030-01-03T12:00..2030-01-03T12:00", {3}),
    ],
)
def test_dates_as_git_takes_them(
    found: Callable[[str], set[int]], query: str, expected: set[int] | None
) -> None:
    """Mail of 2030 comes after whatever was weeks ago; words of git's stand on either side."""
    if expected is not None:
        assert found(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "[PATCH net v1 0/6] net:", "foo->bar()", "a/b_c.h", "__x86_64", "100%", '"tick', 'tick"',
        'a"b', "“tick", "tick )", "( tick", "((tick", "tick:", ":tick", "-", "--", "- tick", "+",
        "*", "tick**", "^tick$", "tick~2", "{tick}", "[tick]", "tick?", "!tick", "tick;", "`tick`",
        "$tick", "#tick", "a&&b", "a||b", "a\\b", "'tick", "tick's", "C++", "<ada@example.org>",
        "ada@example.org", "std::move", "https://example.org/a?b=c&d=e#f", "1.2.3-rc4+", "%s",
        "0x1f", "/* tick */", "// tick", "tick/", "/tick", "if (a) {", "\t tick \n", "Re: tick",
        "AND", "OR", "NOT", "AND OR NOT", "tick NOT", "NOT NOT tick", "() ()", "NEAR", "ADJ/3",
        "tick NEAR/3 tock", "-(", "+)", '-"', "é", "日本語", "𝕏", "a\u200bb", "…", "—", "\ufeff",
    ],
)  # fmt: skip
def test_punctuation_never_breaks_a_search(found: Callable[[str], set[int]], query: str) -> None:
    """Text with signs in it is words, whatever the signs are."""
    assert found(query) <= ALL


#: Signs and words; none of the words is a prefix in small letters before a colon.
_SIGNS = st.text("()[]{}<>\"'“”-+*/\\.,;!?%&|^~#$@=_` \t\u00e9", min_size=1, max_size=6)
_WORDS = st.sampled_from(["tick", "Count", "OR", "AND", "NOT", "v1", "0", "foo_bar", "日本"])


@given(query=st.lists(st.one_of(_SIGNS, _WORDS), min_size=1, max_size=8).map("".join))
@settings(max_examples=150, deadline=None)
def test_words_with_any_signs_are_a_search(path: pathlib.Path, query: str) -> None:
    """Never a mistake, but for blanks alone, which ask for nothing."""
    if not query.strip():
        query = "tick"
    with Archive(path) as archive, Searcher(archive) as searcher:
        assert len(searcher.search(query).hits) <= len(MAILS)
        assert len(searcher.search(query, sort="rank", facets=True).hits) <= len(MAILS)


def test_a_comment_of_c_is_words_and_said_to_be(path: pathlib.Path) -> None:
    """What stands between slashes and is no expression is looked for as words, with a note."""
    with Archive(path) as archive, Searcher(archive) as searcher:
        results = searcher.search("/* a cover letter */")
    assert [hit.key for hit in results.hits] == ["6@ticks.example.org"]
    assert "There is nothing to repeat" in results.notes[0]

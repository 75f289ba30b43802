"""Dossiers of bugs, commits and threads; names and what they name."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from patchlore.ingest.bug import Bug as BugRecord
from patchlore.ingest.message import (
    CommitMention,
    CommitRef,
    Evidence,
    GccBug,
    Message,
    OtherBug,
    Regression,
    UpstreamRef,
)
from patchlore.kb.dossiers.bugs import all_bugs, bug_dossier
from patchlore.kb.dossiers.commits import commit_dossier
from patchlore.kb.dossiers.gcc_commits import gcc_commit_dossier
from patchlore.kb.dossiers.stats import stats
from patchlore.kb.dossiers.threads import thread_nodes
from patchlore.kb.errors import NotFoundError
from patchlore.kb.reading import Bug, find_message, find_messages, parse_bug, resolve, spellings
from patchlore.kb.store import Archive
from tests.kb.mails import BO, NOON, OTHER, UPSTREAM, message, raw_of, source, tags


def filled(path: pathlib.Path, *messages: Message) -> Archive:
    """Return an archive of these messages, open for writing."""
    archive = Archive(path, write=True)
    archive.add(messages, [raw_of(item) for item in messages])
    return archive


def mail(number: int, **fields: Any) -> Message:
    """Return a mail that differs from others in id, date, place and text."""
    values: dict[str, Any] = {
        "timestamp": NOON + number * 60,
        "subject": f"mail {number}",
        "clean_subject": f"mail {number}",
        "source": source(offset=number * 100),
        "body": f"Text number {number} about clocks, long enough to be told from others.",
        **fields,
    }
    return message(f"{number}@example.org", **values)


def bug(number: int, *where: str) -> dict[str, Any]:
    """Return the fields of a message that names a GCC bug at these places."""
    return {
        "gcc_prs": [GccBug(number=number, where=list(where))],
        "evidence": [
            Evidence(fact="gcc_prs", value=str(number), line=1, rule="x", text=f"PR{number}")
            for _ in where
        ],
    }


def test_a_bug_shows_patches_before_quotations(tmp_path: pathlib.Path) -> None:
    """Tags come first, then changed lines, text, quotations, and context lines last."""
    with filled(
        tmp_path,
        mail(1, is_patch=True, **bug(12345, "diff-context")),
        mail(2, is_reply=True, **bug(12345, "quoted")),
        mail(3, **bug(12345, "body")),
        mail(4, is_patch=True, **bug(12345, "diff-added")),
        mail(5, is_patch=True, **bug(12345, "body", "trailer")),
    ) as archive:
        dossier = bug_dossier(archive, Bug(tracker="gcc", number=12345))
    assert [hit.message.message_id for hit in dossier.hits] == [
        f"{number}@example.org" for number in (5, 4, 3, 2, 1)
    ]
    assert dossier.hits[-1].words.startswith("stands in a context line only")
    assert dossier.hits[-2].words == "stands in quoted text only"


def test_a_bug_names_commits_and_trees_of_its_patches(tmp_path: pathlib.Path) -> None:
    """What a patch about the bug is a backport of, and for which tree, is told."""
    strong = mail(
        1,
        is_patch=True,
        subject_tags=tags("4.15.y"),
        upstream_refs=[UpstreamRef(sha=UPSTREAM, form="commit-upstream")],
        **bug(12345, "trailer"),
    )
    weak = mail(
        2,
        is_patch=True,
        upstream_refs=[UpstreamRef(sha=OTHER, form="commit-upstream")],
        **bug(12345, "diff-context"),
    )
    with filled(tmp_path, strong, weak) as archive:
        dossier = bug_dossier(archive, Bug(tracker="gcc", number=12345))
    assert (dossier.upstream_commits, dossier.trees) == ([UPSTREAM], ["4.15.y"])


def test_a_bug_proves_what_became_of_its_commits(tmp_path: pathlib.Path) -> None:
    """The state in each tree has the mail and the line that decide it."""
    backport = mail(
        1,
        is_patch=True,
        subject_tags=tags("4.15.y"),
        upstream_refs=[UpstreamRef(sha=UPSTREAM, form="commit-upstream")],
        gcc_prs=[GccBug(number=12345, where=["trailer"])],
        evidence=[
            Evidence(
                fact="upstream_refs", value=UPSTREAM, line=3, rule="commit-upstream", text="Up."
            )
        ],
    )
    with filled(tmp_path, backport) as archive:
        ((tree,),) = (
            commit.trees for commit in bug_dossier(archive, Bug("gcc", number=12345)).commits
        )
    assert (tree.tree, tree.key, tree.line, tree.text) == ("4.15.y", "1@example.org", 3, "Up.")


def test_a_bug_tells_mails_about_its_patches_that_do_not_name_it(tmp_path: pathlib.Path) -> None:
    """Other copies of the commit come first, then revisions, then answers; a series is none."""
    upstream = {"upstream_refs": [UpstreamRef(sha=UPSTREAM, form="commit-upstream")]}
    with filled(
        tmp_path,
        mail(1, is_patch=True, clean_subject="tick", **upstream, **bug(12345, "trailer")),
        mail(2, is_reply=True, in_reply_to="1@example.org", references=["1@example.org"]),
        mail(3, is_patch=True, in_reply_to="1@example.org", references=["1@example.org"]),
        mail(4, is_patch=True, clean_subject="tick"),
        mail(5, is_patch=True, **upstream),
        mail(6, is_reply=True, in_reply_to="1@example.org", **bug(12345, "quoted")),
    ) as archive:
        found = bug_dossier(archive, Bug("gcc", number=12345)).related
    assert [(one.how, one.message.key, one.to, one.sha) for one in found] == [
        ("carries", "5@example.org", "1@example.org", UPSTREAM),
        ("title", "4@example.org", "1@example.org", None),
        ("answers", "2@example.org", "1@example.org", None),
    ]


def test_a_bug_names_the_message_that_has_its_record(tmp_path: pathlib.Path) -> None:
    """The newest record of the tracker is told with its key."""
    with filled(
        tmp_path,
        mail(1, bug=BugRecord(number=12345, title="Slow", changed="2024-01"), **bug(12345, "body")),
        mail(2, bug=BugRecord(number=12345, title="Fast", changed="2024-02"), **bug(12345, "body")),
    ) as archive:
        dossier = bug_dossier(archive, Bug("gcc", number=12345))
    assert dossier.record is not None
    assert (dossier.record.title, dossier.record_key) == ("Fast", "2@example.org")


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ("r12-7719", ["1@example.org"]),
        ("R12-7719-g8ca61ad148f", ["1@example.org"]),
        ("g:cec4d4a6782c", ["2@example.org", "3@example.org"]),
        ("cec4d4a6782c9bd8d0", ["2@example.org", "3@example.org"]),
    ],
)
def test_a_commit_of_gcc_is_known_by_number_and_hash(
    tmp_path: pathlib.Path, asked: str, keys: list[str]
) -> None:
    """Abbreviations mean each other; each mail is told with its line."""
    names = ("r12-7719", "cec4d4a6782c9bd8d071839c50a239c49caca689", "cec4d4a6782c9b")
    mails = [
        mail(
            number,
            gcc_commits=[name],
            evidence=[Evidence(fact="gcc_commits", value=name, line=number, rule="x", text=name)],
        )
        for number, name in enumerate(names, 1)
    ]
    with filled(tmp_path, *mails) as archive:
        dossier = gcc_commit_dossier(archive, asked)
        assert [one.key for one in dossier.messages] == keys
        assert [f"{one.line}@example.org" for one in dossier.namings] == keys
        assert resolve(archive, asked).kind == "gcc-commit"
        with pytest.raises(NotFoundError, match="r12-771 of GCC"):
            gcc_commit_dossier(archive, "r12-771")


def test_a_commit_of_gcc_as_git_describes_it_has_a_hash_too(tmp_path: pathlib.Path) -> None:
    """``r12-7719-g8ca61ad148f`` is one commit under two names."""
    proof = Evidence(
        fact="gcc_commits", value="r12-7719", line=3, rule="x", text="r12-7719-g8ca61ad148f"
    )
    with filled(tmp_path, mail(1, gcc_commits=["r12-7719"], evidence=[proof])) as archive:
        for asked in ("8ca61ad148f", "g:8ca61ad", "r12-7719"):
            (naming,) = gcc_commit_dossier(archive, asked).namings
            assert (naming.line, naming.text) == (3, "r12-7719-g8ca61ad148f")


def test_an_unknown_bug_is_not_found(tmp_path: pathlib.Path) -> None:
    """The error names the bug as it was asked for."""
    with filled(tmp_path) as archive, pytest.raises(NotFoundError, match="PR target/5"):
        bug_dossier(archive, Bug(tracker="gcc", number=5, component="target"))


def test_a_component_leaves_out_bugs_of_another(tmp_path: pathlib.Path) -> None:
    """`pr target/12345` keeps mails that give no component and drops another one's."""
    other = mail(2, gcc_prs=[GccBug(number=12345, component="ipa", where=["body"])])
    with filled(tmp_path, mail(1, **bug(12345, "body")), other) as archive:
        dossier = bug_dossier(archive, Bug(tracker="gcc", number=12345, component="target"))
    assert [hit.message.message_id for hit in dossier.hits] == ["1@example.org"]


def test_all_bugs_are_listed_last_named_first(tmp_path: pathlib.Path) -> None:
    """The list counts mails and patches, and can begin at a date."""
    with filled(
        tmp_path,
        mail(1, is_patch=True, **bug(11111, "trailer")),
        mail(2, **bug(11111, "body")),
        mail(3, **bug(22222, "quoted")),
    ) as archive:
        found = all_bugs(archive)
        late = all_bugs(archive, since=NOON + 150)
    assert [(item.bug.number, item.messages, item.patches) for item in found] == [
        (22222, 1, 0),
        (11111, 2, 1),
    ]
    assert [item.bug.number for item in late] == [22222]


def test_a_commit_gathers_what_names_it_at_any_length(tmp_path: pathlib.Path) -> None:
    """A Fixes tag with 12 digits, a report with 40 and a mention with 10 are one commit's."""
    with filled(
        tmp_path,
        mail(1, fixes=[CommitRef(sha=UPSTREAM[:12], subject="tick: begin")], is_patch=True),
        mail(2, regression=Regression(first_bad_commit=UPSTREAM)),
        mail(3, mentioned_commits=[CommitMention(sha=UPSTREAM[:10], quoted=True)]),
        mail(4, reverts=[CommitRef(sha=UPSTREAM)]),
        mail(5, fixes=[CommitRef(sha=OTHER)]),
    ) as archive:
        for asked in (UPSTREAM, UPSTREAM[:8], UPSTREAM[:12].upper()):
            dossier = commit_dossier(archive, asked)
            assert dossier.sha == UPSTREAM
            assert [naming.words for naming in dossier.namings] == [
                "fixed by",
                "reverted by",
                "regression report",
                "mentioned in (quoted)",
            ]
    assert dossier.subject == "tick: begin"


def test_a_commit_has_its_state_in_each_tree(tmp_path: pathlib.Path) -> None:
    """Backports are told by tree, newest first, with the commits that the patch fixes."""
    posted = [
        mail(
            number,
            is_patch=True,
            clean_subject="tick: use two",
            subject_tags=tags(tree),
            upstream_refs=[UpstreamRef(sha=UPSTREAM, form="commit-upstream")],
            fixes=[CommitRef(sha=OTHER[:12], subject="tick: begin")],
        )
        for number, tree in enumerate(("5.4.y", "5.10.y"))
    ]
    origin = mail(7, is_patch=True, clean_subject="tick: use two")
    with filled(tmp_path, *posted, origin) as archive:
        dossier = commit_dossier(archive, UPSTREAM)
        only = commit_dossier(archive, UPSTREAM, "5.4")
    assert [(state.tree, state.state) for state in dossier.trees] == [
        ("5.10.y", "in-flight"),
        ("5.4.y", "in-flight"),
    ]
    assert [state.tree for state in only.trees] == ["5.4.y"]
    assert dossier.subject == "tick: use two"
    assert [fixed.sha for fixed in dossier.fixes] == [OTHER[:12]]
    assert [posting.message_id for posting in dossier.postings] == ["7@example.org"]


def test_an_ambiguous_commit_asks_for_more_digits(tmp_path: pathlib.Path) -> None:
    """Two commits that begin alike are named, none is chosen."""
    other = UPSTREAM[:9] + "f" * 31
    with (
        filled(
            tmp_path,
            mail(1, fixes=[CommitRef(sha=UPSTREAM)]),
            mail(2, fixes=[CommitRef(sha=other)]),
        ) as archive,
        pytest.raises(NotFoundError, match="Several commits begin with"),
    ):
        commit_dossier(archive, UPSTREAM[:9])


def test_a_short_abbreviation_of_another_commit_is_left_out(tmp_path: pathlib.Path) -> None:
    """What begins like the commit but goes on differently is another commit."""
    with filled(
        tmp_path,
        mail(1, fixes=[CommitRef(sha=UPSTREAM)]),
        mail(2, fixes=[CommitRef(sha=UPSTREAM[:11] + "f")]),
    ) as archive:
        assert spellings(archive, UPSTREAM) == [UPSTREAM]


def test_a_thread_has_replies_below_what_they_answer(tmp_path: pathlib.Path) -> None:
    """Order and depth follow the references, a mail that was not seen has its place."""
    with filled(
        tmp_path,
        mail(3, in_reply_to="1@example.org", references=["0@example.org", "1@example.org"]),
        mail(1, in_reply_to="0@example.org", references=["0@example.org"]),
        mail(2, in_reply_to="0@example.org", references=["0@example.org"]),
        mail(4, in_reply_to="lost@example.org", references=["2@example.org", "lost@example.org"]),
    ) as archive:
        nodes = thread_nodes(archive, "2@example.org")
        assert thread_nodes(archive, "0@example.org") == nodes
    assert [(node.depth, node.text, node.message is not None) for node in nodes] == [
        (0, "0@example.org", False),
        (1, "1@example.org", True),
        (2, "3@example.org", True),
        (1, "2@example.org", True),
        (2, "4@example.org", True),
    ]


def test_a_loop_of_references_ends(tmp_path: pathlib.Path) -> None:
    """Mails that answer each other in a circle are each told once."""
    with filled(
        tmp_path,
        mail(1, in_reply_to="3@example.org"),
        mail(2, in_reply_to="1@example.org"),
        mail(3, in_reply_to="2@example.org"),
    ) as archive:
        nodes = thread_nodes(archive, "1@example.org")
    assert sorted(node.text for node in nodes) == [f"{n}@example.org" for n in (1, 2, 3)]


def test_a_long_thread_is_walked_without_recursion(tmp_path: pathlib.Path) -> None:
    """Five thousand mails, each an answer to the one before."""
    chain = [mail(0)]
    chain += [
        mail(number, in_reply_to=f"{number - 1}@example.org", from_=BO) for number in range(1, 5000)
    ]
    with filled(tmp_path, *chain) as archive:
        nodes = thread_nodes(archive, "2500@example.org")
    assert [node.depth for node in nodes] == list(range(5000))


def test_a_message_is_found_by_all_its_names(tmp_path: pathlib.Path) -> None:
    """Bare, in brackets, in an archive's URL, by an alias."""
    with filled(tmp_path, mail(1, message_id_aliases=["also@example.org"])) as archive:
        for name in (
            "1@example.org",
            "<1@example.org>",
            "id:1@example.org",
            "https://lore.kernel.org/widgets/1@example.org/T/#u",
            "https://lore.kernel.org/r/1%40example.org",
            "also@example.org",
        ):
            assert find_messages(archive, name) == [1], name
        assert find_messages(archive, "2@example.org") == []


def test_a_mail_that_is_only_referred_to_is_told_so(tmp_path: pathlib.Path) -> None:
    """The Message-ID is known, the mail is not: that is said."""
    with (
        filled(tmp_path, mail(1, in_reply_to="0@example.org")) as archive,
        pytest.raises(NotFoundError, match="only refer to it"),
    ):
        find_message(archive, "0@example.org")


def test_a_key_names_the_second_mail_of_a_message_id(tmp_path: pathlib.Path) -> None:
    """`id#2` is the other of two mails under one Message-ID."""
    twin = mail(1, timestamp=NOON + 99 * 86400, body="Something else altogether, much later on.")
    with filled(tmp_path, mail(1), twin) as archive:
        assert find_messages(archive, "1@example.org#2") == [2]
        assert find_messages(archive, "1@example.org#3") == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CVE-2024-12345", "cve"),
        ("1@example.org", "message"),
        (UPSTREAM[:12], "commit"),
        ("83356", "bug"),
        ("PR83356", "bug"),
        ("target/89587", "bug"),
        ("r12-7719", "gcc-commit"),
    ],
)
def test_a_name_tells_what_it_names(tmp_path: pathlib.Path, name: str, kind: str) -> None:
    """The form decides; a number is a bug."""
    with filled(tmp_path) as archive:
        assert resolve(archive, name).kind == kind


def test_a_name_without_a_form_is_refused(tmp_path: pathlib.Path) -> None:
    """What is neither id, commit, bug nor CVE is answered with the forms."""
    with filled(tmp_path) as archive, pytest.raises(NotFoundError, match="names nothing"):
        resolve(archive, "what is this")


@pytest.mark.parametrize(
    ("text", "bug"),
    [
        ("83356", Bug("gcc", 83356)),
        ("PR 83356", Bug("gcc", 83356)),
        ("pr target/89587", Bug("gcc", 89587, "target")),
        ("c++/12345", Bug("gcc", 12345, "c++")),
        ("llvm:143908", Bug("llvm", 143908)),
        ("#123", Bug("gcc", 123)),
        ("tick", None),
    ],
)
def test_spellings_of_a_bug(text: str, bug: Bug | None) -> None:
    """A bug is given as a number, with PR, with its component or with its tracker."""
    assert parse_bug(text) == bug


def test_stats_count_what_is_there(tmp_path: pathlib.Path) -> None:
    """The numbers that other programs read are all there."""
    with filled(
        tmp_path,
        mail(1, is_patch=True, fixes=[CommitRef(sha=UPSTREAM)], malformed=True),
        mail(2, other_prs=[OtherBug(tracker="syzbot", id="0123456789abcdef")]),
    ) as archive:
        numbers = stats(archive)
    assert {
        name: numbers[name]
        for name in ("messages", "copies", "damaged", "patches", "commits", "bugs", "lists")
    } == {
        "messages": 2,
        "copies": 2,
        "damaged": 1,
        "patches": 1,
        "commits": 1,
        "bugs": 1,
        "lists": 1,
    }

"""Bugs of GCC as kernel and GCC mails write them, bugs of other trackers, and what is no bug."""

from __future__ import annotations

import pytest

from tests.ingest.letters import evidence, parse_letter, parse_patch

BUGZILLA = "https://gcc.gnu.org/bugzilla/show_bug.cgi?id="

SPELLINGS = [
    (f"Link: {BUGZILLA}117178 [1]", 117178, None, "certain"),
    (f"{BUGZILLA}82602#c14", 82602, None, "certain"),
    (f"<{BUGZILLA}82602>", 82602, None, "certain"),
    (f"({BUGZILLA}82602).", 82602, None, "certain"),
    (f"See {BUGZILLA}82602.", 82602, None, "certain"),
    (f"{BUGZILLA}3D82365", 82365, None, "certain"),
    ("http://gcc.gnu.org/bugzilla/show_bug.cgi?id=58670", 58670, None, "certain"),
    (f"BugLink: {BUGZILLA}105032", 105032, None, "certain"),
    ("Link: https://gcc.gnu.org/PR114952", 114952, None, "certain"),
    ("https://gcc.gnu.org/PR122073 [1]", 122073, None, "certain"),
    ("This is GCC PR82365.", 82365, None, "certain"),
    ("This is GCC PR 108477.", 108477, None, "certain"),
    ("This is gcc PR 15089.", 15089, None, "certain"),
    ("This is GCC PR#66871.", 66871, None, "certain"),
    ("This is GCC PR target/89587.", 89587, "target", "certain"),
    ("This is GCC PR/83356.", 83356, None, "certain"),
    ("This is gcc bug 100680.", 100680, None, "certain"),
    ("This is GCC bug #50800.", 50800, None, "certain"),
    ("This is gcc bug # 53119.", 53119, None, "certain"),
    ("This is GCC Bugzilla #99157.", 99157, None, "certain"),
    ("This is GCC Bugzilla Bug 29141.", 29141, None, "certain"),
    ("\tPR tree-optimization/108477", 108477, "tree-optimization", "certain"),
    ("\tPR c++/108477", 108477, "c++", "certain"),
    ("\tPR libstdc++/108477", 108477, "libstdc++", "certain"),
    ("\tPR gcov-profile/108477", 108477, "gcov-profile", "certain"),
    ("Fixed by GCC 12 [PR83356].", 83356, None, "medium"),
    ("Fixed by GCC 12 (PR 83356).", 83356, None, "medium"),
    ("It was PR83356.", 83356, None, "low"),
]


@pytest.mark.parametrize(
    ("line", "number", "component", "confidence"), SPELLINGS, ids=[row[0] for row in SPELLINGS]
)
def test_spelling(line: str, number: int, component: str | None, confidence: str) -> None:
    """Each spelling names one bug, with its confidence and the line as evidence."""
    message = parse_letter(f"The lamp is miscompiled.\n\n{line}\n\nBo\n", subject="lamp")
    (bug,) = message.gcc_prs
    assert (bug.number, bug.component, bug.confidence) == (number, component, confidence)
    assert bug.where == ["body"]
    (proof,) = evidence(message, "gcc_prs")
    assert (proof.line, proof.confidence) == (3, confidence)
    assert proof.text in line


@pytest.mark.parametrize(
    "line",
    [
        "the gcc bug I linked to earlier",
        "https://llvm.org/pr143908",
        "Fixed by clang's PR50589 (NFC)",
        "[InstCombine] Add PR38789 test",
        "PR ld/27230",
        "PR gas/27230",
        "https://sourceware.org/bugzilla/show_bug.cgi?id=33921",
        "https://bugzilla.kernel.org/show_bug.cgi?id=217000",
        "KVM: PPC: Book3S PR: lamp 123456",
        "PR KVM",
        "persistent reservation (PR) 123456",
        "PR_SET_NAME",
        "<&gcc PRNG_CLK>",
        "PR #12",
        "PR kern/12345",
        "#2514",
        "https://gcc.gnu.org/onlinedocs/gcc-12.2.0/gcc/",
        "gcc 12.2 and gcc 13",
        "gcc version 100680",
    ],
)
def test_what_is_no_gcc_bug(line: str) -> None:
    """Other trackers, other PRs and other gccs are no bugs of GCC."""
    assert parse_letter(f"Text.\n\n{line}\n", subject="lamp").gcc_prs == []


@pytest.mark.parametrize(
    ("line", "tracker", "number"),
    [
        ("https://llvm.org/pr143908", "llvm", 143908),
        ("https://bugs.llvm.org/show_bug.cgi?id=38789", "llvm", 38789),
        ("https://github.com/llvm/llvm-project/issues/12345", "llvm", 12345),
        ("https://github.com/ClangBuiltLinux/linux/issues/1234", "clang-built-linux", 1234),
        ("PR ld/27230", "sourceware", 27230),
        ("https://sourceware.org/bugzilla/show_bug.cgi?id=33921", "sourceware", 33921),
        ("https://bugzilla.kernel.org/show_bug.cgi?id=217000", "kernel", 217000),
        ("https://bugs.debian.org/1012345", "debian", 1012345),
        ("https://bugs.debian.org/cgi-bin/bugreport.cgi?bug=1012345", "debian", 1012345),
        ("https://bugzilla.redhat.com/show_bug.cgi?id=2101234", "redhat", 2101234),
        ("https://bugzilla.suse.com/show_bug.cgi?id=1201234", "suse", 1201234),
        ("References: bsc#1201234", "suse", 1201234),
        ("BugLink: https://bugs.launchpad.net/bugs/2011234", "launchpad", 2011234),
        ("https://bugs.launchpad.net/ubuntu/+source/linux/+bug/2011234", "launchpad", 2011234),
        ("PR kern/12345", "netbsd", 12345),
    ],
)
def test_other_tracker(line: str, tracker: str, number: int) -> None:
    """Bugs of other trackers are on record as such, with their line."""
    message = parse_letter(f"Text.\n\n{line}\n", subject="lamp")
    (bug,) = message.other_prs
    assert (bug.tracker, bug.number) == (tracker, number)
    assert [entry.line for entry in evidence(message, "other_prs")] == [3]


@pytest.mark.parametrize(
    "line",
    [
        "Reported-by: syzbot+0123456789abcdef0123@syzkaller.appspotmail.com",
        "Link: https://syzkaller.appspot.com/bug?extid=0123456789abcdef0123",
        "syzbot-0123456789abcdef0123@syzkaller.appspotmail.com",
    ],
)
def test_syzbot(line: str) -> None:
    """syzbot's bugs have an id and no number."""
    (bug,) = parse_patch(f"Text.\n\n{line}").other_prs
    assert (bug.tracker, bug.number, bug.id) == ("syzbot", None, "0123456789abcdef0123")


def test_where_a_bug_stands() -> None:
    """Subject, body, trailer and each kind of diff line are told apart, in order."""
    message = parse_letter(
        f"See {BUGZILLA}100001 and {BUGZILLA}100002.\n\nLink: {BUGZILLA}100003\n---\n"
        "diff --git a/lamp.c b/lamp.c\nindex 1a2b3c4d5e6f..6f5e4d3c2b1a 100644\n"
        "--- a/lamp.c\n+++ b/lamp.c\n@@ -1,3 +1,3 @@\n"
        f" /* {BUGZILLA}100004 */\n-/* {BUGZILLA}100005 */\n+/* {BUGZILLA}100006 */\n"
        f" /* {BUGZILLA}100001 */\n",
        subject="[PATCH] lamp: work around GCC PR100002",
    )
    assert {bug.number: bug.where for bug in message.gcc_prs} == {
        100002: ["subject", "body"],
        100001: ["body", "diff-context"],
        100003: ["trailer"],
        100004: ["diff-context"],
        100005: ["diff-removed"],
        100006: ["diff-added"],
    }


def test_quoted_bug() -> None:
    """A bug that only the quoted author names is a quoted one."""
    message = parse_letter(
        f"> See {BUGZILLA}100001\n\nYes.\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH] lamp: dim",
    )
    assert [bug.where for bug in message.gcc_prs] == [["quoted"]]


def test_strongest_sighting_counts() -> None:
    """A bare number becomes certain where the same mail links the bug."""
    message = parse_letter(f"It was PR83356.\n\n{BUGZILLA}83356\n", subject="lamp")
    (bug,) = message.gcc_prs
    assert bug.confidence == "certain"
    assert len(evidence(message, "gcc_prs")) == 2


def test_several_bugs_of_a_subject() -> None:
    """``[PR1, PR2]`` and several components in one line."""
    message = parse_letter("Text.\n", subject="[PATCH] c++: dim PR c++/100001, PR target/100002")
    assert [(bug.component, bug.number) for bug in message.gcc_prs] == [
        ("c++", 100001),
        ("target", 100002),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://gcc.gnu.org/r11-4338", "r11-4338"),
        ("since r12-7719-g8ca61ad148f", "r12-7719"),
        ("https://gcc.gnu.org/g:e3b3b59683c1", "e3b3b59683c1"),
        ("https://gcc.gnu.org/git/?p=gcc.git;a=commit;h=e3b3b59683c1", "e3b3b59683c1"),
        ("https://gcc.gnu.org/r279999", "r279999"),
        ("GCC commit r11-4338", "r11-4338"),
    ],
)
def test_gcc_commit(text: str, name: str) -> None:
    """Commits of GCC are never taken for the kernel's."""
    message = parse_patch(f"Broken {text} by GCC.")
    assert message.gcc_commits == [name]
    assert message.upstream_commits == []
    assert message.mentioned_commits == []
    assert message.gcc_prs == []


def test_gcc_commit_as_git_describes_it() -> None:
    """``r12-7719-g8ca61ad148f`` is GCC's without its name beside it; a kernel's tag is not."""
    message = parse_patch("Started with r12-7719-g8ca61ad148f.\nIn v5.10-r5-12-gabcdef012345 too.")
    assert message.gcc_commits == ["r12-7719"]


def test_evidence_of_a_wrapped_bug() -> None:
    """Where a wrap parted "GCC PR" from its number, the evidence is the line that begins it."""
    message = parse_patch("Built wrong, see GCC PR\n108477 for that.")
    assert [bug.number for bug in message.gcc_prs] == [108477]
    assert [entry.text for entry in evidence(message, "gcc_prs")] == ["Built wrong, see GCC PR"]

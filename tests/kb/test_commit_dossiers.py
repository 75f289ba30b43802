"""The dossier of a commit: chains of fixes, reviewers, revisions, CVEs; by mail as by git."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Callable, Iterator

import pytest

from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.dossiers.commits import CommitDossier, commit_dossier
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository

FIRST = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
SECOND = "1f2e3d4c5b6a79880716253443526170fedcba98"
THIRD = "2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a"
UNDONE = "3e4d5c6b7a8998a7b6c5d4e3f2011f0e3d4c5b6a"

DIFF = """\
---
diff --git a/kernel/tick.c b/kernel/tick.c
index 1111111..2222222 100644
--- a/kernel/tick.c
+++ b/kernel/tick.c
@@ -1,2 +1,2 @@ void tick(void)
 {
-\tcount += 1;
+\tcount += 2;
--
2.40.0
"""

Storing = Callable[..., str]


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Iterator[Archive]:
    """Return an archive that is open for writing."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield archive


@pytest.fixture
def store(archive: Archive) -> Storing:
    """Return a function that stores a mail with a subject and a text; it returns the id."""
    numbers = itertools.count(1)

    def stored(subject: str, body: str, reply_to: str | None = None, **fields: str) -> str:
        number = next(numbers)
        id_ = f"{number}@example.org"
        head = {
            "From": "Ada Quill <ada@example.org>",
            "To": "clocks@lists.example.org",
            "Subject": subject,
            "Date": f"Tue, {number} Jan 2030 03:04:05 +0000",
            "Message-ID": f"<{id_}>",
            **({"In-Reply-To": f"<{reply_to}>", "References": f"<{reply_to}>"} if reply_to else {}),
            **fields,
        }
        text = "".join(f"{name}: {value}\n" for name, value in head.items()) + "\n" + body
        raw = Raw(
            data=text.encode(), source=Source(path="clocks.mbox", format="mbox", offset=number)
        )
        archive.add([parse_raw(raw)], [raw])
        return id_

    return stored


def backport(sha: str, *tags: str) -> str:
    """Return the text of a backport of a commit, with tags."""
    return "\n".join([f"commit {sha} upstream.", "", "Tick twice.", "", *tags, DIFF])


def chain(dossier: CommitDossier, side: str) -> list[tuple[int, str, str | None, str]]:
    """Return depth, relation, commit and the commit that it is about, of the links of a side."""
    return [
        (link.depth, link.relation, link.sha, link.of)
        for link in (dossier.later if side == "later" else dossier.earlier)
    ]


def test_fixes_are_followed_in_mail(archive: Archive, store: Storing) -> None:
    """What fixes the fix of a commit is told, and what the commit that a commit fixes fixed."""
    store("[PATCH 6.6] tick: b", backport(SECOND, f'Fixes: {FIRST[:12]} ("tick: a")'))
    last = store("[PATCH 6.6] tick: c", backport(THIRD, f'Fixes: {SECOND[:12]} ("tick: b")'))
    store("[PATCH 6.1] tick: c", backport(THIRD, f'Fixes: {SECOND[:12]} ("tick: b")'))
    dossier = commit_dossier(archive, FIRST[:12])
    assert chain(dossier, "later") == [
        (1, "fixes", SECOND, FIRST[:12]),
        (2, "fixes", THIRD, SECOND),
    ]
    link = dossier.later[1]
    assert (link.subject, link.key) == ("tick: c", "3@example.org")
    assert link.text == f'Fixes: {SECOND[:12]} ("tick: b")'
    dossier = commit_dossier(archive, THIRD)
    assert chain(dossier, "earlier") == [
        (1, "fixes", SECOND, THIRD),
        (2, "fixes", FIRST[:12], SECOND),
    ]
    assert dossier.earlier[1].subject == "tick: a"
    assert last == "2@example.org"


def test_a_patch_whose_commit_is_not_known_is_one_link(archive: Archive, store: Storing) -> None:
    """Its revisions are not told one by one, and a reply that quotes the tag is none."""
    body = f'Tick twice.\n\nFixes: {FIRST[:12]} ("tick: a")\n{DIFF}'
    store("[PATCH] tick: b", body)
    newest = store("[PATCH v2] tick: b", body)
    store("Re: [PATCH] tick: b", f'> Fixes: {FIRST[:12]} ("tick: a")\n\nIndeed.\n')
    dossier = commit_dossier(archive, FIRST[:12])
    assert chain(dossier, "later") == [(1, "fixes", None, FIRST[:12])]
    assert dossier.later[0].key == newest


def test_reverts_stand_in_the_chain(archive: Archive, store: Storing) -> None:
    """A revert of the fix is a link, and commits that name each other end the walk."""
    store("[PATCH 6.6] tick: b", backport(SECOND, f'Fixes: {FIRST[:12]} ("tick: a")'))
    says = (f"This reverts commit {SECOND}.", "", f'Fixes: {SECOND[:12]} ("tick: b")')
    store('[PATCH 6.6] Revert "tick: b"', backport(UNDONE, *says))
    store("[PATCH 6.6] tick: a", backport(FIRST, f'Fixes: {UNDONE[:12]} ("x")'))
    dossier = commit_dossier(archive, FIRST)
    assert [(depth, sha) for depth, _, sha, _ in chain(dossier, "later")] == [
        (1, SECOND),
        (2, UNDONE),
    ]
    assert dossier.later[1].relation in ("reverts", "fixes")


def test_git_and_mail_tell_the_same_chain(
    archive: Archive, store: Storing, tmp_path: pathlib.Path
) -> None:
    """Commits of a tree are followed as those of mail are, and a backport stands for its commit."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin")
    first = made.commit("tick: a")
    second = made.commit(f'tick: b\n\nFixes: {first[:12]} ("tick: a")\n')
    third = made.commit(f'tick: c\n\nFixes: {second[:12]} ("tick: b")\n')
    made.git("checkout", "-q", "-b", "linux-6.6.y", first)
    made.commit(f'tick: b\n\ncommit {second} upstream.\n\nFixes: {first[:12]} ("tick: a")\n')
    fill_tree(archive, "linux", str(made.folder))
    dossier = commit_dossier(archive, first)
    assert chain(dossier, "later") == [(1, "fixes", second, first), (2, "fixes", third, second)]
    dossier = commit_dossier(archive, third)
    assert chain(dossier, "earlier") == [(1, "fixes", second, third), (2, "fixes", first, second)]
    assert dossier.earlier[1].subject == "tick: a"
    with Archive(tmp_path / "mail", write=True) as other:
        for number, (sha, tag) in enumerate(((second, first), (third, second)), 1):
            text = backport(sha, f'Fixes: {tag[:12]} ("x")')
            head = f"From: ada@example.org\nSubject: [PATCH 6.6] tick: {number}\n"
            raw = Raw(
                data=f"{head}Date: Tue, 1 Jan 2030 03:04:05 +0000\n"
                f"Message-ID: <{number}@example.org>\n\n{text}".encode(),
                source=Source(path="x.mbox", format="mbox", offset=number),
            )
            other.add([parse_raw(raw)], [raw])
        assert [link.sha for link in commit_dossier(other, first[:12]).later] == [second, third]


def test_reviewers_are_those_of_the_patch_and_of_answers(archive: Archive, store: Storing) -> None:
    """Each once, whatever copies repeat the tag; a quoted tag and a test of a release are none."""
    patch = store(
        "[PATCH] tick: b", f"Tick twice.\n\nReported-by: Cleo Ward <cleo@example.org>\n{DIFF}"
    )
    store(
        "Re: [PATCH] tick: b",
        "> Tick twice.\n> Acked-by: Nobody <nobody@example.org>\n\n"
        "Reviewed-by: Bo Tern <bo@example.org>\n",
        reply_to=patch,
        From="Bo Tern <bo@example.org>",
    )
    tags = ("Reported-by: Cleo Ward <cleo@example.org>", "Reviewed-by: Bo Tern <bo@example.org>")
    store("[PATCH 6.6] tick: b", backport(SECOND, *tags))
    found = commit_dossier(archive, SECOND).reviewers
    assert [(one.role, one.email, one.source) for one in found] == [
        ("reviewed-by", "bo@example.org", "patch"),
        ("reported-by", "cleo@example.org", "patch"),
    ]


def test_an_answer_alone_names_a_reviewer(archive: Archive, store: Storing) -> None:
    """Who answered to the patch on the list is told though no commit says it."""
    patch = store("[PATCH] tick: b", f"Tick twice.\n{DIFF}")
    answer = store(
        "Re: [PATCH] tick: b",
        "> Tick twice.\n\nTested-by: Bo Tern <bo@example.org>\n",
        reply_to=patch,
        From="Bo Tern <bo@example.org>",
    )
    store("[PATCH 6.6] tick: b", backport(SECOND))
    (one,) = commit_dossier(archive, SECOND).reviewers
    assert (one.role, one.name, one.source, one.key) == ("tested-by", "Bo Tern", "reply", answer)


def test_reviewers_of_a_commit_of_git(archive: Archive, tmp_path: pathlib.Path) -> None:
    """A commit's own trailers name them."""
    made = Repository(tmp_path / "clock")
    sha = made.commit("tick: a\n\nTick.\n\nReviewed-by: Bo Tern <bo@example.org> # twice\n")
    fill_tree(archive, "linux", str(made.folder))
    (one,) = commit_dossier(archive, sha).reviewers
    assert (one.role, one.name, one.email, one.source) == (
        "reviewed-by",
        "Bo Tern",
        "bo@example.org",
        "commit",
    )


def test_revisions_with_another_title_belong_to_the_patch(archive: Archive, store: Storing) -> None:
    """v1 under an old title is a revision, by the answer that v2 is."""
    first = store("[PATCH] tick: count", f"Tick.\n{DIFF}")
    second = store("[PATCH v2] tick: b", f"Tick twice.\n{DIFF}", reply_to=first)
    store("[PATCH 6.6] tick: b", backport(SECOND))
    found = commit_dossier(archive, SECOND).revisions
    assert [(one.label, one.message.key) for one in found] == [("v1", first), ("v2", second)]


def test_answers_to_any_revision_are_the_discussion(archive: Archive, store: Storing) -> None:
    """What answers v1 or v2, or such an answer; not what answers another mail."""
    first = store("[PATCH] tick: b", f"Tick.\n{DIFF}")
    doubt = store("Re: [PATCH] tick: b", "Why?", reply_to=first)
    second = store("[PATCH v2] tick: b", f"Tick twice.\n{DIFF}", reply_to=first)
    praise = store("Re: [PATCH v2] tick: b", "I see.", reply_to=second)
    other = store("[PATCH] tock: c", f"Tock.\n{DIFF}")
    store("Re: [PATCH] tock: c", "No.", reply_to=other)
    store("[PATCH 6.6] tick: b", backport(SECOND))
    found = commit_dossier(archive, SECOND).discussion
    assert [(one.how, one.message.key, one.to) for one in found] == [
        ("answers", doubt, first),
        ("answers", praise, second),
    ]


def test_vulnerabilities_of_a_commit(archive: Archive, store: Storing) -> None:
    """By a record the commit ended a vulnerability, or brought one."""
    store(
        "CVE-2030-10001: tick: count twice",
        "Description\n===========\n\ntick\n\nAffected and fixed versions\n"
        "===========================\n\n"
        f"\tIssue introduced in 4.3 with commit {FIRST} and fixed in 6.8 with commit {SECOND}\n",
    )
    fixing, causing = commit_dossier(archive, SECOND), commit_dossier(archive, FIRST)
    assert [pair.cve for pair in fixing.ended] == ["CVE-2030-10001"]
    assert "CVE-2030-10001" in fixing.cves
    assert [pair.cve for pair in causing.brought] == ["CVE-2030-10001"]
    assert (causing.ended, fixing.brought, causing.cves) == ([], [], [])


def test_a_request_for_several_commits_lends_none_its_cve(archive: Archive, store: Storing) -> None:
    """A mail that asks for two commits and names a CVE does not say that either fixes it."""
    store(
        "please apply",
        f"Please apply to 6.6 these commits for CVE-2030-10002:\n\n{FIRST}\n{SECOND}\n\nThanks\n",
    )
    store("[PATCH 6.6] tick: a", backport(FIRST))
    assert commit_dossier(archive, FIRST).cves == []

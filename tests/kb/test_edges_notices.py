"""Edges that notices prove: of bots, of maintainers, of tip-bot, whose mails are commits."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from patchlore.ingest.message import Applied, Evidence, Message, Person
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.edges import update_edges
from patchlore.kb.edges_notices import read_notice
from patchlore.kb.edges_reading import became
from patchlore.kb.reading import find_message
from patchlore.kb.store import Archive
from tests.kb.edging import OLD, SHA, add, edges, follow, posted
from tests.kb.git_repositories import DAY, Repository
from tests.kb.mails import NOON, message


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a repository with one commit."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin", {"clock.c": OLD})
    return made


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Any:
    """Return an archive that is open for writing."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield archive


def test_a_notice_names_the_commit_of_each_patch_in_its_thread(archive: Archive) -> None:
    """patchwork-bot and b4 list titles with commits: each goes to the patch of its title."""
    add(
        archive,
        posted("one@example.org", 1),
        posted("two@example.org", 2, references=["one@example.org"]),
        posted("three@example.org", 2, references=["one@example.org"], clean_subject="tick: stop"),
        message(
            "bot@example.org",
            subject="Re: [PATCH] tick: use two",
            timestamp=NOON + 3 * DAY,
            is_reply=True,
            in_reply_to="one@example.org",
            references=["one@example.org"],
            applied=[
                Applied(sha=SHA[:12], title="tick: stop"),
                Applied(sha=SHA, title="tick: use two"),
            ],
            evidence=[
                Evidence(
                    fact="applied", value=SHA, line=4, rule="summary-of-commits", text=f"  {SHA}"
                )
            ],
        ),
    )
    update_edges(archive)
    assert edges(archive) == [
        ("one@example.org", SHA, "notice", 0),
        ("three@example.org", SHA[:12], "notice", 1),
    ]
    (found,) = became(archive, find_message(archive, "one@example.org"))
    assert (found.sha, found.witness, found.line) == (SHA, "bot@example.org", 4)


def test_a_notice_that_comes_before_its_patch_finds_it(archive: Archive) -> None:
    """Lists are ingested in any order."""
    add(
        archive,
        message(
            "bot@example.org",
            timestamp=NOON + 3 * DAY,
            is_reply=True,
            in_reply_to="one@example.org",
            references=["one@example.org"],
            applied=[Applied(sha=SHA, title="tick: use two")],
        ),
    )
    update_edges(archive)
    assert edges(archive) == []
    add(archive, posted("one@example.org", 1))
    update_edges(archive)
    assert edges(archive) == [("one@example.org", SHA, "notice", 0)]


TIP = f"""The following commit has been merged into the core branch of tip:

Commit-ID:     {SHA}
Gitweb:        https://git.example.org/tip/{SHA}
Author:        Ada Quill <ada@example.org>
AuthorDate:    Tue, 02 Jan 2024 04:04:05 +01:00
Committer:     Bo Tern <bo@example.org>
CommitterDate: Wed, 03 Jan 2024 04:04:05 +01:00

tick: Use two

The manual says so.

Signed-off-by: Ada Quill <ada@example.org>
Link: https://lore.kernel.org/r/one@example.org
---
 clock.c | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/clock.c b/clock.c
index 1111111..2222222 100644
--- a/clock.c
+++ b/clock.c
@@ -1 +1 @@
-tick one of the clock
+tick two of the clock
"""


def tip_mail(body: str = TIP) -> tuple[Message, Raw]:
    """Return a mail of tip-bot, parsed."""
    head = (
        "From: tip-bot2 for Ada Quill <bot@example.org>\n"
        "Subject: [tip: core] tick: Use two\n"
        "Date: Wed, 03 Jan 2024 04:05:00 -0000\n"
        "Message-ID: <tip@example.org>\nIn-Reply-To: <one@example.org>\n\n"
    )
    raw = Raw(data=(head + body).encode(), source=Source(path="/mail/tip", format="mbox"))
    return parse_raw(raw), raw


def test_a_mail_of_tip_bot_is_a_commit(archive: Archive) -> None:
    """Its sha, people, dates, title, patch id and links count as those of a commit."""
    parsed, raw = tip_mail()
    archive.add([parsed], [raw])
    add(archive, posted("one@example.org", 0, timestamp=NOON, patch_id=parsed.patch_id))
    update_edges(archive)
    row = archive.execute("SELECT sha, subject, author_time, data FROM git_commit").fetchone()
    assert row == (SHA, "tick: Use two", NOON, None)
    assert edges(archive) == [
        ("one@example.org", SHA, rule, 0) for rule in ("author-date", "link", "notice", "patch-id")
    ] + [("one@example.org", SHA, "title", 1)]


def test_the_older_form_of_tip_bot_is_read() -> None:
    """Until 2019 the head stood alone at the top."""
    parsed, _ = tip_mail(TIP.partition("\n\n")[2])
    notice = read_notice(parsed)
    assert notice is not None
    assert (notice.sha, notice.subject, notice.author_time) == (SHA, "tick: Use two", NOON)
    assert notice.author == Person(name="Ada Quill", email="ada@example.org")


def test_other_mail_is_no_notice() -> None:
    """A head without an author, and no head at all."""
    for body in (f"Commit-ID: {SHA}\n\ntick\n", "tick\n", ""):
        parsed, _ = tip_mail(body)
        assert read_notice(parsed) is None


def test_a_tree_that_has_the_commit_knows_better(
    tmp_path: pathlib.Path, archive: Archive, repository: Repository
) -> None:
    """What a notice told is replaced by what git has; the notice stays named."""
    sha = repository.commit("tick: Use two\n\nAs git has it.\n")
    parsed, raw = tip_mail(TIP.replace(SHA, sha))
    archive.add([parsed], [raw])
    add(archive, posted("one@example.org", 0))
    update_edges(archive)
    follow(archive, repository)
    row = archive.execute(
        "SELECT message IS NOT NULL, data IS NOT NULL, place IS NOT NULL, author_time"
        " FROM git_commit WHERE sha = ?",
        (sha,),
    ).fetchone()
    assert row == (1, 1, 1, NOON + repository.day * DAY)
    assert archive.value("SELECT count(*) FROM git_commit WHERE sha = ?", (sha,)) == 1

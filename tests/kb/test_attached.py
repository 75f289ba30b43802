"""Patches attached to a mail: each is a posting of its own, and searches find the outer mail."""

from __future__ import annotations

import io
import pathlib

import pytest

from patchlore.kb.backports import Row, backports
from patchlore.kb.export import writer
from patchlore.kb.filling import fill
from patchlore.kb.history import events_of_commit
from patchlore.kb.store import Archive
from tests.kb.attachments import BOTH, letter, patch
from tests.kb.mails import OTHER, UPSTREAM


def filled(path: pathlib.Path, *mails: bytes) -> Archive:
    """Return an archive of mails, open for writing."""
    folder = path / "mail"
    folder.mkdir()
    for number, data in enumerate(mails):
        (folder / f"{number}.eml").write_bytes(data)
    archive = Archive(path / "archive", write=True)
    fill(archive, [str(folder)], jobs=0)
    return archive


def rows(path: pathlib.Path, tree: str, *mails: bytes) -> list[Row]:
    """Return the list of a tree."""
    with filled(path, *mails) as archive:
        return backports(archive, tree)


@pytest.mark.parametrize(("tree", "number", "line"), [("5.10", 0, 7), ("5.4", 1, 25)])
def test_each_tree_has_its_attached_patch(
    tmp_path: pathlib.Path, tree: str, number: int, line: int
) -> None:
    """The tree stands in the patch's own subject, or in the name of its file."""
    (row,) = rows(tmp_path, tree, BOTH)
    assert (row.sha, row.state, row.subject) == (UPSTREAM, "in-flight", "tick: use two")
    (event,) = row.events
    assert (event.kind, event.key, event.attachment) == ("posted", "both@example.org", number)
    assert (event.author, event.by, event.applicable) == ("Bo Tern", "Ada Quill", True)
    assert (event.line, event.text) == (line, f"commit {UPSTREAM} upstream.")


def test_a_mail_and_its_attachment_are_one_posting(tmp_path: pathlib.Path) -> None:
    """The mail's tag names the tree of the patch that is attached: told once."""
    mail = letter(
        "one",
        ("tick.patch", patch("[PATCH] tick: use two", "tick.c")),
        subject="[PATCH 5.10] tick: use two",
    )
    (row,) = rows(tmp_path, "5.10", mail)
    assert [event.attachment for event in row.events] == [0]


def test_the_same_patch_attached_twice_is_told_once(tmp_path: pathlib.Path) -> None:
    """For one tree and commit one event a mail, whatever is attached."""
    content = patch("[PATCH 5.10] tick: use two", "tick.c")
    (row,) = rows(tmp_path, "5.10", letter("twice", ("a.patch", content), ("b.patch", content)))
    assert len(row.events) == 1


def test_an_answer_to_a_failure_may_carry_the_backport(tmp_path: pathlib.Path) -> None:
    """A reply has no tag of its own; what is attached to it is posted all the same."""
    mail = letter(
        "answer",
        ("tick.patch", patch("[PATCH 5.4.y] tick: use two", "tick.c")),
        subject='Re: FAILED: patch "[PATCH] tick: use two" failed to apply to 5.4-stable tree',
    )
    (row,) = rows(tmp_path, "5.4", mail)
    assert [(event.kind, event.attachment) for event in row.events] == [("posted", 0)]


def test_a_patch_that_names_no_commit_is_no_backport(tmp_path: pathlib.Path) -> None:
    """It is told by nothing but its title, which any patch has."""
    mail = letter("none", ("a.patch", patch("[PATCH 5.10] tick: use two", "tick.c", sha=None)))
    assert rows(tmp_path, "5.10", mail) == []


def test_a_commit_knows_the_trees_of_its_attached_patches(tmp_path: pathlib.Path) -> None:
    """As the lists of the trees do."""
    with filled(tmp_path, BOTH) as archive:
        events = events_of_commit(archive, [UPSTREAM])
        assert [(event.tree, event.attachment) for event in events] == [("5.10.y", 0), ("5.4.y", 1)]
        assert [e.tree for e in events_of_commit(archive, [UPSTREAM], "5.4")] == ["5.4.y"]


RANGE = letter("range", ("a.patch", patch("[PATCH AUTOSEL 6.17-5.4] tick: use two", "tick.c")))


@pytest.mark.parametrize(
    ("tree", "kinds"), [("6.6", ["autosel"]), ("5.4", ["autosel"]), ("4.19", [])]
)
def test_a_range_of_trees_counts_for_what_is_attached(
    tmp_path: pathlib.Path, tree: str, kinds: list[str]
) -> None:
    """From the newest down to the oldest, its ends among them."""
    found = rows(tmp_path, tree, RANGE)
    assert [event.kind for row in found for event in row.events] == kinds


def test_a_forwarded_mail_is_found_by_its_files_and_commits(tmp_path: pathlib.Path) -> None:
    """What only the enclosed mail says is quoted: the outer one does not say it."""
    inner = patch("[PATCH 5.10] tick: use two", "deep/tick.c", OTHER).partition("\n")[2]
    mail = letter("forward", ("x.eml", inner), form="message/rfc822")
    with filled(tmp_path, mail) as archive:
        found = archive.execute(
            "SELECT relation, quoted FROM commit_ref WHERE sha = ? AND relation = 'upstream'",
            (OTHER,),
        ).fetchall()
        assert found == [("upstream", 1)]
        paths = archive.execute(
            "SELECT text, kind FROM file JOIN path ON path.id = file.path"
        ).fetchall()
        assert paths == [("deep/tick.c", "attached")]
        (row,) = backports(archive, "5.10")
        assert [(event.attachment, event.line) for event in row.events] == [(0, None)]


def test_a_maintainers_answer_queues_what_is_attached(tmp_path: pathlib.Path) -> None:
    """ "Now queued up" below a mail with patches for two trees is about each."""
    answer = b"""\
From: Greg Kroah-Hartman <gregkh@linuxfoundation.org>
Date: Wed, 3 Jan 2024 03:04:05 +0000
Subject: Re: Backports
Message-ID: <answer@example.org>
In-Reply-To: <both@example.org>

> The patches for the older trees are attached.

Now queued up, thanks.
"""
    (row,) = rows(tmp_path, "5.4", BOTH, answer)
    assert [event.kind for event in row.events] == ["posted", "queued"]
    assert row.state == "queued"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("[PATCH] tick: use two", "[PATCH 5.10.y] tick: use two"),
        ("[PATCH 2/3] tick: use two", "[PATCH 5.10.y 2/3] tick: use two"),
        ("[PATCH 5.10] tick: use two", "[PATCH 5.10] tick: use two"),
        ("tick: use two", "[PATCH 5.10.y] tick: use two"),
    ],
)
def test_an_attached_patch_of_an_mbox_names_its_tree(
    tmp_path: pathlib.Path, given: str, written: str
) -> None:
    """Its mail named the tree; read alone it is a backport for that tree, too."""
    mail = letter("one", ("tick.patch", patch(given, "tick.c")), subject="[PATCH 5.10.y] tick")
    out = io.BytesIO()
    with filled(tmp_path, mail) as archive:
        writer("mbox")(archive, "5.10.y", backports(archive, "5.10"), out)
    assert f"\nSubject: {written}\n" in out.getvalue().decode()
    (tmp_path / "back").mkdir()
    (row,) = rows(tmp_path / "back", "5.10", out.getvalue().partition(b"\n")[2])
    assert (row.sha, row.state, row.subject) == (UPSTREAM, "in-flight", "tick: use two")

"""Folders of the stable maintainers: what lies in them is queued, or released."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.kb.backports import Row, backports
from patchlore.kb.filling import fill
from patchlore.kb.filtering import Filters
from patchlore.kb.history import events_of_commit
from patchlore.kb.redoing import redo_facts
from patchlore.kb.store import Archive
from patchlore.kb.trees import is_known, nearest
from tests.kb.mails import UPSTREAM

PATCH = """\
From {sha} Mon Sep 17 00:00:00 2001
From: Ada Quill <ada@example.org>
Date: Mon, 1 Jan 2024 03:04:05 +0000
Subject: {title}

{marker}

Let it tick twice, as the manual has it, and tell so in its log.

Signed-off-by: Ada Quill <ada@example.org>
---
--- a/tick.c
+++ b/tick.c
@@ -1 +1 @@
-one
+two
"""


def write(folder: pathlib.Path, name: str = "tick-use-two.patch", **values: str) -> None:
    """Write a patch into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {
        "sha": UPSTREAM,
        "title": "tick: use two",
        "marker": f"commit {UPSTREAM} upstream.",
        **values,
    }
    (folder / name).write_text(PATCH.format(**given))


def rows(path: pathlib.Path, tree: str = "6.6", *sources: str) -> list[Row]:
    """Read folders into an archive and return the list of a tree."""
    with Archive(path / "archive", write=True) as archive:
        fill(archive, [str(path / name) for name in sources or ("stable",)], jobs=0)
        return backports(archive, tree)


def test_what_waits_in_a_queue_is_queued(tmp_path: pathlib.Path) -> None:
    """The folder names the tree, the patch its commit."""
    write(tmp_path / "stable" / "queue-6.6")
    (row,) = rows(tmp_path)
    assert (row.state, row.sha, row.subject) == ("queued", UPSTREAM, "tick: use two")
    assert (row.event.rule, row.event.line) == ("in the folder queue-6.6", 1)
    assert row.event.text == f"commit {UPSTREAM} upstream."
    assert row.event.applicable


def test_what_lies_in_a_release_is_released(tmp_path: pathlib.Path) -> None:
    """With the release that the folder names; it was queued in another folder before."""
    write(tmp_path / "stable" / "queue-6.6")
    write(tmp_path / "stable" / "releases" / "6.6.9")
    (row,) = rows(tmp_path)
    assert (row.state, row.event.release) == ("released", "6.6.9")
    assert row.reason == "released in 6.6.9"
    assert sorted(event.kind for event in row.events) == ["queued", "released"]


def test_a_fix_kept_by_vulnerability_and_tree_is_posted(tmp_path: pathlib.Path) -> None:
    """Collections for old kernels: the folders name the CVE and the tree."""
    write(tmp_path / "stable" / "CVE-2023-90001" / "4.19", "0001.patch")
    (row,) = rows(tmp_path, "4.19")
    assert (row.state, row.sha) == ("in-flight", UPSTREAM)
    assert (row.event.rule, row.event.line) == ("in the folder CVE-2023-90001/4.19", 1)
    with Archive(tmp_path / "archive") as archive:
        assert Filters(cve="CVE-2023-90001").choose(archive, [row]) == [row]


def test_the_date_of_a_release_is_that_of_its_announcement(tmp_path: pathlib.Path) -> None:
    """The patch in the folder has its author's date, years before perhaps."""
    write(tmp_path / "stable" / "releases" / "6.6.9")
    (tmp_path / "release.eml").write_text(
        "From: Bo Tern <bo@example.org>\nDate: Fri, 5 Jan 2024 03:04:05 +0000\n"
        "Subject: Linux 6.6.9\nMessage-ID: <release@example.org>\n\n"
        "I'm announcing the release of the 6.6.9 kernel.\n"
    )
    (row,) = rows(tmp_path, "6.6", "stable", "release.eml")
    assert row.event.timestamp == 1704423845


def test_a_patch_of_the_queue_without_a_commit_is_told_by_its_title(
    tmp_path: pathlib.Path,
) -> None:
    """A stable tree has patches of its own."""
    write(tmp_path / "stable" / "queue-6.6", marker="Only 6.6 has this file.", title="tick: stop")
    (row,) = rows(tmp_path)
    assert (row.state, row.sha, row.subject) == ("queued", None, "tick: stop")
    assert row.event.text is not None
    assert row.event.text.endswith("queue-6.6/tick-use-two.patch")


def test_a_revert_in_a_release_reverts(tmp_path: pathlib.Path) -> None:
    """As a revert that was posted does."""
    write(tmp_path / "stable" / "releases" / "6.6.9")
    write(
        tmp_path / "stable" / "releases" / "6.6.10",
        title='Revert "tick: use two"',
        marker=f"This reverts commit {UPSTREAM}.",
    )
    (row,) = rows(tmp_path)
    assert row.state == "reverted"


def test_a_commit_knows_the_folders_that_it_lies_in(tmp_path: pathlib.Path) -> None:
    """One mail in the queues of two trees: an event in each."""
    write(tmp_path / "stable" / "queue-6.6")
    write(tmp_path / "stable" / "queue-6.1")
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "stable")], jobs=0)
        assert archive.value("SELECT count(*) FROM message") == 1
        events = events_of_commit(archive, [UPSTREAM])
        assert sorted((event.tree, event.kind) for event in events) == [
            ("6.1.y", "queued"),
            ("6.6.y", "queued"),
        ]
        assert [e.tree for e in events_of_commit(archive, [UPSTREAM], "6.1")] == ["6.1.y"]


def test_a_tree_that_only_a_folder_names_is_known(tmp_path: pathlib.Path) -> None:
    """And told as a tree that is near one that is not."""
    write(tmp_path / "stable" / "queue-99.1")
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "stable")], jobs=0)
        assert is_known(archive, "99.1")
        assert nearest(archive, "99.2", 1) == ["99.1.y"]


@pytest.mark.parametrize("turned", [False, True])
def test_places_are_made_again_from_paths(tmp_path: pathlib.Path, turned: bool) -> None:
    """An archive of before they were kept has the paths of all copies."""
    folders = ["queue-6.6", "releases/6.6.9"]
    for folder in reversed(folders) if turned else folders:
        write(tmp_path / "stable" / folder)
    rows(tmp_path)
    with Archive(tmp_path / "archive", write=True) as archive:
        before = archive.execute("SELECT * FROM message_place ORDER BY tree, state").fetchall()
        archive.execute("DELETE FROM message_place")
        redo_facts(archive)
        after = archive.execute("SELECT * FROM message_place ORDER BY tree, state").fetchall()
    assert after == before
    assert len(after) == 2

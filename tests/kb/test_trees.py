"""Which stable trees exist: by the table, by mail, by the archive's own word."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.ingest.message import (
    Message,
    StableNote,
)
from patchlore.kb.backports import backports
from patchlore.kb.errors import ArchiveError
from patchlore.kb.store import Archive
from patchlore.kb.trees import is_known, nearest
from tests.kb.mails import message, tags
from tests.kb.postings import FUTURE, posting, rows


@pytest.fixture
def noted() -> Message:
    """A patch with an open note, sent in January 2024."""
    return message(is_patch=True, cc_stable=[StableNote(range="v4.15+", text="v4.15+")])


def test_a_note_nominates_for_no_tree_that_does_not_exist(
    tmp_path: pathlib.Path, noted: Message
) -> None:
    """`v4.15+` is open above, and there is still no 9.9 to nominate for."""
    assert rows(tmp_path, "9.9", noted) == []
    with Archive(tmp_path) as archive:
        assert len(backports(archive, "6.6")) == 1
        assert not is_known(archive, "9.9")
        assert nearest(archive, "9.9", 2) == ["7.0.y", "6.19.y"]


def test_a_tree_that_mail_names_exists(tmp_path: pathlib.Path, noted: Message) -> None:
    """A posting for 9.9 makes the note count there, too."""
    later = message("later@example.org", **FUTURE, subject_tags=tags("9.9.y"), subject="x")
    assert len(rows(tmp_path, "9.9", noted, later)) == 1


def test_the_archive_can_name_trees_itself(tmp_path: pathlib.Path, noted: Message) -> None:
    """trees.toml in the archive's folder adds a tree, and when it began."""
    (tmp_path / "trees.toml").write_text('[first-release]\n"9.9" = 2023-01-01\n')
    assert len(rows(tmp_path, "9.9", noted)) == 1
    (tmp_path / "trees.toml").write_text('[first-release]\n"9.9" = "2025-01-01"\n')
    with Archive(tmp_path) as archive:
        assert backports(archive, "9.9") == []


def test_a_table_of_trees_that_cannot_be_read_is_named(tmp_path: pathlib.Path) -> None:
    """The message says which file, and what one looks like."""
    (tmp_path / "trees.toml").write_text("longterm = 5\n")
    with pytest.raises(ArchiveError, match=r"trees\.toml can't be read"):
        rows(tmp_path, "5.10", posting(1))

"""``git patch-id --stable``: what changes the id and what does not, and git's odd corners."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.patch_id import stable_patch_id
from tests.ingest.letters import DIFF, SHA, parse_letter
from tests.ingest.repositories import GIT, Repository

BULB = DIFF.replace("lamp", "bulb")


def patch_id(text: str) -> str | None:
    """The id of a patch in text."""
    return stable_patch_id(text.encode().split(b"\n"))


def test_line_numbers_do_not_count() -> None:
    """The same change elsewhere in the file has the same id."""
    assert patch_id(DIFF) == patch_id(DIFF.replace("@@ -1,3 +1,3 @@", "@@ -71,3 +75,3 @@"))


def test_white_space_does_not_count() -> None:
    """White space is left out of the sum."""
    assert patch_id(DIFF) == patch_id(DIFF.replace("\tlamp->level", "    lamp -> level"))


def test_order_of_files_does_not_count() -> None:
    """A stable id is the sum over files."""
    assert patch_id(DIFF + BULB) == patch_id(BULB + DIFF)


def test_content_counts() -> None:
    """Another change has another id."""
    assert patch_id(DIFF) != patch_id(DIFF.replace("level = 1", "level = 2"))


@pytest.mark.parametrize("text", ["", "Text.\n", "--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n"])
def test_no_id_without_a_diff_line(text: str) -> None:
    """Without a ``diff`` line there is no id, in git neither."""
    assert patch_id(text) is None


def test_text_around_does_not_count() -> None:
    """A mail's message, notes and signature are no part of the id."""
    message = parse_letter(f"Text.\n---\nv2: shorter\n\n{DIFF}-- \n2.41.0\n")
    assert message.patch_id == patch_id(DIFF)


def test_octets_count_not_characters() -> None:
    """The id is that of the octets sent, whatever their charset."""
    body = f"Text.\n---\n{DIFF}".replace("= 1", "= é")
    utf = parse_letter(body)
    latin = parse_letter(body, "Content-Type: text/plain; charset=iso-8859-1")
    assert utf.patch_id == latin.patch_id


ODD = [
    f"{DIFF}-- \n2.41.0\n",
    f"{DIFF}\n{BULB}",
    f"{DIFF}{SHA}\n{BULB}",
    f"{DIFF}commit {SHA}\n{BULB}",
    DIFF.replace(" {\n", "\n"),
    DIFF.replace(" }\n", "\\ No newline at end of file\n"),
    DIFF.replace("index 1a2b3c4d5e6f..6f5e4d3c2b1a 100644\n", ""),
    "diff --git a/p b/p\nindex 1a2b3c4..4c3b2a1 100644\nBinary files a/p and b/p differ\n",
    "diff --git a/p b/p\nindex 1a2b3c4..4c3b2a1 100644\nGIT binary patch\nliteral 1\nIcmZ\n\n"
    + DIFF,
    "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n" + DIFF,
    "diff -ruN a/l b/l\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n",
    DIFF.replace("\n", "\r\n"),
]


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_corners_are_git_s(tmp_path: Path, text: str) -> None:
    """Separators, stripped lines, missing headers: the id that git prints first."""
    assert patch_id(text) == Repository(tmp_path).patch_id(text.encode())


@given(st.lists(st.binary(max_size=30), max_size=30))
def test_never_raises(lines: list[bytes]) -> None:
    """Any lines have an id or none."""
    found = stable_patch_id([b"diff --git a/l b/l", *lines])
    assert found is None or len(found) == 40

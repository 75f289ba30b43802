"""Patches attached to a mail, each read as a message inside it."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.attached import MAX_ATTACHED, tree_of_name
from patchlore.ingest.raw import Place
from tests.ingest.letters import DIFF, OTHER, SHA, parse

FOR_49 = f"""\
From {SHA} Mon Sep 17 00:00:00 2001
From: Bo Reed <bo@example.org>
Date: Thu, 8 Jun 2023 09:06:05 +0200
Subject: [PATCH 4.9] lamp: dim it once

commit {OTHER} upstream.

Signed-off-by: Nora Finch <nora@example.org>
---
 lamp.c | 2 +-

{DIFF}{"-- "}
2.41.0
"""
FOR_414 = FOR_49.replace("PATCH 4.9", "PATCH 4.14").replace("lamp.c", "drivers/lamp.c")


def mail_with(*attached: str, encode: bool = False, kind: str = "text/x-patch") -> bytes:
    """A mail of Nora Finch with files attached."""
    parts = ["Backports of the lamp fix for 4.9 and 4.14.\n"]
    heads = ["Content-Type: text/plain"]
    for number, text in enumerate(attached, 1):
        heads.append(
            f"Content-Type: {kind}\n"
            f'Content-Disposition: attachment; filename="{number}.patch"'
            + ("\nContent-Transfer-Encoding: base64" if encode else "")
        )
        parts.append(base64.encodebytes(text.encode()).decode() if encode else text)
    body = "".join(f"--cut\n{head}\n\n{part}\n" for head, part in zip(heads, parts, strict=True))
    return (
        "From: Nora Finch <nora@example.org>\nMessage-ID: <1@example.org>\n"
        "Subject: stable backports of the lamp fix\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="cut"\n\n{body}--cut--\n'
    ).encode()


def test_each_attached_patch_is_a_message() -> None:
    """With its own tree, upstream commit, author and files; the mail keeps its facts."""
    message = parse(mail_with(FOR_49, FOR_414))
    assert message.is_patch
    first, second = message.nested
    assert first.subject_tags is not None
    assert first.subject_tags.target_tree == "4.9.y"
    assert first.primary_upstream == OTHER
    assert first.own_commit == SHA
    assert first.author is not None
    assert first.author.email == "bo@example.org"
    assert [change.path for change in first.files] == ["lamp.c"]
    assert first.patch_id is not None
    assert second.subject_tags is not None
    assert second.subject_tags.target_tree == "4.14.y"
    assert [change.path for change in second.files] == ["drivers/lamp.c"]


def test_attached_in_base64_under_another_type() -> None:
    """Mailers do that to files whose type they do not know."""
    message = parse(mail_with(FOR_49, FOR_414, encode=True, kind="application/octet-stream"))
    assert [inner.clean_subject for inner in message.nested] == ["lamp: dim it once"] * 2


def test_a_file_of_several_patches() -> None:
    """git format-patch --stdout."""
    message = parse(mail_with(FOR_49 + "\n" + FOR_414))
    assert [inner.subject for inner in message.nested] == [
        "[PATCH 4.9] lamp: dim it once",
        "[PATCH 4.14] lamp: dim it once",
    ]


def test_a_patch_without_the_first_line() -> None:
    """Some tools leave it out."""
    message = parse(mail_with(FOR_49.partition("\n")[2]))
    (inner,) = message.nested
    assert inner.subject == "[PATCH 4.9] lamp: dim it once"


def test_a_bare_diff_is_no_message() -> None:
    """It says nothing that the mail does not."""
    message = parse(mail_with(DIFF, "Subject: a note\n\n" + DIFF))
    assert message.nested == []
    assert message.is_patch


def test_a_patch_in_the_text_is_no_attachment() -> None:
    """The mail is that patch."""
    assert parse(FOR_49.encode(), "git-patch").nested == []


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("4.14-5e0ac1d27f3b.patch", "4.14.y"),
        ("5e0ac1d27f3b-5.4.patch", "5.4.y"),
        ("5e0ac1d27f3b.4.19.v2.patch.txt", "4.19.y"),
        ("6.1-lamp-dim.mbox", "6.1.y"),
        ("lamp-linux-5.10.y.patch", "5.10.y"),
        ("2.6.32-lamp.patch", "2.6.32.y"),
        ("0001-lamp-dim-it-once.patch", None),
        ("0001-lamp-build-with-gcc-5.4.patch", None),
        ("lamp-1.2.patch", None),
        ("v2-0001-lamp.patch", None),
        ("", None),
    ],
)
def test_a_files_name_may_say_the_tree(name: str, tree: str | None) -> None:
    """At its start or its end, where people put it."""
    assert tree_of_name(name) == tree


def test_the_tree_of_the_name_is_kept_with_the_patch() -> None:
    """Beside what its subject says."""
    message = parse(mail_with(FOR_49).replace(b"1.patch", b"lamp-4.9.patch"))
    (inner,) = message.nested
    assert inner.source.place == Place(tree="4.9.y")


def test_their_number_is_bounded() -> None:
    """A hundred are read."""
    message = parse(mail_with("\n".join([FOR_49] * (MAX_ATTACHED + 5))))
    assert len(message.nested) == MAX_ATTACHED


@given(st.binary(max_size=300))
def test_any_attachment_is_read(data: bytes) -> None:
    """Whatever its bytes."""
    start = f"From {SHA} Mon Sep 17 00:00:00 2001\nFrom: x\nSubject: "
    parse(mail_with(start + data.decode("latin-1")))

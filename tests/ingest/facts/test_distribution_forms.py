"""How distributions say which upstream commit a patch is, and how their patches name files."""

from __future__ import annotations

import pytest

from tests.ingest.letters import DIFF, OTHER, SHA, parse, parse_patch


@pytest.mark.parametrize(
    ("line", "form"),
    [
        (f"Upstream-Status: Backport [{SHA}]", "upstream-status"),
        (f"Upstream-Status: Backport [commit {SHA}]", "upstream-status"),
        (f"Upstream-Status: Backport [https://git.example.org/lamp/commit/{SHA}]",
         "upstream-status"),
        (f"Applied-Upstream: 1.4, https://git.example.org/?p=lamp.git;a=commit;h={SHA}",
         "dep3-applied"),
        (f"Applied-Upstream: 1.4, commit:{SHA}", "dep3-applied"),
        (f"Applied-Upstream: {SHA}", "dep3-applied"),
        (f"Origin: backport, https://git.example.org/lamp/commit/?id={SHA}", "dep3-origin"),
        (f"Origin: upstream, commit:{SHA}", "dep3-origin"),
        (f"Backported from: {SHA}", "backported-from"),
        (f"Git-commit: {SHA}", "git-commit"),
    ],
)  # fmt: skip
def test_each_form_names_the_commit(line: str, form: str) -> None:
    """OpenEmbedded, SONiC, Debian (DEP-3), crosstool-NG, SUSE."""
    message = parse_patch(f"Dim.\n\n{line}")
    assert [(ref.sha, ref.form) for ref in message.upstream_refs] == [(SHA, form)]
    assert message.primary_upstream == SHA


def test_several_commits_in_one_backport() -> None:
    """Each is named, in order."""
    message = parse_patch(f"[ Upstream commits {SHA} and {OTHER} ]\n\nDim.")
    assert message.upstream_commits == [SHA, OTHER]
    assert message.primary_upstream == SHA


@pytest.mark.parametrize("status", ["Inappropriate [lamp specific]", "Denied [lamp/1]"])
def test_what_upstream_does_not_take(status: str) -> None:
    """There is no commit, and will be none."""
    message = parse_patch(f"Dim.\n\nUpstream-Status: {status}")
    assert message.not_upstream
    assert message.upstream_commits == []


@pytest.mark.parametrize("status", ["Pending", "Submitted [https://lists.example.org/1]"])
def test_what_upstream_may_take(status: str) -> None:
    """Nothing is known."""
    message = parse_patch(f"Dim.\n\nUpstream-Status: {status}")
    assert not message.not_upstream
    assert message.unmatched == []


def test_openeuler_names_two_commits() -> None:
    """Its own header block has the stable tree's commit; the mainline one stands below."""
    block = f"stable inclusion\nfrom stable-v6.7.3\ncommit {OTHER}\ncategory: bugfix\n"
    message = parse_patch(f"{block}\n--------------------------------\n\ncommit {SHA} upstream.")
    assert message.upstream_commits == [SHA]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lamp-1.2.3/lamp/dim.c", "lamp-1.2.3/lamp/dim.c"),
        ("lamp-1.2.3/lamp/dim.c.orig", "lamp-1.2.3/lamp/dim.c"),
        ("lamp-1.2-rc3/lamp/dim.c", "lamp-1.2-rc3/lamp/dim.c"),
        ("/dev/null", "lamp-1.2/lamp/dim.c"),
        ("lamp-1.2/lamp/dim.c", "/dev/null"),
        ("lamp/dim.c", "lamp/dim.c"),
        ("lamp/dim.c 12 Jul 2005 22:35:48 -0000 1.72", "lamp/dim.c 13 Jul 2005 15:21:33 -0000"),
    ],
)
def test_a_folder_that_is_named_for_a_release_is_no_part_of_a_path(old: str, new: str) -> None:
    """Diffs of unpacked tars; a -p0 diff keeps its folder, and a stamp is no name."""
    message = parse(f"--- {old}\n+++ {new}\n@@ -1 +1 @@\n-on\n+off\n".encode(), "patch")
    assert [change.path for change in message.files] == ["lamp/dim.c"]


def test_the_commit_of_a_release_is_a_patch() -> None:
    """As format-patch writes it; a mail of that name carries all that changed."""
    head = "From: Nora Finch <nora@example.org>\nSubject: Linux 6.6.9\n\n"
    diff = DIFF.replace("lamp.c", "Makefile")
    patch = parse(f"From {SHA} Mon Sep 17 00:00:00 2001\n{head}---\n{diff}".encode(), "git-patch")
    assert [change.path for change in patch.files] == ["Makefile"]
    announcement = parse(f"{head}{diff}".encode())
    assert not announcement.is_patch


DEP3 = f"""\
Description: dim the lamp
 It was too bright.
Author: Nora Finch <nora@example.org>
Origin: backport, commit:{SHA}
"""
HG = f"""\
# HG changeset patch
# User Nora Finch <nora@example.org>
# Date 1686207965 -7200
# Node ID {OTHER}
dim the lamp

"""
SHOW = f"""\
commit {OTHER}
Author: Nora Finch <nora@example.org>
Date:   Thu Jun 8 09:06:05 2023 +0200

    dim the lamp

    It was too bright.

"""


@pytest.mark.parametrize("head", [DEP3, HG, SHOW, "From: Nora Finch <nora@example.org>\n"
                                  "Subject: dim the lamp\nForwarded: no\n\n"])  # fmt: skip
def test_a_patch_that_is_no_mail_has_author_and_title(head: str) -> None:
    """Debian's, Mercurial's and git's ways to say it."""
    message = parse((head + DIFF).encode(), "patch")
    assert message.author is not None
    assert (message.author.name, message.author.email) == ("Nora Finch", "nora@example.org")
    assert message.commit_subject == "dim the lamp"
    assert message.subject is None
    assert message.from_ is None


def test_a_bare_diff_has_neither() -> None:
    """Nothing is made up."""
    message = parse(DIFF.encode(), "patch")
    assert message.author is None
    assert message.commit_subject is None

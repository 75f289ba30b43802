"""What only mail records of a backport's life: added, failed, in review, dropped, released."""

from __future__ import annotations

import pytest

from tests.ingest.letters import DIFF, OTHER, SHA, evidence, parse_letter

QUEUED = """\
This is a note to let you know that I've just added the patch titled

    lamp: dim

to the 6.6-stable tree which can be found at:
    https://git.example.org/stable-queue.git;a=summary

The filename of the patch is:
     lamp-dim.patch
and it can be found in the queue-6.6 subdirectory.

If you, or anyone else, feels it should not be added to the stable tree,
please let <stable@vger.kernel.org> know about it.


"""
ADDED_SUBJECT = 'Patch "lamp: dim" has been added to the 6.6-stable tree'


def test_added_with_a_format_patch() -> None:
    """A queued patch: tree, queue file; marker and author of the enclosed patch are its own."""
    message = parse_letter(
        f"{QUEUED}From {OTHER} Mon Sep 17 00:00:00 2001\nFrom: Ada Quill <ada@example.org>\n"
        f"Date: Thu, 1 Jun 2023 09:06:05 +0200\nSubject: lamp: dim\n\n"
        "From: Ada Quill <ada@example.org>\n\n"
        f'commit {SHA} upstream.\n\nText.\n\nFixes: {OTHER[:12]} ("lamp: glow")\n'
        f"---\n lamp.c | 2 +-\n\n{DIFF}",
        subject=ADDED_SUBJECT,
    )
    assert message.notification is not None
    notice = message.notification
    assert (notice.kind, notice.tree, notice.queue_file) == ("added", "6.6.y", "lamp-dim.patch")
    assert message.is_patch
    assert not message.is_reply
    assert message.upstream_commits == [SHA]
    assert message.own_commit == OTHER
    assert message.author is not None
    assert message.author.name == "Ada Quill"
    assert message.author_date_iso == "2023-06-01T09:06:05+02:00"
    assert message.commit_message is not None
    assert message.commit_message.startswith(f"commit {SHA} upstream.")
    assert [ref.sha for ref in message.fixes] == [OTHER[:12]]


def test_added_with_git_show() -> None:
    """A patch as git show prints it is dedented; the first hash is that of a scratch tree."""
    message = parse_letter(
        f"{QUEUED}commit {OTHER}\nAuthor: Ada Quill <ada@example.org>\n"
        "Date:   Thu Jun 1 09:06:05 2023 +0200\n\n    lamp: dim\n    \n"
        f"    [ Upstream commit {SHA} ]\n    \n    Text.\n    \n"
        f'    Fixes: {OTHER[:12]} ("lamp: glow")\n'
        f"    Signed-off-by: Ada Quill <ada@example.org>\n\n{DIFF}",
        "X-stable: commit",
        subject=ADDED_SUBJECT,
    )
    assert message.upstream_commits == [SHA]
    assert message.own_commit == OTHER
    assert message.author is not None
    assert message.author.email == "ada@example.org"
    assert message.author_date_iso == "2023-06-01T09:06:05+02:00"
    assert [ref.sha for ref in message.fixes] == [OTHER[:12]]
    assert [tag.key for tag in message.trailers] == ["Fixes", "Signed-off-by"]
    assert message.commit_message is not None
    assert message.commit_message.startswith("lamp: dim\n\n[ Upstream commit")
    (proof,) = evidence(message, "upstream_commits")
    assert proof.text == f"[ Upstream commit {SHA} ]"


@pytest.mark.parametrize("word", ["FAILED", "failed"])
def test_failed(word: str) -> None:
    """A failure notice is no backport: the enclosed patch is the original."""
    message = parse_letter(
        "The patch below does not apply to the 5.4-stable tree.\n\n"
        f"To reproduce the conflict and resubmit, you may use the following commands:\n\n"
        f"git fetch https://git.example.org/linux.git/ linux-5.4.y\ngit cherry-pick -x {SHA}\n\n"
        f'Possible dependencies:\n\n{OTHER[:12]} ("lamp: glow")\n\nthanks,\n\nNora\n\n'
        "------------------ original commit in Linus's tree ------------------\n\n"
        f"From {SHA} Mon Sep 17 00:00:00 2001\nFrom: Ada Quill <ada@example.org>\n"
        f"Date: Thu, 1 Jun 2023 09:06:05 +0200\nSubject: [PATCH] lamp: dim\n\nText.\n\n"
        f'Fixes: {OTHER[:12]} ("lamp: glow")\n---\n\n{DIFF}',
        subject=f'{word}: patch "[PATCH] lamp: dim" failed to apply to 5.4-stable tree',
    )
    assert message.notification is not None
    assert (message.notification.kind, message.notification.tree) == ("failed", "5.4.y")
    assert message.notification.original_commit == SHA
    assert message.original_commit == SHA
    assert not message.is_patch
    assert message.files == []
    assert [change.path for change in message.original_patch_files] == ["lamp.c"]
    assert message.fixes == []
    assert message.upstream_commits == []
    assert message.own_commit is None


def test_review_preamble() -> None:
    """``6.6-stable review patch`` and its dashes belong neither to the message nor the author."""
    message = parse_letter(
        "6.6-stable review patch.  If anyone has any objections, please let me know.\n\n"
        f"------------------\n\nFrom: Ada Quill <ada@example.org>\n\ncommit {SHA} upstream.\n\n"
        f"Text.\n\nSigned-off-by: Ada Quill <ada@example.org>\n---\n lamp.c | 2 +-\n\n{DIFF}",
        subject="[PATCH 6.6 123/267] lamp: dim",
    )
    assert message.notification is not None
    assert (message.notification.kind, message.notification.tree) == ("review", "6.6.y")
    assert message.author is not None
    assert message.author.name == "Ada Quill"
    assert message.commit_message is not None
    assert message.commit_message.startswith(f"commit {SHA} upstream.")
    assert message.line_kinds.startswith("ppp")
    assert message.primary_upstream == SHA


def test_review_tree_without_a_tag() -> None:
    """Older rounds name the tree in the preamble alone."""
    message = parse_letter(
        "3.10-stable review patch.  If anyone has any objections, please let me know.\n\n"
        f"------------------\n\nFrom: Ada Quill <ada@example.org>\n\n"
        f"commit {SHA} upstream.\n\n{DIFF}",
        subject="[ 12/78] lamp: dim",
    )
    assert message.notification is not None
    assert message.notification.tree == "3.10.y"


def test_review_round() -> None:
    """The cover of a review round names the release."""
    message = parse_letter(
        "This is the start of the stable review cycle for the 6.6.9 release.\n",
        subject="[PATCH 6.6 000/267] 6.6.9-rc1 review",
    )
    assert message.is_cover_letter
    assert message.notification is not None
    notice = message.notification
    assert (notice.kind, notice.tree, notice.release) == ("review", "6.6.y", "6.6.9-rc1")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Now dropped, thanks.", "dropped"),
        ("I'm dropping this from the queue.", "dropped"),
        ("Ok, dropping it.", "dropped"),
        ("This has been dropped from both trees.", "dropped"),
        ("Please drop this.", None),
        ("Could you drop this one?", None),
        ("> Now dropped, thanks.", None),
        ("The lamp dropped to the floor.", None),
    ],
)
def test_dropped(line: str, kind: str | None) -> None:
    """A maintainer's "now dropped" is an event, "please drop" only a request."""
    message = parse_letter(
        f"{line}\n", "In-Reply-To: <lamp-0@example.org>", subject=f"Re: {ADDED_SUBJECT}"
    )
    assert (message.notification.kind if message.notification else None) == kind
    if kind:
        (proof,) = evidence(message, "notification")
        assert (proof.line, proof.confidence) == (1, "medium")


def test_released() -> None:
    """``Linux 6.6.9`` announces a release with its shortlog."""
    message = parse_letter(
        "I'm announcing the release of the 6.6.9 kernel.\n\nAda Quill (1):\n      lamp: dim\n",
        subject="Linux 6.6.9",
    )
    assert message.notification is not None
    notice = message.notification
    assert (notice.kind, notice.tree, notice.release) == ("released", "6.6.y", "6.6.9")
    assert message.subject_tags is None


def test_difference_between_releases_is_no_patch() -> None:
    """``Re: Linux 6.6.9`` carries all that changed: a release, not a patch."""
    message = parse_letter(DIFF, "In-Reply-To: <lamp-0@example.org>", subject="Re: Linux 6.6.9")
    assert not message.is_patch
    assert message.files == []
    assert message.is_reply
    assert message.notification is not None
    assert message.notification.kind == "released"
    assert [change.path for change in message.original_patch_files] == ["lamp.c"]


def test_stable_base_header() -> None:
    """``X-stable-base`` names the exact base of a stable patch."""
    message = parse_letter(f"Text.\n---\n{DIFF}", "X-stable-base: Linux 6.17.1")
    assert [(d.kind, d.value) for d in message.dependencies] == [("stable-base", "Linux 6.17.1")]


def test_llm_explanation_below_the_cut_is_no_fact() -> None:
    """What a machine explains below ``---`` is prose for search, never a marker or a tag."""
    message = parse_letter(
        f"[ Upstream commit {SHA} ]\n\nText.\n---\n\nLLM Generated explanations, may be completely"
        f" bogus:\n\nYES\n\ncommit {OTHER} upstream.\nFixes a bug.\n"
        "Cc: stable@vger.kernel.org # 5.4+\n\n"
        f" lamp.c | 2 +-\n\n{DIFF}",
        subject="[PATCH AUTOSEL 6.17-5.4] lamp: dim",
    )
    assert message.upstream_commits == [SHA]
    assert message.cc_stable == []
    assert "LLM Generated" not in (message.commit_message or "")

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


DROPS = (
    "Now dropped, thanks.",
    "I'm dropping this from the queue.",
    "Ok, dropping it.",
    "This has been dropped from both trees.",
    "Dropped, thanks!",
    "Thanks, now dropped.",
    "I've dropped it everywhere, thank you.",
    "I'll drop it from everywhere.",
    "I'll drop it, thank you!",
    "I've dropped this patch from all stable trees, thank you.",
    "So I'm going to drop both of these patches from the queue.",
    "Both dropped.",
    "Oops, sorry, I'll go drop this now",
    "Ok, I've now dropped this from all queues.",
    "Thanks for letting me know, I've dropped this.",
    "I have dropped it now, if you want it back just resend.",
    "Dropped.",
    "dropped now",
    "I went ahead and dropped it",
    "Patch dropped, thanks.",
    "Let me drop this for now.",
    "Good catch, now dropped.",
    "I dropped it\nfrom the queue",
    "All now dropped, thanks.",
    "Will drop, thanks",
    "Will drop it from the queue.",
    "We dropped this one already.",
    "Yes, I've dropped it, no need to worry.",
    "Ah, ok, dropping them both then",
    "I dropped all of these",
    "Thanks, I've just dropped this commit.",
    "I had to drop this, it broke the build.",
    "I've dropped the patch.",
    "I dropped the whole series.",
    "I dropped this because it breaks the build.",
    "This breaks the build, so I dropped it.",
    "As this does not build, I've dropped it.",
    "It didn't apply, so now dropped.",
    "Since you asked, dropped.",
    "Now dropped from everywhere",
    "Offending commit now dropped, thanks.",
    "Thanks for letting me know, I'll go drop this and push out a new -rc.",
    "Dropped from 6.6 as it does not build.",
    "Now dropped from 6.6 and 5.4.",
)

NO_DROPS = (
    "I have not dropped this",
    "No, I am not dropping this.",
    "I dropped the extra blank line when applying, now queued up.",
    "should this be dropped?",
    "Should this be\ndropped?",
    "Please drop this.",
    "Could you drop this one?",
    "I would recommend dropping it (unless Nick",
    "I won't drop this.",
    "I will not be dropping this",
    "I haven't dropped this.",
    "We did not drop this.",
    "Did you drop this?",
    "Was this dropped?",
    "Why was this dropped?",
    "If you want I can drop it.",
    "I can drop it if needed.",
    "I could drop it.",
    "I'll drop it unless somebody objects.",
    "Unless I hear otherwise, I'll drop this.",
    "I'll drop it if you want.",
    "I dropped the Cc to stable.",
    "I've dropped your Signed-off-by.",
    "I dropped support for gcc 4.",
    "The packet is dropped by the driver.",
    "This was never dropped.",
    "It should be dropped from your queues.",
    "It should have been dropped.",
    "I think this should be dropped.",
    "I think we should drop this",
    "Do you want me to drop it?",
    "I thought I dropped this.",
    "I thought this was dropped.",
    "It was not dropped, see the queue.",
    "I dropped it, but now added it back.",
    "I had dropped this, but it is queued up again.",
    "No need to drop this.",
    "There is no reason for dropping it.",
    "Instead of dropping it, let's take the fix.",
    "Rather than dropping this I took the fix too.",
    "Dropping this would break 6.6.",
    "Dropping it is not needed.",
    "I'd drop this.",
    "I'd rather drop this one.",
    "You can drop this.",
    "You dropped this.",
    "Let's not drop it.",
    "I asked to drop this.",
    "this can be dropped",
    "It can be dropped now.",
    "The first hunk was dropped.",
    "I dropped a hunk that does not apply.",
    "I dropped the first hunk as it doesn't apply, queued up.",
    "Frames are dropped when the queue is full.",
    "Now it is dropped by the firewall.",
    "I'm fine with dropping this.",
    "We drop the lock here.",
    "I've not dropped it from 6.6 yet.",
    "Not dropped yet.",
    "This patch drops the lock.",
    "I dropped it from 5.4 and kept it in 6.6.",
    "No, this one is not being dropped.",
    "Nothing was dropped.",
    "None of these were dropped.",
    "I didn't drop it.",
    "I refuse to drop this",
    "I see that this was dropped from the queue, why?",
    "This was dropped in v2.",
    "In v3 I dropped this.",
    " I've dropped patch 2 in v4.",
    "> Now dropped, thanks.",
    "The lamp dropped to the floor.",
)


@pytest.mark.parametrize("line", DROPS)
def test_dropped(line: str) -> None:
    """A maintainer's "now dropped" is an event, with the line that says so."""
    message = parse_letter(
        f"{line}\n", "In-Reply-To: <lamp-0@example.org>", subject=f"Re: {ADDED_SUBJECT}"
    )
    assert message.notification is not None
    assert (message.notification.kind, message.notification.tree) == ("dropped", "6.6.y")
    (proof,) = evidence(message, "notification")
    assert (proof.line, proof.confidence) == (1, "medium")


@pytest.mark.parametrize("line", NO_DROPS)
def test_not_dropped(line: str) -> None:
    """Requests, questions, denials, offers, and what else can be dropped."""
    message = parse_letter(
        f"{line}\n", "In-Reply-To: <lamp-0@example.org>", subject=f"Re: {ADDED_SUBJECT}"
    )
    assert message.notification is None


@pytest.mark.parametrize(
    ("line", "tree"),
    [
        ("Now dropped from 5.4, but kept in 6.6.", None),
        ("I dropped it from 5.4 and kept it in 6.6.", None),
        ("Now dropped from 6.6, but kept in 6.12.", "6.6.y"),
        ("Now dropped from 5.4.", "5.4.y"),
        ("Dropped from 5.15.y and 6.6.y, thanks.", "6.6.y"),
        ("I've dropped it from 6.12 and older, thanks!", "6.6.y"),
    ],
)
def test_dropped_from_which_tree(line: str, tree: str | None) -> None:
    """The trees that the sentence names count, not that of the subject."""
    message = parse_letter(
        f"{line}\n", "In-Reply-To: <lamp-0@example.org>", subject=f"Re: {ADDED_SUBJECT}"
    )
    assert (message.notification.tree if message.notification else None) == tree


def test_the_line_of_a_drop_is_that_of_its_verb() -> None:
    """Sentences run over lines."""
    message = parse_letter(
        "This breaks the lamp on some boards, as told, so I have\nnow dropped it. Thanks.\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject=f"Re: {ADDED_SUBJECT}",
    )
    (proof,) = evidence(message, "notification")
    assert proof.text == "now dropped it. Thanks."


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

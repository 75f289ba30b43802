"""Notices that a patch was taken: by bots with the commit, by hand as a weak fact."""

from __future__ import annotations

import pytest

from tests.ingest.letters import DIFF, OTHER, SHA, evidence, parse_letter

REPLY = "In-Reply-To: <lamp-0@example.org>"


def test_patchwork_bot() -> None:
    """Tree, branch, person, and for each patch its title and commit."""
    message = parse_letter(
        "Hello:\n\nThis series was applied to netdev/net.git (main)\n"
        "by Bo Reed <bo@example.org>:\n\nOn Thu, 8 Jun 2023 09:06:05 +0200 you wrote:\n"
        "> Two lamps.\n\nHere is the summary with links:\n"
        f"  - [v2,net,1/2] lamp: dim\n    https://git.example.org/netdev/net/c/{SHA[:12]}\n"
        f"  - [v2,net,2/2] lamp: glow\n    https://git.example.org/netdev/net/c/{OTHER[:12]}\n\n"
        "You are awesome, thank you!\n-- \nDeet-doot-dot, I am a bot.\n",
        REPLY,
        subject="Re: [PATCH net v2 0/2] lamps",
    )
    assert [(a.sha, a.title, a.tree, a.branch, a.by) for a in message.applied] == [
        (SHA[:12], "lamp: dim", "netdev/net.git", "main", "Bo Reed"),
        (OTHER[:12], "lamp: glow", "netdev/net.git", "main", "Bo Reed"),
    ]
    assert message.upstream_commits == []


def test_b4_thanks() -> None:
    """b4's thanks name each patch and its commit."""
    message = parse_letter(
        "\nOn Thu, 08 Jun 2023 09:06:05 +0200, Ada Quill wrote:\n> Two lamps.\n\n"
        "Applied to for-next, thanks!\n\n"
        f"[1/2] lamp: dim\n      commit: {SHA}\n[2/2] lamp: glow\n"
        f"      https://git.example.org/linux/c/{OTHER[:12]}\n\nBest regards,\n",
        REPLY,
        subject="Re: [PATCH 0/2] lamps",
    )
    assert [(a.sha, a.title) for a in message.applied] == [
        (SHA, "lamp: dim"),
        (OTHER[:12], "lamp: glow"),
    ]


def test_tip_bot() -> None:
    """tip-bot's head names commit and branch; the patch below is its author's."""
    message = parse_letter(
        "The following commit has been merged into the lamps/urgent branch of tip:\n\n"
        f"Commit-ID:     {SHA}\nGitweb:        https://git.example.org/tip/{SHA}\n"
        "Author:        Ada Quill <ada@example.org>\nAuthorDate:    Thu, 01 Jun 2023\n"
        "Committer:     Bo Reed <bo@example.org>\n\nlamp: dim\n\nWhy.\n\n"
        f"Signed-off-by: Ada Quill <ada@example.org>\n---\n lamp.c | 2 +-\n\n{DIFF}",
        subject="[tip: lamps/urgent] lamp: dim",
    )
    (applied,) = message.applied
    assert (applied.sha, applied.branch, applied.tree) == (SHA, "lamps/urgent", "tip")
    assert message.author is not None
    assert message.author.name == "Ada Quill"
    assert message.commit_message is not None
    assert message.commit_message.startswith("lamp: dim\n\nWhy.")


@pytest.mark.parametrize(
    ("line", "is_notice"),
    [
        ("Applied, thanks!", True),
        ("Applied, thanks.", True),
        ("Applied to nf-next, thanks", True),
        ("Queued for fixes.", True),
        ("Now queued up, thanks.", True),
        ("All now queued up, thanks.", True),
        ("All of these patches now queued up.", True),
        ("Pushed to my review and testing queue, thanks!", True),
        ("Please drop this.", False),
        ("It was applied on next last week, and the lamp is dark since.", False),
        ("> Applied, thanks!", False),
    ],
)
def test_by_hand(line: str, is_notice: bool) -> None:
    """A maintainer's line of its own is a notice without a commit; a sentence is none."""
    message = parse_letter(f"> Text.\n\n{line}\n\nBo\n", REPLY, subject="Re: [PATCH] lamp: dim")
    assert bool(message.applied) is is_notice
    if is_notice:
        (applied,) = message.applied
        assert (applied.sha, applied.title) == (None, "lamp: dim")
        (proof,) = evidence(message, "applied")
        assert proof.line == 3

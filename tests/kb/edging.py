"""Posted patches and trees that have them, for tests of edges."""

from __future__ import annotations

from typing import Any

from patchlore.ingest.message import Message
from patchlore.kb.edges import update_edges
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.kb.git_repositories import DAY, Repository
from tests.kb.mails import NOON, message, raw_of

SHA = "89abcdef0123456789abcdef0123456789abcdef"
OLD = "".join(f"tick {number} of the clock\n" for number in range(12))


def posted(message_id: str, day: int, diff: str = "", **fields: Any) -> Message:
    """Return a mail with a patch, sent on a day of the repository's calendar, a minute later."""
    kinds = "".join(
        "d" if line[:3] in ("+++", "---") else line[:1] if line[:1] in ("+", "-", "@") else "="
        for line in diff.split("\n")
    )
    values: dict[str, Any] = {
        "is_patch": True,
        "timestamp": NOON + day * DAY + 60,
        "body": diff,
        "line_kinds": kinds if diff else "",
        **fields,
    }
    return message(message_id, **values)


def add(archive: Archive, *messages: Message) -> None:
    """Store mails."""
    archive.add(messages, [raw_of(item) for item in messages])


def follow(archive: Archive, repository: Repository, *, patch_ids: bool = True) -> None:
    """Read the tree, then bring the edges up to date."""
    fill_tree(archive, "mainline", str(repository.folder), patch_ids=patch_ids)
    update_edges(archive)


def edges(archive: Archive) -> list[tuple[str, str, str, int]]:
    """Return all edges: key of the mail, commit, rule, confidence."""
    return archive.execute(
        "SELECT mail.key, edge.sha, edge.rule, edge.confidence FROM edge"
        " JOIN mail ON mail.id = edge.message ORDER BY 1, 2, 3"
    ).fetchall()


def patch_id(repository: Repository, sha: str) -> str:
    """Return git's patch id of a commit."""
    shown = repository.git("show", sha)
    return repository.git("patch-id", "--stable", data=shown.encode()).split()[0]

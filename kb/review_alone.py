"""Patches of a review round that name no upstream commit, as reverts do: what became of them."""

from __future__ import annotations

from patchlore.kb.merge import title_hash
from patchlore.kb.replies import drop_of
from patchlore.kb.review_replies import Proof
from patchlore.kb.store import Archive

#: A state, in words, and what proves it.
Became = tuple[str, str, Proof]


def became(
    archive: Archive, tree: str, message: int, subject: str, since: int | None
) -> Became | None:
    """Return what became of a patch (the row id of its mail); None where nobody has told.

    It was dropped by an answer to it, or an announcement of the tree, not older than the
    round, has its title.
    """
    dropped = drop_of(archive, message, tree)
    if dropped is not None:
        key, line, text = dropped
        proof = Proof(message_id=key, line=line, text=text, rule="now-dropped", confidence="high")
        return "dropped", "dropped by the stable maintainers", proof
    for key, line, release in archive.execute(
        "SELECT m.key, s.line, m.notice_release FROM shortlog AS s JOIN mail AS m"
        " ON m.id = s.message WHERE s.title_hash = ? AND m.notice_tree = ? AND m.timestamp >= ?"
        " ORDER BY m.timestamp, m.id LIMIT 1",
        (title_hash(subject), tree, since or 0),
    ):
        proof = Proof(
            message_id=key, line=line, text=subject, rule="title in shortlog", confidence="high"
        )
        return "released", f"released in {release}", proof
    return None

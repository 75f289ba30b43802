"""The mails that answer a review round, and what of them speaks against it or for it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from patchlore.kb.reading import MIN_HEX, Brief, briefs
from patchlore.kb.review_replies import (
    WORDS,
    GivenTag,
    Objection,
    Proof,
    objections_in,
    tags_in,
)
from patchlore.kb.store import Archive
from patchlore.kb.trees import is_maintainer

#: More answers than this are not read: the largest rounds had some 150.
_MOST_REPLIES = 1000


def replies_to(archive: Archive, mid: int, patches: Sequence[int]) -> list[Brief]:
    """Return the mails that answer a cover (row of its Message-ID) or patches, oldest first."""
    rows = archive.execute(
        "SELECT m.id FROM json_each(?) AS j JOIN message AS p ON p.id = j.value"
        " JOIN reference AS r ON r.mid = p.mid JOIN message AS m ON m.id = r.message"
        " WHERE m.notice IS NOT 'review'"
        " UNION SELECT m.id FROM reference AS r JOIN message AS m ON m.id = r.message"
        " WHERE r.mid = ? AND m.notice IS NOT 'review'",
        (json.dumps(patches), mid),
    ).fetchall()
    own = set(patches)
    found = briefs(archive, (id_ for (id_,) in rows if id_ not in own)).values()
    return sorted(found, key=lambda brief: (brief.timestamp or 0, brief.id))[:_MOST_REPLIES]


def answers(
    archive: Archive,
    replies: Sequence[Brief],
    parts: Mapping[int, int | None],
    commits: Mapping[str, int],
) -> tuple[list[Objection], list[GivenTag]]:
    """Return what replies object, and the tags that they give.

    ``parts`` are the numbers of the round's patches by row id, ``commits`` by
    upstream commit.  An answer to a patch is about that patch; one to the cover
    about those whose upstream commits it names, else about the whole round.
    What the keepers of the stable queues write is an answer, no objection.
    """
    above = _above(archive, replies)
    keepers = _keepers(archive, replies)
    objections: list[Objection] = []
    tags: list[GivenTag] = []
    for brief in replies:
        message = archive.message(brief.id)
        answered = [parts[id_] for id_ in above.get(brief.id, ()) if id_ in parts]
        part = answered[-1] if answered else None
        tags += tags_in(message, brief, part)
        proofs = [] if brief.id in keepers else objections_in(message, brief.key)
        if not proofs:
            continue
        reply = next(
            (
                other
                for other in replies
                if other.id in keepers and brief.id in above.get(other.id, ())
            ),
            None,
        )
        objections.append(
            Objection(
                kinds=[proof.rule for proof in proofs],
                words=", ".join(WORDS.get(proof.rule, "failure") for proof in proofs),
                message=brief,
                parts=_blamed(archive, brief.id, commits) if part is None else [part],
                evidence=proofs,
                answered=reply,
            )
        )
    return objections, tags


def patches_answered(
    archive: Archive, replies: Sequence[Brief], patches: Collection[int]
) -> dict[int, int]:
    """Return the patch (row id) that each reply is below of; what answers none is missing."""
    above = _above(archive, replies)
    nearest = ((id_, [item for item in ids if item in patches]) for id_, ids in above.items())
    return {id_: found[-1] for id_, found in nearest if found}


def reports_elsewhere(
    archive: Archive, commits: Mapping[str, int], told: set[int]
) -> list[Objection]:
    """Return reports, other than the mails ``told``, that find one of the commits guilty."""
    rows = archive.execute(
        "SELECT j.value, r.message, r.line, r.text, r.rule FROM json_each(?) AS j"
        f" JOIN commit_ref AS r ON r.sha >= substr(j.value, 1, {MIN_HEX})"
        f" AND r.sha < substr(j.value, 1, {MIN_HEX}) || 'g' AND r.relation = 'first-bad'"
        " AND substr(j.value, 1, length(r.sha)) = r.sha WHERE NOT r.quoted"
        " ORDER BY r.message, r.position",
        (json.dumps(list(commits)),),
    ).fetchall()
    shown = briefs(archive, (row[1] for row in rows))
    return [
        Objection(
            kinds=["regression"],
            words="regression reported elsewhere",
            message=shown[message],
            parts=[commits[sha]],
            evidence=[
                Proof(message_id=shown[message].key, line=line, text=text, rule=rule or "first-bad")
            ],
        )
        for sha, message, line, text, rule in rows
        if message not in told
    ]


def _above(archive: Archive, replies: Sequence[Brief]) -> dict[int, list[int]]:
    """The mails that each reply names in its References, the nearest last."""
    found: dict[int, list[int]] = {}
    for message, ancestor in archive.execute(
        "SELECT r.message, m.id FROM json_each(?) AS j JOIN reference AS r"
        " ON r.message = j.value JOIN message AS m ON m.mid = r.mid"
        " ORDER BY r.message, r.position",
        (json.dumps([brief.id for brief in replies]),),
    ):
        found.setdefault(message, []).append(ancestor)
    return found


def _keepers(archive: Archive, replies: Sequence[Brief]) -> set[int]:
    """Those of the mails that somebody sent who keeps the stable queues."""
    rows = archive.execute(
        "SELECT m.id, m.sender_email FROM json_each(?) AS j JOIN mail AS m ON m.id = j.value"
        " WHERE m.sender_email <> ''",
        (json.dumps([brief.id for brief in replies]),),
    ).fetchall()
    known = {address: is_maintainer(archive, address) for address in {row[1] for row in rows}}
    return {id_ for id_, address in rows if known[address]}


def _blamed(archive: Archive, message: int, commits: Mapping[str, int]) -> list[int]:
    """Numbers of the patches whose upstream commits a mail names in its author's own text."""
    named = [
        str(sha)
        for (sha,) in archive.execute(
            "SELECT sha FROM commit_ref WHERE message = ? AND NOT quoted", (message,)
        )
    ]
    return sorted(
        {part for sha, part in commits.items() if any(sha.startswith(begin) for begin in named)}
    )

"""What has to do with the patches about a bug but doesn't name it: other copies, and answers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.kb.columns import json_list
from patchlore.kb.reading import Brief, briefs, spellings
from patchlore.kb.store import Archive

_GIVEN = "(SELECT value FROM json_each(?1))"

#: Patches that are asked for, and mails of each kind that are told.
_MOST = 200


class Related(Struct, kw_only=True):
    """A mail that doesn't name the bug, and what it has to do with a patch that does.

    ``how``: ``carries`` the same upstream commit, ``title`` (a revision under the same one) or
    ``answers``; ``to`` is the key of that patch, ``sha`` the commit, ``line`` and ``text`` where
    the mail names it.
    """

    message: Brief
    how: str
    to: str
    sha: str | None = None
    line: int | None = None
    text: str | None = None


def related(archive: Archive, patches: Sequence[Brief], known: set[int]) -> list[Related]:
    """Return the mails that have to do with PATCHES, each once, by the surest sign.

    KNOWN are row ids of mails that are told already.  First come other mails that carry the
    upstream commits of the patches, then those of the same title, then answers; each group the
    oldest first.
    """
    patches = patches[:_MOST]
    key_of = {patch.id: patch.key for patch in patches}
    ids = json_list(key_of)
    found: dict[int, tuple[str, str, str | None, int | None, str | None]] = {}
    for id_, sha in archive.execute(
        "SELECT message, sha FROM commit_ref WHERE relation = 'upstream' AND NOT quoted"
        f" AND message IN {_GIVEN} ORDER BY message, position",
        (ids,),
    ).fetchall():
        for message, line, text in archive.execute(
            "SELECT r.message, r.line, r.text FROM commit_ref AS r JOIN message AS m"
            " ON m.id = r.message WHERE r.relation = 'upstream' AND NOT r.quoted AND m.is_patch"
            f" AND r.sha IN {_GIVEN} ORDER BY m.timestamp, m.id LIMIT {_MOST}",
            (json_list(spellings(archive, sha)),),
        ).fetchall():
            found.setdefault(message, ("carries", key_of[id_], sha, line, text))
    for message, id_ in archive.execute(
        "SELECT other.id, patch.id FROM message AS patch JOIN message AS other"
        " ON other.title_hash = patch.title_hash AND other.is_patch"
        f" WHERE patch.id IN {_GIVEN} AND patch.title_hash IS NOT NULL"
        f" ORDER BY other.timestamp, other.id LIMIT {_MOST + len(patches)}",
        (ids,),
    ):
        found.setdefault(message, ("title", key_of[id_], None, None, None))
    for message, id_ in _answers(archive, ids):
        found.setdefault(message, ("answers", key_of[id_], None, None, None))
    shown = briefs(archive, (message for message in found if message not in known))
    told = [
        Related(message=brief, how=how, to=to, sha=sha, line=line, text=text)
        for id_, brief in shown.items()
        for how, to, sha, line, text in (found[id_],)
    ]
    order = ("carries", "title", "answers")
    told.sort(key=lambda one: (order.index(one.how), one.message.timestamp or 0, one.message.id))
    return told


def discussion(archive: Archive, patches: Sequence[Brief]) -> list[Related]:
    """Return the mails that answer PATCHES, the oldest first, each with the nearest of them."""
    key_of = {patch.id: patch.key for patch in patches[:_MOST]}
    found: dict[int, int] = {}
    for message, id_ in _answers(archive, json_list(key_of)):
        found.setdefault(message, id_)
    shown = briefs(archive, found)
    told = [
        Related(message=brief, how="answers", to=key_of[found[id_]]) for id_, brief in shown.items()
    ]
    return sorted(told, key=lambda one: (one.message.timestamp or 0, one.message.id))


def _answers(archive: Archive, ids: str) -> list[tuple[int, int]]:
    """Mails that answer one of some patches (a JSON list), with that one, the nearest first."""
    return archive.execute(
        # (Patches of one series refer to each other.)
        "SELECT answer.id, patch.id FROM message AS patch JOIN reference AS r ON r.mid = patch.mid"
        " JOIN message AS answer ON answer.id = r.message AND answer.is_reply"
        " AND NOT answer.is_patch"
        f" WHERE patch.id IN {_GIVEN} ORDER BY answer.timestamp, answer.id, r.position DESC"
        f" LIMIT {_MOST}",
        (ids,),
    ).fetchall()

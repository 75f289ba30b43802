"""Who reviewed, acked, tested or reported a change: by its trailers and by answers to its patch."""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct

from patchlore.ingest.addresses import parse_address
from patchlore.kb.git_reading import read_stored
from patchlore.kb.store import Archive

#: What people do to a patch, in the order in which it is told.
ROLES = ("reviewed-by", "acked-by", "tested-by", "co-developed-by", "suggested-by", "reported-by")

#: More mails than these are the work of a robot, and not asked.
_MOST = 500


class Reviewer(Struct, kw_only=True):
    """Somebody who did something to a change; ``role`` is the key of the trailer.

    ``source`` tells where that stands: ``commit`` (its message), ``patch`` (a
    posting or backport) or ``reply`` (an answer to one); ``key`` names the
    commit or the mail, the first that says it.
    """

    role: str
    name: str
    email: str
    source: str
    key: str


def reviewers(archive: Archive, sha: str | None, patches: Sequence[int]) -> list[Reviewer]:
    """Return who did what to a change, each once, in the order of ROLES.

    ``sha``: the commit as a git tree has it; ``patches``: the row ids of the mails
    that carry it.  A commit of mail alone has as many as its patches and the
    answers to them name.
    """
    found: list[Reviewer] = []
    stored = None if sha is None else read_stored(archive, sha)
    if sha is not None and stored is not None:
        for trailer in stored.message.trailers:
            role, person = trailer.key.lower(), parse_address(trailer.value.partition("#")[0])
            if role in ROLES and person is not None:
                name, email = person.name or "", person.email or person.email_masked or ""
                found.append(Reviewer(role=role, name=name, email=email, source="commit", key=sha))
    mails = json.dumps(list(patches)[:_MOST])
    for sql, source in (
        ("m.id IN (SELECT value FROM json_each(?1))", "patch"),
        # Answers to the patch itself or to its cover letter, which is for all patches.
        # (A Tested-by for a stable review is one for the release.)
        (
            "m.is_reply AND NOT m.is_patch AND m.id IN (SELECT r.message FROM reference AS r"
            " WHERE r.mid IN (SELECT p.mid FROM message AS p WHERE p.notice IS NULL"
            " AND p.id IN (SELECT value FROM json_each(?1))))",
            "reply",
        ),
        (
            "m.is_reply AND m.id IN (SELECT a.id FROM message AS p JOIN message AS c"
            " ON c.mid = p.in_reply_to AND c.is_cover AND c.notice IS NULL"
            # A parent is a reference, too, and those have an index.
            " JOIN reference AS r ON r.mid = c.mid"
            " JOIN message AS a ON a.id = r.message AND a.in_reply_to = c.mid"
            " WHERE p.notice IS NULL AND p.id IN (SELECT value FROM json_each(?1)))",
            "reply",
        ),
    ):
        for role, name, email, masked, key in archive.execute(
            "SELECT role.name, p.name, p.email, p.masked, m.key FROM mail AS m"
            " JOIN message_person AS mp ON mp.message = m.id JOIN role ON role.id = mp.role"
            f" JOIN person AS p ON p.id = mp.person WHERE {sql}"
            " AND role.name IN (SELECT value FROM json_each(?2)) ORDER BY m.timestamp, m.id",
            (mails, json.dumps(ROLES)),
        ):
            found.append(
                Reviewer(role=role, name=name, email=email or masked, source=source, key=key)
            )
    known: dict[tuple[str, str], Reviewer] = {}
    for one in found:
        same = [(one.role, text.lower()) for text in (one.email, one.name) if text]
        if same and not any(key in known for key in same):
            known.update(dict.fromkeys(same, one))
    once = {id(one): one for one in known.values()}.values()
    return sorted(once, key=lambda one: ROLES.index(one.role))

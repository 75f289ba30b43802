"""Masked addresses completed: only where exactly one address that is known fits."""

from __future__ import annotations

from patchlore.ingest.message import Person
from patchlore.kb.merge import masks_agree, person_key, senders_agree
from patchlore.kb.store import Archive

#: With more candidates than these none is certain.
_MOST = 200


def infer_address(archive: Archive, person: Person | None) -> str | None:
    """Return the whole address that a masked one (``ada@...mple.org``) must be, or None.

    It must be the only one of all mails that has the same local part and fits
    the mask, and whoever has it must not bear another name.  An address that is
    whole, or that nobody else wrote in full, is not completed.
    """
    if person is None or person.email or not person.email_masked:
        return None
    shown = person.email_masked.lower()
    local, at, _ = shown.partition("@")
    if not at or not local:
        return None
    rows = archive.execute(
        "SELECT DISTINCT email, name FROM person WHERE email >= ? AND email < ? LIMIT ?",
        (f"{local}@", f"{local}A", _MOST),
    ).fetchall()
    fitting = [(email, name) for email, name in rows if masks_agree(email, shown)]
    addresses = {email for email, _ in fitting}
    if len(addresses) != 1 or len(rows) == _MOST:
        return None
    names = [name for _, name in fitting if name]
    mine = person_key(Person(name=person.name))
    if person.name and names and not any(senders_agree(mine, (name, "", "")) for name in names):
        return None
    return str(addresses.pop())

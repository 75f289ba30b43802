"""Backport lists as git-fixes reads them: ``sha,committer`` a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import full_sha, left_out
from patchlore.kb.store import Archive


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the commits, each once, with the address of who brought it into the tree.

    That is whom git-fixes tells of a fix that is missing: the committer in the
    tree, else who posted the newest patch for it; nothing where no address is known.
    """
    people: dict[str, str] = {}
    for row in rows:
        sha = full_sha(row)
        if sha is not None and sha not in people:
            people[sha] = _address(archive, row)
    lines = [f"{sha},{who}\n" if who else f"{sha}\n" for sha, who in people.items()]
    out.write("".join(lines).encode("ascii"))
    partly = [row for row in rows if full_sha(row) is None]
    return left_out(partly, "the upstream commit is not known in full")


def _address(archive: Archive, row: Row) -> str:
    for event in reversed(row.events):
        found = None
        if event.commit:
            found = archive.value(
                "SELECT p.email FROM git_commit AS c JOIN person AS p ON p.id = c.committer"
                " WHERE c.sha = ?",
                (event.commit,),
            )
        elif event.kind in ("autosel", "posted", "review", "queued"):
            found = archive.value("SELECT sender_email FROM mail WHERE id = ?", (event.message,))
        address = str(found or "")
        # A comma or a blank would be a column or a line of its own.
        safe = address.isascii() and address.isprintable() and not set(address) & set(', "')
        if "@" in address and safe:
            return address
    return ""

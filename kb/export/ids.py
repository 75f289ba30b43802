"""Backport lists as commit ids: one upstream sha of 40 digits a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.store import Archive
from patchlore.kb.text import count


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the ids; rows whose commit is not known in full are counted in a note."""
    ids = dict.fromkeys(row.sha for row in rows if row.is_full and row.sha)
    out.write("".join(f"{sha}\n" for sha in ids).encode())
    left = sum(not row.is_full for row in rows)
    if not left:
        return []
    return [f"{count(left, 'row')} left out: the upstream commit is not known in full."]

"""Backport lists as a folder for quilt: numbered patches and their ``series``."""

from __future__ import annotations

from collections.abc import Sequence

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import NO_PATCH, Names, left_out, patches, to_apply, unmarked
from patchlore.kb.store import Archive


def files(
    archive: Archive, tree: str, rows: Sequence[Row]
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the files of the folder, name and content, and notes about what was left out."""
    names = Names()
    found: list[tuple[str, bytes]] = []
    left = []
    taken = []
    rows, notes = to_apply(rows)
    for row, patch in patches(archive, rows):
        if patch is None:
            left.append(row)
            continue
        taken.append(row)
        number = len(found) + 1
        found.append((names.of(f"{number:04}-{patch.title}"), patch.as_file()))
    series = "".join(f"{name}\n" for name, _ in found).encode("ascii")
    return [("series", series), *found], notes + left_out(left, NO_PATCH) + unmarked(taken)

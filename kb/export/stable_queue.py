"""Backport lists in the layout of the stable queue: ``queue-5.10/series`` and its patches.

https://git.kernel.org/pub/scm/linux/kernel/git/stable/stable-queue.git
"""

from __future__ import annotations

from collections.abc import Sequence

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import NO_PATCH, Names, left_out, patches, to_apply, unmarked
from patchlore.kb.store import Archive
from patchlore.kb.versions import short_name


def files(
    archive: Archive, tree: str, rows: Sequence[Row]
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the files of the folder, name and content, and notes about what was left out.

    A patch that is in the queue has the name that its notice gives it.
    """
    folder = f"queue-{Names().of(short_name(tree), suffix='')}"
    names = Names("series")
    found: list[tuple[str, bytes]] = []
    left = []
    taken = []
    rows, notes = to_apply(rows)
    for row, patch in patches(archive, rows):
        if patch is None:
            left.append(row)
            continue
        taken.append(row)
        title = (patch.queue_file or patch.title).removesuffix(".patch")
        found.append((names.of(title), patch.as_file(again=True)))
    series = "".join(f"{name}\n" for name, _ in found).encode("ascii")
    named = [(f"{folder}/{name}", data) for name, data in [("series", series), *found]]
    return named, notes + left_out(left, NO_PATCH) + unmarked(taken)

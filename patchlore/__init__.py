"""Patchlore: a knowledge base of patch mail, with the evidence for each fact.

``open_archive(path)`` gives everything that the commands print as typed, read-only
values (docs/library.md).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchlore.library import Library

__version__ = "0.1.0"

__all__ = ["__version__", "open_archive"]


def open_archive(path: str | os.PathLike[str]) -> Library:
    """Open the archive in the folder ``path`` for reading.

    Raises patchlore.kb.errors.NoArchiveError when there is none, and ArchiveError
    when it can't be read.
    """
    from patchlore.library import Library

    return Library(path)

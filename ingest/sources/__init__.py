"""One module per archive or page format; detect.py holds the table of them.

``READERS`` is that table's column of page readers, for parsing: by format
name, ``read(raw: Raw) -> Mail``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchlore.ingest.detect import READERS

__all__ = ["READERS"]


def __getattr__(name: str) -> object:
    # The table imports the modules of this package, so it can't be imported first.
    if name == "READERS":
        from patchlore.ingest.detect import READERS

        return READERS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

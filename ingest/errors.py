"""Errors of callers (exceptions) and defects of data (values)."""

from __future__ import annotations

from msgspec import Struct


class PatchloreError(Exception):
    """Base of every exception that patchlore raises on purpose.

    The text is a whole message for a person: what, where, what to do.
    """

    #: Whether the text is laid out in lines; else it is shown as one.
    has_lines = False


class IngestError(PatchloreError):
    """A source can't be read at all: no such file, no permission, not a mail."""


class Defect(Struct, frozen=True, gc=False):
    """Something in the data that was wrong and was got over.

    ``line`` is 1-based in the body, 0 for the headers and the container.
    """

    code: str
    line: int = 0
    text: str = ""


#: The code of the defect of a mail whose file or stream ended in the middle of it.
CUT_SHORT = "cut-short"

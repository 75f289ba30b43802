"""Errors of the text index and of queries."""

from __future__ import annotations

from patchlore.ingest.errors import PatchloreError


class IndexingError(PatchloreError):
    """The text index can't be written or read, and a rebuild will not help."""


class DamagedIndex(PatchloreError):
    """The text index is damaged or of another version: it has to be rebuilt."""


class QueryError(PatchloreError):
    """A query that can't be understood; ``str()`` shows it with a caret under the place.

    ``start`` and ``end`` are offsets in ``query``; ``hint`` says what to do.
    """

    #: As for wrong usage of a command.
    exit_status = 2
    #: The line with the caret stands below the query.
    has_lines = True

    def __init__(self, query: str, start: int, end: int, reason: str, hint: str = "") -> None:
        self.query = query
        self.start = start
        self.end = max(end, start + 1)
        self.reason = reason
        self.hint = hint
        super().__init__(self._text())

    def _text(self) -> str:
        # A tab or a line end in the query would move the caret.
        shown = "".join(char if char.isprintable() else " " for char in self.query)
        caret = " " * self.start + "^" * (min(self.end, len(shown) + 1) - self.start)
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.reason}{hint}\n  {shown}\n  {caret}"

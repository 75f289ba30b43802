"""What is known of a row from outside the archive: a person's override, a trial in a repository."""

from __future__ import annotations

from msgspec import Struct

#: The result where the repository, a partial clone, has not what the patch is for.
LACKING = "lacks-objects"


class Override(Struct, kw_only=True):
    """A line of a file that sets the state of a commit, whatever mail and trees say."""

    #: The file as it was named, and the line (1-based).
    file: str
    line: int
    #: The line as written, and the reason in it.
    text: str
    reason: str
    #: The state that the row had before.
    was: str


class Tried(Struct, kw_only=True):
    """Whether a row's patch applies to a base, on top of the rows before it."""

    #: ``applies``, ``applies-3way``, ``conflict``, ``no-patch``, ``already-there``,
    #: ``lacks-objects``.
    result: str
    #: What was tried: ``mail`` (its patch) or ``commit`` (of the repository); None for no-patch.
    how: str | None = None
    #: The Message-ID or the commit that was tried.
    what: str | None = None
    #: Paths that conflict, or whose content the repository lacks.
    conflicts: list[str] = []
    #: What git said, one line.
    words: str | None = None

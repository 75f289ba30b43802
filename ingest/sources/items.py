"""What reading a source yields besides mail: how far it got, and what it could not read."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from patchlore.ingest.raw import Raw


class Mark(Struct, frozen=True):
    """Everything of ``source`` that was yielded so far is complete up to ``state``.

    ``source`` is a stable key (the kind and absolute path of a file, maildir or
    repository); ``state`` is for the reader that made it and for nobody else.
    """

    source: str
    state: str


class Problem(Struct, frozen=True):
    """A source, or a part of one, that could not be read; the rest goes on.

    ``text`` is a whole sentence for a person that names the file and says what
    to do; ``offset`` is in bytes of the file as it is on disk. ``code``: ``no-mail`` (it
    holds something else), ``empty``, ``unreadable`` (the system says no),
    ``damaged`` (a part of it is lost).
    """

    path: str
    offset: int
    text: str
    code: str = "damaged"


Item = Raw | Mark | Problem

#: Gives the state that a Mark of an earlier run stored for a source's key.
MarkOf = Callable[[str], str | None]

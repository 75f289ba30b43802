"""``Layout``: the frame of the patch that a mail carries, as line indices into its text."""

from __future__ import annotations

from msgspec import Struct

from patchlore.ingest.diff_hunks import FilePatch
from patchlore.ingest.errors import Defect
from patchlore.ingest.message import Person


class Layout(Struct, kw_only=True):
    """The carried patch's frame: line indices into the text, -1 where there is none."""

    patches: list[FilePatch] = []
    defects: list[Defect] = []
    #: The commit message's lines: index, text (dedented where git show indented it).
    message: list[tuple[int, str]] = []
    #: Lines between the cut and the diff.
    notes: list[tuple[int, str]] = []
    message_start: int = -1
    message_end: int = -1
    cut: int = -1
    indent: int = 0
    #: The ``From <sha>`` or ``commit <sha>`` line of a patch carried inside the body.
    carried_at: int = -1
    carried_commit: str | None = None
    author: Person | None = None
    subject: str | None = None
    date: str | None = None
    author_at: int = -1
    date_at: int = -1
    #: "5.10" of "5.10-stable review patch".
    review_tree: str | None = None

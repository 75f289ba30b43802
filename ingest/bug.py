"""``Bug``: what a bug tracker's record says of a bug; part of the message that a record becomes."""

from __future__ import annotations

from msgspec import Struct


class BugChange(Struct, kw_only=True, gc=False):
    """One change in a bug's history: what FIELD lost and what it gained."""

    when: str | None = None
    who: str | None = None
    field: str
    removed: str = ""
    added: str = ""


class Bug(Struct, kw_only=True, gc=False):
    """A bug as its tracker shows it. Of a comment: tracker, number, and which comment it is.

    ``tracker`` is a name (``gcc``, ``kernel``, ``sourceware`` …), else the
    tracker's host; null where a saved answer does not say whose it is.
    """

    tracker: str | None = None
    host: str | None = None
    number: int
    #: The number of the comment that the message is; 0 is the description.
    comment: int | None = None
    title: str | None = None
    product: str | None = None
    component: str | None = None
    version: str | None = None
    status: str | None = None
    resolution: str | None = None
    severity: str | None = None
    known_to_work: list[str] = []
    known_to_fail: list[str] = []
    target_milestone: str | None = None
    #: As ISO 8601 with the offset stated; UTC where none is.
    created: str | None = None
    changed: str | None = None
    assignee: str | None = None
    keywords: list[str] = []
    see_also: list[str] = []
    depends: list[int] = []
    blocks: list[int] = []
    duplicate_of: int | None = None
    changes: list[BugChange] = []

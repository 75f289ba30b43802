"""``Row``: an upstream commit in the list of a tree, its state, and what it requires."""

from __future__ import annotations

from msgspec import Struct

from patchlore.kb.events import Event
from patchlore.kb.outcomes import Override, Tried

#: Every state that a row can have (docs/cli.md).
STATES = (
    "needed",
    "nominated",
    "in-flight",
    "queued",
    "failed",
    "released",
    "dropped",
    "opted-out",
    "not-affected",
    "reverted",
    "unknown",
)

#: What formats for machines take unless told otherwise.
OPEN_STATES = ("needed", "nominated", "in-flight", "queued")

_FULL = 40

#: Events whose commit is another one, which speaks of the row's or takes it back.
_BY_OTHERS = frozenset({"affected", "not-affected", "opted-out", "reverted"})


class Requirement(Struct, kw_only=True):
    """A commit that a row's commit builds on or belongs with, and whether the tree has it."""

    #: As far as it is known: abbreviated where no known commit completes it.
    sha: str
    subject: str | None
    #: In words: ``prerequisite (Cc: stable note)``, ``Stable-dep-of``, ``fixed by this commit``.
    why: str
    #: None: the contents of the tree are not known well enough to tell.
    is_present: bool | None


class Row(Struct, kw_only=True):
    """An upstream commit in a list: its state with the event that decides it, and all events."""

    tree: str
    state: str
    #: The upstream commit; None for a nominated patch whose commit is not known.
    sha: str | None
    subject: str | None
    reason: str
    #: The event that the state follows from.
    event: Event
    #: Oldest first.
    events: list[Event]
    #: Where what changed since a day is asked for: the state then, "new" where there
    #: was no row (kb/changing.py).
    state_before: str | None = None
    #: What has to be in the tree before it, in the order in which to take it.
    requires: list[Requirement] = []
    #: Rules of the stable process that bear on it, and what is odd about its order, in words.
    notes: list[str] = []
    #: The line of a person's file that set the state (kb/overriding.py).
    override: Override | None = None
    #: What a trial in a repository gave (kb/trying.py).
    tried: Tried | None = None

    @property
    def is_full(self) -> bool:
        """Whether the commit is known with all its digits."""
        return self.sha is not None and len(self.sha) == _FULL

    @property
    def commits(self) -> list[str]:
        """The commits that are this change: upstream's, if known in full, and trees' own."""
        own = [event.commit for event in self.events if event.kind not in _BY_OTHERS]
        return list(dict.fromkeys(sha for sha in (self.sha if self.is_full else None, *own) if sha))

    @property
    def author(self) -> str | None:
        """Who wrote the patch: as the deciding event names them, else as the newest one does."""
        named = [self.event, *reversed(self.events)]
        return next((event.author for event in named if event.author), None)

    @property
    def patch(self) -> Event | None:
        """The newest mail whose patch can be applied to the tree."""
        for event in reversed(self.events):
            if event.applicable and event.kind in ("autosel", "posted", "queued", "review"):
                return event
        return None

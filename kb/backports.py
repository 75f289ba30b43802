"""The backport list of a tree: one row for each upstream commit, its state, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from patchlore.kb.events import Event
from patchlore.kb.history import events_of_tree
from patchlore.kb.merge import even_out
from patchlore.kb.outcomes import Override, Tried
from patchlore.kb.store import Archive
from patchlore.kb.versions import tree_name

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


class Requirement(Struct, kw_only=True):
    """A commit that a row's commit builds on or belongs with, and whether the tree has it."""

    #: As far as it is known: abbreviated where no known commit completes it.
    sha: str
    subject: str | None
    #: In words: ``prerequisite (Cc: stable note)``, ``Stable-dep-of``, ``same series, 2 of 5``.
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


def backports(
    archive: Archive,
    tree: str,
    *,
    states: Collection[str] | None = None,
    since: int | None = None,
) -> list[Row]:
    """Return the list of a tree, in the order in which its commits first appeared, unknown last.

    ``tree`` is any spelling of its name, ``states`` those wanted (None: all);
    ``since`` keeps what is new or changed its state at or after that time.
    """
    tree = tree_name(tree)
    events = events_of_tree(archive, tree)
    _complete(archive, events)
    rows = [_row(tree, group) for group in _group(events)]
    rows.sort(
        key=lambda row: (
            row.state == "unknown",
            row.events[0].timestamp or 0,
            row.events[0].message,
            row.sha or "",
        )
    )
    return [
        row
        for row in rows
        if (states is None or row.state in states)
        and (since is None or (row.event.timestamp or 0) >= since)
    ]


def decide(events: Sequence[Event]) -> tuple[str, Event]:
    """Return the state that follows from events (oldest first, at least one), and the deciding one.

    A state is only left for one that can follow it: a resend of what is queued
    already doesn't take it out of the queue, a failure is healed by a new
    posting, a release is undone by a revert alone.
    """
    state, decisive = "unknown", events[0]
    for event in events:
        following = _next_state(state, event)
        if following is not None:
            state, decisive = following, event
    return state, decisive


def _next_state(state: str, event: Event) -> str | None:
    match event.kind:
        case "nominated" if event.names_no_tree:
            return "unknown" if state == "unknown" else None
        case "nominated":
            return "nominated" if state in ("unknown", "nominated") else None
        case "autosel" | "posted":
            return "in-flight" if state not in ("queued", "released") else None
        case "failed":
            return "failed" if state not in ("queued", "released") else None
        case "queued" | "review":
            return "queued" if state != "released" else None
        case "dropped":
            return "dropped" if state != "released" else None
        case "released":
            return "released"
        case "reverted":
            return "reverted" if state in ("queued", "released", "in-flight") else None
    return None


def _row(tree: str, events: list[Event]) -> Row:
    state, decisive = decide(events)
    named = next((event for event in events if event.sha and event.kind != "reverted"), decisive)
    return Row(
        tree=tree,
        state=state,
        sha=named.sha,
        subject=named.subject or decisive.subject,
        reason=decisive.words(),
        event=decisive,
        events=events,
    )


def _complete(archive: Archive, events: Iterable[Event]) -> None:
    """Give abbreviated commits all their digits where exactly one commit is known to begin so."""
    short = {event.sha for event in events if event.sha and len(event.sha) < _FULL}
    full = {sha: full_sha(archive, sha) for sha in short}
    for event in events:
        if event.sha in full:
            event.sha = full[event.sha] or event.sha


def full_sha(archive: Archive, prefix: str) -> str | None:
    """Return the one commit id of 40 digits in the archive that begins so, or None."""
    found = archive.execute(
        "SELECT sha FROM commit_ref WHERE sha >= ?1 AND sha < ?2 AND length(sha) = ?3"
        " UNION SELECT sha FROM git_commit WHERE sha >= ?1 AND sha < ?2 LIMIT 2",
        (prefix, prefix + "g", _FULL),
    ).fetchall()
    return str(found[0][0]) if len(found) == 1 else None


def _group(events: Iterable[Event]) -> list[list[Event]]:
    """Bring together the events of each commit; nominations of unknown commits by title.

    A revert that names a commit of the stable tree itself is about the row with
    the title that it quotes.
    """
    groups: dict[str, list[Event]] = {}
    titles: dict[str, str] = {}
    reverts: list[Event] = []
    for event in events:
        title = even_out(event.subject)
        if event.kind == "reverted":
            reverts.append(event)
            continue
        group = event.sha or titles.get(title) or f"title {title}"
        groups.setdefault(group, []).append(event)
        if title:
            titles.setdefault(title, group)
    for event in reverts:
        group = event.sha if event.sha in groups else titles.get(even_out(event.subject), "")
        if group:
            groups[str(group)].append(event)
            groups[str(group)].sort(key=lambda item: item.timestamp or 0)
    return list(groups.values())

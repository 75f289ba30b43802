"""The backport list of a tree: one row for each upstream commit, its state, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from patchlore.kb.backport_row import OPEN_STATES, STATES, Requirement, Row
from patchlore.kb.events import Event
from patchlore.kb.history import events_of_tree
from patchlore.kb.merge import even_out
from patchlore.kb.own_commits import as_upstream
from patchlore.kb.parts import note_parts
from patchlore.kb.solving import Solved
from patchlore.kb.store import Archive
from patchlore.kb.versions import tree_name

__all__ = [
    "OPEN_STATES",
    "STATES",
    "Requirement",
    "Row",
    "backports",
    "decide",
    "full_sha",
    "row_of",
]

_FULL = 40


def backports(
    archive: Archive,
    tree: str,
    *,
    states: Collection[str] | None = None,
    as_of: int | None = None,
    missing_fixes: bool = False,
) -> list[Row]:
    """Return the list of a tree, each commit behind those that it requires, unknown last.

    ``tree`` is any spelling of its name, ``states`` those wanted (None: all).
    ``as_of`` is the day (seconds) by which delays and ends of maintenance are
    judged, now unless given.  ``missing_fixes`` keeps what repairs something that
    the tree has, while the tree lacks the repair.  What changed since a day
    patchlore.kb.filtering tells.
    """
    tree = tree_name(tree)
    solved = Solved(archive, tree, event_rows(archive, tree), as_of)
    rows = [
        row
        for row in solved.rows
        if (states is None or row.state in states)
        and (not missing_fixes or is_missing_fix(solved, row))
    ]
    note_parts(archive, rows)
    return rows


def row_of(archive: Archive, tree: str, sha: str) -> Row | None:
    """Return the row of a commit (all its digits) in the list of a tree, if there is one."""
    return next((row for row in backports(archive, tree) if row.sha == sha), None)


def event_rows(archive: Archive, tree: str, until: int | None = None) -> list[Row]:
    """Return the rows that the events of a tree (its one name) make, in no order.

    With ``until`` (seconds) only events before that time count.
    """
    events = events_of_tree(archive, tree)
    if until is not None:
        events = [event for event in events if (event.timestamp or 0) < until]
    _complete(archive, events)
    events = as_upstream(archive, tree, events)
    return [_row(tree, group) for group in _group(events)]


def is_missing_fix(solved: Solved, row: Row) -> bool:
    """Whether a row repairs something that the tree has, and is neither there nor useless."""
    return (
        row.state not in ("released", "queued", "not-affected", "unknown")
        and row.sha in solved.needs.grounds
    )


def decide(events: Sequence[Event]) -> tuple[str, Event]:
    """Return the state that follows from events (oldest first, at least one), and the deciding one.

    A state is only left for one that can follow it: a resend of what is queued
    already doesn't take it out of the queue, a failure is healed by a new
    posting, a release is undone by a revert alone.  Where a posted revert is dropped, the
    state is that from before it.
    """
    state, decisive = "unknown", events[0]
    before = state, decisive
    for event in events:
        if event.is_about_undoing and event.kind == "dropped":
            if decisive.is_about_undoing and decisive.commit is None:
                state, decisive = before
            continue
        following = _next_state(state, event)
        if following is not None:
            if not decisive.is_about_undoing:
                before = state, decisive
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
        case "re-applied" if event.commit:
            return "released" if event.release else "queued"
        case "re-applied":  # of what was never there it is another commit that is posted
            return "in-flight" if state in ("reverted", "unknown", "in-flight") else None
    return None


def _row(tree: str, events: list[Event]) -> Row:
    state, decisive = decide(events)
    named = next((event for event in events if event.sha and not event.is_about_undoing), decisive)
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
    the title that it quotes; one that names no commit at all only where one row
    has the title, and had it before.
    """
    groups: dict[str, list[Event]] = {}
    titles: dict[str, str] = {}
    fitting: dict[str, set[str]] = {}
    reverts: list[Event] = []
    for event in events:
        title = even_out(event.subject)
        if event.is_about_undoing:
            reverts.append(event)
            continue
        group = event.sha or titles.get(title) or f"title {title}"
        groups.setdefault(group, []).append(event)
        if title:
            titles.setdefault(title, group)
            fitting.setdefault(title, set()).add(group)
    for event in reverts:
        title = even_out(event.subject)
        group = titles.get(title, "")
        if event.sha is None and (
            len(fitting.get(title, ())) != 1
            or all((item.timestamp or 0) > (event.timestamp or 0) for item in groups[group])
        ):
            continue
        # What a revert of a revert names is the first revert, which may be a row, too.
        if event.sha in groups and (event.kind == "reverted" or event.commit or not group):
            group = str(event.sha)
        if group:
            told = groups[group]
            known = next((item for item in told if event.message and _is_one(item, event)), None)
            if known is None:
                told.append(event)
            elif event.sha == group:  # the line that names it proves more
                told[told.index(known)] = event
            told.sort(key=lambda item: item.timestamp or 0)
    return list(groups.values())


def _is_one(one: Event, other: Event) -> bool:
    """Whether two events are the one revert of a mail, which names both trees' commits."""
    return one.is_about_undoing and (one.message, one.kind) == (other.message, other.kind)

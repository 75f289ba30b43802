"""Events that name a stable tree's own commits, as events of the upstream commits these are.

Mail about a stable tree names commits of that tree: what is reverted there, or taken
from there to an older one.  Each is the backport of an upstream commit, its revert, or
what applied it again; so there is one row for one change, whoever tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchlore.kb.events import Event
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.store import Archive

#: What a commit of a stable tree is to the upstream commit.
_IS, _REVERTS, _APPLIES = "is", "reverts", "applies"

#: What it is where it is named as that which is taken back.
_TAKEN_BACK = {_IS: "reverted", _REVERTS: "re-applied", _APPLIES: "reverted"}
_KIND = {_REVERTS: "reverted", _APPLIES: "re-applied"}

#: Events that bring a commit into a tree; of a revert they are that it was reverted.
_BRINGS = frozenset({"autosel", "posted", "queued", "review", "released"})

#: Backports are taken from tree to tree, but not over more trees than there are.
_MOST_STEPS = 20


class Meaning(Struct, frozen=True):
    """What a stable tree's own commit is to an upstream commit."""

    how: str
    sha: str
    subject: str | None = None


def as_upstream(archive: Archive, tree: str, events: Sequence[Event]) -> list[Event]:
    """Return the events of a tree with upstream commits in the place of trees' own.

    Their commits have all their digits where these are known.  The events are changed.
    """
    known = _of_tree(events)
    named = {event.sha for event in events if event.sha} - known.keys()
    for sha, upstream in upstream_of(archive, GitPlaces(archive, tree), named).items():
        if upstream is not None:
            known[sha] = Meaning(_IS, upstream)
    there = {event.sha for event in events} | {one.sha for one in known.values()}
    known = {sha: one for sha, one in known.items() if one.how == _IS or one.sha in there}
    if not known:
        return list(events)
    titles = {event.sha: event.subject for event in events if event.sha and event.subject}
    found: list[Event] = []
    told: set[tuple[object, ...]] = set()
    for event in events:
        meaning = known.get(event.sha or "")
        if meaning is not None:
            if event.commit == event.sha:  # git tells the same of its upstream commit
                continue
            if event.kind in ("reverted", "re-applied"):
                if event.commit is None:
                    event.kind = _TAKEN_BACK[meaning.how]
            elif meaning.how != _IS:
                if event.kind not in _BRINGS:
                    continue
                event.kind = _KIND[meaning.how]
            if meaning.how != _IS or event.subject is None:
                event.subject = meaning.subject or titles.get(meaning.sha, event.subject)
            event.sha = meaning.sha
        # "This reverts commit …, which is commit … upstream." is one event.
        # So are two markers of a commit, one naming upstream's and one another tree's commit.
        is_one = event.commit is not None or event.kind in ("reverted", "re-applied")
        line = None if is_one else event.line
        key = (event.message, event.attachment, event.commit, event.kind, event.sha, line)
        if key not in told:
            told.add(key)
            found.append(event)
    return found


def _of_tree(events: Iterable[Event]) -> dict[str, Meaning]:
    """The tree's own commits, as the events that git tells have them."""
    found: dict[str, Meaning] = {}
    for event in events:
        if event.commit and event.sha and event.commit != event.sha and event.kind != "nominated":
            how = {"reverted": _REVERTS, "re-applied": _APPLIES}.get(event.kind, _IS)
            # A revert that is a backport itself is a row of its own.
            if how == _IS or event.commit not in found:
                found[event.commit] = Meaning(how, event.sha, event.subject)
    return found


def upstream_of(archive: Archive, places: GitPlaces, shas: Iterable[str]) -> dict[str, str | None]:
    """Return for those of commits that are stable trees' own what they are upstream.

    As their markers say, which may name another tree's own commit; None for one
    without a marker.
    """
    if not places.stable:
        return {}
    found: dict[str, str | None] = {}
    asked = set(shas)
    for _ in range(_MOST_STEPS):
        rows = archive.execute(
            "SELECT c.sha, c.place, (SELECT r.sha FROM git_commit_ref AS r"
            " WHERE r.git_commit = c.id AND r.relation = 'upstream' AND length(r.sha) = 40"
            " AND coalesce(r.kind, 'backport') IN ('backport', 'cherry-pick')"
            " ORDER BY r.position LIMIT 1)"
            " FROM json_each(?) AS j CROSS JOIN git_commit AS c ON c.sha = j.value",
            (json.dumps(sorted(asked)),),
        ).fetchall()
        new = {own: named for own, place, named in rows if places.is_own_of_stable(place)}
        asked = {named for named in new.values() if named} - found.keys() - new.keys()
        found.update(new)
        if not asked:
            break
    whole: dict[str, str | None] = {}
    for sha in found:
        seen, named = {sha}, found[sha]
        while named in found and named not in seen:
            seen.add(named)
            named = found[named]
        whole[sha] = None if named in seen else named
    return whole

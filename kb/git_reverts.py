"""Reverts in git trees: of a tree's backports, and reverts of those, which apply them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from patchlore.kb.events import Event
from patchlore.kb.git_events import MARKED, OF_TREE, event_at, is_own
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.git_reading import Places
from patchlore.kb.merge import title_hash
from patchlore.kb.reading import MIN_HEX
from patchlore.kb.store import Archive
from patchlore.kb.title_reverts import BY_TITLE, reverts_by_title
from patchlore.kb.undoing import titles_about

_REVERT = (
    "SELECT c.sha, coalesce(nullif(b.name, ''), b.email), c.commit_time, c.place, r.sha,"
    " r.line, r.text, r.confidence FROM git_commit_ref AS r"
    " JOIN git_commit AS c ON c.id = r.git_commit LEFT JOIN person AS b ON b.id = c.committer"
)


def reverts_in(archive: Archive, tree: str, backports: Sequence[Event]) -> Iterator[Event]:
    """Reverts in a tree of its backports, and reverts of those, which apply them again."""
    rows = archive.execute(
        f"{_REVERT} JOIN git_place_ref AS p ON p.place = c.place AND p.role = 'branch'"
        f" JOIN git_ref ON git_ref.id = p.ref WHERE {OF_TREE}"
        " AND r.relation IN ('reverts', 'reverted-upstream') GROUP BY c.id, r.sha ORDER BY c.id",
        (tree,),
    ).fetchall()
    titled = _by_title(archive, tree)
    if titled:
        rows = sorted([*rows, *titled], key=lambda row: row[2] or 0)
    yield from _undone(Places(archive), tree, rows, backports)


def _by_title(archive: Archive, tree: str) -> list[Sequence[Any]]:
    """Reverts in a tree that name a commit of it by its title, as rows of _REVERT with the rule."""
    own = GitPlaces(archive, tree).own
    return [
        (item.sha, item.by, item.time, item.place, item.target, 1, item.subject, 1, BY_TITLE)
        for item in reverts_by_title(archive, own, own)
    ]


def _titled(archive: Archive, event: Event) -> list[Sequence[Any]]:
    """The same of one backport, if any commit has the title of its revert."""
    hashes = [title_hash(text) for text in titles_about(event.subject or "")]
    known = "SELECT EXISTS (SELECT 1 FROM git_commit WHERE title_hash IN (?, ?, ?))"
    if not archive.value(known, hashes):
        return []
    return [row for row in _by_title(archive, event.tree) if row[4] in (event.commit, event.sha)]


def reverts_of(archive: Archive, backports: Iterable[Event]) -> Iterator[Event]:
    """Reverts of a few backports, each in its tree, and reverts of those."""
    places = Places(archive)
    for event in backports:
        known: dict[tuple[str, str], Sequence[Any]] = {}
        marked = [event]
        todo = [sha for sha in (event.commit, event.sha) if sha]
        while todo:
            whole = todo.pop()
            names = [whole, *(whole[:size] for size in range(MIN_HEX, len(whole)))]
            marks = ", ".join("?" * len(names))
            for row in archive.execute(
                f"{_REVERT} WHERE r.sha IN ({marks})"
                " AND r.relation IN ('reverts', 'reverted-upstream') ORDER BY c.id",
                names,
            ).fetchall():
                if (row[0], row[4]) in known:
                    continue
                known[row[0], row[4]] = row
                todo.append(row[0])
                for (upstream,) in archive.execute(
                    "SELECT r.sha FROM git_commit AS c JOIN git_commit_ref AS r"
                    " ON r.git_commit = c.id WHERE c.sha = ? AND r.relation = 'upstream'",
                    (row[0],),
                ).fetchall():
                    todo.append(upstream)
                    marked.append(msgspec.structs.replace(event, commit=row[0], sha=upstream))
        rows = sorted(
            [*known.values(), *_titled(archive, event)], key=lambda row: (row[2] or 0, row[0])
        )
        yield from _undone(places, event.tree, rows, marked)


def _undone(
    places: Places, tree: str, rows: Iterable[Sequence[Any]], backports: Sequence[Event]
) -> Iterator[Event]:
    """Events of reverts (oldest first): of backports, then of those reverts, and so on.

    A revert of a revert names that commit of the tree, or the one upstream that it is of.
    """
    there: dict[str, Event] = {}
    upstream: dict[str, str] = {}
    for event in backports:
        if event.commit and event.sha:
            upstream[event.commit] = event.sha
        for sha in (event.commit, event.sha):
            if sha:
                there.setdefault(sha[:12], event)
    gone: dict[str, Event] = {}
    for row in rows:
        own, named = row[0], row[4][:12]
        back = gone.get(named)
        about = back or there.get(named)
        if about is None:
            continue
        made = list(_revert(places, tree, row, about))
        for event in made:
            event.kind = "reverted" if back is None else "re-applied"
        yield from made
        if made:
            names = [sha[:12] for sha in (own, upstream.get(own)) if sha]
            (gone if back is None else there).update(dict.fromkeys(names, about))


def _revert(places: Places, tree: str, row: Sequence[Any], undone: Event) -> Iterator[Event]:
    sha, by, time, number, named, line, text, confidence, *rule = row
    for place in places.of(number):
        if place.tree == tree and is_own(tree, place):
            made = event_at(
                tree,
                place,
                upstream=undone.sha or named,
                commit=sha,
                subject=undone.subject or "",
                time=time,
                by=by,
                line=line,
                text=text,
                confidence=confidence,
                rule=rule[0] if rule else MARKED,
            )
            yield made

"""Nominations that git tells: commits of the mainline with a ``Cc: stable`` note for a tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from patchlore.kb.events import Event
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_for
from patchlore.kb.versions import rank


def git_nominations(
    archive: Archive, tree: str, shas: Collection[str] | None = None
) -> Iterator[Event]:
    """Yield the nominations for a stable tree (its one name) of commits, or of some (whole ids).

    Not those of commits that the tree has had from the start, nor of commits made
    after the end of its maintenance.
    """
    number = rank(tree)
    if number is None or "-" in tree:
        return
    if archive.value("SELECT 1 FROM git_stable_note LIMIT 1") is None:
        return
    places = GitPlaces(archive, tree)
    if not places.upstream:
        return
    wanted = ""
    if shas is not None:
        wanted = f" AND c.sha IN ({', '.join('?' * len(shas))})"
    rows = archive.execute(
        "SELECT c.sha, c.subject, c.commit_time, c.place, coalesce(nullif(a.name, ''), a.email),"
        " coalesce(nullif(b.name, ''), b.email), n.range, n.text, n.line FROM git_stable_note AS n"
        " CROSS JOIN git_commit AS c ON c.id = n.git_commit"
        " LEFT JOIN person AS a ON a.id = c.author LEFT JOIN person AS b ON b.id = c.committer"
        " WHERE c.parents < 2 AND coalesce(n.low, 0) <= ? AND coalesce(n.high, ?) >= ?"
        f"{wanted} ORDER BY c.id, n.position",
        [number, number, number, *(shas or ())],
    ).fetchall()
    end = trees_for(archive).longterm.get(tree)
    for sha, subject, time, place, author, by, range_, text, line in rows:
        if place not in places.upstream or place in places.own or places.is_base(place, tree):
            continue
        if end is not None and (time or 0) > end:
            continue
        note = text or range_ or ""
        yield Event(
            kind="nominated",
            tree=tree,
            sha=sha,
            subject=subject,
            timestamp=time,
            message=0,
            key=sha,
            commit=sha,
            author=author,
            by=by,
            range=range_,
            line=line,
            text=note if "stable" in note or not note else f"Cc: stable # {note}",
            rule="cc-stable",
        )

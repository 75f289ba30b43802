"""The life of a backport as git trees record it: what was committed, and first released where.

Beside the events that mail tells (kb/history.py); the evidence is a commit, not
a mail.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.edges_commits import same_changes
from patchlore.kb.edges_reading import commit_of
from patchlore.kb.events import Event
from patchlore.kb.git_events import ITSELF, MARKED, OF_TREE, SAME, event_at, is_own
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.git_reading import SAME_CHANGE, Place, Places, read_stored, trees_with
from patchlore.kb.git_reverts import reverts_in, reverts_of
from patchlore.kb.store import Archive
from patchlore.kb.title_reverts import BY_TITLE
from patchlore.kb.versions import rank


def has_trees(archive: Archive) -> bool:
    """Whether any git tree was read into the archive."""
    return archive.value("SELECT 1 FROM git_tree LIMIT 1") is not None


def git_events_of_tree(archive: Archive, tree: str, events: Sequence[Event]) -> list[Event]:
    """Return what git says of a stable tree (its one name), beside what mail says (``events``).

    Backports in it with a marker, reverts of those, and which of the commits that
    the events name are in it as they are.  Events of patches whose commit no mail
    names get the commit that they became, where that is known.
    """
    if not has_trees(archive):
        return []
    for event in events:
        if event.sha is None and event.rule != BY_TITLE:
            event.sha = commit_of(archive, event.message)
    found = list(_backports(archive, tree))
    if rank(tree) is not None:
        found += _unmarked(archive, tree)
    else:
        found = _made_for(archive, tree, found)
    found += reverts_in(archive, tree, found)
    places = Places(archive)
    shas = {event.sha: event for event in events if event.sha}
    for sha, event in shas.items():
        rows = archive.execute(
            "SELECT c.sha, c.subject, c.commit_time, c.place FROM git_commit AS c"
            " WHERE c.sha >= ? AND c.sha < ? LIMIT 2",
            (sha, sha + "g"),
        ).fetchall()
        if len(rows) == 1:
            for place in places.of(rows[0][3]):
                if place.tree == tree:
                    found.append(
                        event_at(
                            tree,
                            place,
                            upstream=event.sha or sha,
                            commit=rows[0][0],
                            subject=rows[0][1],
                            time=rows[0][2],
                        )
                    )
    return found


def git_events_of_commit(
    archive: Archive, shas: Sequence[str], tree: str | None, told: Collection[str]
) -> list[Event]:
    """Return where git has a commit (all its spellings given) or backports of it, as events.

    Only stable trees, one of them (its one name) or all.  ``told`` are trees in
    which mail has events of the commit: there it is said that the commit itself
    is in the tree, too; of every newer tree that goes without saying.
    """
    if not has_trees(archive):
        return []
    whole = max(shas, key=len)
    events = []
    found = trees_with(archive, shas)
    own = {(item.sha, item.tree) for item in found}
    for item in found:
        if rank(item.tree) is None or tree not in (None, item.tree):
            continue
        place = Place(
            tree=item.tree,
            branches=item.branches,
            tag=item.tag,
            tagged=item.tagged,
            release=item.release,
            released=item.released,
        )
        if item.how != "itself" and not is_own(item.tree, place):
            continue
        if item.how == "itself" and tree is None and item.tree not in told:
            continue
        # A vendor's or staging branch of a stable tree that has the tree's own commit.
        if tree is None and "-" in item.tree and (item.sha, _stable_of(item.tree)) in own:
            continue
        events.append(
            event_at(
                item.tree,
                place,
                upstream=whole,
                commit=item.sha,
                subject=item.subject,
                time=item.commit_time,
                by=item.by,
                relation=item.relation,
                line=item.line,
                text=item.text,
                confidence=CONFIDENCES.index(item.confidence),
                rule={"itself": ITSELF, SAME_CHANGE: SAME}.get(item.how, MARKED),
            )
        )
    marked = [event for event in events if event.rule != ITSELF]
    return events + list(reverts_of(archive, marked))


def _stable_of(tree: str) -> str:
    """The stable tree of a branch of it: ``6.1.y`` of ``6.1.y-cip``."""
    return tree.partition("-")[0]


def _backports(archive: Archive, tree: str) -> Iterator[Event]:
    places = Places(archive)
    rows = archive.execute(
        "SELECT c.sha, c.subject, coalesce(nullif(b.name, ''), b.email), c.commit_time, c.place,"
        " r.sha, r.kind, r.line, r.text, r.confidence, coalesce(nullif(a.name, ''), a.email), c.id,"
        " length(r.sha) = 40 AND NOT EXISTS (SELECT 1 FROM git_commit AS u WHERE u.sha = r.sha)"
        " FROM git_place_ref AS p JOIN git_ref ON git_ref.id = p.ref"
        " JOIN git_commit AS c ON c.place = p.place"
        " JOIN git_commit_ref AS r ON r.git_commit = c.id AND r.relation = 'upstream'"
        " LEFT JOIN person AS a ON a.id = c.author LEFT JOIN person AS b ON b.id = c.committer"
        f" WHERE {OF_TREE} AND p.role = 'branch' AND coalesce(r.kind, '') <> 'request'"
        " GROUP BY c.id, r.sha ORDER BY c.id, r.position",
        (tree,),
    ).fetchall()
    # A marker can name a commit that was rebased before it was merged: the change tells which.
    same = same_changes(archive, [row[-2] for row in rows if row[-1]])
    for row in rows:
        sha, subject, by, time, number, upstream, kind, line, text, confidence, author, id_, _ = row
        rule = MARKED
        if row[-1] and id_ in same:
            upstream, rule = same[id_].sha, SAME
            text = f"{text or upstream} (in no tree; {same[id_].words.partition('; ')[2]})"
        for place in places.of(number):
            if place.tree == tree and is_own(tree, place):
                yield event_at(
                    tree,
                    place,
                    upstream=upstream,
                    commit=sha,
                    subject=subject,
                    time=time,
                    by=by,
                    author=author,
                    relation=kind,
                    line=line,
                    text=text,
                    confidence=confidence,
                    rule=rule,
                )


def _made_for(archive: Archive, tree: str, events: Iterable[Event]) -> list[Event]:
    """Leave out commits with a marker that the mainline has, too: nobody made them for the tree."""
    found = list(events)
    upstream = GitPlaces(archive, tree).upstream
    places = dict(
        archive.execute(
            "SELECT c.sha, c.place FROM json_each(?) AS j CROSS JOIN git_commit AS c"
            " ON c.sha = j.value",
            (json.dumps([event.commit for event in found]),),
        ).fetchall()
    )
    return [event for event in found if places.get(event.commit) not in upstream]


def _has_no_upstream(archive: Archive, sha: str) -> bool:
    """Whether a commit says itself that there is none of it upstream."""
    stored = read_stored(archive, sha)
    return stored is not None and stored.message.not_upstream


def _unmarked(archive: Archive, tree: str) -> Iterator[Event]:
    """Commits that were made for the tree and carry an upstream commit's change without a marker.

    A revert of a revert may have the first commit's patch id: it is no backport of it.
    """
    places = Places(archive)
    numbers = [
        place
        for (place,) in archive.execute(
            "SELECT DISTINCT p.place FROM git_place_ref AS p JOIN git_ref ON git_ref.id = p.ref"
            f" WHERE {OF_TREE} AND p.role = 'branch'",
            (tree,),
        ).fetchall()
        if any(where.tree == tree and is_own(tree, where) for where in places.of(place))
    ]
    marks = ", ".join("?" * len(numbers))
    rows = archive.execute(
        "SELECT c.id, c.sha, c.subject, coalesce(nullif(b.name, ''), b.email), c.commit_time,"
        " c.place, coalesce(nullif(a.name, ''), a.email) FROM git_commit AS c"
        " LEFT JOIN person AS a ON a.id = c.author LEFT JOIN person AS b ON b.id = c.committer"
        f" WHERE c.place IN ({marks}) AND c.parents < 2 AND c.subject NOT LIKE 'Revert %'"
        " AND NOT EXISTS (SELECT 1 FROM git_commit_ref AS r WHERE r.git_commit = c.id"
        " AND r.relation = 'upstream') ORDER BY c.id",
        numbers,
    ).fetchall()
    same = same_changes(archive, [row[0] for row in rows])
    for id_, sha, subject, by, time, number, author in rows:
        if id_ not in same or _has_no_upstream(archive, sha):
            continue
        for place in places.of(number):
            if place.tree == tree and is_own(tree, place):
                yield event_at(
                    tree,
                    place,
                    upstream=same[id_].sha,
                    commit=sha,
                    subject=subject,
                    time=time,
                    by=by,
                    author=author,
                    text=same[id_].words,
                    confidence=CONFIDENCES.index(same[id_].confidence),
                    rule=SAME,
                )

"""The life of a backport as git trees record it: what was committed, and first released where.

Beside the events that mail tells (kb/history.py); the evidence is a commit, not
a mail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.edges_commits import same_changes
from patchlore.kb.edges_reading import commit_of
from patchlore.kb.events import Event
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.git_reading import SAME_CHANGE, Place, Places, read_stored, trees_with
from patchlore.kb.merge import title_hash
from patchlore.kb.reading import MIN_HEX
from patchlore.kb.store import Archive
from patchlore.kb.title_reverts import BY_TITLE, reverts_by_title
from patchlore.kb.undoing import titles_about
from patchlore.kb.versions import parse_version, rank

#: Rules of these events: the upstream commit is in the tree itself, or a commit with its marker.
ITSELF = "commit in the tree"
MARKED = "commit with the marker"
#: A commit without a marker whose change is that of the upstream commit.
SAME = "commit with the same change"

#: The branches of a tree: of a stable tree, or of a repository under its own name.
_OF_TREE = (
    "git_ref.id IN (SELECT b.id FROM git_ref AS b JOIN git_tree AS t ON t.id = b.tree"
    " WHERE ?1 IN (b.stable_tree, CASE WHEN b.stable_tree IS NULL THEN t.name END))"
)

_VERSION = re.compile(r"\d{1,3}\.\d{1,3}(?:\.\d{1,3})?")


_REVERT = (
    "SELECT c.sha, coalesce(nullif(b.name, ''), b.email), c.commit_time, c.place, r.sha,"
    " r.line, r.text, r.confidence FROM git_commit_ref AS r"
    " JOIN git_commit AS c ON c.id = r.git_commit LEFT JOIN person AS b ON b.id = c.committer"
)


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
    found += _reverts(archive, tree, found)
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
                        _event(
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
            _event(
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
    return events + list(_reverts_of(archive, marked))


def _stable_of(tree: str) -> str:
    """The stable tree of a branch of it: ``6.1.y`` of ``6.1.y-cip``."""
    return tree.partition("-")[0]


def is_own(tree: str, place: Place) -> bool:
    """Whether a commit at this place was made for the tree, and not before it branched off.

    ``6.1.y`` has its own commits from v6.1.1 on: v6.1 and its candidates are the
    mainline's.  Whatever is not tagged yet is its own.  Of a tree without a version
    nothing is ruled out by tags.
    """
    if rank(tree) is None:
        return True
    found = None if place.tag is None else _VERSION.search(place.tag)
    version = None if found is None else parse_version(found[0])
    if version is None:
        return True
    if version.rank != rank(tree):
        return False
    return version.major < 3 or version.patch > 0


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
        f" WHERE {_OF_TREE} AND p.role = 'branch' AND coalesce(r.kind, '') <> 'request'"
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
                yield _event(
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
            f" WHERE {_OF_TREE} AND p.role = 'branch'",
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
                yield _event(
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


def _reverts(archive: Archive, tree: str, backports: Sequence[Event]) -> Iterator[Event]:
    """Reverts in a tree of its backports, and reverts of those, which apply them again."""
    rows = archive.execute(
        f"{_REVERT} JOIN git_place_ref AS p ON p.place = c.place AND p.role = 'branch'"
        f" JOIN git_ref ON git_ref.id = p.ref WHERE {_OF_TREE}"
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


def _reverts_of(archive: Archive, backports: Iterable[Event]) -> Iterator[Event]:
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
            made = _event(
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


def _event(
    tree: str,
    place: Place,
    *,
    upstream: str,
    commit: str,
    subject: str,
    time: int | None,
    by: str | None = None,
    author: str | None = None,
    relation: str | None = None,
    line: int | None = None,
    text: str | None = None,
    confidence: int = 0,
    rule: str = ITSELF,
) -> Event:
    since = place.since
    return Event(
        kind="released" if since else "queued",
        tree=tree,
        sha=upstream,
        subject=subject,
        timestamp=(place.released if place.release else place.tagged) or time,
        message=0,
        key=commit,
        commit=commit,
        author=author,
        by=by,
        release=since.removeprefix("v") if since else None,
        relation=relation,
        line=line,
        text=text or subject,
        rule=rule,
        confidence=CONFIDENCES[confidence],
    )

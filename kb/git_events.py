"""Events that a commit of a git tree makes, and which commits are a stable tree's own."""

from __future__ import annotations

import re

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.events import Event
from patchlore.kb.git_reading import Place
from patchlore.kb.versions import parse_version, rank

#: Rules of these events: the upstream commit is in the tree itself, or a commit with its marker.
ITSELF = "commit in the tree"
MARKED = "commit with the marker"
#: A commit without a marker whose change is that of the upstream commit.
SAME = "commit with the same change"

#: The branches of a tree: of a stable tree, or of a repository under its own name.
OF_TREE = (
    "git_ref.id IN (SELECT b.id FROM git_ref AS b JOIN git_tree AS t ON t.id = b.tree"
    " WHERE ?1 IN (b.stable_tree, CASE WHEN b.stable_tree IS NULL THEN t.name END))"
)

_VERSION = re.compile(r"\d{1,3}\.\d{1,3}(?:\.\d{1,3})?")


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


def event_at(
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
    """Return the event that a commit is in a tree: released, or only committed."""
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

"""The dossier of a bug: messages that name it, strongest evidence first, and what fixes it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.errors import NotFoundError
from patchlore.kb.history import trees_of
from patchlore.kb.reading import Brief, Bug, briefs
from patchlore.kb.store import Archive

#: A place where a bug stands, in words.
PLACE_WORDS = {
    "trailer": "in a tag of the commit message",
    "subject": "in the subject",
    "diff-added": "in a line that the patch adds",
    "diff-removed": "in a line that the patch removes",
    "body": "in the text",
    "quoted": "in quoted text",
    "diff-context": "in a context line",
}


class Place(Struct, kw_only=True):
    """Where a message names a bug, and the line."""

    place: str
    line: int | None
    text: str | None
    rule: str | None
    confidence: Confidence


class Hit(Struct, kw_only=True):
    """A message that names a bug; ``strength`` is that of its best place (0 is the strongest)."""

    message: Brief
    places: list[Place]
    strength: int
    words: str
    component: str | None
    trees: list[str]
    upstream_commits: list[str]
    fixes: list[str]


class BugDossier(Struct, kw_only=True):
    """What is known about a bug."""

    bug: Bug
    components: list[str]
    hits: list[Hit]
    #: Upstream commits whose patches name the bug by more than a context line or a quotation.
    upstream_commits: list[str]
    trees: list[str]


class BugCount(Struct, kw_only=True):
    """A bug in the list of all: how many mails name it, how many of them strongly, since when."""

    bug: Bug
    messages: int
    patches: int
    strength: int
    first: int | None
    last: int | None


def bug_dossier(archive: Archive, bug: Bug) -> BugDossier:
    """Return the dossier of a bug; raises NotFoundError when no mail names it."""
    rows = archive.execute(
        "SELECT message, place, strength, line, text, rule, confidence, component FROM bug_ref"
        " WHERE tracker = ?1 AND (number = ?2 OR name = ?3)"
        " ORDER BY message, strength, line",
        (bug.tracker, bug.number, bug.name),
    ).fetchall()
    components = sorted({row[7] for row in rows if row[7]})
    if bug.component is not None:
        # Most mails give no component; one that gives another is about another bug.
        rows = [row for row in rows if row[7] in (None, bug.component)]
    if not rows:
        raise NotFoundError(f"No mail in the archive names {bug}.")
    by_message: dict[int, list[Sequence[object]]] = {}
    for row in rows:
        by_message.setdefault(row[0], []).append(row)
    shown = briefs(archive, by_message)
    hits = [_hit(archive, shown[id_], found) for id_, found in by_message.items()]
    hits.sort(key=_order)
    strong = [hit for hit in hits if hit.strength <= 2 and hit.message.is_patch]
    return BugDossier(
        bug=bug,
        components=components,
        hits=hits,
        upstream_commits=list(dict.fromkeys(sha for hit in strong for sha in hit.upstream_commits)),
        trees=list(dict.fromkeys(tree for hit in strong for tree in hit.trees)),
    )


def all_bugs(archive: Archive, *, tracker: str = "gcc", since: int | None = None) -> list[BugCount]:
    """Return all bugs of a tracker that mails since then name, the last named first."""
    rows = archive.execute(
        """
        SELECT b.number, b.name, max(b.component), count(DISTINCT b.message),
               count(DISTINCT CASE WHEN m.is_patch AND b.strength <= 2 THEN b.message END),
               min(b.strength), min(m.timestamp), max(m.timestamp)
          FROM bug_ref AS b JOIN message AS m ON m.id = b.message
         WHERE b.tracker = ?1
         GROUP BY b.number, b.name
        HAVING ?2 IS NULL OR max(m.timestamp) >= ?2
         ORDER BY max(m.timestamp) DESC, b.number DESC
        """,
        (tracker, since),
    )
    return [
        BugCount(
            bug=Bug(tracker=tracker, number=row[0], name=row[1], component=row[2]),
            messages=row[3],
            patches=row[4],
            strength=row[5],
            first=row[6],
            last=row[7],
        )
        for row in rows
    ]


def _hit(archive: Archive, message: Brief, rows: list[Sequence[object]]) -> Hit:
    places = [
        Place(
            place=str(place),
            line=None if line is None else int(str(line)),
            text=None if text is None else str(text),
            rule=None if rule is None else str(rule),
            confidence=CONFIDENCES[int(str(confidence))],
        )
        for _, place, _, line, text, rule, confidence, _ in rows
    ]
    components = [str(row[7]) for row in rows if row[7]]
    refs = archive.execute(
        "SELECT relation, sha FROM commit_ref WHERE message = ?"
        " AND relation IN ('upstream', 'fixes') ORDER BY position",
        (message.id,),
    ).fetchall()
    return Hit(
        message=message,
        places=places,
        strength=min(int(str(row[2])) for row in rows),
        words=words_of({place.place for place in places}),
        component=components[0] if components else None,
        trees=trees_of(archive, message.id, message.timestamp),
        upstream_commits=[sha for relation, sha in refs if relation == "upstream"],
        fixes=[sha for relation, sha in refs if relation == "fixes"],
    )


def words_of(places: set[str]) -> str:
    """Return in words where a bug stands; a weak place alone is said to be the only one."""
    if places == {"diff-context"}:
        return "stands in a context line only: the patch does not touch what names the bug"
    if places == {"quoted"}:
        return "stands in quoted text only"
    if places == {"quoted", "diff-context"}:
        return "stands in quoted text and in a context line only"
    named = [words for place, words in PLACE_WORDS.items() if place in places]
    return "stands " + ", ".join(named)


def _order(hit: Hit) -> tuple[int, int, bool, int, int]:
    sure = min(CONFIDENCES.index(place.confidence) for place in hit.places)
    message = hit.message
    return (hit.strength, sure, not message.is_patch, message.timestamp or 0, message.id)

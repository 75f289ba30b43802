"""The dossier of a bug: messages that name it, strongest evidence first, and what fixes it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.ingest.bug import Bug as BugRecord
from patchlore.ingest.message import CONFIDENCES, Confidence, Message
from patchlore.kb.backports import decide
from patchlore.kb.dossiers.compilers import CompilerNamed, MeasuredTable, compilers_of
from patchlore.kb.dossiers.git_commits import BugInTree, bug_in_trees
from patchlore.kb.dossiers.related import Related, related
from patchlore.kb.errors import NotFoundError
from patchlore.kb.history import events_of_commit, trees_of
from patchlore.kb.reading import Brief, Bug, briefs, longest, spellings
from patchlore.kb.store import Archive
from patchlore.kb.versions import newest_first

#: More mails than this are not read for compilers and tables.
_MOST_DECODED = 500

#: Of so many commits it is told what became of them in stable trees.
_MOST_COMMITS = 25

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


class TreeOfWorkaround(Struct, kw_only=True):
    """Where a patch about the bug stands in a stable tree."""

    tree: str
    state: str
    reason: str
    #: The mail or the commit of a git tree that decides it, and the line.
    key: str
    line: int | None
    text: str | None
    confidence: Confidence


class BugCommit(Struct, kw_only=True):
    """An upstream commit whose patch names the bug, and the trees that have it or were asked to."""

    sha: str
    subject: str | None
    trees: list[TreeOfWorkaround]


class BugDossier(Struct, kw_only=True):
    """What is known about a bug."""

    bug: Bug
    components: list[str]
    hits: list[Hit]
    #: Upstream commits whose patches name the bug by more than a context line or a quotation.
    upstream_commits: list[str]
    trees: list[str]
    #: What the tracker says, when its record of the bug was ingested.
    record: BugRecord | None = None
    #: The message that has the record.
    record_key: str | None = None
    #: Bugs whose records say that they are duplicates of this one.
    duplicates: list[int] = []
    #: The same commits, with what became of them in each stable tree.
    commits: list[BugCommit] = []
    #: Compilers that the mails name, and measurements by compiler.
    compilers: list[CompilerNamed] = []
    tables: list[MeasuredTable] = []
    #: Commits of git trees that name the bug.
    git: list[BugInTree] = []
    #: Mails that don't name the bug: other copies and revisions of the patches about it, answers.
    related: list[Related] = []


class BugCount(Struct, kw_only=True):
    """A bug in the list of all: how many mails name it, how many of them strongly, since when."""

    bug: Bug
    messages: int
    patches: int
    strength: int
    first: int | None
    last: int | None


def bug_dossier(archive: Archive, bug: Bug) -> BugDossier:
    """Return the dossier of a bug; raises NotFoundError when no mail and no commit names it."""
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
    in_trees = bug_in_trees(archive, bug)
    if not rows and not in_trees:
        raise NotFoundError(f"No mail in the archive names {bug}.")
    by_message: dict[int, list[Sequence[object]]] = {}
    for row in rows:
        by_message.setdefault(row[0], []).append(row)
    shown = briefs(archive, by_message)
    hits = [_hit(archive, shown[id_], found) for id_, found in by_message.items()]
    hits.sort(key=_order)
    strong = [hit for hit in hits if hit.strength <= 2 and hit.message.is_patch]
    commits = list(dict.fromkeys(sha for hit in strong for sha in hit.upstream_commits))
    decoded = [
        (hit.message, archive.message(hit.message.id))
        for hit in hits[:_MOST_DECODED]
        if hit.strength <= 2
    ]
    compilers, tables = compilers_of(decoded)
    record, record_key = _record(bug, decoded)
    return BugDossier(
        bug=bug,
        components=components,
        hits=hits,
        upstream_commits=commits,
        trees=list(dict.fromkeys(tree for hit in strong for tree in hit.trees)),
        record=record,
        record_key=record_key,
        duplicates=sorted(
            {
                message.bug.number
                for _, message in decoded
                if message.bug is not None
                and message.bug.duplicate_of == bug.number
                and message.bug.tracker in (None, bug.tracker)
            }
        ),
        commits=_commits(archive, commits, strong),
        compilers=compilers,
        tables=tables,
        git=in_trees,
        related=related(archive, [hit.message for hit in strong], set(by_message)),
    )


def _record(
    bug: Bug, decoded: Sequence[tuple[Brief, Message]]
) -> tuple[BugRecord | None, str | None]:
    """What the newest record of the tracker says, and the key of its message; no comments."""
    records = [
        (message.bug.changed or "", message.bug, brief.key)
        for brief, message in decoded
        if message.bug is not None
        and message.bug.comment is None
        and (message.bug.title or message.bug.status)  # not of a history or an attachment
        and message.bug.number == bug.number
        and message.bug.tracker in (None, bug.tracker)
    ]
    return max(records, key=lambda record: record[0])[1:] if records else (None, None)


def _commits(archive: Archive, shas: Sequence[str], strong: Sequence[Hit]) -> list[BugCommit]:
    """The commits, each under its longest spelling, with its state in each tree."""
    titles = {
        sha: hit.message.clean_subject for hit in reversed(strong) for sha in hit.upstream_commits
    }
    found: dict[str, BugCommit] = {}
    for sha in shas[:_MOST_COMMITS]:
        written = spellings(archive, sha)
        whole = longest(written) or sha
        if whole in found:
            continue
        events = events_of_commit(archive, written or [sha], title=titles.get(sha))
        trees = []
        for tree in newest_first({event.tree for event in events}):
            state, decisive = decide([event for event in events if event.tree == tree])
            trees.append(
                TreeOfWorkaround(
                    tree=tree,
                    state=state,
                    reason=decisive.words(),
                    key=decisive.key,
                    line=decisive.line,
                    text=decisive.text,
                    confidence=decisive.confidence,
                )
            )
        found[whole] = BugCommit(sha=whole, subject=titles.get(sha), trees=trees)
    return list(found.values())


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

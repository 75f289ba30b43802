"""Events that patches attached to a mail are: each a posting for its own trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.columns import number_or_none, text_or_none
from patchlore.kb.events import Event
from patchlore.kb.store import Archive
from patchlore.kb.trees import in_range, trees_for, trees_in_range
from patchlore.kb.versions import rank

_COLUMNS = (
    "SELECT m.id, m.key, m.timestamp, a.position, a.subject,"
    " coalesce(nullif(p.name, ''), p.email), coalesce(m.sender_name, m.sender_email,"
    " m.sender_masked), a.version, a.part, a.parts, a.prefixes, a.applicable, r.relation, r.sha,"
    " r.kind, r.line, r.text, r.rule, r.confidence, r.subject"
)
_TABLES = (
    " JOIN attached AS a ON a.message = {0}.message AND a.position = {0}.position"
    " JOIN mail AS m ON m.id = a.message LEFT JOIN person AS p ON p.id = a.author"
)
_REFS = " JOIN attached_ref AS r ON r.message = a.message AND r.position = a.position"
#: What a notice of the stable maintainers encloses is no posting.
_COUNTS = " m.notice IS NULL AND coalesce(r.kind, '') <> 'request'"
_ORDER = " ORDER BY m.id, a.position, r.number"


def attached_to_tree(archive: Archive, tree: str) -> Iterator[Event]:
    """Yield the postings for a tree (its one name) that are attached patches."""
    rows = archive.execute(
        f"{_COLUMNS} FROM attached_tree AS t{_TABLES.format('t')}{_REFS}"
        f" WHERE t.tree = ? AND{_COUNTS}{_ORDER}",
        (tree,),
    ).fetchall()
    yield from (_event(row, tree) for row in rows)
    number = rank(tree)
    if number is None or "-" in tree:
        return
    rows = archive.execute(
        f"{_COLUMNS}, t.newest, t.oldest FROM attached_range AS t{_TABLES.format('t')}{_REFS}"
        f" WHERE t.newest > ?1 AND t.oldest < ?1 AND{_COUNTS}{_ORDER}",
        (number,),
    ).fetchall()
    trees = trees_for(archive)
    for *row, newest, oldest in rows:
        if in_range(trees, tree, newest, oldest, row[2]):
            yield _event(row, tree)


def attached_of_commit(archive: Archive, sha: str, tree: str | None) -> Iterator[Event]:
    """Yield the attached patches that name a commit as it is spelled, in one tree or in all."""
    rows = archive.execute(
        f"{_COLUMNS} FROM attached_ref AS r{_TABLES.format('r')} WHERE r.sha = ? AND"
        f"{_COUNTS}{_ORDER}",
        (sha,),
    ).fetchall()
    for row in rows:
        for name in _trees_of(archive, row[0], row[3], row[2]):
            if tree in (None, name):
                yield _event(row, name)


def attached_for(archive: Archive, message: int, tree: str, timestamp: int | None) -> list[str]:
    """Return the upstream commits of the patches in a mail that are meant for a tree."""
    rows = archive.execute(
        "SELECT position, sha FROM attached_ref WHERE message = ? AND relation = 'upstream'"
        " ORDER BY position, number",
        (message,),
    ).fetchall()
    found = [
        sha for position, sha in rows if tree in _trees_of(archive, message, position, timestamp)
    ]
    return list(dict.fromkeys(found))


def told_once(attached: Iterable[Event], others: Iterable[Event]) -> Iterator[Event]:
    """Yield events of mails and those of their attached patches, each commit once a mail and tree.

    The body of a mail has the text of what is attached to it, so that the mail
    itself names the same commits; what the single patch says counts.
    """
    told: set[tuple[int, str, str | None]] = set()
    for event in attached:
        key = (event.message, event.tree, event.sha)
        if key not in told:
            told.add(key)
            yield event
    for event in others:
        if (event.message, event.tree, event.sha) not in told:
            yield event


def _trees_of(
    archive: Archive, message: int, position: int, timestamp: int | None
) -> Iterator[str]:
    names = [
        name
        for (name,) in archive.execute(
            "SELECT tree FROM attached_tree WHERE message = ? AND position = ?",
            (message, position),
        )
    ]
    for newest, oldest in archive.execute(
        "SELECT newest, oldest FROM attached_range WHERE message = ? AND position = ?",
        (message, position),
    ):
        names += trees_in_range(trees_for(archive), newest, oldest, timestamp)
    yield from dict.fromkeys(names)


def _event(row: Sequence[object], tree: str) -> Event:
    (id_, key, timestamp, position, title, author, sender, version, part, parts, prefixes,
     applicable, relation, sha, how, line, text, rule, confidence, named) = row  # fmt: skip
    if relation == "upstream":
        kind = "autosel" if " AUTOSEL " in str(prefixes) else "posted"
        subject = text_or_none(title)
    else:
        kind, subject = "reverted", text_or_none(named) or text_or_none(title)
    return Event(
        kind=kind,
        tree=tree,
        sha=str(sha),
        subject=subject,
        timestamp=number_or_none(timestamp),
        message=int(str(id_)),
        key=str(key),
        attachment=int(str(position)),
        author=text_or_none(author),
        by=text_or_none(sender),
        version=number_or_none(version),
        part=number_or_none(part),
        parts=number_or_none(parts),
        relation=text_or_none(how),
        is_patch=True,
        applicable=bool(applicable),
        line=number_or_none(line),
        text=text_or_none(text),
        rule=text_or_none(rule),
        confidence=CONFIDENCES[int(str(confidence))],
    )

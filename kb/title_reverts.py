"""Reverts that name what they take back by its title alone: ``Revert "x"``, and no commit id.

The commit is the one with exactly that title that was there before; where several are, none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from patchlore.kb.events import Event
from patchlore.kb.merge import even_out, title_hash
from patchlore.kb.store import Archive
from patchlore.kb.undoing import takes_back, titles_about, undoing

#: The rule by which such a commit is known.
BY_TITLE = "title of a revert"

_TITLED = "({title} LIKE 'revert \"%' OR {title} LIKE 'reapply \"%')"
_NAMES_NONE = (
    "NOT EXISTS (SELECT 1 FROM {table} AS x WHERE x.{key} = {id}"
    " AND x.relation IN ('reverts', 'partial-revert', 'reverted-upstream'))"
)


class TitleRevert(Struct, frozen=True, kw_only=True):
    """A commit that takes back another one, which it names by its title."""

    id: int
    sha: str
    subject: str
    by: str | None
    time: int | None
    place: int
    #: The whole id of what it takes back.
    target: str


def reverts_by_title(
    archive: Archive, places: Collection[int], among: Collection[int]
) -> list[TitleRevert]:
    """Return the reverts at ``places`` whose title fits one older commit ``among`` places."""
    if not places or not among:
        return []
    names_none = _NAMES_NONE.format(table="git_commit_ref", key="git_commit", id="c.id")
    rows = archive.execute(
        "SELECT c.id, c.sha, c.subject, c.commit_time, c.place,"
        " coalesce(nullif(b.name, ''), b.email) FROM git_commit AS c"
        " LEFT JOIN person AS b ON b.id = c.committer"
        f" WHERE c.place IN ({_list(places)}) AND {_TITLED.format(title='c.subject')}"
        f" AND {names_none} ORDER BY c.id"
    ).fetchall()
    hashes = {title_hash(takes_back(row[2])) for row in rows} - {None}
    older: dict[str, list[tuple[int, str]]] = {}
    for id_, sha, subject in archive.execute(
        "SELECT c.id, c.sha, c.subject FROM json_each(?) AS j CROSS JOIN git_commit AS c"
        f" ON c.title_hash = j.value WHERE c.place IN ({_list(among)})",
        (json.dumps(sorted(number for number in hashes if number is not None)),),
    ).fetchall():
        older.setdefault(even_out(subject), []).append((id_, sha))
    found = []
    for id_, sha, subject, time, place, by in rows:
        title = even_out(takes_back(subject))
        # Row ids rise from parents to children.
        fitting = [target for other, target in older.get(title, ()) if other < id_] if title else []
        if len(fitting) == 1:
            found.append(
                TitleRevert(
                    id=id_,
                    sha=sha,
                    subject=subject,
                    by=by,
                    time=time,
                    place=place,
                    target=fitting[0],
                )
            )
    return found


def mail_reverts(archive: Archive, tree: str) -> Iterator[Event]:
    """Yield the reverts posted for a tree that name no commit, with the title of what they undo."""
    title = "coalesce(m.commit_subject, m.clean_subject)"
    names_none = _NAMES_NONE.format(table="commit_ref", key="message", id="m.id")
    for (
        id_,
        key,
        timestamp,
        subject,
        author,
        by,
        version,
        part,
        parts,
        applicable,
    ) in archive.execute(
        f"SELECT m.id, m.key, m.timestamp, {title}, m.author_name,"
        " coalesce(m.sender_name, m.sender_email, m.sender_masked), m.version, m.part, m.parts,"
        " m.applicable FROM (SELECT DISTINCT message FROM target_tree WHERE tree = ?) AS t"
        " JOIN mail AS m ON m.id = t.message WHERE m.is_patch AND NOT m.is_reply"
        " AND coalesce(m.notice, '') NOT IN ('dropped', 'released', 'failed')"
        f" AND {_TITLED.format(title=title)} AND {names_none}",
        (tree,),
    ).fetchall():
        about = undoing(subject)
        if about is None:
            continue
        yield Event(
            kind="reverted" if about[1] else "re-applied",
            tree=tree,
            sha=None,
            subject=about[0],
            timestamp=timestamp,
            message=id_,
            key=key,
            author=author,
            by=by,
            version=version,
            part=part,
            parts=parts,
            is_patch=True,
            applicable=bool(applicable),
            line=0,
            text=subject,
            rule=BY_TITLE,
            confidence="high",
        )


def mail_reverts_of(archive: Archive, sha: str, events: Sequence[Event]) -> list[Event]:
    """Return the reverts of a commit that were posted so for the trees of its events.

    Only after those, and where no other commit was sent to the tree under the title.
    """
    found = []
    begun: dict[tuple[str, str], int] = {}
    for event in events:
        key = event.tree, even_out(event.subject)
        if event.subject and event.sha:
            begun[key] = min(begun.get(key, event.timestamp or 0), event.timestamp or 0)
    for tree in {tree for tree, title in begun if _is_undone(archive, title)}:
        for event in mail_reverts(archive, tree):
            since = begun.get((tree, even_out(event.subject)))
            if since is None or since > (event.timestamp or 0):
                continue
            others = archive.value(
                "SELECT count(DISTINCT r.sha) FROM message AS m JOIN target_tree AS t"
                " ON t.message = m.id AND t.tree = ? JOIN commit_ref AS r ON r.message = m.id"
                " AND r.relation = 'upstream' WHERE m.title_hash = ?",
                (tree, title_hash(event.subject)),
            )
            if int(others or 0) <= 1:
                event.sha = sha
                found.append(event)
    return found


def _is_undone(archive: Archive, title: str) -> bool:
    """Whether any mail has the title of a revert of ``title``."""
    hashes = [title_hash(text) for text in titles_about(title)]
    return bool(
        archive.value("SELECT EXISTS (SELECT 1 FROM message WHERE title_hash IN (?, ?, ?))", hashes)
    )


def _list(numbers: Collection[int]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))

"""Events that folders of patches are: ``queue-6.6``, ``releases/6.6.9``, ``CVE-…/4.19``."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.columns import number_or_none, text_or_none
from patchlore.kb.events import Event
from patchlore.kb.store import Archive

_SELECT = (
    "SELECT p.tree, p.state, p.release, source.path, m.id, m.key, m.timestamp,"
    " coalesce(m.commit_subject, m.clean_subject), m.author_name, m.applicable, r.relation,"
    " r.sha, r.kind, r.line, r.text, r.confidence, r.subject"
    " FROM message_place AS p JOIN source ON source.id = p.source"
    " JOIN mail AS m ON m.id = p.message AND m.is_patch"
    " {join} commit_ref AS r ON r.message = m.id AND NOT r.quoted AND (r.relation IN"
    " ('reverts', 'reverted-upstream') OR (r.relation = 'upstream' AND r.kind <> 'request'))"
    " WHERE {condition} ORDER BY m.id, r.position, source.id"
)


def folder_events(archive: Archive, tree: str) -> Iterator[Event]:
    """Yield what the folders of a tree (its one name) hold: queued, released or posted patches.

    A patch that names no commit upstream is told by its title.
    """
    sql = _SELECT.format(join="LEFT JOIN", condition="p.tree = ?")
    yield from _events(archive, archive.execute(sql, (tree,)).fetchall())


def folder_events_of_commit(archive: Archive, sha: str, tree: str | None) -> Iterator[Event]:
    """Yield the folders that hold a patch of a commit as it is spelled, in one tree or in all."""
    sql = _SELECT.format(join="JOIN", condition="r.sha = ?1 AND (?2 IS NULL OR p.tree = ?2)")
    yield from _events(archive, archive.execute(sql, (sha, tree)).fetchall())


def _events(archive: Archive, rows: Sequence[Sequence[object]]) -> Iterator[Event]:
    released: dict[str, int | None] = {}
    told: set[tuple[object, ...]] = set()
    for row in rows:
        (tree, state, release, path, id_, key, timestamp, title, author, applicable, relation,
         sha, how, line, text, confidence, named) = row  # fmt: skip
        what = (tree, state, release, id_, sha)
        if what in told:
            continue
        told.add(what)
        version = str(release or "")
        if version and version not in released:
            released[version] = _released(archive, version)
        is_revert = relation in ("reverts", "reverted-upstream")
        when = released.get(version)
        # "queue-6.6" says it alone, "6.6.9" and "4.19" below the folder above them.
        above, folder = posixpath.split(posixpath.dirname(str(path)))
        if state != "queued":
            folder = posixpath.join(posixpath.basename(above.rpartition("!")[2]), folder)
        yield Event(
            kind="reverted" if is_revert else str(state),
            tree=str(tree),
            sha=None if sha is None else str(sha),
            subject=text_or_none((named or title) if is_revert else title),
            timestamp=when if when is not None else number_or_none(timestamp),
            message=int(str(id_)),
            key=str(key),
            author=text_or_none(author),
            release=version or None,
            relation=None if is_revert else text_or_none(how),
            is_patch=True,
            applicable=bool(applicable),
            line=number_or_none(line),
            text=text_or_none(text) or str(path),
            rule=f"in the folder {folder}",
            confidence=CONFIDENCES[number_or_none(confidence) or 0],
        )


def _released(archive: Archive, release: str) -> int | None:
    """When a release was made: as its announcement says, else its tag in a git tree."""
    found = archive.value(
        "SELECT min(timestamp) FROM message WHERE notice = 'released' AND notice_release = ?",
        (release,),
    )
    if found is None:
        found = archive.value(
            "SELECT min(timestamp) FROM git_ref WHERE kind = 'tag' AND name = ?", (f"v{release}",)
        )
    return None if found is None else int(found)

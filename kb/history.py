"""The life of a backport as mail records it: events of an upstream commit in a stable tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.attached_history import attached_of_commit, attached_to_tree, told_once
from patchlore.kb.columns import number_or_none, text_or_none
from patchlore.kb.events import KINDS, Event
from patchlore.kb.folder_history import folder_events, folder_events_of_commit
from patchlore.kb.git_history import git_events_of_commit, git_events_of_tree
from patchlore.kb.git_nominations import git_nominations
from patchlore.kb.merge import even_out, title_hash
from patchlore.kb.replies import drops, taken
from patchlore.kb.store import Archive
from patchlore.kb.title_reverts import mail_reverts, mail_reverts_of
from patchlore.kb.trees import in_range, takes_notes, trees_for, trees_of, trees_to_tell
from patchlore.kb.undoing import titles_about, undoing
from patchlore.kb.versions import rank, tree_name

__all__ = ["KINDS", "Event", "events_of_commit", "events_of_tree", "trees_of"]

# One row for each (mail, upstream commit); trees are added in Python.
_COLUMNS = """
    m.id, m.key, m.timestamp, m.clean_subject, m.author_name,
    coalesce(m.sender_name, m.sender_email, m.sender_masked),
    m.version, m.part, m.parts, m.prefixes, m.notice, m.notice_release, m.is_patch, m.applicable,
    m.commit_subject, r.sha, r.kind, r.line, r.text, r.rule, r.confidence, r.relation, r.subject,
    (SELECT cover.notice_release FROM message AS cover WHERE cover.mid = m.in_reply_to LIMIT 1),
    CASE r.kind WHEN 'request' THEN r.tree END, m.is_reply
"""
_COUNTS = """
    (NOT m.is_reply OR m.is_patch OR m.notice IS NOT NULL OR r.kind = 'request')
    AND coalesce(m.notice, '') NOT IN ('dropped', 'released')
    AND (r.relation = 'upstream' OR (r.relation = 'original' AND m.notice = 'failed')
         OR (r.relation IN ('reverts', 'reverted-upstream') AND m.is_patch))
    AND NOT r.quoted
"""


def events_of_tree(archive: Archive, tree: str) -> list[Event]:
    """Return all events in a tree (any spelling of its name), oldest first."""
    tree = tree_name(tree)
    events = [*_posted_to(archive, tree), *mail_reverts(archive, tree)]
    number = None if "-" in tree else rank(tree)
    if number is not None:
        events += _posted_to_range(archive, tree, number)
        if takes_notes(archive, tree):
            events += _nominations(archive, tree, number)
        events += git_nominations(archive, tree)
    events = list(told_once(attached_to_tree(archive, tree), events))
    events += folder_events(archive, tree)
    events += drops(archive, tree)
    events += taken(archive, tree)
    events += _releases(archive, tree, events)
    events += git_events_of_tree(archive, tree, events)
    return sorted(events, key=_time)


def events_of_commit(
    archive: Archive, shas: Sequence[str], tree: str | None = None, *, title: str | None = None
) -> list[Event]:
    """Return the events of one commit, given by all its spellings, in one tree or in all.

    Nominations are those of patches with the title of one of its backports, or
    with ``title`` where no mail says which commit became of the patch.
    """
    wanted = None if tree is None else tree_name(tree)
    events: list[Event] = []
    attached: list[Event] = []
    folders: list[Event] = []
    titles: set[int | None] = {title_hash(title)}
    for sha in shas:
        rows = archive.execute(
            f"SELECT {_COLUMNS} FROM commit_ref AS r JOIN mail AS m ON m.id = r.message"
            f" WHERE r.sha = ? AND {_COUNTS}",
            (sha,),
        ).fetchall()
        for row in rows:
            for name in trees_of(archive, row[0], row[2]):
                if wanted in (None, name) and row[24] in (None, name):
                    events.append(_event(archive, row, name))
        attached += attached_of_commit(archive, sha, wanted)
        folders += folder_events_of_commit(archive, sha, wanted)
        titles |= {
            found
            for (found,) in archive.execute(
                "SELECT DISTINCT m.title_hash FROM commit_ref AS r JOIN message AS m"
                " ON m.id = r.message WHERE r.sha = ?1 AND m.primary_upstream = ?1",
                (sha,),
            )
        }
    events = [*told_once(attached, events), *folders]
    titles = {found for found in titles if found is not None}
    trees = {event.tree for event in events}
    for name in trees | ({wanted} if wanted else set()):
        posted = titles | {title_hash(event.subject) for event in events} - {None}
        found = [*drops(archive, name), *taken(archive, name)]
        found += _releases(archive, name, events, posted)
        for event in found:
            if event.sha in shas or (
                event.is_about_undoing and title_hash(event.subject) in posted
            ):
                events.append(event)
    for name in trees_to_tell(archive) if wanted is None else [wanted]:
        number = None if "-" in name else rank(name)
        if titles and number is not None and takes_notes(archive, name):
            for event in _nominations(archive, name, number, titles):
                if event.sha in shas or (event.sha is None and event.subject):
                    events.append(event)
        events += git_nominations(archive, name, shas)
    events += _undoings(archive, events, title, wanted)
    events += mail_reverts_of(archive, max(shas, key=len), events)
    events += git_events_of_commit(archive, shas, wanted, {event.tree for event in events})
    return sorted(events, key=_time)


def _undoings(
    archive: Archive, events: Sequence[Event], title: str | None, wanted: str | None
) -> list[Event]:
    """Reverts of a commit, and reverts of those, that name it by its title alone.

    What a patch for a stable tree reverts is that tree's own commit.
    """
    known = {(event.message, event.kind) for event in events}
    subjects = {even_out(text): text for text in (title, *(e.subject for e in events)) if text}
    found = []
    for subject in subjects.values():
        for row in archive.execute(
            f"SELECT {_COLUMNS} FROM mail AS m JOIN commit_ref AS r ON r.message = m.id"
            f" WHERE m.title_hash IN (?, ?, ?) AND {_COUNTS}"
            " AND r.relation IN ('reverts', 'reverted-upstream') GROUP BY m.id ORDER BY m.id",
            [title_hash(text) for text in titles_about(subject)],
        ).fetchall():
            for name in trees_of(archive, row[0], row[2]):
                event = _event(archive, row, name)
                if wanted in (None, name) and (event.message, event.kind) not in known:
                    found.append(event)
    return found


def _time(event: Event) -> tuple[int, int, int]:
    return (event.timestamp or 0, KINDS.index(event.kind), event.message)


def _posted_to(archive: Archive, tree: str) -> Iterator[Event]:
    rows = archive.execute(
        f"SELECT {_COLUMNS} FROM (SELECT DISTINCT message FROM target_tree WHERE tree = ?) AS t"
        " JOIN mail AS m ON m.id = t.message JOIN commit_ref AS r ON r.message = m.id"
        f" WHERE {_COUNTS}",
        (tree,),
    )
    for row in rows:
        if row[24] in (None, tree):  # a request names the trees for each of its commits
            yield _event(archive, row, tree)


def _posted_to_range(archive: Archive, tree: str, number: int) -> Iterator[Event]:
    rows = archive.execute(
        f"SELECT {_COLUMNS}, t.newest, t.oldest FROM tree_range AS t"
        " JOIN mail AS m ON m.id = t.message JOIN commit_ref AS r ON r.message = m.id"
        f" WHERE t.newest > ?1 AND t.oldest < ?1 AND {_COUNTS}",
        (number,),
    )
    trees = trees_for(archive)
    for row in rows:
        if in_range(trees, tree, row[-2], row[-1], row[2]) and row[24] is None:
            yield _event(archive, row[:-2], tree)


def _event(archive: Archive, row: Sequence[object], tree: str) -> Event:
    (id_, key, timestamp, title, author, sender, version, part, parts, prefixes, notice, release,
     is_patch, applicable, commit_title, sha, relation, line, text, rule, confidence, named_as,
     named_title, round_, _, is_reply) = row  # fmt: skip
    about = undoing(text_or_none(commit_title) or text_or_none(title))
    if named_as in ("reverts", "reverted-upstream"):
        kind = "reverted" if about is None or about[1] else "re-applied"
    elif notice in ("added", "failed", "review"):
        kind = {"added": "queued", "failed": "failed", "review": "review"}[str(notice)]
    elif relation == "request":
        kind = "nominated"
    elif round_ and is_patch:  # a patch under the cover of a review round
        kind = "review"
    else:
        kind = "autosel" if " AUTOSEL " in str(prefixes) else "posted"
    sure = CONFIDENCES[int(str(confidence))]
    if kind == "posted" and not is_patch and sure == "certain":
        sure = "medium"  # a cover or a plain mail under the tree's tag
    return Event(
        kind=kind,
        tree=tree,
        sha=str(sha),
        subject=(
            about[0]
            if kind == "re-applied" and about
            else text_or_none(named_title) or (about[0] if about else None)
            if kind == "reverted"
            else text_or_none(named_title) or _asked_for(archive, str(sha), title)
            if relation == "request" and is_reply
            else text_or_none(commit_title) or text_or_none(title)
        ),
        timestamp=number_or_none(timestamp),
        message=int(str(id_)),
        key=str(key),
        author=text_or_none(author),
        by=text_or_none(sender),
        version=number_or_none(version),
        part=number_or_none(part),
        parts=number_or_none(parts),
        release=(text_or_none(release) or text_or_none(round_)) if kind == "review" else None,
        relation=text_or_none(relation),
        is_patch=bool(is_patch),
        applicable=bool(applicable),
        line=number_or_none(line),
        text=text_or_none(text),
        rule=text_or_none(rule),
        confidence=sure,
    )


def _asked_for(archive: Archive, sha: str, title: object) -> str | None:
    """Return the title of a commit that a reply asks for: the thread may be about another one."""
    found = archive.value(
        "SELECT subject FROM git_commit WHERE sha >= ?1 AND sha < ?1 || 'g' UNION ALL"
        " SELECT subject FROM commit_ref WHERE sha = ?1 AND subject IS NOT NULL LIMIT 1",
        (sha,),
    )
    return text_or_none(found) or text_or_none(title)


def _nominations(
    archive: Archive, tree: str, number: int, titles: Collection[int | None] | None = None
) -> Iterator[Event]:
    """Patches (of these titles, if given) whose Cc: stable line covers the tree or names none.

    The mail doesn't know the commit that the patch became; another mail with
    the same title may: a posting or notice with a marker, or a bot's notice.
    """
    rows = archive.execute(
        f"""
        SELECT m.id, m.key, m.timestamp, m.clean_subject, m.author_name,
               coalesce(m.sender_name, m.sender_email, m.sender_masked), m.version, m.part,
                m.parts, m.applicable, n.range, n.text, n.line, m.title_hash,
               (SELECT b.primary_upstream FROM message AS b WHERE b.title_hash = m.title_hash
                   AND b.primary_upstream IS NOT NULL LIMIT 1)
          FROM stable_note AS n JOIN mail AS m ON m.id = n.message
         WHERE coalesce(n.low, 0) <= ?1 AND coalesce(n.high, ?1) >= ?1
           AND m.is_patch AND NOT m.is_reply AND m.notice IS NULL
           AND NOT EXISTS (SELECT 1 FROM commit_ref AS r
                            WHERE r.message = m.id AND r.relation = 'upstream')
           {_title_condition("m", titles)}
        """,
        (number,),
    )
    trees = trees_for(archive)
    for row in rows:
        if not trees.can_want(tree, row[2]):
            continue
        note = row[11] or row[10] or ""
        yield Event(
            kind="nominated",
            tree=tree,
            sha=row[14],
            subject=row[3],
            timestamp=row[2],
            message=row[0],
            key=row[1],
            author=row[4],
            by=row[5],
            version=row[6],
            part=row[7],
            parts=row[8],
            range=row[10],
            is_patch=True,
            applicable=bool(row[9]),
            line=row[12],
            text=note if "stable" in note or not note else f"Cc: stable # {note}",
            rule="cc-stable",
            confidence="certain" if row[14] is None else "high",
        )


def _releases(
    archive: Archive,
    tree: str,
    events: Iterable[Event],
    titles: Collection[int | None] | None = None,
) -> Iterator[Event]:
    """Releases whose shortlogs have the title of an event (one of ``titles``, if given)."""
    by_title: dict[int | None, list[Event]] = {}
    for event in events:
        if event.tree == tree and event.subject and event.sha and not event.is_about_undoing:
            by_title.setdefault(title_hash(event.subject), []).append(event)
    rows = archive.execute(
        f"""
        SELECT s.title_hash, m.id, s.line, m.key, m.timestamp, m.notice_release,
               coalesce(m.sender_name, m.sender_email)
          FROM shortlog AS s JOIN mail AS m ON m.id = s.message
         WHERE m.notice_tree = ? {_title_condition("s", titles)}
         ORDER BY m.timestamp, m.id
        """,
        (tree,),
    )
    released: dict[str | None, int] = {}
    for title, id_, line, key, timestamp, release, sender in rows:
        when = timestamp or 0
        earlier = [event for event in by_title.get(title, ()) if (event.timestamp or 0) <= when]
        # Two commits may have one title: those of the round before it are meant; and what
        # was released already is only meant if something has happened since.
        of_round = {event.sha for event in earlier if _is_of_round(event, release)}
        last = {event.sha: event.timestamp or 0 for event in sorted(earlier, key=_time)}
        for event in earlier:
            since = released.get(event.sha)
            if (of_round and event.sha not in of_round) or (
                since is not None and (since == when or last[event.sha] <= since)
            ):
                continue
            released[event.sha] = when
            yield Event(
                kind="released",
                tree=tree,
                sha=event.sha,
                subject=event.subject,
                timestamp=timestamp,
                message=id_,
                key=key,
                by=sender,
                release=release,
                line=line,
                text=event.subject,
                rule="title in shortlog",
                confidence="high",
            )


def _is_of_round(event: Event, release: str | None) -> bool:
    """Whether an event is a patch in a review round of a release."""
    return event.kind == "review" and (event.release or "").partition("-rc")[0] == release


def _title_condition(table: str, titles: Collection[int | None] | None) -> str:
    """Return SQL that keeps rows of these titles; the hashes are numbers, safe to write out."""
    if titles is None:
        return ""
    return (
        f"AND {table}.title_hash IN ({', '.join(str(title) for title in sorted(titles, key=str))})"
    )

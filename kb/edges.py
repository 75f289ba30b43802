"""Which posted patch became which commit: one row for each rule that says so.

A rule is a way to know: the commit names the mail (``link``), a robot or
maintainer says which patch was taken as what (``notice``), both have one patch
id (``patch-id``), the commit's author date is the mail's Date, as git am makes
it (``author-date``), title and author are the same (``title``), the changed
lines are alike (``diff``).  Rules that disagree both stand; who asks takes the
best (patchlore.kb.edges_reading).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from patchlore.kb.edges_likeness import likeness_edges
from patchlore.kb.edges_notices import store_notices
from patchlore.kb.edges_pairs import apply_pair_rules, find_pairs
from patchlore.kb.edges_rules import CERTAIN, HIGH, IS_POSTED, MEDIUM, RULES, Edge
from patchlore.kb.interning import Names
from patchlore.kb.merge import title_hash
from patchlore.kb.store import Archive, transaction


class EdgeSummary(Struct, kw_only=True):
    """What an update did: commits read from notices, edges that there are now."""

    notices: int = 0
    edges: int = 0


def update_edges(archive: Archive, *, rules: Collection[str] = RULES) -> EdgeSummary:
    """Bring the edges up to date with mails and commits, in one transaction.

    Only what came or changed since the last time is looked at, against all there
    is.  Raises ArchiveError.
    """
    summary = EdgeSummary()
    with transaction(archive):
        mark = _mark(archive, "edges_revision")
        newest = archive.value("SELECT coalesce(max(revision), 0) FROM message")
        last_commit = archive.value("SELECT coalesce(max(id), 0) FROM git_commit")
        identified = _mark(archive, "git_patch_ids")
        if (
            newest == mark
            and last_commit == _mark(archive, "edges_commit")
            and identified == _mark(archive, "edges_patch_ids")
        ):
            summary.edges = archive.value("SELECT count(*) FROM edge")
            return summary
        summary.notices = _read_notices(archive, mark)
        _note_changes(archive, mark, identified)
        _note_titles(archive)
        _forget_changed(archive)
        edges: dict[tuple[int, str, str], Edge] = {}
        # Without commits and notices no rule has anything to say.
        if archive.value("SELECT 1 FROM git_commit LIMIT 1"):
            pairs, linked = find_pairs(archive)
            apply_pair_rules(archive, pairs, linked, rules, edges)
        if "notice" in rules:
            _apply_notices(archive, edges)
        _write(archive, edges.values())
        if "diff" in rules and archive.value("SELECT 1 FROM git_commit LIMIT 1"):
            archive.execute(
                "DELETE FROM edge WHERE rule = 'diff' AND message IN"
                " (SELECT message FROM edge WHERE rule <> 'diff' AND confidence <= ?)",
                (HIGH,),
            )
            _write(archive, list(likeness_edges(archive)))
        for name, value in (
            ("edges_revision", newest),
            ("edges_commit", archive.value("SELECT coalesce(max(id), 0) FROM git_commit")),
            ("edges_patch_ids", identified),
        ):
            archive.execute(
                "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
                (name, value),
            )
        summary.edges = archive.value("SELECT count(*) FROM edge")
    return summary


def _mark(archive: Archive, name: str) -> int:
    return int(archive.value("SELECT value FROM meta WHERE name = ?", (name,)) or 0)


def _read_notices(archive: Archive, mark: int) -> int:
    """Store the commits that new mails of tip-bot carry."""
    archive.execute("CREATE TEMP TABLE IF NOT EXISTS told_commit (id INTEGER PRIMARY KEY)")
    archive.execute("DELETE FROM told_commit")
    # Mails that were notices when they were read last and may be none now.
    archive.execute(
        "UPDATE git_commit SET message = NULL WHERE data IS NOT NULL AND message IN"
        " (SELECT id FROM message WHERE revision > ?)",
        (mark,),
    )
    messages = [
        id_
        for (id_,) in archive.execute(
            "SELECT id FROM message WHERE revision > ? AND subject LIKE '[tip:%' ORDER BY id",
            (mark,),
        )
    ]
    stored = store_notices(archive, Names(archive.connection), messages)
    archive.connection.executemany(
        "INSERT OR IGNORE INTO told_commit SELECT id FROM git_commit WHERE message = ?",
        [(id_,) for id_ in messages],
    )
    return stored


def _note_changes(archive: Archive, mark: int, identified: int) -> None:
    """Fill the temporary tables of what changed since the last update."""
    for table in ("changed_message", "changed_commit"):
        archive.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY)")
        archive.execute(f"DELETE FROM {table}")
    archive.execute(
        f"INSERT INTO changed_message SELECT m.id FROM message AS m WHERE m.revision > ?"
        f" AND {IS_POSTED}",
        (mark,),
    )
    archive.execute(
        "INSERT INTO changed_commit SELECT id FROM git_commit WHERE id > ?",
        (_mark(archive, "edges_commit"),),
    )
    archive.execute("INSERT OR IGNORE INTO changed_commit SELECT id FROM told_commit")
    if identified != _mark(archive, "edges_patch_ids"):
        archive.execute(
            "INSERT OR IGNORE INTO changed_commit SELECT c.id FROM git_commit AS c"
            " WHERE c.patch_id <> '' AND EXISTS"
            " (SELECT 1 FROM message AS m WHERE m.patch_id = c.patch_id)"
        )


def _note_titles(archive: Archive) -> None:
    """Count the mails with the title of a changed commit as changed.

    Which of several commits of one title is meant is judged among all of them.
    """
    archive.execute(
        "INSERT OR IGNORE INTO changed_message SELECT m.id FROM changed_commit AS x"
        " CROSS JOIN git_commit AS c ON c.id = x.id"
        f" CROSS JOIN message AS m ON m.title_hash = c.title_hash WHERE {IS_POSTED}"
    )


def _forget_changed(archive: Archive) -> None:
    """Delete the edges of mails that changed: all rules judge them anew."""
    for column in ("message", "witness"):
        archive.execute(
            f"DELETE FROM edge WHERE {column} IN (SELECT id FROM message WHERE revision > ?)",
            (_mark(archive, "edges_revision"),),
        )
    archive.execute(
        "DELETE FROM edge WHERE message IN (SELECT id FROM changed_message) AND rule <> 'notice'"
    )
    archive.execute(
        "DELETE FROM edge WHERE sha IN"
        " (SELECT sha FROM git_commit WHERE id IN (SELECT id FROM told_commit))"
        " AND rule <> 'notice'"
    )


def _apply_notices(archive: Archive, edges: dict[tuple[int, str, str], Edge]) -> None:
    """Edges of "applied" with a sha: the mail that is answered, or the thread's patch by title.

    Notices that came, and those in threads into which patches came.
    """
    rows = archive.execute(
        "SELECT w.id, w.in_reply_to, mid.thread, w.timestamp, r.sha, r.subject, r.line, r.text,"
        " r.rule FROM commit_ref AS r JOIN message AS w ON w.id = r.message"
        " JOIN mid ON mid.id = w.mid WHERE r.relation = 'applied'"
        " AND (w.revision > ?1 OR mid.thread IN (SELECT mid.thread FROM changed_message AS x"
        " JOIN message AS m ON m.id = x.id JOIN mid ON mid.id = m.mid))",
        (_mark(archive, "edges_revision"),),
    ).fetchall()
    for witness, parent, thread, time, sha, subject, line, text, rule in rows:
        title = _title_of_notice(archive, witness, subject, rule)
        patches = archive.execute(
            "SELECT m.id, m.mid, m.title_hash, m.timestamp FROM mid JOIN message AS m"
            f" ON m.mid = mid.id WHERE mid.thread = ? AND {IS_POSTED} ORDER BY m.timestamp, m.id",
            (thread,),
        ).fetchall()
        answered = [item for item in patches if item[1] == parent]
        titled = [item for item in patches if item[2] == title and (item[3] or 0) <= (time or 0)]
        both = [item for item in answered if item in titled]
        if both:
            chosen, confidence = both[0], CERTAIN
        elif titled:
            # Several revisions in one thread: the newest was taken.
            chosen, confidence = titled[-1], HIGH
        elif answered and rule == "tip-bot":
            chosen, confidence = answered[0], MEDIUM
        else:
            continue
        edges[chosen[0], sha, "notice"] = (
            chosen[0], sha, "notice", confidence, witness, line, text,
        )  # fmt: skip


def _title_of_notice(
    archive: Archive, witness: int, subject: str | None, rule: str | None
) -> int | None:
    """The hash of the title that a notice names; tip-bot's own subject has a branch before it."""
    if rule == "tip-bot":
        told = archive.value("SELECT title_hash FROM git_commit WHERE message = ?", (witness,))
        if told is not None:
            return int(told)
    return title_hash(subject)


def _write(archive: Archive, edges: Iterable[Edge]) -> None:
    archive.connection.executemany(
        "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?, ?)", edges
    )

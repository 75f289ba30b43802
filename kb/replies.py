"""What stable maintainers answer to postings: "now dropped", "queued up, thanks"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchlore.kb.attached_history import attached_for
from patchlore.kb.events import Event
from patchlore.kb.store import Archive
from patchlore.kb.trees import is_maintainer, trees_of
from patchlore.kb.undoing import undoing


def drops(archive: Archive, tree: str) -> Iterator[Event]:
    """Replies of the stable maintainers that say "now dropped": about the mail replied to."""
    notices = archive.execute(
        "SELECT m.id, m.key, m.timestamp, m.clean_subject, m.notice_tree, m.mid, m.subject,"
        " coalesce(m.sender_name, m.sender_email, m.sender_masked), m.sender_email FROM mail AS m"
        " WHERE m.notice = 'dropped' AND (m.notice_tree IS NULL OR m.notice_tree = ?)",
        (tree,),
    ).fetchall()
    for id_, key, timestamp, title, named_tree, mid, subject, sender, address in notices:
        if address and not is_maintainer(archive, address):  # an archive may mask it
            continue
        line, text = _line_of(archive, id_, subject)
        undone = _undone(archive, id_)
        if undone is not None:
            parent, sha, title, is_revert = undone
            what = "its revert" if is_revert else "what applies it again"
            yield Event(
                kind="dropped",
                tree=tree,
                sha=sha,
                subject=title,
                timestamp=timestamp,
                message=id_,
                key=key,
                by=sender,
                relation="reverts",
                line=line,
                text=text,
                rule=f"reply to {parent}",
                confidence="high",
                reason=f"{what} was dropped by the stable maintainers",
            )
        about = _about(archive, id_, mid, tree if named_tree is None else None, of_rounds=False)
        if about is None:
            continue
        parent, shas = about
        for sha in shas:
            yield Event(
                kind="dropped",
                tree=tree,
                sha=sha,
                subject=title,
                timestamp=timestamp,
                message=id_,
                key=key,
                by=sender,
                line=line,
                text=text,
                rule=f"reply to {parent}",
                confidence="high",
            )


def drop_of(archive: Archive, message: int, tree: str) -> tuple[str, int, str] | None:
    """Return the maintainers' reply that took a mail's patch out of a tree: key, line, text."""
    for id_, key, subject, address in archive.execute(
        "SELECT d.id, d.key, d.subject, d.sender_email FROM message AS m"
        " JOIN reference AS r ON r.mid = m.mid JOIN mail AS d ON d.id = r.message"
        " WHERE m.id = ?1 AND d.id <> m.id AND d.notice = 'dropped'"
        " AND coalesce(d.notice_tree, ?2) = ?2 ORDER BY d.timestamp, d.id",
        (message, tree),
    ).fetchall():
        if not address or is_maintainer(archive, address):
            return key, *_line_of(archive, id_, subject)
    return None


def _line_of(archive: Archive, message: int, subject: str) -> tuple[int, str]:
    """The line of a reply that says so; of one that is not kept, the subject."""
    for evidence in archive.message(message).evidence:
        if evidence.fact == "notification" and evidence.line:
            return evidence.line, evidence.text
    return 0, subject


def _undone(archive: Archive, message: int) -> tuple[str, str | None, str, bool] | None:
    """Return what the patch that a mail answers takes back or applies again, if it does that.

    The patch's key, the upstream commit (the tree's own where no other is named; None
    where none is), the title, and whether it takes back.
    """
    for key, title, sha in archive.execute(
        "SELECT m.key, coalesce(m.commit_subject, m.clean_subject), (SELECT c.sha"
        " FROM commit_ref AS c WHERE c.message = m.id AND NOT c.quoted"
        " AND c.relation IN ('reverts', 'reverted-upstream')"
        " ORDER BY c.relation = 'reverts', c.position LIMIT 1)"
        " FROM reference AS r JOIN mail AS m ON m.mid = r.mid"
        " WHERE r.message = ? AND m.id <> r.message AND m.is_patch"
        " ORDER BY r.position DESC LIMIT 1",
        (message,),
    ):
        about = undoing(title)
        return None if about is None else (key, sha, *about)
    return None


def taken(archive: Archive, tree: str) -> Iterator[Event]:
    """Replies "Now queued up, thanks." of stable maintainers to postings for the tree."""
    replies = archive.execute(
        "SELECT m.id, m.key, m.timestamp, m.clean_subject, m.mid, t.line, t.text,"
        " coalesce(m.sender_name, m.sender_email), m.sender_email"
        " FROM taken AS t CROSS JOIN mail AS m ON m.id = t.message WHERE m.sender_email <> ''"
        " AND EXISTS (SELECT 1 FROM reference AS r JOIN message AS a ON a.mid = r.mid"
        " WHERE r.message = m.id AND (EXISTS (SELECT 1 FROM target_tree AS g"
        " WHERE g.message = a.id AND g.tree = ?1) OR EXISTS (SELECT 1 FROM attached_tree AS g"
        " WHERE g.message = a.id AND g.tree = ?1)))",
        (tree,),
    ).fetchall()
    for id_, key, timestamp, title, mid, line, text, sender, address in replies:
        about = _about(archive, id_, mid, tree)
        if about is None or not is_maintainer(archive, address):
            continue
        parent, shas = about
        for sha in shas:
            yield Event(
                kind="queued",
                tree=tree,
                sha=sha,
                subject=title if len(shas) == 1 else None,
                timestamp=timestamp,
                message=id_,
                key=key,
                by=sender,
                line=line,
                text=text,
                rule=f"reply to {parent}",
                confidence="low",
            )


def _about(
    archive: Archive, message: int, mid: int, tree: str | None, *, of_rounds: bool = True
) -> tuple[str, list[str]] | None:
    """Return the nearest ancestor that names upstream commits (for the tree), and those.

    A cover letter stands for the patches below it; that of a review round only with
    ``of_rounds``: nobody who drops "this" below it means the whole release, but what
    the mails below it name.
    """
    ancestors = archive.execute(
        "SELECT m.id, m.key, m.timestamp,"
        " m.is_cover AND coalesce(m.notice, '') = 'review' FROM reference AS r"
        " JOIN mail AS m ON m.mid = r.mid"
        " WHERE r.message = ? AND m.mid <> ? ORDER BY r.position DESC",
        (message, mid),
    ).fetchall()
    for place, (id_, key, timestamp, is_round) in enumerate(ancestors):
        attached = attached_for(archive, id_, tree, timestamp) if tree is not None else []
        if attached:
            return key, attached
        if tree is not None and tree not in trees_of(archive, id_, timestamp):
            continue
        shas = [
            sha
            for (sha,) in archive.execute(
                "SELECT sha FROM commit_ref WHERE message = ? AND relation = 'upstream'"
                " ORDER BY position",
                (id_,),
            )
        ]
        if not shas:
            shas = [
                sha
                for (sha,) in archive.execute(
                    "SELECT DISTINCT r.sha FROM message AS cover JOIN reference AS up"
                    " ON up.mid = cover.mid JOIN message AS part ON part.id = up.message"
                    " AND part.in_reply_to = cover.mid JOIN commit_ref AS r ON r.message = part.id"
                    " WHERE cover.id = ? AND cover.is_cover AND part.is_patch"
                    " AND r.relation = 'upstream'",
                    (id_,),
                )
            ]
        if is_round and not of_rounds:
            named = _named(archive, [message, *(row[0] for row in ancestors[:place])])
            shas = [sha for sha in shas if any(sha.startswith(name) for name in named)]
            return (key, shas) if shas else None
        if shas:
            return key, shas
    return None


def _named(archive: Archive, messages: Sequence[int]) -> list[str]:
    """The commits that mails name in any way, quoted or not, those of the first that names any."""
    for message in messages:
        found = archive.execute("SELECT sha FROM commit_ref WHERE message = ?", (message,))
        if names := [str(sha) for (sha,) in found]:
            return names
    return []

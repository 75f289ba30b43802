"""Chains of fixes and reverts: what a commit fixes and what that fixed, what fixes it and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.edges_reading import commit_of
from patchlore.kb.edges_rules import MEDIUM
from patchlore.kb.reading import longest, spellings
from patchlore.kb.store import Archive

#: Commits of one chain that are told, and steps from the one that is asked for.
_MOST = 200
_DEEPEST = 20

#: What a later change can do to an earlier one.
_RELATIONS = "('fixes', 'reverts', 'partial-revert')"


class Link(Struct, kw_only=True):
    """A step of a chain: the change ``sha`` has the ``relation`` to the earlier one, ``of``.

    ``depth`` counts the steps from the commit that was asked for.  ``sha`` is None
    for a patch whose commit is not known; ``key`` is the mail, or the commit, in
    whose message the line stands.
    """

    depth: int
    relation: str
    sha: str | None
    of: str
    subject: str | None
    key: str
    line: int | None
    text: str | None
    confidence: Confidence


class _Row(Struct):
    """A line by which a change says what it does to another."""

    sha: str | None  # of the change; None where only its mail is known
    title: int | None
    subject: str | None
    named: str
    named_subject: str | None
    relation: str
    key: str
    line: int | None
    text: str | None
    confidence: int


def earlier(archive: Archive, written: Sequence[str]) -> list[Link]:
    """Return what a commit (all its spellings given) fixes or reverts, and what those did.

    What its own message, the mails that became it and its backports say.
    """
    return _walk(archive, written, down=False)


def later(archive: Archive, written: Sequence[str]) -> list[Link]:
    """Return what fixes or reverts a commit (all its spellings given), and what does so to that."""
    return _walk(archive, written, down=True)


def _walk(archive: Archive, written: Sequence[str], *, down: bool) -> list[Link]:
    first = longest(list(written)) or written[0]
    seen: set[object] = {first}
    links: list[Link] = []
    level = [(first, list(written))]
    for depth in range(1, _DEEPEST + 1):
        following: list[tuple[str, list[str]]] = []
        for sha, spelled in level:
            rows = _naming(archive, spelled) if down else _named(archive, spelled)
            for row in rows:
                other = row.sha if down else row.named
                names = spellings(archive, other) if other else []
                whole = (longest(names) or other) if other else None
                # A patch without a commit is one with its revisions: known by its title.
                same = whole or row.title or row.key
                if same in seen or len(links) >= _MOST:
                    continue
                seen |= {same, row.title} if down and row.title else {same}
                subject = row.subject if down else _title(archive, names) or row.named_subject
                links.append(
                    Link(
                        depth=depth,
                        relation=row.relation,
                        sha=whole,
                        of=sha,
                        subject=subject,
                        key=row.key,
                        line=row.line,
                        text=row.text,
                        confidence=CONFIDENCES[row.confidence],
                    )
                )
                if whole is not None:
                    following.append((whole, names or [whole]))
        level = following
    return links


def _naming(archive: Archive, written: Sequence[str]) -> Iterator[_Row]:
    """Yield what names a commit as fixed or reverted: commits of trees, then patches."""
    marks = ", ".join("?" * len(written))
    for row in archive.execute(
        # A backport repeats the tags of its upstream commit, and stands for that.
        "SELECT coalesce((SELECT u.sha FROM git_commit_ref AS u WHERE u.git_commit = c.id"
        " AND u.relation = 'upstream' AND NOT u.quoted ORDER BY u.position LIMIT 1), c.sha),"
        " c.title_hash, c.subject, r.sha, r.subject, r.relation, c.sha, r.line, r.text,"
        " r.confidence FROM git_commit_ref AS r JOIN git_commit AS c ON c.id = r.git_commit"
        f" WHERE r.sha IN ({marks}) AND NOT r.quoted"
        f" AND r.relation IN {_RELATIONS} ORDER BY c.commit_time, c.id",
        list(written),
    ).fetchall():
        yield _Row(*row)
    rows = archive.execute(
        "SELECT m.primary_upstream, m.title_hash, coalesce(m.commit_subject, m.clean_subject),"
        " r.sha, r.subject, r.relation, m.key, r.line, r.text, r.confidence, m.id"
        " FROM commit_ref AS r JOIN mail AS m ON m.id = r.message"
        f" WHERE r.sha IN ({marks}) AND NOT r.quoted AND m.is_patch"
        f" AND r.relation IN {_RELATIONS}"
        # What says its commit itself comes first, then the newest revision.
        " ORDER BY m.primary_upstream IS NULL, m.timestamp DESC, m.id",
        list(written),
    ).fetchall()
    found = []
    for *row, message in rows:
        made = _Row(*row)
        made.sha = made.sha or _own(archive, message) or commit_of(archive, message)
        found.append(made)
    yield from sorted(found, key=lambda row: row.sha is None)


def _own(archive: Archive, message: int) -> str | None:
    """The commit that a git format-patch was made of, where others know it by that id, too."""
    sha = archive.value(
        "SELECT r.sha FROM commit_ref AS r WHERE r.message = ? AND r.relation = 'own'"
        " AND EXISTS (SELECT 1 FROM commit_ref AS o WHERE o.sha = r.sha AND o.relation <> 'own')",
        (message,),
    )
    return None if sha is None else str(sha)


def _named(archive: Archive, written: Sequence[str]) -> Iterator[_Row]:
    """Yield what a commit names as fixed or reverted, in its message or in its patches."""
    marks = ", ".join("?" * len(written))
    for row in archive.execute(
        "SELECT c.sha, c.title_hash, c.subject, r.sha, r.subject, r.relation, c.sha, r.line,"
        " r.text, r.confidence FROM git_commit AS c JOIN git_commit_ref AS r ON r.git_commit = c.id"
        f" WHERE NOT r.quoted AND r.relation IN {_RELATIONS}"
        f" AND (c.sha IN ({marks}) OR c.id IN (SELECT u.git_commit FROM git_commit_ref AS u"
        f" WHERE u.sha IN ({marks}) AND u.relation = 'upstream' AND NOT u.quoted"
        " AND coalesce(u.kind, 'backport') IN ('backport', 'cherry-pick')))"
        f" ORDER BY c.sha NOT IN ({marks}), c.id, r.position",
        [*written, *written, *written],
    ).fetchall():
        yield _Row(*row)
    for row in archive.execute(
        "SELECT NULL, m.title_hash, m.clean_subject, r.sha, r.subject, r.relation, m.key, r.line,"
        " r.text, r.confidence FROM mail AS m JOIN commit_ref AS r ON r.message = m.id"
        " WHERE NOT r.quoted AND m.is_patch"
        f" AND r.relation IN {_RELATIONS} AND m.id IN ("
        f" SELECT message FROM commit_ref WHERE sha IN ({marks}) AND NOT quoted AND"
        " (relation = 'own' OR relation = 'upstream'"
        " AND coalesce(kind, 'backport') IN ('backport', 'cherry-pick'))"
        f" UNION SELECT message FROM edge WHERE sha IN ({marks}) AND confidence <= {MEDIUM})"
        " ORDER BY m.timestamp, m.id, r.position",
        [*written, *written],
    ).fetchall():
        yield _Row(*row)


def _title(archive: Archive, written: Sequence[str]) -> str | None:
    """A commit's title as a tree has it."""
    for sha in written:
        title = archive.value("SELECT subject FROM git_commit WHERE sha = ?", (sha,))
        if title:
            return str(title)
    return None

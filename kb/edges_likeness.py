"""The last rule of the edges: changed lines of a mail and of a commit that are alike."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from patchlore.ingest.message import KIND_ADDED, KIND_REMOVED, Message
from patchlore.ingest.sources.git import GitError
from patchlore.kb.edges_rules import IS_POSTED
from patchlore.kb.errors import GitTreeError
from patchlore.kb.git_repository import Repository
from patchlore.kb.store import Archive

_DAY = 86400
_BEFORE = 3 * _DAY
_AFTER = 400 * _DAY
#: Candidates of one mail that are compared; more are not looked at.
_MOST = 40
#: Shorter lines ("{", "}", "else") are in every patch.
_SHORT = 4
_HIGH, _MEDIUM = 1, 2

#: An author date so near to the mail's is a sign of its own (git send-email takes a while).
_CLOSE = 600

_CANDIDATE = "SELECT c.id, c.sha, c.subject, c.message, c.author_time FROM "
_BY_AUTHOR = _CANDIDATE + (
    "author_commit AS a JOIN git_commit AS c ON c.id = a.git_commit WHERE a.author = ?"
    " AND a.commit_time BETWEEN ? AND ?"
)
#: A maintainer who posts somebody's patch again, or who commits his own under another's name.
_IS_UPSTREAM = (
    " AND c.parents < 2 AND NOT EXISTS (SELECT 1 FROM git_commit_ref AS r"
    " WHERE r.git_commit = c.id AND r.relation = 'upstream')"
)
_BY_TITLE = _CANDIDATE + (
    "git_commit AS c WHERE c.title_hash = ? AND c.commit_time BETWEEN ? AND ?" + _IS_UPSTREAM
)
_BY_DATE = _CANDIDATE + "git_commit AS c WHERE c.author_time = ?" + _IS_UPSTREAM

_WORD = re.compile(r"\w{2,40}")


class Candidate(NamedTuple):
    """A commit to compare with a mail; ``mail`` is the notice that carries its diff."""

    commit: int
    sha: str
    subject: str
    mail: int | None
    time: int | None


def likeness_edges(archive: Archive) -> Iterator[tuple[int, str, str, int, None, None, str]]:
    """Yield the edges by likeness of mails that no other rule gives a commit, best one each.

    Compared are commits by the same author within a year after the mail that
    touch one of its files or have a title like its own.  Compared are changed mails
    and those of authors of changed commits (changed_message and changed_commit are
    the temporary tables of kb/edges.py); their earlier edges are deleted.
    """
    diffs = CommitDiffs(archive)
    for message, title, candidates in _candidates(archive):
        archive.execute("DELETE FROM edge WHERE message = ? AND rule = 'diff'", (message,))
        scored: list[tuple[float, str]] = []
        own: Changes | None = None
        for candidate in candidates[:_MOST]:
            if own is None:
                own = changes_of(archive.message(message))
            other = diffs.of(candidate.commit, candidate.sha, candidate.mail)
            likeness = alike(own, other)
            if likeness >= 0.3:
                # A title that was merely reworded is a sign of its own.
                scored.append(
                    (likeness + 0.15 * titles_alike(title, candidate.subject), candidate.sha)
                )
        if not scored:
            continue
        best = max(score for score, _ in scored)
        if best < 0.45:
            continue
        for score, sha in scored:
            if score >= best - 0.02:
                sure = _HIGH if score >= 0.8 else _MEDIUM
                yield message, sha, "diff", sure, None, None, f"likeness {min(score, 1.0):.2f}"


class Changes(NamedTuple):
    """What a diff changes: lines (sign and text without white space), and in which files."""

    lines: Counter[str]
    files: frozenset[str]


def changes_of(message: Message) -> Changes:
    """Return what a mail's own diff changes."""
    found: Counter[str] = Counter()
    for line, kind in zip(message.body.split("\n"), message.line_kinds, strict=False):
        if kind in (KIND_ADDED, KIND_REMOVED):
            _count(found, line)
    return Changes(found, frozenset(file.path for file in message.files))


def changes_of_diff(lines: Iterable[str]) -> Changes:
    """Return what a diff of git changes."""
    found: Counter[str] = Counter()
    files: set[str] = set()
    in_hunk = False
    for line in lines:
        if line.startswith("@@"):
            in_hunk = True
        elif line.startswith("diff "):
            in_hunk = False
        elif in_hunk and line[:1] in ("+", "-"):
            _count(found, line)
        elif line.startswith(("--- a/", "+++ b/")):
            files.add(line[6:])
    return Changes(found, frozenset(files))


def _count(found: Counter[str], line: str) -> None:
    text = "".join(line[1:].split())
    if len(text) >= _SHORT:
        found[line[:1] + text] += 1


def alike(one: Changes, other: Changes) -> float:
    """Return how alike two changes are: lines in common by lines in either (Jaccard), 0 to 1.

    The same replacement in the files of another subsystem is another patch: 0.
    """
    if one.files and other.files and not one.files & other.files:
        return 0.0
    both = (one.lines & other.lines).total()
    return both / ((one.lines | other.lines).total() or 1)


def likeness(one: Changes, other: Changes) -> float | None:
    """Return how alike two changes are as a backport may be, 0 to 1; None for one without lines.

    In whichever files: lines in common by the lines of both, by those of the shorter
    one (a part of the other), and the words in lines that all were changed.
    """
    size, size_of_other = one.lines.total(), other.lines.total()
    if not size or not size_of_other:
        return None
    both = (one.lines & other.lines).total()
    words = [
        Counter(word for line in lines.elements() for word in _WORD.findall(line[1:]))
        for lines in (one.lines, other.lines)
    ]
    alike_words = 2 * (words[0] & words[1]).total() / ((words[0].total() + words[1].total()) or 1)
    return max(
        2 * both / (size + size_of_other),
        0.6 * both / min(size, size_of_other),
        alike_words / 2,
    )


def titles_alike(one: str | None, other: str | None) -> float:
    """Return how alike two titles are by their words, 0 to 1."""
    first = set(_WORD.findall((one or "").casefold()))
    second = set(_WORD.findall((other or "").casefold()))
    return len(first & second) / (len(first | second) or 1)


def _candidates(
    archive: Archive,
) -> Iterator[tuple[int, str | None, list[Candidate]]]:
    """Mails without an edge, each with the commits to compare it to, the likeliest title first."""
    _make_author_table(archive)
    rows = archive.execute(
        "SELECT m.id, coalesce(m.commit_subject, m.clean_subject), m.timestamp, w.author,"
        " m.title_hash"
        f" FROM message AS m LEFT JOIN same_author AS w ON w.person = m.author WHERE {IS_POSTED}"
        " AND m.primary_upstream IS NULL AND m.timestamp IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.message = m.id AND edge.rule <> 'diff'"
        " AND edge.confidence < 2)"
        " AND (m.id IN (SELECT id FROM changed_message) OR EXISTS"
        " (SELECT 1 FROM author_commit AS a WHERE a.author = w.author AND a.is_changed))"
    ).fetchall()
    for message, title, sent, author, hash_ in rows:
        found: dict[int, Candidate] = {}
        for sql, keys in (
            (_BY_AUTHOR, (author, sent - _BEFORE, sent + _AFTER)),
            (_BY_TITLE, (hash_, sent - _BEFORE, sent + _AFTER)),
            (_BY_DATE, (sent,)),
        ):
            for row in archive.execute(sql, keys):
                found.setdefault(row[0], Candidate(*row))
        if not found:
            continue
        paths = paths_of(archive, message)
        near: list[tuple[float, Candidate]] = []
        for candidate in found.values():
            score = titles_alike(title, candidate.subject)
            other = set() if candidate.mail is None else paths_of(archive, candidate.mail)
            shared = len(paths & other) / (len(paths | other) or 1)
            if shared or score >= 0.5 or candidate.time == sent:
                close = abs((candidate.time or 0) - sent) <= _CLOSE
                near.append((-score - shared - close, candidate))
        near.sort(key=lambda item: (item[0], item[1].commit))
        if near:
            yield message, title, [candidate for _, candidate in near]


def _make_author_table(archive: Archive) -> None:
    """Temporary tables: people of one address under one number, and their upstream commits."""
    for table in ("same_author", "author_commit"):
        archive.execute(f"DROP TABLE IF EXISTS temp.{table}")
    archive.execute(
        "CREATE TEMP TABLE same_author AS SELECT p.id AS person, (SELECT min(q.id) FROM person AS q"
        " WHERE q.email = p.email) AS author FROM person AS p WHERE p.email <> ''"
    )
    archive.execute("CREATE INDEX temp.same_author_person ON same_author (person)")
    archive.execute(
        "CREATE TEMP TABLE author_commit AS SELECT s.author, c.commit_time, c.id AS git_commit,"
        " c.id IN (SELECT id FROM changed_commit) AS is_changed"
        " FROM git_commit AS c JOIN same_author AS s ON s.person = c.author"
        " WHERE c.parents < 2 AND NOT EXISTS (SELECT 1 FROM git_commit_ref AS r"
        " WHERE r.git_commit = c.id AND r.relation = 'upstream')"
    )
    archive.execute("CREATE INDEX temp.author_commit_author ON author_commit (author, commit_time)")


def paths_of(archive: Archive, message: int) -> set[int]:
    """Return the files (row ids of table path) that a mail's own diff touches."""
    rows = archive.execute("SELECT path FROM file WHERE message = ? AND kind = 'own'", (message,))
    return {path for (path,) in rows}


class CommitDiffs:
    """The changes of commits: from the notice that carries one, else from its repository."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._known: dict[int, Changes] = {}
        self._at_once: dict[int, Changes] = {}
        self._repositories: dict[str, Repository | None] = {}

    def of(self, commit: int, sha: str, from_mail: int | None) -> Changes:
        """Return the changes of a commit, none where its repository is gone."""
        found = self._at_once.get(commit) or self._known.get(commit)
        if found is None:
            if from_mail is not None:
                found = changes_of(self._archive.message(from_mail))
            else:
                found = self._from_repository(commit, sha)
            if len(self._known) > 2000:
                self._known.clear()
            self._known[commit] = found
        return found

    def read(self, commits: Iterable[tuple[int, str]]) -> None:
        """Read the changes of many commits (row id and sha), each repository by one run of git.

        Of those that can't be had nothing is known, then.
        """
        wanted = {sha: id_ for id_, sha in commits if id_ not in self._at_once}
        rows = self._archive.execute(
            "SELECT DISTINCT t.path, c.sha FROM json_each(?) AS j"
            " CROSS JOIN git_commit AS c ON c.id = j.value"
            " JOIN git_place_ref AS p ON p.place = c.place JOIN git_ref AS r ON r.id = p.ref"
            " JOIN git_tree AS t ON t.id = r.tree ORDER BY t.id, c.id",
            (json.dumps(sorted(wanted.values())),),
        ).fetchall()
        by_path: dict[str, list[str]] = {}
        for path, sha in rows:
            by_path.setdefault(path, []).append(sha)
        for path, shas in by_path.items():
            left = [sha for sha in shas if wanted[sha] not in self._at_once]
            repository = self._repository(path)
            if left and repository is not None:
                with contextlib.suppress(GitError):
                    for sha, lines in repository.diffs(left):
                        self._at_once[wanted[sha]] = changes_of_diff(lines)
        for id_ in wanted.values():
            self._at_once.setdefault(id_, Changes(Counter(), frozenset()))

    def _repository(self, path: str) -> Repository | None:
        if path not in self._repositories:
            try:
                self._repositories[path] = Repository(path)
            except GitTreeError:
                self._repositories[path] = None
        return self._repositories[path]

    def _from_repository(self, commit: int, sha: str) -> Changes:
        return changes_of_diff(self.lines(commit, sha))

    def lines(self, commit: int, sha: str) -> list[str]:
        """Return the diff of a commit as git prints it, [] where no repository has it any more."""
        rows = self._archive.execute(
            "SELECT DISTINCT git_tree.path FROM git_commit JOIN git_place_ref"
            " ON git_place_ref.place = git_commit.place JOIN git_ref ON git_ref.id = ref"
            " JOIN git_tree ON git_tree.id = git_ref.tree WHERE git_commit.id = ?",
            (commit,),
        ).fetchall()
        for (path,) in rows:
            repository = self._repository(path)
            if repository is None:
                continue
            try:
                return list(repository.diff(sha))
            except GitError:
                continue
        return []

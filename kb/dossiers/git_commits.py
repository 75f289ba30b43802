"""What git trees and edges add to the dossiers of commits, bugs and patches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.edges_commits import SameChange, same_changes
from patchlore.kb.edges_reading import Origin, origins
from patchlore.kb.git_reading import (
    GitCommit,
    GitNaming,
    InTree,
    Places,
    git_commits,
    git_namings,
    trees_with,
)
from patchlore.kb.reading import Bug
from patchlore.kb.store import Archive


class Said(Struct, kw_only=True):
    """A commit that the commit's own message names by a tag, and the line."""

    relation: str
    sha: str
    subject: str | None
    line: int | None
    text: str | None


class GitFacts(Struct, kw_only=True):
    """What git trees and edges know of a commit.

    ``commit``: itself, as a tree or a notice has it; ``trees``: where it or a
    backport of it is; ``origins``: the mails that became it; ``names`` and
    ``named_by``: commits that its message names, and whose messages name it;
    ``same_as``: the upstream commit whose change it carries without a marker.
    """

    commit: GitCommit | None
    trees: list[InTree]
    origins: list[Origin]
    names: list[Said]
    named_by: list[GitNaming]
    same_as: SameChange | None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return self.commit is None and not (self.trees or self.origins or self.named_by)


class BugInTree(Struct, kw_only=True):
    """A commit of a git tree whose message names a bug; ``backports`` of it do so, too."""

    sha: str
    subject: str
    commit_time: int | None
    trees: list[str]
    #: The first release with it, else the first tag.
    since: str | None
    place: str
    line: int | None
    text: str | None
    confidence: Confidence
    backports: int = 0


def git_facts(archive: Archive, spellings: Sequence[str]) -> GitFacts:
    """Return what git trees and edges know of a commit, given by all its spellings."""
    found = git_commits(archive, [sha for sha in spellings if len(sha) == 40])
    commit = found[0] if found else None
    return GitFacts(
        commit=commit,
        trees=trees_with(archive, spellings),
        origins=origins(archive, spellings),
        names=[] if commit is None else _names(archive, commit.id),
        named_by=git_namings(archive, spellings),
        same_as=None if commit is None else _same_as(archive, commit.id),
    )


def _same_as(archive: Archive, commit: int) -> SameChange | None:
    """The upstream commit whose change one of a stable tree carries, unless its message says it."""
    marked = archive.value(
        "SELECT 1 FROM git_commit_ref WHERE git_commit = ? AND relation = 'upstream' LIMIT 1",
        (commit,),
    )
    return None if marked else same_changes(archive, [commit], diffs=True).get(commit)


def bug_in_trees(archive: Archive, bug: Bug) -> list[BugInTree]:
    """Return the commits of trees that name a bug by more than a mention in a quotation."""
    places = Places(archive)
    rows = archive.execute(
        "SELECT c.sha, c.subject, c.title_hash, c.commit_time, c.place, b.place, b.line, b.text,"
        " b.confidence, EXISTS (SELECT 1 FROM git_commit_ref AS u WHERE u.git_commit = c.id"
        " AND u.relation = 'upstream') FROM git_bug_ref AS b"
        " JOIN git_commit AS c ON c.id = b.git_commit"
        " WHERE b.tracker = ?1 AND (b.number = ?2 OR b.name = ?3) AND b.strength <= 2"
        " AND (?4 IS NULL OR b.component IS NULL OR b.component = ?4)"
        " ORDER BY 10, b.strength, c.commit_time, c.id",
        (bug.tracker, bug.number, bug.name, bug.component),
    ).fetchall()
    found: dict[int | None, BugInTree] = {}
    for sha, subject, title, time, number, place, line, text, confidence, _ in rows:
        known = found.get(title)
        if known is not None:
            known.backports += known.sha != sha
            continue
        where = places.of(number)
        found[title] = BugInTree(
            sha=sha,
            subject=subject,
            commit_time=time,
            trees=[item.tree for item in where],
            since=next((item.since for item in where if item.since), None),
            place=place,
            line=line,
            text=text,
            confidence=CONFIDENCES[confidence],
        )
    return sorted(found.values(), key=lambda item: item.commit_time or 0)


def _names(archive: Archive, commit: int) -> list[Said]:
    rows = archive.execute(
        "SELECT relation, sha, subject, line, text FROM git_commit_ref WHERE git_commit = ?"
        " AND relation <> 'mention' ORDER BY position",
        (commit,),
    )
    return [
        Said(relation=relation, sha=sha, subject=subject, line=line, text=text)
        for relation, sha, subject, line, text in rows
    ]

"""Filters of a backport list: by path, author, CVE, bug, proof, what changed, what is built.

What is asked of the archive is asked once for all rows, never row by row: a list of
a tree has tens of thousands of events.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.backports import Row
from patchlore.kb.built_files import BuiltFiles
from patchlore.kb.changing import changed_since
from patchlore.kb.events import Event
from patchlore.kb.pathspec import Pathspec
from patchlore.kb.reading import MIN_HEX, Bug
from patchlore.kb.store import Archive


class Filters(Struct, kw_only=True):
    """What rows must meet; None or False asks for nothing."""

    #: Only what is new or changed its state at or after that time (seconds); rows
    #: that are kept get their ``state_before``.
    since: int | None = None
    #: Paths as git takes them, one of which a patch of the row touches (``drivers/net``).
    path: str | Sequence[str] | None = None
    #: Part of the name or address of the patch's author.
    author: str | None = None
    cve: str | None = None
    bug: Bug | None = None
    #: Only what AUTOSEL picked.
    autosel: bool = False
    #: The weakest evidence that is taken.
    evidence: Confidence | None = None
    #: Only what changes something that is built.
    built: BuiltFiles | None = None

    def choose(self, archive: Archive, rows: Iterable[Row]) -> list[Row]:
        """Return the rows that meet all filters, in their order: any of their mails may meet each.

        Raises UsageError for a path with signs that are not known.
        """
        found = [row for row in rows if self._is_wanted(row)]
        if self.since is not None:
            found = changed_since(archive, found, self.since)
        if self.path is not None:
            spec = Pathspec([self.path] if isinstance(self.path, str) else self.path)
            files = files_of(archive, found)
            found = [
                row
                for row, paths in zip(found, files, strict=True)
                if any(spec.matches(path) for path in paths)
            ]
        if self.built is not None:
            built, files = self.built, files_of(archive, found)
            found = [
                row for row, paths in zip(found, files, strict=True) if built.touched_by(paths)
            ]
        if self.author is not None:
            found = _by_author(archive, found, self.author)
        if self.cve is not None:
            found = _about_cve(archive, found, self.cve.upper())
        if self.bug is not None:
            found = _about_bug(archive, found, self.bug)
        return found

    def _is_wanted(self, row: Row) -> bool:
        if self.autosel and not any(event.kind == "autosel" for event in row.events):
            return False
        return self.evidence is None or (
            row.override is not None
            or CONFIDENCES.index(row.event.confidence) <= CONFIDENCES.index(self.evidence)
        )


def files_of(archive: Archive, rows: Sequence[Row]) -> list[set[str]]:
    """Return the files that the patches of each row touch, as mails and git trees have them.

    An empty set: no patch of it is known.
    """
    by_message = _paths(
        archive,
        "SELECT DISTINCT file.message, path.text FROM json_each(?) AS j"
        " JOIN file ON file.message = j.value AND file.kind <> 'quoted'"
        " JOIN path ON path.id IN (file.path, file.old_path)",
        {id_ for row in rows for id_ in _messages(row)},
    )
    by_commit = _paths(
        archive,
        "SELECT git_commit.sha, path.text FROM json_each(?) AS j"
        " JOIN git_commit ON git_commit.sha = j.value"
        " JOIN git_file ON git_file.git_commit = git_commit.id"
        " JOIN path ON path.id = git_file.path",
        {sha for row in rows for sha in _commits(row)},
    )
    none: set[str] = set()
    return [
        none.union(
            *(by_message.get(id_, none) for id_ in _messages(row)),
            *(by_commit.get(sha, none) for sha in _commits(row)),
        )
        for row in rows
    ]


def _paths(archive: Archive, sql: str, names: Collection[int | str]) -> Mapping[object, set[str]]:
    found: dict[object, set[str]] = {}
    for name, path in archive.execute(sql, (json.dumps(list(names)),)) if names else ():
        found.setdefault(name, set()).add(path)
    return found


def _carrying(row: Row) -> Iterable[Event]:
    """The events of a row whose mail or commit is its patch, not one that only speaks of it."""
    return [event for event in (*row.events, row.event) if event.is_of_patch]


def _messages(row: Row) -> set[int]:
    return {event.message for event in _carrying(row) if event.message}


def _commits(row: Row) -> set[str]:
    found = set(row.commits)
    if row.sha is not None:
        found.add(row.sha)
    return found


def _by_author(archive: Archive, rows: Sequence[Row], author: str) -> list[Row]:
    wanted = author.casefold()
    messages = {id_ for row in rows for id_ in _messages(row)}
    commits = {sha for row in rows for sha in _commits(row)}
    written = {
        name
        for name, *texts in (
            *archive.execute(
                "SELECT m.id, p.name, p.email, p.masked FROM json_each(?) AS j"
                " JOIN message AS m ON m.id = j.value JOIN person AS p ON p.id = m.author"
                " WHERE m.is_patch OR m.notice IN ('added', 'failed')",
                (json.dumps(list(messages)),),
            ),
            *archive.execute(
                "SELECT c.sha, p.name, p.email, p.masked FROM json_each(?) AS j"
                " JOIN git_commit AS c ON c.sha = j.value JOIN person AS p ON p.id = c.author",
                (json.dumps(list(commits)),),
            ),
        )
        if any(wanted in text.casefold() for text in texts)
    }
    return [
        row
        for row in rows
        if not written.isdisjoint(_messages(row))
        or not written.isdisjoint(_commits(row))
        or any(
            wanted in (event.author or "").casefold()
            for event in _carrying(row)
            if event.is_patch or event.commit
        )
    ]


def _about_cve(archive: Archive, rows: Sequence[Row], cve: str) -> list[Row]:
    """Rows whose mails or commits name a CVE, or that a record of it says ended it."""
    messages = {id_ for (id_,) in archive.execute("SELECT message FROM cve WHERE name = ?", (cve,))}
    commits = {
        str(sha)
        for (sha,) in archive.execute(
            "SELECT sha FROM git_cve JOIN git_commit ON git_commit.id = git_commit WHERE name = ?",
            (cve,),
        )
    }
    fixed = {
        str(sha)
        for (sha,) in archive.execute(
            "SELECT fixed FROM vulnerability WHERE cve = ? AND NOT is_rejected"
            " AND fixed IS NOT NULL",
            (cve,),
        )
    }
    return [
        row
        for row in rows
        if not messages.isdisjoint(_messages(row))
        or any(
            sha in commits or any(_is_same(sha, other) for other in fixed) for sha in _commits(row)
        )
    ]


def _is_same(one: str, other: str) -> bool:
    """Whether two spellings name one commit: the shorter begins the longer."""
    return min(len(one), len(other)) >= MIN_HEX and (one.startswith(other) or other.startswith(one))


def _about_bug(archive: Archive, rows: Sequence[Row], bug: Bug) -> list[Row]:
    """Rows about a bug: a context line or a quotation that names it does not count."""
    said = (
        "tracker = ?1 AND (number = ?2 OR (?2 IS NULL AND name = ?4)) AND strength <= 2"
        " AND (?3 IS NULL OR component IS NULL OR component = ?3)"
    )
    names = (bug.tracker, bug.number, bug.component, bug.name)
    messages = {
        id_ for (id_,) in archive.execute(f"SELECT message FROM bug_ref WHERE {said}", names)
    }
    commits = {
        sha
        for (sha,) in archive.execute(
            "SELECT sha FROM git_bug_ref JOIN git_commit ON git_commit.id = git_commit"
            f" WHERE {said}",
            names,
        )
    }
    return [
        row
        for row in rows
        if not messages.isdisjoint(_messages(row)) or not commits.isdisjoint(_commits(row))
    ]

"""Backports in a list that are a part of their upstream commit: what they leave out, in words.

As patchlore.kb.identity has it of the diffs.  A list can have thousands of backports,
and reading all diffs takes seconds: of many that differ from upstream those alone are
told that touch fewer files, which the archive knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from patchlore.kb.backport_row import Row
from patchlore.kb.edges_likeness import CommitDiffs
from patchlore.kb.events import Event
from patchlore.kb.identity import identity
from patchlore.kb.identity_patches import patch_of_commit, patch_of_mail
from patchlore.kb.store import Archive
from patchlore.kb.text import count

#: States in which somebody has made a backport.
_MADE = ("in-flight", "queued", "released")
#: Backports of a list whose diffs are read.
_MOST = 40


def note_parts(archive: Archive, rows: Sequence[Row]) -> None:
    """Note on rows whose backport is a part of the upstream commit what it has of that."""
    pairs = [
        (row, event)
        for row in rows
        if row.state in _MADE and row.is_full and (event := _backport(row)) is not None
    ]
    shas = {row.sha or "" for row, _ in pairs} | {event.commit or "" for _, event in pairs}
    commits = {
        sha: (id_, patch_id)
        for sha, id_, patch_id in archive.execute(
            "SELECT c.sha, c.id, c.patch_id FROM json_each(?) AS j CROSS JOIN git_commit AS c"
            " ON c.sha = j.value WHERE c.parents < 2 AND c.place IS NOT NULL",
            (json.dumps(sorted(shas)),),
        )
    }
    messages = {event.message for _, event in pairs if event.commit is None}
    mails = dict(
        archive.execute(
            "SELECT m.id, m.patch_id FROM json_each(?) AS j CROSS JOIN message AS m"
            " ON m.id = j.value",
            (json.dumps(sorted(messages)),),
        ).fetchall()
    )
    differing = []
    for row, event in pairs:
        upstream = commits.get(row.sha or "")
        own = commits.get(event.commit) if event.commit else (0, mails.get(event.message))
        if upstream is not None and own is not None and not (own[1] and own[1] == upstream[1]):
            differing.append((row, event))
    if not differing:
        return
    if len(differing) > _MOST:
        _note_by_files(archive, differing, commits)
    else:
        _note_by_lines(archive, differing)


def _backport(row: Row) -> Event | None:
    """The event that has the newest backport of a row: a commit of the tree, else a mail."""
    for event in reversed(row.events):
        if event.commit and event.commit != row.sha and event.kind in ("queued", "released"):
            return event
    if any(event.commit == row.sha for event in row.events if event.kind in _MADE):
        return None
    patch = row.patch
    return patch if patch is not None and patch.attachment is None and patch.message else None


def _note_by_lines(archive: Archive, pairs: Iterable[tuple[Row, Event]]) -> None:
    diffs = CommitDiffs(archive)
    for row, event in pairs:
        upstream = patch_of_commit(archive, diffs, row.sha or "")
        own = (
            patch_of_mail(archive, event.message)
            if event.commit is None
            else patch_of_commit(archive, diffs, event.commit)
        )
        verdict = None if upstream is None or own is None else identity(upstream, own)
        if verdict is not None and verdict.kind == "partial":
            _note(row, verdict.reason)


def _note_by_files(
    archive: Archive,
    pairs: Iterable[tuple[Row, Event]],
    commits: dict[str, tuple[int, str | None]],
) -> None:
    pairs = list(pairs)
    named = {row.sha or "" for row, _ in pairs} | {event.commit or "" for _, event in pairs}
    of_commit: dict[int, set[int]] = {}
    for id_, path in archive.execute(
        "SELECT f.git_commit, f.path FROM json_each(?) AS j CROSS JOIN git_file AS f"
        " ON f.git_commit = j.value",
        (json.dumps(sorted(commits[sha][0] for sha in named if sha in commits)),),
    ):
        of_commit.setdefault(id_, set()).add(path)
    of_mail: dict[int, set[int]] = {}
    for message, path in archive.execute(
        "SELECT f.message, f.path FROM json_each(?) AS j CROSS JOIN file AS f"
        " ON f.message = j.value WHERE f.kind = 'own'",
        (json.dumps(sorted(event.message for _, event in pairs if event.commit is None)),),
    ):
        of_mail.setdefault(message, set()).add(path)
    for row, event in pairs:
        theirs = of_commit.get(commits[row.sha or ""][0], set())
        if event.commit is None:
            own = of_mail.get(event.message, set())
        else:
            own = of_commit.get(commits[event.commit][0], set())
        if own and own < theirs:
            _note(row, f"{len(own)} of {count(len(theirs), 'file')}")


def _note(row: Row, what: str) -> None:
    row.reason += ", in part"
    row.notes.append(f"partial: {what}")

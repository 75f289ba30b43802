"""What git alone says of stable branches: markers, Fixes tags and what a branch lacks.

Nothing of patchlore is used here: it is what its answers are compared with.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

#: The marker of DPDK's stable maintainers, and what some wrote instead.
_MARKER = re.compile(
    r"^\s*[\[(]\s*(?:(?:back-?ported |cherry.?picked )?(?:from |of )?(?:upstream )?commit:?)"
    r"\s+([0-9a-f]{7,40})\b",
    re.IGNORECASE | re.MULTILINE,
)
_FIXES = re.compile(r"^\s*Fixes:\s*(?:commit\s+)?([0-9a-f]{7,40})\b", re.IGNORECASE | re.MULTILINE)
_REVERTS = re.compile(r"^\s*This reverts commit ([0-9a-f]{7,40})", re.IGNORECASE | re.MULTILINE)


class GitLogEntry(NamedTuple):
    """A commit as git log prints it."""

    sha: str
    author: str
    date: int
    title: str
    body: str

    @property
    def markers(self) -> list[str]:
        """The upstream commits that the message names, as written."""
        return _named(_MARKER, self.body)

    @property
    def fixes(self) -> list[str]:
        """The commits that the Fixes tags name, as written."""
        return _named(_FIXES, self.body)

    @property
    def reverts(self) -> list[str]:
        """The commits that the message says to revert."""
        return _named(_REVERTS, self.body)


class MissingFix(NamedTuple):
    """A fix that a branch lacks, and the commit that it repairs and the branch has."""

    fix: str
    title: str
    broken: str
    broken_title: str


def _named(pattern: re.Pattern[str], body: str) -> list[str]:
    return [sha.lower() for sha in pattern.findall(body)]


def git(repository: str, *arguments: str) -> str:
    """The output of git; raises CalledProcessError."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", f"--git-dir={repository}", *arguments],
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


def log(repository: str, *revisions: str) -> list[GitLogEntry]:
    """The commits that git log finds, newest first, merges left out."""
    text = git(
        repository, "log", "--no-merges", "-z", "--format=%H%x01%an%x01%at%x01%s%x01%B", *revisions
    )  # fmt: skip
    entries = []
    for part in text.split("\x00"):
        fields = part.split("\x01", 4)
        if len(fields) == 5:
            entries.append(GitLogEntry(fields[0], fields[1], int(fields[2]), fields[3], fields[4]))
    return entries


class Known:
    """Commits by prefix and by title with author."""

    def __init__(self, entries: Iterable[GitLogEntry]) -> None:
        self.by_sha = {entry.sha: entry for entry in entries}
        self._by_prefix: dict[str, list[str]] = {}
        self._by_title: dict[tuple[str, str], list[str]] = {}
        for entry in self.by_sha.values():
            self._by_prefix.setdefault(entry.sha[:7], []).append(entry.sha)
            self._by_title.setdefault((entry.title.casefold(), entry.author), []).append(entry.sha)

    def whole(self, prefix: str) -> str | None:
        """The one commit that begins so."""
        found = [sha for sha in self._by_prefix.get(prefix[:7], ()) if sha.startswith(prefix)]
        return found[0] if len(found) == 1 else None

    def titled(self, entry: GitLogEntry) -> str | None:
        """The one commit with the title and author of another."""
        found = self._by_title.get((entry.title.casefold(), entry.author), [])
        return found[0] if len(found) == 1 else None


def missing_fixes(repository: str, mainline: str, branch: str) -> list[MissingFix]:
    """The mainline's fixes of what a branch has that the branch lacks, by git alone.

    A branch has a mainline commit that it contains, or one that a commit of its own
    names in its marker, or that has the title and author of one, unless a later
    commit of the branch says to revert it.
    """
    upstream = log(repository, mainline)
    known = Known(upstream)
    contained = set(git(repository, "rev-list", branch).split())
    has = {sha for sha in known.by_sha if sha in contained}
    own = log(repository, branch, f"^{mainline}")
    made_of: dict[str, str] = {}
    for entry in reversed(own):
        for name in entry.markers:
            sha = known.whole(name)
            if sha is not None:
                has.add(sha)
                made_of[entry.sha] = sha
        if entry.sha not in made_of and (sha := known.titled(entry)) is not None:
            has.add(sha)
            made_of[entry.sha] = sha
        for name in entry.reverts:
            undone = next((sha for own_, sha in made_of.items() if own_.startswith(name)), None)
            has.discard(undone or known.whole(name) or "")
    found = []
    for entry in reversed(upstream):
        if entry.sha in has:
            continue
        for name in entry.fixes:
            broken = known.whole(name)
            if broken is not None and broken in has:
                title = known.by_sha[broken].title
                found.append(MissingFix(entry.sha, entry.title, broken, title))
                break
    return found

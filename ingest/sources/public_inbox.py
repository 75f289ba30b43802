"""public-inbox repositories: v2 epochs (``git/N.git``) and v1 repositories.

In a v2 epoch each commit is one mail, the blob of the file ``m``; a commit
with a file ``d`` takes the mail with that blob away. In v1 there is one tree
of files ``aa/bbbb…`` by the hash of the Message-ID. See public-inbox-v1-format(5)
and public-inbox-v2-format(5).
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Iterator

from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.git import GitError, git_lines, git_lines_at_end, read_blobs, run_git
from patchlore.ingest.sources.items import Item, Mark, MarkOf, Problem

#: A mark after so many mails: what a killed run has to read again.
MARK_EVERY = 1000

#: How many mails that are missing are named one by one.
_NAMED_MAILS = 20

_EPOCH = re.compile(r"(\d{1,9})\.git\Z")
_V1_FOLDER = re.compile(r"[0-9a-f]{2}\Z")
_V1_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}\Z")
_CHANGE = re.compile(r":\d{6} \d{6} [0-9a-f]{40,64} ([0-9a-f]{40,64}) ([A-Z])\d*\t(.+)\Z")
_LOG = (
    "-c",
    "log.showRoot=true",
    "log",
    "--reverse",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--no-color",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-notes",
    "--no-decorate",
    "--format=commit %H",
)


def is_bare_repository(path: str) -> bool:
    """Whether the folder PATH is a bare git repository."""
    return (
        os.path.isfile(os.path.join(path, "HEAD"))
        and os.path.isdir(os.path.join(path, "objects"))
        and os.path.isdir(os.path.join(path, "refs"))
    )


def epochs_of(path: str) -> list[str]:
    """The epochs of the v2 inbox in the folder PATH (or of its ``git`` folder), oldest first.

    ``all.git`` only joins the others' objects; it is read where it stands
    alone and has a branch of its own.
    """
    for folder in (os.path.join(path, "git"), path):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        numbers = sorted(int(found[1]) for found in map(_EPOCH.match, names) if found)
        found = [os.path.join(folder, f"{number}.git") for number in numbers]
        found = [epoch for epoch in found if is_bare_repository(epoch)]
        if found:
            return found
    joined = os.path.join(path, "all.git")
    return [joined] if is_bare_repository(joined) else []


def repository_key(path: str) -> str:
    """The key under which a repository's state is kept."""
    return "public-inbox:" + os.path.realpath(path)


def read_repository(path: str, *, list_name: str | None, mark_of: MarkOf) -> Iterator[Item]:
    """The mails of one repository that came after the stored state, in order of arrival."""
    key = repository_key(path)
    try:
        yield from _read(path, key, list_name, mark_of(key))
    except GitError as error:
        yield Problem(
            path, 0, f"{path}: {error}. Check it with: git --git-dir={path} fsck; git log -1"
        )


def _read(path: str, key: str, list_name: str | None, known: str | None) -> Iterator[Item]:
    tip = _tip(path)
    if tip is None:
        yield Problem(path, 0, f"{path}: the repository has no commit yet, so no mail.", "empty")
        return
    if known == tip:
        return
    version = _version(path, tip)
    if version is None:
        yield Problem(
            path,
            0,
            f"{path} is a git repository, but not of mail (a public-inbox has a file 'm' or "
            "folders named by two hex digits). For a source tree: patchlore ingest --tree NAME",
            "no-mail",
        )
        return
    span = f"{known}..{tip}" if known and _is_ancestor(path, known, tip) else tip
    commits: deque[str] = deque()
    count = missing = 0
    previous = ""
    for blob, data in read_blobs(path, _blobs(path, span, version, commits)):
        commit = commits.popleft()
        if count >= MARK_EVERY and commit != previous and not missing:
            yield Mark(key, previous)
            count = 0
        count += 1
        if data is None:
            if not missing and previous and previous != commit:
                # The next run begins here again: the mail may be there by then.
                yield Mark(key, previous)
            missing += 1
            if missing <= _NAMED_MAILS:
                yield Problem(path, 0, f"{path}: the mail {blob} of commit {commit} is missing.")
        else:
            source = Source(path=path, format="public-inbox", list=list_name, blob=blob)
            yield Raw(data=data, source=source)
        previous = commit
    if not missing:
        yield Mark(key, tip)
    elif missing > _NAMED_MAILS:
        more = missing - _NAMED_MAILS
        yield Problem(
            path,
            0,
            f"{path}: {more} more mails are missing. Fetch the repository again, whole "
            "(without --filter), and ingest it again.",
        )


def _tip(path: str) -> str | None:
    """The newest commit: of HEAD, or of the only branch where HEAD names one that is not there."""
    try:
        return run_git(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    except GitError as error:
        if "status 1" not in str(error):
            raise
    branches = run_git(path, "for-each-ref", "--format=%(objectname)", "refs/heads").split()
    return branches[0] if len(branches) == 1 else None


def _version(path: str, tip: str) -> int | None:
    """2 or 1 by what the newest tree holds; None for a repository of something else."""
    names = run_git(path, "ls-tree", "--name-only", "-z", tip).rstrip("\0").split("\0")
    if set(names) <= {"m", "d"} and names != [""]:
        return 2
    if all(_V1_FOLDER.match(name) for name in names if name not in ("d", "_/")):
        return 1 if names != [""] else None
    return None


def _is_ancestor(path: str, known: str, tip: str) -> bool:
    """Whether history still holds the commit KNOWN: an edit (a mail purged) rewrites it."""
    if re.fullmatch(r"[0-9a-f]{40,64}", known) is None:
        return False
    try:
        run_git(path, "merge-base", "--is-ancestor", known, tip)
    except GitError:
        return False
    return True


def _changes(path: str, span: str, *only: str) -> Iterator[tuple[str, str, str, str]]:
    """Commit, blob, status letter and file of each change, oldest first."""
    commit = ""
    for line in git_lines_at_end(path, *_LOG, span, "--", *only):
        if line.startswith("commit "):
            commit = line[7:]
            continue
        match = _CHANGE.match(line)
        if match is not None:
            yield commit, match[1], match[2], match[3]


def _blobs(path: str, span: str, version: int, commits: deque[str]) -> Iterator[str]:
    """The ids of the mails that stay, oldest first; COMMITS gets the commit of each."""
    if version == 1:
        alive = {
            blob
            for line in git_lines(path, "ls-tree", "-r", span.rpartition("..")[2])
            for blob in [line[12:].partition("\t")[0]]
        }
        for commit, blob, status, name in _changes(path, span):
            if status in "AM" and _V1_FILE.match(name) and blob in alive:
                commits.append(commit)
                yield blob
        return
    taken = Counter(blob for _, blob, status, _ in _changes(path, span, "d") if status in "AM")
    for commit, blob, status, name in _changes(path, span):
        if status not in "AM":
            continue
        if name == "d":
            taken[blob] -= 1
        elif name == "m" and taken[blob] <= 0:
            commits.append(commit)
            yield blob

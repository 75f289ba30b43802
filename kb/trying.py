"""Trials: does each row's patch apply to a commit of a repository, on top of the rows before?

All of it happens in a scratch repository (kb/git_scratch.py); the owner's refs, index,
files and configuration stay as they are, but for the one new branch that is asked for.
"""

from __future__ import annotations

import email.utils
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchlore.kb.backports import Row
from patchlore.kb.errors import GitTreeError
from patchlore.kb.events import Event
from patchlore.kb.export.patches import Patch, patch_event, patch_of
from patchlore.kb.git_picking import Commits
from patchlore.kb.git_scratch import FETCH_HINT, Scratch
from patchlore.kb.outcomes import LACKING, Tried
from patchlore.kb.store import Archive
from patchlore.kb.text import count, printable, shorten

#: Results with which a row's change is in what the next row is tried on.
_TAKEN = frozenset({"applies", "applies-3way"})

_FAILED = re.compile(
    rb"error: (?:patch failed: )?(.{1,400}?)(?::\d+|: patch does not apply"
    rb"|: does not (?:exist|match) in index|: already exists in index|: No such file or directory"
    rb"|: cannot (?:read|apply).{0,200})"
)
#: What git says of a file or blob that it knows and has not: a partial clone has few.
_LACKING = re.compile(rb"error: failed to read (.{1,400})|.{0,200}unable to read .{0,20}object")

#: Name, address and date, as git takes them.
_Who = tuple[str, str, str]
#: Who makes a commit for a merge alone; newer than all others, or git would look through
#: the history for what the two sides have in common.
_NOBODY: _Who = ("nobody", "nobody@invalid", "@4102444800 +0000")

_MOST_PATHS = 50
_WORDS = 200


class Trial(Struct, kw_only=True):
    """The rows with what a trial gave, and notes for a person."""

    rows: list[Row]
    notes: list[str]


def try_rows(
    archive: Archive, rows: Sequence[Row], repository: str, base: str, branch: str | None = None
) -> Trial:
    """Try the rows in their order on commit ``base`` of a repository.

    A row's own mail is tried first, then its commit where the repository has it, then
    the upstream patch of a nomination; what conflicts is left out and the next row
    tried without it.  With ``branch`` what applies becomes the new branch of that name.
    Raises GitTreeError; UsageError for a base or a branch that can't be meant.
    """
    with Scratch(repository, base) as scratch:
        if branch is not None:
            scratch.check_branch(branch)
        tip = _Tip(scratch, commits=branch is not None)
        commits = Commits(scratch, [name for row in rows for name in _names(row)])
        tried = [_try(archive, tip, commits, row) for row in rows]
        done = [replace(row, tried=item) for row, item in zip(rows, tried, strict=True)]
        results = Counter(item.result for item in tried)
        told = ", ".join(f"{result}: {number:,}" for result, number in sorted(results.items()))
        notes = [f"tried on {printable(base)} ({scratch.base[:12]}): {told}"]
        if lacking := results[LACKING]:
            rows_ = count(lacking, "row")
            notes.append(f"{rows_} not tried: {printable(repository)} lacks objects; {FETCH_HINT}")
        if branch is not None:
            if tip.commit == scratch.base:
                notes.append(f"no branch {printable(branch)} was made: nothing applies.")
            else:
                scratch.hand_over(tip.commit, branch)
                made = count(sum(results[name] for name in _TAKEN), "commit")
                notes.append(f"branch {printable(branch)}: {made} on {printable(base)}")
        return Trial(rows=done, notes=notes)


class _Tip:
    """What the next row is tried on: a tree, its index, and (if wanted) the commit with it."""

    def __init__(self, scratch: Scratch, *, commits: bool) -> None:
        self.scratch = scratch
        try:
            self.tree = scratch.out("rev-parse", f"{scratch.base}^{{tree}}")
        except GitTreeError as error:
            text = f"{scratch.repository} lacks the files of {scratch.base[:12]}: {FETCH_HINT}."
            raise GitTreeError(text) from error
        self.commit = scratch.base
        self._committer = scratch.committer() if commits else None
        self._indexed: str | None = None

    def index(self) -> None:
        """Make the index that of the tree."""
        if self._indexed != self.tree:
            self.scratch.git("read-tree", self.tree)
            self._indexed = self.tree

    def spoil(self) -> None:
        """The index is no longer that of the tree."""
        self._indexed = None

    def take(self, tree: str, *, indexed: bool) -> None:
        """Go on with a tree, that the index has already or has not."""
        self.tree = tree
        self._indexed = tree if indexed else None

    def commit_patch(self, patch: Patch) -> None:
        """Make the commit that git am makes of a mail, if commits are wanted."""
        if self._committer is not None:
            message = f"{patch.title}\n\n{patch.message}".rstrip("\n") + "\n"
            author = (patch.author_name, patch.author_email, _git_date(patch.date))
            self._add(message, author, self._committer)

    def commit_pick(self, commits: Commits, commit: str) -> None:
        """Make the commit that git cherry-pick -x makes, if commits are wanted."""
        if self._committer is not None:
            self._add(*commits.pick(commit), self._committer)

    def _add(self, message: str, author: _Who, committer: tuple[str, str]) -> None:
        self.commit = self.scratch.out(
            "commit-tree", self.tree, "-p", self.commit,
            data=message.encode("utf-8", "replace"),
            # The author's date again: a second run gives the same commits.
            around=_people(author, (*committer, author[2])),
        )  # fmt: skip


def _people(author: _Who, committer: _Who) -> dict[str, str]:
    """Who makes a commit, in the environment of git: name, address and date of each."""
    return {
        f"GIT_{who}_{what}": value.replace("\x00", "")
        for who, values in (("AUTHOR", author), ("COMMITTER", committer))
        for what, value in zip(("NAME", "EMAIL", "DATE"), values, strict=True)
    }


def _names(row: Row) -> list[str]:
    """The commits that could stand for a row: upstream's, and the one that the list exports."""
    event = patch_event(row)
    own = event.commit if event is not None else None
    return [name for name in (row.sha, own) if name]


def _try(archive: Archive, tip: _Tip, commits: Commits, row: Row) -> Tried:
    known = [commit for name in _names(row) if (commit := commits.whole(name))]
    for commit in known:
        if commit in commits.present and _stands(tip, commits, commit):
            return Tried(result="already-there", how="commit", what=commit)
    failed: Tried | None = None
    for way in _ways(row, known):
        if isinstance(way, Event):
            patch = patch_of(archive, row, way)
            if patch is None:
                continue
            found = _try_patch(tip, patch, "commit" if way.commit else "mail")
        else:
            found = _try_commit(tip, commits, way)
        if found.result not in ("conflict", LACKING):
            return found
        # What could not be tried may apply where something else does not.
        if failed is None or failed.result != LACKING == found.result:
            failed = found
    return failed or Tried(result="no-patch")


def _ways(row: Row, known: Sequence[str]) -> Iterator[Event | str]:
    """What there is to try, the likeliest first: the tree's own mail, commits, upstream's mail."""
    if row.patch is not None:
        yield row.patch
    # A backport in another branch was made for the tree, so it comes before upstream's.
    yield from dict.fromkeys(reversed(known))
    event = patch_event(row)
    if event is not None and row.patch is None and (event.commit is None or not known):
        yield event


# -- a mail's patch --------------------------------------------------------------------


def _try_patch(tip: _Tip, patch: Patch, how: str) -> Tried:
    scratch = tip.scratch
    tip.index()
    level = f"-p{_level(patch.diff)}"
    apply = ["apply", "--cached", "--whitespace=nowarn", level]
    words = None
    for result, options in (("applies", []), ("applies-3way", ["--3way"])):
        done = scratch.git(*apply, *options, "-", data=patch.diff, check=False)
        if done.returncode == 0:
            # A partial clone lacks blobs that the patch does not touch, too.
            tree = scratch.out("write-tree", "--missing-ok")
            if tree == tip.tree:
                return Tried(result="already-there", how=how, what=patch.key)
            tip.take(tree, indexed=True)
            tip.commit_patch(patch)
            return Tried(result=result, how=how, what=patch.key)
        if options:
            break
        back = scratch.git(*apply, "-R", "--check", "-", data=patch.diff, check=False)
        if back.returncode == 0:
            return Tried(result="already-there", how=how, what=patch.key)
        words = _words(done.stderr)
        if lacking := _lacking(done.stderr):
            return Tried(
                result=LACKING, how=how, what=patch.key, conflicts=_paths(lacking), words=words
            )
    conflicts = _unmerged(scratch) or _failed_paths(done.stderr)
    tip.spoil()
    return Tried(result="conflict", how=how, what=patch.key, conflicts=conflicts, words=words)


def _level(diff: bytes) -> int:
    """N of ``-pN``: 1 for names with a/ and b/ in front, else 0."""
    names = [line[4:] for line in diff.split(b"\n") if line[:4] in (b"--- ", b"+++ ")]
    plain = [name for name in names if not name.startswith((b"a/", b"b/", b"/dev/null", b'"'))]
    return 0 if names and len(plain) == len(names) else 1


def _unmerged(scratch: Scratch) -> list[str]:
    listed = scratch.git("ls-files", "-u", "-z").stdout.split(b"\x00")
    names = (entry.partition(b"\t")[2] for entry in listed)
    return _paths(names)


def _failed_paths(said: bytes) -> list[str]:
    return _paths(match[1] for line in said.split(b"\n") if (match := _FAILED.match(line[:1000])))


def _paths(names: Iterable[bytes]) -> list[str]:
    found = dict.fromkeys(name.decode("utf-8", "replace") for name in names if name)
    return list(found)[:_MOST_PATHS]


def _lacking(said: bytes) -> list[bytes] | None:
    """The files that git could not read, by what it said; None where it read all."""
    found = [match for line in said.split(b"\n") if (match := _LACKING.match(line[:1000]))]
    return [match[1] for match in found if match[1]] if found else None


def _words(said: bytes) -> str | None:
    line = said.decode("utf-8", "replace").strip().partition("\n")[0]
    return shorten(line.removeprefix("error: "), _WORDS) or None


def _git_date(date: str | None) -> str:
    parsed = email.utils.parsedate_tz(date or "")
    if parsed is None:
        return "@0 +0000"
    try:
        seconds = email.utils.mktime_tz(parsed)
    except (OverflowError, ValueError):
        return "@0 +0000"
    minutes = (parsed[9] or 0) // 60
    zone = f"{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
    return f"@{max(seconds, 0)} {'-' if minutes < 0 else '+'}{zone}"


# -- a commit of the repository --------------------------------------------------------


def _try_commit(tip: _Tip, commits: Commits, commit: str) -> Tried:
    """Merge what a commit changed into the tree, as git cherry-pick does."""
    parents = commits.parents(commit)
    if len(parents) != 1:
        words = "it is a merge" if parents else "it has no parent"
        return Tried(result="conflict", how="commit", what=commit, words=words)
    merged = _merge(tip, parents[0], commit)
    if merged.tree is None:
        return Tried(
            result=LACKING if merged.is_lacking else "conflict",
            how="commit",
            what=commit,
            conflicts=merged.conflicts,
            words=merged.words,
        )
    if merged.tree == tip.tree:
        return Tried(result="already-there", how="commit", what=commit)
    tip.take(merged.tree, indexed=False)
    tip.commit_pick(commits, commit)
    return Tried(result="applies", how="commit", what=commit)


def _stands(tip: _Tip, commits: Commits, commit: str) -> bool:
    """Whether any of the change of a commit that is in the history is in the tree.

    It is not where to make it again changes the tree and to undo it does not.  Where
    later commits went over its lines, history has to say whether they reverted it.
    """
    parents = commits.parents(commit)
    if len(parents) != 1:
        return True
    forth = _merge(tip, parents[0], commit)
    if forth.tree == tip.tree or forth.is_lacking:
        return True
    back = _merge(tip, commit, parents[0])
    if forth.tree is not None and back.tree is not None:
        return back.tree != tip.tree
    return not commits.is_reverted(commit)


class _Merged(Struct, kw_only=True):
    """What a merge gave: a tree, or what was in its way."""

    tree: str | None = None
    conflicts: list[str] = []
    words: str | None = None
    is_lacking: bool = False


def _merge(tip: _Tip, old: str, new: str) -> _Merged:
    """Merge into the tree what changed from one commit to another."""
    scratch = tip.scratch

    def beside(tree: str) -> str:
        # A child of the old commit: two of them have it as the base of their merge.
        return scratch.out(
            "commit-tree", tree, "-p", old, data=b"-\n", around=_people(_NOBODY, _NOBODY)
        )

    merge = ("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages")
    done = scratch.git(*merge, beside(tip.tree), beside(f"{new}^{{tree}}"), check=False)
    if done.returncode not in (0, 1):
        return _Merged(words=_words(done.stderr), is_lacking=_lacking(done.stderr) is not None)
    tree, *names = done.stdout.split(b"\x00")
    if done.returncode == 1:
        return _Merged(conflicts=_paths(names))
    return _Merged(tree=tree.decode("ascii").strip())

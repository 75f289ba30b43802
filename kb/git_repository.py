"""A git repository as a tree is read from it: refs, graph, commit objects, patch ids.

Only plumbing, and nothing that runs a program which the repository's own
configuration names, or that fetches what a partial clone left out.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchlore.ingest.sources.git import (
    GitError,
    command,
    environment,
    git_fields,
    git_lines,
    read_blobs,
    run_git,
)
from patchlore.kb.errors import GitTreeError

_REF_FORMAT = "%00".join(
    f"%({field})"
    for field in (
        "refname",
        "objecttype",
        "objectname",
        "*objecttype",
        "*objectname",
        "creatordate:unix",
        "symref",
    )
)

#: So many commits in a row whose files are missing end the search for patch ids.
_MOST_FAILURES = 40

#: (sha, parents), children before their parents.
Graph = list[tuple[str, list[str]]]


class Ref(Struct, kw_only=True, frozen=True):
    """A branch or tag and the commit that it points to; ``timestamp``: when a tag was made."""

    kind: str
    name: str
    sha: str
    timestamp: int | None = None


class Repository:
    """A repository, bare or not, a linked worktree, shallow or partial."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Find the git directory of ``path``; raises GitTreeError when there is none."""
        self.git_dir = str(_git_dir(pathlib.Path(path)))
        #: Whether ``files`` met a commit whose trees are missing.
        self.lacks_files = False

    @property
    def is_shallow(self) -> bool:
        """Whether the history was cut when it was cloned (gitrepository-layout(5), shallow)."""
        shallow = pathlib.Path(self.git_dir, "shallow")
        return shallow.exists() and shallow.stat().st_size > 0

    def refs(self) -> list[Ref]:
        """Return branches and tags that point to commits, sorted; raises GitTreeError.

        A branch of a remote that is the same as a local one counts once.  A
        repository without branches has its HEAD.
        """
        branches: list[Ref] = []
        remote: list[Ref] = []
        tags: list[Ref] = []
        lines = self._run(
            "for-each-ref", f"--format={_REF_FORMAT}", "refs/heads", "refs/remotes", "refs/tags"
        )
        for line in lines.split("\n"):
            fields = line.split("\x00")
            if len(fields) != 7 or fields[6]:  # a symbolic ref (origin/HEAD) is another's name
                continue
            full, kind, sha, peeled_kind, peeled, date, _ = fields
            if kind == "tag":
                # git before 2.45 peels one level only; a tag of a tag is rare.
                kind, sha = (
                    (peeled_kind, peeled)
                    if peeled_kind != "tag"
                    else ("commit", self._peel(peeled) or "")
                )
            if kind != "commit" or not sha:
                continue
            time = int(date) if date.lstrip("-").isdigit() else None
            if full.startswith("refs/tags/"):
                tags.append(Ref(kind="tag", name=full[10:], sha=sha, timestamp=time))
            elif full.startswith("refs/heads/"):
                branches.append(Ref(kind="branch", name=full[11:], sha=sha))
            else:
                remote.append(Ref(kind="branch", name=full[13:], sha=sha))
        local = {(ref.name, ref.sha) for ref in branches}
        branches += [ref for ref in remote if (ref.name.partition("/")[2], ref.sha) not in local]
        if not branches:
            head = self._peel("HEAD")
            branches = [Ref(kind="branch", name="HEAD", sha=head)] if head else []
        if not branches and not tags:
            raise GitTreeError(f"{self.git_dir} has no commits.")
        return sorted([*branches, *tags], key=lambda ref: (ref.kind, ref.name))

    def graph(self, tips: Iterable[str]) -> Graph:
        """Return all commits that ``tips`` reach, each with its parents, children first.

        Parents that a shallow clone cut off are left out.  Raises GitTreeError.
        """
        # From a file: thousands of tips do not fit into a command line.
        with tempfile.NamedTemporaryFile("w", suffix=".revs") as listed:
            listed.write("".join(f"{tip}\n" for tip in sorted(set(tips))))
            listed.flush()
            found: Graph = []
            try:
                with open(listed.name, "rb") as tip_file:
                    for line in git_lines(
                        self.git_dir,
                        "rev-list",
                        "--topo-order",
                        "--parents",
                        "--stdin",
                        stdin=tip_file,
                    ):
                        sha, *parents = line.split()
                        found.append((sha, parents))
            except GitError as error:
                raise GitTreeError(f"{self.git_dir} can't be read: {error}.") from error
        return found

    def commits(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each commit's object in order, None for a missing one; raises GitTreeError."""
        try:
            yield from read_blobs(self.git_dir, shas)
        except GitError as error:
            raise GitTreeError(f"{self.git_dir} can't be read: {error}.") from error

    def diff(self, sha: str) -> Iterator[str]:
        """Yield the lines of a commit's diff; raises GitError where files of it are missing."""
        return git_lines(
            self.git_dir, "diff-tree", "--root", "-r", "-p", "-M", "--no-commit-id",
            "--no-ext-diff", "--no-textconv", sha,
        )  # fmt: skip

    def diffs(self, shas: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """Yield (sha, the lines of its diff) of commits, those that change nothing left out.

        Raises GitError where files of one are missing: those before it are whole.
        """
        with tempfile.TemporaryFile() as listed:
            listed.write("".join(f"{sha}\n" for sha in shas).encode("ascii"))
            listed.seek(0)
            arguments = ("diff-tree", "--stdin", "--root", "-r", "-p", "-M", "--no-ext-diff",
                         "--no-textconv")  # fmt: skip
            wanted = set(shas)
            sha, lines = "", list[str]()
            for line in git_lines(self.git_dir, *arguments, stdin=listed):
                if line in wanted:  # no line of a diff is one
                    if lines:
                        yield sha, lines
                    sha, lines = line, []
                else:
                    lines.append(line)
            if lines:
                yield sha, lines

    def mail(self, sha: str) -> bytes:
        """Return a commit as ``git format-patch`` writes it, without a signature.

        Nothing for a merge; raises GitError where the commit or its files are missing.
        """
        return b"\0".join(
            git_fields(
                self.git_dir, "diff-tree", "--root", "--pretty=email", "--patch-with-stat", "-M",
                "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--encoding=UTF-8",
                sha,
            )
        )  # fmt: skip

    def files(self, shas: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """Yield (sha, paths that it changes) of each commit that changes any, merges left out.

        Both names of a renamed file.  Commits whose trees are missing (a partial
        clone) are passed over.
        """
        start = failures = 0
        while start < len(shas) and failures < _MOST_FAILURES:
            last = None
            try:
                for last, paths in self._files(shas[start:]):
                    yield last, paths
                return
            except GitError:
                self.lacks_files = True
                start = start if last is None else shas.index(last, start) + 1
            # Up to the commit at which git gave up one by one: what it said last may be cut.
            while start < len(shas):
                start += 1
                try:
                    yield from list(self._files(shas[start - 1 : start]))
                except GitError:
                    failures += 1
                    break

    def _files(self, shas: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        with tempfile.TemporaryFile() as listed:
            listed.write("".join(f"{sha}\n" for sha in shas).encode("ascii"))
            listed.seek(0)
            arguments = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames")
            sha, paths = "", dict[str, None]()
            is_path = False
            for field in git_fields(self.git_dir, *arguments, stdin=listed):
                if is_path:
                    paths[field.decode("utf-8", "replace")] = None
                    is_path = False
                elif field.startswith(b":"):
                    is_path = True
                else:
                    if paths:
                        yield sha, list(paths)
                    sha, paths = field.decode("ascii", "replace"), {}
            if paths:
                yield sha, list(paths)

    def patch_ids(self, shas: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (sha, patch id) in order, '' for a commit that has none: merges and empty ones.

        As ``git patch-id --stable`` has it of ``git format-patch``: with renames
        found, and the whole ids of binary files.  A commit of whose files some are
        missing (a partial clone) is passed over: nobody knows its id.
        """
        start = failures = 0
        while start < len(shas) and failures < _MOST_FAILURES:
            found, is_whole = self._patch_ids(shas[start:])
            ids = dict(found)
            end = len(shas)
            if not is_whole:
                # The last one may have been cut off where git gave up; all before are whole.
                end = shas.index(found[-1][0], start) if found else start
            yield from ((sha, ids.get(sha, "")) for sha in shas[start:end])
            if is_whole:
                return
            again, is_whole = self._patch_ids(shas[end : end + 1])
            if is_whole:
                yield shas[end], dict(again).get(shas[end], "")
            failures = 0 if is_whole else failures + 1
            start = end + 1

    def _patch_ids(self, shas: Sequence[str]) -> tuple[list[tuple[str, str]], bool]:
        """The ids that git finds before it ends, and whether it came to the end."""
        with tempfile.TemporaryFile() as listed:
            listed.write("".join(f"{sha}\n" for sha in shas).encode("ascii"))
            listed.seek(0)
            try:
                diffs = subprocess.Popen(
                    command(
                        self.git_dir, "diff-tree", "--stdin", "--root", "-r", "-p", "-M",
                        "--full-index", "--no-ext-diff", "--no-textconv",
                    ),
                    stdin=listed,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                )  # fmt: skip
                with diffs:
                    done = subprocess.run(
                        command(self.git_dir, "patch-id", "--stable"),
                        stdin=diffs.stdout,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        env=environment(),
                        check=False,
                    )
            except OSError as error:
                raise GitTreeError(f"git can't be run ({error.strerror}).") from error
        pairs = (line.split() for line in done.stdout.decode("ascii", "replace").splitlines())
        found = [(pair[1], pair[0]) for pair in pairs if len(pair) == 2]
        return found, diffs.returncode == 0 and done.returncode == 0

    def _peel(self, name: str) -> str | None:
        try:
            sha = run_git(self.git_dir, "rev-parse", "--verify", "-q", f"{name}^{{commit}}")
        except GitError:
            return None
        return sha.strip() or None

    def _run(self, *arguments: str) -> str:
        try:
            return run_git(self.git_dir, *arguments)
        except GitError as error:
            raise GitTreeError(f"{self.git_dir} can't be read: {error}.") from error


def state_of(refs: Iterable[Ref]) -> str:
    """Return a hash of refs: equal as long as no branch or tag has moved."""
    text = "\n".join(f"{ref.kind} {ref.name} {ref.sha}" for ref in refs)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _git_dir(path: pathlib.Path) -> pathlib.Path:
    """The git directory of a path (gitrepository-layout(5)): the common one of a worktree."""
    found = path / ".git"
    if found.is_file():
        # A linked worktree or a submodule: "gitdir: <path>", relative to the file's folder.
        try:
            link = found.read_text("utf-8", "surrogateescape").strip()
        except OSError as error:
            raise GitTreeError(f"{found} can't be read: {error.strerror}.") from error
        found = path / link.removeprefix("gitdir:").strip()
    elif not found.is_dir():
        found = path
    common = found / "commondir"
    if common.is_file():
        found = found / common.read_text("utf-8", "surrogateescape").strip()
    if not (found / "objects").is_dir() or not (found / "HEAD").is_file():
        raise GitTreeError(f"{path} is no git repository.")
    return found.resolve()

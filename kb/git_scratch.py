"""``Scratch``: a repository for trials that borrows the objects of another one."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Mapping
from types import TracebackType

from patchlore.ingest.sources.git import environment
from patchlore.kb.errors import GitTreeError, UsageError

#: Of the owner's repository only names and objects are read: nothing that its
#: configuration names is run, and nothing fetched.
_SAFE = (
    "-c", "safe.directory=*", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false",
    "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.attributesFile=/dev/null", "-c", "core.autocrlf=false",
)  # fmt: skip

#: What helps where objects are missing; nothing is fetched unasked.
FETCH_HINT = "in a partial clone 'git fetch --refetch --no-filter' brings all of them"

#: Names that git itself takes for something else: HEAD and its kin, and whole ids.
_NO_BRANCH = re.compile(r"@|(?:[A-Z_]*_)?HEAD|refs/.*|[0-9a-f]{40}|[0-9a-f]{64}", re.DOTALL)


class Scratch:
    """A bare repository in a temporary folder, with an index of its own, at a commit of another.

    The other repository's objects are alternates (gitrepository-layout(5)): what a
    trial makes is in the temporary folder alone, which goes away with the context,
    however that is left.
    """

    def __init__(self, repository: str | os.PathLike[str], base: str) -> None:
        """Find the repository and the commit; raises GitTreeError, UsageError for a bad name."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._dir = ""
        self.repository = os.fspath(repository)
        try:
            self._objects = os.path.abspath(
                os.path.join(self.repository, self._ask("rev-parse", "--git-path", "objects"))
            )
            self._shallow = os.path.join(
                self.repository, self._ask("rev-parse", "--git-path", "shallow")
            )
            self._format = self._ask("rev-parse", "--show-object-format")
        except (GitTreeError, OSError) as error:
            raise GitTreeError(f"{self.repository} is no git repository.") from error
        try:
            # --end-of-options: a name with a dash in front is a name.
            self.base = self._ask(
                "rev-parse", "--verify", "-q", "--end-of-options", f"{base}^{{commit}}"
            )
        except GitTreeError as error:
            raise UsageError(f"{self.repository} has no commit '{base}'.") from error

    def __enter__(self) -> Scratch:
        """Make the repository."""
        self._folder = tempfile.TemporaryDirectory(prefix="patchlore-try.")
        self._dir = self._folder.name
        self.git("init", "-q", "--bare", "--template=", f"--object-format={self._format}")
        info = pathlib.Path(self._dir, "objects", "info")
        info.mkdir(parents=True, exist_ok=True)
        # A name in quotes is read as C has strings: line ends in it are no trouble.
        (info / "alternates").write_bytes(_quoted(self._objects))
        shallow = pathlib.Path(self._shallow)
        if shallow.is_file():
            pathlib.Path(self._dir, "shallow").write_bytes(shallow.read_bytes())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove all that was made."""
        if self._folder is not None:
            self._folder.cleanup()

    def git(
        self,
        *arguments: str,
        data: bytes | None = None,
        check: bool = True,
        around: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git in the scratch repository, with ``around`` in its environment.

        Raises GitTreeError for a failure if ``check``.
        """
        name = f"--git-dir={self._dir}"
        return self._run(name, *arguments, data=data, check=check, around=around)

    def out(
        self, *arguments: str, data: bytes | None = None, around: Mapping[str, str] | None = None
    ) -> str:
        """Return what a git command in the scratch repository prints, without blank ends."""
        done = self.git(*arguments, data=data, around=around)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def hand_over(self, commit: str, branch: str) -> None:
        """Put a commit with all that was made for it into the repository, as a new branch.

        Raises UsageError when the branch is there already; no other ref is touched.
        """
        made = self.git(
            "pack-objects", "--revs", "--stdout", "-q", data=f"{commit}\n^{self.base}\n".encode()
        ).stdout
        self._run("-C", self.repository, "unpack-objects", "-q", data=made)
        null = "0" * len(commit)
        done = self._run(
            "-C", self.repository, "update-ref", "-m", "patchlore: backports",
            f"refs/heads/{branch}", commit, null, check=False,
        )  # fmt: skip
        if done.returncode:
            raise UsageError(
                f"{self.repository} has a branch '{branch}' already, or one in its way."
            )

    def check_branch(self, branch: str) -> None:
        """Raise UsageError for a name that is no branch's, or that a branch has or blocks."""
        is_other = _NO_BRANCH.fullmatch(branch) is not None or "\x00" in branch
        if is_other or self._run("check-ref-format", "--branch", branch, check=False).returncode:
            raise UsageError(
                f"'{branch}' can't be the name of a branch: give a new one, such as fixes-5.10."
            )
        parts = branch.split("/")
        above = ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]
        # A pattern is the name of a ref, or of a folder of refs.
        found = self._run(
            "-C", self.repository, "for-each-ref", "--format=%(refname)",
            *(f"refs/heads/{name}" for name in above),
        ).stdout.decode("utf-8", "surrogateescape").split("\n")  # fmt: skip
        for name in found:
            there = name.removeprefix("refs/heads/")
            if there in above or there.startswith(f"{branch}/"):
                text = "" if there == branch else f", which is in the way of '{branch}'"
                raise UsageError(f"{self.repository} has a branch '{there}' already{text}.")

    def committer(self) -> tuple[str, str]:
        """Return name and address of who commits, as the repository and the person's git have it.

        Raises UsageError when nobody is named.
        """
        named = ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
        around = {name: os.environ[name] for name in named if name in os.environ}
        done = self._run(
            "-C", self.repository, "var", "GIT_COMMITTER_IDENT", check=False, around=around
        )
        ident = done.stdout.decode("utf-8", "replace").rpartition(">")[0]
        name, _, address = ident.partition(" <")
        if done.returncode or not address:
            raise UsageError("git doesn't know who you are: set user.name and user.email.")
        return name, address

    def _ask(self, *arguments: str) -> str:
        done = self._run("-C", self.repository, *arguments)
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def _run(
        self,
        *arguments: str,
        data: bytes | None = None,
        check: bool = True,
        around: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            done = subprocess.run(
                ["git", *_SAFE, *arguments],
                input=b"" if data is None else data,
                capture_output=True,
                check=False,
                env=environment() | dict(around or {}),
            )
        except (OSError, ValueError) as error:
            raise GitTreeError(f"git can't be run ({error}).") from error
        if check and done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            words = said.removeprefix("fatal: ").removeprefix("error: ")
            raise GitTreeError(f"git failed: {words or done.returncode}.")
        return done


def _quoted(path: str) -> bytes:
    raw = os.fsencode(path)
    signs = {ord('"'): b'\\"', ord("\\"): b"\\\\", ord("\n"): b"\\n"}
    return b'"' + b"".join(signs.get(byte, bytes([byte])) for byte in raw) + b'"\n'

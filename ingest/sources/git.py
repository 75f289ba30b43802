"""Git repositories as sources of bytes: one ``git log`` and one ``git cat-file --batch``.

Only plumbing that runs no program which a repository's own configuration could
name: a mirror may belong to somebody else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO

#: Mirrors are often owned by the user that fetches them (safe.directory), and
#: no lookup may go to the network (partial clones).
_SAFE = ("-c", "safe.directory=*", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false")

#: git keeps up to 96 MB of objects that others build on; mails hardly build on each other.
_SMALL = ("-c", "core.deltaBaseCacheLimit=16m")

#: Ids sent ahead of what was read: together they fit into a pipe's buffer.
_AHEAD = 512


class GitError(Exception):
    """git is not installed or failed; the text is what it said. For readers of sources only."""


def environment() -> dict[str, str]:
    """The environment of a git that asks nobody, fetches nothing and takes no one's settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environment | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def command(repository: str, *arguments: str) -> list[str]:
    """The command line of git on the git directory REPOSITORY."""
    return ["git", *_SAFE, f"--git-dir={repository}", *arguments]


def run_git(repository: str, *arguments: str) -> str:
    """The standard output of a git command on the bare REPOSITORY; raises GitError."""
    try:
        done = subprocess.run(
            command(repository, *arguments),
            capture_output=True,
            check=False,
            env=environment(),
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise GitError(f"git can't be run ({error.strerror})") from error
    if done.returncode:
        raise GitError(_said(done.stderr) or f"git ended with status {done.returncode}")
    return done.stdout.decode("utf-8", "surrogateescape")


def git_lines(
    repository: str, *arguments: str, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> Iterator[str]:
    """The lines a git command prints, as it prints them; raises GitError."""
    with _said_by(repository, arguments, stdin) as output:
        for line in output:
            yield line.decode("utf-8", "surrogateescape").rstrip("\n")


def git_lines_at_end(repository: str, *arguments: str) -> Iterator[str]:
    """The lines a git command printed, once it has ended; raises GitError behind the last one.

    For what is read slowly of a command that keeps much in memory: ``git log --reverse``
    holds 2 KB for each commit until its last line is taken.
    """
    with tempfile.TemporaryFile() as printed:
        failure: GitError | None = None
        try:
            with _said_by(repository, arguments, subprocess.DEVNULL) as output:
                shutil.copyfileobj(output, printed)
        except GitError as error:
            failure = error
        printed.seek(0)
        for line in printed:
            yield line.decode("utf-8", "surrogateescape").rstrip("\n")
        if failure is not None:
            raise failure


def git_fields(
    repository: str, *arguments: str, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> Iterator[bytes]:
    """What a git command with ``-z`` prints, between its NUL bytes; raises GitError."""
    with _said_by(repository, arguments, stdin) as output:
        rest = b""
        while chunk := output.read(1 << 16):
            *fields, rest = (rest + chunk).split(b"\0")
            yield from fields
        if rest:
            yield rest


@contextlib.contextmanager
def _said_by(
    repository: str, arguments: tuple[str, ...], stdin: IO[bytes] | int
) -> Iterator[IO[bytes]]:
    """The output of a git command while it runs; raises GitError when it fails."""
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                command(repository, *arguments),
                stdout=subprocess.PIPE,
                stderr=said,
                stdin=stdin,
                env=environment(),
            )
        except OSError as error:
            raise GitError(f"git can't be run ({error.strerror})") from error
        with process:
            assert process.stdout is not None
            try:
                yield process.stdout
            except GeneratorExit:
                process.kill()
                raise
        if process.returncode:
            said.seek(0)
            message = _said(said.read(4096))
            raise GitError(message or f"git ended with status {process.returncode}")


def read_blobs(repository: str, ids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """For each of IDS, in order: it and the blob's bytes, None when it is missing.

    Ids are asked for ahead of reading, so that git inflates while the caller
    works. Raises GitError when git fails.
    """
    try:
        process = subprocess.Popen(
            command(repository, *_SMALL, "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            bufsize=1 << 20,
        )
    except OSError as error:
        raise GitError(f"git can't be run ({error.strerror})") from error
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield from _conversation(process.stdin, process.stdout, iter(ids))
            process.stdin.close()
        except GeneratorExit:
            process.kill()
            raise
        except BrokenPipeError as error:
            raise GitError("git cat-file ended early") from error


def _conversation(
    requests: IO[bytes], answers: IO[bytes], ids: Iterator[str]
) -> Iterator[tuple[str, bytes | None]]:
    pending: list[str] = []
    while True:
        asked = list(islice(ids, _AHEAD))
        if asked:
            requests.write(("\n".join(asked) + "\n").encode("ascii"))
            requests.flush()
        for name in pending:
            yield name, _answer(answers)
        pending = asked
        if not asked:
            return


def _answer(answers: IO[bytes]) -> bytes | None:
    head = answers.readline().split()
    if len(head) != 3:
        if not head:
            raise GitError("git cat-file ended early")
        return None
    size = int(head[2])
    data = answers.read(size)
    if len(data) != size:
        raise GitError("git cat-file ended early")
    answers.read(1)
    return data


def _said(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else ""

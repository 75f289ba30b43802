"""A git repository with two trees of files, and what git itself says of their difference."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

GIT = shutil.which("git")
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Nora Finch",
    "GIT_AUTHOR_EMAIL": "nora@example.org",
    "GIT_COMMITTER_NAME": "Nora Finch",
    "GIT_COMMITTER_EMAIL": "nora@example.org",
    "LC_ALL": "C",
    "PATH": os.environ.get("PATH", os.defpath),
}

#: Path of a file to its content and whether it is executable.
Tree = dict[str, tuple[bytes, bool]]


class Repository:
    """A repository in a folder of its own; ``git`` runs a command there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.git("init", "-q")
        self.git("config", "core.fileMode", "true")
        self.git("config", "core.autocrlf", "false")

    def git(self, *arguments: str, data: bytes | None = None) -> bytes:
        """The output of a git command; a failure is the test's."""
        assert GIT is not None
        return subprocess.run(
            [GIT, *arguments],
            cwd=self.folder,
            env=_ENVIRONMENT | {"HOME": str(self.folder)},
            input=data,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    def write_tree(self, tree: Tree) -> str:
        """Store TREE without a work tree (names may be odd); return its id."""
        index = []
        for path, (content, executable) in tree.items():
            blob = self.git("hash-object", "-w", "--stdin", data=content).decode().strip()
            mode = "100755" if executable else "100644"
            index.append(f"{mode} {blob}\t".encode() + os.fsencode(path) + b"\0")
        self.git("read-tree", "--empty")
        self.git("update-index", "-z", "--index-info", data=b"".join(index))
        return self.git("write-tree").decode().strip()

    def diff(self, old: Tree, new: Tree, *options: str) -> bytes:
        """``git diff`` of two trees."""
        before, after = self.write_tree(old), self.write_tree(new)
        return self.git("diff-tree", "-p", "-M", *options, before, after)

    def numstat(self, diff: bytes) -> list[tuple[str, int | None, int | None]]:
        """``git apply --numstat``: path, added, removed (None for a binary file)."""
        found: list[tuple[str, int | None, int | None]] = []
        if not diff:
            return found
        for record in self.git("apply", "--numstat", "-z", data=diff).split(b"\0"):
            if record:
                added, removed, path = record.split(b"\t", 2)
                counts = [None if n == b"-" else int(n) for n in (added, removed)]
                found.append((path.decode("utf-8", "replace"), counts[0], counts[1]))
        return found

    def patch_id(self, diff: bytes) -> str | None:
        """``git patch-id --stable``."""
        words = self.git("patch-id", "--stable", data=diff).split()
        return words[0].decode() if words else None

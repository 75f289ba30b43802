"""Git repositories made by hand for tests of trees: invented people, fixed dates."""

from __future__ import annotations

import os
import pathlib
import subprocess

from patchlore.kb.git_filling import TreeSummary, fill_tree
from patchlore.kb.store import Archive
from tests.kb.mails import NOON

DAY = 86400


class Repository:
    """A repository with a work tree; ``commit`` makes one commit a day, the first at NOON."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, data: bytes | None = None, **extra: str) -> str:
        """The output of a git command; a failure is the test's."""
        environment = {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "Ada Quill",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Bo Tern",
            "GIT_COMMITTER_EMAIL": "bo@example.org",
            "GIT_AUTHOR_DATE": f"{NOON + self.day * DAY} +0000",
            "GIT_COMMITTER_DATE": f"{NOON + self.day * DAY + 3600} +0000",
            "LC_ALL": "C",
            "HOME": str(self.folder),
            "PATH": os.environ.get("PATH", os.defpath),
            **extra,
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment,
            input=data,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(self, message: str, files: dict[str, str] | None = None, **extra: str) -> str:
        """Commit files (one of its own for each day unless given); return the commit's id."""
        self.day += 1
        for path, content in (files or {f"clock-{self.day}.c": f"tick {self.day}\n"}).items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "-F", "-", data=message.encode(), **extra)
        return self.git("rev-parse", "HEAD")

    def tag(self, name: str) -> None:
        """Tag HEAD with an annotated tag."""
        self.git("tag", "-a", "-m", name, name)

    def diff(self, sha: str) -> str:
        """The diff of a commit."""
        return self.git("show", "--format=", sha) + "\n"


def fill(
    archive: Archive, repository: Repository | pathlib.Path, name: str = "mainline"
) -> TreeSummary:
    """Read a repository as a tree."""
    path = repository if isinstance(repository, pathlib.Path) else repository.folder
    return fill_tree(archive, name, str(path))

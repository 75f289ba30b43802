"""A mainline and stable branches made by hand, read into an archive: for tests of lists."""

from __future__ import annotations

import pathlib

from patchlore.kb.backports import Row, backports
from patchlore.kb.edges import update_edges
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.kb.git_repositories import DAY, Repository
from tests.kb.mails import NOON

#: The day by which delays and supported trees are judged: long after all commits.
TODAY = NOON + 1000 * DAY


class Trees:
    """A repository with a mainline and 5.10, and the archive that it is read into."""

    def __init__(self, folder: pathlib.Path, archive: Archive) -> None:
        self.repository = Repository(folder)
        self.archive = archive
        self.base = self.repository.commit("clock: begin")
        self.repository.tag("v5.10")
        self.repository.git("branch", "linux-5.10.y")

    def main(self, message: str) -> str:
        """Commit to the mainline."""
        self.repository.git("checkout", "-q", "main")
        return self.repository.commit(message)

    def stable(self, message: str) -> str:
        """Commit to 5.10."""
        self.repository.git("checkout", "-q", "linux-5.10.y")
        return self.repository.commit(message)

    def backport(self, sha: str, title: str) -> str:
        """Commit a backport to 5.10."""
        return self.stable(f"{title}\n\ncommit {sha} upstream.\n")

    def rows(self, tree: str = "5.10", as_of: int = TODAY) -> list[Row]:
        """Read the repository and return the list of a tree."""
        fill_tree(self.archive, "linux", str(self.repository.folder))
        update_edges(self.archive)
        return backports(self.archive, tree, as_of=as_of)

    def states(self) -> dict[str | None, str]:
        """Return the state of each commit of the list."""
        return {row.sha: row.state for row in self.rows()}


def fixing(title: str, sha: str, named: str = "tick: use two", rest: str = "") -> str:
    """Return the message of a commit that fixes another one."""
    return f'{title}\n\nIt ticked thrice.\n\nFixes: {sha[:12]} ("{named}")\n{rest}'


def by_sha(rows: list[Row], sha: str) -> Row:
    """Return the row of a commit."""
    (row,) = [row for row in rows if row.sha == sha]
    return row


def posted(number: int, subject: str, text: str) -> bytes:
    """Return a mail with a patch and this commit message."""
    return (
        f"From: Ada Quill <ada@example.org>\nDate: Tue, {number} Jan 2024 03:04:05 +0000\n"
        f"Subject: {subject}\nMessage-ID: <post-{number}@example.org>\n\n{text}"
        "Signed-off-by: Ada Quill <ada@example.org>\n---\n"
        f"diff --git a/tick{number}.c b/tick{number}.c\nindex 5626abf..f719efd 100644\n"
        f"--- a/tick{number}.c\n+++ b/tick{number}.c\n@@ -1 +1 @@\n-one\n+two {number}\n"
    ).encode()

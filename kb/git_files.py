"""The files that commits of git trees change: storing them, and asking for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from patchlore.kb.git_repository import Graph, Repository
from patchlore.kb.interning import Names
from patchlore.kb.store import Archive, transaction

#: Commits whose files are asked for and stored together.
_BATCH = 5000


class Files:
    """The files of commits that are read in order, beside the commits themselves.

    git looks for them while the commits are parsed.
    """

    def __init__(self, repository: Repository, shas: Sequence[str]) -> None:
        """Take the commits, merges left out, in the order in which they will be asked for."""
        self._found = repository.files(shas)
        self._next: tuple[str, list[str]] | None = None

    def of(self, shas: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """Yield (sha, paths) of those of the next commits that change any file."""
        batch = set(shas)
        while True:
            if self._next is None:
                self._next = next(self._found, None)
            if self._next is None or self._next[0] not in batch:
                return
            yield self._next
            self._next = None


def insert_files(archive: Archive, names: Names, files: Sequence[tuple[int, list[str]]]) -> None:
    """Write (row id of a commit, paths), in the caller's transaction; what is there stays."""
    rows = [(names.paths.id_of((path,)), id_) for id_, paths in files for path in paths]
    names.paths.flush()
    archive.connection.executemany("INSERT OR IGNORE INTO git_file VALUES (?, ?)", rows)


def is_filed(archive: Archive, tree: str) -> bool:
    """Whether the files of all commits of a tree were read."""
    return bool(
        archive.value(
            "SELECT 1 FROM git_filed JOIN git_tree ON git_tree.id = git_filed.tree"
            " WHERE git_tree.name = ?",
            (tree,),
        )
    )


def store_missing(
    archive: Archive,
    repository: Repository,
    graph: Graph,
    on_progress: Callable[[int, int], None] | None,
) -> None:
    """Store the files of commits of ``graph`` that have none: of an archive from before."""
    known: dict[str, int] = dict(
        archive.execute(
            "SELECT sha, id FROM git_commit WHERE data IS NOT NULL AND id NOT IN"
            " (SELECT git_commit FROM git_file)"
        ).fetchall()
    )
    wanted = [sha for sha, parents in reversed(graph) if sha in known and len(parents) < 2]
    names = Names(archive.connection)
    for start in range(0, len(wanted), _BATCH):
        part = wanted[start : start + _BATCH]
        with transaction(archive):
            found = [(known[sha], paths) for sha, paths in repository.files(part)]
            insert_files(archive, names, found)
        if on_progress is not None:
            on_progress(min(start + _BATCH, len(wanted)), len(wanted))


def set_filed(archive: Archive, tree: str) -> None:
    """Note that the files of all commits of a tree were read, in the caller's transaction."""
    archive.execute(
        "INSERT OR IGNORE INTO git_filed SELECT id FROM git_tree WHERE name = ?", (tree,)
    )


def files_of_commit(archive: Archive, sha: str) -> list[str]:
    """Return the paths that a commit of a git tree changes, sorted; none for an unknown one."""
    return [
        path
        for (path,) in archive.execute(
            "SELECT path.text FROM git_commit AS c JOIN git_file AS f ON f.git_commit = c.id"
            " JOIN path ON path.id = f.path WHERE c.sha = ? ORDER BY path.text",
            (sha,),
        )
    ]

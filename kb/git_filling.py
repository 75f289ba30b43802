"""Ingest of a git tree: new commits with their facts, then where every commit is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import zstandard
from msgspec import Struct

from patchlore.ingest.commit_message import Commit, read_commit
from patchlore.ingest.message import Person
from patchlore.kb.git_files import Files, insert_files, is_filed, set_filed, store_missing
from patchlore.kb.git_repository import Graph, Repository
from patchlore.kb.git_trees import Tree
from patchlore.kb.interning import Names, next_id
from patchlore.kb.merge import person_key, title_hash
from patchlore.kb.shaping import Shaped, shape
from patchlore.kb.store import FACTS_VERSION, Archive, transaction
from patchlore.kb.versions import tree_name

#: Commits that are stored in one transaction.
BATCH = 2000

#: Commits whose patch ids are asked for and stored together.
_PATCH_BATCH = 5000

#: Tables that hold facts of a commit, deleted when it is read again.
_FACT_TABLES = ("git_commit_ref", "git_bug_ref", "git_link", "git_cve", "git_stable_note")


class TreeSummary(Struct, kw_only=True):
    """What an ingest of a tree did; ``commits`` is how many the tree has, ``seconds`` wall time."""

    name: str
    commits: int = 0
    new: int = 0
    branches: int = 0
    tags: int = 0
    patch_ids: int = 0
    missing: int = 0
    is_shallow: bool = False
    #: Another repository that had the name before and has no commit of this one.
    replaced: str | None = None
    seconds: float = 0.0

    def line(self) -> str:
        """Return the summary line that other programs read (docs/cli.md)."""
        extra = f", patch ids {self.patch_ids}" if self.patch_ids else ""
        cut = ", shallow: older commits are not in it" if self.is_shallow else ""
        lost = f", missing {self.missing}" if self.missing else ""
        if self.replaced is not None:
            cut += f"; before it was {self.replaced}, of which all commits are in no tree now"
        return (
            f"tree {self.name}: commits {self.commits}, new {self.new}, branches {self.branches}, "
            f"tags {self.tags}{extra}{lost} in {self.seconds:.1f} s{cut}"
        )


def fill_tree(
    archive: Archive,
    name: str,
    path: str,
    *,
    patch_ids: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> TreeSummary:
    """Read a repository into an archive that is open for writing, as the tree ``name``.

    Commits that are there are not read again, and nothing is read when no ref has
    moved since.  The files that each commit changes are stored with it;
    ``patch_ids`` computes those of commits that have none yet.  ``on_progress`` is
    called with commits done and in all.  Commits are stored in batches; the last
    transaction stores refs, where each commit is, and how far the tree was read,
    so that an interrupted run is gone on with by the next.
    Raises GitTreeError and ArchiveError.
    """
    start = time.monotonic()
    repository = Repository(path)
    if archive.facts_version < FACTS_VERSION:
        from patchlore.kb.filling import default_jobs
        from patchlore.kb.redoing import redo_facts

        redo_facts(archive, jobs=default_jobs())
    refs = repository.refs()
    tree = Tree(archive, tree_name(name), repository, refs)
    summary = TreeSummary(
        name=tree.name,
        branches=sum(ref.kind == "branch" for ref in refs),
        tags=sum(ref.kind == "tag" for ref in refs),
        is_shallow=repository.is_shallow,
    )
    filed = is_filed(archive, tree.name)
    if filed and tree.is_current(patch_ids=patch_ids):
        summary.commits = tree.count_commits()
    else:
        graph = repository.graph(ref.sha for ref in refs)
        summary.commits = len(graph)
        summary.new, summary.missing = _store_new(archive, repository, graph, on_progress)
        if not filed:
            store_missing(archive, repository, graph, on_progress)
        if patch_ids:
            summary.patch_ids = _store_patch_ids(archive, repository, graph, on_progress)
        summary.replaced = tree.replaced_by(graph)
        with transaction(archive):
            tree.store(graph, patch_ids=patch_ids, is_whole=not summary.missing)
            # What a partial clone lacks may be there the next time.
            if not repository.lacks_files:
                set_filed(archive, tree.name)
    summary.seconds = time.monotonic() - start
    return summary


# -- commits ----------------------------------------------------------------------


def _store_new(
    archive: Archive,
    repository: Repository,
    graph: Graph,
    on_progress: Callable[[int, int], None] | None,
) -> tuple[int, int]:
    """Store the commits that the archive does not have, oldest first; return new and missing."""
    known = {sha for (sha,) in archive.execute("SELECT sha FROM git_commit WHERE data IS NOT NULL")}
    new = [(sha, len(parents) < 2) for sha, parents in reversed(graph) if sha not in known]
    wanted = [sha for sha, _ in new]
    files = Files(repository, [sha for sha, is_single in new if is_single])
    del known, new
    names = Names(archive.connection)
    done = missing = 0
    objects = repository.commits(wanted)
    while batch := list(islice(objects, BATCH)):
        read = [(sha, data) for sha, data in batch if data is not None]
        missing += len(batch) - len(read)
        with transaction(archive):
            ids = _insert(archive, names, read)
            found = files.of([sha for sha, _ in batch])
            insert_files(archive, names, [(ids[sha], paths) for sha, paths in found if sha in ids])
        done += len(batch)
        if on_progress is not None:
            on_progress(done, len(wanted))
    return done - missing, missing


def _insert(archive: Archive, names: Names, batch: Sequence[tuple[str, bytes]]) -> dict[str, int]:
    """Write commits and their facts, in the caller's transaction; return their row ids."""
    connection = archive.connection
    from_notices: dict[str, int] = {}
    ids: dict[str, int] = {}
    for start in range(0, len(batch), 500):
        part = [sha for sha, _ in batch[start : start + 500]]
        marks = ", ".join("?" * len(part))
        from_notices.update(
            connection.execute(
                f"SELECT sha, id FROM git_commit WHERE sha IN ({marks})", part
            ).fetchall()
        )
    for table in _FACT_TABLES:
        connection.executemany(
            f"DELETE FROM {table} WHERE git_commit = ?",
            [(id_,) for id_ in from_notices.values()],
        )
    number = next_id(connection, "git_commit")
    commits: list[tuple[object, ...]] = []
    facts: dict[str, list[tuple[object, ...]]] = {table: [] for table in _FACT_TABLES}
    compress = archive.codec.compress
    for sha, data in batch:
        id_ = from_notices.get(sha)
        if id_ is None:
            id_ = number
            number += 1
        ids[sha] = id_
        commit = read_commit(data)
        shaped = shape(commit.message)
        commits.append((id_, sha, *_commit_row(commit, names), compress(data)))
        for table, rows in _fact_rows(shaped):
            facts[table].extend((id_, *row) for row in rows)
    names.flush()
    connection.executemany(
        "INSERT INTO git_commit (id, sha, author, author_time, committer, commit_time, subject,"
        " title_hash, parents, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET author = excluded.author,"
        " author_time = excluded.author_time, committer = excluded.committer,"
        " commit_time = excluded.commit_time, subject = excluded.subject,"
        " title_hash = excluded.title_hash, parents = excluded.parents, data = excluded.data",
        commits,
    )
    for table, rows in facts.items():
        if rows:
            columns = _COLUMNS[table]
            marks = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
    return ids


def redo_commits(archive: Archive, on_progress: Callable[[int], None] | None = None) -> int:
    """Write the facts of all commits that trees brought anew, as they are read now.

    Their objects are in the archive: no repository is asked.  Return how many.
    """
    names = Names(archive.connection)
    done = last = 0
    while rows := archive.execute(
        "SELECT id, sha, data FROM git_commit WHERE id > ? AND data IS NOT NULL"
        " ORDER BY id LIMIT ?",
        (last, BATCH),
    ).fetchall():
        batch: list[tuple[str, bytes]] = []
        last = rows[-1][0]
        for _, sha, data in rows:
            with contextlib.suppress(zstandard.ZstdError):  # `check` names it
                batch.append((sha, archive.codec.decompress(data)))
        with transaction(archive):
            _insert(archive, names, batch)
        done += len(batch)
        if on_progress is not None:
            on_progress(done)
    with transaction(archive):
        for table in _FACT_TABLES:
            archive.execute(
                f"DELETE FROM {table} WHERE git_commit NOT IN (SELECT id FROM git_commit)"
            )
    return done


_COLUMNS = {
    "git_commit_ref": "git_commit, relation, position, sha, subject, form, kind, tree, quoted,"
    " line, rule, text, confidence",
    "git_bug_ref": "git_commit, tracker, component, number, name, place, strength, line, rule,"
    " text, confidence",
    "git_link": "git_commit, position, kind, url, message_id",
    "git_cve": "git_commit, name",
    "git_stable_note": "git_commit, position, range, low, high, after, comment, text, line",
}


def _fact_rows(shaped: Shaped) -> Iterator[tuple[str, Iterable[tuple[object, ...]]]]:
    yield "git_commit_ref", shaped.commits
    yield "git_bug_ref", shaped.bugs
    yield "git_link", shaped.links
    yield "git_cve", [(name,) for name in shaped.cves]
    yield "git_stable_note", shaped.notes


def _commit_row(commit: Commit, names: Names) -> tuple[object, ...]:
    return (
        _person(commit.author.person, names),
        commit.author.timestamp,
        _person(commit.committer.person, names),
        commit.committer.timestamp,
        commit.subject,
        title_hash(commit.subject),
        len(commit.parents),
    )


def _person(person: Person, names: Names) -> int | None:
    key = person_key(person)
    return names.people.id_of(key) if any(key) else None


def _store_patch_ids(
    archive: Archive,
    repository: Repository,
    graph: Graph,
    on_progress: Callable[[int, int], None] | None,
) -> int:
    """Store the patch ids of the commits whose one nobody knows yet; return how many."""
    open_ = {
        sha
        for (sha,) in archive.execute(
            "SELECT sha FROM git_commit WHERE patch_id IS NULL AND data IS NOT NULL"
        )
    }
    wanted = [sha for sha, parents in reversed(graph) if sha in open_ and len(parents) < 2]
    found = 0
    for start in range(0, len(wanted), _PATCH_BATCH):
        part = wanted[start : start + _PATCH_BATCH]
        ids = dict(repository.patch_ids(part))
        with transaction(archive):
            # '': there is none, so that it is not asked for again.
            archive.connection.executemany(
                "UPDATE git_commit SET patch_id = ? WHERE sha = ?",
                [(id_, sha) for sha, id_ in ids.items()],
            )
            new = sum(map(bool, ids.values()))
            # How many were ever stored: what compares patch ids sees that there are new ones.
            archive.execute(
                "INSERT INTO meta VALUES ('git_patch_ids', ?1) ON CONFLICT (name)"
                " DO UPDATE SET value = value + ?1",
                (new,),
            )
        found += new
        if on_progress is not None:
            on_progress(start + len(part), len(wanted))
    return found

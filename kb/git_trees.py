"""The rows of a git tree: its branches and tags, and the place of each of its commits."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from patchlore.ingest.sources.paths import path_text
from patchlore.kb.git_reach import PlaceRef, Reach, parse_text, reach, refs_of, text_of
from patchlore.kb.git_repository import Graph, Ref, Repository, state_of
from patchlore.kb.interning import next_id
from patchlore.kb.store import Archive
from patchlore.kb.versions import rank, tree_name

#: Tags that name a version: v5.10, v5.10-rc3, 20.11.4, linux-6.1, v2.6.32.9, gcc-12.2.0.
_VERSION_TAG = re.compile(
    r"(?:[A-Za-z]+[-_/])?v?\d{1,4}(?:[._]\d{1,4}){1,4}(?:r\d{1,2})?(?P<rest>[-_.~]?[a-z].*)?",
    re.IGNORECASE,
)
#: Commits of a tree, in SQL.
_OF_TREE = (
    "place IN (SELECT place FROM git_place_ref JOIN git_ref ON git_ref.id = ref WHERE tree = ?)"
)
_CANDIDATE = re.compile(r"rc|alpha|beta|pre|dev|test", re.IGNORECASE)


def is_release(tag: str) -> bool:
    """Whether a tag names a version that is no candidate: ``v5.10`` is, ``v5.10-rc3`` isn't."""
    match = _VERSION_TAG.fullmatch(tag)
    return match is not None and not _CANDIDATE.search(match["rest"] or "")


def stable_trees(tree: str, branches: Iterable[str]) -> dict[str, str]:
    """Return which branches of a tree are those of stable trees, by name.

    In a tree named like a stable tree those that are named like it
    (``linux-5.10.y`` in ``5.10.y``), or all branches when none is; in another one
    each that is named like some stable tree (``stable/linux-6.1.y``, ``20.11``).
    """
    named = {
        branch: tree_name(last)
        for branch in branches
        if rank(last := branch.rpartition("/")[2]) is not None
    }
    if rank(tree) is None:
        return named
    own = {branch: name for branch, name in named.items() if name == tree}
    return own or dict.fromkeys(branches, tree)


class Tree:
    """The rows of one tree: what it was when it was read last, and what it is now."""

    def __init__(
        self, archive: Archive, name: str, repository: Repository, refs: list[Ref]
    ) -> None:
        """Take the archive, the tree's name (as tree_name has it), and what the repository has."""
        self.name = name
        self._archive = archive
        self._connection = archive.connection
        self._repository = repository
        self._refs = refs
        self._state = state_of(refs) + (" shallow" if repository.is_shallow else "")
        self._row = archive.execute(
            "SELECT id, state, patch_ids, path FROM git_tree WHERE name = ?", (name,)
        ).fetchone()

    def is_current(self, *, patch_ids: bool) -> bool:
        """Whether no ref has moved since the tree was read, and no ids are asked for anew."""
        if self._row is None or self._row[1] != self._state:
            return False
        return not patch_ids or (bool(self._row[2]) and not self._lacks_patch_ids())

    def _lacks_patch_ids(self) -> bool:
        """Whether commits of the tree were never asked for their patch ids, or did not have them.

        They came in a run that asked for none, or with a partial clone.
        """
        return bool(
            self._archive.value(
                "SELECT EXISTS (SELECT 1 FROM git_commit WHERE patch_id IS NULL AND parents < 2"
                f" AND data IS NOT NULL AND {_OF_TREE})",
                (self._row[0],),
            )
        )

    def replaced_by(self, graph: Graph) -> str | None:
        """Return the path of the tree as it was, where ``graph`` has no commit of it: a mistake?"""
        if self._row is None:
            return None
        here = {sha for sha, _ in graph}
        before = self._archive.execute(
            f"SELECT sha FROM git_commit WHERE {_OF_TREE}", (self._row[0],)
        )
        known = [sha in here for (sha,) in before]
        return None if any(known) or not known else str(self._row[3])

    def count_commits(self) -> int:
        """How many commits the tree has, as it was read last."""
        return int(
            self._archive.value(
                f"SELECT count(*) FROM git_commit WHERE {_OF_TREE}", (self._row[0],)
            )
        )

    def store(self, graph: Graph, *, patch_ids: bool, is_whole: bool = True) -> None:
        """Write tree, refs and the place of each commit; in the caller's transaction.

        One of which commits were missing is never current: they may be there the next time.
        """
        self._connection.execute(
            "INSERT INTO git_tree (name, path, state, is_shallow, patch_ids)"
            " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET path = ?2, state = ?3,"
            " is_shallow = ?4, patch_ids = max(patch_ids, ?5)",
            (
                self.name,
                path_text(self._repository.git_dir),
                self._state + ("" if is_whole else " missing"),
                self._repository.is_shallow,
                patch_ids,
            ),
        )
        tree = int(self._archive.value("SELECT id FROM git_tree WHERE name = ?", (self.name,)))
        ids = self._store_refs(tree)
        branches = [ref for ref in self._refs if ref.kind == "branch"]
        tags = sorted(
            (ref for ref in self._refs if ref.kind == "tag"),
            key=lambda ref: (ref.timestamp or 0, ref.name),
        )
        tags = [ref for ref in tags if _VERSION_TAG.fullmatch(ref.name)]
        reached = reach(
            graph,
            [ref.sha for ref in branches],
            [(ref.sha, is_release(ref.name)) for ref in tags],
        )
        branch_ids = [ids[ref.kind, ref.name] for ref in branches]
        tag_ids = [ids[ref.kind, ref.name] for ref in tags]
        places = _Places(self._connection, tree)
        here: dict[Reach, tuple[PlaceRef, ...]] = {}
        moved: list[tuple[int | None, int]] = []
        for id_, sha, place in self._connection.execute("SELECT id, sha, place FROM git_commit"):
            found = reached.get(sha)
            refs: tuple[PlaceRef, ...] = ()
            if found is not None:
                if found not in here:
                    here[found] = tuple(refs_of(found, branch_ids, tag_ids))
                refs = here[found]
            new = places.with_refs(place, refs)
            if new != place:
                moved.append((new, id_))
        places.flush()
        self._connection.executemany("UPDATE git_commit SET place = ? WHERE id = ?", moved)
        self._connection.execute(
            "DELETE FROM git_place_ref WHERE place NOT IN"
            " (SELECT place FROM git_commit WHERE place IS NOT NULL)"
        )
        self._connection.execute(
            "DELETE FROM git_place WHERE id NOT IN"
            " (SELECT place FROM git_commit WHERE place IS NOT NULL)"
        )

    def _store_refs(self, tree: int) -> dict[tuple[str, str], int]:
        stable = stable_trees(self.name, [ref.name for ref in self._refs if ref.kind == "branch"])
        self._connection.execute("UPDATE git_ref SET sha = '' WHERE tree = ?", (tree,))
        self._connection.executemany(
            "INSERT INTO git_ref (tree, kind, name, sha, timestamp, stable_tree, is_release)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (tree, kind, name) DO UPDATE SET"
            " sha = ?4, timestamp = ?5, stable_tree = ?6, is_release = ?7",
            [
                (
                    tree,
                    ref.kind,
                    ref.name,
                    ref.sha,
                    ref.timestamp,
                    stable.get(ref.name) if ref.kind == "branch" else None,
                    ref.kind == "tag" and is_release(ref.name),
                )
                for ref in self._refs
            ],
        )
        rows = self._connection.execute(
            "SELECT kind, name, id FROM git_ref WHERE tree = ? AND sha <> ''", (tree,)
        )
        return {(kind, name): id_ for kind, name, id_ in rows}


class _Places:
    """The table git_place while a tree is written: what other trees say of a place stays."""

    def __init__(self, connection: sqlite3.Connection, tree: int) -> None:
        self._connection = connection
        rows = connection.execute("SELECT id FROM git_ref WHERE tree = ?", (tree,))
        self._own = {id_ for (id_,) in rows}
        rows = connection.execute("SELECT id, text FROM git_place")
        self._others = {
            id_: tuple(ref for ref in parse_text(text) if ref[0] not in self._own)
            for id_, text in rows
        }
        self._ids = {
            text: id_ for id_, text in connection.execute("SELECT id, text FROM git_place")
        }
        self._next = next_id(connection, "git_place")
        self._new: list[tuple[int, str]] = []
        self._known: dict[tuple[int | None, tuple[PlaceRef, ...]], int | None] = {}

    def with_refs(self, place: int | None, refs: tuple[PlaceRef, ...]) -> int | None:
        """Return the place that a commit of ``place`` has when this tree says ``refs`` of it."""
        key = (place, refs)
        if key in self._known:
            return self._known[key]
        others = () if place is None else self._others[place]
        text = text_of((*others, *refs))
        found = self._ids.get(text) if text else None
        if found is None and text:
            found = self._ids[text] = self._next
            self._new.append((self._next, text))
            self._next += 1
        self._known[key] = found
        return found

    def flush(self) -> None:
        """Write the places that are new."""
        self._connection.executemany("INSERT INTO git_place VALUES (?, ?)", self._new)
        self._connection.executemany(
            "INSERT INTO git_place_ref VALUES (?, ?, ?)",
            [(id_, *ref) for id_, text in self._new for ref in parse_text(text)],
        )

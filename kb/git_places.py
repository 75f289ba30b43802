"""Which places of commits belong to a tree, to the mainline, to other stable trees."""

from __future__ import annotations

from collections.abc import Iterable

from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_for
from patchlore.kb.versions import parse_version, rank

#: Branches that are what a project calls its mainline; the others of such a
#: repository are topics, whose commits may never get there.
_MAIN_BRANCHES = frozenset({"master", "main", "default", "trunk", "mainline", "linus"})

#: Names under which people read the mainline.
_MAINLINES = frozenset({"mainline", "linus", "torvalds", "upstream"})


class GitPlaces:
    """The places of an archive (kb/schema.sql, git_place) as they are to one stable tree.

    A commit is in a tree when its place is: so one number is asked for each
    commit, however many refs there are.
    """

    def __init__(self, archive: Archive, tree: str) -> None:
        """Read the places; ``tree`` is the one name of a tree."""
        rows = archive.execute(
            "SELECT p.place, p.role, r.name, r.stable_tree, t.id, t.name, t.is_shallow"
            " FROM git_place_ref AS p JOIN git_ref AS r ON r.id = p.ref"
            " JOIN git_tree AS t ON t.id = r.tree WHERE r.sha <> ''"
        ).fetchall()
        strangers = _strangers(archive, tree)
        rows = [row for row in rows if row[4] not in strangers]
        main = _main_branches(rows)
        #: Those of the tree's branch.
        self.own: set[int] = set()
        #: Those of the mainline: what is merged.
        self.upstream: set[int] = set()
        #: Stable tree to the places of its branches.
        self.stable: dict[str, set[int]] = {}
        #: The rank (patchlore.kb.versions) of the first mainline version that has a place.
        self.first_version: dict[int, int] = {}
        #: Repositories (row ids) with a branch of the tree.
        self._homes: set[int] = set()
        shallow = False
        trees: dict[str, set[int]] = {}
        for place, role, name, stable, id_, repository, is_shallow in rows:
            if role == "branch":
                if stable is not None:
                    self.stable.setdefault(stable, set()).add(place)
                    trees.setdefault(stable, set()).add(id_)
                if tree == (repository if stable is None else stable):
                    self.own.add(place)
                    self._homes.add(id_)
                    shallow = shallow or bool(is_shallow)
                if (id_, name) in main:
                    self.upstream.add(place)
            else:
                version = parse_version(name.rpartition("/")[2])
                if version is not None and (version.major < 3 or version.patch == 0):
                    known = self.first_version.get(place)
                    if known is None or version.rank < known:
                        self.first_version[place] = version.rank
        #: Whether all that the tree's branch has is known: it was read, and not cut off.
        self.is_complete = bool(self.own) and not shallow
        #: Stable trees of the repositories that have the tree.
        self.siblings = {name for name, homes in trees.items() if homes & self._homes}

    def is_own_of_stable(self, place: int | None) -> bool:
        """Whether a place has commits that were made for stable trees, none of the mainline's."""
        return (
            place is not None
            and place not in self.upstream
            and place not in self.first_version
            and any(place in places for places in self.stable.values())
        )

    def is_base(self, place: int | None, tree: str) -> bool:
        """Whether a place is in the mainline's versions up to the one that the tree is made from.

        A version candidate counts as its version: v5.10-rc3 is in 5.10.
        """
        version, wanted = self.first_version.get(place or 0), rank(tree)
        return version is not None and wanted is not None and version <= wanted


def _strangers(archive: Archive, tree: str) -> set[int]:
    """Repositories (row ids) of other projects: with versions, but none of the tree and no branch.

    Their v2.0 says nothing of a kernel.  A repository most of whose versions are known
    as the kernel's is no stranger to a tree of the kernel.
    """
    if rank(tree) is None:  # a name says nothing of versions
        return set()
    kernels = trees_for(archive).first_releases
    versions: dict[int, set[str]] = {}
    for id_, kind, name, stable, repository in archive.execute(
        "SELECT t.id, r.kind, r.name, r.stable_tree, t.name FROM git_ref AS r"
        " JOIN git_tree AS t ON t.id = r.tree WHERE r.sha <> ''"
    ):
        found = versions.setdefault(id_, set())
        version = parse_version(name.rpartition("/")[2]) if kind == "tag" else None
        if version is not None:
            found.add(version.tree)
        elif kind == "branch":
            found |= {stable, repository} & {tree}
    return {
        id_
        for id_, found in versions.items()
        if found
        and tree not in found
        and not (tree in kernels and 2 * sum(name in kernels for name in found) >= len(found))
    }


def _main_branches(rows: Iterable[tuple[object, ...]]) -> set[tuple[object, object]]:
    """The (repository, branch) pairs that are a mainline.

    Branches with the usual names; in a repository with none of them, and none of
    stable trees, all branches.  Where a repository is read under a name of the
    mainline, the others are a vendor's or somebody's own, and none of them counts.
    """
    branches: dict[object, dict[object, bool]] = {}
    for _, role, name, stable, id_, repository, _ in rows:
        if role == "branch" and rank(str(repository)) is None:
            branches.setdefault(id_, {})[name] = stable is not None
    called = {id_ for _, _, _, _, id_, repository, _ in rows if repository in _MAINLINES}
    found = set()
    for id_, names in branches.items():
        if called and id_ not in called:
            continue
        main = {name for name in names if str(name).rpartition("/")[2] in _MAIN_BRANCHES}
        if not main and not any(names.values()):
            main = set(names)
        found |= {(id_, name) for name in main if not names[name]}
    return found

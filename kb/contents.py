"""What a stable tree has of the commits upstream, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.events import Event
from patchlore.kb.fix_graph import Graph, Record, Ref, Target, Upstream, is_mainline_version
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.merge import even_out, title_hash
from patchlore.kb.store import Archive
from patchlore.kb.title_reverts import reverts_by_title
from patchlore.kb.versions import parse_version, rank, short_name

CERTAIN, HIGH, MEDIUM = range(3)


class Presence(Struct):
    """That a tree has a commit: as it is or as a backport."""

    sha: str
    #: As people say it: ``released in 5.10.7``, ``in it from the start (5.9)``.
    words: str
    is_backport: bool
    confidence: int


class Contents:
    """The commits upstream that a tree has, and what is known of those that it lacks."""

    def __init__(
        self,
        archive: Archive,
        tree: str,
        places: GitPlaces,
        graph: Graph,
        landed: Mapping[str, Event],
    ) -> None:
        """Take what was read; ``landed`` are the commits whose backports the tree has."""
        self._archive = archive
        self._tree = tree
        self._rank = rank(tree)
        self._places = places
        self._landed = dict(landed)
        self._records = _records_of(graph.records, tree)
        #: Fixes in the mainline to the version that first had them, as CVE records say.
        self._fixed_in = {
            record.fixed: record.fixed_version or ""
            for record in graph.records
            if record.is_mainline and record.fixed is not None
        }
        self._undone = _undone(archive, places)
        #: Whether all that the tree has is known, since its repository was read.
        self.is_complete = places.is_complete
        #: Whether mail tells of the tree's queue or releases.
        self.is_told = bool(
            archive.value(
                "SELECT EXISTS (SELECT 1 FROM message WHERE notice IS NOT NULL"
                " AND notice_tree = ?)",
                (tree,),
            )
        )

    def find(self, target: Target) -> Presence | None:
        """Return that the tree has a commit (or a backport of it), None when that is not known."""
        if target.is_ambiguous:
            return None
        for sha in (target.sha, *target.upstream):
            event = self._landed.get(sha)
            if event is not None:
                return Presence(sha, event.words(), True, CONFIDENCES.index(event.confidence))
            record = self._records.get(sha)
            if record is not None:
                return Presence(sha, f"fixed in {record.fixed_version}", True, CERTAIN)
        if not self._undone.isdisjoint((target.sha, *target.upstream)):
            return None
        for place in (target.place, *target.upstream_places):
            is_own = place in self._places.own
            if is_own or (not self.is_complete and self._places.is_base(place, self._tree)):
                return Presence(target.sha, self._since(place), False, CERTAIN)
        return None

    def find_named(self, ref: Ref) -> Presence | None:
        """As ``find``, of what a line names: also by the version or the title that it gives."""
        found = self.find(ref.target)
        if found is not None or ref.target.is_ambiguous:
            return found
        version = None if ref.version is None else parse_version(ref.version)
        if version is not None and self._rank is not None and ref.target.sha not in self._undone:
            mainline = is_mainline_version(ref.version)
            if version.rank == self._rank or (mainline and version.rank < self._rank):
                return Presence(ref.target.sha, f"in it since {ref.version}", not mainline, CERTAIN)
        if ref.target.id is None and ref.subject:
            return self._by_title(ref)
        return None

    def lacks(self, ref: Ref) -> int | None:
        """How sure it is (0 certain to 2 medium) that the tree lacks what a line names.

        Only of what ``find_named`` doesn't find; None when the tree may well have it.
        """
        target = ref.target
        if target.is_ambiguous:
            return None
        if self.is_complete:
            # A commit that no repository has may be a slip of the pen: nothing follows.
            return CERTAIN if target.id is not None else None
        version = None if ref.version is None else parse_version(ref.version)
        known = self._places.first_version.get(target.place or 0)
        first = version.rank if version is not None else known
        if first is None or self._rank is None or first <= self._rank or not self.is_told:
            return None
        return MEDIUM

    def lacks_surely(self, ref: Ref) -> bool:
        """Whether the tree is known not to have what a line names."""
        return self.find_named(ref) is None and self.lacks(ref) == CERTAIN

    def is_upstream(self, place: int | None) -> bool:
        """Whether commits of a place are in the mainline or in the tree."""
        return place in self._places.upstream or place in self._places.own

    def record_of(self, sha: str) -> Record | None:
        """Return the CVE record that says in which release of the tree a commit is."""
        return self._records.get(sha)

    def first_version(self, commit: Upstream) -> int | None:
        """Return the rank of the mainline version that first had a commit, None if not known."""
        known = self._places.first_version.get(commit.place or 0)
        if known is None and commit.sha in self._fixed_in:
            version = parse_version(self._fixed_in[commit.sha])
            return None if version is None else version.rank
        return known

    def _since(self, place: int | None) -> str:
        first = self._places.first_version.get(place or 0)
        if first is None:
            return "in it"
        major, minor, third = first // 1_000_000, first // 1000 % 1000, first % 1000
        name = short_name(f"{major}.{minor}.{third}" if major < 3 else f"{major}.{minor}")
        if self._rank is not None and first > self._rank:
            return "in it"
        return f"in it from the start, since {name}"

    def _by_title(self, ref: Ref) -> Presence | None:
        """The one commit of the tree with the title that stands beside digits of no commit."""
        rows = self._archive.execute(
            "SELECT sha, place, subject FROM git_commit WHERE title_hash = ?",
            (title_hash(ref.subject),),
        ).fetchall()
        own = [
            sha
            for sha, place, subject in rows
            if place in self._places.own and even_out(subject) == even_out(ref.subject)
        ]
        if len(own) != 1 or own[0] in self._undone:
            return None
        return Presence(own[0], "in it under this title", False, HIGH)


def _records_of(records: Iterable[Record], tree: str) -> dict[str, Record]:
    """Commits upstream that CVE records say to be fixed in a version of the tree.

    A record pairs the mainline's fix with those of the stable trees by their CVE.
    """
    mainline: dict[str, str] = {}
    own: dict[str, Record] = {}
    for record in records:
        if record.is_mainline and record.fixed is not None:
            mainline[record.cve] = record.fixed
        elif record.fixed is not None:
            version = parse_version(record.fixed_version or "")
            if version is not None and version.tree == tree:
                own[record.cve] = record
    return {mainline[cve]: record for cve, record in own.items() if cve in mainline}


def _undone(archive: Archive, places: GitPlaces) -> set[str]:
    """Commits that a tree has and that a later commit of it took back, by whole ids.

    A revert of the revert brings them back.
    """
    if not places.own:
        return set()
    numbers = ", ".join(str(place) for place in sorted(places.own))
    rows = archive.execute(
        "SELECT c.id, c.sha, t.sha FROM git_commit_ref AS r"
        " CROSS JOIN git_commit AS c ON c.id = r.git_commit"
        " CROSS JOIN git_commit AS t ON t.sha >= r.sha AND t.sha < r.sha || 'g'"
        f" WHERE r.relation IN ('reverts', 'reverted-upstream') AND c.place IN ({numbers})"
        " AND NOT EXISTS (SELECT 1 FROM git_commit_ref AS p WHERE p.git_commit = c.id"
        " AND p.relation = 'partial-revert' AND p.sha = r.sha) ORDER BY c.id"
    ).fetchall()
    reverted_by: dict[str, set[str]] = {}
    undone: set[str] = set()
    titled = reverts_by_title(archive, places.own, places.own)
    rows += [(revert.id, revert.sha, revert.target) for revert in titled]
    for _, sha, target in sorted(rows):
        if target in reverted_by:
            undone -= reverted_by[target]
        else:
            undone.add(target)
            reverted_by.setdefault(sha, set()).add(target)
    return undone

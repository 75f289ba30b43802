"""What git trees say of a commit: itself, where it is, its backports, which commits name it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchlore.ingest.commit_message import Commit, read_commit
from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.edges_commits import SameChange, carried_by
from patchlore.kb.errors import NotFoundError
from patchlore.kb.store import Archive
from patchlore.kb.versions import sort_key

#: Relations by which a commit's message names another, in the order in which they are told.
RELATIONS = ("fixes", "reverts", "partial-revert", "reverted-upstream", "stable-dep-of")

#: ``InTree.how`` of a backport without a marker (patchlore.kb.edges_commits).
SAME_CHANGE = "same change"


class Place(Struct, kw_only=True):
    """A tree that has a commit: the repository's name, or the stable tree of its branches.

    ``tag`` is the first tag of the repository that contains the commit, ``release``
    the first that is no candidate; None where none does yet.
    """

    tree: str
    branches: list[str]
    tag: str | None = None
    tagged: int | None = None
    release: str | None = None
    released: int | None = None

    @property
    def since(self) -> str | None:
        """The first release with the commit, else the first tag."""
        return self.release or self.tag


class GitCommit(Struct, kw_only=True):
    """A commit that a tree has or a notice carries (``message_id`` is the notice's)."""

    id: int
    sha: str
    subject: str
    author: str | None
    author_time: int | None
    committer: str | None
    commit_time: int | None
    parents: int
    patch_id: str | None
    message_id: str | None
    places: list[Place]


class InTree(Struct, kw_only=True):
    """A commit or a backport of it in a tree; ``how`` is ``itself`` or the marker's form.

    ``sha`` is the commit that is there and the evidence, with the line of its
    message that says so.  Without a marker ``how`` is ``same change``, and ``text``
    tells what both commits have in common.
    """

    tree: str
    sha: str
    subject: str
    how: str
    by: str | None
    commit_time: int | None
    branches: list[str]
    tag: str | None
    tagged: int | None
    release: str | None
    released: int | None
    relation: str | None = None
    line: int | None = None
    text: str | None = None
    confidence: Confidence = "certain"

    @property
    def since(self) -> str | None:
        """The first release with the commit, else the first tag."""
        return self.release or self.tag


class GitNaming(Struct, kw_only=True):
    """A commit whose message names another one (``relation``), and the line.

    ``backports`` counts further commits of the same title that say the same:
    its backports.
    """

    relation: str
    sha: str
    subject: str
    commit_time: int | None
    trees: list[str]
    line: int | None
    text: str | None
    confidence: Confidence
    backports: int = 0


_COMMIT = (
    "SELECT c.id, c.sha, c.subject, coalesce(nullif(a.name, ''), a.email), c.author_time,"
    " coalesce(nullif(b.name, ''), b.email), c.commit_time, c.parents, nullif(c.patch_id, ''),"
    " (SELECT key FROM mail WHERE mail.id = c.message), c.place FROM git_commit AS c"
    " LEFT JOIN person AS a ON a.id = c.author LEFT JOIN person AS b ON b.id = c.committer WHERE "
)

_IN_TREE = "c.sha, c.subject, coalesce(nullif(b.name, ''), b.email), c.commit_time, c.place"
_COMMITTED = " FROM git_commit AS c LEFT JOIN person AS b ON b.id = c.committer"


class Places:
    """Places by number, each read once."""

    def __init__(self, archive: Archive) -> None:
        """Take the archive."""
        self._archive = archive
        self._known: dict[int, list[Place]] = {}

    def of(self, place: int | None) -> list[Place]:
        """Return the trees of a place, stable trees newest first, others after them."""
        if place is None:
            return []
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = self._read(place)
        return found

    def _read(self, place: int) -> list[Place]:
        rows = self._archive.execute(
            "SELECT git_tree.name, role, git_ref.name, stable_tree, timestamp FROM git_place_ref"
            " JOIN git_ref ON git_ref.id = ref JOIN git_tree ON git_tree.id = git_ref.tree"
            " WHERE place = ? ORDER BY git_ref.name",
            (place,),
        ).fetchall()
        tags = {(tree, role): (name, time) for tree, role, name, _, time in rows}
        trees: dict[tuple[str, str], list[str]] = {}
        for tree, role, name, stable, _ in rows:
            if role == "branch":
                trees.setdefault((stable or tree, tree), []).append(name)
        for tree, role, *_ in rows:  # a tag on no branch: a release branch that was deleted
            if role == "tag" and all(source != tree for _, source in trees):
                trees.setdefault((tree, tree), [])
        found = []
        for (shown, tree), branches in trees.items():
            tag, tagged = tags.get((tree, "tag"), (None, None))
            release, released = tags.get((tree, "release"), (None, None))
            found.append(
                Place(
                    tree=shown,
                    branches=branches,
                    tag=tag,
                    tagged=tagged,
                    release=release,
                    released=released,
                )
            )
        return sorted(found, key=lambda item: sort_key(item.tree))


def git_commits(archive: Archive, shas: Sequence[str]) -> list[GitCommit]:
    """Return the commits that are known from git or a notice among ``shas`` (whole ids)."""
    places = Places(archive)
    found = []
    for sha in shas:
        row = archive.execute(_COMMIT + "c.sha = ?", (sha,)).fetchone()
        if row is not None:
            found.append(
                GitCommit(
                    id=row[0],
                    sha=row[1],
                    subject=row[2],
                    author=row[3],
                    author_time=row[4],
                    committer=row[5],
                    commit_time=row[6],
                    parents=row[7],
                    patch_id=row[8],
                    message_id=row[9],
                    places=places.of(row[10]),
                )
            )
    return found


def read_stored(archive: Archive, sha: str) -> Commit | None:
    """Return the commit as git has it, None if a notice carries it; raises NotFoundError."""
    row = archive.execute("SELECT data FROM git_commit WHERE sha = ?", (sha,)).fetchone()
    if row is None:
        raise NotFoundError(f"No tree in the archive has the commit {sha}.")
    return None if row[0] is None else read_commit(archive.codec.decompress(row[0]))


def trees_with(archive: Archive, shas: Sequence[str]) -> list[InTree]:
    """Return the trees that have a commit (all its spellings given) or a backport of it.

    The commit itself first; then backports by their markers or, without one, by
    their change, stable trees newest first.
    """
    places = Places(archive)
    found: list[InTree] = []
    carriers: dict[int, SameChange] = {}
    for sha in shas:
        row = archive.execute(
            f"SELECT {_IN_TREE}, c.id{_COMMITTED} WHERE c.sha = ?", (sha,)
        ).fetchone()
        if row is not None:
            found += _in_trees(places, row[:5], "itself", None, None, None, 0)
            carriers |= carried_by(archive, row[5])
    backports: list[InTree] = []
    for id_, same in carriers.items():
        row = archive.execute(f"SELECT {_IN_TREE}{_COMMITTED} WHERE c.id = ?", (id_,)).fetchone()
        sure = CONFIDENCES.index(same.confidence)
        backports += _in_trees(places, row, SAME_CHANGE, None, None, same.words, sure)
    for sha in shas:
        rows = archive.execute(
            "SELECT c.sha, c.subject, coalesce(nullif(b.name, ''), b.email), c.commit_time,"
            " c.place, r.form, r.kind, r.line, r.text, r.confidence FROM git_commit_ref AS r"
            " JOIN git_commit AS c ON c.id = r.git_commit"
            " LEFT JOIN person AS b ON b.id = c.committer"
            " WHERE r.sha = ? AND r.relation = 'upstream' AND coalesce(r.kind, '') <> 'request'"
            " ORDER BY c.id",
            (sha,),
        ).fetchall()
        for row in rows:
            backports += _in_trees(places, row[:5], row[5] or "marker", *row[6:])
    backports.sort(key=lambda item: (*sort_key(item.tree), item.commit_time or 0))
    return found + backports


def _in_trees(
    places: Places,
    row: Sequence[object],
    how: str,
    relation: str | None,
    line: int | None,
    text: str | None,
    confidence: int,
) -> Iterable[InTree]:
    sha, subject, by, time, place = row
    for item in places.of(place if isinstance(place, int) else None):
        yield InTree(
            tree=item.tree,
            sha=str(sha),
            subject=str(subject),
            how=how,
            by=None if by is None else str(by),
            commit_time=time if isinstance(time, int) else None,
            branches=item.branches,
            tag=item.tag,
            tagged=item.tagged,
            release=item.release,
            released=item.released,
            relation=relation,
            line=line,
            text=text,
            confidence=CONFIDENCES[confidence],
        )


def git_namings(archive: Archive, shas: Sequence[str]) -> list[GitNaming]:
    """Return the commits whose messages name a commit (all its spellings given), oldest first.

    Backports that repeat the tag of the commit they are of are counted with it.
    """
    places = Places(archive)
    marks = ", ".join("?" * len(shas))
    rows = archive.execute(
        "SELECT r.relation, c.sha, c.subject, c.title_hash, c.commit_time, c.place, r.line, r.text,"
        " r.confidence, EXISTS (SELECT 1 FROM git_commit_ref AS u WHERE u.git_commit = c.id"
        " AND u.relation = 'upstream') FROM git_commit_ref AS r"
        f" JOIN git_commit AS c ON c.id = r.git_commit WHERE r.sha IN ({marks})"
        " AND NOT r.quoted ORDER BY 10, c.commit_time, c.id",
        list(shas),
    ).fetchall()
    found: dict[tuple[str, int | None], GitNaming] = {}
    for relation, sha, subject, title, time, place, line, text, confidence, _ in rows:
        if relation not in RELATIONS:
            continue
        known = found.get((relation, title))
        if known is not None:
            known.backports += known.sha != sha
            continue
        found[relation, title] = GitNaming(
            relation=relation,
            sha=sha,
            subject=subject,
            commit_time=time,
            trees=[item.tree for item in places.of(place)],
            line=line,
            text=text,
            confidence=CONFIDENCES[confidence],
        )
    return sorted(
        found.values(), key=lambda item: (RELATIONS.index(item.relation), item.commit_time or 0)
    )

"""The same change under other ids: which upstream commit a commit of a stable tree carries.

For commits that no marker connects.  What is compared: the patch id, the author
date (git cherry-pick keeps it), title and author.  Where these say that two are one
change, though their patch ids don't, the changed lines have the last word; where the
caller lets git read more diffs, they are compared for their own sake, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.edges_likeness import CommitDiffs, alike, likeness, titles_alike
from patchlore.kb.edges_rules import CERTAIN, HIGH, LOW, MEDIUM
from patchlore.kb.merge import PersonKey, senders_agree
from patchlore.kb.store import Archive

_DAY = 86400
#: Clocks differ, and a maintainer may take a fix before it is in the mainline's tree.
_BEFORE = 30 * _DAY
#: A title that more commits have ("doc: fix typos", a version's) proves nothing alone.
_COMMON = 6
#: Upstream commits of one author that are compared by their diffs.
_MOST = 60

#: Changed lines that are alike enough to be one change, with a title or an author in common.
_ALIKE = 0.5
#: So alike are the lines of a backport to upstream's; with less a doubt is left, with
#: hardly any they are two changes.
_BACKPORT, _CONTRADICTS = 0.3, 0.1

_COLUMNS = (
    "c.id, c.sha, c.subject, c.title_hash, c.author_time, c.commit_time, nullif(c.patch_id, ''),"
    " coalesce(p.name, ''), coalesce(p.email, ''), coalesce(p.masked, ''), c.place"
)
_FROM = " FROM {} LEFT JOIN person AS p ON p.id = c.author WHERE c.parents < 2"
#: A vendor's branch has backports, too: a commit with a marker is upstream of none.
_UNMARKED = (
    " AND NOT EXISTS (SELECT 1 FROM git_commit_ref AS m WHERE m.git_commit = c.id"
    " AND m.relation = 'upstream' AND m.kind = 'backport')"
)
#: What brings two commits together, by the indexes of git_commit.
_PAIRS = (
    "asked AS a CROSS JOIN git_commit AS x ON x.id = a.id"
    " CROSS JOIN git_commit AS c ON c.patch_id = x.patch_id AND x.patch_id <> ''",
    "asked AS a CROSS JOIN git_commit AS x ON x.id = a.id"
    " CROSS JOIN git_commit AS c ON c.author_time = x.author_time",
    "asked AS a CROSS JOIN git_commit AS x ON x.id = a.id"
    " CROSS JOIN git_commit AS c ON c.title_hash = x.title_hash",
)
_BY_AUTHOR = (
    "asked AS a CROSS JOIN git_commit AS x ON x.id = a.id CROSS JOIN person AS q ON q.id = x.author"
    " CROSS JOIN person AS p0 ON p0.email = q.email AND q.email <> ''"
    " CROSS JOIN git_commit AS c ON c.author = p0.id"
)


_WORDS = {
    "patch-id": "patch id",
    "author-date": "author date",
    "title": "title",
    "author": "author",
    "diff": "changed lines",
}


class SameChange(Struct, kw_only=True):
    """An upstream commit whose change another commit carries, and how that is known.

    ``rules`` are ``patch-id``, ``author-date``, ``title``, ``author``, ``diff``.
    """

    #: Row id in git_commit, and the id.
    commit: int
    sha: str
    subject: str
    rules: list[str]
    confidence: Confidence

    @property
    def words(self) -> str:
        """How it is known, in words: ``no marker; same patch id, title and author``."""
        words = [_WORDS[rule] for rule in self.rules]
        listed = " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
        return f"no marker; same {listed}"


class _Commit(Struct):
    id: int
    sha: str
    subject: str
    title: int | None
    author_time: int | None
    commit_time: int | None
    patch_id: str | None
    author: PersonKey
    place: int | None


class _Places:
    """The branches of each place, and which of them are those of no stable tree."""

    def __init__(self, archive: Archive) -> None:
        self._branches: dict[int, set[int]] = {}
        self._upstream: dict[int, int] = {}
        self._tagged: set[int] = set()
        for place, ref, role, stable in archive.execute(
            "SELECT place, ref, role, stable_tree FROM git_place_ref"
            " JOIN git_ref ON git_ref.id = ref"
        ):
            if role == "branch":
                self._branches.setdefault(place, set()).add(ref)
                self._upstream[place] = self._upstream.get(place, 0) + (stable is None)
            else:
                self._tagged.add(place)

    @property
    def has_upstream(self) -> bool:
        """Whether any branch that is none of a stable tree was read."""
        return any(self._upstream.values())

    def is_upstream(self, place: int | None) -> bool:
        """Whether a branch that is none of a stable tree has the commits of a place."""
        return place is not None and self._upstream.get(place, 0) > 0

    def can_be_taken(self, upstream: int | None, place: int | None) -> bool:
        """Whether commits of one place can be upstream of those of another.

        Not where one branch has both: what a branch has already is not taken again.
        """
        if upstream is None or place is None or not self.is_upstream(upstream):
            return False
        return not self._branches.get(upstream, set()) & self._branches.get(place, set())

    def weight(self, place: int | None) -> tuple[bool, int]:
        """What tells a commit that stayed from one of a branch that was rebased."""
        if place is None:
            return (False, 0)
        return (place in self._tagged, self._upstream.get(place, 0))


def same_changes(
    archive: Archive, commits: Collection[int], *, diffs: bool = False
) -> dict[int, SameChange]:
    """Return for commits (row ids of git_commit) the upstream commit whose change each carries.

    Upstream is what a branch has that is none of a stable tree, and that no branch
    has which has the commit itself.  A commit for which none is known with some
    confidence is left out.  With ``diffs`` git reads the changed lines where ids,
    dates and titles leave a doubt, or say nothing: a few milliseconds for each of
    those.  Without, only those of pairs that these signs connect without the patch id.
    Markers are not looked at.
    """
    places = _Places(archive)
    if not commits or not places.has_upstream:
        return {}
    asked = _read(archive, commits)
    asked = {id_: one for id_, one in asked.items() if not places.is_upstream(one.place)}
    if not asked:
        return {}
    archive.execute("CREATE TEMP TABLE IF NOT EXISTS asked (id INTEGER PRIMARY KEY)")
    archive.execute("DELETE FROM temp.asked")
    archive.connection.executemany("INSERT INTO asked VALUES (?)", [(id_,) for id_ in asked])
    found: dict[int, SameChange] = {}
    lines = _Likeness(archive)
    near = _candidates(archive, asked, places)
    judged = {id_: _judged(one, near.get(id_, []), places) for id_, one in asked.items()}
    lines.read(
        commit
        for id_, items in judged.items()
        for item in items[:1]
        if "patch-id" not in item.signs and item.confidence < LOW
        for commit in (asked[id_], item.other)
    )
    for id_, one in asked.items():
        best = _best(one, judged[id_], lines, diffs=diffs)
        if best is not None:
            found[id_] = best
    if diffs:
        left = {id_: one for id_, one in asked.items() if id_ not in found}
        found.update(_by_diff(archive, left, places, lines))
    return found


def carried_by(archive: Archive, commit: int) -> dict[int, SameChange]:
    """Return the commits without a marker that carry the change of an upstream commit.

    A marker that names a commit of no tree is none.  ``commit`` and the keys are row
    ids of git_commit; the values say how that is known.
    """
    rows = archive.execute(
        "SELECT c.id FROM git_commit AS x CROSS JOIN git_commit AS c"
        " ON c.title_hash = x.title_hash OR c.author_time = x.author_time"
        " OR (c.patch_id = x.patch_id AND x.patch_id <> '')"
        " WHERE x.id = ?1 AND c.id <> ?1 AND c.place IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM git_commit_ref AS r WHERE r.git_commit = c.id AND r.relation = 'upstream'"
        " AND coalesce(r.kind, '') <> 'request' AND (length(r.sha) < 40 OR EXISTS"
        " (SELECT 1 FROM git_commit AS u WHERE u.sha = r.sha)))",
        (commit,),
    ).fetchall()
    same = same_changes(archive, [id_ for (id_,) in rows])
    return {id_: one for id_, one in same.items() if one.commit == commit}


def _read(archive: Archive, commits: Iterable[int]) -> dict[int, _Commit]:
    wanted = list(dict.fromkeys(commits))
    found: dict[int, _Commit] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT {_COLUMNS}{_FROM.format('git_commit AS c')} AND c.id IN ({marks})"
        for row in archive.execute(sql, part):
            found[row[0]] = _commit(row)
    return found


def _commit(row: Sequence[object]) -> _Commit:
    id_, sha, subject, title, author_time, time, patch_id, name, email, masked, place = row
    return _Commit(
        id=int(str(id_)),
        sha=str(sha),
        subject=str(subject),
        title=title if isinstance(title, int) else None,
        author_time=author_time if isinstance(author_time, int) else None,
        commit_time=time if isinstance(time, int) else None,
        patch_id=patch_id if isinstance(patch_id, str) else None,
        author=(str(name), str(email).lower(), str(masked)),
        place=place if isinstance(place, int) else None,
    )


def _candidates(
    archive: Archive, asked: dict[int, _Commit], places: _Places
) -> dict[int, list[_Commit]]:
    """The commits that have the patch id, the author date or the title of each."""
    found: dict[int, dict[int, _Commit]] = {}
    for tables in _PAIRS:
        rows = archive.execute(
            f"SELECT a.id, {_COLUMNS}{_FROM.format(tables)} AND c.id <> a.id{_UNMARKED}"
        )
        for row in rows:
            known = found.setdefault(row[0], {})
            if row[1] not in known:
                other = _commit(row[1:])
                if _fits(asked[row[0]], other, places):
                    known[other.id] = other
    return {id_: list(known.values()) for id_, known in found.items()}


def _fits(one: _Commit, other: _Commit, places: _Places) -> bool:
    in_time = (other.commit_time or 0) <= (one.commit_time or 0) + _BEFORE
    return in_time and places.can_be_taken(other.place, one.place)


class _Likeness:
    """How alike the changed lines of two commits are; each diff is read once."""

    def __init__(self, archive: Archive) -> None:
        self._diffs = CommitDiffs(archive)

    def read(self, commits: Iterable[_Commit]) -> None:
        """Read the diffs of many commits at once."""
        self._diffs.read((one.id, one.sha) for one in commits)

    def weigh(self, one: _Commit, item: _Judged) -> int | None:
        """How sure the signs of a pair are beside its lines; None where those say otherwise."""
        first = self._diffs.of(one.id, one.sha, None)
        second = self._diffs.of(item.other.id, item.other.sha, None)
        score = likeness(first, second)
        if score is None or score >= _BACKPORT:
            return item.confidence
        if score >= _CONTRADICTS:
            return item.confidence + 1
        # Title, author and date of one commit, in the same files: it was written anew.
        is_anew = item.confidence == CERTAIN and "author" in item.signs
        return MEDIUM if is_anew and first.files & second.files else None

    def of(self, one: _Commit, other: _Commit) -> float:
        """Return a number from 0 to 1."""
        return alike(
            self._diffs.of(one.id, one.sha, None), self._diffs.of(other.id, other.sha, None)
        )


def _signs(one: _Commit, other: _Commit) -> list[str]:
    """What two commits have in common, the strongest sign first."""
    return [
        rule
        for rule, holds in (
            ("patch-id", one.patch_id is not None and one.patch_id == other.patch_id),
            ("author-date", one.author_time is not None and one.author_time == other.author_time),
            ("title", one.title is not None and one.title == other.title),
            ("author", any(one.author) and senders_agree(one.author, other.author)),
        )
        if holds
    ]


def _judge(signs: Collection[str], one: _Commit, other: _Commit) -> int | None:
    """How sure signs are; None for too little (a series is sent in one second)."""
    strong = [sign for sign in signs if sign != "author"]
    if len(strong) >= 2:
        return CERTAIN
    if "author" not in signs:
        return MEDIUM if "patch-id" in signs else LOW if "title" in signs else None
    if "author-date" in signs and titles_alike(one.subject, other.subject) < 0.3:
        return LOW
    return HIGH


class _Judged(NamedTuple):
    """A commit that may be upstream of one: how it ranks, what both have in common, how sure."""

    key: tuple[object, ...]
    other: _Commit
    signs: list[str]
    confidence: int


def _judged(one: _Commit, others: Sequence[_Commit], places: _Places) -> list[_Judged]:
    """The commits that have something in common with one, the likeliest first."""
    judged = []
    for other in others:
        signs = _signs(one, other)
        confidence = _judge(signs, one, other)
        if confidence is not None:
            order = [rule not in signs for rule in ("patch-id", "author-date", "title", "author")]
            stayed, branches = places.weight(other.place)
            # Of two that are alike in all the later one: it was reverted and applied again.
            key = (confidence, order, not stayed, -branches, -(other.commit_time or 0))
            judged.append(_Judged(key, other, signs, confidence))
    return sorted(judged, key=lambda item: item.key)


def _best(
    one: _Commit, judged: Sequence[_Judged], lines: _Likeness, *, diffs: bool
) -> SameChange | None:
    """The likeliest of the commits that have something in common with one."""
    if not judged:
        return None
    chosen, confidence = judged[0], judged[0].confidence
    tied = [item for item in judged if item.key[:2] == judged[0].key[:2]]
    unsure = confidence >= LOW or (len({item.other.title for item in tied}) < len(tied) > 1)
    if diffs and "patch-id" not in chosen.signs and unsure:
        scored = [(lines.of(one, item.other), item) for item in judged[:_COMMON]]
        best, item = max(scored, key=lambda pair: pair[0])
        if best >= _ALIKE:
            return _same(item.other, [*item.signs, "diff"], min(item.confidence, HIGH))
    for item in judged[:_COMMON]:
        if item.confidence >= LOW:
            break
        sure = item.confidence if "patch-id" in item.signs else lines.weigh(one, item)
        if sure is not None and sure < LOW:
            return _same(item.other, item.signs, sure)
    return None


def _same(other: _Commit, rules: list[str], confidence: int) -> SameChange:
    return SameChange(
        commit=other.id,
        sha=other.sha,
        subject=other.subject,
        rules=rules,
        confidence=CONFIDENCES[confidence],
    )


def _by_diff(
    archive: Archive, left: dict[int, _Commit], places: _Places, lines: _Likeness
) -> Iterator[tuple[int, SameChange]]:
    """Yield the commits whose changed lines are alike, of one author and about the same files."""
    archive.execute("DELETE FROM temp.asked")
    archive.connection.executemany("INSERT INTO asked VALUES (?)", [(id_,) for id_ in left])
    near: dict[int, list[tuple[float, _Commit]]] = {}
    rows = archive.execute(
        f"SELECT a.id, {_COLUMNS}{_FROM.format(_BY_AUTHOR)} AND c.id <> a.id{_UNMARKED}"
    )
    for row in rows:
        one, other = left[row[0]], _commit(row[1:])
        close = titles_alike(one.subject, other.subject)
        if close >= 0.2 and _fits(one, other, places):
            near.setdefault(one.id, []).append((close, other))
    for id_, others in near.items():
        others.sort(key=lambda item: (-item[0], -(item[1].commit_time or 0), item[1].id))
        scored = []
        for close, other in others[:_MOST]:
            score = lines.of(left[id_], other)
            if score >= _ALIKE:
                stayed, branches = places.weight(other.place)
                scored.append(((score + 0.15 * close, stayed, branches), other, score))
        if scored:
            _, other, score = max(scored, key=lambda item: item[0])
            yield id_, _same(other, ["author", "diff"], HIGH if score >= 0.8 else MEDIUM)

"""Mails and commits compared pair by pair: by link, patch id, author date, title and author."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from patchlore.kb.edges_likeness import paths_of, titles_alike
from patchlore.kb.edges_rules import CERTAIN, HIGH, IS_POSTED, LOW, MEDIUM, Edge
from patchlore.kb.merge import PersonKey, senders_agree
from patchlore.kb.store import Archive

_DAY = 86400
#: A commit can seem older than its mail: clocks differ, and a maintainer may post
#: what is committed.
_BEFORE = 3 * _DAY
#: So long after a mail its patch may still be taken.
_AFTER = 3 * 365 * _DAY

_PAIR = (
    "m.id, c.id, c.sha, m.title_hash IS NOT NULL AND m.title_hash = c.title_hash,"
    " m.patch_id IS NOT NULL AND m.patch_id = c.patch_id,"
    " m.timestamp, c.author_time, c.commit_time, m.primary_upstream,"
    " coalesce(pm.name, ''), coalesce(pm.email, ''), coalesce(pm.masked, ''),"
    " coalesce(pc.name, ''), coalesce(pc.email, ''), coalesce(pc.masked, ''), c.place"
)
_PEOPLE = " LEFT JOIN person AS pm ON pm.id = m.author LEFT JOIN person AS pc ON pc.id = c.author"
#: What brings a mail and a commit together to be compared: for changed mails and
#: for changed commits, from whichever side is the changed one.
_FROM_MESSAGES = (
    "changed_message AS x CROSS JOIN message AS m ON m.id = x.id"
    " CROSS JOIN git_commit AS c ON c.patch_id = m.patch_id AND m.patch_id <> ''",
    "changed_message AS x CROSS JOIN message AS m ON m.id = x.id"
    " CROSS JOIN git_commit AS c ON c.title_hash = m.title_hash",
    "changed_message AS x CROSS JOIN message AS m ON m.id = x.id"
    " CROSS JOIN git_commit AS c ON c.author_time = m.timestamp",
)
_FROM_COMMITS = (
    "changed_commit AS x CROSS JOIN git_commit AS c ON c.id = x.id"
    " CROSS JOIN message AS m ON m.patch_id = c.patch_id AND c.patch_id <> ''",
    "changed_commit AS x CROSS JOIN git_commit AS c ON c.id = x.id"
    " CROSS JOIN message AS m ON m.title_hash = c.title_hash",
    "changed_commit AS x CROSS JOIN git_commit AS c ON c.id = x.id"
    " CROSS JOIN message AS m ON m.timestamp = c.author_time",
)
_LINKED = (
    "changed_message AS x CROSS JOIN message AS m ON m.id = x.id"
    " CROSS JOIN mid ON mid.id = m.mid CROSS JOIN git_link AS k ON k.message_id = mid.text"
    " CROSS JOIN git_commit AS c ON c.id = k.git_commit",
    "changed_commit AS x CROSS JOIN git_commit AS c ON c.id = x.id"
    " CROSS JOIN git_link AS k ON k.git_commit = c.id AND k.message_id IS NOT NULL"
    " CROSS JOIN mid ON mid.text = k.message_id CROSS JOIN message AS m ON m.mid = mid.id",
)


class Pair(Struct, kw_only=True):
    """A mail and a commit that may belong together."""

    message: int
    commit: int
    sha: str
    same_title: bool
    same_patch: bool
    same_author: bool
    sent: int | None
    author_time: int | None
    commit_time: int | None
    upstream: str | None
    place: int | None

    @property
    def is_in_time(self) -> bool:
        """Whether the commit was made when the mail's patch can have been taken."""
        if self.sent is None or self.commit_time is None:
            return True
        return self.sent - _BEFORE <= self.commit_time <= self.sent + _AFTER

    @property
    def same_date(self) -> bool:
        """Whether the commit's author date is the mail's, to the second."""
        return self.sent is not None and self.sent == self.author_time


def find_pairs(archive: Archive) -> tuple[dict[tuple[int, int], Pair], set[tuple[int, int]]]:
    """The mails and commits to compare, and which of them the commit names by Link."""
    pairs: dict[tuple[int, int], Pair] = {}
    linked: set[tuple[int, int]] = set()
    for tables in (*_FROM_MESSAGES, *_FROM_COMMITS, *_LINKED):
        rows = archive.execute(f"SELECT {_PAIR} FROM {tables}{_PEOPLE} WHERE {IS_POSTED}")
        for row in rows:
            key = (row[0], row[1])
            if tables in _LINKED:
                linked.add(key)
            if key not in pairs:
                pairs[key] = _pair(row)
    return pairs, linked


def _pair(row: Sequence[object]) -> Pair:
    (message, commit, sha, title, patch, sent, author_time, commit_time, upstream,
     name, email, masked, other_name, other_email, other_masked, place) = row  # fmt: skip
    one: PersonKey = (str(name), str(email), str(masked))
    other: PersonKey = (str(other_name), str(other_email), str(other_masked))
    return Pair(
        message=_int(message) or 0,
        commit=_int(commit) or 0,
        sha=str(sha),
        same_title=bool(title),
        same_patch=bool(patch),
        same_author=any(one) and any(other) and senders_agree(one, other),
        sent=_int(sent),
        author_time=_int(author_time),
        commit_time=_int(commit_time),
        upstream=None if upstream is None else str(upstream),
        place=_int(place),
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def apply_pair_rules(
    archive: Archive,
    pairs: dict[tuple[int, int], Pair],
    linked: set[tuple[int, int]],
    rules: Collection[str],
    edges: dict[tuple[int, str, str], Edge],
) -> None:
    fits = Fitting(archive)
    by_title: dict[int, list[Pair]] = {}
    for key, pair in pairs.items():
        found: list[tuple[str, int]] = []
        if key in linked and "link" in rules:
            alike = pair.same_title or pair.same_patch
            found.append(("link", CERTAIN if alike else HIGH if pair.same_author else MEDIUM))
        if pair.is_in_time and fits(pair):
            if pair.same_patch and "patch-id" in rules:
                sure = CERTAIN if pair.same_title else HIGH if pair.same_author else MEDIUM
                found.append(("patch-id", sure))
            if pair.same_date and pair.same_author and "author-date" in rules:
                found.append(("author-date", _judge_date(archive, pair)))
            if pair.same_title and pair.same_author and "title" in rules:
                by_title.setdefault(pair.message, []).append(pair)
        for rule, confidence in found:
            edges[pair.message, pair.sha, rule] = (
                pair.message, pair.sha, rule, confidence, None, None, None,
            )  # fmt: skip
    for candidates in by_title.values():
        for pair, confidence in _judge_titles(candidates):
            edges[pair.message, pair.sha, "title"] = (
                pair.message, pair.sha, "title", confidence, None, None, None,
            )  # fmt: skip


def _judge_date(archive: Archive, pair: Pair) -> int:
    """How sure an author date is: scripts send all of a series in one second.

    So title or files must have something in common, too.
    """
    if pair.same_title:
        return CERTAIN
    mail, commit, notice = archive.execute(
        "SELECT coalesce(m.commit_subject, m.clean_subject), c.subject, c.message"
        " FROM message AS m, git_commit AS c WHERE m.id = ? AND c.id = ?",
        (pair.message, pair.commit),
    ).fetchone()
    if pair.same_patch or titles_alike(mail, commit) >= 0.3:
        return MEDIUM
    if notice is not None and paths_of(archive, pair.message) & paths_of(archive, notice):
        return MEDIUM
    return LOW


def _judge_titles(candidates: list[Pair]) -> list[tuple[Pair, int]]:
    """One title and author, several commits ("MAINTAINERS: new address"): the next one in time.

    A branch that is rebased, or a fix that is applied twice, has it again soon.
    """
    first = min(_distance(pair) for pair in candidates)
    return [(pair, HIGH if _distance(pair) <= first + 90 * _DAY else LOW) for pair in candidates]


def _distance(pair: Pair) -> int:
    """Seconds from the mail to the commit."""
    return abs((pair.commit_time or 0) - (pair.sent or 0))


class Fitting:
    """Whether a mail and a commit are of one kind: both upstream, or backports of one commit."""

    def __init__(self, archive: Archive) -> None:
        """Take the archive."""
        self._archive = archive
        self._markers: dict[int, list[str]] = {}
        self._stable: dict[int, set[str]] = {}
        self._targets: dict[int, set[str]] = {}

    def __call__(self, pair: Pair) -> bool:
        """Whether the mail can have become the commit.

        A mail without a marker became the commit itself and not its backports; one
        with a marker became a commit with the same marker, in a tree it is for.
        """
        markers = self._of_commit(pair.commit)
        if pair.upstream is None:
            return not markers
        named = pair.upstream
        if not any(sha.startswith(named) or named.startswith(sha) for sha in markers):
            return False
        targets = self._of_message(pair.message)
        trees = self._of_place(pair.place)
        return not targets or not trees or bool(targets & trees)

    def _of_commit(self, commit: int) -> list[str]:
        found = self._markers.get(commit)
        if found is None:
            rows = self._archive.execute(
                "SELECT sha FROM git_commit_ref WHERE git_commit = ? AND relation = 'upstream'"
                " AND coalesce(kind, '') <> 'request'",
                (commit,),
            )
            found = self._markers[commit] = [sha for (sha,) in rows]
        return found

    def _of_message(self, message: int) -> set[str]:
        found = self._targets.get(message)
        if found is None:
            rows = self._archive.execute(
                "SELECT tree FROM target_tree WHERE message = ? AND tree LIKE '%.y'", (message,)
            )
            found = self._targets[message] = {tree for (tree,) in rows}
        return found

    def _of_place(self, place: int | None) -> set[str]:
        if place is None:
            return set()
        found = self._stable.get(place)
        if found is None:
            rows = self._archive.execute(
                "SELECT DISTINCT stable_tree FROM git_place_ref JOIN git_ref ON git_ref.id = ref"
                " WHERE place = ? AND role = 'branch' AND stable_tree IS NOT NULL",
                (place,),
            )
            found = self._stable[place] = {tree for (tree,) in rows}
        return found

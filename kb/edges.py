"""Which posted patch became which commit: one row for each rule that says so.

A rule is a way to know: the commit names the mail (``link``), a robot or
maintainer says which patch was taken as what (``notice``), both have one patch
id (``patch-id``), the commit's author date is the mail's Date, as git am makes
it (``author-date``), title and author are the same (``title``), the changed
lines are alike (``diff``).  Rules that disagree both stand; who asks takes the
best (patchlore.kb.edges_reading).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from patchlore.kb.edges_likeness import likeness_edges, paths_of, titles_alike
from patchlore.kb.edges_notices import store_notices
from patchlore.kb.interning import Names
from patchlore.kb.merge import PersonKey, senders_agree
from patchlore.kb.store import Archive, transaction

#: Every rule, the one that proves most first.
RULES = ("link", "notice", "patch-id", "author-date", "title", "diff")

CERTAIN, HIGH, MEDIUM, LOW = range(4)

_DAY = 86400
#: A commit can seem older than its mail: clocks differ, and a maintainer may post
#: what is committed.
_BEFORE = 3 * _DAY
#: So long after a mail its patch may still be taken.
_AFTER = 3 * 365 * _DAY

#: Mails that can become a commit: not the notices that a commit was made.
IS_POSTED = (
    "m.is_patch AND coalesce(m.notice, '') NOT IN ('added', 'failed', 'released')"
    " AND NOT EXISTS (SELECT 1 FROM git_commit AS told WHERE told.message = m.id)"
)

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

#: A row of table edge.
Edge = tuple[int, str, str, int, int | None, int | None, str | None]


class EdgeSummary(Struct, kw_only=True):
    """What an update did: commits read from notices, edges that there are now."""

    notices: int = 0
    edges: int = 0


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


def update_edges(archive: Archive, *, rules: Collection[str] = RULES) -> EdgeSummary:
    """Bring the edges up to date with mails and commits, in one transaction.

    Only what came or changed since the last time is looked at, against all there
    is.  Raises ArchiveError.
    """
    summary = EdgeSummary()
    with transaction(archive):
        mark = _mark(archive, "edges_revision")
        newest = archive.value("SELECT coalesce(max(revision), 0) FROM message")
        last_commit = archive.value("SELECT coalesce(max(id), 0) FROM git_commit")
        identified = _mark(archive, "git_patch_ids")
        if (
            newest == mark
            and last_commit == _mark(archive, "edges_commit")
            and identified == _mark(archive, "edges_patch_ids")
        ):
            summary.edges = archive.value("SELECT count(*) FROM edge")
            return summary
        summary.notices = _read_notices(archive, mark)
        _note_changes(archive, mark, identified)
        _note_titles(archive)
        _forget_changed(archive)
        edges: dict[tuple[int, str, str], Edge] = {}
        # Without commits and notices no rule has anything to say.
        if archive.value("SELECT 1 FROM git_commit LIMIT 1"):
            pairs, linked = _pairs(archive)
            _apply_pair_rules(archive, pairs, linked, rules, edges)
        if "notice" in rules:
            _apply_notices(archive, edges)
        _write(archive, edges.values())
        if "diff" in rules and archive.value("SELECT 1 FROM git_commit LIMIT 1"):
            archive.execute(
                "DELETE FROM edge WHERE rule = 'diff' AND message IN"
                " (SELECT message FROM edge WHERE rule <> 'diff' AND confidence <= ?)",
                (HIGH,),
            )
            _write(archive, list(likeness_edges(archive)))
        for name, value in (
            ("edges_revision", newest),
            ("edges_commit", archive.value("SELECT coalesce(max(id), 0) FROM git_commit")),
            ("edges_patch_ids", identified),
        ):
            archive.execute(
                "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
                (name, value),
            )
        summary.edges = archive.value("SELECT count(*) FROM edge")
    return summary


def _mark(archive: Archive, name: str) -> int:
    return int(archive.value("SELECT value FROM meta WHERE name = ?", (name,)) or 0)


def _read_notices(archive: Archive, mark: int) -> int:
    """Store the commits that new mails of tip-bot carry."""
    archive.execute("CREATE TEMP TABLE IF NOT EXISTS told_commit (id INTEGER PRIMARY KEY)")
    archive.execute("DELETE FROM told_commit")
    # Mails that were notices when they were read last and may be none now.
    archive.execute(
        "UPDATE git_commit SET message = NULL WHERE data IS NOT NULL AND message IN"
        " (SELECT id FROM message WHERE revision > ?)",
        (mark,),
    )
    messages = [
        id_
        for (id_,) in archive.execute(
            "SELECT id FROM message WHERE revision > ? AND subject LIKE '[tip:%' ORDER BY id",
            (mark,),
        )
    ]
    stored = store_notices(archive, Names(archive.connection), messages)
    archive.connection.executemany(
        "INSERT OR IGNORE INTO told_commit SELECT id FROM git_commit WHERE message = ?",
        [(id_,) for id_ in messages],
    )
    return stored


def _note_changes(archive: Archive, mark: int, identified: int) -> None:
    """Fill the temporary tables of what changed since the last update."""
    for table in ("changed_message", "changed_commit"):
        archive.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY)")
        archive.execute(f"DELETE FROM {table}")
    archive.execute(
        f"INSERT INTO changed_message SELECT m.id FROM message AS m WHERE m.revision > ?"
        f" AND {IS_POSTED}",
        (mark,),
    )
    archive.execute(
        "INSERT INTO changed_commit SELECT id FROM git_commit WHERE id > ?",
        (_mark(archive, "edges_commit"),),
    )
    archive.execute("INSERT OR IGNORE INTO changed_commit SELECT id FROM told_commit")
    if identified != _mark(archive, "edges_patch_ids"):
        archive.execute(
            "INSERT OR IGNORE INTO changed_commit SELECT c.id FROM git_commit AS c"
            " WHERE c.patch_id <> '' AND EXISTS"
            " (SELECT 1 FROM message AS m WHERE m.patch_id = c.patch_id)"
        )


def _note_titles(archive: Archive) -> None:
    """Count the mails with the title of a changed commit as changed.

    Which of several commits of one title is meant is judged among all of them.
    """
    archive.execute(
        "INSERT OR IGNORE INTO changed_message SELECT m.id FROM changed_commit AS x"
        " CROSS JOIN git_commit AS c ON c.id = x.id"
        f" CROSS JOIN message AS m ON m.title_hash = c.title_hash WHERE {IS_POSTED}"
    )


def _forget_changed(archive: Archive) -> None:
    """Delete the edges of mails that changed: all rules judge them anew."""
    for column in ("message", "witness"):
        archive.execute(
            f"DELETE FROM edge WHERE {column} IN (SELECT id FROM message WHERE revision > ?)",
            (_mark(archive, "edges_revision"),),
        )
    archive.execute(
        "DELETE FROM edge WHERE message IN (SELECT id FROM changed_message) AND rule <> 'notice'"
    )
    archive.execute(
        "DELETE FROM edge WHERE sha IN"
        " (SELECT sha FROM git_commit WHERE id IN (SELECT id FROM told_commit))"
        " AND rule <> 'notice'"
    )


def _pairs(archive: Archive) -> tuple[dict[tuple[int, int], Pair], set[tuple[int, int]]]:
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


def _apply_pair_rules(
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


def _apply_notices(archive: Archive, edges: dict[tuple[int, str, str], Edge]) -> None:
    """Edges of "applied" with a sha: the mail that is answered, or the thread's patch by title.

    Notices that came, and those in threads into which patches came.
    """
    rows = archive.execute(
        "SELECT w.id, w.in_reply_to, mid.thread, w.timestamp, r.sha, r.subject, r.line, r.text,"
        " r.rule FROM commit_ref AS r JOIN message AS w ON w.id = r.message"
        " JOIN mid ON mid.id = w.mid WHERE r.relation = 'applied'"
        " AND (w.revision > ?1 OR mid.thread IN (SELECT mid.thread FROM changed_message AS x"
        " JOIN message AS m ON m.id = x.id JOIN mid ON mid.id = m.mid))",
        (_mark(archive, "edges_revision"),),
    ).fetchall()
    for witness, parent, thread, time, sha, subject, line, text, rule in rows:
        title = _title_of_notice(archive, witness, subject, rule)
        patches = archive.execute(
            "SELECT m.id, m.mid, m.title_hash, m.timestamp FROM mid JOIN message AS m"
            f" ON m.mid = mid.id WHERE mid.thread = ? AND {IS_POSTED} ORDER BY m.timestamp, m.id",
            (thread,),
        ).fetchall()
        answered = [item for item in patches if item[1] == parent]
        titled = [item for item in patches if item[2] == title and (item[3] or 0) <= (time or 0)]
        both = [item for item in answered if item in titled]
        if both:
            chosen, confidence = both[0], CERTAIN
        elif titled:
            # Several revisions in one thread: the newest was taken.
            chosen, confidence = titled[-1], HIGH
        elif answered and rule == "tip-bot":
            chosen, confidence = answered[0], MEDIUM
        else:
            continue
        edges[chosen[0], sha, "notice"] = (
            chosen[0], sha, "notice", confidence, witness, line, text,
        )  # fmt: skip


def _title_of_notice(
    archive: Archive, witness: int, subject: str | None, rule: str | None
) -> int | None:
    """The hash of the title that a notice names; tip-bot's own subject has a branch before it."""
    from patchlore.kb.merge import title_hash

    if rule == "tip-bot":
        told = archive.value("SELECT title_hash FROM git_commit WHERE message = ?", (witness,))
        if told is not None:
            return int(told)
    return title_hash(subject)


def _write(archive: Archive, edges: Iterable[Edge]) -> None:
    archive.connection.executemany(
        "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?, ?)", edges
    )

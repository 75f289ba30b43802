"""Which commits upstream fix, revert or need which others: what git, mail and CVE records say.

Read once for a list: a few queries over all there is, instead of some for each commit.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchlore.kb.columns import number_or_none, text_or_none
from patchlore.kb.edges_commits import same_changes
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.own_commits import upstream_of
from patchlore.kb.reading import MIN_HEX
from patchlore.kb.store import Archive
from patchlore.kb.title_reverts import reverts_by_title
from patchlore.kb.versions import Interval, parse_version

#: Relations that are read, as commit_ref has them.
RELATIONS = (
    "fixes",
    "reverts",
    "partial-revert",
    "reverted-upstream",
    "stable-dep-of",
    "prerequisite",
)
_WANTED = ", ".join(f"'{relation}'" for relation in RELATIONS)

_FULL = 40

#: How sure it is what a title takes back, as patchlore.kb.contents counts.
_HIGH = 1


class Target(Struct):
    """A commit that others name, as far as it is known."""

    #: All its digits where exactly one known commit begins as written.
    sha: str
    #: Its place (git_place) and row id; None where no tree that was read has it.
    place: int | None = None
    id: int | None = None
    subject: str | None = None
    time: int | None = None
    #: The upstream commits of a commit that is itself a backport, and their places.
    upstream: list[str] = []
    upstream_places: list[int] = []
    is_ambiguous: bool = False


class Ref(Struct):
    """A commit named by another one: how, and the line that says so."""

    relation: str
    target: Target
    subject: str | None
    line: int | None
    text: str | None
    confidence: int
    #: Row id and key of the mail; 0 and the commit whose message it is.
    message: int
    key: str
    commit: str | None
    timestamp: int | None
    #: Of a CVE record: its number, and the version that first had the target.
    cve: str | None = None
    version: str | None = None
    #: Of a prerequisite: the trees for which it is one; None for all.
    interval: Interval | None = None


class Upstream(Struct):
    """A commit upstream: what it names."""

    sha: str
    subject: str | None
    time: int | None
    #: Its row in git_commit, which rises from parents to children; 0 where only mail knows it.
    id: int
    place: int | None
    refs: list[Ref]
    #: Mails that are its patch, by row id.
    mails: list[int] = []


class Graph:
    """Commits upstream that a tree may want, by sha, and who names whom."""

    def __init__(self, archive: Archive, places: GitPlaces) -> None:
        """Read what is upstream and not in the tree of ``places``."""
        self._archive = archive
        self._places = places
        self.commits: dict[str, Upstream] = {}
        self._names: list[str] = []
        pending: list[tuple[Upstream, tuple[object, ...]]] = []
        self._read_mainline(pending)
        self._read_stable(pending)
        self._read_mails(pending)
        self._read_records(pending)
        self._names = sorted(self.commits)
        self.targets = self._resolve({str(row[1]) for _, row in pending})
        #: Full sha of a target to the (commit, ref) pairs that name it.
        self.named_by: dict[str, list[tuple[Upstream, Ref]]] = {}
        #: Commits that say to fix or to revert themselves: a slip of the pen.
        self.naming_themselves: set[str] = set()
        for commit, row in pending:
            self._link(commit, row)

    # -- reading -----------------------------------------------------------------

    def _read_mainline(self, pending: list[tuple[Upstream, tuple[object, ...]]]) -> None:
        wanted = self._places.upstream - self._places.own
        if not wanted:
            return
        numbers = _list(wanted)
        by_id: dict[int, Upstream] = {}
        for id_, sha, subject, time, place in self._archive.execute(
            "SELECT id, sha, subject, commit_time, place FROM git_commit"
            f" WHERE place IN ({numbers})"
        ):
            by_id[id_] = self.commits[sha] = Upstream(sha, subject, time, id_, place, [])
        for row in self._archive.execute(
            "SELECT c.id, r.relation, r.sha, r.subject, r.line, r.text, r.confidence"
            " FROM git_commit AS c JOIN git_commit_ref AS r ON r.git_commit = c.id"
            # A merge is nothing to pick: what it brings in are commits themselves.
            f" WHERE c.place IN ({numbers}) AND c.parents < 2"
            f" AND r.relation IN ({_WANTED}) AND NOT r.quoted"
            " ORDER BY c.id, r.position"
        ):
            commit = by_id[row[0]]
            made = (*row[1:], 0, commit.sha, commit.sha, commit.time, None, None)
            pending.append((commit, made))
        for revert in reverts_by_title(self._archive, wanted, self._places.upstream):
            commit = by_id[revert.id]
            made = ("reverts", revert.target, None, 1, revert.subject, _HIGH, 0, commit.sha)
            pending.append((commit, (*made, commit.sha, commit.time, None, None)))

    def _read_stable(self, pending: list[tuple[Upstream, tuple[object, ...]]]) -> None:
        """Commits upstream that no mainline which was read has, but another stable tree.

        Of the others only what that tree took them for: a backport has the message of
        its commit, but for the tag Stable-dep-of.
        """
        wanted = set().union(*self._places.stable.values()) - self._places.own
        wanted -= self._places.upstream
        if not wanted:
            return
        rows = self._archive.execute(
            "SELECT c.sha, c.subject, c.commit_time, m.sha, r.relation, r.sha, r.subject, r.line,"
            " r.text, r.confidence, EXISTS (SELECT 1 FROM git_commit AS own WHERE own.sha = m.sha"
            " AND own.place IS NOT NULL) AS known, c.id FROM git_commit AS c"
            " JOIN git_commit_ref AS m"
            " ON m.git_commit = c.id AND m.relation = 'upstream'"
            " AND coalesce(m.kind, 'backport') IN ('backport', 'cherry-pick')"
            f" LEFT JOIN git_commit_ref AS r ON r.git_commit = c.id AND r.relation IN ({_WANTED})"
            f" AND NOT r.quoted WHERE c.place IN ({_list(wanted)}) AND length(m.sha) = {_FULL}"
            " AND (r.relation = 'stable-dep-of' OR NOT known) ORDER BY c.id, r.position"
        ).fetchall()
        # A marker can name a commit that was rebased before it was merged: no tree has that one.
        merged = same_changes(self._archive, {row[-1] for row in rows if not row[-2]})
        for sha, subject, time, upstream, *ref, is_known, id_ in rows:
            commit = self.commits.get(upstream)
            if commit is None:
                if is_known or id_ in merged:  # the tree has it from the start
                    continue
                commit = self.commits[upstream] = Upstream(upstream, subject, time, 0, None, [])
            if ref[0] is not None:
                pending.append((commit, (*ref, 0, sha, sha, time, None, None)))

    def _read_mails(self, pending: list[tuple[Upstream, tuple[object, ...]]]) -> None:
        rows = self._archive.execute(
            "SELECT m.primary_upstream, coalesce(m.commit_subject, m.clean_subject), m.timestamp,"
            " m.id, CASE WHEN m.ordinal = 0 THEN mid.text ELSE mid.text || '#' || (m.ordinal + 1)"
            " END, r.relation, r.sha, r.subject, r.line, r.text, r.confidence, n.low, n.high,"
            " n.message FROM message AS m JOIN mid ON mid.id = m.mid"
            " LEFT JOIN commit_ref AS r ON r.message = m.id AND NOT r.quoted"
            f" AND r.relation IN ({_WANTED})"
            " LEFT JOIN stable_note AS n ON r.relation = 'prerequisite' AND n.message = m.id"
            " AND n.range IS NOT NULL AND instr(lower(n.text), r.sha)"
            " WHERE m.primary_upstream IS NOT NULL AND m.is_patch ORDER BY m.timestamp, m.id"
        ).fetchall()
        short = {row[0] for row in rows if len(row[0]) < _FULL}
        whole = self._resolve(short)
        named = {row[0] for row in rows} | {target.sha for target in whole.values()}
        own = upstream_of(self._archive, self._places, named)
        for upstream, subject, time, message, key, *ref, low, high, noted in rows:
            target = whole.get(upstream)
            if target is not None and target.is_ambiguous:
                continue
            sha = upstream if target is None else target.sha
            meant = own.get(sha, sha)  # a stable tree's own commit, which another tree took
            if meant is None:
                continue
            sha = meant
            commit = self.commits.get(sha)
            if commit is None:
                commit = self.commits[sha] = Upstream(sha, subject, time, 0, None, [])
            commit.mails = [*commit.mails, message]
            if ref[0] is not None:
                interval = None if noted is None else Interval(low, high)
                pending.append((commit, (*ref, message, key, None, time, None, None, interval)))

    def _read_records(self, pending: list[tuple[Upstream, tuple[object, ...]]]) -> None:
        """What CVE records say: each cause of a CVE, in whatever tree, is repaired by its fix.

        The fix is the mainline's: the one with a version of that.
        """
        rows = self._archive.execute(
            "SELECT v.cve, v.introduced_version, v.introduced, v.fixed, v.line, v.text, m.id,"
            " m.key, m.timestamp, v.fixed_version, m.clean_subject FROM vulnerability AS v"
            " JOIN mail AS m ON m.id = v.message WHERE NOT v.is_rejected"
            " AND NOT EXISTS (SELECT 1 FROM vulnerability AS o WHERE o.cve = v.cve"
            " AND o.is_rejected) ORDER BY m.timestamp, m.id, v.position"
        ).fetchall()
        self.records = [Record(*row) for row in rows]
        fixes: dict[str, dict[str, Upstream]] = {}
        titles = self._titles_of_records()
        for record in self.records:
            if not record.is_mainline or record.fixed is None:
                continue
            commit = self.commits.get(record.fixed)
            if commit is None:
                if len(record.fixed) < _FULL:
                    continue
                commit = Upstream(record.fixed, None, record.timestamp, 0, None, [])
                self.commits[record.fixed] = commit
            commit.subject = commit.subject or titles.get(record.cve)
            fixes.setdefault(record.cve, {})[record.fixed] = commit
        # Of the lines with one cause that which has the mainline's fix, too, proves most.
        for record in sorted(self.records, key=lambda record: not record.is_mainline):
            if record.introduced is None:
                continue
            row: tuple[object, ...] = ("introduced", record.introduced, None)
            row += (record.line, record.text, 0, record.message, record.key, None)
            row += (record.timestamp, record.cve, record.introduced_version)
            pending += [(commit, row) for commit in fixes.get(record.cve, {}).values()]

    def _titles_of_records(self) -> dict[str, str]:
        """The title of each CVE of a record that has none (a dyad file), from any that has one."""
        bare = {record.cve for record in self.records if record.title is None}
        rows = self._archive.execute(
            "SELECT j.value, m.clean_subject FROM json_each(?) AS j"
            " CROSS JOIN cve ON cve.name = j.value JOIN message AS m ON m.id = cve.message"
            " WHERE substr(m.clean_subject, 1, length(j.value) + 2) = j.value || ': '"
            " ORDER BY m.timestamp DESC, m.id DESC",
            (json.dumps(sorted(bare)),),
        )
        found = {cve: str(subject)[len(cve) + 2 :] for cve, subject in rows}
        return found | {record.cve: record.title for record in self.records if record.title}

    def refs_of_mails(self, messages: Iterable[int]) -> dict[int, list[Ref]]:
        """Return what mails (row ids) that carry patches say to fix, whatever became of them."""
        rows = self._archive.execute(
            "SELECT m.id, m.key, m.timestamp, r.relation, r.sha, r.subject, r.line, r.text,"
            " r.confidence FROM json_each(?) AS j CROSS JOIN commit_ref AS r ON r.message = j.value"
            " JOIN mail AS m ON m.id = r.message WHERE m.is_patch AND r.relation = 'fixes'"
            " AND NOT r.quoted ORDER BY m.id, r.position",
            (json.dumps(sorted(messages)),),
        ).fetchall()
        self.resolve({row[4] for row in rows})
        found: dict[int, list[Ref]] = {}
        for id_, key, time, *ref in rows:
            made = self._made((*ref, id_, key, None, time, None, None))
            found.setdefault(id_, []).append(made)
        return found

    # -- linking ------------------------------------------------------------------

    def _link(self, commit: Upstream, row: Sequence[object]) -> None:
        ref = self._made(row)
        target = ref.target
        if commit.sha in (target.sha, *target.upstream):
            self.naming_themselves.add(commit.sha)
            return
        if any(
            known.relation == ref.relation and known.target.sha == target.sha
            for known in commit.refs
        ):
            return
        commit.refs.append(ref)
        for name in (target.sha, *target.upstream):
            self.named_by.setdefault(name, []).append((commit, ref))

    def _made(self, row: Sequence[object]) -> Ref:
        (relation, written, subject, line, text, confidence, message, key, sha, time, cve,
         version, *interval) = row  # fmt: skip
        return Ref(
            relation=str(relation),
            target=self.targets[str(written)],
            subject=text_or_none(subject),
            line=number_or_none(line),
            text=text_or_none(text),
            confidence=number_or_none(confidence) or 0,
            message=number_or_none(message) or 0,
            key=str(key),
            commit=text_or_none(sha),
            timestamp=number_or_none(time),
            cve=text_or_none(cve),
            version=text_or_none(version),
            interval=interval[0] if interval and isinstance(interval[0], Interval) else None,
        )

    def resolve(self, shas: Iterable[str]) -> dict[str, Target]:
        """Return what is known of commits as they are written; those known before are kept."""
        shas = list(shas)
        self.targets.update(self._resolve({sha for sha in shas if sha not in self.targets}))
        return {sha: self.targets[sha] for sha in shas}

    def _resolve(self, shas: set[str]) -> dict[str, Target]:
        found = {sha: Target(sha) for sha in shas}
        wanted = json.dumps(sorted(sha for sha in shas if len(sha) >= MIN_HEX))
        rows = self._archive.execute(
            "SELECT j.value, c.sha, c.place, c.id, c.subject, c.commit_time"
            " FROM json_each(?) AS j CROSS JOIN git_commit AS c"
            " ON c.sha >= j.value AND c.sha < j.value || 'g'",
            (wanted,),
        ).fetchall()
        ids: dict[int, list[Target]] = {}
        for written, sha, place, id_, subject, time in rows:
            target = found[written]
            if target.id is not None:
                target.is_ambiguous = True
                continue
            target.sha, target.place, target.id = sha, place, id_
            target.subject, target.time = subject, time
            if place not in self._places.upstream:
                ids.setdefault(id_, []).append(target)
        for id_, upstream, place in self._archive.execute(
            "SELECT r.git_commit, r.sha, u.place FROM json_each(?) AS j"
            " CROSS JOIN git_commit_ref AS r ON r.git_commit = j.value"
            " LEFT JOIN git_commit AS u ON u.sha = r.sha WHERE r.relation = 'upstream'"
            " AND coalesce(r.kind, 'backport') IN ('backport', 'cherry-pick') ORDER BY r.position",
            (json.dumps(sorted(ids)),),
        ):
            for target in ids[id_]:
                target.upstream = [*target.upstream, upstream]
                if place is not None:
                    target.upstream_places = [*target.upstream_places, place]
        self._complete(found)
        return found

    def _complete(self, found: dict[str, Target]) -> None:
        """Complete what no repository has, where exactly one commit upstream or in mail fits."""
        short = sorted(
            sha
            for sha, target in found.items()
            if target.id is None and MIN_HEX <= len(sha) < _FULL
        )
        pairs = [
            (written, sha)
            for written in short
            for sha in self._names[
                bisect_left(self._names, written) : bisect_left(self._names, written + "g")
            ]
        ]
        pairs += self._archive.execute(
            "SELECT DISTINCT j.value, r.sha FROM json_each(?) AS j CROSS JOIN commit_ref AS r"
            f" ON r.sha >= j.value AND r.sha < j.value || 'g' WHERE length(r.sha) = {_FULL}",
            (json.dumps(short),),
        ).fetchall()
        for written, sha in pairs:
            target = found[written]
            if len(target.sha) == _FULL and target.sha != sha:
                target.is_ambiguous = True
            target.sha = sha


class Record(Struct):
    """A pair of a CVE record: what brought the vulnerability, and what ended it in which tree."""

    cve: str
    introduced_version: str | None
    introduced: str | None
    fixed: str | None
    line: int | None
    text: str | None
    message: int
    key: str
    timestamp: int | None
    fixed_version: str | None
    subject: str | None

    @property
    def title(self) -> str | None:
        """The title of the fix, which announcements put behind the number."""
        _, found, title = (self.subject or "").partition(f"{self.cve}: ")
        return title if found and title else None

    @property
    def is_mainline(self) -> bool:
        """Whether the fix is that of the mainline: its version is one (``6.8``, ``6.8-rc3``)."""
        return is_mainline_version(self.fixed_version)


def is_mainline_version(text: str | None) -> bool:
    """Whether a version is one of the mainline, no update of it in a stable tree."""
    version = None if text is None else parse_version(text)
    return version is not None and (version.major < 3 or version.patch == 0)


def _list(numbers: Iterable[int]) -> str:
    """Row ids as SQL writes a list of them."""
    return ", ".join(str(number) for number in sorted(numbers))

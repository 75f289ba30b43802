"""The dossier of a CVE: what it is, the commits that brought and ended it, in which trees."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from patchlore.ingest.message import CveRecord, Message
from patchlore.kb.backports import decide
from patchlore.kb.dossiers.commits import TreeState
from patchlore.kb.errors import DossierError, NotFoundError
from patchlore.kb.history import events_of_commit
from patchlore.kb.reading import MIN_HEX, Brief, briefs, longest, spellings
from patchlore.kb.store import Archive
from patchlore.kb.versions import sort_key
from patchlore.kb.vulnerabilities import pairs_of_cve

#: More mails than this are not decoded for the lines that name the CVE.
_MOST_DECODED = 300


class CveNaming(Struct, kw_only=True):
    """A mail that names the CVE, and the line."""

    message: Brief
    line: int | None
    text: str | None
    rule: str | None


class CvePairSeen(Struct, kw_only=True):
    """Where the vulnerability came from and what ended it there, as a record says."""

    vulnerable_version: str | None
    vulnerable_sha: str | None
    fixed_version: str | None
    fixed_sha: str | None
    #: The mail or file that says so, and the line.
    key: str
    line: int | None
    text: str | None


class CveCommit(Struct, kw_only=True):
    """A commit that has to do with the CVE; ``role`` is ``fix`` or ``cause``.

    ``reasons`` say how that is known; ``trees`` is where its backports stand.
    """

    sha: str
    role: str
    subject: str | None
    reasons: list[str]
    trees: list[TreeState]


class CveDossier(Struct, kw_only=True):
    """What is known about a CVE."""

    cve: str
    title: str | None
    rejected: bool
    pairs: list[CvePairSeen]
    files: list[str]
    references: list[str]
    commits: list[CveCommit]
    namings: list[CveNaming]


def cve_dossier(archive: Archive, name: str) -> CveDossier:
    """Return the dossier of the CVE with this number; raises NotFoundError when nothing names it.

    A fix is a commit that a record (announcement, CVE JSON, dyad file) says
    ended it, whose message names it, or of which a patch that names it is the
    backport; a cause one that a record says brought it, or that such a patch fixes.
    """
    name = name.strip().upper()
    ids = [
        id_
        for (id_,) in archive.execute(
            "SELECT cve.message FROM cve JOIN message ON message.id = cve.message"
            " WHERE cve.name = ? ORDER BY message.timestamp, message.id",
            (name,),
        )
    ]
    in_git = archive.execute(
        "SELECT git_commit.sha, git_commit.subject FROM git_cve JOIN git_commit"
        " ON git_commit.id = git_cve.git_commit WHERE git_cve.name = ?"
        " ORDER BY git_commit.commit_time",
        (name,),
    ).fetchall()
    if not ids and not in_git:
        if not re.fullmatch(r"CVE-\d{4}-\d{4,19}", name):
            raise DossierError(f"'{name}' is no CVE: write CVE-2024-12345.")
        raise NotFoundError(f"No mail in the archive names {name}.")
    shown = briefs(archive, ids)
    decoded = {id_: archive.message(id_) for id_ in ids[:_MOST_DECODED]}
    records = [
        (shown[id_].key, message.cve_record)
        for id_, message in decoded.items()
        if message.cve_record is not None and message.cve_record.id in (None, name)
    ]
    return CveDossier(
        cve=name,
        title=next((record.title for _, record in records if record.title), None),
        rejected=any(record.rejected for _, record in records),
        pairs=_pairs(archive, name),
        files=list(dict.fromkeys(file for _, record in records for file in record.files)),
        references=list(dict.fromkeys(url for _, record in records for url in record.references)),
        commits=_commits(archive, ids, records, in_git),
        namings=[_naming(name, shown[id_], decoded.get(id_)) for id_ in ids if id_ in shown],
    )


def _naming(name: str, brief: Brief, message: Message | None) -> CveNaming:
    proof = next(
        (
            evidence
            for evidence in (message.evidence if message else ())
            if evidence.fact in ("cves", "cve_record") and evidence.value == name
        ),
        None,
    )
    return CveNaming(
        message=brief,
        line=proof.line if proof else None,
        text=proof.text if proof else None,
        rule=proof.rule if proof else None,
    )


def _pairs(archive: Archive, name: str) -> list[CvePairSeen]:
    return [
        CvePairSeen(
            vulnerable_version=pair.introduced_version,
            vulnerable_sha=pair.introduced,
            fixed_version=pair.fixed_version,
            fixed_sha=pair.fixed,
            key=pair.key,
            line=pair.line,
            text=pair.text,
        )
        for pair in pairs_of_cve(archive, name)
    ]


class _Commits:
    """Gathers commits by role; an abbreviation and the whole id are one."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._found: dict[tuple[str, str], CveCommit] = {}

    def add(self, role: str, sha: str, reason: str, subject: str | None = None) -> None:
        written = spellings(self._archive, sha) if len(sha) >= MIN_HEX else []
        whole = longest([sha, *written]) or sha
        for known, other in self._found:
            if known == role and (other.startswith(whole) or whole.startswith(other)):
                commit = self._found.pop((role, other))
                commit.sha = whole = longest([other, whole]) or whole
                self._found[role, whole] = commit
                break
        commit = self._found.setdefault(
            (role, whole),
            CveCommit(sha=whole, role=role, subject=subject, reasons=[], trees=[]),
        )
        commit.subject = commit.subject or subject or _subject(self._archive, [whole, *written])
        if reason not in commit.reasons:
            commit.reasons.append(reason)
        if role == "fix" and not commit.trees:
            commit.trees = _trees(self._archive, written or [whole], commit.subject)

    def all(self) -> list[CveCommit]:
        return sorted(self._found.values(), key=lambda commit: commit.role != "fix")


def _commits(
    archive: Archive,
    ids: Sequence[int],
    records: Sequence[tuple[str, CveRecord]],
    in_git: Sequence[tuple[str, str]],
) -> list[CveCommit]:
    found = _Commits(archive)
    for sha, subject in in_git:
        found.add("fix", sha, "names the CVE in its message", subject)
    for id_ in ids:
        rows = archive.execute(
            "SELECT r.relation, r.sha, r.subject, m.key FROM commit_ref AS r JOIN mail AS m"
            " ON m.id = r.message WHERE r.message = ? AND m.is_patch AND NOT r.quoted"
            " AND r.relation IN ('upstream', 'fixes') ORDER BY r.position",
            (id_,),
        )
        for relation, sha, subject, key in rows.fetchall():
            if relation == "upstream":
                found.add("fix", sha, f"<{key}> names the CVE and is its backport")
            else:
                found.add("cause", sha, f"<{key}> names the CVE and fixes it", subject)
    for key, record in records:
        for pair in record.pairs:
            if pair.fixed_sha:
                where = f" in {pair.fixed_version}" if pair.fixed_version else ""
                found.add("fix", pair.fixed_sha, f"<{key}> says that it is fixed{where} by it")
            if pair.vulnerable_sha:
                where = f" in {pair.vulnerable_version}" if pair.vulnerable_version else ""
                reason = f"<{key}> says that it was introduced{where} by it"
                found.add("cause", pair.vulnerable_sha, reason)
    return found.all()


def _subject(archive: Archive, shas: Sequence[str]) -> str | None:
    for sha in dict.fromkeys(shas):
        title = archive.value("SELECT subject FROM git_commit WHERE sha = ?", (sha,))
        title = title or archive.value(
            "SELECT coalesce(r.subject, CASE WHEN r.relation = 'upstream' THEN"
            " coalesce(m.commit_subject, m.clean_subject) END) AS title FROM commit_ref AS r"
            " JOIN message AS m ON m.id = r.message WHERE r.sha = ? AND r.relation <> 'own'"
            " AND title IS NOT NULL LIMIT 1",
            (sha,),
        )
        if title:
            return str(title)
    return None


def _trees(archive: Archive, written: Sequence[str], subject: str | None) -> list[TreeState]:
    by_tree: dict[str, list[object]] = {}
    events = events_of_commit(archive, written, title=subject)
    for tree in sorted({event.tree for event in events}, key=sort_key):
        by_tree[tree] = []
    states = []
    for tree in by_tree:
        here = [event for event in events if event.tree == tree]
        state, decisive = decide(here)
        states.append(TreeState(tree=tree, state=state, reason=decisive.words(), events=here))
    return states

"""The dossier of a commit: its postings, backports, fixes, reverts, reports and mentions."""

from __future__ import annotations

import re

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.backports import decide, row_of
from patchlore.kb.dossiers.chains import Link, earlier, later
from patchlore.kb.dossiers.contents import Content, compare_contents
from patchlore.kb.dossiers.git_commits import GitFacts, git_facts
from patchlore.kb.dossiers.related import Related, discussion
from patchlore.kb.dossiers.reviewers import Reviewer, reviewers
from patchlore.kb.dossiers.revisions import PatchRevision, patch_revisions
from patchlore.kb.errors import DossierError, NotFoundError
from patchlore.kb.events import VERDICTS, Event
from patchlore.kb.history import events_of_commit
from patchlore.kb.merge import title_hash
from patchlore.kb.reading import MIN_HEX, Brief, briefs, longest, spellings
from patchlore.kb.store import Archive
from patchlore.kb.text import count, printable
from patchlore.kb.versions import sort_key
from patchlore.kb.vulnerabilities import Vulnerability, fixed_pairs, introduced_pairs

#: Relations of a mail to a commit that it names, in the order in which they are told,
#: and in words.
RELATIONS = {
    "fixes": "fixed by",
    "suggested-fix": "fix suggested in review",
    "fixes-after-cut": "named as fixed below the cut",
    "reverts": "reverted by",
    "partial-revert": "partly reverted by",
    "reverted-upstream": "revert upstream, by",
    "first-bad": "regression report",
    "stable-dep-of": "needed as a dependency, carried by",
    "prerequisite": "prerequisite of",
    "upstream": "backport",
    "original": "notice",
    "applied": "applied notice",
    "own": "sent as",
    "base": "base of",
    "mention": "mentioned in",
}


class Naming(Struct, kw_only=True):
    """A mail that names the commit: how, and the line."""

    relation: str
    words: str
    message: Brief
    sha: str
    kind: str | None
    quoted: bool
    line: int | None
    text: str | None
    rule: str | None
    confidence: Confidence


class TreeState(Struct, kw_only=True):
    """Where the commit stands in one tree."""

    tree: str
    state: str
    reason: str
    events: list[Event]


class Fixed(Struct, kw_only=True):
    """A commit that this one fixes, as one of its patches says."""

    sha: str
    subject: str | None
    key: str
    line: int | None
    text: str | None


class CommitDossier(Struct, kw_only=True):
    """What is known about a commit."""

    sha: str
    spellings: list[str]
    subject: str | None
    trees: list[TreeState]
    #: Mails of the same title that are no backports: the upstream patch and its revisions.
    postings: list[Brief]
    fixes: list[Fixed]
    namings: list[Naming]
    bugs: list[str]
    cves: list[str]
    #: What each tree's backport is to the upstream patch.
    contents: list[Content]
    #: What git trees and edges add.
    git: GitFacts
    #: The mails that the patch was on the list, revision by revision.
    revisions: list[PatchRevision]
    reviewers: list[Reviewer]
    #: What it fixes or reverts, and what those did; what fixes or reverts it, and so on.
    earlier: list[Link]
    later: list[Link]
    #: Vulnerabilities that it ended and that it brought, as records say.
    ended: list[Vulnerability]
    brought: list[Vulnerability]
    #: The mails that answer the patch, in any of its revisions.
    discussion: list[Related]


class Candidate(Struct, kw_only=True):
    """One of several commits that begin with what was asked for."""

    sha: str
    subject: str | None
    messages: int


class AmbiguousCommitError(NotFoundError):
    """Several commits begin with what was asked for; the text lists them, one a line."""

    has_lines = True

    def __init__(self, sha: str, found: list[Candidate]) -> None:
        self.sha = sha
        self.candidates = found
        lines = [f"Several commits begin with {sha}; give more digits:"]
        for candidate in found:
            subject = printable(candidate.subject) or "(title not known)"
            lines.append(f"  {candidate.sha}  {count(candidate.messages, 'mail'):>8}  {subject}")
        super().__init__("\n".join(lines))


def candidates(archive: Archive, sha: str, written: list[str]) -> list[Candidate]:
    """Return the commits that begin with ``sha``: each of WRITTEN that begins no other."""
    found = []
    whole = [item for item in written if item.startswith(sha)]
    for item in sorted(whole):
        longer = [other for other in whole if other != item and other.startswith(item)]
        if longer:
            continue
        same = [other for other in whole if item.startswith(other)]
        marks = ", ".join("?" * len(same))
        number = archive.value(
            f"SELECT count(DISTINCT message) FROM commit_ref WHERE sha IN ({marks})", same
        )
        subject = _subject(archive, _namings(archive, [item]), [item], None)
        found.append(Candidate(sha=item, subject=subject, messages=number))
    return found


def commit_dossier(
    archive: Archive, sha: str, tree: str | None = None, *, diff: bool = False
) -> CommitDossier:
    """Return the dossier of the commit that begins with ``sha``, in one tree or in all.

    With ``diff`` the contents of backports have the diff between both patches.
    Raises DossierError when it is none, NotFoundError when no mail names it, and
    AmbiguousCommitError when several commits begin so.
    """
    sha = sha.strip().lower()
    if not re.fullmatch(rf"[0-9a-f]{{{MIN_HEX},64}}", sha):
        raise DossierError(f"'{sha}' is no commit: give {MIN_HEX} or more hexadecimal digits.")
    written = spellings(archive, sha)
    if not written:
        raise NotFoundError(f"No mail and no tree in the archive names the commit {sha}.")
    whole = longest(written)
    if whole is None:
        raise AmbiguousCommitError(sha, candidates(archive, sha, written))
    namings = _namings(archive, written)
    git = git_facts(archive, written)
    subject = _subject(archive, namings, written, git)
    postings = _postings(archive, subject, {naming.message.id for naming in namings})
    patches = _patches(namings, postings, git)
    ended = introduced_pairs(archive, whole)
    cves = _names(archive, "SELECT DISTINCT name FROM cve WHERE message = ?", patches)
    if git.commit is not None:
        sql = "SELECT name FROM git_cve WHERE git_commit = ? ORDER BY name"
        cves += _names(archive, sql, [git.commit.id])
    posted = next((one.message.key for one in git.origins if one.is_best), None)
    if posted is None and postings:
        posted = postings[-1].key
    events = events_of_commit(archive, written, tree, title=subject)
    trees = _judged(archive, whole, tree, _trees(events))
    contents = compare_contents(
        archive,
        written,
        [(state.tree, state.events) for state in trees],
        origins=git.origins,
        postings=postings,
        own=[item.message.id for item in namings if item.relation == "own" and not item.quoted],
        diff=diff,
    )
    revisions = [] if posted is None else patch_revisions(archive, posted)
    posts = [*postings, *(one.message for one in git.origins), *(one.message for one in revisions)]
    return CommitDossier(
        sha=whole,
        spellings=written,
        subject=subject,
        trees=trees,
        postings=postings,
        fixes=_fixes(archive, patches),
        namings=namings,
        bugs=_bugs(archive, patches),
        cves=list(dict.fromkeys([*cves, *(pair.cve for pair in ended)])),
        contents=contents,
        git=git,
        revisions=revisions,
        reviewers=reviewers(archive, None if git.commit is None else git.commit.sha, patches),
        earlier=earlier(archive, written),
        later=later(archive, written),
        ended=ended,
        brought=fixed_pairs(archive, whole),
        discussion=discussion(archive, list({post.id: post for post in posts}.values())),
    )


def _patches(namings: list[Naming], postings: list[Brief], git: GitFacts) -> list[int]:
    """The mails that carry the change: postings, what became the commit, its backports."""
    found = [origin.message.id for origin in git.origins]
    found += [posting.id for posting in postings]
    found += [
        item.message.id
        for item in namings
        if item.relation in ("upstream", "own")
        and not item.quoted
        and item.message.is_patch
        and item.kind not in ("request", "partial", "derived")
    ]
    return list(dict.fromkeys(found))


def _namings(archive: Archive, written: list[str]) -> list[Naming]:
    marks = ", ".join("?" * len(written))
    rows = archive.execute(
        "SELECT message, relation, sha, kind, quoted, line, text, rule, confidence"
        f" FROM commit_ref WHERE sha IN ({marks})",
        written,
    ).fetchall()
    shown = briefs(archive, (row[0] for row in rows))
    namings = [
        Naming(
            relation=relation,
            words=RELATIONS.get(relation, relation) + (" (quoted)" if quoted else ""),
            message=shown[message],
            sha=sha,
            kind=kind,
            quoted=bool(quoted),
            line=line,
            text=text,
            rule=rule,
            confidence=CONFIDENCES[confidence],
        )
        for message, relation, sha, kind, quoted, line, text, rule, confidence in rows
    ]
    order = list(RELATIONS)
    namings.sort(
        key=lambda item: (
            order.index(item.relation) if item.relation in order else len(order),
            item.quoted,
            item.message.timestamp or 0,
            item.message.id,
        )
    )
    return namings


def _subject(
    archive: Archive, namings: list[Naming], written: list[str], git: GitFacts | None
) -> str | None:
    """The commit's title: as git has it, else as a backport carries it, else as a tag quotes it."""
    if git is not None and git.commit is not None:
        return git.commit.subject
    if git is not None and git.trees:
        return git.trees[0].subject
    for naming in namings:
        if naming.relation == "upstream" and naming.kind != "partial" and naming.message.is_patch:
            title = archive.value(
                "SELECT coalesce(commit_subject, clean_subject) FROM message WHERE id = ?",
                (naming.message.id,),
            )
            if title:
                return str(title)
    marks = ", ".join("?" * len(written))
    title = archive.value(
        f"SELECT subject FROM commit_ref WHERE sha IN ({marks}) AND subject IS NOT NULL"
        " AND relation <> 'own' GROUP BY subject ORDER BY count(*) DESC, subject LIMIT 1",
        written,
    )
    return None if title is None else str(title)


def _postings(archive: Archive, subject: str | None, known: set[int]) -> list[Brief]:
    rows = archive.execute(
        "SELECT id FROM message WHERE title_hash = ? AND is_patch AND NOT is_reply"
        " AND notice IS NULL AND primary_upstream IS NULL ORDER BY timestamp, id",
        (title_hash(subject),),
    ).fetchall()
    return list(briefs(archive, (id_ for (id_,) in rows if id_ not in known)).values())


def _trees(events: list[Event]) -> list[TreeState]:
    by_tree: dict[str, list[Event]] = {}
    for event in events:
        by_tree.setdefault(event.tree, []).append(event)
    states = []
    for tree in sorted(by_tree, key=sort_key):
        state, decisive = decide(by_tree[tree])
        states.append(
            TreeState(tree=tree, state=state, reason=decisive.words(), events=by_tree[tree])
        )
    return states


def _judged(
    archive: Archive, sha: str, tree: str | None, states: list[TreeState]
) -> list[TreeState]:
    """With one tree, what follows for it where events leave it open: as its list has it."""
    if tree is None or any(item.state not in ("nominated", "unknown") for item in states):
        return states
    row = row_of(archive, tree, sha)
    if row is None:
        return states
    events = [event for item in states for event in item.events]
    if row.event.kind in VERDICTS or not events:
        events.append(row.event)
    return [TreeState(tree=row.tree, state=row.state, reason=row.reason, events=events)]


def _fixes(archive: Archive, messages: list[int]) -> list[Fixed]:
    found: dict[str, Fixed] = {}
    for message in messages:
        for sha, subject, line, text, key in archive.execute(
            "SELECT r.sha, r.subject, r.line, r.text, m.key FROM commit_ref AS r"
            " JOIN mail AS m ON m.id = r.message"
            " WHERE r.message = ? AND r.relation = 'fixes' ORDER BY r.position",
            (message,),
        ):
            found.setdefault(
                sha[:12], Fixed(sha=sha, subject=subject, key=key, line=line, text=text)
            )
    return list(found.values())


def _bugs(archive: Archive, messages: list[int]) -> list[str]:
    return _names(
        archive,
        "SELECT DISTINCT CASE tracker WHEN 'gcc' THEN 'PR ' || coalesce(component || '/', '')"
        " || number ELSE tracker || ' ' || coalesce(number, name) END"
        " FROM bug_ref WHERE message = ? AND strength <= 2",
        messages,
    )


def _names(archive: Archive, sql: str, messages: list[int]) -> list[str]:
    return list(
        dict.fromkeys(
            str(name) for message in messages for (name,) in archive.execute(sql, (message,))
        )
    )

"""Fixes and reverts of a round's patches that are elsewhere and that its tree lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES
from patchlore.kb.backports import Row
from patchlore.kb.git_reading import Places
from patchlore.kb.merge import title_hash
from patchlore.kb.reading import MIN_HEX
from patchlore.kb.review_replies import MAX_LINE, Proof
from patchlore.kb.store import Archive
from patchlore.kb.text import day
from patchlore.kb.versions import newest_first, short_name

#: Relations of a patch to a commit that it mends or takes back, and in words.
RELATIONS = {
    "fixes": "fixes",
    "reverts": "reverts",
    "partial-revert": "partly reverts",
    "reverted-upstream": "reverts",
}
#: What an answer to a patch says of a commit that belongs to it.
WANTED = "wanted-with"
_WANTS = re.compile(
    r"\b(?:also|needs?|needed|pick|take|queue|apply|backport|fix(?:es|ed|up)?|follow-?up|depends"
    r"|prerequisite|together with|missing)\b",
    re.I,
)
#: With these a tree has a fix, or has it as good as.
_HAS = ("released", "queued")


class PendingFix(Struct, kw_only=True):
    """A patch or commit that mends or reverts a patch of the round, and that the tree lacks."""

    #: Its upstream commit, where that is known.
    sha: str | None
    subject: str | None
    author: str | None
    #: ``fixes``, ``reverts`` …, and what: the upstream commit of the patch ``part``.
    relation: str
    fixes: str
    part: int
    #: Its state in the tree of the round; None where nothing connects it with the tree.
    state: str | None
    #: Where it is: "posted 2023-12-07", "posted for 6.1", "in mainline since v6.7-rc5".
    where: list[str]
    evidence: Proof


def pending_fixes(
    archive: Archive,
    parts: Mapping[str, int],
    rows: Sequence[Row],
    own: Collection[int],
    answers: Mapping[int, str],
    tree: str,
) -> list[PendingFix]:
    """Return what mends the commits of ``parts`` (upstream commit to number in the round).

    ``answers`` are replies (row ids) with the commit of the patch that they answer:
    what they ask for beside it is wanted with it.

    ``rows`` is the list of the round's tree, ``own`` the title hashes of the
    round's patches: what they have is not pending.
    """
    states = {row.sha: row.state for row in rows if row.sha}
    titles = {title_hash(row.subject): row.state for row in rows if row.subject}
    groups: dict[tuple[int | str | None, str], list[_Seen]] = {}
    wanted = [seen for seen in _in_answers(archive, answers) if seen.sha not in parts]
    for seen in [
        *_in_mail(archive, list(parts), tree),
        *_in_git(archive, list(parts), tree),
        *wanted,
    ]:
        if seen.title_hash is None or seen.title_hash not in own:
            name = seen.sha if seen.title_hash is None else seen.title_hash
            groups.setdefault((name, seen.target), []).append(seen)
    found = []
    for (_, target), every in groups.items():
        title = every[0].title_hash
        every.sort(key=lambda seen: (seen.timestamp or 0, seen.proof.message_id or ""))
        sha = next((seen.sha for seen in every if seen.sha), None)
        state = next((states[name] for name in states if sha and name.startswith(sha)), None)
        state = state or titles.get(title)
        if state in _HAS or (state is None and any(seen.is_there for seen in every)):
            continue
        first = every[0]
        found.append(
            PendingFix(
                sha=sha,
                subject=first.subject,
                author=first.author,
                relation=first.relation,
                fixes=target,
                part=parts[target],
                state=state,
                where=_places(every),
                evidence=first.proof,
            )
        )
    return sorted(found, key=lambda fix: (fix.part, fix.subject or ""))


class _Seen(Struct, kw_only=True):
    """One mail or commit that names a commit of the round."""

    target: str
    relation: str
    title_hash: int | None
    subject: str | None
    author: str | None
    sha: str | None
    timestamp: int | None
    where: str
    #: Whether the day belongs to it: "posted 2023-12-07", but "posted for 6.1".
    is_dated: bool = False
    #: Whether the tree has it, as git or an announcement tells.
    is_there: bool = False
    proof: Proof


#: The commits asked for, each with all that begins with its first digits.
_NAMING = (
    "FROM json_each(?) AS j JOIN {table} AS r"
    f" ON r.sha >= substr(j.value, 1, {MIN_HEX}) AND r.sha < substr(j.value, 1, {MIN_HEX}) || 'g'"
    " AND r.relation IN (" + ", ".join(f"'{name}'" for name in RELATIONS) + ")"
    " AND substr(j.value, 1, length(r.sha)) = r.sha"
)


def _in_mail(archive: Archive, shas: Sequence[str], tree: str) -> list[_Seen]:
    rows = archive.execute(
        "SELECT j.value, r.relation, r.line, r.text, r.confidence, m.id, m.key, m.timestamp,"
        " coalesce(m.commit_subject, m.clean_subject), m.title_hash, m.primary_upstream,"
        " coalesce(nullif(m.author_name, ''), m.author_email), m.notice, m.is_reply,"
        " EXISTS (SELECT 1 FROM shortlog AS s JOIN message AS a ON a.id = s.message"
        " WHERE s.title_hash = m.title_hash AND a.notice_tree = ? AND a.timestamp >= m.timestamp)"
        f" {_NAMING.format(table='commit_ref')} JOIN mail AS m ON m.id = r.message"
        " WHERE m.is_patch AND NOT r.quoted",
        (tree, json.dumps(shas)),
    ).fetchall()
    ids = [row[5] for row in rows]
    trees = _trees(archive, ids)
    became = _commits(archive, ids)
    return [
        _Seen(
            target=target,
            relation=relation,
            title_hash=title,
            subject=subject,
            author=author,
            sha=upstream or became.get(id_),
            timestamp=timestamp,
            where=_posted(trees.get(id_, []), notice, is_reply),
            is_dated=not trees.get(id_),
            is_there=bool(is_there),
            proof=Proof(
                message_id=key,
                line=line,
                text=text,
                rule=relation,
                confidence=CONFIDENCES[confidence],
            ),
        )
        for (target, relation, line, text, confidence, id_, key, timestamp, subject, title,
             upstream, author, notice, is_reply, is_there) in rows
    ]  # fmt: skip


def _posted(trees: Sequence[str], notice: str | None, is_reply: bool) -> str:
    names = ", ".join(short_name(tree) for tree in newest_first(trees))
    what = {"added": "queued", "review": "in review"}.get(notice or "", "posted")
    return f"{what} for {names}" if names else f"{what} in a reply" if is_reply else what


def _in_answers(archive: Archive, answers: Mapping[int, str]) -> list[_Seen]:
    rows = archive.execute(
        "SELECT m.id, m.key, m.timestamp, r.sha, r.subject, r.line, r.text"
        " FROM json_each(?) AS j JOIN mail AS m ON m.id = j.value"
        " JOIN commit_ref AS r ON r.message = m.id"
        " WHERE NOT m.is_patch AND NOT r.quoted AND r.relation = 'mention'",
        (json.dumps(list(answers)),),
    ).fetchall()
    return [
        _Seen(
            target=answers[id_],
            relation=WANTED,
            title_hash=title_hash(subject),
            subject=subject,
            author=None,
            sha=sha,
            timestamp=timestamp,
            where="named in an answer",
            is_dated=True,
            proof=Proof(
                message_id=key, line=line, text=text, rule="named-in-answer", confidence="medium"
            ),
        )
        for id_, key, timestamp, sha, subject, line, text in rows
        if not answers[id_].startswith(sha) and _WANTS.search((text or "")[:MAX_LINE])
    ]


def _places(every: Sequence[_Seen]) -> list[str]:
    """Where something is, each place once; of revisions the newest tells the day."""
    found: dict[str, str] = {}
    for seen in every:
        found[seen.where] = f"{seen.where} {day(seen.timestamp)}" if seen.is_dated else seen.where
    return list(found.values())


def _trees(archive: Archive, messages: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for message, tree in archive.execute(
        "SELECT DISTINCT t.message, t.tree FROM json_each(?) AS j"
        " JOIN target_tree AS t ON t.message = j.value",
        (json.dumps(messages),),
    ):
        found.setdefault(message, []).append(tree)
    return found


def _commits(archive: Archive, messages: Sequence[int]) -> dict[int, str]:
    """The commits that patches became, by the surest rule."""
    rows: list[tuple[int, str]] = archive.execute(
        "SELECT e.message, e.sha FROM json_each(?) AS j JOIN edge AS e ON e.message = j.value"
        " ORDER BY e.confidence DESC",
        (json.dumps(messages),),
    ).fetchall()
    return dict(rows)


def _in_git(archive: Archive, shas: Sequence[str], tree: str) -> list[_Seen]:
    rows = archive.execute(
        "SELECT j.value, r.relation, r.line, r.text, r.confidence, c.sha, c.subject, c.title_hash,"
        " c.commit_time, c.place, coalesce(nullif(a.name, ''), a.email),"
        " (SELECT u.sha FROM git_commit_ref AS u WHERE u.git_commit = c.id"
        " AND u.relation = 'upstream' ORDER BY u.position LIMIT 1)"
        f" {_NAMING.format(table='git_commit_ref')} JOIN git_commit AS c ON c.id = r.git_commit"
        " LEFT JOIN person AS a ON a.id = c.author",
        (json.dumps(shas),),
    ).fetchall()
    places = Places(archive)
    found = []
    for (target, relation, line, text, confidence, sha, subject, title, time, place, author,
         upstream) in rows:  # fmt: skip
        there = places.of(place)
        where = "; ".join(
            f"in {short_name(item.tree)}"
            + (f" since {item.since}" if item.since else ", not released yet")
            for item in there[-1:]  # stable trees are told first: the last is the mainline
        )
        found.append(
            _Seen(
                target=target,
                relation=relation,
                title_hash=title,
                subject=subject,
                author=author,
                sha=upstream or sha,
                timestamp=time,
                where=where or "committed",
                is_dated=not where,
                is_there=any(item.tree == tree for item in there),
                proof=Proof(
                    message_id=None,
                    commit=sha,
                    line=line,
                    text=text,
                    rule=relation,
                    confidence=CONFIDENCES[confidence],
                ),
            )
        )
    return found

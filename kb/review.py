"""The dossier of a review round: deadline, patches, objections, tags, pending fixes, what came."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchlore.kb.backports import Row, backports, event_rows
from patchlore.kb.errors import NotFoundError
from patchlore.kb.merge import title_hash
from patchlore.kb.reading import Brief, briefs, find_messages, message_names
from patchlore.kb.review_alone import became
from patchlore.kb.review_answers import (
    answers,
    patches_answered,
    replies_to,
    reports_elsewhere,
)
from patchlore.kb.review_covers import Deadline, deadline_in, shortlog_titles
from patchlore.kb.review_fixes import PendingFix, pending_fixes
from patchlore.kb.review_replies import GivenTag, Objection, Proof
from patchlore.kb.review_rounds import (
    Round,
    all_rounds,
    find_rounds,
    not_found_hint,
    unnamed_rounds,
)
from patchlore.kb.store import Archive


class ReviewPatch(Struct, kw_only=True):
    """A patch of the round, and where its commit stands in the tree now."""

    part: int | None
    #: The upstream commit; None where the patch names none.
    sha: str | None
    subject: str | None
    author: str | None
    message: Brief
    state: str
    reason: str
    #: The line that names the upstream commit, and the one that proves the state.
    upstream_evidence: Proof | None
    evidence: Proof


class Dropped(Struct, kw_only=True):
    """A patch that was taken out: of this round, or since an earlier candidate."""

    part: int | None
    sha: str | None
    subject: str | None
    words: str
    evidence: Proof


class OtherRound(Struct, kw_only=True):
    """Another round of the same release."""

    release: str | None
    message_id: str
    date_iso: str | None
    patches: int | None
    evidence: Proof | None


class Announcement(Struct, kw_only=True):
    """The release that came of the round; ``patches`` of it stand in the shortlog."""

    release: str
    message: Brief
    patches: int
    evidence: Proof


class Review(Struct, kw_only=True):
    """What is known about a review round."""

    release: str | None
    tree: str
    #: The cover's Message-ID, also where the archive has only answers to it.
    message_id: str
    cover: Brief | None
    #: The mail that names the release where there is no cover.
    named_by: Brief | None
    evidence: Proof | None
    deadline: Deadline | None
    announced: int | None
    patches: list[ReviewPatch]
    #: Numbers of patches that are announced and not in the archive.
    missing: list[int]
    #: Titles that the cover's shortlog has and no patch of the archive.
    missing_titles: list[str]
    objections: list[Objection]
    tags: list[GivenTag]
    pending: list[PendingFix]
    dropped: list[Dropped]
    earlier: list[OtherRound]
    later: list[OtherRound]
    released: Announcement | None
    #: How many mails answer the round.
    replies: int


def review(archive: Archive, name: str) -> Review:
    """Return the dossier of the round that ``name`` means, the newest of several.

    ``6.6.9-rc1`` is one round, ``6.6.9`` the last candidate of a release, ``6.6``
    the newest round of a tree; the Message-ID of a cover, a patch or an answer is
    that mail's round.  Raises NotFoundError, which names near rounds.
    """
    rounds = all_rounds(archive)
    if "@" in name:
        found = _of_mail(archive, rounds, name)
    else:
        found = find_rounds(rounds, name) or _released_as(archive, rounds, name)
    if not found:
        hint = not_found_hint(rounds, name)
        raise NotFoundError(f"No mail in the archive is of a review round {name.strip()}{hint}.")
    chosen = max(found, key=lambda item: (item.timestamp or 0, item.order))
    return _Reader(archive, chosen, rounds).read()


def _of_mail(archive: Archive, rounds: Sequence[Round], name: str) -> list[Round]:
    """The round of a mail: its own Message-ID is the cover's, or its References name it."""
    texts = set(message_names(name))
    ids = find_messages(archive, name)
    mids = {
        mid
        for (mid,) in archive.execute(
            "SELECT m.mid FROM json_each(?1) AS j JOIN message AS m ON m.id = j.value"
            " UNION SELECT r.mid FROM json_each(?1) AS j"
            " JOIN reference AS r ON r.message = j.value",
            (json.dumps(ids),),
        )
    }
    return [item for item in rounds if item.key in texts or item.mid in mids]


def _released_as(archive: Archive, rounds: Sequence[Round], name: str) -> list[Round]:
    """Rounds that no mail names and whose patches the named release was the first to have."""
    version, _, candidate = name.strip().removeprefix("v").partition("-rc")
    waiting = unnamed_rounds(rounds, version)
    if not waiting:
        return []
    released = {
        title_hash(row.subject): event.release
        for row in event_rows(archive, waiting[0].tree)
        for event in row.events
        if event.kind == "released" and event.release
    }
    found = []
    for item in waiting:
        titles = (title_hash(subject) for _, _, subject in _titles(archive, item))
        seen = Counter(released[title] for title in titles if title in released)
        if seen and seen.most_common(1)[0][0] == version:
            # Which of its candidates it was, nobody says.
            item.release = version
            found.append(item)
    return [] if candidate and len(found) > 1 else found


class _Reader:
    """Reads one round; what several parts of the dossier need is read once."""

    def __init__(self, archive: Archive, chosen: Round, rounds: Sequence[Round]) -> None:
        self.archive = archive
        self.round = chosen
        kin = [
            item
            for item in rounds
            if chosen.final is not None and item.final == chosen.final and item.mid != chosen.mid
        ]
        self.earlier = [item for item in kin if item.order < chosen.order]
        self.later = [item for item in kin if item.order > chosen.order]
        self.rows = backports(archive, chosen.tree)
        self.by_sha = {row.sha: row for row in self.rows if row.sha}
        self.by_title = {title_hash(row.subject): row for row in self.rows if row.subject}
        self.patch_ids = _patches(archive, chosen.mid)
        self.cover = None if chosen.cover is None else archive.message(chosen.cover.id)

    def read(self) -> Review:
        """Return the dossier."""
        chosen = self.round
        patches = self._patches()
        titles = {title_hash(patch.subject) for patch in patches}
        numbers = {patch.part for patch in patches}
        replies = replies_to(self.archive, chosen.mid, self.patch_ids)
        shas = {patch.sha: patch.part or 0 for patch in patches if patch.sha}
        parts = {patch.message.id: patch.part for patch in patches}
        by_row = {patch.message.id: patch.sha for patch in patches if patch.sha}
        answered = patches_answered(self.archive, replies, by_row)
        objections, tags = answers(self.archive, replies, parts, shas)
        objections += reports_elsewhere(self.archive, shas, {brief.id for brief in replies})
        named = [] if self.cover is None else shortlog_titles(self.cover)
        shown = chosen.cover or chosen.named_by
        announcement = self._announcement(titles)
        return Review(
            release=chosen.release,
            tree=chosen.tree,
            message_id=chosen.key,
            cover=chosen.cover,
            named_by=chosen.named_by,
            evidence=None if shown is None else _of_header(shown),
            deadline=self._deadline(replies),
            announced=chosen.announced,
            patches=patches,
            missing=[n for n in range(1, (chosen.announced or 0) + 1) if n not in numbers],
            missing_titles=[title for title in named if title_hash(title) not in titles],
            objections=objections,
            tags=tags,
            pending=pending_fixes(
                self.archive,
                shas,
                self.rows,
                {title for title in titles if title is not None},
                {reply: by_row[id_] for reply, id_ in answered.items()},
                chosen.tree,
            ),
            dropped=self._dropped(patches, announcement),
            earlier=[_other(item) for item in self.earlier],
            later=[_other(item) for item in self.later],
            released=announcement,
            replies=len(replies),
        )

    # -- patches ----------------------------------------------------------------------

    def _patches(self) -> list[ReviewPatch]:
        rows = self.archive.execute(
            "SELECT m.id, m.part, coalesce(m.commit_subject, m.clean_subject),"
            " coalesce(nullif(m.author_name, ''), m.author_email), m.primary_upstream,"
            " r.line, r.text, r.rule FROM json_each(?) AS j JOIN mail AS m ON m.id = j.value"
            " LEFT JOIN commit_ref AS r ON r.message = m.id AND r.relation = 'upstream'"
            " AND r.sha = m.primary_upstream AND NOT r.quoted"
            " GROUP BY m.id ORDER BY m.part, m.timestamp, m.id",
            (json.dumps(self.patch_ids),),
        ).fetchall()
        shown = briefs(self.archive, self.patch_ids)
        found, seen = [], set()
        for id_, part, subject, author, sha, line, text, rule in rows:
            if part is not None and part in seen:
                continue  # sent twice
            seen.add(part)
            row = self.by_sha.get(sha) or self.by_title.get(title_hash(subject))
            key = shown[id_].key
            told = (
                (row.state, row.reason, _of_row(row))
                if row is not None
                else became(self.archive, self.round.tree, id_, subject, self.round.timestamp)
            )
            state, reason, proof = told or (
                "queued",
                f"in review for {self.round.name}",
                _of_header(shown[id_]),
            )
            found.append(
                ReviewPatch(
                    part=part,
                    sha=sha,
                    subject=subject,
                    author=author,
                    message=shown[id_],
                    state=state,
                    reason=reason,
                    upstream_evidence=(
                        None
                        if sha is None
                        else Proof(message_id=key, line=line, text=text, rule=rule or "marker")
                    ),
                    evidence=proof,
                )
            )
        return found

    # -- what came of it --------------------------------------------------------------

    def _deadline(self, replies: Sequence[Brief]) -> Deadline | None:
        """The deadline of the cover; of an answer that quotes it where the cover is missing."""
        if self.cover is not None and self.round.cover is not None:
            return deadline_in(self.cover, self.round.cover, self.round.timestamp, quoted=False)
        for brief in replies:
            found = deadline_in(self.archive.message(brief.id), brief, None, quoted=True)
            if found is not None:
                return found
        return None

    def _announcement(self, titles: set[int | None]) -> Announcement | None:
        rows = self.archive.execute(
            "SELECT id FROM message WHERE notice = 'released' AND notice_tree = ?"
            " AND notice_release = ? ORDER BY timestamp, id LIMIT 1",
            (self.round.tree, self.round.final),
        ).fetchall()
        for brief in briefs(self.archive, (id_ for (id_,) in rows)).values():
            return Announcement(
                release=str(self.round.final),
                message=brief,
                patches=len(titles & _shortlog(self.archive, brief.id)),
                evidence=_of_header(brief),
            )
        return None

    def _dropped(
        self, patches: Sequence[ReviewPatch], announcement: Announcement | None
    ) -> list[Dropped]:
        found: dict[int | None, Dropped] = {}
        mine = {title_hash(patch.subject) for patch in patches}
        if self.cover is not None:
            mine |= {title_hash(title) for title in shortlog_titles(self.cover)}
        is_whole = self.cover is not None or len(patches) == self.round.announced
        for other in self.earlier if is_whole else ():
            words = f"in {other.name}, not in {self.round.name}"
            shown = self.round.cover
            for part, sha, subject in _titles(self.archive, other):
                if title_hash(subject) not in mine:
                    found[title_hash(subject)] = Dropped(
                        part=part,
                        sha=sha,
                        subject=subject,
                        words=words,
                        evidence=_of_header(shown or patches[0].message),
                    )
        for patch in patches:
            title = title_hash(patch.subject)
            row = self.by_sha.get(patch.sha) if patch.sha else self.by_title.get(title)
            events = row.events if row is not None else []
            event = next(
                (item for item in events if item.kind == "dropped" and not item.is_about_undoing),
                None,
            )
            if event is not None and (event.timestamp or 0) >= (self.round.timestamp or 0):
                evidence = Proof(
                    message_id=event.key,
                    line=event.line,
                    text=event.text,
                    rule=event.rule or "now-dropped",
                    confidence=event.confidence,
                )
                found[title] = _dropped(patch, event.words(), evidence)
            elif row is None and patch.state == "dropped":
                found[title] = _dropped(patch, patch.reason, patch.evidence)
        if announcement is not None and not self.later:
            shortlog = _shortlog(self.archive, announcement.message.id)
            for patch in patches if shortlog else ():
                title = title_hash(patch.subject)
                if title not in shortlog and title not in found:
                    words = f"not in the shortlog of {announcement.release}"
                    found[title] = _dropped(patch, words, announcement.evidence)
        return list(found.values())


def _dropped(patch: ReviewPatch, words: str, evidence: Proof) -> Dropped:
    return Dropped(
        part=patch.part, sha=patch.sha, subject=patch.subject, words=words, evidence=evidence
    )


def _patches(archive: Archive, mid: int) -> list[int]:
    """Row ids of the patches below a cover."""
    return [
        id_
        for (id_,) in archive.execute(
            "SELECT m.id FROM reference AS r JOIN message AS m ON m.id = r.message"
            " WHERE r.mid = ? AND m.in_reply_to = ? AND m.is_patch AND NOT m.is_cover"
            " AND (m.notice = 'review' OR (m.part > 0 AND NOT m.is_reply))",
            (mid, mid),
        )
    ]


def _titles(archive: Archive, item: Round) -> Iterator[tuple[int | None, str | None, str]]:
    """Number, upstream commit and title of the patches of a round, by its mails and its cover."""
    seen = set()
    for part, sha, subject in archive.execute(
        "SELECT part, primary_upstream, coalesce(commit_subject, clean_subject)"
        " FROM json_each(?) AS j JOIN message ON message.id = j.value ORDER BY part",
        (json.dumps(_patches(archive, item.mid)),),
    ):
        seen.add(title_hash(subject))
        yield part, sha, subject
    if item.cover is not None:
        for title in shortlog_titles(archive.message(item.cover.id)):
            if title_hash(title) not in seen:
                yield None, None, title


def _shortlog(archive: Archive, message: int) -> set[int | None]:
    return {
        title
        for (title,) in archive.execute(
            "SELECT title_hash FROM shortlog WHERE message = ?", (message,)
        )
    }


def _other(item: Round) -> OtherRound:
    shown = item.cover or item.named_by
    return OtherRound(
        release=item.release,
        message_id=item.key,
        date_iso=None if shown is None else shown.date_iso,
        patches=item.announced,
        evidence=None if shown is None else _of_header(shown),
    )


def _of_header(brief: Brief) -> Proof:
    return Proof(message_id=brief.key, line=0, text=brief.subject, rule="subject")


def _of_row(row: Row) -> Proof:
    event = row.event
    return Proof(
        message_id=None if event.commit else event.key,
        commit=event.commit,
        line=event.line,
        text=event.text,
        rule=event.rule or event.kind,
        confidence=event.confidence,
    )

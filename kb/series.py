"""Series and their revisions: what was posted again, and by which sign the two belong together."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from patchlore.kb.errors import NotFoundError
from patchlore.kb.postings import Posting, Sending, load, sendings, spellings_of
from patchlore.kb.reading import find_message
from patchlore.kb.store import Archive

#: A series with more revisions than these is the work of a robot.
_MOST_REVISIONS = 200

#: So many answered mails are gone up to come from a reply to a posting.
_MOST_STEPS = 200


class Revision(Struct, kw_only=True):
    """One sending of the series; ``label`` is how it is asked for: ``v2``, ``v2#2``."""

    label: str
    version: int
    sending: Sending
    #: Sent again without a change: it says so, or all its patches are the same.
    is_resend: bool = False
    #: By which sign it belongs to the others: change-id, in-reply-to, link, title; None
    #: for the revision that was asked for.
    rule: str | None = None


class Series(Struct, kw_only=True):
    """A series: its title, its sender, and its revisions in order of version and date."""

    title: str | None
    sender: str | None
    revisions: list[Revision]

    def revision(self, label: str) -> Revision:
        """Return the revision called ``label`` (``v2`` or ``2``); raises NotFoundError."""
        wanted = label.strip().lower()
        wanted = wanted if wanted.startswith("v") else f"v{wanted}"
        for revision in self.revisions:
            if revision.label == wanted:
                return revision
        there = ", ".join(revision.label for revision in self.revisions)
        raise NotFoundError(
            f"The archive has no revision {label} of the series: there are {there}."
        )


def series_of(archive: Archive, name: str) -> Series:
    """Return the series that the mail with this Message-ID belongs to.

    A reply stands for the patch or cover that it answers.  Raises NotFoundError
    when there is no such mail, or when it is about no patch.
    """
    start = _posting_of(archive, find_message(archive, name))
    if start is None:
        raise NotFoundError(f"The mail {name} is neither part of a series nor an answer to one.")
    people = spellings_of(archive, start.sender)
    known: dict[int, tuple[Sending, str | None]] = {}
    first = _sending_with(archive, start, people)
    if first is None:
        raise NotFoundError(f"The mail {name} is neither part of a series nor an answer to one.")
    known[first.first.id] = (first, None)
    waiting = [first]
    #: Postings whose sending was looked for: series that were sent often name each other.
    placed: dict[int, Sending | None] = {posting.id: first for posting in first.postings}
    while waiting and len(known) < _MOST_REVISIONS:
        sending = waiting.pop(0)
        for kin, rule in _kin(archive, sending, people):
            if kin.id not in placed:
                found = _sending_with(archive, kin, people)
                placed |= {posting.id: found for posting in (found.postings if found else [kin])}
            other = placed[kin.id]
            if other is None or other.first.id in known or not _can_be(sending, other):
                continue
            known[other.first.id] = (other, rule)
            waiting.append(other)
    revisions = _labelled(list(known.values()))
    newest = revisions[-1].sending.first
    return Series(title=newest.title, sender=newest.sender_name, revisions=revisions)


def _posting_of(archive: Archive, message: int) -> Posting | None:
    """The posting that a mail is, or the nearest one that it answers."""
    for _ in range(_MOST_STEPS):
        found = load(archive, "m.id = ?", (message,))
        if found:
            return found[0]
        parent = archive.value(
            "SELECT other.id FROM message AS m JOIN message AS other ON other.mid = m.in_reply_to"
            " WHERE m.id = ? AND other.id <> m.id",
            (message,),
        )
        if parent is None:
            return None
        message = parent
    return None


def _sending_with(archive: Archive, posting: Posting, people: list[int]) -> Sending | None:
    """The sending that a posting is part of: of its thread, else of those sent around it."""
    marks = ", ".join("?" * len(people)) or "NULL"
    pool = load(
        archive,
        f"m.thread = ? AND m.sender IN ({marks})",
        (posting.thread, *people),
    )
    if posting.in_reply_to is None and posting.timestamp is not None and posting.parts:
        # Sent without references: what else was sent within the hours around it.
        pool += load(
            archive,
            f"m.sender IN ({marks}) AND m.timestamp BETWEEN ? AND ? AND m.parts = ?"
            " AND coalesce(m.version, 1) = ?",
            (
                *people,
                posting.timestamp - 7200,
                posting.timestamp + 7200,
                posting.parts,
                posting.version,
            ),
        )
    if not people:
        pool = [posting]
    for sending in sendings(pool):
        if any(item.id == posting.id for item in sending.postings):
            first = next((item for item in sending.postings if item.in_reply_to is None), None)
            if sending.cover is None and posting.in_reply_to is not None and first is not None:
                # Answers to the first patch, whose cover was sent without references.
                whole = _sending_with(archive, first, people)
                if whole is not None and any(item.id == posting.id for item in whole.postings):
                    return whole
            return sending
    return None


def _kin(archive: Archive, sending: Sending, people: list[int]) -> Iterable[tuple[Posting, str]]:
    """Yield postings of other sendings that may be of the same series, by the surest sign first."""
    marks = ", ".join("?" * len(people)) or "NULL"
    ids = [posting.id for posting in sending.postings]
    mids = [posting.mid for posting in sending.postings]
    here, there = ", ".join("?" * len(ids)), ", ".join("?" * len(mids))
    change = (
        "m.id IN (SELECT message FROM dependency WHERE kind = 'change-id' AND value IN"
        f" (SELECT value FROM dependency WHERE kind = 'change-id' AND message IN ({here})))"
    )
    for posting in load(archive, change, ids):
        yield posting, "change-id"
    answers = [posting.in_reply_to for posting in sending.postings if posting.in_reply_to]
    above = ", ".join("?" * len(answers)) or "NULL"
    for posting in load(
        archive,
        # A parent is a reference, too, and those have an index.
        f"m.sender IN ({marks}) AND (m.mid IN ({above}) OR (m.in_reply_to IN ({there})"
        f" AND m.id IN (SELECT message FROM reference WHERE mid IN ({there}))))",
        (*people, *answers, *mids, *mids),
    ):
        yield posting, "in-reply-to"
    # "v1: https://lore.kernel.org/r/…" in the cover or below the cut, on either side.
    linked = (
        f"m.sender IN ({marks}) AND (m.mid IN (SELECT mid FROM link WHERE message IN ({here}))"
        f" OR m.id IN (SELECT message FROM link WHERE mid IN ({there})))"
    )
    for posting in load(archive, linked, (*people, *ids, *mids)):
        yield posting, "link"
    titles = [
        posting.title_hash
        for posting in ([sending.cover] if sending.cover else sending.postings)
        if posting.title_hash is not None
    ]
    if sending.cover:  # a revision may have lost its cover, or got its first one
        titles += [posting.title_hash for posting in sending.patches.values() if posting.title_hash]
    named = ", ".join("?" * len(titles)) or "NULL"
    for posting in load(
        archive, f"m.title_hash IN ({named}) AND m.sender IN ({marks})", (*titles, *people)
    ):
        yield posting, "title"


def _can_be(one: Sending, other: Sending) -> bool:
    """Whether two sendings can be revisions of one series at all.

    Those for different stable trees never are.  Otherwise the title must be the
    same, or the version must go on and half of the patches have the same titles.
    """
    if one.first.trees != other.first.trees:
        return False
    if one.first.trees and one.version == other.version and one.parts != other.parts:
        return False  # two rounds of AUTOSEL that have a patch in common
    if one.cover and other.cover and one.cover.title_hash == other.cover.title_hash:
        return True
    mine = {patch.title_hash for patch in one.patches.values()}
    theirs = {patch.title_hash for patch in other.patches.values()}
    shared = len(mine & theirs)
    if shared and 2 * shared >= min(len(mine), len(theirs)):
        return True
    # What was renamed is known by its number: v3 behind v2, in answer to it or linked.
    return one.version != other.version and _is_one_patch(one) == _is_one_patch(other)


def _is_one_patch(sending: Sending) -> bool:
    return sending.cover is None and sending.parts is None


def _labelled(found: list[tuple[Sending, str | None]]) -> list[Revision]:
    found.sort(key=lambda item: (item[0].version, item[0].timestamp, item[0].first.id))
    revisions: list[Revision] = []
    for sending, rule in found:
        before = [item for item in revisions if item.version == sending.version]
        label = f"v{sending.version}" + (f"#{len(before) + 1}" if before else "")
        revisions.append(
            Revision(
                label=label,
                version=sending.version,
                sending=sending,
                is_resend=any(posting.is_resend for posting in sending.postings)
                or any(_is_same(item.sending, sending) for item in before),
                rule=rule,
            )
        )
    return revisions


def _is_same(one: Sending, other: Sending) -> bool:
    """Whether the patches of two sendings are the same, by their patch ids."""
    first = {part: patch.patch_id for part, patch in one.patches.items()}
    second = {part: patch.patch_id for part, patch in other.patches.items()}
    return bool(first) and first == second and None not in first.values()

"""Patches and cover letters as they were posted, brought together into one sending of a series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchlore.kb.store import Archive

#: Mails without references belong together when no more time lies between them.
#: git send-email takes a second for each; those who send by hand take minutes.
GAP = 15 * 60

#: Postings of one person that are looked at; robots that post without end are cut.
_MOST = 5000

_SELECT = (
    "SELECT m.id, m.mid, m.thread, m.key, m.timestamp, m.subject, m.clean_subject, m.title_hash,"
    " m.version, m.part, m.parts, m.prefixes, m.is_cover, m.is_patch, m.patch_id, m.applicable,"
    " m.in_reply_to, m.sender, coalesce(m.sender_name, m.sender_email, m.sender_masked),"
    " (SELECT group_concat(tree, ' ') FROM (SELECT DISTINCT tree FROM target_tree AS t"
    " WHERE t.message = m.id ORDER BY tree))"
    " FROM mail AS m WHERE m.has_tags AND NOT m.is_reply AND m.notice IS NULL"
    " AND (m.is_patch OR m.is_cover OR m.part = 0) AND "
)


class Posting(Struct, kw_only=True):
    """A patch or a cover letter as it was posted."""

    id: int
    mid: int
    thread: int
    key: str
    timestamp: int | None
    subject: str | None
    title: str | None
    title_hash: int | None
    version: int
    #: 3 of ``[PATCH 3/5]``; 0 for a cover letter, None for a patch by itself.
    part: int | None
    parts: int | None
    prefixes: str
    is_cover: bool
    is_patch: bool
    patch_id: str | None
    applicable: bool
    in_reply_to: int | None
    sender: int | None
    sender_name: str | None
    #: The stable trees that it is meant for: a posting for another one is no revision.
    trees: str
    #: Message-IDs that it refers to, the nearest last.
    references: list[int] = []

    @property
    def is_resend(self) -> bool:
        """Whether its tag says that it was sent before."""
        return " RESEND " in self.prefixes.upper()


class Sending(Struct, kw_only=True):
    """One sending of a series: its cover and patches; a patch by itself is a series of one."""

    version: int
    parts: int | None
    cover: Posting | None = None
    #: By part; 1 for a patch without a number.
    patches: dict[int, Posting] = {}

    @property
    def first(self) -> Posting:
        """The cover, else the first patch."""
        return self.cover or self.patches[min(self.patches)]

    @property
    def postings(self) -> list[Posting]:
        """The cover and the patches in order."""
        patches = [self.patches[part] for part in sorted(self.patches)]
        return [self.cover, *patches] if self.cover else patches

    @property
    def missing(self) -> list[int]:
        """The parts that the archive doesn't have."""
        total = min(self.parts or 0, 10_000)
        return [part for part in range(1, total + 1) if part not in self.patches]

    @property
    def timestamp(self) -> int:
        """When its first mail was sent."""
        return min((posting.timestamp or 0 for posting in self.postings), default=0)

    @property
    def last(self) -> int:
        """When its last mail was sent."""
        return max((posting.timestamp or 0 for posting in self.postings), default=0)


def load(archive: Archive, condition: str, parameters: Sequence[object]) -> list[Posting]:
    """Return the postings that meet a condition on the view ``mail``, named ``m``."""
    found = []
    for row in archive.execute(f"{_SELECT} ({condition}) LIMIT {_MOST}", parameters).fetchall():
        (id_, mid, thread, key, timestamp, subject, title, hash_, version, part, parts, prefixes,
         is_cover, is_patch, patch_id, applicable, parent, sender, name, trees) = row  # fmt: skip
        references = [
            ancestor
            for (ancestor,) in archive.execute(
                "SELECT mid FROM reference WHERE message = ? ORDER BY position", (id_,)
            )
        ]
        found.append(
            Posting(
                id=id_,
                mid=mid,
                thread=thread,
                key=key,
                timestamp=timestamp,
                subject=subject,
                title=title,
                title_hash=hash_,
                version=version or 1,
                part=part,
                parts=parts,
                prefixes=prefixes,
                is_cover=bool(is_cover) or part == 0,
                is_patch=bool(is_patch),
                patch_id=patch_id,
                applicable=bool(applicable),
                in_reply_to=parent,
                sender=sender,
                sender_name=name,
                trees=trees or "",
                references=references,
            )
        )
    return found


def spellings_of(archive: Archive, sender: int | None) -> list[int]:
    """Return the rows of ``person`` that are this one: the same address, or the same name."""
    if sender is None:
        return []
    rows = archive.execute(
        "SELECT other.id FROM person AS one JOIN person AS other"
        " ON other.email = one.email AND one.email <> '' WHERE one.id = ?1"
        " UNION SELECT other.id FROM person AS one JOIN person AS other"
        " ON other.name = one.name AND one.name <> '' WHERE one.id = ?1",
        (sender,),
    )
    return [id_ for (id_,) in rows]


def sendings(postings: Iterable[Posting]) -> list[Sending]:
    """Bring postings of one person together into sendings, oldest first.

    A patch belongs to what it answers: the cover, or a patch of lower number.
    Where nothing is answered, postings of one version and number of parts that
    follow each other closely are one; a number that is taken begins another.
    """
    found: list[Sending] = []
    of_mid: dict[int, Sending] = {}
    # Covers first: clocks and mail servers send them behind their patches at times.
    order = sorted(
        {posting.id: posting for posting in postings}.values(),
        key=lambda item: (not item.is_cover, item.timestamp or 0, item.part or 0, item.id),
    )
    for posting in order:
        sending = None
        if not posting.is_cover and posting.part is not None:
            sending = _answered(posting, of_mid) or _nearby(posting, found)
        if sending is None:
            sending = Sending(version=posting.version, parts=posting.parts)
            found.append(sending)
        if posting.is_cover:
            sending.cover = posting
        else:
            sending.patches[posting.part or 1] = posting
        of_mid[posting.mid] = sending
    return sorted(found, key=lambda item: (item.timestamp, item.first.id))


def _answered(posting: Posting, of_mid: dict[int, Sending]) -> Sending | None:
    """The sending of the mail that a patch answers, if it can be part of that one."""
    ancestors = [posting.in_reply_to, *reversed(posting.references)]
    for ancestor in dict.fromkeys(ancestors):
        sending = of_mid.get(ancestor) if ancestor is not None else None
        if sending is None:
            continue
        cover = sending.cover
        is_cover = cover is not None and cover.mid == ancestor
        # "[PATCH v3 0/4]" with patches "[PATCH 1/4]" below it: the version was forgotten.
        same_version = sending.version == posting.version or (is_cover and posting.version == 1)
        lower = is_cover or any(
            patch.mid == ancestor and part < (posting.part or 0)
            for part, patch in sending.patches.items()
        )
        if (
            same_version
            and lower
            and sending.parts == posting.parts
            and posting.part not in sending.patches
        ):
            return sending
    return None


def _nearby(posting: Posting, found: list[Sending]) -> Sending | None:
    """The sending of the same version and size, sent just before or after, that lacks the part."""
    for sending in reversed(found):
        if (
            sending.version == posting.version
            and sending.parts == posting.parts
            and posting.part not in sending.patches
            and sending.first.trees == posting.trees
            and _is_close(posting, sending)
        ):
            return sending
    return None


def _is_close(posting: Posting, sending: Sending) -> bool:
    if posting.in_reply_to is not None and sending.cover is not None:
        return False  # it answers something else than this cover
    when = posting.timestamp
    if when is None:
        return posting.thread == sending.first.thread
    if posting.in_reply_to is not None and posting.thread != sending.first.thread:
        # Parts that all answer one mail, which is not there, are in one thread.
        return False
    return sending.timestamp - GAP <= when <= sending.last + GAP

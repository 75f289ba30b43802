"""All revisions of a patch on the list: which mail of each sending of its series it was."""

from __future__ import annotations

from msgspec import Struct

from patchlore.kb.errors import NotFoundError
from patchlore.kb.postings import Posting, Sending
from patchlore.kb.reading import Brief, briefs
from patchlore.kb.series import series_of
from patchlore.kb.store import Archive


class PatchRevision(Struct, kw_only=True):
    """A sending of a patch; ``label`` is that of its series (``v2``, ``v2#2`` for a resend).

    ``rule`` tells by which sign it belongs to the others (change-id, in-reply-to,
    link, title); None for the one that was started from.
    """

    label: str
    rule: str | None
    is_resend: bool
    message: Brief


def patch_revisions(archive: Archive, key: str) -> list[PatchRevision]:
    """Return the revisions of the patch that a mail (its Message-ID) is, in order; or [].

    A patch that was renamed is known by its place in a series of the same length.
    """
    try:
        series = series_of(archive, key)
    except NotFoundError:
        return []
    start = next(
        (
            (revision.sending, patch)
            for revision in series.revisions
            for patch in revision.sending.postings
            if patch.key == key
        ),
        None,
    )
    if start is None:
        return []
    found = []
    for revision in series.revisions:
        patch = _same(revision.sending, *start)
        if patch is not None:
            found.append((revision, patch.id))
    shown = briefs(archive, (id_ for _, id_ in found))
    return [
        PatchRevision(
            label=revision.label,
            rule=revision.rule,
            is_resend=revision.is_resend,
            message=shown[id_],
        )
        for revision, id_ in found
    ]


def _same(other: Sending, sending: Sending, patch: Posting) -> Posting | None:
    """What a patch of one sending is in another one."""
    patches = list(other.patches.values())
    for one in patches:
        if one.title_hash is not None and one.title_hash == patch.title_hash:
            return one
    if len(patches) == len(sending.patches) == 1:
        return patches[0]
    if len(patches) != len(sending.patches):
        return None
    place = next((part for part, one in sending.patches.items() if one.id == patch.id), None)
    same = other.patches.get(place) if place is not None else None
    # What has that place under another title, but whose own title the series has elsewhere.
    titles = {one.title_hash for one in sending.patches.values()}
    return None if same is None or same.title_hash in titles else same

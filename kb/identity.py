"""Whether a backport is the upstream change: identical, moved, adjusted, a part of it, another."""

from __future__ import annotations

import re
from collections import Counter

from msgspec import Struct

from patchlore.kb.identity_patches import Note, Patch
from patchlore.kb.text import count

#: What a backport can be to its upstream commit, from the same to another.
KINDS = ("identical", "same-change", "adjusted", "partial", "different")

#: In words, for people.
WORDS = {
    "identical": "identical",
    "same-change": "the same change in another place",
    "adjusted": "adjusted",
    "partial": "a part of it",
    "different": "different",
}

#: With less in common (as shares of both) two patches are different ones.
_ALIKE = 0.3
#: So much of a part must be upstream's, when files or hunks of that are left out.
_PART = 0.9
#: Shorter lines ("{", "}", "else") are in every patch: they count only among each other.
_SHORT = 4
#: Changed lines of both patches up to which words are compared where lines are not alike.
_SHORT_PATCH = 100

_WORD = re.compile(r"\w{2,60}")


class Verdict(Struct, kw_only=True):
    """What a backport is to its upstream commit, how alike they are (0 to 1), and why in words.

    ``notes`` are what those who took it say of their changes, without what the
    upstream patch says itself.
    """

    kind: str
    likeness: float
    reason: str
    notes: list[Note] = []


def identity(upstream: Patch, backport: Patch) -> Verdict | None:
    """Compare a backport with its upstream patch; None where their diffs are not at hand.

    Identical is what has one ``git patch-id``: white space and line numbers do
    not count, context does.  The same change is one with the same added and
    removed lines, whatever is around them and in whichever files.
    """
    same_id = upstream.patch_id is not None and upstream.patch_id == backport.patch_id
    if not same_id and not (upstream.files and backport.files):
        return None
    said = {note.text for note in upstream.notes}
    notes = [note for note in backport.notes if note.text not in said]
    kind, likeness, reason = _judge(upstream, backport)
    if kind not in ("identical", "same-change"):
        likeness = min(likeness, 0.99)  # one of a thousand lines is a difference, too
    return Verdict(kind=kind, likeness=round(likeness, 2), reason=reason, notes=notes)


def _judge(upstream: Patch, backport: Patch) -> tuple[str, float, str]:
    if upstream.patch_id is not None and upstream.patch_id == backport.patch_id:
        return "identical", 1.0, "one patch id"
    if _whole(upstream) == _whole(backport):
        return "identical", 1.0, "the same files, lines and context"
    if _is_same_change(upstream, backport):
        return "same-change", 1.0, _where(upstream, backport)
    theirs, own = Counter(upstream.changed), Counter(backport.changed)
    if theirs == own:
        return "adjusted", _likeness(theirs, own), "the same lines in another order"
    likeness = _likeness(theirs, own)
    common = (theirs & own).total()
    left_out, added = theirs.total() - common, own.total() - common
    share = common / (own.total() or 1)
    if left_out and (not added or (share >= _PART and _misses_a_piece(upstream, backport))):
        told = f"{common} of {count(theirs.total(), 'changed line')}"
        if len(backport.files) < len(upstream.files):
            told += f", {len(backport.files)} of {count(len(upstream.files), 'file')}"
        if added:
            told += f"; {count(added, 'line')} of its own"
        return "partial", likeness, told
    told = f"{count(left_out, 'line')} of upstream's left out, {count(added, 'line')} of its own"
    if max(likeness, share * 0.6) < _ALIKE:
        # A short fix of which every line had to be changed: its words are the same.
        likeness = max(likeness, _words_alike(theirs, own) / 2)
        if likeness < _ALIKE:
            return "different", likeness, told
    return "adjusted", likeness, told


def _whole(patch: Patch) -> object:
    return sorted(
        (file.path, [(hunk.changed, hunk.context) for hunk in file.hunks]) for file in patch.files
    )


def _is_same_change(one: Patch, other: Patch) -> bool:
    """Whether the changed lines are the same, file by file or hunk by hunk, in order."""
    if sorted(file.changed for file in one.files) == sorted(file.changed for file in other.files):
        return True
    return _hunks(one) == _hunks(other)


def _hunks(patch: Patch) -> Counter[tuple[str, ...]]:
    return Counter(tuple(hunk.changed) for file in patch.files for hunk in file.hunks)


def _where(upstream: Patch, backport: Patch) -> str:
    theirs = {file.path for file in upstream.files}
    own = {file.path for file in backport.files}
    if theirs == own:
        return "the same lines in another context"
    moved = ", ".join(sorted(own - theirs)[:3])
    return f"the same lines in other files ({moved})" if moved else "the same lines in fewer files"


def _misses_a_piece(upstream: Patch, backport: Patch) -> bool:
    """Whether a whole file or hunk of the upstream patch is not in the backport at all."""
    own = Counter(backport.changed)
    return any(not own.keys() & set(hunk.changed) for file in upstream.files for hunk in file.hunks)


def _words_alike(one: Counter[str], other: Counter[str]) -> float:
    """As _likeness, of words in lines with their signs; 0 for patches that are no short ones."""
    if one.total() + other.total() > _SHORT_PATCH:
        return 0.0
    first, second = (
        Counter((line[0], word) for line in lines.elements() for word in _WORD.findall(line[1:]))
        for lines in (one, other)
    )
    return 2 * (first & second).total() / ((first.total() + second.total()) or 1)


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Twice the lines in common by the lines of both (Dice), short lines left out if others are."""
    long = [Counter({line: n for line, n in lines.items() if len(line) > _SHORT}) for lines in
            (one, other)]  # fmt: skip
    first, second = long if all(long) else (one, other)
    return 2 * (first & second).total() / ((first.total() + second.total()) or 1)

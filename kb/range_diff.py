"""What changed between two revisions of a series, patch by patch, as git range-diff tells it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from msgspec import Struct

from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_BINARY,
    KIND_CONTEXT,
    KIND_DIFF,
    KIND_HUNK,
    KIND_REMOVED,
    Message,
)
from patchlore.kb.merge import even_out
from patchlore.kb.postings import Posting, Sending
from patchlore.kb.store import Archive

#: Two patches with less in common (difflib's ratio) are different ones.
#: git's creation factor of 60 says the same of the size of the difference.
_ALIKE = 0.5

#: Longer patches are compared by their titles and ids alone.
_MOST_LINES = 20_000

_DIFF_KINDS = frozenset({KIND_DIFF, KIND_HUNK, KIND_ADDED, KIND_REMOVED, KIND_CONTEXT, KIND_BINARY})


class PatchChange(Struct, kw_only=True):
    """A patch in two revisions: ``sign`` is ``=`` when they are the same, ``!`` when changed.

    ``<`` is a patch that is gone, ``>`` one that is new.
    """

    sign: str
    old: Posting | None
    new: Posting | None
    #: The lines of a unified diff between the two patches: message, then diff.
    diff: list[str] = []


class _Text(Struct):
    posting: Posting
    lines: list[str]
    #: Files and changed lines: what makes two patches alike.
    changed: list[str]


def compare(archive: Archive, old: Sending, new: Sending) -> list[PatchChange]:
    """Return the changes of each patch in the order of the new revision, gone ones first."""
    before = [_text(archive, patch) for _, patch in sorted(old.patches.items())]
    after = [_text(archive, patch) for _, patch in sorted(new.patches.items())]
    pairs = _pairs(before, after)
    changes = [
        PatchChange(sign="<", old=text.posting, new=None)
        for number, text in enumerate(before)
        if number not in pairs.values()
    ]
    for number, text in enumerate(after):
        if number not in pairs:
            changes.append(PatchChange(sign=">", old=None, new=text.posting))
            continue
        other = before[pairs[number]]
        diff = list(diff_of_patches(other.lines, text.lines))
        changes.append(
            PatchChange(sign="!" if diff else "=", old=other.posting, new=text.posting, diff=diff)
        )
    return changes


def _text(archive: Archive, posting: Posting) -> _Text:
    message = archive.message(posting.id)
    changed = [
        line
        for line, kind in zip(message.body.split("\n"), message.line_kinds, strict=False)
        if kind in (KIND_ADDED, KIND_REMOVED) or (kind == KIND_DIFF and line.startswith("diff "))
    ]
    return _Text(posting, list(patch_lines(message)), changed)


def patch_lines(message: Message) -> Iterator[str]:
    """Yield a patch as it is compared: title, message, then the diff without what moves by itself.

    Left out are the ids of blobs and the line numbers of hunks, which change
    with every rebase.
    """
    yield message.commit_subject or message.clean_subject or ""
    yield from (message.commit_message or "").strip("\n").split("\n")
    for line, kind in zip(message.body.split("\n"), message.line_kinds, strict=False):
        if kind not in _DIFF_KINDS or line.startswith("index "):
            continue
        if kind == KIND_HUNK and line.startswith("@@"):
            line = "@@" + line[2:].partition("@@")[2]
        yield line


def _pairs(before: list[_Text], after: list[_Text]) -> dict[int, int]:
    """Pair patches, new to old: by patch id, by title, by what they have in common."""
    pairs: dict[int, int] = {}
    left = set(range(len(before)))

    def take(key_of_old: dict[object, list[int]], keys: list[object]) -> None:
        for number, key in enumerate(keys):
            if number in pairs or key in (None, ""):
                continue
            for candidate in key_of_old.get(key, []):
                if candidate in left:
                    pairs[number] = candidate
                    left.discard(candidate)
                    break

    for kind in ("patch_id", "title"):
        keyed: dict[object, list[int]] = {}
        for number, text in enumerate(before):
            keyed.setdefault(_key(text, kind), []).append(number)
        take(keyed, [_key(text, kind) for text in after])
    likenesses = sorted(
        (
            (likeness, number, candidate)
            for number, text in enumerate(after)
            if number not in pairs
            for candidate in left
            if (likeness := _likeness(before[candidate].changed, text.changed)) >= _ALIKE
        ),
        key=lambda item: (-item[0], item[1], item[2]),
    )
    for _, number, candidate in likenesses:
        if number not in pairs and candidate in left:
            pairs[number] = candidate
            left.discard(candidate)
    return pairs


def _key(text: _Text, kind: str) -> object:
    return text.posting.patch_id if kind == "patch_id" else even_out(text.lines[0])


def _likeness(one: list[str], other: list[str]) -> float:
    if len(one) + len(other) > _MOST_LINES:
        return 0.0
    matcher = difflib.SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE:
        return 0.0
    return matcher.ratio()


def diff_of_patches(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield the lines of a unified diff between two patches (patch_lines), without file names."""
    if old == new:
        return
    if len(old) + len(new) > _MOST_LINES:
        yield f"(too long to be shown: {len(old):,} and {len(new):,} lines)"
        return
    lines = difflib.unified_diff(old, new, n=3, lineterm="")
    for number, line in enumerate(lines):
        if number >= 2:  # the names of the files
            yield "@@" if line.startswith("@@") else line

"""``Fixes:`` and ``Stable-dep-of:``: commits with their subjects, however the line was damaged.

The canonical form is in the kernel's submitting-patches.rst: 12 or more hex
digits and the one-line summary in (" "). One line in five is something else.
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context, Line
from patchlore.ingest.message import CommitRef

_TAG = re.compile(
    r"[ \t]{0,2}(fixes|stable-dep-of)[ \t]*(:?)[ \t]*(?:(?:the )?(?:commit|commit-id|commit id)[ \t]*:?"
    r"[ \t]*)?[\[(<\"']?([0-9a-f]{6,40})(?![0-9a-z])(?!-)",
    re.I,
)
_BARE = re.compile(r"[ \t]{0,2}(fixes|stable-dep-of)[ \t]*:[ \t]*$", re.I)
_NEXT = re.compile(r"[ \t]*(?:,|and|&|;)[ \t]*(?:commit[ \t]+)?([0-9a-f]{7,40})(?![0-9a-z])", re.I)
_OPENERS = {
    '("': '")',
    "('": "')",
    "(“": "”)",
    "(”": "”)",
    "(‘": "’)",
    "(`": "`)",
    '"': '"',
    "“": "”",
}
_AFTER_TITLE = re.compile(r"[\s,;.#\[(]|$")
_NEW_TAG = re.compile(r"\s*$|[A-Za-z][A-Za-z0-9-]{1,30}\s?:(?:\s|$)|---|Fixes\b|commit [0-9a-f]|\[")
_VERSION = re.compile(r"#|\[|v?\d+\.\d+|\.$|;|//|https?:|-- ", re.I)


def find(context: Context) -> None:
    """Fill ``fixes``, ``fixes_after_cut``, ``suggested_fixes`` and ``stable_dep_of``."""
    if not context.words.any("fixes", "stable-dep-of"):
        return
    message = context.message
    for kind, index, ref in _references(context, context.message_lines):
        if kind == "fixes":
            message.fixes.append(ref)
            context.note("fixes", ref.sha, index, "fixes-tag")
        else:
            message.stable_dep_of.append(ref)
            context.note("stable_dep_of", ref.sha, index, "stable-dep-of-tag")
    if message.is_patch:
        for kind, index, ref in _references(context, context.layout.notes):
            if kind == "fixes":
                message.fixes_after_cut.append(ref)
                context.note("fixes_after_cut", ref.sha, index, "below-cut", confidence="medium")
    elif message.is_reply:
        for kind, index, ref in _references(context, context.own_lines):
            if kind == "fixes":
                message.suggested_fixes.append(ref)
                context.note("suggested_fixes", ref.sha, index, "in-reply", confidence="medium")


def _references(context: Context, lines: list[Line]) -> list[tuple[str, int, CommitRef]]:
    found: list[tuple[str, int, CommitRef]] = []
    for position, (index, line) in enumerate(lines):
        if line[:3].strip()[:1] not in ("F", "f", "S", "s") or "<" in line[:3]:
            continue
        if _BARE.match(line) and position + 1 < len(lines):
            line = line.rstrip() + " " + lines[position + 1][1].strip()
        match = _TAG.match(line)
        if match is None:
            continue
        digits = match[3]
        rest = line[match.end() :]
        if not match[2] and not re.match(r"\s*[:(]|\s*$", rest):
            continue  # prose: "Fixes 1234567 of the reports"
        if digits.isdigit() and len(digits) < 10 and not rest.strip():
            context.reject("fixes", index, "a-number-is-no-commit", line)
            continue
        kind = match[1].lower()
        context.claimed.add(index)
        found.extend((kind, index, ref) for ref in _titles(digits, rest, lines, position))
    return found


def _titles(digits: str, rest: str, lines: list[Line], position: int) -> list[CommitRef]:
    """The commits of one tag line: DIGITS, then what follows them in REST and on the next lines."""
    refs = []
    while True:
        title, rest = _title(rest, lines, position)
        refs.append(CommitRef(sha=digits.lower(), subject=title))
        following = _NEXT.match(rest)
        if following is None:
            return refs
        digits, rest = following[1], rest[following.end() :]


def _title(rest: str, lines: list[Line], position: int) -> tuple[str | None, str]:
    """Read a title at the start of REST; return it and what follows it.

    A title that its quotes leave open goes on below ("(\\"net: make it" / "go
    round\\")"), unless what stands there is a tag: a forgotten quote must not
    swallow the tags below it.
    """
    rest = rest.lstrip(" \t:])>'").lstrip()
    opener = next((mark for mark in _OPENERS if rest.startswith(mark)), None)
    if opener is not None:
        closer, inner = _OPENERS[opener], rest[len(opener) :]
        end = _closing(inner, closer)
        if end < 0:
            joined = inner
            for _, below in lines[position + 1 : position + 4]:
                if _NEW_TAG.match(below):
                    break
                joined += " " + below.strip()
                end = _closing(joined, closer)
                if end >= 0:
                    return joined[:end].strip() or None, joined[end + len(closer) :]
            return inner.strip().rstrip('")').strip() or None, ""
        return inner[:end].strip() or None, inner[end + len(closer) :]
    if rest.startswith("("):
        end = rest.rfind(")")
        title = rest[1:end] if end > 0 else rest[1:]
        if _VERSION.match(title):
            return None, rest
        return title.strip() or None, rest[end + 1 :] if end > 0 else ""
    if not rest or _VERSION.match(rest) or _NEXT.match(rest):
        return None, rest
    return rest.strip().rstrip(")").strip() or None, ""


def _closing(text: str, closer: str) -> int:
    """Where CLOSER ends a title: what follows can't be the title's own."""
    start = 0
    while True:
        end = text.find(closer, start)
        if end < 0:
            return -1
        if _AFTER_TITLE.match(text, end + len(closer)):
            return end
        start = end + 1

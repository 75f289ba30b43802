"""The grammar of patch subjects: reply marks, tags in brackets, stable notices.

The forms and how often they stand on lists: ``[PATCH v2 net-next 3/5]``,
``[PATCH AUTOSEL 6.17-5.4]``, ``[nft PATCH]``, ``[PATCHv2 3/4]``, ``[v2,net,1/3]``
(as patchwork rewrites it), ``[PATCH 5.10 / 5.15 v2]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from patchlore.ingest.message import SubjectTags

_REPLY = re.compile(
    r"\s*(re|aw|antw|antwort|sv|vs|odp|ynt|rif|ris|res|atb|rv|回复|回覆|答复|答覆)"
    r"(?:\[\d{1,3}\]|\(\d{1,3}\)|\^\d{1,3})?\s?[:：]\s*",
    re.I,
)
_FORWARD = re.compile(r"\s*(?:fwd?|wg|tr|rv|转发)\s?[:：]\s*", re.I)
_GROUP = re.compile(r"\s*\[([^\[\]]*)\]\s*")
_OPEN = re.compile(r"\s*\[\s*(?=patch)", re.I)
_PATCH_WORD = re.compile(r"(?:mega)?patch(es|sets?|bomb)?[-_:]*", re.I)
_COUNTER = re.compile(r"#?(\d{1,4})/(\d{1,4})")
#: "PATCH3/5" holds one, "5.10/5.15" does not.
_HOLDS_COUNTER = re.compile(r"(?<![\d.])\d{1,4}/\d{1,4}(?![\d.])")
_VERSION = re.compile(r"v(?:er)?\.?(\d{1,3})((?:\.\d{1,2}){1,2})?", re.I)
_GLUED_PATCH = re.compile(r"([a-z]+)-patch|patch(-next|-[a-z]+)", re.I)
_GLUED_VERSION = re.compile(r"([A-Za-z]+?)[-_]?v(\d{1,2})", re.I)
_TREE = re.compile(
    r"(?:for-)?(?:linux-|kernel-|-?stable[-/:])?v?([2-9]\.\d{1,2}(?:\.\d{1,3})?)"
    r"(\.[yx])?(?:[-.]?stable)?(?:-?rc\d*)?((?:-(?:cip|rt|ltsi|lts)\d*)*)(\+)?",
    re.I,
)
#: The first numbers of kernels that a tag with a point and a "v" may name.
_MAJOR_KERNELS = range(4, 10)
#: A word beside a counter in a tag without the word patch: a project, a tree, a misspelt PATCH.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][\w.+-]{0,30}|-next")
#: What numbers its mails without offering patches.
_NUMBERED_TEXTS = re.compile(
    r"ann?oun?ce(?:ments?)?|text|topic|bugs?|questions?|pull\w*|deluge", re.I
)
#: AUTOSEL writes "6.17-5.4", people "5.4~6.6".
_RANGE = re.compile(r"v?(\d\.\d{1,2})(?:\.y)?(?:-|~|\.\.)v?(\d\.\d{1,2})(?:\.y)?")
_DEVELOPMENT = re.compile(
    r"(?:net|nf|bpf|ipsec|wireless|mm|tip|rdma|net-queue|iwl-net|iwl-next|mptcp|wpan|can"
    r"|[\w/.]*-next(?:-fixes|-queue)?|[\w.]+-fixes|-(?:next|mm|tip|rc|next-fixes)"
    r"|mm-[a-z-]+|rdma-rc|for-[a-z]+|drm-[a-z-]+|x86/[a-z]+|tip/[a-z/]+|wireless-[a-z-]+)",
    re.I,
)
#: Words that, by themselves in brackets, make a tag and no part of the title.
_TAG_WORDS = frozenset(
    [
        "rfc",
        "rft",
        "rfr",
        "rfp",
        "resend",
        "repost",
        "wip",
        "autosel",
        "candidate",
        "stable",
        "-stable",
        "for",
        "patch",
        "patches",
        "patchset",
        "bugfix",
        "urgent",
        "request",
        "rebased",
        "backport",
    ]
)
_ADDED = re.compile(
    r'\s*(?:note:? )?patch "(.*)" has been (added to|dropped from|removed from|queued)'
    r"(?: (?:for|to))?(?: the)? (\d+\.\d+(?:\.\d+)?)[-. ]?(?:stable|y)?",
    re.I,
)
_FAILED = re.compile(
    r'\s*(failed|warning)[:;]? patch "(.*)" (?:failed to apply|does not apply|fails? to build)'
    r".{0,20}? (?:to|in|on)?\s*(?:the )?(\d+\.\d+(?:\.\d+)?)[-.]?(?:stable|y)",
    re.I,
)


class Subject(Struct, kw_only=True):
    """What a subject says; ``notice`` is ``added``, ``dropped`` or ``failed`` for a notice."""

    clean: str
    tags: SubjectTags | None = None
    is_reply: bool = False
    is_pull: bool = False
    is_patchset: bool = False
    list_tags: list[str] = []
    notice: str | None = None
    unbalanced: bool = False


#: Characters of a subject; the longest on lists have a thousand.
MAX_SUBJECT = 1 << 14


def stable_tree(version: str) -> str:
    """A stable tree's name from a version: ``5.10``, ``v5.10.3`` give ``5.10.y``."""
    parts = version.lower().lstrip("v").split(".")
    # 2.6.32 was a series of its own, maintained as 2.6.32.y.
    keep = 3 if parts[:2] == ["2", "6"] and len(parts) > 2 else 2
    return ".".join(parts[:keep]) + ".y"


def _numbers(version: str) -> list[int]:
    """``6.17`` as numbers, to be compared by."""
    return [int(part) for part in version.split(".")]


def read_subject(subject: str) -> Subject:
    """Read a decoded, unfolded SUBJECT, as much of it as a subject has; never raises."""
    subject = subject[:MAX_SUBJECT]
    position, is_reply, lists = 0, False, list[str]()
    while True:
        reply = _REPLY.match(subject, position)
        if reply:
            is_reply, position = True, reply.end()
            continue
        forward = _FORWARD.match(subject, position)
        if forward:
            position = forward.end()
            continue
        group = _GROUP.match(subject, position)
        # "[widgets] Re: [PATCH] …": the list's tag stands before the reply mark.
        if group and not _is_tag(group[1]) and _REPLY.match(subject, group.end()):
            lists.append(group[1].strip())
            position = group.end()
            continue
        break
    text = subject[position:]
    notice = _read_notice(text, is_reply)
    if notice:
        return notice
    return _read_brackets(text, is_reply, lists)


def _read_notice(text: str, is_reply: bool) -> Subject | None:
    added = _ADDED.match(text)
    if added:
        kind = "added" if added[2].lower().startswith(("added", "queued")) else "dropped"
        tree, title = stable_tree(added[3]), added[1]
    else:
        failed = _FAILED.match(text)
        if not failed:
            return None
        kind, tree, title = "failed", stable_tree(failed[3]), failed[2]
    inner = _read_brackets(title, False, [])
    return Subject(
        clean=inner.clean, tags=SubjectTags(target_tree=tree), is_reply=is_reply, notice=kind
    )


@lru_cache(maxsize=1024)
def _is_tag(group: str) -> bool:
    """Is this bracket a patch tag, or made of tag words only? Threads repeat their brackets."""
    words = _words(group)
    if not words:
        return False
    if any(_PATCH_WORD.match(word) and _is_patch_word(word) for word in words):
        return True
    if _is_pull(words):
        return True
    return all(_is_tag_word(word) for word in words) or _is_numbered(group, words)


def _is_numbered(group: str, words: tuple[str, ...]) -> bool:
    """Whether this numbers a patch without the word: ``iptables RFC 1/2``, ``PATH 5.10 0/4``.

    Robots number the commits of a tree likewise (``nf-next:testing 4/5``): with a colon.
    """
    counters = [match for word in words if (match := _COUNTER.fullmatch(word))]
    others = [word for word in words if not _COUNTER.fullmatch(word)]
    return (
        len(counters) == 1
        and int(counters[0][1]) <= int(counters[0][2])
        and ":" not in group
        and len(others) <= 4
        and all(_PLAIN_WORD.fullmatch(word) for word in others)
        and not any(_NUMBERED_TEXTS.fullmatch(word) for word in others)
    )


def _is_patch_word(word: str) -> bool:
    match = _PATCH_WORD.match(word)
    if match is None:
        return False
    rest = word[match.end() :]
    return not rest or bool(_COUNTER.fullmatch(rest) or _VERSION.fullmatch(rest))


def _is_pull(words: Sequence[str]) -> bool:
    lowered = [word.lower() for word in words]
    return "pull" in lowered and (lowered[0] in ("git", "pull", "gentle"))


def _is_tag_word(word: str) -> bool:
    lowered = word.lower()
    return bool(
        lowered in _TAG_WORDS
        or _COUNTER.fullmatch(word)
        or _VERSION.fullmatch(word)
        or (_TREE.fullmatch(word) and "." in word)
        or lowered
        in ("net", "net-next", "nf", "nf-next", "bpf", "bpf-next", "-next", "mm-unstable")
        or (_GLUED_VERSION.fullmatch(word) and word.lower().startswith(("rfc", "patch")))
    )


@lru_cache(maxsize=1024)
def _words(group: str) -> tuple[str, ...]:
    """The words of a bracket: blanks, commas and "/" between words part them."""
    group = re.sub(r"(\d)\s+of\s+(\d)", r"\1/\2", group)
    group = re.sub(r"(?<=\d)\s*/\s+(?=\d{1,4}\b(?!\.))|(?<=\d)\s+/(?=\d{1,4}\b(?!\.))", "/", group)
    words: list[str] = []
    for word in re.split(r"[\s,;&]+", group):
        word = word.strip(":()")
        if not word or word == "/":
            continue
        glued = _GLUED_PATCH.fullmatch(word)
        if glued:  # "RFC-PATCH", "PATCH-next": the tree keeps its dash
            words.extend([glued[1], "PATCH"] if glued[1] else ["PATCH", glued[2]])
        elif "/" in word and not _HOLDS_COUNTER.search(word) and not _DEVELOPMENT.fullmatch(word):
            words.extend(part for part in word.split("/") if part)
        else:
            words.append(word)
    return tuple(words)


def _read_brackets(text: str, is_reply: bool, lists: list[str]) -> Subject:
    tags: SubjectTags | None = None
    found = Subject(clean=text.strip(), is_reply=is_reply)
    position = 0
    skipped: list[str] = []
    while True:
        group = _GROUP.match(text, position)
        if not group:
            break
        words = _words(group[1])
        is_tag = _is_tag(group[1])
        if not is_tag and tags is not None:
            break  # "[media]" after the tag belongs to the title
        if is_tag:
            if _is_pull(words):
                found.is_pull = True
                found.list_tags.extend(skipped)
                skipped = []
                position = group.end()
                continue
            tags = tags or SubjectTags()
            _read_tag(words, tags, found)
            found.list_tags.extend(skipped)
            skipped = []
        else:
            skipped.append(group[1].strip())
        position = group.end()
    if tags is None and not found.is_pull:
        opened = _OPEN.match(text)
        if opened and "]" not in text[opened.end() :]:
            return _read_unbalanced(text[opened.end() :], found, lists)
        found.list_tags = lists
        return found
    if skipped:  # brackets that no tag followed stay in the title
        position = text.index("[" + skipped[0]) if "[" + skipped[0] in text else position
    found.list_tags = lists + found.list_tags
    found.clean = text[position:].strip()
    found.tags = tags
    return found


def _read_unbalanced(text: str, found: Subject, lists: list[str]) -> Subject:
    """``[PATCH 1/2 tick: use two``: the tag ends at the first word that is none of its own."""
    words = text.split()
    count = 0
    while count < len(words) and (_is_patch_word(words[count]) or _is_tag_word(words[count])):
        count += 1
    tags = SubjectTags()
    _read_tag(words[:count], tags, found)
    found.tags, found.unbalanced, found.list_tags = tags, True, lists
    found.clean = " ".join(words[count:])
    return found


def _read_tag(words: Sequence[str], tags: SubjectTags, found: Subject) -> None:
    """Fill TAGS from the words of one bracket."""
    stables: list[str] = []
    developments: list[str] = []
    prefixes: list[str] = []
    for word in _with_ranges(words):
        match = _PATCH_WORD.match(word)
        if match and _is_patch_word(word):
            found.is_patchset = found.is_patchset or (match[1] or "").lower() in (
                "set",
                "sets",
                "bomb",
            )
            word = word[match.end() :]
            if not word:
                continue
        _read_word(word, tags, stables, developments, prefixes, found.is_patchset)
    if stables or tags.target_range:
        prefixes = [word for word in prefixes if word.lower() not in ("stable", "-stable")]
    tags.prefixes += prefixes
    trees = stables or developments
    if trees and tags.target_tree is None:
        tags.target_tree = trees[0] if len(trees) == 1 else trees


def _with_ranges(words: Sequence[str]) -> list[str]:
    """WORDS with ``5.4 to 4.14`` (each tree from the one to the other) as one: ``5.4-4.14``."""
    joined: list[str] = []
    for word in words:
        if (
            len(joined) > 1
            and joined[-1].lower() in ("to", "through", "-")
            and _RANGE.fullmatch(f"{joined[-2]}-{word}")
        ):
            joined[-2:] = [f"{joined[-2]}-{word}"]
        else:
            joined.append(word)
    return joined


def _read_word(
    word: str,
    tags: SubjectTags,
    stables: list[str],
    developments: list[str],
    prefixes: list[str],
    is_patchset: bool,
) -> None:
    counter = _COUNTER.fullmatch(word)
    if counter:
        tags.index, tags.total = int(counter[1]), int(counter[2])
        return
    version = _VERSION.fullmatch(word)
    # "v2.1" and "v24.2" are versions of the patch; "v4.19" and "v5.10" are trees, but for a
    # whole patch set ("[PATCHSET v5.3]"): those for a stable tree go without the "v".
    if version and (not version[2] or is_patchset or int(version[1]) not in _MAJOR_KERNELS):
        tags.version = int(version[1])
        if version[2]:
            tags.version_text = version[1] + version[2]
        return
    interval = _RANGE.fullmatch(word)
    if interval:
        oldest, newest = (stable_tree(end) for end in sorted(interval.groups(), key=_numbers))
        tags.target_range = {"newest": newest, "oldest": oldest}
        stables.append(newest)
        return
    tree = _TREE.fullmatch(word)
    if tree:
        stables.append(stable_tree(tree[1]) + tree[3].lower())
        return
    glued = _GLUED_VERSION.fullmatch(word)
    if glued and glued[1].lower() in _TAG_WORDS:  # "RFCv3"
        prefixes.append(glued[1])
        tags.version = int(glued[2])
        return
    if word.lower() == "for":
        return
    if _DEVELOPMENT.fullmatch(word):
        developments.append(word)
    prefixes.append(word)

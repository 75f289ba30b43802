"""Tags of commit messages (``Reviewed-by:``), wherever in the message they float.

git interpret-trailers reads the last paragraph only; people put tags above it
and mean them. A tag counts by its key and by a value that fits the key, so
that "Cc: list trimmed" and "Link: is missing" stay prose.
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context, Line
from patchlore.ingest.message import Trailer

_TAG = re.compile(r"[ \t]{0,1}([A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+){0,5})\s?:\s*(\S.*)")
_PERSON_KEY = re.compile(r"(?:[a-z]+-){1,4}by|cc|to", re.I)
_LINK_KEYS = frozenset(
    ["link", "closes", "buglink", "bugzilla", "bug", "references", "url", "origin", "message-id",
     "msgid", "discussion", "bug-link", "reference"]
)  # fmt: skip
_COMMIT_KEYS = frozenset(["fixes", "stable-dep-of", "fixes-commit", "reverts"])
_WORD_KEYS = frozenset(
    ["change-id", "depends-on", "based-on", "git-commit", "patch-mainline", "cve", "jira", "bz"]
)
_ADDRESS = re.compile(r"<[^<>\s]*[@.][^<>]*>|\S+@\S+|\bat\b")
_URLISH = re.compile(
    r"<?(?:https?|ftp)://|#\d|<?[\w.+-]+@[\w.-]|(?:boo|bsc|bnc|CVE)[#-]|\d+$", re.I
)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?:[ \t]+[\w.'’(\[-][^\s]*){0,6}$")


def find(context: Context) -> None:
    """Fill ``trailers``, ``reported_by`` of a patch, ``trailers_given`` of a reply."""
    message = context.message
    if message.is_patch:
        for index, key, value in tag_lines(context, context.message_lines):
            message.trailers.append(Trailer(key=key, value=value))
            context.note("trailers", f"{key}: {value}", index, "tag")
            if key.lower() in ("reported-by", "reported-and-tested-by"):
                message.reported_by.append(value)
                context.note("reported_by", value, index, "tag")
    elif message.is_reply:
        for index, key, value in tag_lines(context, context.own_lines):
            if _PERSON_KEY.fullmatch(key) and key.lower() not in ("cc", "to"):
                message.trailers_given.append(f"{key}: {value}")
                context.note("trailers_given", f"{key}: {value}", index, "tag-in-reply")
    elif context.message.reported_by == []:
        for index, key, value in tag_lines(context, context.own_lines):
            if key.lower() == "reported-by":
                message.reported_by.append(value)
                context.note("reported_by", value, index, "tag", confidence="high")


def tag_lines(context: Context, lines: list[Line]) -> list[tuple[int, str, str]]:
    """The tags among LINES: index of the line, key as written, value with its folds joined."""
    tags: list[tuple[int, str, str]] = []
    last = -2
    for index, line in lines:
        if last == index - 1 and line[:1] == " " and line.strip():
            # A folded value goes on below, indented: git interpret-trailers joins it.
            where, key, value = tags[-1]
            if len(value) < 1000 and ":" not in line.split(" ")[0]:
                tags[-1] = (where, key, f"{value} {line.strip()}")
                last = index
            continue
        if ":" not in line:
            continue
        match = _TAG.match(line)
        if match is not None and is_tag(match[1], match[2], flat=context.text.flat):
            tags.append((index, match[1], match[2].strip()))
            last = index
    return tags


def is_tag(key: str, value: str, *, flat: bool = False) -> bool:
    """Does VALUE fit the tag KEY? With FLAT (addresses lost) a bare name is a person."""
    lowered = key.lower()
    if _PERSON_KEY.fullmatch(lowered):
        if _ADDRESS.search(value):
            return True
        if lowered in ("cc", "to"):
            return flat and _NAME.fullmatch(value.strip()) is not None
        return key[:1].isupper() and _NAME.fullmatch(value.strip()) is not None
    if lowered in _LINK_KEYS:
        return _URLISH.match(value) is not None
    if lowered in _COMMIT_KEYS:
        return re.search(r"[0-9a-f]{6}|://|#\d|CVE-", value) is not None
    if lowered in _WORD_KEYS:
        return True
    if lowered.startswith(("content-", "mime-")):
        return False  # a MIME part's head that stands in the text
    # Other keys with a hyphen and a capital ("Tested-on: …", "Link-v1: …").
    return "-" in key and key[:1].isupper() and len(key) <= 40

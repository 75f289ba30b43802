"""Notices of the stable maintainers: added, failed, in review, dropped, released."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.facts.drops import find_drop
from patchlore.ingest.message import Notification
from patchlore.ingest.subject import stable_tree

_QUEUE_FILE = re.compile(r"\s+([\w.+-]{1,200}\.patch)\s*$")
_FILENAME = re.compile(r"the filename of the patch is:?\s*([\w.+-]{1,200}\.patch)?", re.I)
_ROUND = re.compile(r"(\d+\.\d+(?:\.\d+)?(?:-rc\d+)?)[- ](?:stable )?review\b", re.I)
_RELEASE = re.compile(
    r"(?:\[ANNOUNCE\] )?Linux (?:kernel )?v?(\d+\.\d+(?:\.\d+)+)(?: released)?\s*$", re.I
)


def find(context: Context) -> None:
    """Fill ``notification`` and ``original_commit``."""
    message, subject = context.message, context.subject
    tags = message.subject_tags
    tree = tags.target_tree if tags is not None and isinstance(tags.target_tree, str) else None
    if subject.notice and not subject.is_reply:
        notice = Notification(kind=subject.notice, tree=tree)
        if subject.notice == "failed":
            notice.original_commit = _original(context)
            message.original_commit = notice.original_commit
        else:
            notice.queue_file = _queue_file(context)
        message.notification = notice
        context.note("notification", subject.notice, -1, "stable-notice", text=message.subject)
        return
    title = message.clean_subject or ""
    review = _ROUND.search(title) if not subject.is_reply else None
    if review and message.is_cover_letter:
        release = review[1]
        tree = tree or stable_tree(release.partition("-")[0])
        message.notification = Notification(kind="review", tree=tree, release=release)
        context.note("notification", "review", -1, "review-round", text=message.subject)
    elif context.layout.review_tree is not None:
        tree = tree or stable_tree(context.layout.review_tree)
        message.notification = Notification(kind="review", tree=tree)
        line = max(context.layout.author_at, 0)
        context.note("notification", "review", line, "review-preamble")
    elif tags is None and _RELEASE.match(title):
        match = _RELEASE.match(title)
        if match:
            release = match[1]
            message.notification = Notification(
                kind="released", tree=stable_tree(release), release=release
            )
            context.note("notification", "released", -1, "release-announcement", text=title)
    elif message.is_reply and not message.is_patch and tree is not None:
        _find_dropped(context, tree)


def _find_dropped(context: Context, tree: str) -> None:
    """A reply that says "now dropped"; "please drop" is only a request."""
    if "drop" not in context.words or not re.match(r"\d+\.\d+", tree):
        return
    found = find_drop(context.own_lines, tree)
    if found is not None:
        index, tree = found
        context.message.notification = Notification(kind="dropped", tree=tree)
        context.note("notification", "dropped", index, "now-dropped", confidence="medium")


def _original(context: Context) -> str | None:
    """The commit that failed to apply: ``From <sha>`` of the enclosed patch, or ``cherry-pick -x``."""
    layout = context.layout
    if layout.carried_commit:
        context.note("original_commit", layout.carried_commit, layout.carried_at, "enclosed-patch")
        return layout.carried_commit
    for index, line in enumerate(context.text.lines):
        match = re.search(r"(?:cherry-pick -x|original commit:?|commit) ([0-9a-f]{40})\b", line)
        if match:
            context.note("original_commit", match[1], index, "cherry-pick-line")
            return match[1]
    return None


def _queue_file(context: Context) -> str | None:
    lines = context.text.lines
    for index, line in enumerate(lines[:60]):
        named = _FILENAME.search(line)
        if named is None:
            continue
        if named[1]:
            return named[1]
        for below in lines[index + 1 : index + 3]:
            match = _QUEUE_FILE.match(" " + below)
            if match:
                return match[1]
    return None

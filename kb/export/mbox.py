"""Backport lists as an mbox (mboxrd) of their patches, ready for ``git am``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from patchlore.ingest.message import KIND_HEADER, Message
from patchlore.ingest.raw import Source
from patchlore.kb.backports import Row
from patchlore.kb.carrying import carried
from patchlore.kb.events import Event
from patchlore.kb.export.patches import (
    NO_PATCH,
    has_marker,
    left_out,
    marker,
    patch_event,
    patch_of,
    place_of_patch,
    to_apply,
    unmarked,
)
from patchlore.kb.mailing import TEXT_FORMATS, name_for_git, one_line
from patchlore.kb.store import Archive

#: Lines that a reader of mboxrd would take for a separator, quoted or not.
_FROM = re.compile(rb"^(>*From )", re.MULTILINE)

_SUBJECT = re.compile(rb"^Subject:[ \t]*(?:\[PATCH([^]\n]{0,100})\][ \t]*)?", re.M | re.I)
_VERSION = re.compile(rb"\d\.\d")

#: What stands for a byte that is none of its charset, and for NUL.
REPLACED = "\N{REPLACEMENT CHARACTER}"

#: Names of lists that can stand in a separator.
LIST_NAME = re.compile(r"[\w.@+-]{1,200}", re.ASCII)


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the patch of each row; what has none is told in a note.

    A mail stays as it was sent, but for the line ``commit <sha> upstream.`` that it
    gets before its text where it names no upstream commit and that is known.  What was
    no mail of its own (attached to one, a commit, of another encoding) has the tree in
    its subject, so that who reads it knows what it is for.
    """
    left: list[Row] = []
    taken: list[Row] = []
    written: set[tuple[object, ...]] = set()
    rows, notes = to_apply(rows)
    for row in rows:
        event = patch_event(row)
        if event is not None and place_of_patch(event) in written:
            continue  # one mail may carry several commits
        mail = None if event is None else _marked(archive, tree, row, event)
        if event is None or mail is None:
            left.append(row)
            continue
        written.add(place_of_patch(event))
        taken.append(row)
        out.write(mboxrd(mail, event.timestamp))
    return notes + left_out(left, NO_PATCH) + unmarked(taken)


def _marked(archive: Archive, tree: str, row: Row, event: Event) -> bytes | None:
    """The mail of an event, with a marker of the row's commit; None where there is none."""
    found = carried(archive, event)
    if found is None:
        return None
    raw, message = found.raw, found.message
    if event.attachment is not None or event.commit is not None:
        raw = _for_tree(raw, tree)
    if _is_refused(message):
        return _rebuilt(archive, tree, row, event)
    if row.sha is None or has_marker(message, row.sha):
        return raw
    body = message.body.encode("utf-8", "replace")
    if not body or raw.count(body) != 1:  # encoded, in parts, or of another charset
        return _rebuilt(archive, tree, row, event)
    lines = message.body.split("\n")
    text = next(
        (
            number
            for number, (line, kind) in enumerate(zip(lines, message.line_kinds, strict=False))
            if line.strip() and kind != KIND_HEADER
        ),
        0,
    )
    above = sum(len(line.encode("utf-8", "replace")) + 1 for line in lines[:text])
    place = raw.index(body) + above
    return raw[:place] + f"{marker(row.sha)}\n\n".encode() + raw[place:]


def _rebuilt(archive: Archive, tree: str, row: Row, event: Event) -> bytes | None:
    """The mail of an event as git format-patch would write it, under its own Message-ID."""
    patch = patch_of(archive, row, event)
    if patch is None:
        return None
    head, gap, body = _for_tree(patch.as_file().partition(b"\n")[2], tree).partition(b"\n\n")
    if event.message and event.attachment is None:
        head += f"\nMessage-ID: <{one_line(patch.key)}>".encode("utf-8", "replace")
    return head + gap + body


def _is_refused(message: Message) -> bool:
    """Whether git am stops at the headers of a mail: a NUL, a name of stops or an open quote."""
    sender = message.from_
    name = (sender and sender.name) or ""
    is_bad_name = name != "" and (name_for_git(sender) is None or name.count('"') % 2 == 1)
    address = (sender and sender.email) or ""
    return is_bad_name or any(REPLACED in text for text in (message.subject or "", name, address))


def _for_tree(raw: bytes, tree: str) -> bytes:
    """Name a tree in the tag of a mail's subject, which git am takes off, if that names none."""
    head, gap, body = raw.partition(b"\n\n")
    subject = _SUBJECT.search(head)
    if subject is None or LIST_NAME.fullmatch(tree) is None or _VERSION.search(subject[1] or b""):
        return raw
    tag = b"Subject: [PATCH " + tree.encode("ascii") + (subject[1] or b"") + b"] "
    return head[: subject.start()] + tag + head[subject.end() :] + gap + body


def mboxrd(
    raw: bytes,
    timestamp: int | None,
    source: Source | None = None,
    *,
    words: Sequence[str] = (),
) -> bytes:
    """Return one mail as mboxrd: separator, the exact bytes with ``>`` before From lines.

    Reading it back as mboxrd gives the bytes of the mail (and a last line end
    if it had none, unless ``source`` is given).  The ``From <sha>`` line of a
    format-patch is the first line of the mail: escaped as any other, it is to
    git am a header like the rest.
    Behind the date of the separator stands what the bytes of a mail from
    ``source`` don't say: a fidelity that is not exact, patchwork, the list, the
    format of a text that is no mail (a patch without a header), and ``words``.
    """
    said = _found_as(source, raw) + "".join(f" {word}" for word in words).encode("ascii")
    separator = b"From mboxrd@z " + _ctime(timestamp) + said + b"\n"
    body = _FROM.sub(rb">\1", raw)
    if not body.endswith(b"\n"):
        body += b"\n"
    return separator + body + b"\n"


def _found_as(source: Source | None, raw: bytes) -> bytes:
    if source is None:
        return b""
    words: list[str] = [] if source.fidelity == "exact" else [source.fidelity]
    if source.format == "patchwork-mbox":
        words.append(source.format)
    if source.format in TEXT_FORMATS:
        words.append(f"format={source.format}")
    if not raw.endswith(b"\n"):
        words.append("no-line-end")
    if source.list and LIST_NAME.fullmatch(source.list):
        words.append(f"list={source.list}")
    return "".join(f" {word}" for word in words).encode("ascii")


def _ctime(timestamp: int | None) -> bytes:
    try:
        when = datetime.fromtimestamp(timestamp or 0, UTC)
    except (OverflowError, ValueError, OSError):
        when = datetime.fromtimestamp(0, UTC)
    return when.strftime("%a %b %e %H:%M:%S %Y").encode("ascii")

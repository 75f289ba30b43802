"""A commit as git stores it: who, when, its message, and the facts that the message states.

The form is git's own (git cat-file commit; Documentation/user-manual, "Commit
Object"): header lines, an empty line, the message. Facts are found by the same
finders as in mail, over the lines of the message, so that a marker means the
same wherever it stands.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from itertools import accumulate

from msgspec import Struct

from patchlore.ingest.facts import (
    bugs,
    cves,
    dependencies,
    fixes,
    links,
    mentions,
    reverts,
    stable_notes,
    trailers,
    upstream,
)
from patchlore.ingest.facts.context import Context
from patchlore.ingest.frame import Layout
from patchlore.ingest.mail import Mail
from patchlore.ingest.message import Message, Person
from patchlore.ingest.raw import Source
from patchlore.ingest.subject import Subject
from patchlore.ingest.text import HEADER, SIGNATURE, Text

#: The finders that can find something in a message without a mail around it.
_FINDERS = (
    trailers.find,
    fixes.find,
    links.find,
    reverts.find,
    stable_notes.find,
    upstream.find,
    bugs.find,
    cves.find,
    dependencies.find,
    mentions.find,
)

#: ``Ada Quill <ada@example.org> 1704164645 +0100``; old tools left names or dates out.
_IDENT = re.compile(rb"(.{0,1000}?) ?<([^<>]{0,1000})>?(?: (-?\d{1,15})(?: ([+-]\d{4,5}))?)?\s*$")


class Ident(Struct, kw_only=True):
    """Who and when: ``timestamp`` in seconds since 1970, ``offset`` of the zone in minutes."""

    person: Person
    timestamp: int | None = None
    offset: int = 0

    @property
    def iso(self) -> str | None:
        """The date with its zone (ISO 8601), None for one that no calendar has."""
        if self.timestamp is None:
            return None
        try:
            zone = timezone(timedelta(minutes=self.offset)) if self.offset else UTC
            return datetime.fromtimestamp(self.timestamp, zone).isoformat()
        except (OverflowError, ValueError, OSError):
            return None


class Commit(Struct, kw_only=True):
    """A commit: ``message`` holds its text as ``body`` and the facts that the text states.

    ``parents`` are whole ids; ``subject`` is the first paragraph in one line, as
    ``git log --format=%s`` prints it.
    """

    parents: list[str]
    author: Ident
    committer: Ident
    subject: str
    message: Message


def read_commit(data: bytes) -> Commit:
    """Read the content of a commit object (``git cat-file commit SHA``); never raises.

    The message is decoded by the commit's ``encoding`` header, else as UTF-8,
    else as Latin-1. Line 1 of the evidence is the first line of the message.
    """
    head, _, text = data.partition(b"\n\n")
    fields: dict[bytes, bytes] = {}
    parents: list[str] = []
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode("ascii", "replace"))
        elif key and key not in fields:  # continuation lines (gpgsig) begin with a blank
            fields[key] = value
    encoding = fields.get(b"encoding", b"utf-8").decode("ascii", "replace").strip()
    author = _ident(fields.get(b"author", b""), encoding)
    committer = _ident(fields.get(b"committer", b""), encoding)
    body = _decode(text, encoding).replace("\x00", "�")
    subject, message = read_message(body)
    message.from_ = message.author = author.person
    message.timestamp = author.timestamp
    message.author_date_iso = author.iso
    return Commit(
        parents=parents, author=author, committer=committer, subject=subject, message=message
    )


def read_message(body: str) -> tuple[str, Message]:
    """Return the title of a commit message and the message with its facts; never raises."""
    lines = body.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    text = Text(body, lines, starts)
    if "\r" in body:
        text.drop_returns()
    first = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    end = next((n for n in range(first, len(lines)) if not lines[n].strip()), len(lines))
    subject = " ".join(line.strip() for line in lines[first:end])
    # The title is read as the subject; as a line of the text it is passed over.
    text.kinds[:end] = bytes([SIGNATURE]) * end
    layout = Layout(
        message=list(enumerate(lines[end:], end)), message_start=end, message_end=len(lines)
    )
    message = Message(
        source=Source(path="", format="git"),
        subject=subject,
        clean_subject=subject,
        is_patch=True,
        body=body,
        commit_message=body,
    )
    context = Context(Mail(), text, layout, Subject(clean=subject), message, {})
    for find in _FINDERS:
        find(context)
    text.kinds[:end] = bytes([HEADER]) * end
    message.line_kinds = text.line_kinds()
    return subject, message


def _ident(value: bytes, encoding: str) -> Ident:
    match = _IDENT.match(value)
    if match is None:
        return Ident(person=Person(name=_decode(value, encoding).strip() or None))
    name = _decode(match[1], encoding).strip()
    email = _decode(match[2], encoding).strip()
    zone = int(match[4]) if match[4] else 0
    minutes = abs(zone) // 100 * 60 + abs(zone) % 100
    minutes = min(minutes, 24 * 60 - 1) * (-1 if zone < 0 else 1)
    return Ident(
        person=Person(name=name or None, email=email.lower() or None),
        timestamp=int(match[3]) if match[3] else None,
        offset=minutes,
    )


def _decode(data: bytes, encoding: str) -> str:
    for name in (encoding, "utf-8"):
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")

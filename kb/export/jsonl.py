"""Backport lists as JSON Lines: one object for each row, fields named in docs/cli.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import msgspec

from patchlore.kb.backports import Row
from patchlore.kb.events import Event
from patchlore.kb.store import Archive
from patchlore.kb.text import iso

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write rows as JSON Lines."""
    encoder = msgspec.json.Encoder()
    for row in rows:
        out.write(encoder.encode(as_object(row)) + b"\n")
    return []


def as_object(row: Row) -> dict[str, Any]:
    """Return a row as the object that is written."""
    return {
        "schema": SCHEMA,
        "tree": row.tree,
        "upstream_commit": row.sha,
        "subject": row.subject,
        "state": row.state,
        "state_before": row.state_before,
        "reason": row.reason,
        "date_iso": iso(row.event.timestamp),
        "index": row.event.part,
        "total": row.event.parts,
        "message_id": None if row.event.commit else row.event.key,
        "evidence": _evidence(row),
        "requires": [
            {"sha": need.sha, "subject": need.subject, "why": need.why, "present": need.is_present}
            for need in row.requires
        ],
        "notes": row.notes,
        "override": None if row.override is None else msgspec.to_builtins(row.override),
        "tried": None if row.tried is None else msgspec.to_builtins(row.tried),
        "events": [event_object(event) for event in row.events],
    }


def _evidence(row: Row) -> dict[str, Any]:
    """The line that proves the state: of a person's file where one has set it."""
    if row.override is None:
        return evidence_of(row.event)
    return {
        "message_id": None,
        "file": row.override.file,
        "line": row.override.line,
        "text": row.override.text,
        "rule": "override",
        "confidence": "certain",
    }


def event_object(event: Event) -> dict[str, Any]:
    """Return an event as the object that is written."""
    return {
        "event": event.kind,
        "tree": event.tree,
        "words": event.words(),
        "date_iso": iso(event.timestamp),
        "by": event.by,
        "author": event.author,
        "version": event.version,
        "index": event.part,
        "total": event.parts,
        "release": event.release,
        "applicable": event.applicable,
        "message_id": None if event.commit else event.key,
        "evidence": evidence_of(event),
    }


def evidence_of(event: Event) -> dict[str, Any]:
    """Return the line that proves an event: of a mail, or of a commit's message (``commit``)."""
    commit = {"commit": event.commit} if event.commit else {}
    return {
        "message_id": None if event.commit else event.key,
        **commit,
        "line": event.line,
        "text": event.text,
        "rule": event.rule,
        "confidence": event.confidence,
    }

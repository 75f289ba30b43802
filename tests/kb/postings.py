"""Postings and notices made by hand, and the list that the archive makes of them."""

from __future__ import annotations

import pathlib
from typing import Any

from patchlore.ingest.message import (
    Evidence,
    Message,
    Notification,
    UpstreamRef,
)
from patchlore.kb.backports import Row, backports
from patchlore.kb.store import Archive
from tests.kb.mails import NOON, UPSTREAM, message, raw_of, source, tags

DAY = 86400

FUTURE = {"timestamp": 1900000000, "date_iso": "2030-03-17T17:46:40+00:00"}


def posting(
    number: int, sha: str = UPSTREAM, tree: str | None = "5.10.y", **fields: Any
) -> Message:
    """Return a mail that carries a backport of ``sha``, sent ``number`` days after the first."""
    line = f"commit {sha} upstream."
    values: dict[str, Any] = {
        "timestamp": NOON + number * DAY,
        "subject": f"[PATCH {tree}] tick: use two",
        "subject_tags": tags(tree),
        "is_patch": True,
        "applicable": True,
        "body": f"{line}\n\nThe {number} reason why the clock must tick twice, told at length.\n",
        "line_kinds": "ttt",
        "upstream_refs": [UpstreamRef(sha=sha, form="commit-upstream")],
        "upstream_commits": [sha],
        "primary_upstream": sha,
        "source": source(offset=number * 1000),
        "evidence": [
            Evidence(
                fact="upstream_commits",
                value=sha,
                line=1,
                span=(0, len(line)),
                rule="commit-upstream",
                text=line,
            )
        ],
        **fields,
    }
    return message(f"posting-{number}@example.org", **values)


def notice(number: int, kind: str, **fields: Any) -> Message:
    """Return a notice of the stable maintainers about 5.10."""
    what = Notification(kind=kind, tree="5.10.y", **fields.pop("notice", {}))
    return posting(number, notification=what, **fields)


def rows(path: pathlib.Path, tree: str, *messages: Message) -> list[Row]:
    """Store messages and return the list of a tree."""
    with Archive(path, write=True) as archive:
        archive.add(messages, [raw_of(item) for item in messages])
        return backports(archive, tree)

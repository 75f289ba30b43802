"""Mails that are commits: tip-bot's notices carry sha, people, message and diff of each commit."""

from __future__ import annotations

import re

from msgspec import Struct

from patchlore.ingest.addresses import parse_address
from patchlore.ingest.dates import parse_date, timestamp
from patchlore.ingest.message import Message, Person
from patchlore.kb.interning import Names, next_id
from patchlore.kb.merge import person_key, title_hash
from patchlore.kb.store import Archive

#: Heads stand at the top; the longest seen has nine lines.
_HEAD_LINES = 20
_FIELD = re.compile(r"(Commit-ID|Author|AuthorDate|Committer|CommitterDate|CommitDate):[ \t]+(.+)")
_SHA = re.compile(r"[0-9a-f]{40}")
#: The robot writes zones with a colon, as no mail does: ``+02:00``.
_ZONE = re.compile(r"([+-]\d\d):(\d\d)$")


class Notice(Struct, kw_only=True):
    """A commit as a notice tells it: dates in seconds."""

    sha: str
    author: Person | None
    author_time: int | None
    committer: Person | None
    commit_time: int | None
    subject: str


def read_notice(message: Message) -> Notice | None:
    """Return the commit that a mail of tip-bot (either generation) carries, or None.

    Its head is ``Commit-ID:``, ``Gitweb:``, ``Author:``, ``AuthorDate:`` … down
    to an empty line; then the commit's message, its title first.
    """
    lines = message.body.split("\n")
    fields: dict[str, str] = {}
    after = 0
    for number, line in enumerate(lines[:_HEAD_LINES]):
        match = _FIELD.match(line) if len(line) < 1000 else None
        if match:
            fields.setdefault(match[1], match[2].strip())
        elif fields and not line.strip():
            after = number + 1
            break
    sha = fields.get("Commit-ID", "")
    if not after or not _SHA.fullmatch(sha) or "Author" not in fields:
        return None
    end = after
    while end < len(lines) and not lines[end].strip():
        end += 1
    title: list[str] = []
    while end < len(lines) and lines[end].strip():
        title.append(lines[end].strip())
        end += 1
    return Notice(
        sha=sha,
        author=parse_address(fields["Author"]),
        author_time=_time(fields.get("AuthorDate")),
        committer=parse_address(fields.get("Committer", "")),
        commit_time=_time(fields.get("CommitterDate") or fields.get("CommitDate")),
        subject=" ".join(title),
    )


def store_notices(archive: Archive, names: Names, messages: list[int]) -> int:
    """Store the commits of those of ``messages`` that are notices; return how many.

    A commit that a tree brought stays as it is: git knows better.
    """
    connection = archive.connection
    stored = 0
    number = next_id(connection, "git_commit")
    for id_ in messages:
        message = archive.message(id_)
        notice = read_notice(message)
        if notice is None:
            continue
        known = connection.execute(
            "SELECT id, data IS NOT NULL FROM git_commit WHERE sha = ?", (notice.sha,)
        ).fetchone()
        stored += 1
        if known is not None and known[1]:
            connection.execute("UPDATE git_commit SET message = ? WHERE id = ?", (id_, known[0]))
            continue
        if known is not None:
            connection.execute("DELETE FROM git_link WHERE git_commit = ?", (known[0],))
            connection.execute("DELETE FROM git_commit WHERE id = ?", (known[0],))
            row = int(known[0])
        else:
            row = number
            number += 1
        connection.execute(
            "INSERT INTO git_commit (id, sha, message, author, author_time, committer,"
            " commit_time, subject, title_hash, patch_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row,
                notice.sha,
                id_,
                _person(notice.author, names),
                notice.author_time,
                _person(notice.committer, names),
                notice.commit_time,
                notice.subject,
                title_hash(notice.subject),
                message.patch_id,
            ),
        )
        # The tags of the mail are those of the commit.
        connection.execute(
            "INSERT INTO git_link SELECT ?, position, kind, url, mid.text FROM link"
            " LEFT JOIN mid ON mid.id = link.mid WHERE link.message = ?"
            " AND kind IN ('link', 'closes')",
            (row, id_),
        )
    names.flush()
    return stored


def _time(text: str | None) -> int | None:
    return timestamp(parse_date(_ZONE.sub(r"\1\2", text or "")))


def _person(person: Person | None, names: Names) -> int | None:
    key = person_key(person)
    return names.people.id_of(key) if any(key) else None

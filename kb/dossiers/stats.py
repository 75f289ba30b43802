"""What an archive holds, in numbers."""

from __future__ import annotations

from typing import Any

from patchlore.kb.database import database_path
from patchlore.kb.store import Archive

_COUNTS = {
    "messages": "SELECT count(*) FROM message",
    "copies": "SELECT count(*) FROM copy",
    "damaged": "SELECT count(*) FROM message WHERE malformed",
    "patches": "SELECT count(*) FROM message WHERE is_patch",
    "replies": "SELECT count(*) FROM message WHERE is_reply",
    "threads": "SELECT count(DISTINCT mid.thread) FROM message JOIN mid ON mid.id = message.mid",
    "commits": "SELECT count(DISTINCT sha) FROM commit_ref",
    "upstream_commits": "SELECT count(DISTINCT sha) FROM commit_ref WHERE relation = 'upstream'",
    "bugs": "SELECT count(*) FROM (SELECT DISTINCT tracker, number, name FROM bug_ref)",
    "gcc_bugs": "SELECT count(DISTINCT number) FROM bug_ref WHERE tracker = 'gcc'",
    "cves": "SELECT count(DISTINCT name) FROM cve",
    "trees": "SELECT count(DISTINCT tree) FROM target_tree",
    "lists": "SELECT count(DISTINCT list) FROM message_list",
    "people": "SELECT count(*) FROM person",
    "files": "SELECT count(*) FROM path",
    "sources": "SELECT count(*) FROM source",
    "raw_bytes": "SELECT coalesce(sum(size), 0) FROM message",
    "git_trees": "SELECT count(*) FROM git_tree",
    "git_commits": "SELECT count(*) FROM git_commit WHERE place IS NOT NULL",
    "git_backports": "SELECT count(DISTINCT git_commit) FROM git_commit_ref"
    " WHERE relation = 'upstream'",
    "commits_told_by_mail": "SELECT count(*) FROM git_commit WHERE message IS NOT NULL",
    "patches_with_commit": "SELECT count(DISTINCT message) FROM edge WHERE confidence <= 2",
    "first": "SELECT min(timestamp) FROM message",
    "last": "SELECT max(timestamp) FROM message",
}


def stats(archive: Archive) -> dict[str, Any]:
    """Return the numbers by name; ``archive_bytes`` is the size of the database file."""
    numbers = {name: archive.value(sql) for name, sql in _COUNTS.items()}
    numbers["archive_bytes"] = database_path(archive.path).stat().st_size
    return numbers

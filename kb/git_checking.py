"""Whether the commits of git trees are whole: each object against its own id."""

from __future__ import annotations

import hashlib

import zstandard

from patchlore.kb.store import Archive


def damaged_commits(archive: Archive) -> tuple[int, list[str]]:
    """Return how many stored commits there are, and the ids of those that are damaged.

    A commit's id is the SHA-1 of its object (gitformat-pack(5)); the ids of
    SHA-256 repositories, which are longer, are checked as such.
    """
    number = 0
    damaged: list[str] = []
    for sha, data in archive.execute("SELECT sha, data FROM git_commit WHERE data IS NOT NULL"):
        number += 1
        try:
            content = archive.codec.decompress(data)
        except zstandard.ZstdError:
            damaged.append(sha)
            continue
        named = b"commit %d\x00" % len(content) + content
        if len(sha) == 40:
            found = hashlib.sha1(named, usedforsecurity=False).hexdigest()
        else:
            found = hashlib.sha256(named).hexdigest()
        if found != sha:
            damaged.append(sha)
    return number, damaged

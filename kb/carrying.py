"""The patch that an event is: a mail, a patch attached to one, or a commit of a git tree."""

from __future__ import annotations

import contextlib

from msgspec import Struct

from patchlore.ingest.attached import inner_mails
from patchlore.ingest.message import Message
from patchlore.ingest.mime import read_mail
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.git import GitError
from patchlore.kb.errors import GitTreeError
from patchlore.kb.events import Event
from patchlore.kb.git_repository import Repository
from patchlore.kb.mailing import as_mail
from patchlore.kb.nested import MAX_ATTACHED
from patchlore.kb.store import Archive


class Carried(Struct, kw_only=True):
    """A patch: the bytes of its mail, and the message that they are."""

    raw: bytes
    message: Message


def carried(archive: Archive, event: Event) -> Carried | None:
    """Return the patch of an event; None where it can't be had.

    That of a commit is made by git from the repository that the tree was read
    from, as format-patch has it; it may have moved.
    """
    if event.commit is not None:
        return _of_commit(archive, event.commit)
    if event.attachment is not None:
        return _attached(archive, event.message, event.attachment)
    return Carried(raw=as_mail(archive, event.message), message=archive.message(event.message))


def _attached(archive: Archive, message: int, position: int) -> Carried | None:
    outer = archive.message(message)
    waiting = _inner(Raw(data=archive.raw(message), source=outer.source))
    for number in range(MAX_ATTACHED):
        if not waiting:
            return None
        raw = waiting.pop(0)
        if number == position:
            data = raw.data
            if raw.source.format == "git-patch" and data.startswith(b"From "):
                data = data.partition(b"\n")[2]
            return Carried(raw=data, message=parse_raw(raw))
        waiting[:0] = _inner(raw)
    return None


def _inner(raw: Raw) -> list[Raw]:
    return inner_mails(read_mail(raw), raw.source)


def _of_commit(archive: Archive, sha: str) -> Carried | None:
    """As git makes a mail of it, from the first repository that has it."""
    for (path,) in archive.execute(
        "SELECT DISTINCT git_tree.path FROM git_commit AS c JOIN git_place_ref AS p"
        " ON p.place = c.place JOIN git_ref ON git_ref.id = p.ref"
        " JOIN git_tree ON git_tree.id = git_ref.tree WHERE c.sha = ? ORDER BY git_tree.id",
        (sha,),
    ).fetchall():
        with contextlib.suppress(GitTreeError, GitError):
            raw = Repository(path).mail(sha)
            if raw:
                source = Source(path=path, format="git-patch", blob=sha)
                made = parse_raw(Raw(data=raw, source=source))
                return Carried(raw=raw.partition(b"\n")[2], message=made)
    return None

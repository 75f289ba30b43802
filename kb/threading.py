"""Threads of mails without references: by an archive's index or pages, else by subject."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from patchlore.kb.listings import listed_above, listed_below
from patchlore.kb.store import Archive

#: A reply repeats the subject of a mail that is not older than this (seconds).
_MEMORY = 60 * 86400

#: More threads than these are not connected by weak signs.
_MOST_THREADS = 500


class WeakLink(Struct, frozen=True, kw_only=True):
    """A mail that hangs below another though no header says so; ``rule``: index, page, subject."""

    child: int
    parent: int
    rule: str


def connected(archive: Archive, thread: int) -> tuple[list[int], list[WeakLink]]:
    """Return the threads that weak signs connect with this one, and the signs.

    Only mails without references of their own are connected so, each with one other.
    """
    threads, waiting = [thread], [thread]
    links: dict[int, WeakLink] = {}
    while waiting and len(threads) < _MOST_THREADS:
        current = waiting.pop(0)
        for link in [*_upwards(archive, current), *_downwards(archive, current)]:
            links.setdefault(link.child, link)
            for mid in (link.child, link.parent):
                other = archive.value("SELECT thread FROM mid WHERE id = ?", (mid,))
                if other not in threads:
                    threads.append(other)
                    waiting.append(other)
    return threads, list(links.values())


_ORPHAN = "NOT EXISTS (SELECT 1 FROM reference WHERE reference.message = m.id)"


def _upwards(archive: Archive, thread: int) -> Iterator[WeakLink]:
    """What the mails of a thread that have no references hang on."""
    orphans = archive.execute(
        "SELECT m.id, m.mid FROM mid JOIN message AS m ON m.mid = mid.id"
        f" WHERE mid.thread = ? AND {_ORPHAN}",
        (thread,),
    ).fetchall()
    for id_, mid in orphans:
        link = _parent_of(archive, id_, mid)
        if link is not None:
            yield link


def _downwards(archive: Archive, thread: int) -> Iterator[WeakLink]:
    """The mails without references that hang on a thread."""
    candidates = archive.execute(
        "SELECT m.id, m.mid FROM mid JOIN message AS above ON above.mid = mid.id"
        " JOIN page ON page.message = above.id JOIN page AS below ON below.prev = page.url"
        f" JOIN message AS m ON m.id = below.message WHERE mid.thread = ?1 AND {_ORPHAN}"
        " UNION SELECT m.id, m.mid FROM mid JOIN message AS above ON above.mid = mid.id"
        " JOIN message AS m ON m.title_hash = above.title_hash"
        f" WHERE mid.thread = ?1 AND NOT above.is_reply AND m.is_reply AND {_ORPHAN}",
        (thread,),
    ).fetchall()
    members = archive.execute(
        "SELECT m.id, m.mid FROM mid JOIN message AS m ON m.mid = mid.id WHERE mid.thread = ?",
        (thread,),
    ).fetchall()
    candidates += listed_below(archive, members)
    here = {mid for (mid,) in archive.execute("SELECT id FROM mid WHERE thread = ?", (thread,))}
    for id_, mid in candidates:
        link = _parent_of(archive, id_, mid)
        if link is not None and link.parent in here:
            yield link


def _parent_of(archive: Archive, message: int, mid: int) -> WeakLink | None:
    """What a mail without references hangs on: by the index, the page before, or the subject."""
    is_listed, above = listed_above(archive, message, mid)
    if above is not None:
        return WeakLink(child=mid, parent=above, rule="index")
    # What begins a thread by the index is behind another one's page by chance.
    above = (
        None
        if is_listed
        else archive.value(
            "SELECT m.mid FROM page JOIN page AS before ON before.url = page.prev"
            " JOIN message AS m ON m.id = before.message WHERE page.message = ? AND m.mid <> ?"
            " ORDER BY m.id LIMIT 1",
            (message, mid),
        )
    )
    if above is not None:
        return WeakLink(child=mid, parent=above, rule="page")
    # The newest mail that is no reply itself, has the title, and was sent before.
    above = archive.value(
        "SELECT other.mid FROM message AS m JOIN message AS other"
        " ON other.title_hash = m.title_hash AND NOT other.is_reply AND other.mid <> m.mid"
        " AND other.timestamp BETWEEN m.timestamp - ?2 AND m.timestamp"
        " AND other.notice IS NULL WHERE m.id = ?1 AND m.is_reply"
        " AND (EXISTS (SELECT 1 FROM message_list AS one JOIN message_list AS two"
        " ON two.list = one.list WHERE one.message = m.id AND two.message = other.id)"
        " OR NOT EXISTS (SELECT 1 FROM message_list WHERE message = m.id))"
        " ORDER BY other.timestamp DESC, other.id DESC LIMIT 1",
        (message, _MEMORY),
    )
    return None if above is None else WeakLink(child=mid, parent=above, rule="subject")

"""What index pages of archives say of mails: their order, and who answers whom."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from patchlore.ingest.sources.items import Listing
from patchlore.kb.interning import MessageIds, next_id
from patchlore.kb.store import Archive

#: Mails of one index that were not seen are passed over so often on the way up or down.
_MOST_STEPS = 1000


def store_listings(
    connection: sqlite3.Connection, mids: MessageIds, listings: Iterable[Listing]
) -> None:
    """Write index pages, in the writer's transaction; one that was read before is replaced."""
    number = None
    for listing in listings:
        row = connection.execute(
            "SELECT id FROM listing WHERE path = ?", (listing.path,)
        ).fetchone()
        if row is not None:
            id_ = row[0]
            connection.execute("DELETE FROM listed WHERE listing = ?", (id_,))
            connection.execute("DELETE FROM listing WHERE id = ?", (id_,))
        else:
            id_ = number = next_id(connection, "listing") if number is None else number + 1
        connection.execute(
            "INSERT INTO listing VALUES (?, ?, ?, ?)",
            (id_, listing.path, listing.list, listing.order),
        )
        connection.executemany(
            "INSERT INTO listed VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    id_,
                    position,
                    entry.url,
                    mids.id_of(entry.message_id) if entry.message_id else None,
                    entry.parent,
                    entry.subject,
                    entry.sender,
                )
                for position, entry in enumerate(listing.entries)
            ],
        )


_ENTRIES = (
    "SELECT e.listing, e.position, e.parent FROM listed AS e JOIN listing"
    " ON listing.id = e.listing AND listing.kind = 'thread' WHERE e.mid = ?2"
    " UNION SELECT e.listing, e.position, e.parent FROM page JOIN listed AS e ON e.page = page.url"
    " JOIN listing ON listing.id = e.listing AND listing.kind = 'thread' WHERE page.message = ?1"
)
_MAILS = (
    "SELECT m.id, m.mid FROM listed AS e JOIN message AS m ON m.mid = e.mid"
    " WHERE e.listing = ?1 AND e.position = ?2"
    " UNION SELECT m.id, m.mid FROM listed AS e JOIN page ON page.url = e.page"
    " JOIN message AS m ON m.id = page.message WHERE e.listing = ?1 AND e.position = ?2"
    " ORDER BY m.id"
)


def listed_above(archive: Archive, message: int, mid: int) -> tuple[bool, int | None]:
    """Return whether an index by thread lists a mail, and the mid of the nearest one above it.

    One that was not seen is passed over; None where the mail begins its thread.
    """
    if not _has_threads(archive):
        return False, None
    entries = archive.execute(_ENTRIES, (message, mid)).fetchall()
    for listing, _, parent in entries:
        for _ in range(_MOST_STEPS):
            if parent is None:
                break
            row = archive.execute(_MAILS, (listing, parent)).fetchone()
            if row is not None and row[1] != mid:
                return True, int(row[1])
            parent = archive.value(
                "SELECT parent FROM listed WHERE listing = ? AND position = ?", (listing, parent)
            )
    return bool(entries), None


def listed_below(archive: Archive, members: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the mails (row id and mid) that an index by thread lists right below some of these."""
    if not _has_threads(archive):
        return []
    found: list[tuple[int, int]] = []
    for message, mid in members:
        waiting = [row[:2] for row in archive.execute(_ENTRIES, (message, mid))]
        for _ in range(_MOST_STEPS):
            if not waiting:
                break
            listing, position = waiting.pop()
            for (child,) in archive.execute(
                "SELECT position FROM listed WHERE listing = ? AND parent = ?", (listing, position)
            ).fetchall():
                mails = archive.execute(_MAILS, (listing, child)).fetchall()
                found += mails
                if not mails:
                    waiting.append((listing, child))
    return found


def positions(archive: Archive, mids: Iterable[int]) -> dict[int, int]:
    """Return where an index lists the mails with these mids: by date if there is one."""
    if not archive.value("SELECT EXISTS (SELECT 1 FROM listing)"):
        return {}
    order: dict[int, int] = {}
    for mid in mids:
        place = archive.value(
            "SELECT position FROM (SELECT e.listing, e.position FROM listed AS e WHERE e.mid = ?1"
            " UNION SELECT e.listing, e.position FROM message AS m"
            " JOIN page ON page.message = m.id JOIN listed AS e ON e.page = page.url"
            " WHERE m.mid = ?1) AS found JOIN listing ON listing.id = found.listing"
            " WHERE listing.kind IN ('date', 'thread') ORDER BY listing.kind, listing.id LIMIT 1",
            (mid,),
        )
        if place is not None:
            order[mid] = place
    return order


def _has_threads(archive: Archive) -> bool:
    return bool(archive.value("SELECT EXISTS (SELECT 1 FROM listing WHERE kind = 'thread')"))

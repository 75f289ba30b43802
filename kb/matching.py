"""Which message a mail is a copy of: one of the archive, or one that the same batch has made."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.raw import FIDELITIES
from patchlore.ingest.sources.bugzilla import is_record_id
from patchlore.kb.interning import MessageIds
from patchlore.kb.merge import Identity, same_message, same_without_id
from patchlore.kb.parsed import Parsed
from patchlore.kb.shaping import Shaped

#: Up to this fidelity a copy's text is as it was sent.
_FAITHFUL = FIDELITIES.index("rewritten")

_CANDIDATE = (
    "SELECT message.id, message.mid, message.ordinal, message.has_message_id, message.best_copy,"
    " message.fidelity, message.size, message.malformed + EXISTS (SELECT 1 FROM defect WHERE"
    f" defect.message = message.id AND defect.code = '{CUT_SHORT}'),"
    " message.timestamp, message.subject, message.body_hash,"
    " coalesce(person.name, ''), coalesce(person.email, ''), coalesce(person.masked, '')"
    " FROM message LEFT JOIN person ON person.id = message.sender WHERE "
)


class Entry(Struct, kw_only=True):
    """A message that a batch touches; rows are written once, when all is merged."""

    id: int
    mid: int
    ordinal: int
    has_message_id: bool
    best_copy: int
    fidelity: int
    size: int
    #: 0 whole, 1 malformed, 2 cut short.
    damage: int
    identity: Identity
    #: Raw mail and facts to be written: None as long as the stored ones stand.
    parsed: Parsed | None = None
    stored: bool = True
    renamed: bool = False


class Matching:
    """The messages that a batch has touched, and those of the archive that it may touch."""

    def __init__(self, connection: sqlite3.Connection, mids: MessageIds) -> None:
        """Take the writer's connection and the Message-IDs of the batch."""
        self._connection = connection
        self._mids = mids
        self.entries: dict[int, Entry] = {}
        self._of_mid: dict[int, list[int]] = {}
        self._by_title: dict[int, list[int]] = {}
        #: Titles of the messages that the batch has made or changed.
        self._titles: dict[int, int | None] = {}

    def find(self, mail: Parsed) -> Entry | None:
        """Return the message that this mail is a copy of, or None for a new one."""
        shaped, identity = mail.shaped, identity_of(mail)
        if shaped.message_id is not None:
            mid = self._mids.id_of(shaped.message_id)
            source = mail.raw.source
            is_record = source.format.startswith("bugzilla-") and is_record_id(shaped.message_id)
            for entry in self._under(mid):
                # A mail under the id of a record is forged; it has another fidelity.
                is_alike = is_record and entry.fidelity == FIDELITIES.index(source.fidelity)
                if is_alike or same_message(entry.identity, identity):
                    return entry
        if shaped.title_hash is None:
            return None
        for entry in self._titled(shaped, only_without_id=shaped.message_id is not None):
            if same_without_id(entry.identity, identity):
                return entry
        return None

    def by_id(self, message: int) -> Entry:
        """Return the stored message with this row id."""
        row = self._connection.execute(_CANDIDATE + "message.id = ?", (message,)).fetchone()
        return self._load(row)

    def add(self, entry: Entry, shaped: Shaped) -> None:
        """Take in a message that the batch has made."""
        self.entries[entry.id] = entry
        self._of_mid[entry.mid].append(entry.id)
        self.retitle(entry, shaped.title_hash)

    def retitle(self, entry: Entry, title_hash: int | None) -> None:
        """Let a message be found under the title that its best copy has."""
        self._titles[entry.id] = title_hash
        if title_hash is not None:
            self._by_title.setdefault(title_hash, []).append(entry.id)

    def rename(self, entry: Entry, mid: int) -> None:
        """Let a message that had none have a Message-ID."""
        entry.mid = mid
        entry.ordinal = self.free_ordinal(mid)
        self._of_mid[mid].append(entry.id)
        entry.has_message_id = entry.renamed = True

    def free_ordinal(self, mid: int) -> int:
        """Return the first number that no message under this Message-ID has."""
        taken = {entry.ordinal for entry in self._under(mid) if entry.mid == mid}
        return next(number for number in range(len(taken) + 1) if number not in taken)

    def _under(self, mid: int) -> list[Entry]:
        """The messages with this Message-ID or alias, of the archive and of this batch."""
        if mid not in self._of_mid:
            found = []
            if not self._mids.is_new(mid):
                rows = self._connection.execute(
                    _CANDIDATE + "message.mid = ?1 OR message.id IN"
                    " (SELECT message FROM alias WHERE mid = ?1)",
                    (mid,),
                ).fetchall()
                found = [self._load(row).id for row in rows]
            self._of_mid[mid] = found
        return [self.entries[id_] for id_ in sorted(self._of_mid[mid])]

    def _titled(self, shaped: Shaped, *, only_without_id: bool) -> list[Entry]:
        condition = "message.title_hash = ?1 AND (?2 IS NULL OR message.timestamp IS NULL"
        condition += " OR message.timestamp BETWEEN ?2 - 100000 AND ?2 + 100000)"
        if only_without_id:
            condition += " AND message.has_message_id = 0"
        rows = self._connection.execute(
            _CANDIDATE + condition, (shaped.title_hash, shaped.timestamp)
        ).fetchall()
        entries = {row[0]: self._load(row) for row in rows}
        if shaped.title_hash is not None:
            batch = self._by_title.get(shaped.title_hash, ())
            entries |= {id_: self.entries[id_] for id_ in batch}
        # The oldest first, wherever one batch ended and the next began.
        return [
            entry
            for _, entry in sorted(entries.items())
            if self._titles.get(entry.id, shaped.title_hash) == shaped.title_hash
            and not (only_without_id and entry.has_message_id)
        ]

    def _load(self, row: tuple[int, ...]) -> Entry:
        entry = self.entries.get(row[0])
        if entry is None:
            entry = self.entries[row[0]] = Entry(
                id=row[0],
                mid=row[1],
                ordinal=row[2],
                has_message_id=bool(row[3]),
                best_copy=row[4],
                fidelity=row[5],
                size=row[6],
                damage=row[7],
                identity=Identity(
                    timestamp=row[8],
                    subject=str(row[9] or ""),
                    body_hash=row[10],
                    sender=(str(row[11]), str(row[12]), str(row[13])),
                    is_faithful=row[5] <= _FAITHFUL,
                ),
            )
        return entry


def identity_of(mail: Parsed) -> Identity:
    """Return what of a mail is compared with others."""
    shaped = mail.shaped
    return Identity(
        timestamp=shaped.timestamp,
        subject=shaped.subject,
        sender=shaped.sender or ("", "", ""),
        body_hash=shaped.body_hash,
        is_faithful=FIDELITIES.index(mail.raw.source.fidelity) <= _FAITHFUL,
    )


def damage_of(mail: Parsed) -> int:
    """Return how damaged a mail is: 0 whole, 1 malformed, 2 cut short."""
    return mail.shaped.malformed + mail.raw.cut

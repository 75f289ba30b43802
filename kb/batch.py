"""A batch of mails: copies merged into one message, and the rows that are written for all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from patchlore.ingest.message import Message
from patchlore.ingest.raw import FIDELITIES, Raw, Source
from patchlore.ingest.sources.items import Listing
from patchlore.kb.content import decode_message
from patchlore.kb.interning import MessageIds, Names, next_id
from patchlore.kb.listings import store_listings
from patchlore.kb.matching import Entry, Matching, damage_of, identity_of
from patchlore.kb.merge import is_nearer, record_age
from patchlore.kb.parsed import Parsed, Sighting, digest_of, known_copy
from patchlore.kb.rows import FACT_TABLES, INSERTS, fact_rows
from patchlore.kb.shaping import HEAD, HEAD_SIZE
from patchlore.kb.store import Added, Archive
from patchlore.kb.versions import tree_name

#: Mails under a made-up id end so; no mail has such a Message-ID.
MADE_UP = "@patchlore"

_COPY_COLUMNS = ("id", "message", "source", "offset", "blob", "same_as", "fidelity", "size",
                 "sha256", "digest")  # fmt: skip
_OFFSET = _COPY_COLUMNS.index("offset")

_MESSAGE_COLUMNS = (
    "id, mid, ordinal, has_message_id, revision, best_copy, fidelity, size, sender, author, "
    f"in_reply_to, {HEAD}"
)
_INSERT_MESSAGE = (
    f"INSERT INTO message ({_MESSAGE_COLUMNS}) VALUES ({', '.join('?' * (11 + HEAD_SIZE))})"
)


class Batch:
    """One batch: what it has touched so far, and the rows to write at its end."""

    def __init__(self, archive: Archive, names: Names) -> None:
        """Take the archive, in a transaction, and the writer's memory of names."""
        self._archive = archive
        self._connection = archive.connection
        self._names = names
        self._mids = MessageIds(self._connection)
        self._next_message = next_id(self._connection, "message")
        self._next_copy = next_id(self._connection, "copy")
        self._matching = Matching(self._connection, self._mids)
        self._copies: list[tuple[object, ...]] = []
        self._seen: dict[tuple[bytes, str, bool], tuple[int, int]] = {}
        #: Where copies of this batch were seen: their places in ``_copies``.
        self._places: dict[tuple[int, int, bytes], int] = {}
        self._raws: dict[int, bytes] = {}
        self._aliases: set[tuple[int, int]] = set()
        self._message_lists: set[tuple[int, int]] = set()
        #: What folders say of the patches in them, and patchwork of the copies.
        self._message_places: set[tuple[str, int, str, str, int]] = set()
        self._patchwork: list[tuple[int, int, str]] = []
        self._added = Added()

    def add(self, mails: Sequence[Parsed | Sighting], listings: Iterable[Listing] = ()) -> Added:
        """Merge and write the mails of the batch, and what index pages list."""
        for mail in mails:
            if isinstance(mail, Sighting):
                self._add_sighting(mail)
            else:
                self._add_parsed(mail)
        store_listings(self._connection, self._mids, listings)
        self._write()
        return self._added

    def redo(self, mails: Sequence[tuple[int, Parsed]]) -> None:
        """Write the facts of stored messages anew: (row id, the best copy as it is read now)."""
        for id_, mail in mails:
            entry = self._matching.by_id(id_)
            entry.parsed = mail
            self._note_patchwork(mail, id_, entry.best_copy)
            for name in mail.shaped.lists:
                self._message_lists.add((id_, self._names.lists.id_of((name,))))
            for alias in mail.shaped.aliases:
                self._aliases.add((self._mids.id_of(alias), id_))
        self._write()

    # -- one mail -----------------------------------------------------------------

    def _add_sighting(self, mail: Sighting) -> None:
        message, same_as = self._connection.execute(
            "SELECT message, same_as FROM copy WHERE id = ?", (mail.copy,)
        ).fetchone()
        self._add_same_bytes(mail.raw, mail.sha256, message, same_as or mail.copy)

    def _add_same_bytes(self, raw: Raw, sha256: bytes, message: int, first: int) -> None:
        """A mail whose bytes are in the archive: remember only where it was seen."""
        source = self._source(raw.source)
        known = self._connection.execute(
            "SELECT id, offset FROM copy WHERE digest = ? AND source = ? AND message = ?",
            (digest_of(sha256), source, message),
        ).fetchone()
        if known is not None:
            if known[1] != raw.source.offset:
                self._connection.execute(
                    "UPDATE copy SET offset = ? WHERE id = ?", (raw.source.offset, known[0])
                )
            self._added.known += 1
            return
        number = self._places.get((message, source, sha256))
        if number is not None:
            row = self._copies[number]
            self._copies[number] = (*row[:_OFFSET], raw.source.offset, *row[_OFFSET + 1 :])
            self._added.known += 1
            return
        self._copy_row(raw, sha256, message, source, same_as=first)
        self._list_of(raw.source, message)
        self._added.merged += 1

    def _add_parsed(self, mail: Parsed) -> None:
        raw = mail.raw
        twin = self._seen.get((mail.sha256, raw.source.format, False))
        if twin is None and raw.cut:
            twin = self._seen.get((mail.sha256, raw.source.format, True))
        if twin is not None:
            self._add_same_bytes(raw, mail.sha256, *twin)
            return
        known = known_copy(self._connection, raw, mail.sha256)
        if known is not None:
            self._add_sighting(Sighting(raw=raw, sha256=mail.sha256, copy=known))
            return
        entry = self._matching.find(mail)
        copy = self._next_copy
        fidelity = FIDELITIES.index(raw.source.fidelity)
        same_as = None
        if entry is None:
            entry = self._new_entry(mail, copy, fidelity)
            self._added.new += 1
        else:
            self._added.merged += 1
            same_as = self._merge(entry, mail, copy, fidelity)
        self._seen[mail.sha256, raw.source.format, raw.cut] = (entry.id, same_as or copy)
        self._note_patchwork(mail, entry.id, copy)
        self._copy_row(raw, mail.sha256, entry.id, self._source(raw.source), same_as=same_as)
        self._list_of(raw.source, entry.id)
        for name in mail.shaped.lists:
            self._message_lists.add((entry.id, self._names.lists.id_of((name,))))
        for alias in mail.shaped.aliases:
            self._aliases.add((self._mids.id_of(alias), entry.id))

    def _new_entry(self, mail: Parsed, copy: int, fidelity: int) -> Entry:
        shaped = mail.shaped
        mid = self._mids.id_of(shaped.message_id or f"sha256:{mail.sha256.hex()[:32]}{MADE_UP}")
        entry = Entry(
            id=self._next_message,
            mid=mid,
            ordinal=self._matching.free_ordinal(mid),
            has_message_id=shaped.message_id is not None,
            best_copy=copy,
            fidelity=fidelity,
            size=len(mail.raw.data),
            damage=damage_of(mail),
            identity=identity_of(mail),
            parsed=mail,
            stored=False,
        )
        self._next_message += 1
        self._matching.add(entry, shaped)
        return entry

    def _copy_with(self, message: int, mail: Parsed) -> int | None:
        """The copy that has these bytes in another format already: they are stored once."""
        if mail.shaped.patchwork is not None:
            return None  # what patchwork says is read of the copy's own bytes and format
        for (sha256, _, _), (other, copy) in self._seen.items():
            if other == message and sha256 == mail.sha256:
                return copy
        row = self._connection.execute(
            "SELECT coalesce(same_as, id) FROM copy WHERE digest = ? AND sha256 = ?"
            " AND message = ? LIMIT 1",
            (digest_of(mail.sha256), mail.sha256, message),
        ).fetchone()
        return None if row is None else int(row[0])

    def _merge(self, entry: Entry, mail: Parsed, copy: int, fidelity: int) -> int | None:
        """Add a copy to a message; its facts are redone when the copy is a better one.

        Return the copy whose bytes it has, when those need not be stored again.
        """
        message_id = mail.shaped.message_id
        if message_id is not None and not entry.has_message_id:
            self._aliases.add((entry.mid, entry.id))
            mid = self._mids.id_of(message_id)
            self._mids.join(entry.mid, mid)
            self._matching.rename(entry, mid)
        if not self._is_better(mail, fidelity, entry):
            same_as = self._copy_with(entry.id, mail)
            if same_as is None:
                self._raws[copy] = mail.raw.data
            return same_as
        self._raws[entry.best_copy] = self._raw_of(entry)
        entry.parsed, entry.best_copy, entry.fidelity = mail, copy, fidelity
        entry.size, entry.damage = len(mail.raw.data), damage_of(mail)
        entry.identity = identity_of(mail)
        self._matching.retitle(entry, mail.shaped.title_hash)
        self._added.redone += entry.stored
        return None

    def _is_better(self, mail: Parsed, fidelity: int, entry: Entry) -> bool:
        """Whether a copy is better than the best one of a message so far.

        By fidelity; then the newer state of a bug in its tracker; then the one that goes
        on where the other is cut short (a download that broke off), then the one without
        damage, then the one that no list has changed.
        """
        if fidelity != entry.fidelity:
            return fidelity < entry.fidelity
        if mail.raw.source.format.startswith("bugzilla-"):
            mine, theirs = record_age(decode_message(mail.facts)), record_age(self._message(entry))
            if mine != theirs:
                return mine > theirs
        size = len(mail.raw.data)
        if size == entry.size and damage_of(mail) == entry.damage:
            return False
        stored = self._raw_of(entry)
        if size > entry.size and _goes_on(mail.raw.data, stored):
            return True
        if size < entry.size and _goes_on(stored, mail.raw.data):
            return False
        if damage_of(mail) != entry.damage:
            return damage_of(mail) < entry.damage
        return is_nearer(identity_of(mail), entry.identity)

    def _raw_of(self, entry: Entry) -> bytes:
        return entry.parsed.raw.data if entry.parsed else self._archive.raw(entry.id)

    def _message(self, entry: Entry) -> Message:
        return (
            decode_message(entry.parsed.facts) if entry.parsed else self._archive.message(entry.id)
        )

    # -- rows -------------------------------------------------------------------------

    def _source(self, source: Source) -> int:
        return self._names.sources.id_of((source.path, source.format, source.list or ""))

    def _note_patchwork(self, mail: Parsed, message: int, copy: int) -> None:
        if mail.shaped.patchwork is not None:
            self._patchwork.append((copy, message, mail.shaped.patchwork))

    def _list_of(self, source: Source, message: int) -> None:
        if source.list:
            self._message_lists.add((message, self._names.lists.id_of((source.list,))))

    def _copy_row(
        self, raw: Raw, sha256: bytes, message: int, source: int, same_as: int | None = None
    ) -> None:
        self._places[message, source, sha256] = len(self._copies)
        place = raw.source.place
        if place is not None and place.tree and place.state:
            tree, release = tree_name(place.tree), place.release or ""
            self._message_places.add((tree, message, place.state, release, source))
        self._copies.append(
            (
                self._next_copy,
                message,
                source,
                raw.source.offset,
                raw.source.blob,
                same_as,
                FIDELITIES.index(raw.source.fidelity),
                len(raw.data),
                sha256,
                digest_of(sha256),
            )
        )
        self._next_copy += 1

    def _write(self) -> None:
        written = [entry for entry in self._matching.entries.values() if entry.parsed is not None]
        redone = [(entry.id,) for entry in written if entry.stored]
        if redone:
            for table in FACT_TABLES:
                self._connection.executemany(f"DELETE FROM {table} WHERE message = ?", redone)
            self._connection.executemany("DELETE FROM content WHERE message = ?", redone)
            self._connection.executemany("DELETE FROM message WHERE id = ?", redone)
        revision = self._archive.value("SELECT value FROM meta WHERE name = 'revision'")
        if revision is None:
            raise sqlite3.DatabaseError("no such row in meta: revision")
        rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in INSERTS}
        messages: list[tuple[object, ...]] = []
        contents: list[tuple[int, bytes]] = []
        codec = self._archive.codec
        for entry in written:
            if entry.parsed is None:
                continue
            shaped = entry.parsed.shaped
            revision += 1
            messages.append(
                (
                    entry.id,
                    entry.mid,
                    entry.ordinal,
                    entry.has_message_id,
                    revision,
                    entry.best_copy,
                    entry.fidelity,
                    len(entry.parsed.raw.data),
                    self._person(shaped.sender),
                    self._person(shaped.author),
                    self._mids.id_of(shaped.in_reply_to) if shaped.in_reply_to else None,
                    *shaped.head,
                )
            )
            contents.append((entry.id, codec.pack(entry.parsed.raw.data, entry.parsed.facts)))
            fact_rows(rows, entry.id, shaped, self._names, self._mids, entry.mid)
        for entry in self._matching.entries.values():
            if entry.renamed and entry.parsed is None:
                revision += 1
                self._connection.execute(
                    "UPDATE message SET mid = ?, ordinal = ?, has_message_id = 1, revision = ?"
                    " WHERE id = ?",
                    (entry.mid, entry.ordinal, revision, entry.id),
                )
        rows["message_list"].extend(
            (list_, message) for message, list_ in sorted(self._message_lists)
        )
        execute = self._connection.executemany
        self._mids.flush()
        self._names.flush()
        execute(_INSERT_MESSAGE, messages)
        execute("INSERT INTO content VALUES (?, ?)", contents)
        execute(
            f"INSERT INTO copy ({', '.join(_COPY_COLUMNS)})"
            f" VALUES ({', '.join('?' * len(_COPY_COLUMNS))})",
            self._copies,
        )
        execute(
            "INSERT INTO raw VALUES (?, ?)",
            [(copy, codec.compress(data)) for copy, data in sorted(self._raws.items())],
        )
        for table, statement in INSERTS.items():
            if rows[table]:
                execute(statement, rows[table])
        execute(
            "INSERT OR IGNORE INTO message_place VALUES (?, ?, ?, ?, ?)",
            sorted(self._message_places),
        )
        execute("INSERT OR REPLACE INTO patchwork VALUES (?, ?, ?)", self._patchwork)
        execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", sorted(self._aliases))
        execute("UPDATE meta SET value = ? WHERE name = 'revision'", [(revision,)])

    def _person(self, person: tuple[str, str, str] | None) -> int | None:
        return None if person is None else self._names.people.id_of(person)


def _goes_on(longer: bytes, shorter: bytes) -> bool:
    """Whether the longer mail begins as the shorter one, which ends before."""
    return longer.startswith(shorter.rstrip()) and len(longer.rstrip()) > len(shorter.rstrip())

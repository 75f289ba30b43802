"""Whether an archive is whole: the database, the connections of its tables, every raw mail."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Any, Self

from msgspec import Struct

from patchlore.ingest.message import Message
from patchlore.kb.content import decode_message
from patchlore.kb.database import explain_error, is_damage
from patchlore.kb.errors import ArchiveError
from patchlore.kb.git_checking import damaged_commits
from patchlore.kb.rows import COLUMNS, FACT_TABLES, INSERTS, fact_rows
from patchlore.kb.shaping import shape
from patchlore.kb.store import FACTS_VERSION, Archive
from patchlore.kb.text import count
from patchlore.kb.upgrading import missing
from patchlore.kb.writing import lost_dictionaries

#: More faults of one kind are counted, not listed.
_LISTED = 20

#: Tables and those that they name, whose rows no redoing of facts writes anew.
_HELD = frozenset(
    {
        ("message", "mid"), ("message", "copy"), ("content", "message"), ("copy", "message"),
        ("copy", "source"), ("copy", "copy"), ("raw", "copy"), ("message_list", "list"),
        ("patchwork", "copy"), ("listed", "listing"), ("listed", "mid"),
    }
)  # fmt: skip


class Report(Struct, kw_only=True):
    """What was verified, and what is wrong."""

    verified: list[str] = []
    faults: list[str] = []
    #: Those of the faults that the text index has.
    index_faults: list[str] = []
    #: Whether the facts are those of an older patchlore: no damage, ingest redoes them.
    is_outdated: bool = False
    #: Whether only a new database made of the raw mail helps.
    is_torn: bool = False
    #: What is no damage, but good to know: messages that the text index lacks, a copy of
    #: the compression dictionary that is lost.
    notes: list[str] = []

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def lines(self) -> Iterator[str]:
        """Yield the report for a person."""
        for text in self.verified:
            yield f"verified: {text}"
        for text in self.faults:
            yield f"FAULT: {text}"
        for text in self.notes:
            yield f"note: {text}"
        if self.is_outdated:
            yield "The facts are of an older patchlore: the next ingest or --repair redoes them."
        yield "The archive is whole." if self.is_sound else "The archive is damaged."


def check(archive: Archive) -> Report:
    """Verify the archive; reads all of it."""
    report = Report()
    try:
        with _at_one_moment(archive):
            if archive.facts_version < FACTS_VERSION:
                report.is_outdated = True
            _check_database(archive, report)
            _check_keys(archive, report)
            _check_contents(archive, report)
            _check_copies(archive, report)
            _check_commits(archive, report)
            _check_dictionaries(archive, report)
    except ArchiveError as error:
        report.is_torn = True
        report.faults.append(str(error))
    except sqlite3.DatabaseError as error:  # met on a later page than the first row's
        if not is_damage(error):
            raise explain_error(error, archive.path) from error
        report.is_torn = True
        report.faults.append(str(explain_error(error, archive.path)))
    return report


@contextlib.contextmanager
def _at_one_moment(archive: Archive) -> Iterator[None]:
    """Let all questions see the archive as it is now, whatever somebody writes meanwhile."""
    if archive.connection.in_transaction:
        yield
        return
    archive.execute("BEGIN")
    try:
        yield
    finally:
        archive.connection.rollback()


def _check_database(archive: Archive, report: Report) -> None:
    try:
        found = [text for (text,) in archive.connection.execute("PRAGMA integrity_check(20)")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found == ["ok"]:
        report.verified.append("the pages, rows and indexes of the database")
    else:
        report.is_torn = True
        report.faults += [f"database: {text}" for text in found]
    lost = missing(archive.connection)
    if lost:
        report.is_torn = True
        report.faults += [f"database: no such table, index or view: {name}" for name in lost]


def _check_keys(archive: Archive, report: Report) -> None:
    faults = 0
    for table, row, parent, _ in archive.execute("PRAGMA foreign_key_check"):
        faults += 1
        report.is_torn = report.is_torn or (table, parent) in _HELD
        if faults <= _LISTED:
            where = f"table {table}" if row is None else f"table {table}: row {row}"
            report.faults.append(f"{where} names a row of {parent} that does not exist")
    if faults > _LISTED:
        report.faults.append(f"{faults:,} such rows in all")
    lost = archive.execute(
        "SELECT m.id FROM message AS m LEFT JOIN content AS c ON c.message = m.id"
        " LEFT JOIN copy ON copy.id = m.best_copy AND copy.message = m.id"
        " WHERE c.message IS NULL OR copy.id IS NULL LIMIT ?",
        (_LISTED,),
    ).fetchall()
    report.faults += [f"message {id_} has no content or no best copy" for (id_,) in lost]
    revision = archive.value("SELECT value FROM meta WHERE name = 'revision'")
    newest = archive.value("SELECT max(revision) FROM message")
    if revision is None or revision < (newest or 0):
        report.faults.append("table meta: the revision of the archive is lost")
        report.is_torn = True
    report.is_torn = report.is_torn or bool(lost)
    if not faults and not lost:
        report.verified.append("the connections between tables")


def _check_commits(archive: Archive, report: Report) -> None:
    """The commits of git trees against their ids."""
    number, damaged = damaged_commits(archive)
    report.faults += [f"commit {sha} of a git tree is damaged" for sha in damaged[:_LISTED]]
    if number and not damaged:
        report.verified.append(f"{count(number, 'commit')} of git trees against their ids")


def _check_dictionaries(archive: Archive, report: Report) -> None:
    """The copies of the compression dictionaries beside the database, which nothing needs yet."""
    for path in lost_dictionaries(archive):
        report.notes.append(
            f"{path.name}, the copy of the compression dictionary, is lost or damaged: the next "
            "ingest or --repair writes it again"
        )


def _check_contents(archive: Archive, report: Report) -> None:
    """The raw mail of each message against its hash, and that its facts can be read."""
    bad = number = 0
    expected = _FactRows(archive)
    rows = archive.execute(
        "SELECT m.id, copy.sha256 FROM message AS m JOIN copy ON copy.id = m.best_copy"
        " ORDER BY m.id"
    )
    for id_, sha256 in rows:
        number += 1
        try:
            content = archive.content(id_)
            expected.add(id_, decode_message(content.facts))
            fault = "" if hashlib.sha256(content.raw).digest() == sha256 else "hash differs"
        except (ArchiveError, KeyError, ValueError) as error:
            fault = str(error)
        if fault:
            bad += 1
            report.is_torn = True
            if bad <= _LISTED:
                report.faults.append(f"message {id_}: raw mail or facts are damaged ({fault})")
    _told(report, number, bad, "message")
    if bad or report.is_outdated:
        return  # the facts of all are not known, or were shaped in another way
    faults = list(expected.faults())
    report.faults += faults
    if not faults:
        report.verified.append("that the tables have the facts of all messages")


class _FactRows:
    """How many rows each table of facts has, and should have by the facts in ``content``."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in INSERTS}
        self._numbers = dict.fromkeys(FACT_TABLES, 0)
        self._keys = {table: self._key(table) for table in FACT_TABLES}

    def _key(self, table: str) -> list[int]:
        """The places of the primary key in rows of ``fact_rows``; none where all rows count."""
        columns = COLUMNS[table].split(", ")
        found = self._archive.execute(f"PRAGMA table_info({table})").fetchall()
        key = [row[1] for row in found if row[5]]
        return [columns.index(name) for name in key] if set(key) <= set(columns) else []

    def add(self, message: int, made: Message) -> None:
        """Count the rows of a message."""
        nameless: Any = _Unnamed()
        fact_rows(self._rows, message, shape(made), nameless, nameless, 0)
        for table, key in self._keys.items():
            rows = self._rows[table]
            if rows:
                once = {tuple(row[place] for place in key) for row in rows} if key else rows
                self._numbers[table] += len(once)
        for rows in self._rows.values():
            rows.clear()

    def faults(self) -> Iterator[str]:
        """Yield what is told of each table that has more or fewer rows."""
        for table, number in self._numbers.items():
            there = self._archive.value(f"SELECT count(*) FROM {table}")
            if there != number:
                yield f"table {table}: {there:,} rows where the facts of the mails make {number:,}"


class _Unnamed:
    """Stands for tables of names: a text is its own id."""

    @property
    def people(self) -> Self:
        return self

    paths = roles = lists = people

    def id_of(self, texts: object) -> object:
        return texts

    def join(self, one: object, other: object) -> None:
        """Threads are of no interest here."""


def _check_copies(archive: Archive, report: Report) -> None:
    bad = number = 0
    for copy, sha256 in archive.execute(
        "SELECT copy.id, copy.sha256 FROM raw JOIN copy ON copy.id = raw.copy ORDER BY copy.id"
    ):
        number += 1
        try:
            fault = "" if hashlib.sha256(archive.raw_of_copy(copy)).digest() == sha256 else "hash"
        except ArchiveError as error:
            fault = str(error)
        if fault:
            bad += 1
            report.is_torn = True
            if bad <= _LISTED:
                report.faults.append(f"copy {copy}: raw mail is damaged ({fault})")
    _told(report, number, bad, "further copy")


def _told(report: Report, number: int, bad: int, noun: str) -> None:
    many = "further copies" if noun.endswith("copy") else None
    if bad > _LISTED:
        report.faults.append(f"{count(bad, noun, many)} damaged in all")
    if not bad:
        report.verified.append(f"raw mail and facts of {count(number, noun, many)}")

"""Ingest: from sources to the archive, as a pipeline of readers, parsers and the one writer."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from patchlore.ingest.errors import PatchloreError
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.items import Listing, Mark, OnListing, Problem
from patchlore.ingest.sources.reading import read_source
from patchlore.kb.parsed import Parsed, Sighting
from patchlore.kb.parsing import Work, Workers
from patchlore.kb.store import FACTS_VERSION, Archive
from patchlore.kb.writing import Writer

#: A batch is stored when it has so many mails or so many bytes: bounded memory
#: whether mails are of 2 KB or of 20 MB.
BATCH_MAILS = 256
BATCH_BYTES = 4 * 1024 * 1024

#: More parsers than these only wait for the writer.
MOST_JOBS = 6

#: Objects that are made between two looks for cycles, here some 100 mails.
_ALLOCATIONS = 100_000

#: So much is parsed in this process before workers are started.
INLINE_BYTES = 1024 * 1024


class Summary(Struct, kw_only=True):
    """What an ingest did; ``seconds`` is wall time."""

    read: int = 0
    new: int = 0
    merged: int = 0
    damaged: int = 0
    seconds: float = 0.0
    problems: list[Problem] = []

    def line(self) -> str:
        """Return the summary line that other programs read (docs/cli.md)."""
        rate = self.read / self.seconds if self.seconds > 0 else 0.0
        return (
            f"read {self.read}, new {self.new}, merged {self.merged}, damaged {self.damaged}"
            f" in {self.seconds:.1f} s ({rate:.0f} mails/s)"
        )


class _Batch(Struct):
    """Mails that are stored together, and the marks that are true once they are."""

    raws: list[Raw] = []
    hashes: list[bytes] = []
    #: Per mail: the copy with these bytes that is stored already, or None.
    known: list[int | None] = []
    marks: list[Mark] = []
    listings: list[Listing] = []
    size: int = 0

    def unknown(self) -> list[Raw]:
        """The mails that must be parsed."""
        return [raw for raw, copy in zip(self.raws, self.known, strict=True) if copy is None]


def default_jobs() -> int:
    """Return the number of parsing processes that suits this machine.

    Parsing a mail takes three times as long as storing it: one process for each
    processor, the writer sharing one of them, and no more than it can follow.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(count or 1, MOST_JOBS))


def fill(
    archive: Archive,
    paths: Sequence[str],
    *,
    list_name: str | None = None,
    format: str | None = None,
    jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_problem: Callable[[Problem], None] | None = None,
) -> Summary:
    """Read sources into an archive that is open for writing; what is there stays as it is.

    ``jobs`` is the number of parsing processes (0: none, everything in this
    one).  ``on_progress`` is called with the number of mails stored by each
    batch, ``on_problem`` with each source or part that could not be read; the
    rest is read.  Raises ArchiveError when the archive can't be written (disk
    full); all batches before are stored and the next run goes on from there.
    """
    start = time.monotonic()
    summary = Summary()

    def problem(found: Problem) -> None:
        summary.problems.append(found)
        if on_problem is not None:
            on_problem(found)

    jobs = default_jobs() if jobs is None else jobs
    if archive.facts_version < FACTS_VERSION:
        from patchlore.kb.redoing import redo_facts

        redo_facts(archive, jobs=jobs, on_progress=on_progress)
    writer = Writer(archive)
    batches: list[_Batch] = []
    with _few_collections(), Workers(jobs, inline_bytes=INLINE_BYTES) as workers:

        def store(leave: int) -> None:
            for works in workers.results(leave=leave):
                _store(writer, batches.pop(0), works, summary)
                if on_progress is not None:
                    on_progress(summary.read)

        listings: list[Listing] = []
        items = _read_all(
            archive, paths, list_name=list_name, format=format, on_listing=listings.append
        )
        for batch in _batches(items, listings, writer, problem):
            workers.submit(batch.unknown())
            batches.append(batch)
            store(leave=jobs + 1)
        store(leave=0)
    summary.seconds = time.monotonic() - start
    return summary


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Look for cycles rarely: rows are many small objects, and hardly any is in one."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _read_all(
    archive: Archive,
    paths: Sequence[str],
    *,
    list_name: str | None,
    format: str | None,
    on_listing: OnListing,
) -> Iterator[Raw | Mark | Problem]:
    for path in paths:
        try:
            yield from read_source(
                path,
                list_name=list_name,
                format=format,
                mark_of=archive.mark_of,
                on_listing=on_listing,
            )
        except PatchloreError as error:
            yield Problem(path, 0, str(error))
        except OSError as error:
            yield Problem(path, 0, f"{path} can't be read: {error.strerror or error}.")


def _batches(
    items: Iterable[Raw | Mark | Problem],
    listings: list[Listing],
    writer: Writer,
    problem: Callable[[Problem], None],
) -> Iterator[_Batch]:
    """Batches of what is read; ``listings`` gets what index pages say while ``items`` is read.

    A listing is of the same batch as the mark behind it, or of one before.
    """
    batch = _Batch()
    for item in items:
        if listings:
            batch.listings += listings
            listings.clear()
        if isinstance(item, Problem):
            problem(item)
        elif isinstance(item, Mark):
            batch.marks.append(item)
        else:
            sha256 = hashlib.sha256(item.data).digest()
            batch.raws.append(item)
            batch.hashes.append(sha256)
            batch.known.append(writer.known_copy(item, sha256))
            batch.size += len(item.data)
            if len(batch.raws) >= BATCH_MAILS or batch.size >= BATCH_BYTES:
                yield batch
                batch = _Batch()
    batch.listings += listings
    if batch.raws or batch.marks or batch.listings:
        yield batch


def _store(writer: Writer, batch: _Batch, works: list[Work], summary: Summary) -> None:
    mails: list[Parsed | Sighting] = []
    parsed = iter(works)
    for raw, sha256, copy in zip(batch.raws, batch.hashes, batch.known, strict=True):
        if copy is not None:
            mails.append(Sighting(raw=raw, sha256=sha256, copy=copy))
            continue
        work = next(parsed)
        mails.append(Parsed(raw=raw, sha256=sha256, facts=work.facts, shaped=work.shaped))
        summary.damaged += work.shaped.malformed
    added = writer.add(mails, batch.marks, batch.listings)
    summary.read += len(mails)
    summary.new += added.new
    summary.merged += added.merged

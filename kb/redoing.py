"""Facts of an older version made anew, from the raw mail and commits in the archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec

from patchlore.ingest.errors import CUT_SHORT
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import FIDELITIES, Raw, Source
from patchlore.ingest.sources.patch_folder import place_of
from patchlore.kb.batch import Batch
from patchlore.kb.content import Content, decode_message
from patchlore.kb.errors import ArchiveError
from patchlore.kb.git_filling import redo_commits
from patchlore.kb.interning import Names
from patchlore.kb.parsed import Parsed
from patchlore.kb.parsing import Workers
from patchlore.kb.rows import FACT_TABLES
from patchlore.kb.store import FACTS_VERSION, Archive, transaction
from patchlore.kb.versions import tree_name

#: Messages of one transaction.
_BATCH = 256

#: So much is parsed in this process before workers are started.
_INLINE_BYTES = 4 * 1024 * 1024

Progress = Callable[[int], None]


def redo_facts(archive: Archive, *, jobs: int = 0, on_progress: Progress | None = None) -> int:
    """Parse the best copy of every message again and write its facts anew; return how many.

    So are those of the commits of git trees.  Row ids stay.  A run that is stopped
    leaves the archive usable, and the next one begins again.  Raises ArchiveError for
    raw mail that is damaged.
    """
    done = 0
    ids = [id_ for (id_,) in archive.execute("SELECT id FROM message ORDER BY id")]
    chunks = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
    waiting: list[tuple[list[int], list[Raw]]] = []
    with Workers(jobs, inline_bytes=_INLINE_BYTES) as workers:

        def store(leave: int) -> None:
            nonlocal done
            for works in workers.results(leave=leave):
                chunk, raws = waiting.pop(0)
                mails = [
                    (
                        id_,
                        Parsed(
                            raw=raw,
                            sha256=hashlib.sha256(raw.data).digest(),
                            facts=work.facts,
                            shaped=work.shaped,
                        ),
                    )
                    for id_, raw, work in zip(chunk, raws, works, strict=True)
                ]
                with transaction(archive):
                    Batch(archive, Names(archive.connection)).redo(mails)
                done += len(mails)
                if on_progress is not None:
                    on_progress(done)

        for chunk in chunks:
            raws = [_best_copy(archive, id_) for id_ in chunk]
            workers.submit(raws)
            waiting.append((chunk, raws))
            store(leave=jobs + 1)
        store(leave=0)

    def commits_done(commits: int) -> None:
        if on_progress is not None:
            on_progress(done + commits)

    redo_commits(archive, commits_done)
    with transaction(archive):
        for table in (*FACT_TABLES, "message_list", "alias"):
            archive.execute(
                f"DELETE FROM {table} WHERE message NOT IN (SELECT id FROM message)"  # of nobody
            )
        _refill(archive)
        _rebuild_threads(archive)
        archive.execute("INSERT OR REPLACE INTO meta VALUES ('facts', ?)", (FACTS_VERSION,))
    return done


def _best_copy(archive: Archive, message: int) -> Raw:
    row = archive.execute(
        "SELECT source.path, source.format, source.list, copy.offset, copy.blob, copy.fidelity"
        " FROM message JOIN copy ON copy.id = message.best_copy"
        " JOIN source ON source.id = copy.source WHERE message.id = ?",
        (message,),
    ).fetchone()
    if row is None:
        raise ArchiveError(f"Message {message} of the archive {archive.path} has no copy.")
    content = archive.content(message)
    cut = archive.value(
        "SELECT EXISTS (SELECT 1 FROM defect WHERE message = ? AND code = ?)", (message, CUT_SHORT)
    )
    return Raw(data=content.raw, source=found_at(content) or source_of(*row), cut=bool(cut))


def found_at(content: Content) -> Source | None:
    """Return the source as the stored Message has it: with what the tables leave out."""
    try:
        return decode_message(content.facts).source
    except ValueError:
        return None


def source_of(
    path: str, format: str, list_: str, offset: int, blob: str | None, fidelity: int
) -> Source:
    """Return the source of a copy as the tables have it."""
    return Source(
        path=path,
        format=format,
        offset=offset,
        fidelity=FIDELITIES[fidelity],
        list=list_ or None,
        blob=blob,
        place=place_of(path),
    )


def _refill(archive: Archive) -> None:
    """Write what hangs on copies that are not the best one: places of folders, patchwork."""
    places = []
    for source, path, message in archive.execute(
        "SELECT source.id, source.path, copy.message FROM source"
        " JOIN copy ON copy.source = source.id"
        " WHERE instr(source.path, 'queue-') OR instr(source.path, 'releases/')"
    ):
        place = place_of(path)
        if place is not None and place.tree and place.state:
            tree = tree_name(place.tree)
            places.append((tree, message, place.state, place.release or "", source))
    archive.connection.executemany(
        "INSERT OR IGNORE INTO message_place VALUES (?, ?, ?, ?, ?)", places
    )
    copies = archive.execute(
        "SELECT copy.id, copy.message, source.path, source.format, source.list, copy.offset,"
        " copy.blob, copy.fidelity FROM copy JOIN source ON source.id = copy.source"
        " JOIN message ON message.id = copy.message AND message.best_copy <> copy.id"
        " WHERE source.format LIKE 'patchwork-%' AND copy.same_as IS NULL"
    ).fetchall()
    for copy, message, *row in copies:
        made = parse_raw(Raw(data=archive.raw_of_copy(copy), source=source_of(*row)))
        if made.patchwork is not None:
            archive.execute(
                "INSERT OR REPLACE INTO patchwork VALUES (?, ?, ?)",
                (copy, message, msgspec.json.encode(made.patchwork).decode()),
            )


def _rebuild_threads(archive: Archive) -> None:
    """Let each thread be just what the references connect."""
    roots: dict[int, int] = {}

    def root(mid: int) -> int:
        way = []
        while (above := roots.get(mid, mid)) != mid:
            way.append(mid)
            mid = above
        roots.update((passed, mid) for passed in way)
        return mid

    for one, other in archive.execute(
        "SELECT message.mid, reference.mid FROM reference JOIN message"
        " ON message.id = reference.message UNION ALL"
        " SELECT message.mid, alias.mid FROM alias JOIN message ON message.id = alias.message"
    ):
        first, second = root(one), root(other)
        if first != second:
            roots[max(first, second)] = min(first, second)
    changed = [
        (root(mid), mid)
        for mid, thread in archive.execute("SELECT id, thread FROM mid").fetchall()
        if root(mid) != thread
    ]
    archive.connection.executemany("UPDATE mid SET thread = ? WHERE id = ?", changed)

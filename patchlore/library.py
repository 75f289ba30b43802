"""The public library: an archive, opened for reading, and what it knows as typed values.

Everything that the commands print is a method of ``Library``; the commands call the
same functions.  The values are msgspec Structs: ``msgspec.json.encode`` makes of
them what ``--json`` prints.  Nothing here writes to an archive.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self

from msgspec import Struct

from patchlore.ingest.raw import FIDELITIES, Fidelity
from patchlore.kb.store import Archive

if TYPE_CHECKING:
    from patchlore.index.hits import Results
    from patchlore.ingest.message import Message
    from patchlore.kb.asking import Asked
    from patchlore.kb.backports import Row
    from patchlore.kb.checking import Report
    from patchlore.kb.dossiers.bugs import BugCount, BugDossier
    from patchlore.kb.dossiers.commits import CommitDossier
    from patchlore.kb.dossiers.cves import CveDossier
    from patchlore.kb.dossiers.files import FileDossier
    from patchlore.kb.dossiers.people import PersonDossier
    from patchlore.kb.dossiers.threads import Node
    from patchlore.kb.filtering import Filters
    from patchlore.kb.range_diff import PatchChange
    from patchlore.kb.review import Review
    from patchlore.kb.series import Series


class Copy(Struct, frozen=True, kw_only=True):
    """A copy of a message: where it was found, and how true it is to what was sent."""

    path: str
    format: str
    offset: int
    fidelity: Fidelity
    list: str | None
    size: int
    sha256: str


class Library:
    """An archive, opened for reading; use it as a context manager, or ``close`` it.

    Names of messages are Message-IDs with or without ``<>``, keys, or URLs of
    web archives.  Methods raise subclasses of PatchloreError whose text is a
    sentence for a person: NotFoundError for what the archive doesn't know,
    ArchiveError for damage.  One Library belongs to one thread.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the archive in the folder ``path``; raises NoArchiveError and ArchiveError."""
        self._archive = Archive(path)

    def __enter__(self) -> Self:
        """Return the library itself; it is closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the archive."""
        self.close()

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    @property
    def path(self) -> os.PathLike[str]:
        """The archive's folder."""
        return self._archive.path

    # -- messages -------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of messages."""
        return int(self._archive.value("SELECT count(*) FROM message"))

    def __contains__(self, name: object) -> bool:
        """Whether there is a message of this name."""
        from patchlore.kb.reading import find_messages

        return isinstance(name, str) and bool(find_messages(self._archive, name))

    def keys(self) -> Iterator[str]:
        """Yield the key of each message (its Message-ID, or what stands for it), oldest first."""
        for (key,) in self._archive.execute("SELECT key FROM mail ORDER BY timestamp, id"):
            yield key

    def message(self, name: str) -> Message:
        """Return a message with all its facts, their evidence and the rejected candidates."""
        from patchlore.kb.reading import find_message

        return self._archive.message(find_message(self._archive, name))

    def raw(self, name: str) -> bytes:
        """Return the best copy of a message, byte for byte."""
        from patchlore.kb.reading import find_message

        return self._archive.raw(find_message(self._archive, name))

    def copies(self, name: str) -> list[Copy]:
        """Return where a message was found, the best copy first."""
        from patchlore.kb.reading import find_message

        rows = self._archive.execute(
            "SELECT source.path, source.format, copy.offset, copy.fidelity, source.list,"
            " copy.size, hex(copy.sha256) FROM copy JOIN source ON source.id = copy.source"
            " WHERE copy.message = ? ORDER BY copy.fidelity, copy.id",
            (find_message(self._archive, name),),
        )
        return [
            Copy(
                path=path,
                format=format,
                offset=offset,
                fidelity=FIDELITIES[fidelity],
                list=list_ or None,
                size=size,
                sha256=sha256.lower(),
            )
            for path, format, offset, fidelity, list_, size, sha256 in rows
        ]

    def thread(self, name: str) -> list[Node]:
        """Return the conversation of a message from the top, with places for mails not seen."""
        from patchlore.kb.dossiers.threads import thread_nodes

        return thread_nodes(self._archive, name)

    def series(self, name: str) -> Series:
        """Return the series of a patch, a cover letter or an answer to one: all its revisions."""
        from patchlore.kb.series import series_of

        return series_of(self._archive, name)

    def compare(self, series: Series, old: str, new: str) -> list[PatchChange]:
        """Return what changed between two revisions of a series (``v1``, ``v2``)."""
        from patchlore.kb.range_diff import compare

        return compare(self._archive, series.revision(old).sending, series.revision(new).sending)

    def search(
        self,
        query: str,
        *,
        limit: int = 0,
        sort: Literal["date", "rank"] = "date",
        snippets: bool = True,
    ) -> Results:
        """Return what a query finds (docs/search.md); ``limit`` 0 is all.

        Raises QueryError for a query that can't be understood.
        """
        from patchlore.index.search import Searcher

        with Searcher(self._archive) as searcher:
            return searcher.search(query, limit=limit, sort=sort, snippets=snippets)

    # -- dossiers -------------------------------------------------------------------

    def bug(self, name: str) -> BugDossier:
        """Return what is known about a bug: ``83356``, ``target/89587``, ``llvm:143908``."""
        from patchlore.kb.dossiers.bugs import bug_dossier
        from patchlore.kb.errors import NotFoundError
        from patchlore.kb.reading import parse_bug

        bug = parse_bug(name)
        if bug is None:
            raise NotFoundError(f"{name} is no bug number: write 83356 or target/89587.")
        return bug_dossier(self._archive, bug)

    def bugs(self, *, tracker: str = "gcc", since: int | None = None) -> list[BugCount]:
        """Return all bugs of a tracker that mails since a time (seconds) name."""
        from patchlore.kb.dossiers.bugs import all_bugs

        return all_bugs(self._archive, tracker=tracker, since=since)

    def commit(self, sha: str, tree: str | None = None, *, diff: bool = False) -> CommitDossier:
        """Return what is known about a commit, given by 7 or more digits; in one tree or all.

        With ``diff`` the contents of its backports have the diff against the upstream patch.
        """
        from patchlore.kb.dossiers.commits import commit_dossier

        return commit_dossier(self._archive, sha, tree, diff=diff)

    def cve(self, name: str) -> CveDossier:
        """Return what is known about a CVE: its commits, their backports, who names it."""
        from patchlore.kb.dossiers.cves import cve_dossier

        return cve_dossier(self._archive, name.strip().upper())

    def file(self, path: str, limit: int = 0) -> FileDossier:
        """Return the patches that touch a file or folder; lists of at most ``limit`` (0: all)."""
        from patchlore.kb.dossiers.files import file_dossier

        return file_dossier(self._archive, path, limit)

    def person(self, who: str, limit: int = 0) -> PersonDossier:
        """Return what somebody, by name or address, wrote, reviewed, tested and reported."""
        from patchlore.kb.dossiers.people import person_dossier

        return person_dossier(self._archive, who, limit)

    # -- stable trees ---------------------------------------------------------------

    def backports(
        self,
        tree: str,
        *,
        states: Collection[str] | None = None,
        since: int | None = None,
        filters: Filters | None = None,
        as_of: int | None = None,
        missing_fixes: bool = False,
    ) -> list[Row]:
        """Return the list of a stable tree (``5.10``); ``states`` None is all of them.

        ``since`` (seconds) keeps what is new or changed its state since.  ``as_of`` is
        the day (seconds) by which delays and supported trees are judged, now unless
        given.  ``missing_fixes`` keeps what repairs something that the tree has.  An
        unknown tree has an empty list; ``knows_tree`` tells it from one without rows.
        """
        from patchlore.kb.backports import backports
        from patchlore.kb.filtering import Filters

        rows = backports(
            self._archive, tree, states=states, as_of=as_of, missing_fixes=missing_fixes
        )
        if since is not None:
            rows = Filters(since=since).choose(self._archive, rows)
        return rows if filters is None else filters.choose(self._archive, rows)

    def compare_trees(self, one: str, other: str, *, as_of: int | None = None) -> list[Row]:
        """Return what the tree ``one`` has and ``other`` has not, as rows of ``other``."""
        from patchlore.kb.comparing import compare

        return compare(self._archive, one, other, as_of=as_of)

    def ask(self, asked: Asked) -> list[Row]:
        """Return the rows that ``patchlore.kb.asking.read_asked`` made a question for."""
        return asked.filters.choose(self._archive, asked.rows(self._archive))

    def review(self, release: str) -> Review:
        """Return what is known about a review round: ``6.6.9-rc1``, ``6.6.9``, or a tree's newest.

        Raises NotFoundError, whose text names the nearest rounds.
        """
        from patchlore.kb.review import review

        return review(self._archive, release)

    def knows_tree(self, tree: str) -> bool:
        """Whether a stable tree exists, as far as tables, mail and repositories say."""
        from patchlore.kb.trees import is_known

        return is_known(self._archive, tree)

    def write_backports(self, format: str, tree: str, rows: list[Row], out: BinaryIO) -> list[str]:
        """Write rows in a format of ``patchlore backports``; return notes on what was left out.

        Raises KeyError for an unknown format.
        """
        from patchlore.kb.export import writer
        from patchlore.kb.versions import tree_name

        return writer(format)(self._archive, tree_name(tree), rows, out)

    # -- the archive itself ---------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Return what the archive holds, in numbers by name."""
        from patchlore.kb.dossiers.stats import stats

        return stats(self._archive)

    def check(self) -> Report:
        """Verify the archive; reads all of it."""
        from patchlore.kb.checking import check

        return check(self._archive)

    def export_mbox(self, out: BinaryIO) -> int:
        """Write every message as mboxrd; ingest makes an equal archive of it. Return how many."""
        from patchlore.kb.export.everything import write_everything

        return write_everything(self._archive, out)[0]

"""What every text engine does: the protocol, and the values that pass through it.

Documents have numbers and fields; a field is text that ``patchlore.index.words``
has cut into words. Engines know nothing of mails, of the
query language or of stems: a searcher that wants "randomize" and its kin asks
for any of these words. So each engine finds the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

#: Fields of prose and fields of code; an engine may hold both (sqlite) or only prose.
PROSE_FIELDS = ("subject", "own")
CODE_FIELDS = ("head", "quoted", "dfn", "dfa", "dfb", "dfctx", "dfhh", "fn")
FIELDS = (*PROSE_FIELDS, *CODE_FIELDS)


class Document(Struct, array_like=True):
    """A document to index: its number and the words of each field, in order, with blanks between.

    ``patchlore.index.words.BREAK`` stands between runs that no phrase may span.
    """

    number: int
    fields: dict[str, str]


class AnyWord(Struct, frozen=True):
    """Documents with at least one of these words."""

    words: tuple[str, ...]


class Phrase(Struct, frozen=True):
    """Documents with these words one after the other.

    ``open_end``: the last one is only the beginning of a word.
    """

    words: tuple[str, ...]
    open_end: bool = False


Pattern = AnyWord | Phrase


class Engine(Protocol):
    """Finds documents; opened for reading, sees what was committed before that."""

    def find(self, fields: Collection[str], pattern: Pattern) -> set[int]:
        """The numbers of the documents that have PATTERN in at least one of FIELDS."""

    def rank(
        self, weights: Mapping[str, float], patterns: Sequence[Pattern], wanted: Collection[int]
    ) -> dict[int, float]:
        """How well documents match: higher is better, absent is 0.

        WEIGHTS says how much each field counts; only numbers in WANTED matter.
        """

    def close(self) -> None:
        """Release files."""


class EngineWriter(Protocol):
    """Adds documents; nothing is seen by readers before ``commit``."""

    #: Whether other processes can make segments for it, which ``commit`` takes.
    has_segments: bool

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; their numbers must be new to the engine."""

    def commit(self, batch: int, segments: Sequence[Any] = ()) -> None:
        """Make what was added, and what SEGMENTS hold, durable and visible, as batch number BATCH.

        A batch that is committed again (the program was killed between the
        commits of two engines) takes the place of the earlier one.
        """

    def close(self) -> None:
        """Release files and locks; what was not committed is gone."""

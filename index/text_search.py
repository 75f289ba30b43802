"""Words in an archive: what the text prefixes of a query find, through the engines."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection, Sequence

from patchlore.index.database import (
    FOLDER,
    GENERATION,
    WHOOSH_FOLDER,
    IndexDatabase,
    database_path,
)
from patchlore.index.diff_lines import KINDS, Found
from patchlore.index.engine import (
    CODE_FIELDS,
    FIELDS,
    PROSE_FIELDS,
    AnyWord,
    Engine,
    Pattern,
    Phrase,
)
from patchlore.index.patterns import Chunk, chunks
from patchlore.index.regexes import Regex
from patchlore.index.sqlite_engine import SqliteEngine
from patchlore.ingest.function_names import function_name

_DIFF = ("dfn", "dfa", "dfb", "dfctx", "dfhh")

#: The fields of each prefix, None for a bare word.
FIELDS_OF: dict[str | None, tuple[str, ...]] = {
    None: tuple(field for field in FIELDS if field != "fn"),
    "s": ("subject",),
    "b": ("own", "quoted", *_DIFF),
    "nq": ("own", *_DIFF),
    "q": ("quoted",),
    "bs": ("subject", "own", "quoted", *_DIFF),
    "dfa": ("dfa",),
    "dfb": ("dfb",),
    "dfctx": ("dfctx",),
    "dfhh": ("dfhh",),
    "fn": ("fn",),
}

#: How much a word counts where it stands, for ranking: the title and the
#: author's own words before the diff, quotations last.
WEIGHTS = {
    "subject": 8.0,
    "own": 3.0,
    "head": 2.0,
    "dfn": 2.0,
    "dfhh": 1.5,
    "fn": 1.5,
    "dfb": 1.0,
    "dfa": 0.8,
    "quoted": 0.4,
    "dfctx": 0.3,
}

# The functions that hunk headers name are ours alone: lamp_dims() is not lamp_dim(). All else
# is stemmed, lines of diffs and names too, as lore has it; who means just one word quotes it.
_NEVER_STEMMED = frozenset(("fn",))


class TextSearch:
    """The text index of an archive, open for reading."""

    def __init__(self, archive: pathlib.Path) -> None:
        """Open the index of the archive in the folder ARCHIVE; raises DamagedIndex.

        The engine for prose is opened when the first word is asked for.
        """
        self._archive = archive
        self._database = IndexDatabase(database_path(archive))
        self._engine: Engine | None = None
        self._redone = self._database.redone()

    @property
    def revision(self) -> int:
        """The revision of the last message that is indexed."""
        return self._database.revision

    def find(self, prefix: str | None, text: str, quoted: bool) -> set[int] | None:
        """The messages with all words of TEXT; None where it has no words to look for."""
        wanted = chunks(text, quoted)
        if not wanted:
            return None
        found: set[int] | None = None
        for chunk in wanted:
            messages = self._find_chunk(prefix, chunk, quoted)
            found = messages if found is None else found & messages
            if not found:
                break
        return found

    def find_lines(
        self,
        prefix: str | None,
        regex: Regex,
        seconds: float,
        within: Collection[int] | None = None,
    ) -> Found:
        """The messages (of WITHIN, if given) with a line of a diff that matches REGEX.

        Raises RegexError when REGEX is too large.
        """
        numbers = None if within is None else {self._number(message) for message in within}
        with self._database.guarded():
            found = self._database.lines.find(prefix, regex, seconds, numbers)
        found.documents = self._messages(found.documents)
        return found

    def line_finder(
        self, prefix: str | None, regex: Regex
    ) -> tuple[str, Callable[[str], tuple[int, int] | None]]:
        """The kinds of lines that PREFIX means, and what finds a match in one of them."""
        from patchlore.index.line_matcher import LineMatcher

        span = LineMatcher(regex).span
        if prefix != "fn":
            return KINDS[prefix], span

        def span_of_name(header: str) -> tuple[int, int] | None:
            name = function_name(header) or ""
            found = span(name)
            start = header.find(name)
            return found and (found[0] + start, found[1] + start)

        return KINDS[prefix], span_of_name

    def rank(
        self, asked: Sequence[tuple[str | None, str, bool]], wanted: Collection[int]
    ) -> dict[int, float]:
        """How well messages match the texts ASKED for (prefix, text, quoted): higher is better."""
        scores: dict[int, float] = {}
        numbers = wanted
        if self._redone:
            numbers = {number for message in wanted for number in [self._number(message)]}
        for prefix, text, quoted in asked:
            weights = {field: WEIGHTS[field] for field in FIELDS_OF[prefix]}
            patterns = [self._stemmed(chunk) for chunk in chunks(text, quoted)]
            sides = []
            if any(field in weights for field in PROSE_FIELDS):
                sides.append(self.engine.rank(weights, patterns, numbers))
            if any(field in weights for field in CODE_FIELDS):
                with self._database.guarded():
                    sides.append(self._database.code.rank(weights, patterns, numbers))
            for side in sides:
                if not scores and not self._redone:
                    scores = side
                    continue
                for number, score in side.items():
                    message = number % GENERATION
                    scores[message] = scores.get(message, 0.0) + score
        return scores

    def suggest(
        self, prefix: str | None, text: str, *, rare: bool = False
    ) -> list[tuple[str, str]]:
        """The words of TEXT that find nothing under PREFIX (or little, with RARE), and others."""
        from patchlore.index.suggestions import suggest

        def count(word: str) -> int:
            return len(self.find(prefix, word, quoted=False) or ())

        with self._database.guarded():
            return suggest(self._database.connection, text, count, rare=rare)

    def words_meant(self, text: str, quoted: bool) -> set[str]:
        """All words that TEXT stands for, to mark them where they are shown."""
        meant: set[str] = set()
        for chunk in chunks(text, quoted):
            if chunk.open_end:
                meant.add(chunk.words[-1] + "*")
                meant.update(chunk.words[:-1])
            elif chunk.stemmed:
                with self._database.guarded():
                    meant.update(self._database.vocabulary.kin(chunk.words[0]))
            else:
                meant.update(chunk.words)
        return meant

    @property
    def engine(self) -> Engine:
        """The engine that holds the prose of this archive."""
        if self._engine is None:
            if self._database.engine == "sqlite":
                self._engine = SqliteEngine(self._database)
            else:
                from patchlore.index.whoosh_engine import WhooshEngine

                self._engine = WhooshEngine(self._archive / FOLDER / WHOOSH_FOLDER)
        return self._engine

    def close(self) -> None:
        """Close the files of the index."""
        if self._engine is not None:
            self._engine.close()
        self._database.close()

    # -- inside -----------------------------------------------------------------------

    def _find_chunk(self, prefix: str | None, chunk: Chunk, quoted: bool) -> set[int]:
        fields = FIELDS_OF[prefix]
        prose = [field for field in fields if field in PROSE_FIELDS]
        code = [field for field in fields if field in CODE_FIELDS]
        exact = _exact(chunk)
        stemmed = self._stemmed(chunk)
        found: set[int] = set()
        with self._database.guarded():
            if prose:
                found |= self.engine.find(prose, stemmed)
            if code:
                loose = [field for field in code if field not in _NEVER_STEMMED]
                in_code = self._database.code.find(loose, stemmed) if loose else set()
                strict = [field for field in code if field not in loose]
                if strict:
                    in_code |= self._database.code.find(strict, exact)
                found |= in_code
            # An identifier is found by its parts too, where the part is no word
            # of its own: "mmsg" means vector_mmsg_rx, "mmap" does not mean mmap_sem.
            # The names of functions, which lore does not know, always are.
            if (
                (prefix == "fn" or not found)
                and len(chunk.words) == 1
                and not chunk.open_end
                and not quoted
            ):
                identifiers = self._database.vocabulary.identifiers(chunk.words[0])
                if identifiers:
                    pattern = AnyWord(identifiers)
                    found |= self.engine.find(prose, pattern) if prose else set()
                    found |= self._database.code.find(code, pattern) if code else set()
        return self._messages(found)

    def _stemmed(self, chunk: Chunk) -> Pattern:
        if not chunk.stemmed:
            return _exact(chunk)
        with self._database.guarded():
            return AnyWord(self._database.vocabulary.kin(chunk.words[0]))

    def _messages(self, numbers: set[int]) -> set[int]:
        """The messages of documents; those that a later document replaces are left out."""
        if not self._redone and max(numbers, default=0) < GENERATION:
            return numbers
        redone = self._redone
        return {
            message
            for number in numbers
            if redone.get(message := number % GENERATION, 0) == number // GENERATION
        }

    def _number(self, message: int) -> int:
        return message + self._redone.get(message, 0) * GENERATION


def _exact(chunk: Chunk) -> Pattern:
    if len(chunk.words) == 1 and not chunk.open_end:
        return AnyWord(chunk.words)
    return Phrase(chunk.words, chunk.open_end)

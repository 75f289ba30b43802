"""The paths of an archive's diffs, kept as one text in which words are found fast."""

from __future__ import annotations

import re
from bisect import bisect_right

from patchlore.index.patterns import Chunk, chunks
from patchlore.index.tables import has_chunk
from patchlore.index.words import words
from patchlore.kb.store import Archive


class Paths:
    """Finds the rows of the table ``path`` whose text has words in a row.

    Tens of thousands of paths are a few megabytes: looking through them in
    memory takes a tenth of the time that LIKE takes.
    """

    def __init__(self, archive: Archive) -> None:
        """Look into ARCHIVE, which stays open until its owner closes it."""
        self._archive = archive
        self._last = 0
        self._text = "\n"
        self._ids: list[int] = []
        self._starts: list[int] = []

    def find(self, text: str, quoted: bool) -> list[int]:
        """The rows whose path has all chunks of TEXT."""
        found: set[int] | None = None
        for chunk in chunks(text, quoted):
            rows = self._having(chunk)
            found = rows if found is None else found & rows
        return sorted(found or ())

    def _having(self, chunk: Chunk) -> set[int]:
        self._read_new()
        if not all(word.isascii() and "'" not in word for word in chunk.words):
            return {
                id_
                for id_, line in zip(self._ids, self._text.split("\n")[1:], strict=False)
                if has_chunk(words(line), chunk)
            }
        return set(self._with_words(chunk))

    def _with_words(self, chunk: Chunk) -> list[int]:
        """As ``_having``: where the letters of the words are, it is looked at closely."""
        search = re.compile(r"[^\w\n]{1,9}".join(map(re.escape, chunk.words))).search
        found = []
        text = self._text
        match = search(text)
        while match is not None:
            place = match.start()
            index = bisect_right(self._starts, place) - 1
            start = self._starts[index]
            end = text.find("\n", place)
            if has_chunk(words(text[start:end]), chunk):
                found.append(self._ids[index])
            match = search(text, end)
        return found

    def _read_new(self) -> None:
        """Take in the paths that came since the last question."""
        rows = self._archive.execute(
            "SELECT id, text FROM path WHERE id > ? ORDER BY id", (self._last,)
        ).fetchall()
        if not rows:
            return
        start = len(self._text)
        lines = []
        for id_, text in rows:
            line = text.lower().replace("\n", " ")
            lines.append(line)
            self._ids.append(id_)
            self._starts.append(start)
            start += len(line) + 1
        self._text += "\n".join(lines) + "\n"
        self._last = rows[-1][0]

"""People of an archive: who has the words that are asked for, in which role, in which mails."""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchlore.index.patterns import Chunk, chunks
from patchlore.index.tables import Tables, has_chunk, wildcards_around
from patchlore.index.words import stem, words
from patchlore.kb.columns import json_list

_ROLES = {
    "f": ("from",),
    "t": ("to",),
    "c": ("cc",),
    "tc": ("to", "cc"),
    "a": ("from", "to", "cc"),
    "author": ("from", "author"),
}
# Those of lore, on which a name in small letters means its kin, as other words do.
_OF_LORE = frozenset(("f", "t", "c", "tc", "a"))
_HEADER_ROLES = ("from", "to", "cc", "author")

# A whole address: the people who have it are looked up, not searched for.
_ADDRESS = re.compile(r"[\w.+=-]+@[\w-]+(?:\.[\w-]+)+")


_TEXT = "name || ' ' || email || ' ' || masked"
_SELECT = f"SELECT id, {_TEXT} FROM person"


class People(Tables):
    """Looks people up, in an archive."""

    def is_trailer(self, name: str) -> bool:
        """Whether the archive knows trailers of this name."""
        return self._archive.value("SELECT 1 FROM role WHERE name = ?", (name,)) is not None

    def find(self, prefix: str, text: str, quoted: bool = False) -> set[int]:
        """The messages with a person whose name and address have the words of TEXT.

        PREFIX is one of the people's prefixes or the name of a trailer.
        """
        if prefix == "tag":
            named = self._with_trailer(text.strip().lower())
            if named:
                return named
            marks = ", ".join("?" * len(_HEADER_ROLES))
            roles = self._ids(f"SELECT id FROM role WHERE name NOT IN ({marks})", _HEADER_ROLES)
        else:
            roles = self._ids(
                "SELECT id FROM role WHERE name IN (SELECT value FROM json_each(?))",
                (json_list(_ROLES.get(prefix, (prefix,))),),
            )
        wanted = chunks(text, quoted)
        if not roles or not wanted:
            return set()
        # One person has all the words, or several have one chunk each.
        found: set[int] | None = None
        for chunk in wanted:
            if prefix in _OF_LORE and chunk.stemmed:
                people = self._kin(chunk.words[0])
            else:
                people = self._with_address(text) or self._matching(_SELECT, _TEXT, chunk)
            ids = self._set(
                "SELECT message FROM message_person WHERE person IN"
                " (SELECT value FROM json_each(?)) AND role IN (SELECT value FROM json_each(?))",
                (json_list(people), json_list(roles)),
            )
            if prefix not in _ROLES:
                ids |= self._trailers(chunk, roles)
            found = ids if found is None else found & ids
        return found or set()

    def suggest(self, text: str) -> list[tuple[str, str]]:
        """The words of TEXT that nobody has in the name or address, and those that were meant."""
        from patchlore.index.suggestions import near_names

        if self._with_address(text):
            return []
        meant: list[tuple[str, str]] = []
        known: set[str] | None = None
        for word in words(text):
            if len(word) < 4:
                continue
            if known is None:
                rows = self._archive.execute("SELECT DISTINCT name, email FROM person")
                known = {part for name, email in rows for part in words(f"{name} {email}")}
            if word not in known:
                near = near_names(word, known)
                if near is not None:
                    meant.append((word, near))
        return meant

    def _kin(self, word: str) -> list[object]:
        """The people with a word that has the stem of WORD in their name or address."""
        root = stem(word)
        # A word begins as its stem does, but for the last letter: "andy", "andi".
        likely = wildcards_around(root[:-1] if len(root) > 2 else root)
        rows = self._archive.execute(f"{_SELECT} WHERE {_TEXT} LIKE ? ESCAPE '!'", (likely,))
        return [id_ for id_, text in rows if any(stem(part) == root for part in words(text))]

    def _with_address(self, text: str) -> list[object]:
        """The people whose address TEXT is."""
        if not _ADDRESS.fullmatch(text):
            return []
        return self._ids("SELECT id FROM person WHERE email = ?", (text.lower(),))

    def _with_trailer(self, name: str) -> set[int]:
        """Messages that have a trailer of this name at all."""
        if name in _HEADER_ROLES:
            name += "-trailer"
        return self._set(
            "SELECT message FROM message_person JOIN role ON role.id = message_person.role"
            " WHERE role.name = ?1 UNION SELECT message FROM trailer JOIN role"
            " ON role.id = trailer.role WHERE role.name = ?1",
            (name,),
        )

    def _trailers(self, chunk: Chunk, roles: Sequence[object]) -> set[int]:
        """Messages with a trailer of one of ROLES that names no person and has the words."""
        rows = self._archive.execute(
            "SELECT message, value FROM trailer WHERE role IN (SELECT value FROM json_each(?))",
            (json_list(roles),),
        )
        return {int(message) for message, value in rows if has_chunk(words(value), chunk)}

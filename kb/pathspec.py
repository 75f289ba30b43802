"""Paths chosen as git chooses them: names, folders, globs, and the signs that git gives meaning.

gitglossary(7), "pathspec": a text without wildcards means a file or a folder with all
below it; ``*`` and ``?`` go over slashes, too; ``:!docs`` leaves out; ``:(glob)`` lets ``*``
stop at slashes and ``**`` go over them; ``:(icase)`` and ``:(literal)`` say what they say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from patchlore.kb.errors import UsageError

_WORDS = frozenset({"top", "glob", "icase", "literal", "exclude"})
_SIGNS = {"/": "top", "!": "exclude", "^": "exclude"}
_LONGEST = 4096


class _Pattern(Struct):
    """One pattern; without ``whole`` and ``parts`` its text is literal."""

    text: str
    excludes: bool
    ignores_case: bool
    #: What a path has to match as a whole.
    whole: re.Pattern[str] | None = None
    #: Of a ``:(glob)``: what its components have to match, None for ``**``.
    parts: list[re.Pattern[str] | None] | None = None

    def matches(self, path: str) -> bool:
        """Whether a path is meant: itself, a folder above it, or the glob."""
        if self.ignores_case:
            path = path.lower()
        text = self.text.rstrip("/")
        if not text or path == text.strip("/") or path.startswith(f"{text}/"):
            return True
        if self.whole is not None:
            return self.whole.fullmatch(path) is not None
        return self.parts is not None and _match_parts(self.parts, path)


class Pathspec:
    """Several patterns: a path is chosen by any that includes, unless one excludes it."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Understand the patterns; raises UsageError for a sign that is not known."""
        made = [_understand(pattern) for pattern in patterns]
        self._wanted = [pattern for pattern in made if not pattern.excludes]
        self._unwanted = [pattern for pattern in made if pattern.excludes]

    def matches(self, path: str) -> bool:
        """Whether a path (with ``/``, from the top of the tree) is chosen."""
        return (
            not self._wanted or any(pattern.matches(path) for pattern in self._wanted)
        ) and not any(pattern.matches(path) for pattern in self._unwanted)


def _understand(pattern: str) -> _Pattern:
    words, text = _signs(pattern)
    if len(text) > _LONGEST:
        raise UsageError(f"A path of more than {_LONGEST:,} characters is none.")
    if "glob" in words and "literal" in words:
        raise UsageError(f"'{pattern}': glob and literal exclude each other.")
    text = text.removeprefix("./")
    if "icase" in words:
        text = text.lower()
    has_wildcard = "literal" not in words and any(char in text for char in "*?[")
    made = _Pattern(text, "exclude" in words, "icase" in words)
    if has_wildcard and "glob" in words:
        made.parts = [None if part == "**" else _regex(part) for part in text.split("/")]
    elif has_wildcard:
        made.whole = _regex(text)
    return made


def _signs(pattern: str) -> tuple[set[str], str]:
    """Split a pattern into the words of its magic and the rest."""
    if not pattern.startswith(":"):
        return set(), pattern
    if pattern.startswith(":("):
        inner, found, text = pattern[2:].partition(")")
        words = {word.strip() for word in inner.split(",") if word.strip()}
        if not found or words - _WORDS:
            raise UsageError(
                f"'{pattern}' is no path: of the words in brackets glob, icase, literal, exclude"
                " and top are understood."
            )
        return words, text
    end = 1
    words = set()
    while end < len(pattern) and pattern[end] in _SIGNS:
        words.add(_SIGNS[pattern[end]])
        end += 1
    if end < len(pattern) and pattern[end] == ":":  # `:!:name` ends the signs
        end += 1
    return words, pattern[end:]


@lru_cache(maxsize=256)
def _regex(text: str) -> re.Pattern[str]:
    """Return the regular expression of a glob whose ``*`` matches anything.

    Between two stars the first place that fits is as good as any later one: groups
    that give nothing back keep the time linear, whatever the path.
    """
    pieces: list[list[str]] = [[]]
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append([])
        elif char == "?":
            pieces[-1].append(".")
        elif char == "\\" and position < len(text):
            pieces[-1].append(re.escape(text[position]))
            position += 1
        elif char == "[":
            found = _set(text, position)
            if found is None:
                pieces[-1].append(re.escape(char))
            else:
                pieces[-1].append(found[0])
                position = found[1]
        else:
            pieces[-1].append(re.escape(char))
    first, *rest = ["".join(piece) for piece in pieces]
    if not rest:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)


def _set(text: str, start: int) -> tuple[str, int] | None:
    """Return the expression of ``[…]`` whose content begins at ``start``, and where it ends."""
    position = start
    negated = text[position : position + 1] in ("!", "^")
    position += negated
    end = text.find("]", position + 1)
    if end < 0:
        return None
    inside = text[position:end]
    pieces = []
    index = 0
    while index < len(inside):
        if inside[index + 1 : index + 2] == "-" and index + 2 < len(inside):
            low, high = inside[index], inside[index + 2]
            if low <= high:
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            index += 3
        else:
            pieces.append(re.escape(inside[index]))
            index += 1
    if not pieces:
        return ("." if negated else "(?!)"), end + 1
    return f"[{'^' if negated else ''}{''.join(pieces)}]", end + 1


def _match_parts(parts: Sequence[re.Pattern[str] | None], path: str) -> bool:
    """Whether components match a path's; None among them is ``**``: any number of folders."""
    names = path.split("/")
    # For each place in the path whether what was taken of the pattern so far can end there.
    reached = [True] + [False] * len(names)
    for number, part in enumerate(parts):
        following = [False] * (len(names) + 1)
        if part is None:
            is_last = number == len(parts) - 1
            able = False
            for place, was in enumerate(reached):
                # A trailing `**` means all below the folder, and needs at least one name.
                following[place] = able or (was and not is_last)
                able = able or was
        else:
            for place, name in enumerate(names):
                if reached[place] and part.fullmatch(name):
                    following[place + 1] = True
        reached = following
    return reached[-1]

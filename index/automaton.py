"""Matching regular expressions over lines in linear time: Thompson's automaton, built lazily.

Python's ``re`` tries alternatives one by one, and ``(a+)+b`` over a line of
forty letters takes it years. Here all alternatives advance together
(K. Thompson, 1968; R. Cox, "Regular Expression Matching Can Be Simple And
Fast", 2007): a state of the deterministic automaton is a set of places in the
expression, made when a line first leads there. A line costs time proportional
to its length, whatever the expression is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable

from patchlore.index.regexes import (
    Assertion,
    Choice,
    Literal,
    OneOf,
    Regex,
    RegexError,
    Repeat,
    Sequence,
    Tree,
    matcher,
)

#: Characters of a line that are looked at.
LINE_LIMIT = 2000

#: Places in an expression, after repeats like {2,9} are written out.
_MOST_PLACES = 600

#: States that are kept; then the automaton starts afresh.
_MOST_STATES = 4000

# What is on one side of a place between characters.
_OTHER, _WORD, _BORDER = 0, 1, 2

_is_word = re.compile(r"\w").match


class OutOfTime(Exception):
    """The time for a search is over."""


class _Place:
    """A place in an expression and where one can go from it."""

    __slots__ = ("assertion", "free", "matches", "next")

    def __init__(self) -> None:
        self.matches: Callable[[str], object] | None = None
        self.next = 0
        self.free: list[int] = []
        self.assertion: str | None = None


class _State(dict[str, "_State"]):
    """A set of places that are reached together, and the state that each character leads to.

    ``side`` is the kind of the last character.
    """

    __slots__ = ("accepts_at_end", "owner", "places", "side")

    def __init__(self, owner: Automaton | None, places: frozenset[int], side: int) -> None:
        super().__init__()
        self.owner = owner
        self.places = places
        self.side = side
        self.accepts_at_end: bool | None = None

    def __missing__(self, char: str) -> _State:
        if self.owner is None:  # the match is complete, whatever comes
            return self
        following = self[char] = self.owner.step(self, char)
        return following


class Automaton:
    """Says whether lines have a match of an expression, and where.

    ``deadline`` is a time of ``time.monotonic()``, after which making a new
    state raises OutOfTime.
    """

    def __init__(self, regex: Regex, deadline: float | None = None) -> None:
        """Prepare REGEX; raises RegexError when it is too large."""
        self._deadline = deadline
        self._ignore_case = regex.ignore_case
        self._places: list[_Place] = []
        self._matchers: dict[Literal | OneOf, Callable[[str], object]] = {}
        self._goal = self._new()
        self._first = self._add(regex.tree, self._goal)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._complete = _State(None, frozenset(), _OTHER)
        self._complete.accepts_at_end = True
        self._start = self._state(frozenset((self._first,)), _BORDER)

    def found(self, line: str) -> bool:
        """Whether LINE, without its line end, has a match."""
        state = self._start
        for char in line[:LINE_LIMIT]:
            state = state[char]
        if state.accepts_at_end is None:
            closed = self._closure(state.places, state.side, _BORDER)
            state.accepts_at_end = self._goal in closed
        return state.accepts_at_end

    def span(self, line: str) -> tuple[int, int] | None:
        """Offsets of the leftmost match in LINE, as long as it can be from there."""
        line = line[:LINE_LIMIT]
        if not self.found(line):
            return None
        for start in range(len(line) + 1):
            end = self._end(line, start)
            if end is not None:
                return start, end
        return None

    def _end(self, line: str, start: int) -> int | None:
        """Where the longest match that begins at START ends."""
        side = _BORDER if not start else _side(line[start - 1])
        places = {self._first}
        best: int | None = None
        for index in range(start, len(line) + 1):
            after = _side(line[index]) if index < len(line) else _BORDER
            closed = self._closure(places, side, after)
            if self._goal in closed:
                best = index
            if index == len(line):
                break
            places = self._after(closed, line[index])
            if not places:
                break
            side = after
        return best

    # -- the lazy automaton ------------------------------------------------------------

    def _state(self, places: frozenset[int], side: int) -> _State:
        key = (places, side)
        state = self._states.get(key)
        if state is None:
            if len(self._states) >= _MOST_STATES:
                for old in self._states.values():
                    old.clear()
                self._states.clear()
            state = self._states[key] = _State(self, places, side)
        return state

    def step(self, state: _State, char: str) -> _State:
        """The state after CHAR; that of a complete match when it is so before CHAR."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTime
        side = _side(char)
        closed = self._closure(state.places, state.side, side)
        if self._goal in closed:
            return self._complete
        return self._state(frozenset((*self._after(closed, char), self._first)), side)

    def _after(self, places: Iterable[int], char: str) -> set[int]:
        table = self._places
        return {
            table[place].next
            for place in places
            if (matches := table[place].matches) is not None and matches(char)
        }

    def _closure(self, places: Iterable[int], before: int, after: int) -> set[int]:
        """All places that can be reached between two characters of these kinds."""
        reached = set(places)
        stack = list(reached)
        while stack:
            place = self._places[stack.pop()]
            if place.assertion is not None and not _holds(place.assertion, before, after):
                continue
            for free in place.free:
                if free not in reached:
                    reached.add(free)
                    stack.append(free)
        return reached

    # -- from the tree to places -----------------------------------------------------------

    def _new(self) -> int:
        if len(self._places) >= _MOST_PLACES:
            raise RegexError("The expression is too large: use shorter repeats.")
        self._places.append(_Place())
        return len(self._places) - 1

    def _add(self, tree: Tree, goal: int) -> int:
        """Make places for TREE that lead to GOAL; return the first."""
        if isinstance(tree, Sequence):
            for item in reversed(tree.items):
                goal = self._add(item, goal)
            return goal
        if isinstance(tree, Repeat):
            return self._add_repeat(tree, goal)
        place = self._new()
        made = self._places[place]
        if isinstance(tree, Choice):
            made.free = [self._add(item, goal) for item in tree.items]
        elif isinstance(tree, Assertion):
            made.assertion = tree.kind
            made.free = [goal]
        else:
            made.matches = self._matcher(tree)
            made.next = goal
        return place

    def _add_repeat(self, tree: Repeat, goal: int) -> int:
        if tree.high is None:
            loop = self._new()
            self._places[loop].free = [self._add(tree.item, loop), goal]
            first = loop
        else:
            first = goal
            for _ in range(tree.high - tree.low):
                optional = self._new()
                self._places[optional].free = [self._add(tree.item, first), goal]
                first = optional
        for _ in range(tree.low):
            first = self._add(tree.item, first)
        return first

    def _matcher(self, tree: Literal | OneOf) -> Callable[[str], object]:
        """What says whether a character is the one, or one of those, that TREE means."""
        found = self._matchers.get(tree)
        if found is None:
            found = self._matchers[tree] = matcher(tree, self._ignore_case)
        return found


def _side(char: str) -> int:
    return _WORD if _is_word(char) else _OTHER


def _holds(assertion: str, before: int, after: int) -> bool:
    if assertion == "^":
        return before == _BORDER
    if assertion == "$":
        return after == _BORDER
    edge = (before == _WORD) != (after == _WORD)
    return edge if assertion == "b" else not edge

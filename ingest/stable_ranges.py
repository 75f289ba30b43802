"""Which kernel versions a ``Cc: stable`` note asks for, and which it leaves out.

"5.10+ but not 6.1", "5.4-5.15 only", "all but 5.4", "5.10+ (6.1 is not affected)": a note is
cut into clauses; each is understood word by word, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

#: Notes are short; a longer one is no range.
MAX_NOTE = 400

#: From and up to which tree, both included, as ranks; None is an open end.
Span = tuple[int | None, int | None]

_TOKEN = re.compile(
    r"(?P<version>(?<!\w)(?<!\d\.)(?:linux-|kernel-)?v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}|[xyz*]))?(?:-rc\d{1,2})?"
    r"(?:-(?:stable|longterm|lts)\b)?(?!\w)(?P<plus>\+)?)"
    r"|(?P<sign><(?!<)=?|>=?|=[<>]|[≤≥])|(?P<word>[A-Za-z][A-Za-z']*)"
    r"|(?P<dash>\.{2,}|[-–—~]+|<<)|(?P<stop>[,;:()\[\]#|]|\.(?=\s|$))|(?P<join>[/&+=])|(?P<bang>!)|\S",
    re.I,
)

_ALL = re.compile(r"[\s(]{0,3}(?:for )?(?:all|any|every|everything)\b", re.I)
_FILLER = frozenset(
    "for the kernel kernels series tree trees stable please apply applies applied linux in on to of"
    " version versions branch branches needed need needs required is are be this it starting useful"
    " applicable affected affects affect relevant backport backports backported also lts longterm just"
    " should go into at least back down release releases any every each all everything both must that"
    " necessary suitable intended meant wanted want merge pick take queue then too these those ones one"
    " either maintained supported active was does do has only still currently as from since and or"
    " include including included way far".split()
)
_LATER = frozenset(
    "later newer up upward upwards above onward onwards on plus higher after forward".split()
)
_EARLIER = frozenset("older earlier below lower before prior down".split())
_BEFORE = frozenset("before prior below under".split())
_UP_TO = frozenset("until till through thru upto".split())
_JOINS = _UP_TO | {"to"}
_NOT = frozenset(
    "not no except excluding excludes exclude excluded without skip skips skipped skipping minus never"
    " unaffected nor apart other unneeded unnecessary inapplicable omit omitting cannot ignore ignoring"
    " already neither nothing".split()
)
#: Words that begin a clause of another kind: why, how, under which condition.
_TURNS = frozenset(
    "with see because due when if unless where which while though although however yet but so".split()
)
_BUT = frozenset("but however yet though".split())
#: What makes a clause that was not understood one to be careful with.
_DOUBTS = _BUT | frozenset(
    "if unless when where once although fine ok okay good safe immune fixed".split()
)


class Ranges(Struct, frozen=True, kw_only=True):
    """What a note says of versions. ``end`` is where the last clause that was understood ends."""

    wanted: tuple[Span, ...] = ()
    unwanted: tuple[Span, ...] = ()
    #: Named in a clause that denies or conditions something and was not understood.
    doubted: tuple[Span, ...] = ()
    end: int = 0

    def spans(self) -> list[Span]:
        """The trees asked for: the wanted ones (all, if only others are named) without the rest."""
        found = list(self.wanted) or ([(None, None)] if self.unwanted else [])
        for out in (*self.unwanted, *self.doubted):
            found = [piece for span in found for piece in without(span, out)]
        return found


class _Token(Struct, frozen=True):
    kind: str
    text: str
    start: int
    end: int
    rank: int = 0
    is_open: bool = False


class _Item(Struct):
    """A range of versions in a clause."""

    span: Span
    is_bare: bool
    is_out: bool = False


class _Read(Struct):
    """What a clause says."""

    items: list[_Item] = []
    denied: bool = False
    #: The denial stands behind its versions.
    denied_behind: bool = False
    #: A clause behind a comma may go on with what is left out.
    goes_on: bool = False


def rank_of(major: int, minor: int, third: int) -> int:
    """A number that orders trees; until 2011 (2.6.32) the third number was the release."""
    return (major * 1000 + minor) * 1000 + (third if major < 3 else 0)


def read_ranges(note: str, *, in_list: bool = False) -> Ranges | None:
    """Read a note; None when its first clause speaks of anything but versions.

    A bare version is open above (the kernel's rules: that tree and every newer one)
    unless it stands beside others, or ``in_list``.
    """
    if len(note) > MAX_NOTE:
        return None
    items: list[_Item] = []
    doubted: list[Span] = []
    end = 0
    out = False
    before = ""
    for number, clause in enumerate(_clauses(note)):
        read = _read(clause, out=out, known=items)
        stop = clause[-1].text if clause[-1].kind == "stop" else ""
        if read is None:
            if number == 0:
                return None
            doubted += _doubts(clause, out=out)
            out = False
        else:
            if read.denied_behind and before == "," and items and items[-1].is_bare:
                # "5.10, 5.15 not affected": one of them, or both?
                doubted += [item.span for item in (*items, *read.items)]
                items, read.items = [], []
            if read.items:
                end = clause[-1].end
            items += read.items
            out = read.goes_on and (stop == "," or (stop == ":" and not read.items))
        before = stop
    wanted = [item for item in items if not item.is_out]
    if not wanted and items and _ALL.match(note):  # "all but 5.4"
        wanted = [_Item((None, None), False)]
    alone = len(wanted) == 1 and not in_list
    return Ranges(
        wanted=tuple(_opened(item) if alone else item.span for item in wanted),
        unwanted=tuple(item.span for item in items if item.is_out),
        doubted=tuple(doubted),
        end=end,
    )


def doubted_in(comment: str) -> tuple[Span, ...]:
    """The versions of which a comment denies something that nobody can tell."""
    if len(comment) > MAX_NOTE:
        return ()
    return tuple(span for clause in _clauses(comment) for span in _doubts(clause, out=False))


def _tokens(note: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(note):
        kind = match.lastgroup or "other"
        if match["version"]:
            third = match[4]
            rank = rank_of(
                int(match[2]), int(match[3]), int(third) if (third or "").isdigit() else 0
            )
            yield _Token("version", match[0], *match.span(), rank, bool(match["plus"]))
        else:
            yield _Token(kind, match[0].lower(), *match.span())


def _clauses(note: str) -> Iterator[list[_Token]]:
    """Runs of tokens between stops, and before words that turn to something else."""
    clause: list[_Token] = []
    for token in _tokens(note):
        turns = token.kind == "word" and token.text in _TURNS
        if turns and token.text == "with" and clause and clause[-1].text == "starting":
            turns = False
        if clause and (turns or clause[-1].kind == "stop"):
            yield clause
            clause = []
        clause.append(token)
    if clause:
        yield clause


def _read(clause: list[_Token], *, out: bool, known: list[_Item]) -> _Read | None:
    """Read a clause; None if a word of it is not known.

    ``out`` is whether the clause before goes on to name what is left out, ``known``
    what was read before.
    """
    tokens = [token for token in clause if token.kind != "stop"]
    read = _Read()
    is_out, index = out, 0
    if out and not any(item for item in known if not item.is_out) and _names_open(tokens):
        is_out = False  # "not 6.1, 5.10+"
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "version":
            item, index = _item(tokens, index)
            item.is_out = is_out
            read.items.append(item)
            continue
        if token.text == "nor" and is_out:
            pass
        elif _is_denial(token):
            if read.denied:
                return None
            read.denied = True
            read.denied_behind = bool(read.items) and not _names(tokens[index:])
            if read.denied_behind:  # "6.1 is not affected"
                for item in read.items:
                    item.is_out = True
            is_out = True
        elif token.text in _BUT and index == 0:
            if _names(tokens) and not any(map(_is_denial, tokens)):
                if known:  # "5.10+ but 6.1"
                    return None
                is_out = True  # "all but 5.4"
        elif not _is_known(token):
            return None
        index += 1
    if out and is_out and any(not item.is_bare for item in read.items):
        return None  # "5.10+, not 6.1, 6.6+"
    read.goes_on = read.items[-1].is_out if read.items else is_out
    read.goes_on &= not read.denied_behind
    return read


def _names(tokens: list[_Token]) -> bool:
    return any(token.kind == "version" for token in tokens)


def _names_open(tokens: list[_Token]) -> bool:
    return any(token.is_open for token in tokens)


def _item(tokens: list[_Token], index: int) -> tuple[_Item, int]:
    """The range around the version at INDEX, and the index behind it."""
    version = tokens[index]
    low = version.rank
    above, before = ["", "", *(token.text for token in tokens[:index])][-2:]
    after = [*(token.text for token in tokens[index + 1 : index + 4]), "", "", ""]
    is_dash = tokens[index + 1 : index + 2] != [] and tokens[index + 1].kind == "dash"
    second = _second(tokens, index, is_dash=is_dash, is_between=before == "between")
    if second:
        other = tokens[second]
        if other.is_open:
            return _Item((low, None), False), second + 1
        only = tokens[second + 1 : second + 2] != [] and tokens[second + 1].text == "only"
        return _Item((min(low, other.rank), max(low, other.rank)), False), second + 1 + only
    if version.is_open:
        return _Item((low, None), False), index + 1
    if (
        before == "<"
        or before in _BEFORE
        or (before in ("to", "than") and above in _EARLIER | _BEFORE and above != "down")
    ):
        return _Item((None, low - 1), False), index + 1
    if before in ("<=", "=<", "≤") or before in _UP_TO or (before == "to" and above == "up"):
        return _Item((None, low), False), index + 1
    if before == ">" or (before == "than" and above in _LATER):
        return _Item((low + 1, None), False), index + 1
    if after[0] == "only":
        if after[1] in ("and", "or") and after[2] in _EARLIER:
            return _Item((None, low), False), index + 4
        return _Item((low, low), False), index + 2
    skip = 1 if after[0] in ("and", "or", "&") else 0
    if after[skip] in _LATER:
        return _Item((low, None), False), index + 2 + skip
    if skip and after[1] in _EARLIER:
        return _Item((None, low), False), index + 3
    if is_dash:  # "3.3.x-"
        return _Item((low, None), False), index + 2
    if (
        before in (">=", "=>", "≥", "+", "since")
        or (before == "from" and above != "apart")
        or (before == "to" and above in ("back", "down"))
    ):
        return _Item((low, None), False), index + 1
    return _Item((low, low), True), index + 1


def _second(tokens: list[_Token], index: int, *, is_dash: bool, is_between: bool) -> int:
    """Where the second version of "5.4 - 5.15", "5.4 up to 5.15" stands, or 0."""
    words = [token.text for token in tokens[index + 1 : index + 3]]
    if words == ["up", "to"]:
        at = index + 3
    elif words and (is_dash or words[0] in _JOINS or (is_between and words[0] == "and")):
        at = index + 2
    else:
        return 0
    return at if tokens[at : at + 1] != [] and tokens[at].kind == "version" else 0


def _opened(item: _Item) -> Span:
    return (item.span[0], None) if item.is_bare else item.span


def _is_denial(token: _Token) -> bool:
    return token.kind == "bang" or token.text in _NOT or token.text.endswith("n't")


def _is_known(token: _Token) -> bool:
    if token.kind in ("sign", "dash", "join"):
        return True
    text = token.text
    return (
        text in _FILLER
        or text in _LATER
        or text in _EARLIER
        or text in _BEFORE
        or (text in _UP_TO or text in ("between", "than", "starting"))
    )


def _doubts(clause: list[_Token], *, out: bool) -> list[Span]:
    """The versions of a clause that was not understood, if it denies or conditions something."""
    if not out and not any(_is_denial(token) or token.text in _DOUBTS for token in clause):
        return []
    return [
        (token.rank, None if token.is_open else token.rank)
        for token in clause
        if token.kind == "version"
    ]


def without(span: Span, out: Span) -> list[Span]:
    """Return what is left of SPAN without the versions of OUT: none, one or two pieces."""
    low, high = span
    first, last = out
    if (first is not None and high is not None and first > high) or (
        last is not None and low is not None and last < low
    ):
        return [span]
    pieces: list[Span] = []
    if first is not None and (low is None or low < first):
        pieces.append((low, first - 1))
    if last is not None and (high is None or high > last):
        pieces.append((last + 1, high))
    return pieces

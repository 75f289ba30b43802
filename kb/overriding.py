"""Overrides of a list: lines of a person's file that set states, with their reasons.

The form of its own is a commit (7 or more digits) or a CVE, a state or ``ignore``, a
tree if the line is for that one alone, and the reason::

    456708cc42bd  not-affected  5.10  # the driver came with 5.12
    CVE-2024-90001  ignore  # we don't build it

Beside it lines are understood that others keep: a blacklist of git-fixes (``<sha> #
reason``, and paths: a commit that touches nothing else is ignored, as SUSE's
blacklist.conf has it), and files of the kernel's CVE team
(https://git.kernel.org/pub/scm/linux/security/vulns.git): ``CVE-….vulnerable``, the
commits that brought a fault, and what stands in ``rejected/``.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchlore.kb.backports import STATES, Row
from patchlore.kb.errors import UsageError
from patchlore.kb.filtering import files_of
from patchlore.kb.git_reading import trees_with
from patchlore.kb.needless import after_overrides
from patchlore.kb.outcomes import Override
from patchlore.kb.store import Archive
from patchlore.kb.text import count, printable, shorten
from patchlore.kb.versions import is_stable, short_name, tree_name

#: The word for what a person does not want; the row's state is then the one beside it.
IGNORE = "ignore"
_IGNORED = "opted-out"

_SHA = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.IGNORECASE)
_PATH = re.compile(r"[\w.+/@,-]{1,400}")
_SIGN = re.compile(r"(?:^|\s)#")
_OF_CVE = re.compile(r"(CVE-\d{4}-\d{4,19})(?:\.[a-z0-9]+)?")

#: What a longer line is, is no list.
_LONGEST = 2000
_LARGEST = 16 * 1024 * 1024
_TOLD = 3
_MOST_PROBLEMS = 100
_DIGITS = 7

_NO_REASON = "no reason given"
#: What a record of the CVE team can say against: that a tree has the fault says nothing
#: of a fix that is under way.
_OPEN_TO_RECORDS = frozenset({"unknown", "not-affected", "needed"})


class Rule(Struct, kw_only=True):
    """A line that sets the state of what it names; exactly one of sha, cve, path is given."""

    file: str
    line: int
    text: str
    reason: str
    #: One of STATES; None where it follows from ``introduced``.
    state: str | None
    tree: str | None = None
    sha: str | None = None
    cve: str | None = None
    path: str | None = None
    #: The commits that brought the fault.
    introduced: list[str] = []

    @property
    def place(self) -> str:
        """``own.txt:3``."""
        return f"{self.file}:{self.line}"

    @property
    def name(self) -> str:
        """What the line is about."""
        return self.sha or self.cve or self.path or ""


class Overrides(Struct, kw_only=True):
    """The lines of a file or folder that were understood, and what is wrong with others."""

    rules: list[Rule]
    #: A sentence for each of the first lines that are none.
    problems: list[str]
    #: How many more there are.
    more_problems: int = 0


def read_overrides(path: str) -> Overrides:
    """Read a file of overrides, or all that the CVE team keeps in a folder.

    Raises UsageError for what can't be read at all.
    """
    found = Overrides(rules=[], problems=[])
    for name in sorted(_files(path)):
        try:
            with open(name, "rb") as file:
                data = file.read(_LARGEST + 1)
        except OSError as error:
            raise UsageError(f"{name} can't be read: {error.strerror}.") from error
        if len(data) > _LARGEST:
            raise UsageError(f"{name} is too large for a list of overrides.")
        parse_overrides(name, data, found)
    return found


def parse_overrides(path: str, data: bytes, found: Overrides) -> None:
    """Add to ``found`` what the lines of a file say, and what is wrong with others.

    The name of the file tells whether it is one of the CVE team's.
    """
    _read(path, data.decode("utf-8", "replace"), found)


def apply(
    archive: Archive, tree: str, rows: Sequence[Row], overrides: Overrides
) -> tuple[list[Row], list[str]]:
    """Return the rows with the states that the rules set, in their order, and notes.

    Of several rules for a row the last one holds.  What was needed for the sake of rows
    alone that are not to be taken now is left out.  The notes say which rules are
    about no row of the tree (its one name), or can't be judged there.
    """
    rules = [rule for rule in overrides.rules if rule.tree in (None, tree)]
    matcher = _Matcher(archive, tree, rules)
    changed = []
    used: set[int] = set()
    unclear: list[Rule] = []
    for row, matches in zip(rows, matcher.of(rows), strict=True):
        chosen, state = None, row.state
        for number in sorted(matches):
            used.add(number)
            rule = rules[number]
            following = rule.state or _state_of_record(archive, tree, row, rule)
            if following is None:
                unclear.append(rule)
            elif following:
                chosen, state = rule, following
        changed.append(row if chosen is None else _overridden(row, chosen, state))
    name = short_name(tree)
    unused = [rule for number, rule in enumerate(rules) if number not in used]
    notes = _told(unused, f"{{}} of overrides that no row of {name} is about")
    notes += _told(unclear, f"{{}} of overrides from which nothing follows for {name}")
    return after_overrides(rows, changed), notes


def _overridden(row: Row, rule: Rule, state: str) -> Row:
    return replace(
        row,
        state=state,
        notes=list(row.notes),
        reason=f"overridden in {rule.place}: {rule.reason}",
        override=Override(
            file=rule.file, line=rule.line, text=rule.text, reason=rule.reason, was=row.state
        ),
    )


def _told(rules: Sequence[Rule], what: str) -> list[str]:
    if not rules:
        return []
    places = [f"{printable(rule.place)} ({printable(rule.name)})" for rule in rules[:_TOLD]]
    more = " …" if len(rules) > _TOLD else ""
    return [f"{what.format(count(len(rules), 'line'))}: {', '.join(places)}{more}"]


# -- reading ---------------------------------------------------------------------------


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if _OF_CVE.fullmatch(name) and _kind(os.path.join(folder, name)) is not None:
                yield os.path.join(folder, name)


def _kind(path: str) -> str | None:
    """``vulnerable`` or ``rejected`` for a file of the CVE team, by its name and folder."""
    parts = pathlib.PurePath(path)
    if not _OF_CVE.fullmatch(parts.name):
        return None
    if parts.suffix == ".vulnerable":
        return "vulnerable"
    if parts.suffix == ".rejected" or "rejected" in parts.parts[:-1]:
        return "rejected" if parts.suffix in ("", ".sha1", ".rejected") else None
    return None


def _read(path: str, text: str, found: Overrides) -> None:
    kind = _kind(path)
    lines = _lines(path, text, found)
    if kind is not None:
        match = _OF_CVE.fullmatch(os.path.basename(path))
        cve = match[1].upper() if match else ""
        _read_of_cve(path, cve, kind, lines, found)
        return
    for number, line in lines:
        words, reason = _parts(line)
        if not words:
            continue
        rule = _rule(path, number, line, words, reason)
        if isinstance(rule, str):
            if len(found.problems) < _MOST_PROBLEMS:
                found.problems.append(f"{path}:{number}: {rule}: {shorten(line.strip(), 60)}")
            else:  # this is another kind of file
                found.more_problems += 1
        else:
            found.rules.append(rule)


def _lines(path: str, text: str, found: Overrides) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST:
            found.problems.append(f"{path}:{number}: this is no override: the line is too long")
        else:
            yield number, line


def _parts(line: str) -> tuple[list[str], str]:
    """The words of a line, and the reason behind the first # that begins a word."""
    sign = _SIGN.search(line)
    front, reason = (line, "") if sign is None else (line[: sign.start()], line[sign.end() :])
    return front.split(), " ".join(reason.split())


def _rule(path: str, number: int, line: str, words: list[str], reason: str) -> Rule | str:
    """The rule that a line is, or what is wrong with it."""
    name, *rest = words
    sha = name.lower() if _SHA.fullmatch(name) else None
    cve = name.upper() if _CVE.fullmatch(name) else None
    file = name if not (sha or cve) and ("/" in name or "." in name) else None
    if file is not None and not _PATH.fullmatch(file):
        file = None
    if not (sha or cve or file):
        return "this begins with no commit of 7 to 40 digits, no CVE and no path"
    state, tree = IGNORE, None
    if rest:
        state = rest.pop(0).lower()
        if state not in (*STATES, IGNORE):
            return f"'{printable(state)}' is no state: use {', '.join(STATES)} or {IGNORE}"
    if rest:
        tree = tree_name(rest.pop(0))
        if not is_stable(tree):
            return f"'{printable(tree)}' is no tree: write it as 5.10; a reason follows #"
    if rest:
        return "this goes on behind the tree: a reason follows #"
    return Rule(
        file=path,
        line=number,
        text=line.strip(),
        reason=reason or _NO_REASON,
        state=_IGNORED if state == IGNORE else state,
        tree=tree,
        sha=sha,
        cve=cve,
        path=file,
    )


def _read_of_cve(
    path: str, cve: str, kind: str, lines: Iterable[tuple[int, str]], found: Overrides
) -> None:
    commits: list[tuple[int, str, str]] = []
    for number, line in lines:
        words, _ = _parts(line)
        if not words:
            continue
        if not _SHA.fullmatch(words[0]):
            found.problems.append(f"{path}:{number}: this begins with no commit of 7 to 40 digits")
            continue
        commits.append((number, line.strip(), words[0].lower()))
    if kind == "rejected":
        reason = f"{cve} was rejected"
        for number, line, sha in commits:
            found.rules.append(
                Rule(
                    file=path, line=number, text=line, reason=reason, state=_IGNORED, sha=sha
                )
            )  # fmt: skip
        if not commits:
            found.rules.append(
                Rule(file=path, line=1, text=cve, reason=reason, state=_IGNORED, cve=cve)
            )
    elif commits:
        number, line, _ = commits[0]
        shas = [sha for _, _, sha in commits]
        found.rules.append(
            Rule(
                file=path,
                line=number,
                text=line,
                reason=f"{cve} was introduced by {', '.join(sha[:12] for sha in shas)}",
                state=None,
                cve=cve,
                introduced=shas,
            )
        )


def _state_of_record(archive: Archive, tree: str, row: Row, rule: Rule) -> str | None:
    """The state that follows from where a fault came from; None: not known, empty: no other."""
    known = False
    for sha in rule.introduced:
        whole = [
            name
            for (name,) in archive.execute(
                "SELECT sha FROM git_commit WHERE sha >= ? AND sha < ? LIMIT 2", (sha, sha + "g")
            )
        ]
        if len(whole) != 1:
            continue
        if any(item.tree == tree for item in trees_with(archive, whole)):
            return "needed" if row.state in _OPEN_TO_RECORDS else ""
        known = True
    has_tree = archive.value("SELECT 1 FROM git_ref WHERE stable_tree = ? AND sha <> ''", (tree,))
    if not known or not has_tree:
        return None
    return "not-affected" if row.state in _OPEN_TO_RECORDS | {"nominated"} else ""


# -- which rule is about which row -----------------------------------------------------


class _Matcher:
    """Finds the rules of rows, by number: thousands of lines against thousands of rows."""

    def __init__(self, archive: Archive, tree: str, rules: Sequence[Rule]) -> None:
        self._archive = archive
        self._commits: dict[str, list[tuple[str, int]]] = {}
        self._cves: dict[str, list[int]] = {}
        self._paths: dict[str, int] = {}
        for number, rule in enumerate(rules):
            if rule.sha is not None:
                self._commits.setdefault(rule.sha[:_DIGITS], []).append((rule.sha, number))
            elif rule.cve is not None:
                self._cves.setdefault(rule.cve, []).append(number)
            elif rule.path is not None:
                self._paths[rule.path.strip("/")] = number

    def of(self, rows: Sequence[Row]) -> Iterator[set[int]]:
        """Yield the rules of each row."""
        cves: list[list[str]] = [[] for _ in rows]
        if self._cves:
            from patchlore.kb.export.vulnerabilities import cves_of

            cves = cves_of(self._archive, rows)
        files = files_of(self._archive, rows) if self._paths else [set() for _ in rows]
        for row, names, paths in zip(rows, cves, files, strict=True):
            found = {number for sha in _shas(row) for number in self._of_commit(sha)}
            found |= {number for name in names for number in self._cves.get(name, ())}
            yield found | self._of_files(paths)

    def _of_commit(self, sha: str) -> Iterator[int]:
        for known, number in self._commits.get(sha[:_DIGITS], ()):
            if known.startswith(sha) or sha.startswith(known):
                yield number

    def _of_files(self, files: set[str]) -> set[int]:
        """The rules of the paths of a row's files, when every file has one."""
        found = [self._of_path(path) for path in files]
        known = {number for number in found if number is not None}
        return known if None not in found else set()

    def _of_path(self, path: str) -> int | None:
        """The rule of a path or of the nearest folder above it."""
        while path:
            if path in self._paths:
                return self._paths[path]
            path = path.rpartition("/")[0]
        return None


def _shas(row: Row) -> list[str]:
    return list(dict.fromkeys([*([row.sha] if row.sha else []), *row.commits]))

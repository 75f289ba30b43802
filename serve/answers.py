"""The questions that other programs ask, by name: parameters, and the answer as plain values.

The same table is the API under /api/ and the tools of MCP; the values are those that
``--json`` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from patchlore.kb.choices import CHOICES
from patchlore.kb.errors import UsageError
from patchlore.library import Library

#: What is not asked for in numbers: so many hits and rows.
DEFAULT_LIMIT = 50

#: A longer parameter is no question.
_LONGEST = 10_000
_MOST = 10_000

#: In an address, where all is text.
_BOOLEANS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}

Values = Mapping[str, str | int | bool]


class Parameter(Struct, kw_only=True, frozen=True):
    """A parameter of a question."""

    name: str
    description: str
    required: bool = False
    type: Literal["string", "integer", "boolean"] = "string"


class Question(Struct, kw_only=True, frozen=True):
    """A question: its name, what it is about, and how it is answered."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Library, Values], Any]


def ask(library: Library, name: str, values: Mapping[str, object]) -> Any:
    """Return the answer to a question as values that JSON has.

    Raises KeyError for a question that is not known, UsageError for parameters that
    are not those of the question, and what the library raises.
    """
    question = QUESTIONS[name]
    return msgspec.to_builtins(question.answer(library, _checked(question, values)))


def _checked(question: Question, values: Mapping[str, object]) -> Values:
    known = {parameter.name: parameter for parameter in question.parameters}
    for name in values:
        if name not in known:
            there = ", ".join(known) or "none"
            raise UsageError(f"{question.name} has no parameter {name[:50]!r}: there are {there}.")
    checked: dict[str, str | int | bool] = {}
    for name, parameter in known.items():
        value = values.get(name)
        if value is None or value == "":
            if parameter.required:
                raise UsageError(f"{question.name} needs {name}: {parameter.description}.")
            continue
        checked[name] = _value(parameter, value)
    return checked


def _value(parameter: Parameter, value: object) -> str | int | bool:
    if parameter.type == "boolean":
        known = value if isinstance(value, bool) else _BOOLEANS.get(str(value).lower())
        if known is None:
            raise UsageError(f"{parameter.name} is true or false, not {str(value)[:50]!r}.")
        return known
    if parameter.type == "integer":
        text = str(value)
        if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) < 10):
            raise UsageError(f"{parameter.name} is a number from 0 on, not {text[:50]!r}.")
        return int(text)
    if not isinstance(value, str):
        raise UsageError(f"{parameter.name} is a text.")
    if len(value) > _LONGEST:
        raise UsageError(f"{parameter.name} is longer than {_LONGEST:,} characters.")
    return value


def _limit(values: Values) -> int:
    return min(int(values.get("limit", DEFAULT_LIMIT)), _MOST) or _MOST


def _search(library: Library, values: Values) -> Any:
    sort = values.get("sort", "date")
    if sort not in ("date", "rank"):
        raise UsageError("sort is date or rank.")
    query = str(values["query"])
    return library.search(query, limit=_limit(values), sort="rank" if sort == "rank" else "date")


def _show(library: Library, values: Values) -> Any:
    return library.message(str(values["id"]))


def _thread(library: Library, values: Values) -> Any:
    return [
        {
            "depth": node.depth,
            "message_id": node.text if node.message is None else node.message.message_id,
            "seen": node.message is not None,
            "rule": node.rule,
            "message": node.message,
        }
        for node in library.thread(str(values["id"]))
    ]


def _commit(library: Library, values: Values) -> Any:
    tree = values.get("tree")
    dossier = library.commit(str(values["sha"]), None if tree is None else str(tree))
    found = msgspec.to_builtins(dossier)
    for state, told in zip(dossier.trees, found["trees"], strict=True):
        told["events"] = _events(state.events)
    return found


def _cve(library: Library, values: Values) -> Any:
    dossier = library.cve(str(values["id"]))
    found = msgspec.to_builtins(dossier)
    for commit, told in zip(dossier.commits, found["commits"], strict=True):
        for state, tree in zip(commit.trees, told["trees"], strict=True):
            tree["events"] = _events(state.events)
    return found


def _events(events: list[Any]) -> list[dict[str, Any]]:
    from patchlore.kb.export.jsonl import event_object

    return [event_object(event) for event in events]


def _pr(library: Library, values: Values) -> Any:
    return library.bug(str(values["number"]))


def _review(library: Library, values: Values) -> Any:
    return library.review(str(values["release"]))


def _backports(library: Library, values: Values) -> Any:
    from patchlore.kb.asking import read_asked
    from patchlore.kb.errors import NotFoundError
    from patchlore.kb.export.jsonl import as_object
    from patchlore.kb.versions import short_name

    asked = read_asked(values)
    for tree in asked.trees:
        if not library.knows_tree(tree):
            raise NotFoundError(f"The tree {short_name(tree)} is not known.")
    rows = library.ask(asked)
    limit = _limit(values)
    return {"total": len(rows), "rows": [as_object(row) for row in rows[:limit]]}


def _stats(library: Library, values: Values) -> Any:
    return library.stats()


_ID = Parameter(
    name="id", description="a Message-ID, or the URL of a mail in a web archive", required=True
)
_AT_MOST = Parameter(
    name="limit", description=f"at most so many (default {DEFAULT_LIMIT})", type="integer"
)

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (
        Question(
            name="search",
            description="Mails that match a query: words and prefixes such as s: (subject), "
            "f: (from), d: (date), dfn: (file), fixes:, upstream:, pr:, cve:, stable:",
            parameters=(
                Parameter(name="query", description="the query", required=True),
                _AT_MOST,
                Parameter(name="sort", description="date (default) or rank"),
            ),
            answer=_search,
        ),
        Question(
            name="show",
            description="A mail with its text, its facts and the line that proves each",
            parameters=(_ID,),
            answer=_show,
        ),
        Question(
            name="thread",
            description="The conversation that a mail belongs to",
            parameters=(_ID,),
            answer=_thread,
        ),
        Question(
            name="commit",
            description="What is known about a commit: its patch, what fixes and reverts it, "
            "its backports in each stable tree",
            parameters=(
                Parameter(name="sha", description="7 or more digits of a commit", required=True),
                Parameter(name="tree", description="only this stable tree: 5.10"),
            ),
            answer=_commit,
        ),
        Question(
            name="pr",
            description="What is known about a bug of GCC or another compiler",
            parameters=(
                Parameter(
                    name="number",
                    description="the bug: 83356, target/89587, llvm:143908",
                    required=True,
                ),
            ),
            answer=_pr,
        ),
        Question(
            name="cve",
            description="What is known about a CVE: its commits, their backports, who names it",
            parameters=(Parameter(name="id", description="CVE-2024-12345", required=True),),
            answer=_cve,
        ),
        Question(
            name="backports",
            description="The upstream commits that a stable tree has, is getting, needs or lacks, "
            "each with its state and the line that proves it",
            parameters=(
                Parameter(name="tree", description="a stable tree: 5.10; or say it with to"),
                *(
                    Parameter(
                        name=choice.key,
                        description=choice.help,
                        type="boolean" if choice.metavar is None else "string",
                    )
                    for choice in CHOICES
                ),
                _AT_MOST,
            ),
            answer=_backports,
        ),
        Question(
            name="review",
            description="A stable review round: deadline, patches, objections, tags given",
            parameters=(
                Parameter(
                    name="release",
                    description="6.6.9-rc1, 6.6.9, or a tree for its newest round",
                    required=True,
                ),
            ),
            answer=_review,
        ),
        Question(name="stats", description="What the archive holds", parameters=(), answer=_stats),
    )
}

"""Rows of what a message refers to, commits and bugs, each with the line that proves it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from patchlore.ingest.message import (
    CONFIDENCES,
    KIND_ADDED,
    KIND_CONTEXT,
    KIND_FOREIGN,
    KIND_QUOTED,
    KIND_REMOVED,
    Evidence,
    GccBug,
    Message,
)
from patchlore.kb.versions import tree_name

#: Evidence is shown in one line; longer lines are cut around what they prove.
MAX_TEXT = 300

#: So much of a long line (a flattened mail is one line) is kept on each side.
_AROUND = 90

#: So many pieces of evidence with one word in common are compared with a text.
_MOST_ALIKE = 16

Row = tuple[object, ...]

#: How much a place proves; the order of `bug_ref.strength`.
PLACES = {
    "trailer": 0,
    "subject": 0,
    "diff-added": 1,
    "diff-removed": 1,
    "body": 2,
    "quoted": 3,
    "diff-context": 4,
}

_PLACE_OF_KIND = {
    KIND_ADDED: "diff-added",
    KIND_REMOVED: "diff-removed",
    KIND_CONTEXT: "diff-context",
    KIND_QUOTED: "quoted",
    KIND_FOREIGN: "quoted",
}


_words = re.compile(r"[^\s,;:()<>\[\]\"']{1,200}").findall


class _Index:
    """The evidence for one fact by value and by word: a mail may name 50,000 bugs."""

    def __init__(self) -> None:
        self.items: list[Evidence] = []
        self._values: dict[str, list[Evidence]] | None = None
        self._with_word: dict[str, list[Evidence]] | None = None

    def all(self, value: str) -> list[Evidence]:
        """Each evidence with just this value."""
        if self._values is None:
            self._values = {}
            for item in self.items:
                self._values.setdefault(item.value, []).append(item)
        return list(self._values.get(value, ()))

    def first(self, value: str) -> Evidence | None:
        """The first evidence with this value, else with these words in its value or text."""
        found = self.all(value)
        if found:
            return found[0]
        words = _words(value)
        if not words:
            return None
        if self._with_word is None:
            self._with_word = {}
            for item in self.items:
                for word in dict.fromkeys(_words(f"{item.value} {item.text}".lower())):
                    others = self._with_word.setdefault(word, [])
                    if len(others) < _MOST_ALIKE:
                        others.append(item)
        for item in self._with_word.get(max(words, key=len), ()):
            if value in item.value.lower() or value in item.text.lower():
                return item
        return None


class FoundAt:
    """The evidence of a message by fact, to put the line that proves it into its row."""

    def __init__(self, message: Message) -> None:
        """Take a message whose evidence is complete."""
        self._by_fact: dict[str, _Index] = {}
        for item in message.evidence:
            self._by_fact.setdefault(item.fact, _Index()).items.append(item)
        self._message = message

    def of(self, value: str, *facts: str) -> Evidence | None:
        """Return the evidence for ``value`` under the first of ``facts`` that has any.

        ``value`` is in lower case.  Evidence is for it when it is the value
        found, else when it stands in the value or the text.
        """
        for fact in facts:
            index = self._by_fact.get(fact)
            found = None if index is None else index.first(value)
            if found is not None:
                return found
        return None

    def all_of(self, value: str, fact: str) -> list[Evidence]:
        """Return each evidence for ``value`` under ``fact``, in order of appearance."""
        index = self._by_fact.get(fact)
        return [] if index is None else index.all(value)

    def place(self, item: Evidence) -> str | None:
        """Return the place of a diff or a quotation where the evidence stands."""
        kinds = self._message.line_kinds
        if self._message.flattened or not 0 < item.line <= len(kinds):
            return None
        return _PLACE_OF_KIND.get(kinds[item.line - 1])

    def text(self, item: Evidence | None) -> str | None:
        """Return what to show as proof: the whole line, or what is around it in a long one.

        ``Link: https://gcc.gnu.org/…`` proves more than the number in it.
        """
        if item is None:
            return None
        if item.line == 0 or item.span is None or len(item.text) > MAX_TEXT:
            return item.text[:MAX_TEXT]
        # No further than a line may be long: one of a megabyte can prove 50,000 facts.
        body = self._message.body
        low, high = max(0, item.span[0] - MAX_TEXT), min(len(body), item.span[1] + MAX_TEXT)
        start = body.rfind("\n", low, item.span[0]) + 1 or low
        end = body.find("\n", item.span[1], high)
        end = high if end < 0 else end
        if end - start > MAX_TEXT:
            start = max(start, item.span[0] - _AROUND)
            end = min(end, item.span[1] + _AROUND // 3)
            return f"… {body[start:end]} …"
        line = body[start:end]
        # A tag wrapped over two lines is joined in the evidence alone.
        return line if item.text in line and "\n" not in line else item.text


def commit_rows(message: Message, evidence: FoundAt) -> Iterable[Row]:
    """Yield a row of ``commit_ref`` for each relation to each commit, the strongest first."""
    position = 0
    seen: set[tuple[str, str, str | None]] = set()

    def row(
        relation: str,
        sha: str | None,
        facts: tuple[str, ...],
        *,
        subject: str | None = None,
        form: str | None = None,
        kind: str | None = None,
        tree: str | None = None,
        quoted: bool = False,
    ) -> Iterable[Row]:
        nonlocal position
        asked_for = tree if kind == "request" else None
        if not sha or (relation, sha.lower(), asked_for) in seen:
            return
        sha = sha.lower()
        # A commit that is asked for in two trees is a row for each.
        seen.update({(relation, sha, asked_for), (relation, sha, None)})
        found = evidence.of(sha, *facts)
        yield (
            relation,
            position,
            sha,
            subject,
            form,
            kind,
            tree,
            quoted,
            found.line if found else None,
            found.rule if found else None,
            evidence.text(found),
            CONFIDENCES.index(found.confidence) if found else 0,
        )
        position += 1

    for ref in message.upstream_refs:
        yield from row(
            "upstream",
            ref.sha,
            ("upstream_refs", "upstream_commits"),
            subject=ref.subject,
            form=ref.form,
            kind=ref.relation,
            tree=tree_name(ref.tree) if ref.relation == "request" and ref.tree else ref.tree,
        )
    for sha in message.upstream_commits:
        yield from row("upstream", sha, ("upstream_commits",), kind="backport")
    for relation, refs, fact in (
        ("fixes", message.fixes, "fixes"),
        ("fixes-after-cut", message.fixes_after_cut, "fixes_after_cut"),
        ("suggested-fix", message.suggested_fixes, "suggested_fixes"),
        ("stable-dep-of", message.stable_dep_of, "stable_dep_of"),
    ):
        for commit in refs:
            yield from row(relation, commit.sha, (fact,), subject=commit.subject)
    # A part taken back undoes nothing: who asks for reverts must not find it.
    partly = set(message.partial_reverts)
    for commit in message.reverts:
        relation = "partial-revert" if commit.sha in partly else "reverts"
        yield from row(relation, commit.sha, ("reverts",), subject=commit.subject)
    for sha in message.reverted_upstream:
        relation = "partial-revert" if sha in partly else "reverted-upstream"
        yield from row(relation, sha, ("reverted_upstream", "reverts"))
    for note in message.cc_stable:
        for commit in note.prereqs:
            yield from row("prerequisite", commit.sha, ("cc_stable",), subject=commit.subject)
    yield from row("own", message.own_commit, ("own_commit",), subject=message.clean_subject)
    notice = message.notification
    for original in (message.original_commit, notice.original_commit if notice else None):
        yield from row("original", original, ("original_commit", "notification"))
    yield from row("base", message.base_commit, ("base_commit", "dependencies"))
    if message.regression is not None:
        yield from row(
            "first-bad",
            message.regression.first_bad_commit,
            ("regression",),
            quoted=message.regression.quoted,
        )
    for relation, sha, kind, fact in _robots(message):
        yield from row(relation, sha, (fact,), kind=kind)
    for applied in message.applied:
        yield from row(
            "applied", applied.sha, ("applied",), subject=applied.title, tree=applied.tree
        )
    for mention in message.mentioned_commits:
        yield from row(
            "mention",
            mention.sha,
            ("mentioned_commits",),
            subject=mention.subject,
            kind=mention.relation,
            quoted=mention.quoted,
        )


#: Reports of robots that name the commit which brought what they report.
_GUILTY = frozenset({"build", "boot", "performance", "bisection"})
_HEX = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)


def _robots(message: Message) -> Iterable[tuple[str, str, str, str]]:
    """Yield relation, commit, kind and fact of what robots say and are told of commits.

    ``#regzbot introduced: 5e0ac1d2b3f4`` is a report of a regression as a robot's
    is; of a range (``v6.1..v6.2``) nobody knows the commit.
    """
    robot = message.robot
    if robot is not None and robot.commit and robot.kind in _GUILTY:
        yield "first-bad", robot.commit, robot.kind, "robot"
    elif robot is not None and robot.commit and robot.kind == "fix-suspected":
        yield "mention", robot.commit, "fixed-by", "robot"
    for command in message.commands:
        named = [sha for sha in command.commits if _HEX.fullmatch(sha)]
        if len(named) != 1 or len(command.commits) != 1:
            continue
        if command.command == "introduced":
            yield "first-bad", named[0], command.bot, "commands"
        elif command.command in ("fix", "fixed-by", "fixed", "resolve", "fix-incoming"):
            yield "mention", named[0], "fixed-by", "commands"


def is_report(message: Message) -> bool:
    """Whether a mail is a robot's report of something broken, or quotes one of a regression."""
    robot = message.robot
    return message.regression is not None or (
        robot is not None and (robot.kind in _GUILTY or robot.kind == "crash")
    )


def bug_rows(message: Message, evidence: FoundAt) -> Iterable[Row]:
    """Yield a row of ``bug_ref`` for each place of each bug."""
    for bug in message.gcc_prs:
        found = evidence.all_of(str(bug.number), "gcc_prs")
        for place, item in _match_places(bug, found, evidence):
            yield _bug_row(evidence, "gcc", bug.component, bug.number, None, place, item, bug)
    for other in message.other_prs:
        name = str(other.number) if other.number is not None else (other.id or "")
        item = evidence.of(f"{other.tracker}:{name}".lower(), "other_prs")
        place = "subject" if item is not None and item.line == 0 else "body"
        if item is not None:
            place = evidence.place(item) or place
        yield _bug_row(
            evidence, other.tracker, other.component, other.number, other.id, place, item, None
        )


def _bug_row(
    evidence: FoundAt,
    tracker: str,
    component: str | None,
    number: int | None,
    name: str | None,
    place: str,
    item: Evidence | None,
    bug: GccBug | None,
) -> Row:
    confidence = item.confidence if item else bug.confidence if bug else "certain"
    return (
        tracker,
        component,
        number,
        name,
        place,
        PLACES.get(place, PLACES["body"]),
        item.line if item else None,
        item.rule if item else None,
        evidence.text(item),
        CONFIDENCES.index(confidence),
    )


def _match_places(
    bug: GccBug, found: list[Evidence], evidence: FoundAt
) -> Iterable[tuple[str, Evidence | None]]:
    """Pair each place of a bug with the first evidence that stands there.

    Both are in order of appearance, so as many sightings as places belong
    together one by one.  Otherwise the kind of a line tells diff and quotation,
    the line the subject, and a key before a colon a trailer.
    """
    where = bug.where or ["body"]
    if len(where) == len(found):
        yield from zip(where, found, strict=True)
        return
    left = list(found)
    for place in where:
        item = next((item for item in left if _stands_at(item, place, evidence)), None)
        if item is None and len(where) == 1 and left:
            item = left[0]
        if item is not None:
            left.remove(item)
        yield place, item


def _stands_at(item: Evidence, place: str, evidence: FoundAt) -> bool:
    kind = evidence.place(item)
    if kind is not None or place in ("diff-added", "diff-removed", "diff-context", "quoted"):
        return kind == place
    if place == "subject" or item.line == 0:
        return place == "subject" and item.line == 0
    key, colon, _ = (evidence.text(item) or "").partition(":")
    is_trailer = bool(colon) and " " not in key.strip() and not key.strip().startswith("http")
    return is_trailer == (place == "trailer")

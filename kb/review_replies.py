"""What people answer to a review round: objections, failures, and the tags that they give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from patchlore.ingest.message import KIND_NOTE, KIND_PROSE, Confidence, Message
from patchlore.kb.reading import Brief
from patchlore.kb.text import printable

#: Longer lines are logs; and so many lines of a mail are looked at.
MAX_LINE = 300
_MAX_LINES = 5000

#: Kinds of objections, the weightiest first.
KINDS = ("nak", "drop-request", "bisect", "boot", "build", "test", "regression")

#: In words, for lists.
WORDS = {
    "nak": "refuses it",
    "drop-request": "asks to drop it",
    "bisect": "bisected a failure",
    "boot": "boot failure",
    "build": "build failure",
    "test": "test failure",
    "regression": "regression",
}

_FAILS = r"(?:fail(?:s|ed|ing|ures?)?|break(?:s|age)?|broken?|errors?|regress(?:ed|ions?)?)\b"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("nak", re.compile(r"\bNA(?:C)?K(?:ed)?\b|\bNacked\b")),
    (
        "drop-request",
        re.compile(
            r"\bplease,? (?:do )?(?:not (?:apply|take|queue|backport)|drop|remove|skip|hold off)\b"
            r"|\b(?:can|could|would|should) (?:you |we |this |it |that |be |probably |please ){1,3}"
            r"(?:drop(?:ped)?|not be (?:applied|backported|taken))\b"
            r"|\bdo(?:n't| not) (?:apply|take|queue|backport)\b"
            r"|\bshould(?:n't| not) (?:have been |be |go )"
            r"(?:in(?:to)? stable|applied|backported|queued|taken|in this)"
            r"|\bshould(?:n't| not) (?:go|be) (?:in(?:to)?|to) (?:the )?(?:-?stable|\d{1,2}\.\d)"
            r"|\bnot (?:suitable|appropriate|material|meant|intended) for (?:-?stable|\d\.)",
            re.I,
        ),
    ),
    (
        "bisect",
        re.compile(
            r"\bbisect(?:ed|ion|ing|s)?\b.{0,60}\b(?:to|found|point(?:s|ed|ing)?|show(?:s|ed)?"
            r"|land(?:s|ed)?|result(?:s|ed)?|agrees|log|identif(?:y|ies|ied)|this|these)\b"
            r"|\bis the first bad commit\b|\bfirst bad commit:",
            re.I,
        ),
    ),
    (
        "boot",
        re.compile(
            rf"\bboot(?:s|ing)?\b.{{0,40}}\b(?:{_FAILS}|panic|hangs?\b|hung\b|crash)"
            r"|\b(?:fail(?:s|ed|ing|ure)? to|does(?:n't| not)|won't|don't) boot\b"
            r"|\bkernel panic\b",
            re.I,
        ),
    ),
    (
        "build",
        re.compile(
            r"\b(?:builds?|compil(?:e|es|ation|ing)|link(?:ing|s)?|all(?:mod|yes|no)config"
            rf"|defconfigs?|tinyconfig)\b.{{0,40}}\b{_FAILS}"
            r"|\bbreak(?:s|ing)? (?:the |my |our )?(?:\w+ )?(?:builds?|compilation)\b"
            r"|\b(?:fail(?:s|ed|ing|ure)? to|does(?:n't| not)|won't|don't) (?:build|compile|link)\b"
            r"|\btotal: \d{1,6} pass: \d{1,6} fail: [1-9]",
            re.I,
        ),
    ),
    ("test", re.compile(rf"\btests?[ :].{{0,30}}\b{_FAILS}", re.I)),
    ("regression", re.compile(r"(?<![/.])\bregress(?:ion|ions|ed|es)\b(?!\.\w|/)", re.I)),
)
# "No regressions on arm64", "not seen", "0 failed": what denies a failure before its word.
_DENIED = re.compile(
    r"\b(?:no|not|without|any|zero|0|none|never|if|fixe[sd]|fix|fixing|solved?|solves|resolve[sd]?|was|were)\b"
    r"|n't\b",
    re.I,
)
#: The same between a failure's two words: "all builds without errors", "26 pass, 0 fail".
_FREE_OF = re.compile(rf"\b(?:no|without|zero)\b|\b0 {_FAILS}", re.I)
#: A failure that is told to be over, anywhere in its line.
_OVER = re.compile(r"\b(?:fixed|gone|resolved|analysis|test(?:ing|s)? for)\b", re.I)
_SAYS_ITSELF = frozenset({"nak", "drop-request", "bisect"})
_TAG = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*-by:", re.I)


class Proof(Struct, kw_only=True):
    """The line that a statement rests on: of a mail (``message_id``), or of a commit's message."""

    message_id: str | None
    line: int | None
    text: str | None
    rule: str
    confidence: Confidence = "certain"
    commit: str | None = None


class Objection(Struct, kw_only=True):
    """A mail that speaks against a round or one of its patches: in which ways, the first line."""

    kinds: list[str]
    words: str
    message: Brief
    #: The patches that it is about: number in the round; [] for the round as a whole.
    parts: list[int]
    evidence: list[Proof]
    #: What a keeper of the stable queues answered to it, if anything.
    answered: Brief | None = None


class GivenTag(Struct, kw_only=True):
    """A tag that somebody gave: to the patch with the number ``part``, or to the whole round."""

    key: str
    value: str
    part: int | None
    message: Brief
    evidence: Proof


def objections_in(message: Message, key: str) -> list[Proof]:
    """Return the lines in which a reply objects, the first of each kind, the weightiest first.

    Only what its author wrote counts, not what is quoted; ``rule`` is the kind.
    """
    found: dict[str, Proof] = {}
    lines = list(_own_lines(message))
    after = {number - 1: line for number, line in lines}
    for number, line in lines:
        for kind, pattern in _PATTERNS:
            if kind in found:
                continue
            match = pattern.search(line)
            if match is None and kind == "drop-request":  # a sentence, which goes over lines
                match = pattern.search(f"{line} {after.get(number, '').strip()}")
                match = match if match is not None and match.start() < len(line) else None
            if match is None or (kind != "nak" and _TAG.match(line.lstrip())):
                continue
            if kind not in _SAYS_ITSELF and (
                line.startswith("#")  # a heading of a report, below which may stand nothing
                or _DENIED.search(line, 0, match.start())
                or _FREE_OF.search(match[0])
                or _OVER.search(line)
            ):
                continue
            found[kind] = Proof(
                message_id=key,
                line=number,
                text=printable(line).strip(),
                rule=kind,
                confidence="medium",
            )
            break
    robot = message.robot
    if robot is not None and robot.outcome in ("error", "failure"):
        kind = "boot" if robot.kind == "boot" else "build"
        found.setdefault(kind, Proof(message_id=key, line=0, text=message.subject, rule="robot"))
    return [found[kind] for kind in KINDS if kind in found]


def tags_in(message: Message, brief: Brief, part: int | None) -> Iterator[GivenTag]:
    """Yield the tags that a reply gives."""
    proofs = {
        evidence.value: evidence
        for evidence in message.evidence
        if evidence.fact == "trailers_given"
    }
    for text in message.trailers_given:
        name, _, value = text.partition(":")
        proof = proofs.get(text)
        yield GivenTag(
            key=name.strip(),
            value=value.strip(),
            part=part,
            message=brief,
            evidence=Proof(
                message_id=brief.key,
                line=proof.line if proof else None,
                text=proof.text if proof else text,
                rule=proof.rule if proof else "tag-in-reply",
                confidence=proof.confidence if proof else "certain",
            ),
        )


def lines_of(message: Message, kinds: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield lines of a mail with their numbers (from 1): of these kinds, or all."""
    lines = message.body.split("\n", _MAX_LINES)[:_MAX_LINES]
    for number, (line, kind) in enumerate(zip(lines, message.line_kinds, strict=False), 1):
        if len(line) <= MAX_LINE and (kinds is None or kind in kinds):
            yield number, line


def _own_lines(message: Message) -> Iterable[tuple[int, str]]:
    return lines_of(message, KIND_PROSE + KIND_NOTE)

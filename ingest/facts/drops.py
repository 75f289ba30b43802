"""What a reply says of a drop: a patch that was taken out of a stable queue, and of which trees.

"Now dropped, thanks!" is one; "please drop this" asks for one, "should this be dropped?" asks
whether, "I have not dropped this" denies it, and "I dropped the blank line" is about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from patchlore.ingest.subject import stable_tree

Line = tuple[int, str]

#: Longer sentences are no answers.
_MOST = 600

_END = re.compile(r"[.!?;]+(?=[\s)\"']|$)")
# "Ok,", "Yeah, sorry,", "Oops -", "Thanks for testing,": before what a sentence says.
_GREETING = (
    r"(?:(?:ok(?:ay)?|thanks?(?: you)?(?: for (?:the |your )?\w{1,20}(?: \w{1,20}){0,2})?|thx|yes|yeah|yep|sure"
    r"|alright|all right|right|done|great|good|fine|oops|ouch|ah|oh|hm+|sorry|sigh|so|no problem|will do"
    r"|agreed|fair enough|point taken|both|all|and|greg|sasha)\b[ ,:;.!-]{0,4}){0,5}"
)
_VERY = r"(?:now|just|already|also|simply|then|all|both|therefore|instead)\s+"
#: What is dropped, if it is said: the patch, not a line of it.
_THING = (
    r"(?:it|this|that|these|those|them|both|all|everything|everywhere|now"
    r"|(?:(?:both|all|any|each) of )?(?:the|this|that|these|those|your|both|all)"
    r"(?:\s+(?:whole|entire|two|three|four|offending|problematic))?"
    r"(?:\s+[\w/.:-]{1,30})?"
    r"\s+(?:patch(?:es)?|commits?|series|backports?|ones?|two|three|changes?))"
)
_WHERE = r"(?:from|out of|in|for|on)\s+\S"
_REST = (
    rf"(?=\s+(?:{_THING}(?=[\s,.;:!)-]|$)|{_WHERE}|again\b|thanks?\b|thank you|and\b|as\b|for now|until\b"
    r"|because|since|due\b|too\b|here\b)|[,.;:!)-]|\s*$|\s+[-(])"
)
_I = r"\b(?:i|we)(?:'ve|\s+have|'ll|\s+will|'m|\s+am|'re|\s+are)?\s+"
_FORMS = (
    # "Thanks, now dropped.", "Dropped from all queues"
    re.compile(
        rf"(?:^|[,:;(] (?:so |and |hence )?){_GREETING}(?:(?:[a-z]{{1,20}} )?(?:patch(?:es)?|series|commit) )?(?:{_VERY}){{0,2}}"
        rf"(?:will drop|dropped|dropping)" + _REST,
        re.I,
    ),
    # "I've dropped it", "I'll drop this", "So I'm going to drop both of these patches"
    re.compile(
        rf"{_I}(?:{_VERY}){{0,2}}(?:(?:going\s+to|gonna|(?:went\s+ahead|go(?:\s+ahead)?)(?:\s+and)?|(?:had|have)\s+to)\s+)?"
        rf"(?:{_VERY}){{0,2}}drop(?:ped|ping)?" + _REST,
        re.I,
    ),
    re.compile(r"\blet\s+me\s+(?:just\s+)?drop" + _REST, re.I),
    # "This has been dropped", "both dropped", "the patch was dropped from 5.4"
    re.compile(
        rf"\b(?:(?:both|all)|{_THING}(?:'s|'ve|\s+is|\s+are|\s+was|\s+were|\s+has|\s+have)(?:\s+been)?)\s+"
        rf"(?:{_VERY}){{0,2}}dropped" + _REST,
        re.I,
    ),
)
#: What before the verb denies it, only wishes it, or makes it a story of others.
_NOT = re.compile(
    r"\b(?:not|never|no longer|neither|nor|without|instead of|rather than|cannot|don't|please|pls|kindly"
    r"|would|could|should|shall|might|may|can|must|if|unless|whether|when|once|until|why|suggest|recommend"
    r"|propose|prefer|request|ask(?:ed|ing)?|want(?:ed|s)?|need(?:s|ed)?|let's|lets|you|had(?! to\b)|did|none|nothing|nobody|think|thought"
    r"|hope|guess|expect|assume|maybe|perhaps|probably|wonder(?:ing)?|before|after|supposed|better)\b|n't\b",
    re.I,
)
#: A version of a series, of whose changes it tells.
_CHANGES = re.compile(r"\bv\d{1,2}\b(?!\.\d)", re.I)
#: Behind "dropping this": the sentence is about what that would do.
_SUBJECT = re.compile(
    r"\b(?:would|will|is|was|may|might|could|can|does|breaks|seems|means|makes|won't|wouldn't)\b",
    re.I,
)
_REASON = re.compile(r"\b(?:as|because|since|so|until)\b|[,;:(]", re.I)
#: The same behind a promise: "I'll drop it unless …".
_CONDITION = re.compile(r"\b(?:if|unless|once|until|when|after|in case)\b", re.I)
_PROMISE = re.compile(r"(?:'ll|\bwill|going\s+to|gonna|let\s+me|'m|\bam)\b", re.I)
#: What takes it back in the same sentence or the next ones.
_BACK = re.compile(
    r"\b(?:(?:but|and|so|now|have|'ve|just)\s+)(?:i\s+|it\s+|is\s+|i've\s+|it's\s+|have\s+|been\s+|now\s+|then\s+){0,4}"
    r"(?:(?:re-?)?(?:queued|added|applied|picked)|kept|keep(?:ing)?|took|left|brought\s+back)\b"
    r"|\bnow\s+(?:re-?)?(?:queued|added|applied)\b|\b(?:put|added|adding|brought|picked)\s+(?:it\s+|this\s+|them\s+)?back\b",
    re.I,
)
_GOES_ON = re.compile(r"(?:but|now|instead|i've|i have|it's|it is)\b", re.I)
_TREES = re.compile(
    r"\b(?:from|in|for|of|and|or|,|/)\s*(?:the\s+|all\s+|both\s+|linux-|stable-)*"
    r"v?(\d{1,2}\.\d{1,3})(?:\.[yx]\b)?(?!\.?\d)(?:-stable)?(\s*(?:and|or)\s+(?:older|earlier|below))?",
    re.I,
)


def find_drop(lines: Sequence[Line], tree: str) -> tuple[int, str] | None:
    """Return the line that says that the patch was dropped, and from which tree; None if none does.

    ``tree`` is that of the subject; another one is returned where the sentence names
    only others, and nothing where it says that this one keeps the patch.
    """
    sentences = list(_sentences(lines))
    for number, (begins, sentence) in enumerate(sentences):
        match = _says(sentence) if "drop" in sentence.lower() else None
        if match is None:
            continue
        rest = sentence[match.end() :]
        if number + 1 < len(sentences) and _GOES_ON.match(sentences[number + 1][1]):
            rest += sentences[number + 1][1]
        back = _BACK.search(rest)
        named = _named(rest if back is None else rest[: back.start()])
        if back is not None:
            kept = _named(rest[back.start() :])
            if not kept or tree in kept:
                continue
        where = [index for at, index in begins if at < match.end()][-1]
        return where, tree if not named or tree in named else named[0]
    return None


def _says(sentence: str) -> re.Match[str] | None:
    """The part of a sentence that says that something was dropped."""
    if sentence.endswith("?"):
        return None
    for form in _FORMS:
        match = form.search(sentence)
        if match is None:
            continue
        clause = max(sentence.rfind(sign, 0, match.start() + 1) for sign in ",;:(")
        if (
            _NOT.search(sentence, clause + 1, match.end()) is None
            and _CHANGES.search(sentence) is None
            and not (_PROMISE.search(match[0]) and _CONDITION.search(sentence))
            and not (match[0].endswith("ropping") and _is_subject(sentence[match.end() :]))
        ):
            return match
    return None


def _is_subject(rest: str) -> bool:
    """Whether "dropping this" goes on with what that would do."""
    reason = _REASON.search(rest)
    return _SUBJECT.search(rest, 0, reason.start() if reason else len(rest)) is not None


def _named(text: str) -> list[str]:
    """The stable trees that a text names; none where it says "5.4 and older"."""
    found = list(_TREES.finditer(text))
    if any(match[2] for match in found):
        return []
    names = (stable_tree(match[1]) for match in found)
    return [name for name in names if name is not None]


def _sentences(lines: Iterable[Line]) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """Sentences of running lines, each with (where in it a line begins, the line's index)."""
    paragraph: list[Line] = []
    for index, line in [*lines, (-1, "")]:
        words = " ".join(line.split())
        if paragraph and (not words or index != paragraph[-1][0] + 1):
            yield from _cut(paragraph)
            paragraph = []
        if words:
            paragraph.append((index, words))


def _cut(paragraph: list[Line]) -> Iterator[tuple[list[tuple[int, int]], str]]:
    text = " ".join(line for _, line in paragraph)
    begins = list(accumulate((len(line) + 1 for _, line in paragraph), initial=0))
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence = text[start:end].strip()
        if sentence and len(sentence) <= _MOST:
            first = end - len(text[start:end].lstrip())
            lines = zip(begins, paragraph, strict=False)
            yield [(at - first, index) for at, (index, _) in lines if at < end], sentence
        start = end

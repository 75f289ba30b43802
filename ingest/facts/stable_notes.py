"""``Cc: stable`` and its notes: from which version on, after what, and "please not".

The forms are those of the kernel's stable-kernel-rules.rst and what people
make of them. A note is kept as written; kb/versions.py makes intervals of it.
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import CommitRef, Dependency, StableNote
from patchlore.ingest.stable_ranges import read_ranges

_CC = re.compile(r"[ \t]{0,2}cc[ \t]*:[ \t]*(.*)", re.I)
#: vger.kernel.org as it is, masked by openwall or by spinics, or MARC's spelling.
_ADDRESS = re.compile(
    r"(?<![\w.+-])(stable)(\+noautosel)?"
    r"(?:@(?:vger\.kernel\.org|kernel\.org|\.\.\.[\w.]*kernel\.org|\.\.\.nel\.org|x{10,15}\b|vger)"
    r"| \(\) (?:vger ! )?kernel ! org| at vger\.kernel\.org)>?",
    re.I,
)
#: Behind the address as a display name: "stable@…" <stable@…>.
_SAME_ADDRESS = re.compile(r"[\"'][ \t]{0,2}<[^<>]{0,80}>?")
_NAME_ONLY = re.compile(r"[\"']?(?:linux-)?stable(?: kernel| team)?[\"']?$", re.I)
_VERSION = r"(?:linux-)?v?\d+\.\d+(?:\.(?:\d+|x|y|\*))?(?:-rc\d+)?(?:-stable)?"
_ONE_VERSION = re.compile(rf"\+?{_VERSION}(?:[ \t]*[+-])?", re.I)
_LIST = re.compile(
    rf"{_VERSION}\+?(?:[ \t]*(?:,[ \t]*and\b|,|/|&|and\b|[ \t])[ \t]*{_VERSION}\+?)+", re.I
)
_LIST_PART = re.compile(rf"{_VERSION}\+?", re.I)
_RANGE_TOKEN = re.compile(rf"{_VERSION}[+-]?|[<>=~+.,/-]+|[A-Za-z]+|\S", re.I)
_RANGE_WORDS = frozenset(
    "for since from starting with before until up to through thru between and on onward onwards later"
    " newer older only above below kernel kernels all the series tree trees stable plus upward upwards"
    " prior after linux please apply".split()
)
_LEADING = re.compile(rf"({_VERSION}\+)[ \t]*[,;:-]?[ \t]+([^\d\s].*)", re.I)
_PREREQ = re.compile(
    r"(?:([^:#]{1,30}?)[ \t]*:[ \t]*)?([0-9a-f]{7,40})(?![0-9a-z])[ \t]*:?[ \t]*(.*)",
    re.I,
)
#: Further ones behind it: "0123456789ab + 123456789abc".
_MORE = re.compile(
    r"[ \t]{0,4}(?:[+,&]|and\b)[ \t]{0,4}([0-9a-f]{7,40})(?![0-9a-z])[ \t]{0,4}", re.I
)
#: Free text, kept as a comment, that names what has to be there first.
_DEPENDS = re.compile(
    r"(?:depends on|requires|needs)[ \t]*:?[ \t]*(?:commit[ \t]+)?([0-9a-f]{7,40})(?![0-9a-z])",
    re.I,
)
_AFTER = re.compile(r"(?:(?:only|but|please|apply|backport) ){0,2}after[ \t]+(.+)", re.I)
_TIME = r"(?:\d{1,3}|an?|one|two|three|four|five|six|eight|some|(?:a )?(?:few|couple(?: of)?))[ \t-]*(?:day|week|month)s?\b"
_CANDIDATE = r"(?:v?\d{1,3}\.\d{1,3})?-?rc\d"
#: What a delay lasts for, or until.
_WAITS = re.compile(rf"\b{_TIME}|{_CANDIDATE}", re.I)
#: A delay behind versions: "5.10+ after 4 weeks", "5.4 # after -rc3", "5.10+, wait 2 weeks".
_DELAY = re.compile(
    r"(?:^|[ \t,;:#(\[-])(?:(?:only|but|and|please|apply|backport|pick|queue|merge) ){0,3}"
    r"(?:after[ \t]+(?!v?\d{1,3}\.\d{1,3}(?!-rc|\d| is\b| was\b| has\b))(?!the (?:previous|above|other)\b)(?![0-9a-f]{7,40}\b)"
    r"|(?:wait(?:ing)?(?: at least)?(?: for| until)?|not? (?:before|earlier than|sooner than)"
    r"|delay(?:ed)?(?: by| for| until)?|hold(?: it)?(?: off| back)?(?: for| until)?"
    r"|(?:let it |give it (?:time )?)?(?:to )?(?:soak|bake|cook|sit)(?: for)?|give it)[ \t]+"
    rf"(?=(?:about |at least )?{_TIME}|{_CANDIDATE}))",
    re.I,
)


def find(context: Context) -> None:
    """Fill ``cc_stable`` and ``no_autosel`` from the commit message's tags."""
    if "stable" not in context.words:
        return
    for index, line in context.message_lines:
        if line[:3].strip().lower()[:1] != "c" or "table" not in line:
            continue
        match = _CC.match(line)
        if match is None:
            continue
        _read(context, index, match[1].strip())


def _read(context: Context, index: int, value: str) -> None:
    message = context.message
    address = _ADDRESS.search(value)
    if address is None:
        if not (context.text.flat and _NAME_ONLY.match(value.split("#")[0].strip())):
            return
        rest = value.partition("#")[2]
    else:
        before = value[: address.start()]
        if ";" in before or "@" in before:
            # A mail client's Cc header copied into the text names many people at once.
            context.reject("cc_stable", index, "copied-header", value)
            return
        rest = value[address.end() :]
    note = _note(rest)
    if address is not None and address[2]:
        message.no_autosel = note or ""
        context.note("no_autosel", note or "", index, "noautosel")
        return
    entries = [StableNote()] if not note else _entries(note)
    for entry in entries:
        entry.text = note or None
        _merge(message.cc_stable, entry)
        value = entry.range or entry.comment or entry.after or ""
        context.note("cc_stable", value, index, "cc-stable")
        depends = _DEPENDS.match(entry.comment) if entry.comment else None
        if depends:
            sha = depends[1].lower()
            message.dependencies.append(Dependency(kind="depends-on", value=sha))
            context.note("dependencies", f"depends-on {sha}", index, "cc-stable")


def _note(rest: str) -> str:
    """What stands after the address: behind ``#`` or ``@``, in brackets, or bare."""
    rest = _SAME_ADDRESS.sub("", rest.strip(), count=1).lstrip(">").strip()
    if rest.startswith(("#", "@")):
        return rest.lstrip("#@ \t").strip()
    if rest[:1] in ("[", "("):
        closer = "]" if rest[0] == "[" else ")"
        end = rest.rfind(closer)
        inner = rest[1:end] if end > 0 else rest[1:]
        tail = rest[end + 1 :].strip().lstrip("#").strip() if end > 0 else ""
        return (inner.strip().lstrip("#").strip() + (" " + tail if tail else "")).strip()
    if rest.startswith(","):  # further people; a note may follow them
        return rest.partition("#")[2].strip()
    return rest if _ONE_VERSION.match(rest) else rest.lstrip("-: ").strip()


def _entries(note: str) -> list[StableNote]:
    after = _AFTER.fullmatch(note)
    if after:
        return _delayed(after[1].strip())
    delay = _DELAY.search(note)
    if delay:
        head = note[: delay.start()].rstrip(" \t,;:#([-")
        until = note[delay.end() :].strip()
        if not note.count("(", 0, delay.start() + 1) and not note.count("[", 0, delay.start() + 1):
            until = until.rstrip()
        else:
            until = until.rstrip(")]")
        entries = _ranges(head) if head else _delayed(until)
        for entry in entries if head else ():
            entry.after = until
        return entries
    return _ranges(note)


def _delayed(after: str) -> list[StableNote]:
    """The entry of a delay, behind which the versions may stand: "4 weeks, 5.10+"."""
    for mark in (", ", "; ", " # ", " for ", " to "):
        until, _, rest = after.rpartition(mark)
        if until and _WAITS.search(until) and is_range(rest):
            return [StableNote(range=rest.strip(), after=until.strip())]
    return [StableNote(after=after)]


def _ranges(note: str) -> list[StableNote]:
    if _ONE_VERSION.fullmatch(note):
        return [StableNote(range=note)]
    if _LIST.fullmatch(note):
        return [StableNote(range=part.strip()) for part in _LIST_PART.findall(note)]
    prereq = _PREREQ.match(note)
    if prereq and not prereq[2].isdigit() and (prereq[1] is None or is_range(prereq[1])):
        refs, rest = [CommitRef(sha=prereq[2].lower())], prereq[3]
        while more := _MORE.match(rest):
            refs.append(CommitRef(sha=more[1].lower()))
            rest = rest[more.end() :]
        refs[-1].subject = _title(rest)
        return [StableNote(range=prereq[1].strip() if prereq[1] else None, prereqs=refs)]
    if is_range(note):
        return [StableNote(range=note)]
    read = read_ranges(note)
    if read is not None and read.wanted:  # "5.10+ but not 6.1", "6.12.y and later (why)"
        comment = note[read.end :].strip(" \t,;:#.-")
        if comment.endswith(")") and "(" not in comment:
            comment = comment[:-1]
        range_ = note[: read.end].rstrip(" \t,;:#.([-")
        if range_.count(")") < range_.count("("):
            range_ += ")"
        return [StableNote(range=range_, comment=comment or None)]
    leading = _LEADING.match(note)
    if leading:  # "v5.19+ with another port for v5.9 - v5.18"
        return [StableNote(range=leading[1], comment=leading[2].strip())]
    return [StableNote(comment=note)]


def is_range(text: str) -> bool:
    """Does TEXT speak of kernel versions only ("for v4.15 and up", ">= 6.1")?"""
    versions = 0
    for token in _RANGE_TOKEN.findall(text):
        if token[0].isalpha() and token.lower() in _RANGE_WORDS:
            continue
        if "." in token and any(char.isdigit() for char in token):
            versions += 1
        elif token.strip("<>=~+.,/-"):
            return False
    return versions > 0


def _title(text: str) -> str | None:
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return text.strip("\"'“” ") or None


#: A mail with more ranges than these is data: its lines stay apart.
_MOST_COMPARED = 256


def _merge(entries: list[StableNote], entry: StableNote) -> None:
    """Several lines of one range are one entry with all its prerequisites."""
    if entry.range is not None:
        for known in entries[:_MOST_COMPARED]:
            if known.range == entry.range and (known.prereqs or entry.prereqs):
                known.prereqs.extend(entry.prereqs)
                return
    entries.append(entry)

"""Requests to take commits into stable trees that already are upstream.

That is option 2 of the kernel's stable-kernel-rules.rst: a mail with the commit's
id and the versions that it is wanted in, in free words. What asks, the trees and
the commits may stand in one sentence, or the commits on lines of their own below:

    Please apply this commit to 5.15.y and 6.1.y:

    0123456789ab ("lamp: dim when idle")
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlore.ingest.facts.context import Context, Line
from patchlore.ingest.message import UpstreamRef

#: Paragraphs longer than this are no request but a log or a table.
_MAX_LINES = 12

_ASKS = re.compile(
    r"\b(?:please|pls|(?:could|can|would|should) (?:you|it|they|this|these|we)|kindly"
    r"|i(?:'d| would) like to request)\b",
    re.I,
)
_VERB = re.compile(
    r"\b(?:appl(?:y|ied|ying)|backport(?:ed|ing)?|queu(?:e|ed|ing)|cherry[ -]?pick(?:ed|ing)?"
    r"|pick(?:ed|ing)?|(?:includ|add|tak|merg)(?:e|ed|en|ing)?\b"
    r"(?=[^.?!]{0,60}?(?:\b(?:commit|patch|this|these|it|them|following)|[0-9a-f]{10})))\b",
    re.I,
)
_NOT = re.compile(r"\b(?:don't|do not|not|drop|dropped|revert|never)\b", re.I)
#: ``5.15.y`` anywhere, ``5.15`` behind a word that makes it a tree; ``5.15.7`` is a release.
_TREE = re.compile(r"(?<![\w.])(?:linux-)?v?(\d{1,2}\.\d{1,3})\.y(?![\w.]*\w)", re.I)
_RELEASE = re.compile(r"\d\.\d")
_BARE_TREE = re.compile(
    r"(?:\b(?:to|for|in|into|on|and|or|stable|trees?|kernels?|versions?|branch(?:es)?|series)|[,/&:])"
    r"[ :(]{0,3}(?:the )?(?:linux-|stable[ -])?v?(\d{1,2}\.\d{1,3})(?:-stable|\+)?(?![\w.]*\w)",
    re.I,
)
_COMMIT = re.compile(
    r"(?<![0-9A-Za-z./=_-])([0-9a-f]{10,40})(?![0-9A-Za-z/_-])"
    r"(?:[ \t]{0,3}[:(]{0,2}[ \t]{0,2}[\"'“]([^\"“”]{1,300})[\"'”])?"
)
#: Behind these a commit is the reason for a request, not what is asked for.
_REASON = re.compile(
    r"\b(?:fix(?:es|ed|ing)|introduced|caused|broken?|since|after|bisected|revert(?:s|ed)?)\b"
    r"[^.;]{0,40}$",
    re.I,
)
#: "when commit 5e0ac1d2b3f4 was backported": it is told what happened, nothing is asked for.
_STATED = re.compile(
    r"[^.;,]{0,40}?\b(?:was|were|(?:has|have|had) been|got)(?: already)?"
    r" (?:backported|queued|cherry[ -]?picked)\b",
    re.I,
)
_OWN_LINE = re.compile(
    r"[ \t]{0,12}(?:[*+•-][ \t]{1,4}|\d{1,3}[.)][ \t]{1,4}|\[\d{1,3}\][ \t]{0,4})?"
    r"(?:commit(?:-id)?[ \t:]{1,4})?([0-9a-f]{7,40})(?![0-9A-Za-z/_-])(.{0,400})$",
    re.I,
)
_TITLE = re.compile(r"[ \t:–-]{0,6}\(?[\"'“]?([^\"“”]{3,300}?)[\"'”]?\)?[ \t.,;]{0,4}$")


def read_requests(context: Context) -> Iterator[tuple[UpstreamRef, int]]:
    """Yield each commit that the mail asks for, once for each tree, and its line."""
    message = context.message
    if message.is_patch or message.is_cover_letter or context.subject.notice:
        return
    lower = context.lower
    if not any(word in lower for word in ("please", "pls", "ould ", "can ", "kindly")):
        return
    # Those who answer a patch ask for it, too: "Please queue up commit 5e0ac1d2b3f4 for 5.10."
    lines = context.own_lines if message.is_reply else context.message_lines
    trees: list[str] = []
    for paragraph in _paragraphs(lines):
        said = " ".join([line.strip() for _, line in paragraph])
        if not trees and _RELEASE.search(said) is None:
            continue  # names no tree, and no list follows one that does
        asks = len(paragraph) <= _MAX_LINES and _ASKS.search(said) is not None
        if asks and _VERB.search(said) and not _NOT.search(said):
            trees = _trees(said)
            found = list(_named(paragraph)) if trees else []
        else:
            # What was asked for may be listed below, each on a line of its own.
            found = list(_listed(paragraph)) if trees else []
            if not found:
                trees = []
        for sha, title, index in found:
            for tree in trees:
                ref = UpstreamRef(
                    sha=sha, form="backport-request", relation="request", tree=tree, subject=title
                )
                yield ref, index


#: What stands before a commit's id in the URLs of kernel.org's repositories.
_URL = re.compile(
    r"https?://git\.kernel\.org/[^\s<>]{0,200}?(?:linus/|/c/|[?&;](?:id|h)=)(?=[0-9a-f]{10})"
)


def _paragraphs(lines: list[Line]) -> Iterator[list[Line]]:
    """Blocks of lines between blank ones; a list below a line with a colon is a block, too."""
    block: list[Line] = []
    for line in lines:
        if not line[1].strip():
            if block:
                yield block
            block = []
            continue
        if block and block[-1][1].rstrip().endswith(":") and _OWN_LINE.match(_URL.sub("", line[1])):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _trees(said: str) -> list[str]:
    found = [*_TREE.finditer(said), *_BARE_TREE.finditer(said)]
    found.sort(key=lambda match: match.start(1))
    return list(dict.fromkeys(f"{match[1]}.y" for match in found))


def _named(paragraph: list[Line]) -> Iterator[tuple[str, str | None, int]]:
    """The commits inside a sentence."""
    for index, line in paragraph:
        line = _URL.sub("", line)
        for match in _COMMIT.finditer(line):
            told = _REASON.search(line[: match.start()][-80:]) or _STATED.match(line, match.end())
            if _is_sha(match[1]) and not told:
                yield match[1].lower(), match[2], index


def _listed(paragraph: list[Line]) -> Iterator[tuple[str, str | None, int]]:
    """The commits of a list: lines that begin with one."""
    for index, line in paragraph:
        match = _OWN_LINE.match(_URL.sub("", line))
        if match and _is_sha(match[1]):
            title = _TITLE.match(match[2])
            yield match[1].lower(), title[1].strip() if title else None, index


def _is_sha(text: str) -> bool:
    # A number, or a word of six letters and a digit, is none.
    digits = sum(char.isdigit() for char in text)
    return 0 < digits < len(text)

"""Quoted lines of a body: with marks, and whole messages quoted without any."""

from __future__ import annotations

import re

from patchlore.ingest.text import FOREIGN, PROSE, QUOTED, Text

_QUOTE_RUN = re.compile(">+")
_FOREIGN_HEAD = re.compile("[-F*V发]")
_ORIGINAL = re.compile(
    r"-{2,} ?(?:Original Message|Ursprüngliche Nachricht|Original-Nachricht|Message d'origine"
    r"|Mensaje original|Messaggio originale|邮件原件|原始邮件) ?-{2,}",
    re.I,
)
#: linaro's bisecting robot shows the culprit as git show does, between these.
_CUT_OPEN, _CUT_CLOSE = "<cut>", "</cut>"
_SENT = re.compile(r"[> ]*(?:\*?Sent:|\*?Gesendet:|Envoyé\s?:|发送时间[:：])", re.I)
#: One of these is in each head of an unmarked quotation, in _ORIGINAL's forms or _SENT's.
_FOREIGN_WORDS = (
    "original message", "nachricht", "message d'origine", "mensaje original",
    "messaggio originale", "邮件原件", "原始邮件", "sent:", "gesendet:", "envoy", "发送时间",
)  # fmt: skip


def mark_quotes(text: Text) -> None:
    """Mark the lines that ">" or "|" shows to be somebody else's."""
    kinds, lines, heads = text.kinds, text.lines, text.heads
    for run in _QUOTE_RUN.finditer(heads):
        kinds[run.start() : run.end()] = bytes([QUOTED]) * (run.end() - run.start())
    words = text.words
    if ">from " in words:
        for run in _QUOTE_RUN.finditer(heads):
            for index in range(run.start(), run.end()):
                # The mbox writer's escape, not the author's quote.
                if lines[index].startswith(">From "):
                    kinds[index] = PROSE
    if words.any("\n >", "\n  >"):
        for index, line in enumerate(lines):
            if line[:1] == " " and line[:3].lstrip(" ")[:1] == ">":
                kinds[index] = QUOTED
    if "|" in heads:
        _mark_bar_quotes(text)


def _mark_bar_quotes(text: Text) -> None:
    """Emacs people quote with "|"; tables are drawn with it, too."""
    lines = text.lines
    quoting = False
    for index, line in enumerate(lines):
        if line[:1] != "|":
            quoting = False
        elif quoting or (index and lines[index - 1].rstrip().endswith(("wrote:", "writes:"))):
            text.kinds[index] = QUOTED
            quoting = True


def mark_foreign(text: Text) -> None:
    """Everything below an unmarked quotation's head, to the end of its part."""
    if not text.words.any(*_FOREIGN_WORDS):
        return
    for start, end, _part in text.parts:
        for found in _FOREIGN_HEAD.finditer(text.heads, start, end):
            index = found.start()
            if text.kinds[index] == PROSE and _is_foreign_from(text, start, index):
                text.kinds[index:end] = bytes([FOREIGN]) * (end - index)
                break


def mark_cut_out(text: Text) -> None:
    """What a robot shows between ``<cut>`` marks is somebody else's commit."""
    lines = text.lines
    start = -1
    for index, line in enumerate(lines):
        if start < 0:
            start = index if line.strip() == _CUT_OPEN else -1
        elif line.strip() == _CUT_CLOSE:
            text.kinds[start : index + 1] = bytes([FOREIGN]) * (index + 1 - start)
            start = -1


def _is_foreign_from(text: Text, start: int, index: int) -> bool:
    """Does an unmarked quotation begin at INDEX? Marks the head of a marked one as quoted."""
    lines = text.lines
    line = lines[index]
    if line[0] == "-":
        if _ORIGINAL.match(line) is None:
            return False
        following = next((n for n in range(index + 1, len(lines)) if lines[n].strip()), -1)
        # Zimbra puts this head above a quotation with marks.
        return following < 0 or text.kinds[following] != QUOTED
    if not line.startswith(("From:", "*From", "Von: ", "发件人:", "发件人：")):
        return False
    below = lines[index + 1 : index + 3]
    sent = next((text_ for text_ in below if _SENT.match(text_)), None)
    if sent is None:
        return False
    own = any(
        text.kinds[above] == PROSE and lines[above] and not lines[above].startswith("____")
        for above in range(start, index)
    )
    if own and not sent.startswith((">", " >")):
        return True
    # "From: Bo Reed" above "> Sent: …": a quotation's head.
    text.kinds[index] = QUOTED
    return False

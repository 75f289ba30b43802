"""Text extracts of archive pages: a title line, ``[Sender Name]``, the body; nothing else."""

from __future__ import annotations

import re

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail
from patchlore.ingest.raw import Fidelity, Raw
from patchlore.ingest.sources.page import body_text, decode_page, page_mail

_SENDER = re.compile(r"\[([^\[\]\n\"=]{1,200})\]\s{0,20}\Z")
#: What archives write in place of an address or a part of one.
_MASK = re.compile(
    rb"@(?:x{3,}|\.\.\.)|\w(?: \(at\) | at )\w{1,60}(?: \(dot\) | dot )\w"
    rb"|\[email&#160;protected\]|\xe2\x80\xa2"
)
#: A patch's subject tag is no sender.
_NO_SENDER = re.compile(r"\b(?:PATCH|RFC|RFT|PULL)\b|^(?:day|month|year|list|next|prev)\b")


def masked_or_rewritten(data: bytes) -> Fidelity:
    """``masked`` when DATA shows an archive's mask, else ``rewritten``: the headers are gone."""
    return "masked" if _MASK.search(data) is not None else "rewritten"


def looks_like_page_text(head: bytes) -> bool:
    """Whether HEAD starts with a title line, then ``[Sender]`` on a line of its own."""
    return _parts(decode_page(head[:4000]).split("\n")[:12]) is not None


def _parts(lines: list[str]) -> tuple[str, str, int] | None:
    """Title, sender and the line where the body begins."""
    filled = [at for at, line in enumerate(lines) if line.strip()][:2]
    if len(filled) < 2 or len(lines[filled[0]]) > 1000:
        return None
    sender = _SENDER.match(lines[filled[1]])
    if sender is None or _NO_SENDER.search(sender[1]) is not None:
        return None
    if lines[filled[0]][:1].isspace() or _SENDER.match(lines[filled[0]]) is not None:
        return None  # "[core]" above "[remote]": a configuration file
    if lines[filled[1] + 1 : filled[1] + 2] not in ([], [""]) and filled[1] == filled[0] + 1:
        return None
    return one_line(lines[filled[0]]), one_line(sender[1]), filled[1] + 1


def read_page_text(raw: Raw) -> Mail:
    """The mail of a text extract: Subject and From (a name only) are its headers."""
    lines = decode_page(raw.data).split("\n")
    parts = _parts(lines)
    if parts is None:
        return page_mail([], body_text(lines))
    title, sender, start = parts
    return page_mail([("Subject", title), ("From", sender)], body_text(lines[start:]))

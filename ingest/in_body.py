"""In-body headers: ``From:``, ``Subject:``, ``Date:`` at the top of a commit message (git am)."""

from __future__ import annotations

import re

from patchlore.ingest.addresses import parse_address
from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.frame import Layout
from patchlore.ingest.text import HEADER, PROSE, QUOTED, Text

IN_BODY = re.compile(r">?(From|Subject|Date)\s*:\s*(.*)", re.I | re.S)


def read_in_body_headers(text: Text, layout: Layout, start: int) -> int:
    """From:, Subject: and Date: at the top of the message; return the line after them.

    A carried format-patch has its headers there and may have in-body headers
    of its own below them. From: counts with an address, or in a flattened
    mail; without one it is the head of somebody's quotation.
    """
    lines, kinds = text.lines, text.kinds
    if layout.carried_at < 0 and _mark_quotation_head(text, start):
        return start
    rounds = 2 if layout.carried_at >= 0 else 1
    for _ in range(rounds):
        index = start
        while index < len(lines) and not lines[index].strip() and kinds[index] == PROSE:
            index += 1
        first = index
        while index < len(lines) and kinds[index] == PROSE:
            match = IN_BODY.match(lines[index])
            if match is None:
                if layout.carried_at >= 0 and index > first and is_other_header(lines[index]):
                    kinds[index] = HEADER
                    index += 1
                    continue
                break
            value = match[2]
            last = index
            while (
                last + 1 < len(lines)
                and lines[last + 1][:1] in (" ", "\t")
                and lines[last + 1].strip()
            ):
                last += 1
                value += " " + lines[last].strip()
            if not _take_header(layout, match[1].lower(), value, index, text.flat):
                break
            for number in range(index, last + 1):
                kinds[number] = HEADER
            index = last + 1
        if index == first:
            break
        start = index
    return start


def _mark_quotation_head(text: Text, start: int) -> bool:
    """``From: Bo Reed <…>`` and ``Date: …`` above ``> quoted text``: whom a reply quotes.

    Some mailers (Mew) write that instead of "On …, Bo Reed wrote:".
    """
    lines, kinds = text.lines, text.kinds
    first = start
    while first < len(lines) and not lines[first].strip() and kinds[first] == PROSE:
        first += 1
    end = first
    while end < len(lines) and kinds[end] == PROSE and IN_BODY.match(lines[end]):
        end += 1
    after = end
    while after < len(lines) and not lines[after].strip() and kinds[after] == PROSE:
        after += 1
    if end == first or after == len(lines) or kinds[after] != QUOTED:
        return False
    kinds[first:end] = bytes([QUOTED]) * (end - first)
    return True


def is_other_header(line: str) -> bool:
    """A header of a carried mail that says nothing about the commit (``MIME-Version: 1.0``)."""
    return line.startswith(
        (
            "MIME-Version:",
            "Content-",
            "Message-I",
            "To:",
            "Cc:",
            "In-Reply-To:",
            "References:",
            " ",
            "\t",
        )
    )


def _take_header(layout: Layout, name: str, value: str, index: int, flat: bool) -> bool:
    value = decode_words(value.strip(), in_address=name == "from")
    if name == "from":
        person = parse_address(value)
        if person is None or not (person.email or person.email_masked or flat):
            return False
        layout.author, layout.author_at = person, index
    elif name == "subject":
        layout.subject = " ".join(value.split())
    else:
        layout.date, layout.date_at = value, index
    return True

"""Pages of lkml.org: labels in a table, the text as it was sent but for its long lines.

A page shows Date, From (a name, hardly ever an address) and Subject, no
Message-ID and no other people. Saved as text its labels run into their values
(``DateThu, 8 Jun 2023 09:06:05 +0200FromNora FinchSubject[PATCH] …``) and the
text is indented.
"""

from __future__ import annotations

import re

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.page import (
    body_text,
    broken_lines,
    decode_page,
    html_of,
    is_html,
    page_mail,
    soup_of,
)

_SITE = re.compile(rb"<title>LKML: |lkml\.org/lkml/|itemprop=\"articleBody\"", re.I)
_LABELS = ("Date", "From", "Subject", "SubjectRe", "To", "Cc", "Message-ID", "Msg-ID")
_RUN_TOGETHER = re.compile(
    r"\s{0,40}(?:/\s{0,4})?Date\s{0,9}((?:[A-Z][a-z]{2},? )?\d{1,2} [A-Z][a-z]{2} \d{4} "
    r"\d{1,2}:\d\d(?::\d\d)?(?: ?[+-]\d{4}| [A-Z]{2,5}(?=\s|From))?)(?: \([^()]{1,40}\))?"
    r"\s{0,200}From\s{0,9}([^\n]{1,300}?)\s{0,200}Subject\s{0,9}([^\n]{1,1000})"
)
_HEAD = 20_000
_NAVIGATION = re.compile(r"\[\s{0,9}(?:headers|forward|unread|new|first|last|lkml)\s{0,9}\]", re.I)
_END = re.compile(
    r"(?:\u00a0|\s){0,20}(?:\\ /|Last update: \d{4}-\d\d-\d\d|\u00a9\d{4}-\d{4} Jasper)"
)


def looks_like_lkml(head: bytes) -> bool:
    """Whether HEAD is a message page of lkml.org."""
    return is_html(head) and _SITE.search(head) is not None and b"articleBody" in head


def looks_like_lkml_text(head: bytes) -> bool:
    """Whether HEAD is such a page saved as text: three labels that run into their values."""
    if b"Date" not in head[:_HEAD] or b"Subject" not in head[:_HEAD] or is_html(head):
        return False
    return _start_of_text(decode_page(head[:_HEAD])) is not None


def _start_of_text(text: str) -> re.Match[str] | None:
    """The labels, at the start of one of the first lines."""
    at = 0
    for _ in range(30):
        match = _RUN_TOGETHER.match(text, at)
        if match is not None:
            return match
        at = text.find("\n", at) + 1
        if at == 0:
            break
    return None


def read_lkml(raw: Raw) -> Mail:
    """The mail of a page; its text is the ``articleBody``."""
    text, defects = html_of(raw)
    body_at = text.find('itemprop="articleBody"')
    begin = text.rfind("<", 0, body_at) if body_at >= 0 else len(text)
    head = soup_of(text[max(begin - _HEAD, 0) : begin])
    headers: list[tuple[str, str]] = []
    for cell in head.find_all("td"):
        label = one_line(cell.get_text())
        value = cell.find_next_sibling("td")
        if label in _LABELS and value is not None and one_line(value.get_text()):
            name = {"SubjectRe": "Subject", "Msg-ID": "Message-ID"}.get(label, label)
            if name not in {known for known, _ in headers}:
                headers.append((name, one_line(value.get_text())))
    stop = text.find("</pre", begin) if begin < len(text) else -1
    markup = text[begin : stop if stop >= 0 else len(text)]
    body = soup_of(broken_lines(markup)).get_text().replace("\xa0", " ")
    return page_mail(headers, body_text(body.split("\n")), defects=defects)


def read_lkml_text(raw: Raw) -> Mail:
    """The mail of a page saved as text; the indentation of the body is taken off."""
    text = decode_page(raw.data)
    match = _start_of_text(text[:_HEAD])
    if match is None:
        return page_mail([], body_text(text.split("\n")))
    headers = [
        ("Date", one_line(match[1])),
        ("From", one_line(match[2])),
        ("Subject", one_line(match[3])),
    ]
    lines = text[match.end() :].split("\n")
    whole = len(lines)
    for number in range(len(lines) - 1, max(len(lines) - 30, -1), -1):
        if _END.match(lines[number][:200]) is not None:
            lines = lines[:number]
    if len(lines) < whole and lines and lines[-1].strip() == "\\":
        lines.pop()  # the upper half of the arrow at the end of a page
    start = 0
    while start < len(lines) and (
        not lines[start].strip() or _NAVIGATION.search(lines[start][:200]) is not None
    ):
        start += 1
    lines = lines[start:]
    filled = [line for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip(" ")) for line in filled), default=0)
    return page_mail(headers, body_text([line[min(indent, 40) :] for line in lines]))

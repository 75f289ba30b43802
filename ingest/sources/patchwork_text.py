"""Patchwork exports flattened to one line: the line ends are gone, and ``<…>`` with them.

    From patchwork Tue Mar 5 09:20:30 2024 Content-Type: text/plain X-Patchwork-Id: 99123
    Message-Id: <…> From: Ada Quill To: dev@example.org Subject: [PATCH] tick: use two Date: Tue,
    5 Mar 2024 10:20:30 +0100 commit 13f1… upstream. Use two. Cc: stable@vger.kernel.org --- …

Headers are cut at names that mail has. Where they end nothing says, so each
value is read by the form that its header has (a date, an id, one address): the
first header that has more text behind its value, after the four that every
mail has, is the last one. ``Cc:`` above would be a header by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.mail import Mail
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.mbox import MAIL_LIMIT
from patchlore.ingest.sources.page import decode_page, page_mail
from patchlore.ingest.sources.window import Window

_START = re.compile(
    rb"From patchwork (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} {1,2}\d{1,2}"
    rb" \d\d:\d\d:\d\d \d{4}(?= +[A-Za-z-]+:)"
)
_ENVELOPE = re.compile(
    r"\s{0,20}From patchwork \w{3} \w{3} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}\s{0,20}"
)
#: Headers are looked for in this many characters.
_HEADER_LIMIT = 200_000

#: A mail has one of each, so a second one stands in its body.
_SINGLE = frozenset(
    ["from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "reply-to"]
)
_WORDS = frozenset(["from", "to", "cc", "bcc", "date", "subject", "sender", "face"])
_OTHERS = frozenset(
    [
        "bcc",
        "references",
        "sender",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
        "content-language",
        "content-disposition",
        "thread-topic",
        "thread-index",
        "precedence",
        "user-agent",
        "received",
        "delivered-to",
        "return-path",
        "dkim-signature",
        "domainkey-signature",
        "dkim-filter",
        "authentication-results",
        "authentication-results-original",
        "received-spf",
        "arc-seal",
        "arc-message-signature",
        "arc-authentication-results",
        "envelope-to",
        "errors-to",
        "list-post",
        "list-help",
        "list-subscribe",
        "list-unsubscribe",
        "list-archive",
        "list-owner",
        "accept-language",
        "autocrypt",
        "mail-followup-to",
        "organization",
        "importance",
        "priority",
        "openpgp",
        "original-recipient",
        "spamdiagnosticoutput",
        "spamdiagnosticmetadata",
        "feedback-id",
        "face",
        "auto-submitted",
        "old-return-path",
        "resent-date",
        "resent-from",
        "resent-message-id",
        "resent-sender",
        "resent-to",
        "msip_labels",
        "ironport-sdr",
        "ironport-hdrordr",
    ]
)
_NAME = re.compile(r"(?:(?<= )|\A)([A-Za-z][A-Za-z0-9_-]{0,60}):(?= |\Z)")
_REQUIRED = frozenset({"from", "subject", "date", "message-id"})

_ADDRESS = r"(?:<[^<> ]{0,300}>|[^\s<>,;@]{1,100}@[^\s<>,;]{1,200})"
_TOKEN = re.compile(r"\S{0,1000}")
_DATE = re.compile(
    r"(?:[A-Z][a-z]{2}, ?)?\d{1,2} [A-Z][a-z]{2} \d{2,4} \d{1,2}:\d\d(?::\d\d)?"
    r"(?: [+-]\d{4}| [A-Z]{1,5})?(?: \([A-Za-z0-9:+ -]{1,40}\))?"
)
#: What a value may be, for headers where that is known; what is behind it is not the header's.
_VALUES: dict[str, re.Pattern[str]] = {
    "date": _DATE,
    "resent-date": _DATE,
    "message-id": re.compile(r"<[^<>\s]{1,900}>|\S{0,900}"),
    "in-reply-to": re.compile(r"(?:<[^<>\s]{1,900}>(?: (?=<))?){1,200}|(?!\S*:)\S{0,900}"),
    "references": re.compile(r"(?:<[^<>\s]{1,900}>(?: (?=<))?){1,2000}|(?!\S*:)\S{0,900}"),
    "mime-version": re.compile(r"1\.0(?: \([^()]{1,80}\))?"),
    "content-transfer-encoding": _TOKEN,
    "content-type": re.compile(
        r"[\w.+-]{1,60}/[\w.+-]{1,100}(?:; ?[\w*-]{1,40}=(?:\"[^\"]{0,200}\"|[^\s;\"]{1,200}))*;?"
    ),
    "content-language": _TOKEN,
    "accept-language": re.compile(r"[\w-]{0,20}(?:, ?[\w-]{1,20}){0,9}"),
    "precedence": _TOKEN,
    "x-patchwork-id": re.compile(r"\d{0,12}"),
    "x-mailing-list": re.compile(rf"{_ADDRESS}|"),
    "sender": re.compile(rf"{_ADDRESS}|"),
    "errors-to": re.compile(rf"{_ADDRESS}|"),
    "return-path": re.compile(rf"{_ADDRESS}|"),
    "delivered-to": re.compile(rf"{_ADDRESS}|"),
    "list-id": re.compile(r"(?:\"[^\"]{0,200}\" |[\w .,'()/&+-]{0,200})?<[^<>\s]{1,200}>|"),
    "thread-index": _TOKEN,
    "auto-submitted": _TOKEN,
    "importance": _TOKEN,
    "x-mailer": re.compile(r"\S{1,100}(?: v?\d[\w.-]{0,40})?(?: \([^()]{1,200}\))?"),
    "user-agent": re.compile(r"\S{1,100}(?: \([^()]{1,200}\))?(?: [A-Za-z]{1,40}/[\d.]{1,20})*"),
}
_MARKER = re.compile(
    r"commit [0-9a-f]{40} upstream|\[ ?[Uu]pstream commit [0-9a-f]{8,40}|From: |"
    r"This (?:patch|commit|reverts|is|adds|fixes) |Signed-off-by: |--- |diff --git a/"
)


def looks_like_patchwork_text(head: bytes) -> bool:
    """Whether HEAD is an export on one line: further headers behind the separator's date."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return _START.match(start) is not None and b"X-Patchwork-" in start.split(b"\n", 1)[0]


def split_patchwork_text(
    window: Window, path: str, list_name: str | None = None
) -> Iterator[Raw | Problem]:
    """The mails of a file of such exports: one a line, a line without a start goes on."""
    while window.fill(1):
        found = window.find(b"\nFrom patchwork ", 0, MAIL_LIMIT)
        while found >= 0:
            window.fill(found + 1000)
            if _START.match(bytes(window.data[found + 1 : found + 1000])) is not None:
                break
            found = window.find(b"\nFrom patchwork ", found + 1, MAIL_LIMIT)
        if found < 0 and not window.ended:
            text = f"{path}: a line is longer than {MAIL_LIMIT >> 20} MiB; the rest is left out."
            yield Problem(path, window.base, text)
        end = found + 1 if found >= 0 else len(window.data)
        source = Source(
            path=path,
            format="patchwork-text",
            offset=window.base,
            fidelity="flattened",
            list=list_name,
        )
        data = bytes(window.data[:end])
        if data.strip():
            yield Raw(data=data, source=source)
        window.drop(end)
        if found < 0:
            return


def read_patchwork_text(raw: Raw) -> Mail:
    """The mail of a flattened export; its body stays one line and ``flat`` is set.

    Hints: ``patchwork_id``.
    """
    text = " ".join(decode_page(raw.data).split("\n")).strip()
    envelope = _ENVELOPE.match(text)
    text = text[envelope.end() :] if envelope is not None else text
    headers, end = _headers(text)
    ids = [value for name, value in headers if name.lower() == "x-patchwork-id"]
    hints = {"patchwork_id": ids[0]} if ids and ids[0].isdigit() else {}
    return page_mail(headers, text[end:].strip(), hints=hints, flat=True)


def _is_header(written: str) -> bool:
    name = written.lower()
    if name in _WORDS:
        return written[0].isupper()  # "to:" in a subject is none
    return name in _SINGLE or name in _OTHERS or name.startswith(("x-", "arc-", "list-"))


def _headers(text: str) -> tuple[list[tuple[str, str]], int]:
    """The headers at TEXT's start, and where they end."""
    stop = text.find(" diff --git ", 0, _HEADER_LIMIT)
    names = [
        match
        for match in _NAME.finditer(text, 0, stop if stop >= 0 else _HEADER_LIMIT)
        if _is_header(match[1])
    ]
    wanted = _REQUIRED & {match[1].lower() for match in names}
    headers: list[tuple[str, str]] = []
    seen: set[str] = set()
    for match, following in zip_longest(names, names[1:]):
        name = match[1].lower()
        seen.add(name)
        start = min(match.end() + 1, len(text))
        end = following.start() if following is not None else len(text)
        if wanted <= seen:
            # The next name may be the body's own: its From, or a tag.
            last = following is None or (
                following[1].lower() in _SINGLE and following[1].lower() in seen
            )
            value_end = _end_of_value(name, text, start, end, last=last)
            if last or text[value_end:end].strip():
                return [*headers, (match[1], _value(text[start:value_end]))], value_end
        headers.append((match[1], _value(text[start:end])))
    return headers, 0 if not headers else len(text)


def _end_of_value(name: str, text: str, start: int, limit: int, *, last: bool) -> int:
    """Where the value at START ends by the form of its header, at LIMIT at the latest.

    A header without a fixed form goes on to LIMIT unless what follows begins a
    commit message; LAST says that the body must begin before or at LIMIT.
    """
    form = _VALUES.get(name)
    if form is not None:
        match = form.match(text, start, limit)
        return match.end() if match is not None else limit
    marker = _MARKER.search(text, start, min(limit, start + 20_000))
    if marker is None:
        return limit
    if name.startswith("x-") or not last:
        match = _TOKEN.match(text, start, marker.start())
        return match.end() if match is not None else marker.start()
    return marker.start()


def _value(text: str) -> str:
    return decode_words(text.strip())

"""HTML pages of public-inbox, as lore.kernel.org shows them: one message, or a whole thread.

A page of a message shows the headers that people read and the text as it was
sent; a thread's page has only names for people and minutes for dates. A site
may write ``ada@example•org`` for an address (the first dot of the domain),
which is undone. References are not shown: what a page says of the thread is
given by index_pages.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.message import Attachment
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.index_pages import read_overview, with_parents
from patchlore.ingest.sources.items import Listed, Listing, Part, Problem
from patchlore.ingest.sources.mbox import MAIL_LIMIT
from patchlore.ingest.sources.page import (
    attachment,
    body_text,
    decode_page,
    find_header_block,
    header_block,
    is_html,
    link_labelled,
    page_mail,
    plain_text,
)
from patchlore.ingest.sources.window import Window

#: A mail of a thread's page begins so, in HTML; public-inbox breaks lines inside its tags.
_ENTRY = re.compile(rb"<a\s[^<>]{1,300}>\*</a> ")
_OVERVIEW = re.compile(r"\s{1,4}\[(?:thread overview|flat\|nested|[^\[\]]{0,40})\]\s{0,20}\Z")
_FROM = re.compile(r"From: (.{0,500}?) @ (\d{4}-\d\d-\d\d {1,2}\d{1,2}:\d\d)(?: UTC)?(?: \(|\Z)")
_TO = re.compile(r"\s{1,8}To: (.*)\Z")
_CC = re.compile(r"(?:;|^)\s{0,4}\+?Cc: (.*)\Z")
_END = re.compile(r"\^ permalink raw reply\b")
_OWN = re.compile(r"^Message-ID: &lt;([^\n]{1,2000}?)&gt;", re.M)
_PRE = re.compile(r"<pre[\s>]", re.I)
_DOT = re.compile(r"(@[\w-]{1,63})\u2022(?=[\w-])")
_PART = re.compile(r"\[-- Attachment #([\d.]{1,40}): (.{0,1000}?) --\]\s{0,9}\Z")
_TYPE = re.compile(
    r"(?:\[-- )?Type: ([^,\]]{1,200}), (?:Encoding: [^,\]]{1,40}, )?Size: (\d{1,12})"
)
_WARNING = re.compile(r"\[-- Warning: decoded text below may be mangled")
_PART_LIMIT = 1000
#: Where headers of a thread's entry are looked for.
_ENTRY_HEAD = 2000


def looks_like_lore(head: bytes) -> bool:
    """Whether HEAD is a page of public-inbox with mails on it."""
    if not is_html(head) or b">raw</a>" not in head:
        return False
    if b">permalink</a>" in head and _ENTRY.search(head) is not None:
        return True
    return b"Message-ID: &lt;" in head and b"thread overview" in head


def split_lore(window: Window, path: str, list_name: str | None = None) -> Iterator[Part]:
    """The page itself where it shows one message, else each entry of the thread.

    An entry's bytes are what stands between it and the next one. Then what the
    page says of the thread.
    """
    if window.fill(MAIL_LIMIT + 1):
        text = f"{path}: it is larger than {MAIL_LIMIT >> 20} MiB; the rest is left out."
        yield Problem(path, MAIL_LIMIT, text)
    data = bytes(window.data[:MAIL_LIMIT])
    starts = [match.start() for match in _ENTRY.finditer(data)]
    if not starts:
        starts = [0]
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        source = Source(
            path=path, format="lore-html", offset=start, fidelity="rewritten", list=list_name
        )
        yield Raw(data=data[start:end], source=source)
    text = decode_page(data)
    if _ENTRY.match(data, starts[0]) is None:
        own = _OWN.search(text)
        listing = read_overview(text, path, plain_text(own[1]) if own is not None else None)
    else:
        listing = _listing(data, starts, path)
    if len(listing.entries) > 1:
        yield listing


def _listing(data: bytes, starts: list[int], path: str) -> Listing:
    """The order of a thread's page, and where it is nested, who answers whom."""
    entries: list[Listed] = []
    depth = 0
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        mail = _entry(decode_page(data[start:end]))
        identifier = (mail.get("message-id") or "").strip("<>") or None
        entries.append(
            Listed(message_id=identifier, depth=depth, subject=mail.get("subject") or None)
        )
        markup = data[start:end]
        depth = max(depth + markup.count(b"<ul>") - markup.count(b"</ul>"), 0)
    nested = any(entry.depth for entry in entries)
    return Listing(
        path=path,
        order="thread" if nested else "date",
        entries=tuple(with_parents(entries, threaded=nested)),
    )


def read_lore(raw: Raw) -> Mail:
    """The mail of a message's page or of a thread's entry; hint ``url`` (the permalink)."""
    text = decode_page(raw.data)
    is_entry = _ENTRY.match(raw.data) is not None
    return _entry(text) if is_entry else _message(text)


def _undotted(text: str) -> str:
    return _DOT.sub(r"\1.", text) if "\u2022" in text else text


def _message(text: str) -> Mail:
    """The mail of a page that shows one message: the ``<pre>`` that begins with its headers."""
    at = 0
    while (found := _PRE.search(text, at)) is not None:
        at = found.end()
        stop = text.find("</pre", at)
        markup = text[text.find(">", at - 1) + 1 : stop if stop >= 0 else len(text)]
        lines = _undotted(plain_text(markup)).split("\n")
        start = find_header_block(lines, 0, 5)
        if start is None:
            at = stop if stop >= 0 else len(text)
            continue
        headers, body = header_block(lines, start)
        shown = [(name, _shown(name, value)) for name, value in headers]
        return _mail(shown, lines[body:], markup)
    return page_mail([], "")


def _shown(name: str, value: str) -> str:
    """A header's VALUE without the links that the page puts behind it."""
    if name.lower() in ("message-id", "in-reply-to"):
        return value.partition(">")[0] + ">" if "<" in value else value.split(" (")[0]
    return _OVERVIEW.sub("", value) if name.lower() == "date" else value


def _entry(text: str) -> Mail:
    """The mail of an entry: ``* SUBJECT``, ``@ DATE NAME``, links, then its text."""
    stop = text.find("</pre")
    markup = text[: stop if stop >= 0 else len(text)]
    lines = _undotted(plain_text(markup)).split("\n")
    headers = [("Subject", one_line(lines[0].lstrip("* ")))]
    hints: dict[str, str] = {}
    link = link_labelled(markup, "permalink</a>") or link_labelled(markup, "raw</a>")
    if link is not None:
        identifier = _identifier(link[0])
        if "@" in identifier:
            headers.append(("Message-ID", f"<{identifier}>"))
        if link[0].startswith(("http:", "https:")):
            hints["url"] = link[0]
    body = 1
    for number, line in enumerate(lines[1:_ENTRY_HEAD], 1):
        match = _FROM.match(line[:1000])
        if match is not None:
            headers += [("From", one_line(match[1])), ("Date", f"{one_line(match[2])}:00 +0000")]
            body = number + 1
            to, cc = _TO.match(lines[body][:8000] if body < len(lines) else ""), None
            if to is not None:
                cc = _CC.search(to[1])
                names = to[1][: cc.start()] if cc is not None else to[1]
                headers += [("To", names.strip())] if names.strip() else []
                headers += [("Cc", cc[1].strip())] if cc is not None else []
                body += 1
            break
    mail = _mail(headers, lines[body:], markup)
    mail.hints = hints
    return mail


def _identifier(href: str) -> str:
    """The Message-ID in a link such as ``../lamp-1@example.org/raw``."""
    parts = [part for part in href.split("#")[0].split("/") if part not in ("", "raw", "T", "t")]
    return unquote(parts[-1]) if parts else ""


def _mail(headers: list[tuple[str, str]], lines: list[str], markup: str) -> Mail:
    for number in range(len(lines) - 1, max(len(lines) - 10, -1), -1):
        if _END.match(lines[number][:200]) is not None:
            lines = lines[:number]
            break
    parts, attachments = _parts(lines, _part_links(markup))
    return Mail(headers=headers, parts=parts, attachments=attachments)


def _part_links(markup: str) -> dict[str, str]:
    """The link of each part by its number."""
    links: dict[str, str] = {}
    found = link_labelled(markup, "[-- Attachment #")
    while found is not None and len(links) < 1000:
        number = markup[found[1] + len("[-- Attachment #") :][:40].partition(":")[0]
        links.setdefault(number, found[0])
        found = link_labelled(markup, "[-- Attachment #", found[1])
    return links


def _parts(lines: list[str], links: dict[str, str]) -> tuple[list[TextPart], list[Attachment]]:
    """The text parts of a body, and its attachments: the page shows which part is which.

        [-- Attachment #2: lamp.patch --]
        [-- Type: text/x-patch, Size: 312 bytes --]

    Behind that stands the part's text, where it is text.
    """
    texts: list[list[str]] = [[]]
    parts: list[TextPart] = [TextPart(text="")]
    attachments: list[Attachment] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        is_mark = line.startswith("[-- ") and len(parts) < _PART_LIMIT
        match = _PART.match(line[:1200]) if is_mark else None
        if match is None:
            if _WARNING.match(line[:100]) is None:
                texts[-1].append(line)
            at += 1
            continue
        kind = _TYPE.match(match[2])
        name = "" if kind is not None else match[2]
        if kind is None and at + 1 < len(lines):
            kind = _TYPE.match(lines[at + 1][:400])
            at += 1 if kind is not None else 0
        at += 1
        content_type = kind[1].strip() if kind is not None else "text/plain"
        size = int(kind[2]) if kind is not None else None
        is_first = match[1] in ("1", "1.1")
        if name or not is_first:
            attachments.append(attachment(name, content_type, size, links.get(match[1])))
        texts.append([])
        parts.append(
            TextPart(
                text="",
                content_type=content_type,
                filename=name or None,
                is_attachment=bool(name),
            )
        )
    for part, text in zip(parts, texts, strict=True):
        part.text = body_text(text)
    shown = [part for part in parts if part.text and part.content_type.startswith("text/")]
    return shown or [TextPart(text="")], attachments

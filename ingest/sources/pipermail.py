"""Pages of Mailman 2's archives (pipermail), and what its scrubber put in place of attachments.

The mask: ``@`` became `` at `` in the header, which can be undone, and in the
body. The page's "made" link names the Message-ID, since it is the link to
reply. Monthly text files are mailboxes: mbox.py.
"""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.message import Attachment
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.page import attachment, body_text, html_of, is_html, soup_of, text_of

_BEGIN, _END = "<!--beginarticle-->", "<!--endarticle-->"
_MADE = re.compile(
    r"<link\s{1,20}rel=\"made\"\s{1,20}href=\"mailto:([^\"?]{0,300})\??([^\"]{0,3000})\"", re.I
)
_REPLY_TO = re.compile(r"In-Reply-To=([^&\"]{1,1500})", re.I)
_NEXT_PART = re.compile(r"-{14} next part -{14}\s{0,9}\Z")
_SCRUBBED = re.compile(
    r"(?:An? (?:HTML|non-text) attachment|An embedded (?:message|and charset-unspecified text))"
    r" was scrubbed\.{3}\s{0,9}\Z"
)
#: ``Skipped content of type multipart/alternative``, without a line end of its own.
_SKIPPED = re.compile(
    r"Skipped content of type ([\w.+-]{1,60}/[\w.+-]{1,100}?)(-{14} next part -{14})?\s{0,9}\Z"
)
_FIELD = re.compile(r"(Name|Type|Size|Desc|URL|From|To|Cc|Subject|Date|Url)\s{0,3}:\s{0,3}(.*)\Z")
_SIZE = re.compile(r"(\d{1,12}) bytes?")


def looks_like_pipermail(head: bytes) -> bool:
    """Whether HEAD is a message page of pipermail."""
    return is_html(head) and b"<!--beginarticle-->" in head


def looks_like_pipermail_index(head: bytes) -> bool:
    """Whether HEAD is a month's page by thread, date, subject or author: it holds no mail."""
    return is_html(head) and b"<b>Starting:</b>" in head and b"Messages sorted by:" in head


def read_pipermail(raw: Raw) -> Mail:
    """The mail of a page; hint ``list`` (the list's address)."""
    text, defects = html_of(raw)
    begin, end = text.find(_BEGIN), text.rfind(_END)
    top = text[: begin if begin >= 0 else len(text)]
    article = text[begin + len(_BEGIN) : end if end > begin else len(text)] if begin >= 0 else ""
    headers, hints = _head(top)
    body = soup_of(article).get_text()
    parts, attachments = split_scrubbed(body)
    return Mail(
        headers=headers,
        parts=[TextPart(text=part) for part in parts],
        attachments=attachments,
        hints=hints,
        defects=defects,
    )


def _head(top: str) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """The headers that the page shows above the article, and the list's address."""
    headers: list[tuple[str, str]] = []
    hints: dict[str, str] = {}
    made = _MADE.search(top)
    if made is not None:
        address = unquote(html.unescape(made[1]))
        if "@" in address:
            hints["list"] = address
        # In an address "&" is written plain or "&amp;".
        reply_to = _REPLY_TO.search(html.unescape(made[2]))
        if reply_to is not None:
            identifier = unquote(reply_to[1]).strip()
            if identifier.startswith("<") and identifier.endswith(">"):
                headers.append(("Message-ID", identifier))
    soup = soup_of(top)
    heading = soup.find("h1")
    subject = one_line(text_of(heading) if heading is not None else text_of(soup.title))
    headers.append(("Subject", subject))
    name = heading.find_next("b") if heading is not None else None
    link = name.find_next("a") if name is not None else None
    date = name.find_next("i") if name is not None else None
    if name is not None:
        headers.append(("From", _sender(one_line(name.get_text()), one_line(text_of(link)))))
    if date is not None:
        headers.append(("Date", one_line(date.get_text())))
    return headers, hints


def _sender(name: str, address: str) -> str:
    """NAME and ADDRESS as a From header; the mask of the address undone."""
    address = address.replace(" at ", "@", 1) if " at " in address else address
    if "@" not in address or " " in address:
        return name
    if not name or name.replace(" at ", "@", 1) == address:
        return address
    quoted = f'"{name}"' if any(sign in name for sign in ',;:<>()@"') else name
    return f"{quoted} <{address}>"


def split_scrubbed(body: str) -> tuple[list[str], list[Attachment]]:
    """The text parts of a mail in Mailman's archive, and the attachments it links instead.

    Behind ``-------------- next part --------------`` stands either a part of
    text as it was, or what was scrubbed and where it is now
    (Mailman/Handlers/Scrubber.py).
    """
    chunks: list[list[str]] = [[]]
    attachments: list[Attachment] = []
    for line in body.split("\n"):
        skipped = _SKIPPED.match(line[:400])
        if skipped is not None:
            attachments.append(attachment(None, skipped[1], None))
            if skipped[2]:
                chunks.append([])
        elif _NEXT_PART.match(line[:80]) is not None:
            chunks.append([])
        else:
            chunks[-1].append(line)
    texts: list[str] = []
    for number, chunk in enumerate(chunks):
        start = 0
        while start < len(chunk) and not chunk[start].strip():
            start += 1
        if start == len(chunk) or _SCRUBBED.match(chunk[start][:200]) is None:
            texts.append(body_text(chunk))
            continue
        found, rest = _scrubbed(chunk[start:])
        if number == 0 and found.href is None:
            texts.append(body_text(chunk))  # somebody's words about scrubbing
            continue
        attachments.append(found)
        texts.append(body_text(rest))
    return [text for text in texts if text] or [""], attachments


def _scrubbed(chunk: list[str]) -> tuple[Attachment, list[str]]:
    """The attachment that CHUNK describes from its second line on, and what is below."""
    fields: dict[str, str] = {}
    at = 1
    for at in range(1, len(chunk) + 1):
        match = _FIELD.match(chunk[at][:2000]) if at < len(chunk) else None
        if match is None or match[1].lower() in fields:
            break
        fields[match[1].lower()] = match[2].strip()
        if match[1].lower() == "url":
            at += 1
            break
    size = _SIZE.match(fields.get("size", ""))
    name = fields.get("name", "")
    kind = fields.get("type", "text/html" if "HTML" in chunk[0] else "")
    if "embedded message" in chunk[0]:
        kind = "message/rfc822"
    found = attachment(
        None if name == "not available" else name,
        kind,
        int(size[1]) if size is not None else None,
        fields.get("url", "").strip("<>") or None,
    )
    return found, chunk[at:]

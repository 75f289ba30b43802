"""Pages made by MHonArc and hypermail: spinics.net, mail-archive.com, lkml.iu.edu.

MHonArc leaves comments at the head of a page (``<!--X-Message-Id: … -->``) and
marks around the header and the body; a site's template may drop some. The mask
of spinics: each character of a domain became ``x``, in bodies too.
"""

from __future__ import annotations

import html
import re

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail
from patchlore.ingest.message import Attachment
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.page import (
    SHOWN_HEADERS,
    attachment,
    body_text,
    broken_lines,
    html_of,
    is_html,
    link_labelled,
    page_mail,
    soup_of,
    text_of,
)

_COMMENT = re.compile(r"<!--\s{0,4}X-([A-Za-z0-9-]{2,30}): (.{0,2000}?)\s{0,4}-->")
_MARK = re.compile(rb"<!--X-(?:Subject|Head-End|Head-of-Message|Body-of-Message|MsgBody)\b")
_HEAD_ITEM = re.compile(
    rb"<li>\s{0,20}<(?:em|strong|b)>\s{0,9}(?:From|Subject|Date)\s{0,9}:?\s{0,9}</",
    re.I,
)
_FORM_ID = re.compile(r"name=\"msgid\"\s{1,9}value=\"([^\"<>\s]{1,1000})\"")
_SLICE_LINK = re.compile(r"<a\s[^<>]{0,200}?href=\"?([^\"<>#\s]{0,60}\d{2,9}\.html?)\"?", re.I)
_REPLY = re.compile(r"(?:re:){1,9}", re.I)
#: Lines of lkml.iu.edu's header that are links: ``Next in thread: Ole Brandt: "Re: lamp"``.
_LINK_LINE = re.compile(
    r"\s{0,9}(?:Next|Previous|(?:Maybe )?[Ii]n reply to|Reply|Messages sorted)\b[^:\n]{0,40}:"
)
_DATE_NAVIGATION = re.compile(rb"(?:Date|Thread) (?:Prev|Next|Index)\b")
_INDEX = re.compile(
    rb"<!-- MHonArc v|\[(?:Date|Thread) Index\]|<title>[^<]{0,200}(?:Date|Thread) Index",
    re.I,
)
_SHOWN = re.compile(r"\s{0,20}([A-Za-z][A-Za-z-]{1,30})\s{0,4}:\s{0,4}(.*)\Z")
_MASKED_ID = re.compile(r"@x{3,}[>\s]*\Z|@\.\.\.|\.\.\.@")
_BODY, _BODY_END = "<!--X-Body-of-Message-->", "<!--X-Body-of-Message-End-->"
#: Where a body begins and ends on pages without those marks.
_BODY_TAG = re.compile(r"<div[^>]{0,80} class=\"?msgBody\"?[^>]{0,80}>|<pre[ >]", re.I)
_AFTER_BODY = re.compile(r"<hr|<!--X-MsgBody-End|</body|<div[^>]{0,80} class=\"?msgButtons", re.I)

_ATTACHMENT = re.compile(
    r"(?:<p>\s{0,9})?<strong>\s{0,9}Attachment:(?:(?!</p>|<pre|<p>).){1,1500}?(?:</p>|(?=<pre|<p>)|\Z)",
    re.I | re.S,
)
#: The header is right above the body, below what a site has on top.
_HEAD_LIMIT = 100_000
_LINK = re.compile(
    r"<a [^>]{0,200}?href=\"([^\"]{1,500})\"[^>]{0,200}>(.{0,500}?)</a>", re.I | re.S
)
#: ``<li>Next by thread: <strong><a href="msg00013.html">Re: lamp</a></strong>``
_NEAR_LINK = re.compile(
    r":(?:\s|</?(?:b|strong|em|td)>){0,9}<a [^<>]{0,200}?href=\"?([^\"<>\s]{1,500})", re.I
)
_KIND = re.compile(r"Description:\s{0,9}([\w.+-]{1,60}/[\w.+-]{1,80})")

_ROT13 = str.maketrans(
    "@ABCDEFGHIJKLMNOPQRSTUVWXYZ[abcdefghijklmnopqrstuvwxyz",
    "NOPQRSTUVWXYZ[@ABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
)


def rot13(text: str) -> str:
    """MHonArc's own rotation: 28 symbols from ``@`` to ``[``, so that ``@`` is hidden too."""
    return text.translate(_ROT13)


def looks_like_mhonarc(head: bytes) -> bool:
    """Whether HEAD is a message page: MHonArc's marks, or its header list and navigation."""
    if not is_html(head):
        return False
    if _MARK.search(head) is not None:
        return True
    if b'class="msgBody"' in head and b'class="subject"' in head:
        return True
    return _HEAD_ITEM.search(head) is not None and _DATE_NAVIGATION.search(head) is not None


def looks_like_mhonarc_index(head: bytes) -> bool:
    """Whether HEAD is a page that lists messages: it holds no mail."""
    return is_html(head) and _INDEX.search(head) is not None


def read_mhonarc(raw: Raw) -> Mail:
    """The mail of a page. Masked Message-IDs are left out: they name nothing."""
    text, defects = html_of(raw)
    comments = _comments(text)
    head, body = _halves(text)
    headers = _shown_headers(head)
    names = {name.lower() for name, _ in headers}
    for name, value in _from_comments(comments) + _from_form(text):
        if name.lower() not in names:
            headers.append((name, value))
    headers = [_unmasked_sender(pair, comments) for pair in headers]
    headers = [
        (name, value)
        for name, value in headers
        if name.lower() not in ("message-id", "in-reply-to", "references")
        or _MASKED_ID.search(value) is None
    ]
    lines, attachments = _body(body)
    mail = page_mail(headers, lines, attachments=attachments, defects=defects)
    outside = text.replace(body, "", 1) if body else text
    mail.hints = _neighbours(outside, mail.get("subject") or "")
    return mail


#: Links to the mails beside this one in its thread. MHonArc's buttons "Thread Prev" and "Thread
#: Next" go on to the next thread where this one ends, so they tell nothing.
_WITHIN = {
    "thread-prev": ("In reply to:", "Prev in Thread", "Previous in thread"),
    "thread-next": ("Next in Thread", "Next in thread"),
}
#: These do so, too, but show a subject.
_ACROSS = {
    "thread-prev": ("Previous by thread", "Prev by Thread"),
    "thread-next": ("Next by thread", "Next by Thread"),
}


def _neighbours(text: str, subject: str) -> dict[str, str]:
    """The links to the mails before and after this one in its thread.

    Surest are MHonArc's lists of references and of follow-ups.
    """
    hints: dict[str, str] = {}
    above = _section_links(text, "X-References")
    below = _section_links(text, "X-Follow-Ups")
    current = text.find("tSliceCur")
    if current >= 0:  # mail-archive.com: a piece of the thread around this mail
        begin = max(text.rfind("tSliceList", 0, current), current - 20_000, 0)
        above = above or _SLICE_LINK.findall(text, begin, current)
        below = below or _SLICE_LINK.findall(text, current, current + 20_000)
    if above:
        hints["thread-prev"] = html.unescape(above[-1])
    if below:
        hints["thread-next"] = html.unescape(below[0])
    for hint in ("thread-prev", "thread-next"):
        for label in _WITHIN[hint]:
            target = _target(text, label)
            if target is not None:
                hints.setdefault(hint, target[0])
        for label in _ACROSS[hint]:
            target = _target(text, label)
            if target is not None and _base(target[1]) == _base(subject):
                hints.setdefault(hint, target[0])
    return hints


def _section_links(text: str, name: str) -> list[str]:
    begin = text.find(f"<!--{name}-->")
    end = text.find(f"<!--{name}-End-->", begin) if begin >= 0 else -1
    return _SLICE_LINK.findall(text, begin, min(end, begin + 200_000)) if end >= 0 else []


def _target(text: str, label: str) -> tuple[str, str] | None:
    """Where the link labelled LABEL leads, and its own text, which may be the label."""
    link = link_labelled(text, label)
    if link is not None:
        return link[0], ""
    at = text.find(label)
    match = _NEAR_LINK.search(text, at, at + 600) if at >= 0 else None
    if match is None:
        return None
    shown = text[match.end() : match.end() + 3000].partition(">")[2].partition("</")[0]
    return html.unescape(match[1]), html.unescape(shown)


def _base(subject: str) -> str:
    """SUBJECT without reply marks and white space, as a thread shares it."""
    return _REPLY.sub("", "".join(subject.split())).lower()


def _comments(text: str) -> dict[str, list[str]]:
    """MHonArc's comments by name, in lower case; ``-`` and ``&`` are written as entities."""
    end = text.find("<!--X-Head-End-->")
    found: dict[str, list[str]] = {}
    for match in _COMMENT.finditer(text, 0, end if end >= 0 else 20_000):
        found.setdefault(match[1].lower(), []).append(html.unescape(match[2]).strip())
    return found


def _from_comments(comments: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Headers that only the comments have."""
    headers: list[tuple[str, str]] = []
    for comment, name in (("subject", "Subject"), ("date", "Date")):
        if comment in comments:
            headers.append((name, comments[comment][0]))
    if "from-r13" in comments:
        headers.append(("From", rot13(comments["from-r13"][0])))
    if "message-id" in comments:
        headers.append(("Message-ID", f"<{comments['message-id'][0].strip('<>')}>"))
    references = [f"<{value.strip('<>')}>" for value in comments.get("reference", [])]
    references = [value for value in references if _MASKED_ID.search(value) is None]
    if references:
        headers.append(("References", " ".join(references)))
    return headers


def _from_form(text: str) -> list[tuple[str, str]]:
    """The Message-ID in the form by which mail-archive.com lets people reply."""
    tag_at = text.rfind('name="msgid"')
    found = _FORM_ID.search(text, tag_at, tag_at + 1200) if tag_at >= 0 else None
    identifier = html.unescape(found[1]).strip("<> ") if found is not None else ""
    return [("Message-ID", f"<{identifier}>")] if "@" in identifier else []


def _unmasked_sender(pair: tuple[str, str], comments: dict[str, list[str]]) -> tuple[str, str]:
    """The From header, with the address of the R13 comment where the shown one has none."""
    if pair[0].lower() != "from" or "from-r13" not in comments:
        return pair
    hidden = rot13(comments["from-r13"][0])
    shown = "@" in pair[1] and _MASKED_ID.search(pair[1]) is None
    usable = re.search(r"[^\s<>@]@[^\s<>@]{1,200}\.[^\s<>@]", hidden) is not None
    return pair if shown or not usable or re.search(r"@x{3,}", hidden) else (pair[0], hidden)


def _halves(text: str) -> tuple[str, str]:
    """The HTML of the header and that of the body."""
    begin = text.find(_BODY)
    if begin >= 0:
        head_at = text.find("<!--X-Head-of-Message-->", 0, begin)
        end = text.find(_BODY_END, begin)
        return text[max(head_at, begin - _HEAD_LIMIT, 0) : begin], text[
            begin : end if end >= 0 else len(text)
        ]
    start = _BODY_TAG.search(text)
    if start is None:
        return text[:_HEAD_LIMIT], ""
    end = text.find("</pre", start.end())
    after = _AFTER_BODY.search(text, end if end >= 0 else start.end())
    head_at = max(start.start() - _HEAD_LIMIT, 0)
    return text[head_at : start.start()], text[
        start.start() : after.start() if after else len(text)
    ]


def _shown_headers(head: str) -> list[tuple[str, str]]:
    """Headers in list items (``<li><em>From</em>: …``), lines or classed spans."""
    soup = soup_of(broken_lines(head, blocks=True))
    headers: list[tuple[str, str]] = []
    for name in ("Subject", "From", "Date"):
        span = soup.find(class_="sender" if name == "From" else name.lower())
        if span is not None and span.get_text().strip():
            headers.append((name, one_line(span.get_text())))
    if headers:
        return headers
    for line in _unbroken(soup.get_text().split("\n")):
        match = _SHOWN.match(line[:8000])
        if match is not None and match[1].lower() in SHOWN_HEADERS and match[2].strip():
            headers.append((match[1], one_line(match[2])))
    if not any(name.lower() == "subject" for name, _ in headers):
        heading = text_of(soup.find("h1")) or text_of(soup.title)
        if heading.strip():
            headers.insert(0, ("Subject", one_line(heading)))
    return headers


def _unbroken(lines: list[str]) -> list[str]:
    """LINES with what continues a header joined to it: it is written below it, indented or not."""
    joined: list[str] = []
    for line in lines:
        if not line.strip() or _LINK_LINE.match(line[:200]) is not None:
            joined.append("")
        elif joined and joined[-1] and _SHOWN.match(line[:8000]) is None:
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
    return joined


def _body(body: str) -> tuple[str, list[Attachment]]:
    """The text of a body and the attachments that it links."""
    attachments: list[Attachment] = []

    def note(match: re.Match[str]) -> str:
        block = match[0]
        link = _LINK.search(block)
        if link is None:
            return block
        words = soup_of(block).get_text()
        kind = _KIND.search(words)
        name = one_line(soup_of(link[2]).get_text())
        href = html.unescape(link[1])
        attachments.append(attachment(name, kind[1] if kind is not None else None, None, href))
        return ""

    if "Attachment:" in body:
        body = _ATTACHMENT.sub(note, body)
    lines = soup_of(broken_lines(body, blocks=True)).get_text().replace("\xa0", " ").split("\n")
    return body_text(lines), attachments

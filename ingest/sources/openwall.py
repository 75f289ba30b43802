"""Pages of lists.openwall.net and openwall.com/lists, as HTML and saved as text.

The mask: ``@`` and the three characters after it became ``@...``, in bodies
and diffs too, so the diff of such a page is lossy where it has one. The
Message-ID is shown whole.
"""

from __future__ import annotations

import re

from patchlore.ingest.errors import Defect
from patchlore.ingest.mail import Mail
from patchlore.ingest.message import Attachment
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.page import (
    attachment,
    body_text,
    decode_page,
    find_header_block,
    header_block,
    html_of,
    is_html,
    page_mail,
    soup_of,
    text_of,
)

_BRACKET = r"\[(?:<prev|next>|<thread-prev|thread-next>|day|month|year|list)\]"
_NAVIGATION = re.compile(rf"\s{{0,20}}{_BRACKET}(?:\s{{1,20}}{_BRACKET}){{0,8}}\s{{0,20}}\Z")
_SITE = re.compile(
    rb"lists\.openwall\.(?:net|com)|openwall\.com/lists|Powered by (?:<[^>]{1,200}>)?blists"
)
_NAVIGATION_HTML = re.compile(
    rb"\[(?:&lt;|<)(?:thread-)?prev\]|\[(?:thread-)?next(?:&gt;|>)\]|>\[day\]<"
)
_ATTACHMENT = re.compile(
    r"\s{0,8}(?:View|Download) attachment \"(.{0,500})\" of type \"([^\"]{0,200})\""
    r" \((\d{1,12}) bytes?\)\s{0,20}\Z"
)
_GONE = re.compile(r"Content (?:of type \"[^\"]{0,200}\" skipped|truncated|removed)\s{0,20}\Z")
_FOOTER = re.compile(r"\s{0,20}Powered by blists\b")
_INDEX = re.compile(
    rb"<title>[^<]{0,200}mailing list(?: - \d{4}(?:/\d\d){0,2})?\s{0,9}</title>"
    rb"|<title>[^<]{0,200} - \d{4}(?:/\d\d){0,2}\s{0,9}</title>",
    re.I,
)
_TITLE = re.compile(r"([a-z0-9][\w.-]{1,60}) - (.+)\Z", re.I)


def looks_like_openwall_html(head: bytes) -> bool:
    """Whether HEAD is a message page of openwall's archives."""
    return is_html(head) and _SITE.search(head) is not None and _message_html(head)


def looks_like_openwall_index(head: bytes) -> bool:
    """Whether HEAD is a page of a day, month or list: links to messages, no message."""
    return is_html(head) and _message_html(head) is False and _INDEX.search(head) is not None


def _message_html(head: bytes) -> bool:
    pre = head.find(b"<pre")
    return pre >= 0 and re.search(rb"\n(?:From|Date|Subject):", head[pre : pre + 20000]) is not None


def looks_like_openwall_text(head: bytes) -> bool:
    """Whether HEAD is such a page saved as text: its navigation line, then headers."""
    lines = decode_page(head[:20000]).split("\n")
    return _header_start(lines) is not None


def _header_start(lines: list[str]) -> int | None:
    """The line of the first header: behind the navigation, or behind the site's menu."""
    for at, line in enumerate(lines[:80]):
        if _NAVIGATION.match(line[:400]) is not None:
            return find_header_block(lines, at + 1, at + 8)
    menu = any("lists.openwall.net" in line[:400] for line in lines[:12])
    return find_header_block(lines, 1, 40) if menu else None


def read_openwall_text(raw: Raw) -> Mail:
    """The mail of a page saved as text; the title, menu, navigation and footer are left out."""
    lines = decode_page(raw.data).split("\n")
    start = _header_start(lines)
    hints: dict[str, str] = {}
    title = _TITLE.match(lines[0].strip()[:1000])
    if title is not None:
        hints["list"] = title[1]
    if start is None:
        return page_mail([], body_text(lines), hints=hints)
    return _mail(lines, start, [], hints)


def read_openwall_html(raw: Raw) -> Mail:
    """The mail of a page: what its ``<pre>`` holds, the links of attachments, the threading.

    Hints: ``list``, and ``thread-prev`` and ``thread-next``, which are all the
    threading that these pages have, as links relative to the page.
    """
    text, defects = html_of(raw)
    soup = soup_of(text)
    hints: dict[str, str] = {}
    title = _TITLE.match(text_of(soup.title).strip()[:1000])
    if title is not None:
        hints["list"] = title[1]
    pre = soup.find("pre")
    links: list[tuple[str, str]] = []
    for link in soup.find_all("a", href=True):
        label = link.get_text().strip()
        if label in ("[<thread-prev]", "[thread-next>]"):
            hints.setdefault(label.strip("[<>]"), str(link["href"]))
        elif pre is not None and link.find_parent("pre") is pre:
            links.append((label, str(link["href"])))
    lines = pre.get_text().split("\n") if pre is not None else []
    start = find_header_block(lines, 0, 20)
    if start is None:
        return page_mail([], body_text(lines), hints=hints, defects=defects)
    mail = _mail(lines, start, links, hints)
    mail.defects += defects
    return mail


def _mail(
    lines: list[str], start: int, links: list[tuple[str, str]], hints: dict[str, str]
) -> Mail:
    """The mail whose headers begin at line START; LINKS are (text, href) of the body, in order."""
    headers, at = header_block(lines, start)
    lines = lines[at:]
    for number in range(len(lines) - 1, max(len(lines) - 40, -1), -1):
        if _FOOTER.match(lines[number][:200]) is not None:
            lines = lines[:number]
            break
    kept: list[str] = []
    attachments: list[Attachment] = []
    defects: list[Defect] = []
    for line in lines:
        match = _ATTACHMENT.match(line[:1000])
        if match is not None:
            attachments.append(
                attachment(match[1], match[2], int(match[3]), _href_of(match[1], links))
            )
        elif _GONE.match(line[:400]) is not None:
            defects.append(Defect("content-removed", 0, line.strip()))
        else:
            kept.append(line)
    mail = page_mail(headers, body_text(kept), attachments=attachments, hints=hints)
    mail.defects = defects
    return mail


def _href_of(name: str, links: list[tuple[str, str]]) -> str | None:
    """The link of the attachment NAME; each link is used once, several may have one name."""
    for at, (label, href) in enumerate(links):
        if label == name.strip():
            del links[at]
            return href
    return None

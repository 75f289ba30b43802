"""Pages of marc.info, as HTML and saved as text.

MARC writes ``ada () example ! org`` for ada@example.org in headers and bodies,
which can be undone, and shows dates in UTC without saying so. What it does to
white space can't (``-- `` loses its blank), so its copies count as rewritten.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.page import (
    body_text,
    broken_lines,
    decode_page,
    html_of,
    is_html,
    link_labelled,
    page_mail,
    soup_of,
)

_LABEL = re.compile(
    r"(List|Subject|From|Date|Message-ID|To|Cc|In-Reply-To|References):[ \t]+(.*)\Z", re.I
)
_DOWNLOAD = "[Download RAW"
_FOOTER = re.compile(r"\s{0,8}\[prev in list\]")
#: ``user () host ! tld``: the name and each part of the host are one word.
_ADDRESS = re.compile(r"([\w.+=/~#%&'*-]{1,80}) \(\) ([\w-]{1,63}(?: ! [\w-]{1,63}){1,8})")


#: What a page says of itself and of its neighbours, and the texts of the links that say it.
_LINKS = (
    ("url", "Download RAW"),
    ("thread-prev", "prev in thread"),
    ("thread-next", "next in thread"),
)


def looks_like_marc_text(head: bytes) -> bool:
    """Whether HEAD is a MARC page saved as text: its labels, then the download link."""
    if b"[Download RAW" not in head[:4000] and b" () " not in head[:2000]:
        return False
    labels: list[str] = []
    for line in decode_page(head[:4000]).split("\n")[:12]:
        match = _LABEL.match(line[:1000])
        if match is None:
            if labels or line.strip():
                break
            continue
        labels.append(match[1].lower())
    return "list" in labels and "subject" in labels


def looks_like_marc_html(head: bytes) -> bool:
    """Whether HEAD is a message page of marc.info."""
    return is_html(head) and b"Download RAW" in head and b"List:" in head


def unmask(text: str) -> str:
    """TEXT with ``user () host ! tld`` as addresses again."""
    if " () " not in text:
        return text
    return _ADDRESS.sub(lambda found: f"{found[1]}@{found[2].replace(' ! ', '.')}", text)


def read_marc_text(raw: Raw) -> Mail:
    """The mail of a page saved as text; hint ``list``."""
    return _mail(decode_page(raw.data).split("\n"))


def read_marc_html(raw: Raw) -> Mail:
    """The mail of a page; hints ``list``, ``url``, ``thread-prev``, ``thread-next``."""
    text, defects = html_of(raw)
    soup = soup_of(broken_lines(text))
    pre = soup.find("pre") or soup
    mail = _mail(pre.get_text().split("\n"))
    mail.defects += defects
    for hint, label in _LINKS:
        link = link_labelled(text, label)
        url = _page(link[0]) if link is not None else None
        if url is not None:
            mail.hints[hint] = url
    return mail


def _page(href: str) -> str | None:
    """The page that a link of MARC's leads to: its list and number are all that matters."""
    query = parse_qs(href[:1000].partition("?")[2])
    lists, numbers = query.get("l", []), query.get("m", [])
    if not lists or not numbers or not numbers[0].isdigit():
        return None
    return "https://marc.info/?" + urlencode({"l": lists[0], "m": numbers[0]})


def _mail(lines: list[str]) -> Mail:
    headers: list[tuple[str, str]] = []
    hints: dict[str, str] = {}
    at = 0
    for at, line in enumerate(lines):
        if line.lstrip().startswith(_DOWNLOAD):
            at += 1
            break
        match = _LABEL.match(line.lstrip()[:2000])
        if match is None:
            if headers and not line.strip():
                break
            continue
        name, value = match[1], unmask(one_line(match[2]))
        if name.lower() == "list":
            hints["list"] = value
        elif name.lower() == "message-id":
            headers.append((name, value if value.startswith("<") else f"<{value}>"))
        else:
            headers.append((name, value))
    body = lines[at:]
    for number in range(len(body) - 1, max(len(body) - 20, -1), -1):
        if _FOOTER.match(body[number]) is not None:
            body = body[:number]
            break
    return page_mail(headers, unmask(body_text(body)), hints=hints)

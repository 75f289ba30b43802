"""Index pages of archives, of a day or month, by date or by thread: no mail, but its order.

Single pages of these archives have no References header. What an index adds:

* openwall: the order of a day (``<li><a href="7">…``);
* pipermail by thread: nested lists, and in comments the Message-IDs of all
  that are above (``<!--1 01686207965/a@example.org-01686208000/b@example.org -->``);
* MHonArc by thread: nested lists of ``<a name="00012" href="msg00012.html">``.

A page of public-inbox that shows a message or a thread holds an index, too:
its thread overview, with links to all mails of the thread.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Literal
from urllib.parse import unquote

from patchlore.ingest.headers import one_line
from patchlore.ingest.sources import mhonarc, openwall, pipermail
from patchlore.ingest.sources.items import Listed, Listing, Part, Problem
from patchlore.ingest.sources.links import listed_key
from patchlore.ingest.sources.page import HTML_LIMIT, decode_page, plain_text
from patchlore.ingest.sources.window import Window

#: More mails than this has no page; what is beyond is left out.
ENTRY_LIMIT = 100_000
#: Deeper than mail is ever answered.
_DEPTH_LIMIT = 1000

_TOKEN = re.compile(
    r"<(?P<close>/)?(?:ul|ol|dl)\b[^<>]{0,200}>"
    r"|<!--(?P<level>\d{1,4}) (?=\d{1,16}/)"
    r"|<a\b(?P<tag>[^<>]{1,3000})>",
    re.I,
)
_HREF = re.compile(r"\bhref=[\"']?([^\"'<>\s]{1,2000})", re.I)
_MESSAGE_LINK = re.compile(
    r"(?:(?:\.\./){0,9}\d{1,6}(?:/\d{1,6}){0,3}/?"
    r"|(?!thrd|mail(?:list|index)|index|date|thread|subject|author)[^/?#]{0,60}\d{2,9}\.html?)\Z"
)
_PIPERMAIL_ID = re.compile(r"(?:\A|-)\d{8,16}/")
_SENDER = re.compile(
    r"</a>\s{0,40}(?:</(?:b|strong|a)>|,|&nbsp;|<a name=[^<>]{1,80}>|\s){0,8}"
    r"(?:<(?:i|em)>([^<>]{1,300})|([^<>\n]{1,300}))",
    re.I,
)
_COMMENT_END = re.compile("-->")
_CLOSE = re.compile(r"</a", re.I)
_TITLE = re.compile(r"<title>([^<>]{0,500})</title>", re.I)
_BY = re.compile(
    r"\bby (thread|date|subject|author)\b|\b(thread|date|subject|author) index\b", re.I
)
_OPENWALL = re.compile(
    r"([a-z0-9][\w.-]{1,60})(?: mailing list)? - \d{4}(?:/\d\d)?(/\d\d)?\Z", re.I
)
#: Pipermail's chain of the ids above a mail is not longer.
_CHAIN = 20_000
_SUBJECT = 4000
#: A line of public-inbox's overview: date, depth in blanks and a back tick, then a link or text.
_OVERVIEW = re.compile(r"(\d{4}-\d\d-\d\d {1,2}\d{1,2}:\d\d) ( {0,400})(` )?(.{0,6000})\Z", re.S)


def looks_like_index(head: bytes) -> bool:
    """Whether HEAD is a page that lists an archive's messages and holds none."""
    return (
        openwall.looks_like_openwall_index(head)
        or pipermail.looks_like_pipermail_index(head)
        or mhonarc.looks_like_mhonarc_index(head)
    )


def split_index(window: Window, path: str, list_name: str | None = None) -> Iterator[Part]:
    """The listing of an index page; none of one that lists no messages (of years, of lists)."""
    if window.fill(HTML_LIMIT + 1):
        text = f"{path}: the page is larger than {HTML_LIMIT >> 20} MiB; the rest is left out."
        yield Problem(path, HTML_LIMIT, text)
    listing = read_index(decode_page(bytes(window.data[:HTML_LIMIT])), path, list_name)
    if listing.entries:
        yield listing


def read_index(text: str, path: str, list_name: str | None = None) -> Listing:
    """What the index page TEXT, saved at PATH, lists; never raises."""
    title = _TITLE.search(text[:20_000])
    shown = one_line(html.unescape(title[1])) if title is not None else ""
    named = _OPENWALL.match(shown)
    list_name = list_name or (named[1] if named is not None else None)
    if named is not None and named[2] is None:
        return Listing(path=path, list=list_name)  # of a month: its links are days
    by = _BY.search(shown)
    order: Literal["thread", "date", "subject", "author"] = "date"
    word = (by[1] or by[2]).lower() if by is not None else "date"
    if word == "thread":
        order = "thread"
    elif word == "subject":
        order = "subject"
    elif word == "author":
        order = "author"
    return Listing(
        path=path,
        list=list_name,
        order=order,
        entries=tuple(with_parents(_entries(text, path), threaded=order == "thread")),
    )


class _Next:
    """Where something is next in a text; asked with rising places, it looks at each only once."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._at = -1

    def after(self, place: int) -> int:
        """The first match at or after PLACE; the text's end where there is none."""
        if self._at < place:
            match = self._pattern.search(self._text, place)
            self._at = match.start() if match is not None else len(self._text)
        return self._at


def _entries(text: str, path: str) -> Iterator[Listed]:
    """Each link to a message, with how deep it is in lists."""
    ends_of_comments, ends_of_links = _Next(_COMMENT_END, text), _Next(_CLOSE, text)
    depth, floor = 0, None
    level: int | None = None
    identifier: str | None = None
    for count, token in enumerate(_TOKEN.finditer(text)):
        if count > 4 * ENTRY_LIMIT:
            return
        if token["level"] is not None:
            stop = ends_of_comments.after(token.end())
            chain = text[token.end() : stop] if stop - token.end() <= _CHAIN else ""
            level, identifier = int(token["level"]), _last_id(chain)
        elif token["tag"] is None:
            depth = max(depth + (-1 if token["close"] else 1), 0)
        else:
            href = _HREF.search(token["tag"])
            if href is None or _MESSAGE_LINK.match(html.unescape(href[1])) is None:
                continue
            floor = depth if floor is None else min(floor, depth)
            close = ends_of_links.after(token.end())
            has_text = close - token.end() <= _SUBJECT
            sender = _SENDER.match(text, close) if has_text else None
            subject = text[token.end() : close] if has_text else ""
            yield Listed(
                url=listed_key(path, html.unescape(href[1])),
                message_id=identifier,
                depth=min(level if level is not None else depth - floor, _DEPTH_LIMIT),
                subject=one_line(plain_text(subject)) or None,
                sender=_name(sender),
            )
            level, identifier = None, None


def _last_id(chain: str) -> str | None:
    """The Message-ID at the end of pipermail's chain of ``DATE/ID-DATE/ID- ``.

    Mailman writes a thread's first mail with a ``-`` behind it.
    """
    starts = [match.end() for match in _PIPERMAIL_ID.finditer(chain)]
    last = html.unescape(chain[starts[-1] :]).strip() if starts else ""
    last = last.removesuffix("-").strip()
    return unquote(last) if "@" in last else None


def _name(match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    name = one_line(html.unescape(match[1] or match[2] or "")).strip(" ,")
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1].strip()
    return name or None


def with_parents(entries: Iterable[Listed], *, threaded: bool) -> Iterator[Listed]:
    """ENTRIES with the place of the one that each answers: the last above it that is less deep."""
    above: list[tuple[int, int]] = []
    for place, entry in enumerate(entries):
        if place >= ENTRY_LIMIT:
            return
        if not threaded:
            yield Listed(
                url=entry.url,
                message_id=entry.message_id,
                subject=entry.subject,
                sender=entry.sender,
            )
            continue
        while above and above[-1][0] >= entry.depth:
            above.pop()
        yield Listed(
            url=entry.url,
            message_id=entry.message_id,
            depth=entry.depth,
            parent=above[-1][1] if above else None,
            subject=entry.subject,
            sender=entry.sender,
        )
        above.append((entry.depth, place))


def read_overview(text: str, path: str, own: str | None) -> Listing:
    """The thread overview on a message's page of public-inbox; OWN is that message's id.

    ``2023-06-08  7:06   ` <a href="../b@example.org/">Re: lamp</a> Ole Brandt``
    """
    begin = text.rfind("Thread overview:")
    entries: list[Listed] = []
    if begin >= 0:
        stop = text.find("</pre", begin)
        block = text[begin : stop if stop >= 0 else len(text)]
        # public-inbox breaks lines inside its tags; dates are not in them.
        for line in re.split(r"\n(?=\d{4}-\d\d-\d\d )", block)[1 : ENTRY_LIMIT + 1]:
            match = _OVERVIEW.match(line[:8000])
            if match is None:
                continue
            depth = len(match[2]) // 2 + 1 if match[3] else 0
            href = _HREF.search(match[4])
            identifier = own if href is None or "[this message]" in match[4] else None
            if href is not None:
                parts = [part for part in html.unescape(href[1]).split("/") if part]
                linked = unquote(parts[-1]) if parts else ""
                identifier = linked if "@" in linked else identifier
            subject = one_line(plain_text(match[4].partition("</")[0])) or None
            entries.append(
                Listed(message_id=identifier, depth=min(depth, _DEPTH_LIMIT), subject=subject)
            )
    return Listing(path=path, order="thread", entries=tuple(with_parents(entries, threaded=True)))

"""Patchwork's HTML pages: a patch or cover with its comments, and lists of patches.

What a page shows is put into objects as the REST API has them, one for the
patch or cover and one for each comment, so that both have one reader
(patchwork_json.py). The page hides all headers of the patch's mail; of a
comment it shows a name, a minute and the text, no Message-ID.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from patchlore.ingest.headers import one_line
from patchlore.ingest.raw import Fidelity, Raw, Source
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.page import HTML_LIMIT, decode_page, is_html, plain_text
from patchlore.ingest.sources.window import Window

_META = re.compile(rb"<table[^<>]{0,200} class=\"?patch-?meta\b")
_LIST = re.compile(rb"<table[^<>]{0,300} class=\"?[^\">]{0,80}\bpatch-?list\b")
_HEADING = re.compile(r"<h1[^<>]{0,100}>", re.I)
_TABLE = re.compile(r"<table[^<>]{0,200} class=\"?patch-?meta\b[^<>]{0,200}>", re.I)
_SUBMISSION_ID = re.compile(r"data-submission-id=\"?(\d{1,18})|/patch/(\d{1,18})/(?:mbox|raw)/")
_HEADERS = re.compile(r"<div id=\"?patch-?headers\b[^<>]{0,200}>\s{0,200}<pre[^<>]{0,80}>", re.I)
_CONTENT = re.compile(r"<pre class=\"?content\b[^<>]{0,80}>\n?", re.I)
_PAGE_END = re.compile(r"\n[ ]{0,8}\Z")
_COMMENT = re.compile(r"<div class=\"?(?:submission-message|comment)\"?[^<>]{0,80}>", re.I)
_PATCH = re.compile(r"<div id=\"?patch\"? [^<>]{0,80}>", re.I)
_DATE = re.compile(
    r"([A-Z][a-z]{2,8})\.? (\d{1,2}), (\d{4}), (?:(\d{1,2})(?::(\d\d))? ([ap])\.?m\.?"
    r"|(noon|midnight))"
)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_SERIES = re.compile(r"[?&](?:amp;)?series=(\d{1,18})")
_MESSAGE = re.compile(r"/(?:patch|cover)/([^/\"?#]{1,900})/?(?:[?#]|\Z)")
_LINK = re.compile(r"<a [^<>]{0,200}?href=\"([^\"]{1,2000})\"[^<>]{0,200}>", re.I)
_CHECKS = re.compile(r"<table class=\"?checks\b[^<>]{0,80}>", re.I)
_LIST_LIMIT = 10_000
_COMMENT_LIMIT = 5_000
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def looks_like_patchwork_html(head: bytes) -> bool:
    """Whether HEAD is a page of a patch, a cover or a list of patches."""
    return is_html(head) and (_META.search(head) is not None or _LIST.search(head) is not None)


def split_patchwork_html(
    window: Window, path: str, list_name: str | None = None
) -> Iterator[Raw | Problem]:
    """The patch or cover of a page, then its comments; or a summary for each line of a list."""
    if window.fill(HTML_LIMIT + 1):
        yield Problem(
            path,
            HTML_LIMIT,
            f"{path}: the page is larger than {HTML_LIMIT >> 20} MiB; the rest is left out. "
            "Fetch the patch as a mbox.",
        )
    text = decode_page(bytes(window.data[:HTML_LIMIT]))
    found = 0
    for value, fidelity in _objects(text):
        found += 1
        data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
        source = Source(
            path=path,
            format="patchwork-html",
            offset=found - 1,
            fidelity=fidelity,
            list=list_name,
        )
        yield Raw(data=data, source=source)
    if not found:
        yield Problem(path, 0, f"{path}: there is no patch on this page of patchwork.", "no-mail")


def _objects(text: str) -> Iterator[tuple[dict[str, Any], Fidelity]]:
    table = _TABLE.search(text)
    if table is None:
        for row in _listed(text):
            yield row, "flattened"
        return
    end = _end(text, "</table", table.end(), len(text))
    main = _meta(text[table.start() : end])
    heading = _HEADING.search(text)
    if heading is not None:
        stop = _end(text, "</h1", heading.end(), heading.end())
        main["name"] = one_line(plain_text(text[heading.end() : stop][:2000]))
    number = _SUBMISSION_ID.search(text)
    if number is not None:
        main["id"] = int(number[1] or number[2])
    main["checks"] = _checks(text, end)
    patch = _PATCH.search(text, end)
    body_end = patch.start() if patch is not None else len(text)
    starts = [match.start() for match in _COMMENT.finditer(text, end, body_end)]
    starts = [*starts[:_COMMENT_LIMIT], body_end]
    blocks = [text[start:stop] for start, stop in pairwise(starts)]
    comments = [_comment(block) for block in blocks]
    if comments:
        main = {**comments[0], **main}
    if patch is not None:
        main["diff"] = _content(text, patch.end())
    yield main, "rewritten"
    for number_of, comment in enumerate(comments[1:], 1):
        comment["comment"] = True
        comment["parent"] = main.get("msgid", "")
        comment["name"] = main.get("name", "")
        comment["number"] = number_of
        yield comment, "rewritten"


def _end(text: str, mark: str, start: int, otherwise: int) -> int:
    found = text.find(mark, start)
    return found if found >= 0 else otherwise


def _content(text: str, start: int) -> str:
    """The text of the first ``<pre class="content">`` at or after START."""
    begin = _CONTENT.search(text, start)
    if begin is None:
        return ""
    shown = plain_text(text[begin.end() : _end(text, "</pre", begin.end(), len(text))])
    # The page's own line end; a last line of the diff may be a blank and nothing else.
    return _PAGE_END.sub("", shown)


def _meta(table: str) -> dict[str, Any]:
    """What the table of a patch's page says, named as in the API."""
    value: dict[str, Any] = {}
    hidden = _HEADERS.search(table)
    if hidden is not None:
        stop = _end(table, "</pre", hidden.end(), len(table))
        value["headers"] = plain_text(table[hidden.end() : stop])
        table = table[: hidden.start()] + table[stop:]
    for row in table.split("<th")[1:200]:
        label, _, cell = row.partition("</th")
        label = one_line(plain_text("<th" + label)).rstrip(":").lower()
        shown = one_line(plain_text("</th" + cell))
        if label == "message id":
            value["msgid"] = (shown.split() or [""])[0].strip("<>")
        elif label == "state":
            state, _, rest = shown.partition(",")
            value["state"] = state.strip()
            value["archived"] = rest.strip() == "archived"
        elif label == "commit":
            value["commit_ref"] = shown
        elif label == "delegated to":
            value["delegate"] = {"username": shown}
        elif label == "series":
            number = _SERIES.search(cell)
            name = one_line(
                plain_text(cell.partition("<a")[2].partition(">")[2].partition("</a")[0])
            )
            if number is not None:
                value["series"] = [{"id": int(number[1]), "name": name}]
        elif label == "related":
            value["related"] = _messages(cell)
    return value


def _messages(markup: str) -> list[str]:
    """The Message-IDs of the patches that MARKUP links."""
    links = (_MESSAGE.search(html.unescape(link[1])) for link in _LINK.finditer(markup))
    return [unquote(link[1]) for link in links if link is not None and "@" in unquote(link[1])]


def _checks(text: str, start: int) -> list[dict[str, Any]]:
    table = _CHECKS.search(text, start)
    if table is None:
        return []
    rows = text[table.end() : _end(text, "</table", table.end(), len(text))].split("<tr")[1:1000]
    checks = []
    for row in rows:
        cells = ["<td" + cell for cell in row.split("<td")[1:]]
        if len(cells) < 3:
            continue
        link = _LINK.search(cells[2])
        checks.append(
            {
                "context": one_line(plain_text(cells[0])),
                "state": one_line(plain_text(cells[1])),
                "description": one_line(plain_text(cells[2])),
                "target_url": html.unescape(link[1]) if link is not None else None,
            }
        )
    return checks


def _comment(block: str) -> dict[str, Any]:
    """A block of text below its line with name and date."""
    begin = _CONTENT.search(block)
    meta = block[: begin.start()] if begin is not None else block
    name = one_line(plain_text(meta.partition("<a ")[2].partition(">")[2].partition("</a")[0]))
    return {
        "submitter": {"name": name},
        "date": _date(plain_text(meta)) or "",
        "content": _content(block, 0),
    }


def _date(text: str) -> str | None:
    """The date in TEXT: ``June 8, 2023, 9:06 a.m. UTC`` or ISO, as ISO in UTC."""
    iso = _ISO_DATE.search(text)
    if iso is not None:
        return iso[0] if len(iso[0]) > 10 else f"{iso[0]} 00:00:00"
    found = _DATE.search(text)
    if found is None or found[1][:3].lower() not in _MONTHS:
        return None
    month = _MONTHS.index(found[1][:3].lower()) + 1
    hour = 12 if found[7] == "noon" else 0
    if found[4]:
        hour = int(found[4]) % 12 + (12 if found[6] == "p" else 0)
    return f"{found[3]}-{month:02}-{int(found[2]):02} {hour:02}:{found[5] or '00'}:00"


def _listed(text: str) -> Iterator[dict[str, Any]]:
    """A summary for each line of a list of patches; its dates have no time."""
    for row in text.split("<tr")[1:_LIST_LIMIT]:
        if 'id="patch-row:' not in row[:300] and "/patch/" not in row[:20_000]:
            continue
        cells = ["<td" + cell for cell in row.split("<td")[1:40]]
        links = [(cell, _messages(cell)) for cell in cells]
        named = [(at, cell, ids[0]) for at, (cell, ids) in enumerate(links) if ids]
        if not named:
            continue
        at, cell, identifier = named[0]
        number = re.search(r"patch-(?:row|name):(\d{1,18})", row[:1000])
        value: dict[str, Any] = {"msgid": identifier, "name": one_line(plain_text(cell))}
        if number is not None:
            value["id"] = int(number[1])
        rest = [one_line(plain_text(other)) for other in cells[at + 1 :]]
        dated = [place for place, shown in enumerate(rest) if _ISO_DATE.fullmatch(shown)]
        series = _SERIES.search("".join(cells[at + 1 : at + 2]))
        if series is not None:
            value["series"] = [{"id": int(series[1]), "name": rest[0]}]
        if dated:
            value["date"] = f"{rest[dated[0]]} 00:00:00"
            after = rest[dated[0] + 1 :]
            value["submitter"] = {"name": after[0] if after else ""}
            value["state"] = after[2] if len(after) > 2 else ""
            value["delegate"] = {"username": after[1] if len(after) > 1 else ""}
        yield value

"""URLs: those of tags, those that close a report, all others, and the Message-IDs they carry."""

from __future__ import annotations

import re
from urllib.parse import unquote

from patchlore.ingest.addresses import is_masked
from patchlore.ingest.facts.context import Context, Line

_URL = re.compile(r"(?:https?|ftp|git)://[^\s<>\"'`\\^{}|\x00-\x1f]{3,1000}")
_LINK_TAG = re.compile(
    r"[ \t]{0,2}(link|buglink|bug-link|bugzilla|references?|discussion|url|patchwork|thread|bug)"
    r"[ \t]*:[ \t]*<?(?=(?:https?|ftp)://)",
    re.I,
)
#: First letters of the tags here.
_TAG_HEADS = frozenset("lbrduptcfLBRDUPTCF")
_CLOSES = re.compile(r"[ \t]{0,2}closes[ \t]*:[ \t]*(?:<?((?:https?|ftp)://\S+)|(#\d+))", re.I)
_FIXES_URL = re.compile(r"[ \t]{0,2}fixes[ \t]*:[ \t]*<?((?:https?|ftp)://\S+)", re.I)
_ARCHIVE_ID = re.compile(r"/(?:r/|all/|[\w.+-]+/)*(?:id:|msgid/|mid/)?([^/?#\s]+@[^/?#\s]+)")
_TRAILING = ".,;:!?'\""


def clean_url(url: str) -> str:
    """A URL without the punctuation of the sentence around it and without mail damage.

    ``…id=3D82365`` is left-over quoted-printable; a closing bracket belongs
    to the URL only if it was opened there.
    """
    url = url.replace("=3D", "=")
    while url:
        last = url[-1]
        if (
            last in _TRAILING
            or last == ">"
            or (last == ")" and url.count("(") < url.count(")"))
            or (last == "]" and url.count("[") < url.count("]"))
        ):
            url = url[:-1]
        else:
            break
    return url


def urls_in(line: str) -> list[str]:
    """The URLs of a line, cleaned, in order."""
    if "://" not in line:
        return []
    return [clean_url(found) for found in _URL.findall(line)]


def message_id_of(url: str) -> str | None:
    """The Message-ID that an archive's URL carries, percent-decoded; None if none or masked."""
    if "@" not in url and "%40" not in url:
        return None
    path = url.split("://", 1)[-1]
    _host, _, path = path.partition("/")
    match = _ARCHIVE_ID.match("/" + path.replace("%40", "@"))
    if match is None:
        return None
    mid = unquote(match[1]).strip("<>")
    return None if is_masked(mid) or "\x00" in mid else mid


def find(context: Context) -> None:
    """Fill ``links``, ``closes``, ``fixes_urls``, ``urls`` and the ids that they carry."""
    if not context.words.any("://", "closes"):
        return
    message = context.message
    tagged: set[str] = set()
    notes = {index for index, _ in context.layout.notes} if message.is_patch else set()
    for index, line in _tag_region(context):
        if ("://" not in line and "#" not in line) or index in notes:
            continue
        if line.lstrip(" \t")[:1] not in _TAG_HEADS:
            continue
        closes = _CLOSES.match(line)
        fixes = None if closes else _FIXES_URL.match(line)
        if closes:
            value = clean_url(closes[1]) if closes[1] else closes[2]
            message.closes.append(value)
            tagged.add(value)
            context.note("closes", value, index, "closes-tag")
        elif fixes:
            value = clean_url(fixes[1])
            message.fixes_urls.append(value)
            tagged.add(value)
            context.note("fixes_urls", value, index, "fixes-url")
        elif _LINK_TAG.match(line):
            for value in urls_in(line)[:1]:
                message.links.append(value)
                message.link_message_ids.append(message_id_of(value))
                tagged.add(value)
                context.note("links", value, index, "link-tag")
    if message.is_patch:
        for index, line in context.layout.notes:
            if _LINK_TAG.match(line):
                for value in urls_in(line)[:1]:
                    message.links_after_cut.append(value)
                    context.note("links_after_cut", value, index, "below-cut", confidence="high")
    _find_other_urls(context, tagged)


def _tag_region(context: Context) -> list[Line]:
    """Where tags count: the commit message, else the author's own text."""
    return context.message_lines or ([] if context.message.is_patch else context.own_lines)


def _find_other_urls(context: Context, tagged: set[str]) -> None:
    message = context.message
    urls: dict[str, None] = {}
    ids: dict[str, int] = {}
    for index, line in context.own_lines:
        for url in urls_in(line):
            if url not in tagged and url not in urls:
                urls[url] = None
                context.note("urls", url, index, "url", text=url)
            mid = message_id_of(url)
            if mid is not None and mid not in ids:
                ids[mid] = index
    message.urls = list(urls)
    message.mentioned_message_ids = list(ids)
    for mid, index in ids.items():
        context.note("mentioned_message_ids", mid, index, "archive-url")

"""What the readers of archive pages share: text of bytes, header blocks, masks."""

from __future__ import annotations

import html
import re
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from patchlore.ingest.errors import Defect
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.message import Attachment
from patchlore.ingest.raw import Raw

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, PageElement

#: Pages are small: a long quotation has some thousand tags. What is beyond is
#: left out, since building a tree costs 10 µs and 500 bytes a tag.
TAG_LIMIT = 20_000
DEPTH_LIMIT = 200
HTML_LIMIT = 1 << 23
LINE_CAP = 4000
#: A header block of a page is not longer: more are somebody's joke.
_HEADER_LINES = 2000

_DECLARED = re.compile(rb"charset\s{0,4}=\s{0,4}[\"']?([A-Za-z0-9][\w.:-]{1,40})", re.I)
_HTML = re.compile(
    rb"\s{0,200}(?:<\?xml[^>]{0,200}\?>\s{0,200})?"
    rb"<(?:!--|(?:!doctype\s{1,9}html|html|head|title|body|pre|meta)\b)",
    re.I,
)

#: Header names that an archive's page shows, in lower case.
SHOWN_HEADERS = frozenset(
    [
        "message-id",
        "date",
        "from",
        "to",
        "cc",
        "bcc",
        "subject",
        "in-reply-to",
        "references",
        "reply-to",
        "sender",
        "list-id",
        "x-mailing-list",
        "organization",
        "user-agent",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
    ]
)
_SHOWN = re.compile(r"([A-Za-z][A-Za-z-]{1,30})[ \t]{0,3}:(?:[ \t]|$)")


def is_html(head: bytes) -> bool:
    """Whether HEAD is the start of an HTML page."""
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    return _HTML.match(head) is not None


def decode_page(data: bytes) -> str:
    """The text of a page's bytes with LF line ends: UTF-8 if it is, else as declared.

    What pages declare is often what a list's web server was set up with, not
    what a mail's bytes are; valid UTF-8 is hardly ever anything else.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    declared = _DECLARED.search(data[:4096])
    name = declared[1].decode("ascii").lower() if declared else ""
    if name.startswith(("iso-2022", "hz", "utf-16", "utf-7")) or not _is_utf8(data):
        name = {
            "": "cp1252",
            "us-ascii": "cp1252",
            "ascii": "cp1252",
            "utf-8": "cp1252",
            "iso-8859-1": "cp1252",
            "latin1": "cp1252",
            "gb2312": "gb18030",
            "gbk": "gb18030",
        }.get(name, name)
        try:
            text = data.decode(name, "replace")
        except (LookupError, ValueError):
            text = data.decode("cp1252", "replace")
    else:
        text = data.decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_HIDDEN_ADDRESS = re.compile(
    r"<(?:a|span)\s[^<>]{0,300}?data-cfemail=\"([0-9a-f]{4,400})\"[^<>]{0,100}>[^<>]{0,60}</(?:a|span)>"
)


def _addresses_shown(text: str) -> str:
    """TEXT with the addresses that Cloudflare hides (``[email protected]``) in their places.

    The first octet of what stands in hexadecimal was put on all others by XOR.
    """
    if "data-cfemail" not in text:
        return text

    def shown(match: re.Match[str]) -> str:
        octets = bytes.fromhex(match[1][: len(match[1]) & ~1])
        return html.escape(
            bytes(octet ^ octets[0] for octet in octets[1:]).decode("utf-8", "replace")
        )

    return _HIDDEN_ADDRESS.sub(shown, text)


def html_of(raw: Raw) -> tuple[str, list[Defect]]:
    """The text of an HTML page, and a defect when the page is too large and was cut."""
    text = _addresses_shown(decode_page(raw.data))
    cut = text[:HTML_LIMIT]
    if cut.count("<") > TAG_LIMIT:
        cut = "<".join(cut.split("<", TAG_LIMIT)[:-1])
    if len(cut) == len(text):
        return text, []
    return cut, [Defect("page-too-large", 0, f"{len(text) - len(cut)} characters were left out")]


def soup_of(text: str) -> BeautifulSoup:
    """TEXT parsed as HTML, without bs4's warnings about markup that looks like a file name.

    Tags nested deeper than DEPTH_LIMIT are left out, their text is not: bs4
    looks at all tags around a text when it puts it in its place, which took
    minutes for a page of 10,000 ``<pre>`` that nobody closes.
    """
    from bs4 import BeautifulSoup

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BeautifulSoup(text.replace("\x00", "\ufffd"), builder=_shallow_builder())


@cache
def _shallow_builder() -> type[Any]:
    """bs4's tree builder on lxml, with DEPTH_LIMIT; made late, since bs4 is slow to import."""
    from bs4.builder._lxml import LXMLTreeBuilder

    class Shallow(LXMLTreeBuilder):
        """lxml tells of the end of each tag that began, so that those left out can be counted."""

        left_out = 0

        def start(self, tag: Any, attrs: Any, nsmap: Any = {}) -> None:  # noqa: B006 # as bs4 has it
            if self.left_out or len(self.soup.tagStack) > DEPTH_LIMIT:
                self.left_out += 1
            else:
                super().start(tag, attrs, nsmap)

        def end(self, name: Any) -> None:
            if self.left_out:
                self.left_out -= 1
            else:
                super().end(name)

    return Shallow


_BREAK = re.compile(r"<br\s{0,4}/?>", re.I)
_BLOCK = re.compile(r"(</(?:p|div|li|ul|tr|h[1-6]|dd|dt|blockquote)>|<(?:hr|li|p)\b)", re.I)


def broken_lines(markup: str, *, blocks: bool = False) -> str:
    """MARKUP with a line end for each ``<br>``, and with BLOCKS at the borders of blocks.

    Done in the source, since changing a tree of many tags takes time that is
    quadratic in their number.
    """
    markup = _BREAK.sub("\n", markup)
    return _BLOCK.sub(r"\n\1", markup) if blocks else markup


_TAG = re.compile(r"<[^<>]{0,4000}>")


def plain_text(markup: str) -> str:
    """The text of MARKUP in which every ``<`` begins a tag or is escaped.

    For what a program wrote line by line (a diff with a tag a line may have
    ten thousands of them); a tree would cost a hundred times as much.
    """
    return html.unescape(_TAG.sub("", markup)).replace("\x00", "\ufffd")


_HREF = re.compile(r"\bhref=[\"']?([^\"'<>\s]{1,2000})", re.I)


def link_labelled(markup: str, label: str, start: int = 0) -> tuple[str, int] | None:
    """The target of the first link in MARKUP whose text begins with LABEL, and where LABEL stands.

    Public-inbox and others write links without quotes and with line ends in
    their tags (``<a\\nhref="../lamp-1@example.org/">permalink</a>``).
    """
    at = markup.find(f">{label}", start)
    while at >= 0:
        begin = markup.rfind("<", max(at - 3000, 0), at)
        found = _HREF.search(markup, begin, at) if begin >= 0 else None
        if found is not None and markup[begin + 1 : begin + 2] in "aA":
            return html.unescape(found[1]), at + 1
        at = markup.find(f">{label}", at + 1)
    return None


def text_of(tag: PageElement | None) -> str:
    """The text below TAG; empty for None."""
    return tag.get_text() if tag is not None else ""


def header_block(lines: list[str], start: int) -> tuple[list[tuple[str, str]], int]:
    """The headers from line START on, unfolded, and the line after the empty one that ends them.

    Only names that archives show count, so that a body that follows without an
    empty line is not taken for headers.
    """
    headers: list[tuple[str, str]] = []
    at = start
    while at < min(len(lines), start + _HEADER_LINES):
        line = lines[at]
        if not line.strip():
            at += 1
            break
        match = _SHOWN.match(line[:LINE_CAP])
        if match is not None and match[1].lower() in SHOWN_HEADERS:
            headers.append((match[1], line[match.end() :].strip()))
        elif line[:1] in " \t" and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {line.strip()}".strip())
        else:
            break
        at += 1
    return headers, at


def find_header_block(lines: list[str], start: int, stop: int) -> int | None:
    """The line where a block of at least two shown headers, one of them From or Subject, begins."""
    for at in range(start, min(stop, len(lines))):
        match = _SHOWN.match(lines[at][:LINE_CAP])
        if match is None or match[1].lower() not in SHOWN_HEADERS:
            continue
        names = {name.lower() for name, _ in header_block(lines, at)[0]}
        if len(names) >= 2 and names & {"from", "subject"}:
            return at
    return None


def body_text(lines: list[str]) -> str:
    """LINES as a body: no empty lines around it, one line end behind it.

    A last line of one blank stays: it is the context of a diff's last hunk.
    """
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and lines[end - 1] != " " and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end]) + "\n" if end > start else ""


def page_mail(
    headers: list[tuple[str, str]],
    body: str,
    *,
    attachments: list[Attachment] | None = None,
    hints: dict[str, str] | None = None,
    defects: list[Defect] | None = None,
    flat: bool = False,
) -> Mail:
    """A Mail with one part of text."""
    return Mail(
        headers=headers,
        parts=[TextPart(text=body)],
        attachments=attachments or [],
        hints=hints or {},
        defects=defects or [],
        flat=flat,
    )


_PATCH_NAME = re.compile(r"\.(?:patch|diff|mbox)(?:\.txt)?\Z", re.I)
_PATCH_TYPE = re.compile(r"\btext/x-(?:patch|diff)\b|/x-(?:patch|diff)\b", re.I)


def attachment(
    filename: str | None, content_type: str | None, size: int | None, href: str | None = None
) -> Attachment:
    """An attachment that a page names; a patch by its name or type, since its text is not here."""
    return Attachment(
        filename=filename or None,
        content_type=content_type or None,
        size=size,
        href=href,
        is_patch=bool(
            (filename and _PATCH_NAME.search(filename[-200:]))
            or (content_type and _PATCH_TYPE.search(content_type[:200]))
        ),
    )

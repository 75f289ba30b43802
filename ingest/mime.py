"""A mail's bytes to ``Mail``: parts found, transfer encodings and charsets undone.

Most patch mail is one text part and takes a short path; everything else goes
through the standard library's parser. A test holds both equal.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from functools import lru_cache

from patchlore.ingest.charset import decode
from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.errors import Defect
from patchlore.ingest.headers import HeaderBlock, read_header_block
from patchlore.ingest.html_text import html_to_text
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.message import Attachment
from patchlore.ingest.multipart import Leaf, plain_leaves
from patchlore.ingest.multipart_library import parsed_parts
from patchlore.ingest.raw import Raw, Source

#: More MIME parts than this are an attack, not a mail: it is read as text.
MAX_PARTS = 1000
#: And so are multiparts within multiparts.
MAX_MULTIPARTS = 100
#: A line of so many characters is told of; no fact is sought in lines that long.
LONG_LINE = 1 << 20
#: Characters of text that are read of a mail: twice the largest patch that lists
#: carry, and each costs ten times its size while facts are found.
MAX_TEXT = 1 << 24
#: And lines, which cost some microseconds each.
MAX_LINES = 300_000
TEXT_CUT = "text-too-long"
_BOUNDARY = re.compile(rb'boundary[ \t]{0,4}=[ \t]{0,4}"?([^"\s;]{1,200})', re.I)
_PARAMETER = re.compile(r';[ \t]*([\w*-]+)[ \t]*=[ \t]*("[^"]*"|[^;\s]*)')
_TYPE = re.compile(r"[ \t]*([\w.+-]+/[\w.+-]+)")
_DIFF_SIGN = re.compile(
    rb"^(?:diff --git |diff --cc |Index: .*\n=====|--- .*\n\+\+\+ |\*\*\* .*\n--- )", re.M
)
_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")
#: The defect of a patch with a blank line below each line.
DOUBLE_SPACED = "double-spaced"
_IDENTITY = frozenset({"", "7bit", "8bit", "binary"})


def read_mail(raw: Raw) -> Mail:
    """Decode a mail as sent; never raises, whatever the bytes are."""
    data = raw.data
    if b"\n" not in data and b"\r" in data:  # the line ends of old Macs
        data = data.replace(b"\r", b"\n")
    first_line = data.find(b"\n")
    if first_line > 0 and data[first_line - 1] == 13:  # CRLF: the transport's line ends
        data = data.replace(b"\r\n", b"\n")
    block = read_header_block(data)
    mail = Mail(headers=block.fields, defects=block.defects)
    if block.envelope:
        mail.hints["envelope"] = block.envelope
    content_type, parameters = parse_content_type(mail.get("content-type"))
    body = data[block.body_start :]
    if content_type.startswith("text/") and content_type != "text/html":
        _add_single_part(mail, body, content_type, parameters)
    elif _has_too_many_parts(body, parameters.get("boundary", "")):
        mail.defects.append(Defect("too-many-parts", text=f"more than {MAX_PARTS} MIME parts"))
        _add_single_part(mail, body, "text/plain", parameters)
    else:
        _add_parts(mail, data, block, raw.source)
    if len(data) > MAX_LINES:
        cut_long_text(mail)
    if any("\x00" in part.text for part in mail.parts):
        mail.defects.append(Defect("nul-bytes"))
        for part in mail.parts:
            part.text = part.text.replace("\x00", "�")
    return mail


def cut_long_text(mail: Mail) -> None:
    """Leave out what is beyond MAX_TEXT and MAX_LINES; tell of that and of long lines."""
    characters, lines = MAX_TEXT, MAX_LINES
    for part in mail.parts:
        text = part.text[:characters]
        if text.count("\n") > lines:
            text = "\n".join([*text.split("\n", lines)[:lines], ""])
        if len(text) < len(part.text):
            cut = len(part.text) - len(text)
            mail.defects.append(Defect(TEXT_CUT, text=f"{cut} characters were left out"))
            part.text, part.data = text, b""
        characters -= len(text)
        lines -= text.count("\n")
        longest = max(map(len, text.split("\n")))
        if longest > LONG_LINE:
            mail.defects.append(Defect("line-too-long", text=f"{longest} characters"))


def _has_too_many_parts(body: bytes, boundary: str) -> bool:
    """Are there more parts in BODY than a mail has? A part needs no header of its own."""
    lowered = body.lower()
    if lowered.count(b"content-type:") > MAX_PARTS:
        return True
    if lowered.count(b"boundary") <= MAX_MULTIPARTS and body.count(b"\n--") <= MAX_PARTS:
        return False
    inner = {match[1] for match in _BOUNDARY.finditer(body)}
    if len(inner) > MAX_MULTIPARTS:
        return True
    if body.count(b"\n--") <= MAX_PARTS:  # the lines of a diff may begin so, too
        return False
    inner.add(boundary.encode("utf-8", "replace"))
    return sum(body.count(b"\n--" + line) for line in inner if line) > MAX_PARTS


def parse_content_type(value: str | None) -> tuple[str, Mapping[str, str]]:
    """The type and the parameters of a Content-Type field; text/plain when it has none."""
    return _content_type_of(value[:4000]) if value else ("text/plain", {})


@lru_cache(maxsize=256)
def _content_type_of(value: str) -> tuple[str, dict[str, str]]:
    match = _TYPE.match(value)
    kind = match[1].lower() if match else "text/plain"
    parameters = {name.lower(): text.strip('"') for name, text in _PARAMETER.findall(value)}
    return kind, parameters


def looks_like_diff(data: bytes) -> bool:
    """Does a diff stand in DATA, as far as its shape tells?"""
    lines = b"\n" + data
    if b"\ndiff --git " in lines or b"\ndiff --cc " in lines:
        return True
    if not (b"\n--- " in lines or b"\n=====" in lines):
        return False
    return _DIFF_SIGN.search(data) is not None


def _add_single_part(
    mail: Mail, body: bytes, content_type: str, parameters: Mapping[str, str]
) -> None:
    encoding = (mail.get("content-transfer-encoding") or "").strip().lower()
    octets = _undo_transfer_encoding(body, encoding, mail)
    part = _text_part(octets, parameters.get("charset"), content_type, mail)
    disposition = mail.get("content-disposition") or ""
    if content_type != "text/plain" or disposition.lower().startswith("attachment"):
        named = dict(_PARAMETER.findall(";" + disposition.partition(";")[2]))
        part.filename = named.get("filename", parameters.get("name", "")).strip('"') or None
    if parameters.get("format", "").lower() == "flowed":
        mail.format_flowed = True
        part.text = unflow(part.text, parameters.get("delsp", "").lower() == "yes")
        part.data = b""
    mail.parts.append(part)


def _undo_transfer_encoding(body: bytes, encoding: str, mail: Mail) -> bytes:
    """RFC 2045 section 6; an unknown encoding counts as 8bit."""
    if encoding in _IDENTITY:
        return body
    if encoding == "quoted-printable":
        return binascii.a2b_qp(body)
    if encoding == "base64":
        octets = lenient_base64(body)
        if octets is not None:
            return octets
        mail.defects.append(Defect("bad-base64"))
        return body
    mail.defects.append(Defect("unknown-transfer-encoding", text=encoding[:80]))
    return body


def lenient_base64(body: bytes) -> bytes | None:
    """Decode base64 in which lines of a list's footer may stand; None if there is none.

    Lists append their plain footer to an encoded body; decoding stops at the
    first line that is not of the alphabet.
    """
    text = body.translate(None, b" \t\r\n")
    rest = b""
    if not _BASE64.fullmatch(text):
        good: list[bytes] = []
        lines = body.split(b"\n")
        for number, line in enumerate(lines):
            line = line.strip()
            if line and not _BASE64.fullmatch(line):
                rest = b"\n".join(lines[number:])
                break
            good.append(line)
        text = b"".join(good)
    if not text:
        return None
    octets = b"".join(map(_whole_base64, text.split(b"=")))
    if rest.strip():
        octets = octets.rstrip(b"\n") + b"\n" + rest
    return octets


def _whole_base64(text: bytes) -> bytes:
    """Decode base64 without its padding; pieces that were encoded one by one each end with some."""
    if len(text) % 4 == 1:
        text = text[:-1]
    return binascii.a2b_base64(text + b"=" * (-len(text) % 4))


def _text_part(octets: bytes, charset: str | None, content_type: str, mail: Mail) -> TextPart:
    if b"\r\n" in octets and octets.count(b"\r\n") == octets.count(b"\n"):
        octets = octets.replace(b"\r\n", b"\n")
    text, used, defect = decode(octets, charset)
    if defect and octets:
        mail.defects.append(Defect(defect, text=(charset or "")[:40]))
    sought = octets if used in ("ascii", "utf-8") else text.encode("utf-8", "replace")
    if b"\n\nindex " in sought or b"\n\n@@ -" in sought:
        single = single_spaced(text)
        if single is not None:
            mail.defects.append(Defect(DOUBLE_SPACED))
            return TextPart(text=single, content_type=content_type)
    return TextPart(text=text, data=octets, charset=used, content_type=content_type)


def single_spaced(text: str) -> str | None:
    """TEXT without every second line where all of those are blank; None elsewhere.

    Outlook sends a blank line below each line of a patch.
    """
    lines = text.rstrip("\n").split("\n")
    if len(lines) < 10 or any(line.strip() for line in lines[1::2]):
        return None
    return "\n".join(lines[::2]) + "\n"


def unflow(text: str, delete_space: bool) -> str:
    """Join the soft line breaks of format=flowed (RFC 3676) as git mailinfo does.

    Quoted lines keep their breaks: they are somebody else's and quote marks
    would land inside the lines.
    """
    out: list[str] = []
    pending = ""
    for line in text.split("\n"):
        if line == "-- ":
            if pending:
                out.append(pending)
                pending = ""
            out.append(line)
            continue
        if line.startswith(">"):
            if pending:
                out.append(pending)
                pending = ""
            out.append(line)
            continue
        if line.startswith(" "):
            line = line[1:]
        if line.endswith(" "):
            pending += line[:-1] if delete_space else line
            continue
        out.append(pending + line)
        pending = ""
    if pending:
        out.append(pending)
    return "\n".join(out)


def _add_parts(mail: Mail, data: bytes, block: HeaderBlock, source: Source) -> None:
    """Read the parts of a multipart (or of an attachment alone)."""
    htmls: list[TextPart] = []
    leaves = None
    if block.envelope is None and not block.defects:
        leaves = plain_leaves(data[: block.body_start - 1], data[block.body_start :])
    if leaves is not None:
        for leaf in leaves:
            _add_leaf(mail, leaf, htmls)
    else:
        parts = parsed_parts(
            data if block.envelope is None else data[data.index(b"\n") + 1 :], source
        )
        if isinstance(parts, Defect):
            mail.defects.append(parts)
            _add_single_part(mail, data[block.body_start :], "text/plain", {})
            return
        for part in parts:
            if isinstance(part, Leaf):
                _add_leaf(mail, part, htmls)
            elif isinstance(part, Raw):
                mail.nested.append(part)
            else:
                mail.defects.append(part)
    if htmls and not any(part.text.strip() for part in mail.parts):
        mail.defects.append(Defect("html-only"))
        for html in htmls:
            text = html_to_text(html.text)
            mail.parts.append(TextPart(text=text, content_type=html.content_type))


def _add_leaf(mail: Mail, part: Leaf, htmls: list[TextPart]) -> None:
    content_type = part.content_type
    filename = _plain_filename(part.filename)
    octets = _undo_transfer_encoding(part.payload, part.encoding, mail)
    attached = part.disposition.startswith("attachment") or filename is not None
    is_diff = looks_like_diff(octets)
    as_text = content_type.startswith("text/") and content_type != "text/html"
    if attached or not content_type.startswith("text/"):
        mail.attachments.append(
            Attachment(
                filename=filename,
                content_type=content_type,
                size=len(octets),
                is_patch=is_diff or content_type in ("text/x-patch", "text/x-diff"),
            )
        )
    # "application/mbox", "application/x-patch": whatever the label, a diff is text.
    if as_text or (is_diff and content_type != "text/html" and b"\x00" not in octets):
        text = _text_part(octets, part.charset, content_type, mail)
        text.filename, text.is_attachment = filename, attached
        if part.format == "flowed" and not attached:
            mail.format_flowed = True
            text.text = unflow(text.text, part.delsp == "yes")
            text.data = b""
        mail.parts.append(text)
    elif content_type == "text/html" and not attached:
        htmls.append(_text_part(octets, part.charset, content_type, mail))


def _plain_filename(name: str | None) -> str | None:
    """A file's name decoded, in one line; None for an empty one."""
    if not name:
        return None
    text = decode_words(name).replace("\x00", "")
    text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split()) or None

"""The header block of a mail: where it ends, which fields it has, what they say."""

from __future__ import annotations

import re

from msgspec import Struct

from patchlore.ingest.charset import decode_loosely
from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.errors import Defect

#: Fields that facts are made from; DKIM, ARC and the like are most of a
#: header block on lists and are never decoded.
_WANTED = frozenset(
    b"message-id in-reply-to references subject from to cc date received list-id mailing-list"
    b" content-type content-transfer-encoding content-disposition mime-version sender"
    b" x-original-from x-mailing-list x-stable x-stable-base x-change-id x-for-patch-id"
    b" x-mbox-line".split()
)
_WANTED_FAMILIES = (b"x-patchwork-", b"x-kernel-test-", b"x-gnu-pr-", b"x-git-")
#: RFC 5322 section 2.2; a blank before the colon is the obsolete syntax of section 4.5.
_NAME = re.compile(rb"[!-9;-~]+[ \t]*")
_FOLD = re.compile(r"[ \t\r]*\n[ \t\r\n]*")
_ADDRESS_FIELDS = frozenset({"from", "to", "cc", "sender", "x-original-from"})
_ENVELOPE = re.compile(rb">?From [^\n]*\n")
_BLANK = re.compile(r"\s+")
_ID = re.compile(r"<([^<>]*)>")


class HeaderBlock(Struct):
    """The fields that matter, decoded; where the body begins; the mbox "From " line above."""

    fields: list[tuple[str, str]]
    body_start: int
    envelope: str | None
    defects: list[Defect]


def read_header_block(data: bytes) -> HeaderBlock:
    """Find and decode the header block at the start of DATA (LF line ends).

    It ends at the first blank line, or at the first line that can't be a
    field: a diff right below the headers must not be eaten as one. A "From "
    line above (an mbox separator kept in the file, or ``>From `` left by
    nested mailers) is passed over. Never raises.
    """
    defects: list[Defect] = []
    start = 0
    envelope = None
    match = _ENVELOPE.match(data)
    if match:
        envelope = decode_loosely(match[0].lstrip(b">")).rstrip("\n")
        start = match.end()
    end = data.find(b"\n\n", start)
    if data.startswith(b"\n", start):
        block, body_start = b"", start + 1
    elif end < 0:
        block, body_start = data[start:], len(data)
    else:
        block, body_start = data[start : end + 1], end + 2
    fields, end = _read_fields(block)
    if end < len(block):
        body_start = start + end
        defects.append(Defect("no-blank-line-after-headers"))
    return HeaderBlock(fields, body_start, envelope, defects)


def _read_fields(block: bytes) -> tuple[list[tuple[str, str]], int]:
    """The wanted fields of a header block, and where its first line that is none begins."""
    fields: list[tuple[str, str]] = []
    offset = 0
    pending: list[bytes] | None = None
    name = b""
    for line in block.split(b"\n"):
        if line[:1] in (b" ", b"\t"):
            if pending is not None:
                pending.append(line)
        elif line:
            head, colon, value = line.partition(b":")
            if not colon or _NAME.fullmatch(head) is None:
                break
            if pending is not None:
                fields.append(_field(name, pending))
            name = head.rstrip()
            lowered = name.lower()
            wanted = lowered in _WANTED or lowered.startswith(_WANTED_FAMILIES)
            pending = [value] if wanted else None
        offset += len(line) + 1
    if pending is not None:
        fields.append(_field(name, pending))
    return fields, min(offset, len(block))


def _field(name: bytes, lines: list[bytes]) -> tuple[str, str]:
    key = name.decode("ascii")
    return key, decode_field(key, lines[0] if len(lines) == 1 else b"\n".join(lines))


def decode_field(name: str, value: bytes) -> str:
    """A field's VALUE, unfolded and with its encoded words decoded."""
    text = value.decode("ascii") if value.isascii() else decode_loosely(value)
    if "\n" in text:
        text = _FOLD.sub(" ", text)
    if "=?" in text:
        text = decode_words(text, in_address=name.lower() in _ADDRESS_FIELDS)
    if "\x00" in text:
        text = text.replace("\x00", "�")
    return text.strip()


def one_line(text: str) -> str:
    """Every run of white space as one space, as git mailinfo does to a subject."""
    return _BLANK.sub(" ", text).strip()


def message_ids(value: str | None) -> list[str]:
    """The ids of a References or In-Reply-To field, in order, each once."""
    if not value:
        return []
    found = ("".join(match.split()) for match in _ID.findall(value))
    return list(dict.fromkeys(mid for mid in found if mid))


def message_id(value: str | None) -> str | None:
    """The id of a Message-ID field; one without brackets ends at the first blank."""
    if not value or not value.strip():
        return None
    ids = message_ids(value)
    if ids:
        return ids[0]
    word = value.split()[0].strip("<>")
    return word or None

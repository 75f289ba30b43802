"""The header block of a mail: where it ends, which fields it has, what they say."""

from __future__ import annotations

import re
from itertools import chain

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
    b" x-mbox-line git-commit alt-commit patch-mainline".split()
)
_FAMILIES = (b"x-patchwork-", b"x-kernel-test-", b"x-gnu-pr-", b"x-git-", b"x-bugzilla-")
_WANTED_NAMES = frozenset(name.decode("ascii") for name in _WANTED)
_NAMES = tuple(name.decode("ascii") for name in _FAMILIES)
_FOLDS = (b" ", b"\t")
#: A field as it should be: its name, then colon and value with the lines that continue it.
_FIELD = re.compile(r"^([!-9;-~]+)([ \t]*:.*(?:\n[ \t].*)*\n)", re.M)
#: A line that neither starts a field (RFC 5322 section 2.2) nor continues one.
_NO_FIELD = re.compile(rb"\n(?![!-9;-~]+[ \t]*:|[ \t])")
#: Octets of a field's value that are read, and fields: what is beyond is no mail's.
#: Lists of people and of Message-IDs are the only fields that grow.
MAX_VALUE = 1 << 15
MAX_LIST = 1 << 20
MAX_FIELDS = 2000
MAX_OF_A_NAME = 100
_LISTS = frozenset({"to", "cc", "references"})
_ADDRESS_FIELDS = frozenset({"from", "to", "cc", "sender", "x-original-from"})
_ENVELOPE = re.compile(rb">?From [^\n]*\n")
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
    fields = _plain_fields(block)
    if fields is not None:
        return HeaderBlock(fields, body_start, envelope, defects)
    lowered = block.lower()
    stray = _NO_FIELD.search(b"\n" + lowered)
    if stray is not None and stray.start() < len(block):
        block, lowered = block[: stray.start()], lowered[: stray.start()]
        body_start = start + stray.start()
        defects.append(Defect("no-blank-line-after-headers"))
    return HeaderBlock(_read_fields(block, lowered, defects), body_start, envelope, defects)


def _plain_fields(block: bytes) -> list[tuple[str, str]] | None:
    """The wanted fields of a block that is nothing but fields of usual size; None of another one.

    Most of a block is DKIM, ARC and the like: those are never decoded. A test
    holds this equal to ``_read_fields``.
    """
    if len(block) > MAX_LIST:
        return None
    found = _FIELD.findall(block.decode("latin-1"))
    if len(found) > MAX_FIELDS or sum(map(len, chain.from_iterable(found))) != len(block):
        return None
    fields: list[tuple[str, str]] = []
    for name, rest in found:
        lowered = name.lower()
        if lowered in _WANTED_NAMES or (lowered[:2] == "x-" and lowered.startswith(_NAMES)):
            if len(rest) > MAX_VALUE:
                return None
            value = rest[1:] if rest[0] == ":" else rest[rest.index(":") + 1 :]
            if not value.isascii():
                value = decode_loosely(value.encode("latin-1"))
            value = value.strip()
            if "\n" in value or "=?" in value or "\x00" in value:
                value = unfold(name, value)
            fields.append((name, value))
    return fields


def _read_fields(block: bytes, lowered: bytes, defects: list[Defect]) -> list[tuple[str, str]]:
    """The wanted fields of a header block, in order; LOWERED is it in lower case.

    Most of a block is DKIM, ARC and the like: those are passed over line by
    line and never decoded.
    """
    found: list[tuple[int, int, int]] = []
    # "Subject : x" is the obsolete syntax of RFC 5322 section 4.5.
    spaced = b" :" in lowered or b"\t:" in lowered
    at = colon = -1
    position = 0
    for line in lowered.split(b"\n"):
        if line[:1] not in _FOLDS:
            if at >= 0:
                found.append((at, colon, position - 1))
            head = line.partition(b":")[0]
            name = head.rstrip() if spaced else head
            if name in _WANTED or (name[:2] == b"x-" and name.startswith(_FAMILIES)):
                at, colon = position, position + len(head) + 1
            else:
                at = -1
        position += len(line) + 1
    if at >= 0:
        found.append((at, colon, len(block)))
    if len(found) > MAX_FIELDS:
        defects.append(Defect("too-many-headers", text=f"{len(found)} fields"))
        found = _first_of_each(lowered, found)
    text = block.decode("ascii") if block.isascii() else None
    fields = []
    for at, colon, end in found:
        key = block[at : colon - 1].rstrip().decode("ascii", "replace")
        if end - colon > MAX_VALUE:
            colon, end = _cut(key, colon, end, defects)
        value = decode_loosely(block[colon:end]) if text is None else text[colon:end]
        fields.append((key, unfold(key, value)))
    return fields


def _first_of_each(lowered: bytes, found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The first fields of each name: what mail that loops heaps up are Received lines."""
    counts: dict[bytes, int] = {}
    kept = []
    for at, colon, end in found:
        name = lowered[at : colon - 1].rstrip()
        counts[name] = counts.get(name, 0) + 1
        if counts[name] <= MAX_OF_A_NAME:
            kept.append((at, colon, end))
    return kept[:MAX_FIELDS]


def _cut(name: str, start: int, end: int, defects: list[Defect]) -> tuple[int, int]:
    """From where to where a value is read that is longer than a mail's."""
    lowered = name.lower()
    limit = MAX_LIST if lowered in _LISTS else MAX_VALUE
    if end - start <= limit:
        return start, end
    text = f"{name[:60]}: {end - start} octets"
    defects.append(Defect("header-too-long", text=text))
    # The last of the References is what a mail answers to.
    return (end - limit, end) if lowered == "references" else (start, start + limit)


def unfold(name: str, text: str) -> str:
    """The value of the field NAME from its lines: unfolded, encoded words decoded."""
    text = text.strip()
    if "\n" in text:
        # RFC 5322 section 2.2.3; the white space of a fold becomes one blank.
        text = " ".join([line.strip(" \t\r") for line in text.split("\n")])
    if "=?" in text:
        text = decode_words(text, in_address=name.lower() in _ADDRESS_FIELDS)
    if "\x00" in text:
        text = text.replace("\x00", "�")
    return text.strip()


def one_line(text: str) -> str:
    """Every run of white space as one space, as git mailinfo does to a subject."""
    return " ".join(text.split())


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

"""RFC 2047 encoded words in headers, read as leniently as mail readers do.

The standard library raises on or leaves raw what is common on lists: a
character cut between two words, missing base64 padding, a word glued to a
bracket (``[PATCH]=?utf-8?B?…?=``).
"""

from __future__ import annotations

import binascii
import re

from patchlore.ingest.charset import decode

_WORD = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]{1,20})?\?([bBqQ])\?([^?]{0,2000})\?=")
_SPECIALS = frozenset('()<>@,;:\\"[]')


def decode_words(value: str, *, in_address: bool = False) -> str:
    """Replace the encoded words of a header VALUE by their text.

    Octets of neighbouring words with the same charset are joined before
    decoding (RFC 2047 section 6.2 tells to drop the space between them). With
    IN_ADDRESS a decoded text that holds specials is quoted, so that a comma in
    a name can't split an address list.
    """
    if "=?" not in value:
        return value
    out: list[str] = []
    pending: list[bytes] = []
    charset = ""
    end = 0

    def flush() -> None:
        if pending:
            text = decode(b"".join(pending), charset)[0].replace("\x00", "�")
            text = text.replace("\r", " ").replace("\n", " ")
            if in_address and not _SPECIALS.isdisjoint(text):
                text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
            out.append(text)
            pending.clear()

    for match in _WORD.finditer(value):
        octets = _octets(match[2], match[3])
        if octets is None:
            continue
        between = value[end : match.start()]
        if between.strip() or not pending:
            flush()
            out.append(between)
        elif match[1].lower() != charset:
            flush()
        charset = match[1].lower()
        pending.append(octets)
        end = match.end()
    flush()
    out.append(value[end:])
    return "".join(out)


def _octets(encoding: str, text: str) -> bytes | None:
    """The octets of one word's text; None where it is no encoded text at all."""
    try:
        data = text.encode("ascii")
    except UnicodeEncodeError:
        return None
    if encoding in "qQ":
        return binascii.a2b_qp(data, header=True)
    clean = re.sub(rb"[^A-Za-z0-9+/]", b"", data)
    if len(clean) % 4 == 1:
        clean = clean[:-1]
    try:
        return binascii.a2b_base64(clean + b"=" * (-len(clean) % 4))
    except binascii.Error:
        return None

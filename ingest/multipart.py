"""``Leaf``: a part of a multipart mail, and the short path to the parts of a regular one.

Nine multiparts in ten have nothing but plain fields, boundaries that open and
close, and parts that are no mails themselves. Those are cut apart here, in a
thirtieth of the standard library's time; of anything else ``plain_leaves``
returns None, and the library reads it. A test holds both equal.
"""

from __future__ import annotations

import re

from msgspec import Struct


class Leaf(Struct, kw_only=True, gc=False):
    """A part that holds something: its fields as they matter, and its octets still encoded."""

    content_type: str = "text/plain"
    charset: str | None = None
    #: Parameters of format=flowed (RFC 3676), in lower case.
    format: str = ""
    delsp: str = ""
    filename: str | None = None
    disposition: str = ""
    encoding: str = ""
    payload: bytes = b""


#: Multiparts within multiparts; deeper ones are no mailer's.
_MAX_DEPTH = 8
_HEADER = re.compile(rb"(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+")
_FIELD = re.compile(rb"^(content-[a-z-]+):((?:[^\n]*\n[ \t])*[^\n]*)\n", re.M | re.I)
_TYPE = re.compile(r"\s*([\w.+-]+/[\w.+-]+)\s*(?:;|\Z)", re.ASCII)
_DISPOSITION = re.compile(r"\s*([\w-]*)\s*(?:;|\Z)", re.ASCII)
#: No continuations and charsets of RFC 2231, no escapes: those are the library's.
_PARAMETER = re.compile(
    r"\s*([\w-]+)\s*=\s*(?:\"([^\"\\\n<>]*)\"|([^\s\"\\;<>()]*))\s*(?:;\s*|\Z)", re.ASCII
)


def plain_leaves(header: bytes, body: bytes) -> list[Leaf] | None:
    """The parts of the mail with the fields HEADER and BODY; None where they are not plain."""
    if b"\r" in body or not _HEADER.fullmatch(header):
        return None
    leaves: list[Leaf] = []
    return leaves if _add_leaves(leaves, header, body, 0) else None


def _add_leaves(leaves: list[Leaf], header: bytes, body: bytes, depth: int) -> bool:
    """Add the parts of one entity to LEAVES; False for one that is not plain."""
    if not header.isascii():
        return False
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(header):
        fields.setdefault(name.decode("ascii").lower(), value.decode("ascii"))
    stated = fields.get("content-type")
    kind = _read_value(stated, _TYPE) if stated is not None else ("text/plain", {})
    disposition = _read_value(fields.get("content-disposition", ""), _DISPOSITION)
    if kind is None or disposition is None:
        return False
    content_type, parameters = kind
    if content_type.startswith("multipart/"):
        boundary = parameters.get("boundary", "")
        if not boundary or " " in boundary or depth == _MAX_DEPTH or "digest" in content_type:
            return False
        return _add_parts(leaves, body, boundary.encode("ascii"), depth)
    if content_type.startswith("message/"):
        return False
    filename = disposition[1].get("filename", parameters.get("name"))
    leaves.append(
        Leaf(
            content_type=content_type,
            charset=parameters.get("charset"),
            format=parameters.get("format", "").lower(),
            delsp=parameters.get("delsp", "").lower(),
            filename=filename,
            disposition=fields.get("content-disposition", "").strip().lower(),
            encoding=fields.get("content-transfer-encoding", "").strip().lower(),
            payload=body,
        )
    )
    return True


def _add_parts(leaves: list[Leaf], body: bytes, boundary: bytes, depth: int) -> bool:
    """Cut BODY at its boundary lines (RFC 2046 section 5.1.1) and read each part."""
    start = -1
    for line in re.finditer(rb"^--%b(--)?[ \t]*$" % re.escape(boundary), body, re.M):
        if start >= 0:
            # The line end above a boundary belongs to it.
            part = body[start : line.start()]
            header_end = 0 if part.startswith(b"\n") else part.find(b"\n\n") + 1
            if not part.startswith(b"\n") and not _HEADER.fullmatch(part, 0, header_end):
                return False
            content = part[header_end + 1 :].removesuffix(b"\n")
            if not _add_leaves(leaves, part[:header_end], content, depth + 1):
                return False
        if line[1]:
            return start >= 0
        start = line.end() + 1
    return False


def _read_value(value: str, head: re.Pattern[str]) -> tuple[str, dict[str, str]] | None:
    """What stands before the parameters of a field, in lower case, and the parameters."""
    match = head.match(value)
    if match is None:
        return None
    position = match.end()
    parameters: dict[str, str] = {}
    while position < len(value):
        found = _PARAMETER.match(value, position)
        if found is None:
            return None
        text = found[2] if found[2] is not None else found[3]
        parameters.setdefault(found[1].lower(), text)
        position = found.end()
    return match[1].lower(), parameters

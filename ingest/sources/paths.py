"""Names of files as text that can be stored and printed, whatever bytes they have."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:\\|x([0-9a-f]{2}))")


def path_text(path: str) -> str:
    r"""A path of the file system as text: bytes that are no UTF-8 stand as ``\xff``.

    Python has such bytes as lone surrogates (PEP 383), which neither a database
    nor a terminal takes.  A path with a backslash before ``x`` is escaped too, so
    that ``path_of_text`` always gives the path back; all others stay as they are.

    >>> path_text("na\udcff.eml")
    'na\\xff.eml'
    """
    if path.isascii() and "\\x" not in path:
        return path
    try:
        data = path.encode("utf-8")
        if "\\x" not in path:
            return path
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogateescape")
    return data.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")


def path_of_text(text: str) -> str:
    r"""The path that ``path_text`` made TEXT of.

    >>> path_of_text("na\\xff.eml") == "na\udcff.eml"
    True
    """
    if "\\x" not in text:
        return text
    data = b""
    end = 0
    for match in _ESCAPE.finditer(text):
        data += text[end : match.start()].encode("utf-8", "surrogateescape")
        data += b"\\" if match[1] is None else bytes([int(match[1], 16)])
        end = match.end()
    return (data + text[end:].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

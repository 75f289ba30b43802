"""Bytes to text: charset labels as people's mailers really write them.

Labels lie. The order of trust: a label that decodes strictly, then UTF-8,
then each line by itself (a list's footer in Latin-1 below a UTF-8 body).
"""

from __future__ import annotations

import codecs
import re

#: A label's superset that the writer meant: Outlook says gb2312 and writes GBK.
_MEANT = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "cp936": "gb18030",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "unicode-1-1-utf-7": "utf-7",
    "iso-8859-8-i": "iso-8859-8",
    "x-mac-roman": "mac-roman",
}
_UTF8 = frozenset({"", "utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968", "unicode-utf-8"})
#: Charsets whose octets look like ASCII and are not.
_STATEFUL = re.compile(r"iso-?2022|utf-?7|utf-?16|utf-?32|ucs|hz", re.ASCII)
#: Python's codecs that are no charsets of mail; some raise whatever the error handler.
_NO_CHARSET = frozenset(
    [
        "idna",
        "punycode",
        "unicode_escape",
        "unicode-escape",
        "raw_unicode_escape",
        "raw-unicode-escape",
        "undefined",
        "mbcs",
        "oem",
    ]
)
_SAFE_LABEL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)


def decode(data: bytes, label: str | None) -> tuple[str, str, str | None]:
    """Decode DATA that is labelled LABEL; never raises.

    Returns the text, the charset that decoded it ("" when lines differ) and
    a defect code, or None when the label was right.
    """
    name = (label or "").strip().strip("'\"").lower()
    if data.isascii() and (name in _UTF8 or not _STATEFUL.search(name)):
        return data.decode("ascii"), "ascii", None
    if name not in _UTF8:
        codec = _codec(name)
        if codec is not None:
            try:
                text = data.decode(codec)
            except (UnicodeError, ValueError):
                pass
            else:
                # "Ã©" is never meant: octets that are UTF-8 under a one-byte label.
                if codec == "cp1252" and not _STATEFUL.search(codec):
                    try:
                        return data.decode("utf-8"), "utf-8", "charset-mislabelled"
                    except UnicodeDecodeError:
                        pass
                return _without_surrogates(text), codec, None
    defect = None if name in _UTF8 else "charset-unknown"
    try:
        return data.decode("utf-8"), "utf-8", defect
    except UnicodeDecodeError:
        pass
    codec = _codec(name) if name not in _UTF8 else None
    if codec is not None and codec != "cp1252":
        text = _without_surrogates(data.decode(codec, "replace"))
        return text, "", "charset-broken"
    return "\n".join(_decode_line(line) for line in data.split(b"\n")), "", "charset-mixed"


def decode_loosely(data: bytes) -> str:
    """Text of raw header octets: UTF-8, else Windows' superset of Latin-1."""
    return _decode_line(data)


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _codec(name: str) -> str | None:
    """The name of the Python text codec for a label, or None."""
    name = _MEANT.get(name, name)
    if not _SAFE_LABEL.fullmatch(name):
        return None
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    if info.name in _NO_CHARSET:
        return None
    # "rot13" or "zlib" as a charset is no text encoding.
    return name if getattr(info, "_is_text_encoding", True) else None


def _without_surrogates(text: str) -> str:
    """UTF-7 and UTF-16 can spell lone surrogates, which no output can carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text

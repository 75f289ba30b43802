"""What the readers of structured documents (JSON, XML) share: bounded loading, tolerant access."""

from __future__ import annotations

import json
import re
from typing import Any

from patchlore.ingest.errors import Defect
from patchlore.ingest.sources.mbox import MAIL_LIMIT
from patchlore.ingest.sources.window import Window

_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def whole_document(window: Window) -> tuple[bytes, str | None]:
    """All bytes of a document, and a sentence when it is too large and was cut."""
    if window.fill(MAIL_LIMIT + 1):
        cut = f"it is larger than {MAIL_LIMIT >> 20} MiB; the rest is left out."
        return bytes(window.data[:MAIL_LIMIT]), cut
    return bytes(window.data), None


def load_json(data: bytes) -> tuple[dict[str, Any], list[Defect]]:
    """The object that DATA holds; an empty one and a defect when it holds none.

    Half of a surrogate pair (``\\ud83d`` cut from its other half) is no
    character and becomes U+FFFD.
    """

    def whole(match: re.Match[bytes]) -> bytes:
        return match[0] if len(match[0]) == 12 else b"\\ufffd"

    text = _SURROGATE.sub(whole, data).decode("utf-8-sig", "replace")
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        return {}, [Defect("json-unreadable", 0, type(error).__name__)]
    if not isinstance(value, dict):
        return {}, [Defect("json-unreadable", 0, "no object")]
    return value, []


def texts(value: object, key: str | None) -> list[str]:
    """The strings of a list; with KEY those under it in a list of objects."""
    if not isinstance(value, list):
        return []
    found = []
    for item in value:
        inner = item.get(key) if key is not None and isinstance(item, dict) else item
        if isinstance(inner, str):
            found.append(inner)
    return found

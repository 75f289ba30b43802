"""Header-like lines at the top of a body: DEP-3 fields, and headers behind a stray blank line."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.text import HEADER, PROSE

_FIELD = re.compile(r"([A-Z][A-Za-z-]{1,40}):[ \t]*(.*)")
#: https://dep-team.pages.debian.net/deps/dep3/
_DEP3 = frozenset(
    "description subject origin author from reviewed-by acked-by last-update forwarded"
    " applied-upstream bug".split()
)
_MAIL = {"message-id": "message_id", "subject": "subject", "from": "from", "date": "date"}


def find(context: Context) -> None:
    """Fill ``dep3`` of a patch that is no mail, ``recovered_headers`` of a mail without its own."""
    message = context.message
    if message.source.format == "patch":
        fields = _fields(context)
        if any(name in fields for name in ("description", "origin", "forwarded", "last-update")):
            message.dep3 = {
                name.replace("-", "_"): value
                for name, value in fields.items()
                if name in _DEP3 or name.startswith("bug-")
            }
            context.note("dep3", ", ".join(message.dep3), 0, "dep3-header")
    elif message.subject is None and message.from_ is None and message.message_id is None:
        found = {_MAIL[name]: value for name, value in _fields(context).items() if name in _MAIL}
        if len(found) >= 2:
            message.recovered_headers = found
            context.note("recovered_headers", ", ".join(found), 0, "below-a-stray-blank-line")


def _fields(context: Context) -> dict[str, str]:
    """``Name: value`` lines from the first line that is not blank on, folds joined."""
    fields: dict[str, str] = {}
    name = ""
    for line, kind in zip(context.text.lines[:200], context.text.kinds, strict=False):
        if not line.strip() and not fields:
            continue
        match = _FIELD.match(line)
        if kind not in (PROSE, HEADER):
            break
        if match:
            name = match[1].lower()
            fields.setdefault(name, match[2].strip()[:1000])
        elif not (name and line[:1] in (" ", "\t")):
            break
    return fields

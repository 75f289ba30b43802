"""What a patch builds on: git format-patch's base lines, b4's change-id, and the like."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.facts.links import message_id_of, urls_in
from patchlore.ingest.message import Dependency
from patchlore.ingest.text import FOREIGN, QUOTED

_LINE = re.compile(
    r"(base-commit|prerequisite-patch-id|prerequisite-change-id|prerequisite-message-id|change-id"
    r"|depends-on|based-on)[ \t]*:[ \t]*(\S.{0,300})",
    re.I,
)
_SIGNS = ("base-commit", "prerequisite-", "change-id", "depends-on", "based-on")
_HEADERS = {
    "x-stable-base": "stable-base",
    "x-for-patch-id": "for-patch-id",
    "x-change-id": "change-id",
}
_ID = re.compile(r"<([^<>\s]{1,200}@[^<>\s]{1,200})>")
_SHA = re.compile(r"([0-9a-f]{7,40})\b")


def find(context: Context) -> None:
    """Fill ``dependencies`` and ``base_commit`` (git-format-patch(1), BASE TREE INFORMATION)."""
    message = context.message
    for header, kind in _HEADERS.items():
        stated = context.fields.get(header, [""])[0]
        if stated:
            message.dependencies.append(Dependency(kind=kind, value=stated))
            context.note("dependencies", f"{kind} {stated}", -1, header, text=stated)
    kinds = context.text.kinds
    for index, line in context.lines_with(*_SIGNS):
        if kinds[index] in (QUOTED, FOREIGN):
            continue
        match = _LINE.match(line)
        if match is None:
            continue
        kind, value = match[1].lower(), match[2].strip()
        if kind == "change-id" and re.match(r"I[0-9a-f]{40}$", value):
            continue  # Gerrit's; a trailer, and no b4 series
        needed = _message_id(value) if kind.endswith(("-on", "-message-id")) else None
        message.dependencies.append(Dependency(kind=kind, value=value, message_id=needed))
        context.note("dependencies", f"{kind} {value}", index, kind)
        sha = _SHA.match(value)
        if kind == "base-commit" and sha and message.base_commit is None:
            message.base_commit = sha[1]
            context.note("base_commit", sha[1], index, "base-commit")


def _message_id(value: str) -> str | None:
    """The mail that VALUE names in angle brackets or by an archive's URL."""
    urls = urls_in(value)
    if urls:
        return message_id_of(urls[0])
    match = _ID.search(value)
    return match[1] if match else None

"""Header-like lines at the top of a body: DEP-3 fields, and headers behind a stray blank line."""

from __future__ import annotations

import re

from patchlore.ingest.addresses import parse_address
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
    """Fill ``dep3`` of a patch that is no mail, ``recovered_headers`` of a mail without its own.

    Notes where in-body headers stand, whose values the layout found.
    """
    message, layout = context.message, context.layout
    if layout.author is not None and message.author is layout.author:
        author = layout.author
        said = author.email or author.email_masked or author.name or ""
        context.note("author", said, layout.author_at, "in-body-from")
    if layout.date_at >= 0 and message.author_date_iso:
        context.note("author_date_iso", message.author_date_iso, layout.date_at, "in-body-date")
    if message.own_commit:
        where = layout.carried_at if layout.carried_commit == message.own_commit else -1
        context.note(
            "own_commit",
            message.own_commit,
            where,
            "format-patch",
            text=None if where >= 0 else message.own_commit,
        )
    if message.patchwork_id is not None:
        number = str(message.patchwork_id)
        context.note("patchwork_id", number, -1, "x-patchwork-id", text=number)
    if message.source.format == "patch":
        fields = _fields(context)
        if any(name in fields for name in ("description", "origin", "forwarded", "last-update")):
            message.dep3 = {
                name.replace("-", "_"): value
                for name, value in fields.items()
                if name in _DEP3 or name.startswith("bug-")
            }
            context.note("dep3", ", ".join(message.dep3), 0, "dep3-header")
        _name_patch(context, fields)
    elif message.subject is None and message.from_ is None and message.message_id is None:
        found = {_MAIL[name]: value for name, value in _fields(context).items() if name in _MAIL}
        if len(found) >= 2:
            message.recovered_headers = found
            context.note("recovered_headers", ", ".join(found), 0, "below-a-stray-blank-line")


def _name_patch(context: Context, fields: dict[str, str]) -> None:
    """Author and title of a patch that is no mail, as its head gives them.

    DEP-3 has Author or From, and Subject or the first line of Description;
    Mercurial comments (hg help export); git show and quilt a message whose
    first line is the title.
    """
    message = context.message
    author = fields.get("author") or fields.get("from")
    title = fields.get("subject") or fields.get("description")
    for index, line in enumerate(context.text.lines[:40]):
        if line.startswith("# User ") and context.text.lines[0].startswith("# HG changeset"):
            author = author or line[7:].strip()
        elif not line.startswith("#") and line.strip():
            if context.text.lines[0].startswith("# HG changeset") and index:
                title = title or line.strip()
            break
    if title is None and context.layout.carried_commit is not None:
        title = next((line for _, line in context.message_lines if line.strip()), None)
    person = parse_address(author[:1000]) if author and message.author is None else None
    if person is not None:
        message.author = person
        context.note("author", author, 0, "patch-head", text=author)
    if title and message.commit_subject is None:
        message.commit_subject = " ".join(title[:1000].split())
        context.note("commit_subject", message.commit_subject, 0, "patch-head", text=title)


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

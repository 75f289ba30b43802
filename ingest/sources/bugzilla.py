"""Bugzilla: XML (``show_bug.cgi?ctype=xml``), REST JSON and pages, as mails.

A bug becomes one mail with its fields as lines, and one for each comment,
which answers it; a history becomes one more. They have no Message-ID, so ids
are made up that no mail can have and that stay the same: ``bug-12345@HOST``,
``bug-12345-c3@HOST``, ``bug-12345-a77@HOST`` and ``bug-12345-history@HOST`` with HOST below
``.invalid`` (RFC 2606). https://bugzilla.readthedocs.io/en/latest/api/
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from patchlore.ingest import dates
from patchlore.ingest.bug import Bug, BugChange
from patchlore.ingest.errors import Defect
from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.message import Attachment
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.documents import load_json, whole_document
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.window import Window

#: Whose bugs a host keeps, as facts/bugs.py names trackers.
TRACKERS = {
    "gcc.gnu.org": "gcc",
    "bugzilla.kernel.org": "kernel",
    "sourceware.org": "sourceware",
    "bugzilla.redhat.com": "redhat",
    "bugzilla.suse.com": "suse",
    "bugzilla.opensuse.org": "suse",
    "bugs.freedesktop.org": "freedesktop",
    "bugs.gentoo.org": "gentoo",
    "bugs.llvm.org": "llvm",
}
_HOST_IN_PATH = re.compile(
    "(" + "|".join(re.escape(host) for host in TRACKERS) + r")(?![\w.-]*\w\.)"
)
_ZONE = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d(?::\d\d)?) ([A-Z]{3,5})\Z")
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_TEXT_LIMIT = 1000
#: End of the ids of records; what stands for the host where that is not known.
_MADE_UP, _NO_HOST = ".invalid", "bugzilla"
#: More comments than any bug has, or more bugs than one answer gives.
_ITEM_LIMIT = 100_000


class Note(msgspec.Struct, kw_only=True):
    """What one mail is made of, in the form in which a splitter hands it to the reader."""

    kind: str
    bug: Bug
    #: Of an attachment that no comment came with.
    attachment_id: int | None = None
    name: str | None = None
    email: str | None = None
    when: str | None = None
    text: str = ""
    attachments: list[dict[str, Any]] = []


def looks_like_bugzilla_xml(head: bytes) -> bool:
    """Whether HEAD begins Bugzilla's XML."""
    return b"<bugzilla " in head[:1000] and b"<?xml" in head[:200]


def looks_like_bugzilla_json(head: bytes) -> bool:
    """Whether HEAD begins an answer of ``/rest/bug``: bugs, comments or history."""
    start = head[:4000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{") or b'"bugs"' not in start:
        return False
    signs = (b'"creation_time"', b'"history"', b'"bug_status"', b'"comments"', b'"is_open"')
    return any(sign in head for sign in signs)


def split_bugzilla_xml(window: Window, path: str, list_name: str | None) -> Iterator[Raw | Problem]:
    """The mails of an XML document of one or more bugs."""
    from patchlore.ingest.sources.bugzilla_xml import notes_of_xml

    data, cut = whole_document(window)
    notes, trouble = notes_of_xml(data)
    yield from _raws(notes, path, list_name, "bugzilla-xml")
    yield from _problems(path, cut, trouble, bool(notes))


def split_bugzilla_json(
    window: Window, path: str, list_name: str | None
) -> Iterator[Raw | Problem]:
    """The mails of an answer of the REST interface."""
    data, cut = whole_document(window)
    record, defects = load_json(data)
    host = _host_of_path(path)
    notes = list(_notes_of_json(record, host))[:_ITEM_LIMIT]
    yield from _raws(notes, path, list_name, "bugzilla-json")
    trouble = f"its JSON can't be read ({defects[0].text})" if defects else None
    yield from _problems(path, cut, trouble, bool(notes))


def split_bugzilla_html(
    window: Window, path: str, list_name: str | None
) -> Iterator[Raw | Problem]:
    """The mails of a bug's page, or of its history's."""
    from patchlore.ingest.sources.bugzilla_html import notes_of_page

    data, cut = whole_document(window)
    source = Source(path=path, format="bugzilla-html", list=list_name)
    notes, trouble = notes_of_page(Raw(data=data, source=source), _host_of_path(path))
    yield from _raws(notes, path, list_name, "bugzilla-html")
    yield from _problems(path, cut, trouble, bool(notes))


def _raws(notes: list[Note], path: str, list_name: str | None, form: str) -> Iterator[Raw]:
    """A Raw for each note; its number in the document finds it again there."""
    for number, note in enumerate(notes):
        source = Source(path=path, format=form, offset=number, fidelity="rewritten", list=list_name)
        yield Raw(data=msgspec.json.encode(note), source=source)


def _problems(path: str, cut: str | None, trouble: str | None, found: bool) -> Iterator[Problem]:
    if cut:
        yield Problem(path, 0, f"{path}: {cut}")
    if trouble:
        yield Problem(path, 0, f"{path}: {trouble}.")
    elif not found:
        text = f"{path}: it is of a Bugzilla, but there is no bug or comment in it."
        yield Problem(path, 0, text, "no-mail")


def _host_of_path(path: str) -> str | None:
    """The tracker whose name a mirrored answer's path has: ``…/gcc.gnu.org/bugzilla/…``."""
    found = _HOST_IN_PATH.search(path[-_TEXT_LIMIT:])
    return found[1] if found else None


def host_of_url(url: str | None) -> str | None:
    """The host of a tracker's URL, in lower case."""
    try:
        host = urlsplit(url or "").hostname
    except ValueError:
        return None
    return host if host and re.fullmatch(r"[a-z0-9.-]{3,200}", host) else None


def is_record_id(message_id: str) -> bool:
    """Whether MESSAGE_ID is one that was made up here, for a record of a tracker that is known.

    Titles change while a bug lives: all that is under such an id is one record.
    """
    return (
        message_id.startswith("bug-")
        and message_id.endswith(_MADE_UP)
        and not message_id.endswith(f"@{_NO_HOST}{_MADE_UP}")
    )


def new_bug(number: int, host: str | None, product: str | None = None) -> Bug:
    """A bug of the tracker at HOST; GCC's is known by its only product, too."""
    if host is None and product == "gcc":
        host = "gcc.gnu.org"
    return Bug(number=number, host=host, tracker=TRACKERS.get(host or "", host), product=product)


def moment(text: object) -> str | None:
    """A tracker's date as ISO 8601, or None; a named zone is understood as in mail."""
    if not isinstance(text, str):
        return None
    text = one_line(text)[:100]
    zone = _ZONE.match(text)
    if zone is not None and 1 <= int(zone[2]) <= 12:
        month = _MONTHS[int(zone[2]) - 1]
        named = dates.parse_date(f"{zone[3]} {month} {zone[1]} {zone[4]} {zone[5]}")
        if named is not None:
            return named.isoformat()
    date = dates.parse_date(text)
    return date.isoformat() if date else None


def words(value: object) -> list[str]:
    """``10.1.0, 9.3.0`` or a list of strings as a list."""
    if isinstance(value, list):
        return [one_line(item)[:_TEXT_LIMIT] for item in value if isinstance(item, str) and item]
    if isinstance(value, str):
        return re.split(r"[,\s]+", value.strip())[:200] if value.strip() else []
    return []


def number_of(value: object) -> int | None:
    """A bug's number, from whatever holds it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 1 << 40 else None
    text = str(value).strip() if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def field(value: object) -> str | None:
    """A field's text on one line; None for an empty one and for Bugzilla's ``---``."""
    if not isinstance(value, str):
        return None
    text = one_line(value)[:_TEXT_LIMIT]
    return None if text in ("", "---") else text


def _notes_of_json(record: dict[str, Any], host: str | None) -> Iterator[Note]:
    bugs = record.get("bugs")
    if isinstance(bugs, list):
        for item in bugs:
            if isinstance(item, dict) and (number := number_of(item.get("id"))) is not None:
                if isinstance(item.get("history"), list):
                    yield _history(number, item["history"], host)
                else:
                    yield _bug(number, item, host)
    elif isinstance(bugs, dict):
        for name, item in bugs.items():
            number = number_of(name)
            if number is not None and isinstance(item, list):
                yield from _attached(number, item, host)
            comments = item.get("comments") if isinstance(item, dict) else None
            if number is not None and isinstance(comments, list):
                yield from _comments(number, comments, host)


def _bug(number: int, item: dict[str, Any], host: str | None) -> Note:
    bug = new_bug(number, host, field(item.get("product")))
    bug.title = field(item.get("summary"))
    bug.component = field(item.get("component"))
    bug.version = field(item.get("version"))
    bug.status = field(item.get("status"))
    bug.resolution = field(item.get("resolution"))
    bug.severity = field(item.get("severity"))
    bug.known_to_work = words(item.get("cf_known_to_work"))
    bug.known_to_fail = words(item.get("cf_known_to_fail"))
    bug.target_milestone = field(item.get("target_milestone"))
    bug.created = moment(item.get("creation_time"))
    bug.changed = moment(item.get("last_change_time"))
    bug.assignee = field(item.get("assigned_to"))
    bug.keywords = words(item.get("keywords"))
    bug.see_also = words(item.get("see_also"))
    bug.depends = _numbers(item.get("depends_on"))
    bug.blocks = _numbers(item.get("blocks"))
    bug.duplicate_of = number_of(item.get("dupe_of"))
    name, email = _person(item.get("creator"), item.get("creator_detail"))
    return Note(kind="bug", bug=bug, name=name, email=email, when=bug.created)


def _numbers(value: object) -> list[int]:
    if not isinstance(value, list):
        return []
    return [number for item in value if (number := number_of(item)) is not None]


def _person(login: object, detail: object) -> tuple[str | None, str | None]:
    """Name and address; logins without a host are those of a tracker that hides it."""
    known = detail if isinstance(detail, dict) else {}
    return field(known.get("real_name")), field(known.get("email")) or field(login)


def _comments(number: int, items: list[Any], host: str | None) -> Iterator[Note]:
    for place, item in enumerate(items[:_ITEM_LIMIT]):
        if not isinstance(item, dict):
            continue
        count = number_of(item.get("count"))
        bug = new_bug(number, host)
        bug.comment = place if count is None else count
        text = item.get("text")
        yield Note(
            kind="comment",
            bug=bug,
            email=field(item.get("creator")) or field(item.get("author")),
            when=moment(item.get("creation_time")) or moment(item.get("time")),
            text=text if isinstance(text, str) else "",
        )


def _attached(number: int, items: list[Any], host: str | None) -> Iterator[Note]:
    """The attachments of a bug, as ``/rest/bug/N/attachment`` gives them, each a note."""
    for item in items[:_ITEM_LIMIT]:
        if isinstance(item, dict) and (id_ := number_of(item.get("id"))) is not None:
            attachment = {
                "name": item.get("file_name"),
                "type": item.get("content_type"),
                "size": item.get("size"),
                "patch": item.get("is_patch") in (True, 1),
                "data": item.get("data"),
            }
            obsolete = "obsolete " if item.get("is_obsolete") in (True, 1) else ""
            yield Note(
                kind="attachment",
                bug=new_bug(number, host),
                attachment_id=id_,
                email=field(item.get("creator")) or field(item.get("attacher")),
                when=moment(item.get("creation_time")),
                text=f"Created {obsolete}attachment {id_}\n{field(item.get('summary')) or ''}\n",
                attachments=[attachment],
            )


def _history(number: int, items: list[Any], host: str | None) -> Note:
    bug = new_bug(number, host)
    for item in items[:_ITEM_LIMIT]:
        changes = item.get("changes") if isinstance(item, dict) else None
        for change in changes if isinstance(changes, list) else []:
            if isinstance(change, dict):
                bug.changes.append(
                    BugChange(
                        when=moment(item.get("when")),
                        who=field(item.get("who")),
                        field=field(change.get("field_name")) or "",
                        removed=field(change.get("removed")) or "",
                        added=field(change.get("added")) or "",
                    )
                )
    return Note(kind="history", bug=bug, when=bug.changes[0].when if bug.changes else None)


def bug_lines(bug: Bug) -> list[tuple[str, str]]:
    """A bug's fields as the lines of a mail's body, each with the field's name."""
    lines: list[tuple[str, str]] = []
    for name in Bug.__struct_fields__:
        value = getattr(bug, name)
        if name in ("tracker", "host", "number", "comment", "title", "changes") or not value:
            continue
        label = name.replace("_", " ").capitalize()
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        lines.append((name, f"{label}: {shown}"))
    for change in bug.changes:
        text = f"{change.when or '?'} {change.who or '?'} {change.field}: "
        lines.append(("changes", f"{text}{change.removed or '-'} -> {change.added or '-'}"))
    return lines


def read_bugzilla(raw: Raw) -> Mail:
    """The mail of one bug, comment or history; hint ``bug``, a Bug as JSON."""
    try:
        note = msgspec.json.decode(raw.data, type=Note)
    except (msgspec.DecodeError, RecursionError) as error:
        return Mail(defects=[Defect("json-unreadable", 0, type(error).__name__)])
    bug = note.bug
    head = f"{bug.component}/{bug.number}" if bug.component else str(bug.number)
    subject = f"[Bug {head}] {bug.title or ''}".strip()
    host = f"{bug.host or _NO_HOST}{_MADE_UP}"
    thread = f"bug-{bug.number}@{host}"
    headers = [("Subject", subject)]
    if note.kind == "bug":
        headers.append(("Message-ID", f"<{thread}>"))
        body = "\n".join(line for _, line in bug_lines(bug)) + "\n"
    else:
        part = {"comment": f"c{bug.comment}", "attachment": f"a{note.attachment_id}"}.get(
            note.kind, "history"
        )
        headers.append(("Message-ID", f"<bug-{bug.number}-{part}@{host}>"))
        headers.append(("In-Reply-To", f"<{thread}>"))
        history = "\n".join(line for _, line in bug_lines(bug)) + "\n"
        body = history if note.kind == "history" else note.text.replace("\r\n", "\n")
    sender = _sender(note)
    if sender:
        headers.append(("From", sender))
    if note.when:
        headers.append(("Date", note.when))
    mail = Mail(headers=headers, hints={"bug": msgspec.json.encode(bug).decode()})
    if body and not body.endswith("\n"):
        body += "\n"
    mail.parts.append(TextPart(text=body.replace("\x00", "\ufffd")))
    for item in note.attachments[:100]:
        _attach(mail, item)
    return mail


def _sender(note: Note) -> str | None:
    """A From field; a login without a host is a name, not an address."""
    name = (note.name or "").replace('"', "'").replace("\\", "/")
    email = note.email or ""
    if "@" not in email or re.search(r"[\s<>\"]", email):
        return f'"{name or email}"' if name or email else None
    return f'"{name}" <{email}>' if name else email


def _attach(mail: Mail, item: dict[str, Any]) -> None:
    """An attachment; a patch whose bytes are there is read as one."""
    name = posixpath.basename(field(item.get("name")) or "") or None
    is_patch = item.get("patch") is True
    size = number_of(item.get("size"))
    kind = field(item.get("type"))
    mail.attachments.append(
        Attachment(filename=name, content_type=kind, size=size, is_patch=is_patch)
    )
    packed = item.get("data")
    if not is_patch or not isinstance(packed, str):
        return
    try:
        data = base64.b64decode(packed.encode("ascii", "ignore"))
    except (binascii.Error, ValueError):
        mail.defects.append(Defect("bad-base64"))
        return
    data = data.replace(b"\r\n", b"\n").replace(b"\x00", b"?")
    text = data.decode("utf-8", "replace")
    mail.parts.append(TextPart(text=text, data=data, filename=name, is_attachment=True))

"""Patchwork's REST JSON, saved: patches, covers, series, comments and events of API 1.0 to 1.3.

A page of a patch or cover gives its mail as patchwork stored it: all headers,
the text without its signature, and the diff apart. Lists, series and events
name patches without their text; what is made of them is a summary (fidelity
``flattened``) that any other copy of the mail outdoes, and that tells which
patches there are and what state they have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.errors import Defect
from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail
from patchlore.ingest.message import Patchwork, PatchworkCheck
from patchlore.ingest.raw import Fidelity, Raw, Source
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.mbox import MAIL_LIMIT
from patchlore.ingest.sources.page import page_mail
from patchlore.ingest.sources.window import Window

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,200}[\[{]")
_SUBMISSION = (b'"submitter"', b'"mbox"', b'"headers"')
#: A header line of the block that patchwork keeps, and the fold of one.
_HEADER = re.compile(r"([!-9;-~]{1,76})[ \t]{0,4}:[ \t]?(.*)\Z", re.S)
_FOLD = re.compile(r"\r?\n[ \t]{0,400}")
_NAME = re.compile(r"\[([^\[\]]{1,300})\]\s{0,20}(.*)\Z", re.S)
_PARENT = re.compile(r"/(?:patches|covers)/(\d{1,18})/comments/")
_HEADER_LIMIT = 2000
_ADDRESSES = frozenset({"from", "to", "cc", "sender", "reply-to", "x-original-from"})
#: Fields of a summary that its mail is told from.
_SUMMARY = ("id", "msgid", "name", "date", "web_url", "submitter", "project")


def looks_like_patchwork_json(head: bytes) -> bool:
    """Whether HEAD is a saved answer of ``/api/…``: an object or a list of them."""
    if _START.match(head) is None:
        return False
    if b'"msgid"' in head and any(name in head for name in _SUBMISSION):
        return True
    if b'"category"' in head and b'"payload"' in head:
        return True
    return b'"received_total"' in head and b'"cover_letter"' in head


def split_patchwork_json(
    window: Window, path: str, list_name: str | None = None
) -> Iterator[Raw | Problem]:
    """The mails of a saved answer: one an object, one for each mail that a series or event names.

    Offsets are those of the objects, in bytes of the unpacked file.
    """
    if window.fill(MAIL_LIMIT + 1):
        text = f"{path}: it is larger than {MAIL_LIMIT >> 20} MiB; save fewer objects at a time."
        yield Problem(path, 0, text)
        return
    data = bytes(window.data)
    found = 0
    for offset, value in _objects(data):
        for item, fidelity in _mails_of(value):
            found += 1
            source = Source(
                path=path,
                format="patchwork-json",
                offset=offset,
                fidelity=fidelity,
                list=list_name,
            )
            yield Raw(data=item, source=source)
    if not found:
        text = f"{path}: no patch, cover or comment of patchwork in this JSON could be read."
        code = "damaged" if _decoded(data) is None else "no-mail"
        yield Problem(path, 0, text, code)


def _objects(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each object of DATA (one, a list of them, or one a line) and its offset."""
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    start += len(data[start:]) - len(data[start:].lstrip())
    if data[start : start + 1] == b"[":
        try:
            values = msgspec.json.decode(data[start:], type=list[msgspec.Raw])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return
        position = start
        for value in values:
            item = bytes(value)
            position = max(data.find(item, position), position)
            yield position, item
            position += len(item)
    elif _decoded(data[start:]) is not None:
        yield start, data[start:]
    else:
        for line in data.splitlines(keepends=True):
            if line.strip():
                yield start, line
            start += len(line)


def _decoded(data: bytes) -> Any:
    """The value of JSON; None where it is none that can be read."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:  # lone surrogates, NaN: what other writers of JSON let through
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _mails_of(data: bytes) -> Iterator[tuple[bytes, Fidelity]]:
    """The mails that one object is or names, as objects of their own."""
    value = _decoded(data)
    if not isinstance(value, dict):
        return
    if isinstance(value.get("payload"), dict):
        for summary in _of_event(value, value["payload"]):
            yield _encoded(summary), "flattened"
    elif isinstance(value.get("patches"), list) or "cover_letter" in value:
        for summary in _of_series(value):
            yield _encoded(summary), "flattened"
    elif isinstance(value.get("msgid"), str):
        whole = "headers" in value or isinstance(value.get("content"), str)
        yield data, "rewritten" if whole else "flattened"


def _encoded(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _of_series(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A summary for the cover and for each patch of a series; patches answer the cover."""
    cover = value.get("cover_letter")
    members = value.get("patches") if isinstance(value.get("patches"), list) else []
    common = {
        "submitter": value.get("submitter"),
        "project": value.get("project"),
        "series": [{"id": value.get("id"), "name": value.get("name")}],
    }
    parent = cover.get("msgid") if isinstance(cover, dict) else None
    if isinstance(cover, dict) and isinstance(parent, str):
        yield {**_summary(cover), **common}
    for member in members or []:
        if isinstance(member, dict) and isinstance(member.get("msgid"), str):
            yield {**_summary(member), **common, **({"parent": parent} if parent else {})}


def _of_event(value: dict[str, Any], payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A summary for each mail that an event names, with the state that it tells."""
    common = {"project": value.get("project")}
    submission = payload.get("patch") or payload.get("cover")
    series = payload.get("series")
    if isinstance(submission, dict) and isinstance(submission.get("msgid"), str):
        summary = {**_summary(submission), **common}
        if isinstance(payload.get("current_state"), str):
            summary["state"] = payload["current_state"]
        if isinstance(payload.get("current_delegate"), dict):
            summary["delegate"] = payload["current_delegate"]
        if isinstance(payload.get("check"), dict):
            summary["checks"] = [payload["check"]]
        if isinstance(series, dict):
            summary["series"] = [series]
        yield summary
        comment = payload.get("comment")
        if isinstance(comment, dict) and isinstance(comment.get("msgid"), str):
            answered = {"parent": submission["msgid"], "name": submission.get("name")}
            yield {**_summary(comment), **common, **answered, "comment": True}


def _summary(value: dict[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in _SUMMARY if name in value}


def read_patchwork_json(raw: Raw) -> Mail:
    """The mail of one object; hints ``patchwork_id``, ``list``, ``url``.

    Without stored headers those that patchwork tells are put in their place:
    its names drop the word PATCH (``[v2,1/3] lamp: dim``) and its dates are UTC.
    """
    value = _decoded(raw.data)
    if not isinstance(value, dict):
        return page_mail([], "", defects=[Defect("unreadable-page", 0, "no object of patchwork")])
    headers = _stored_headers(value.get("headers"))
    stored = {name.lower() for name, _ in headers}
    headers += [pair for pair in _told_headers(value) if pair[0].lower() not in stored]
    content, diff = _text(value.get("content")), _text(value.get("diff"))
    body = content.strip("\n")
    if diff.strip():
        body = f"{body}\n\n{diff}" if body else diff
    body = body.rstrip("\n") + "\n" if body.strip() else ""
    defects = []
    if not body and not stored:
        defects.append(Defect("content-removed", 0, "patchwork's list has no text of the mail"))
    hints = {}
    if _is_submission(value) and isinstance(value.get("id"), int):
        hints["patchwork_id"] = str(value["id"])
    project = value.get("project")
    if isinstance(project, dict) and _text(project.get("list_id")):
        hints["list"] = _text(project["list_id"]).strip("<> ").lower()
    if _text(value.get("web_url")):
        hints["url"] = _text(value["web_url"])
    mail = page_mail(headers, body, hints=hints, defects=defects)
    if _is_submission(value):
        mail.patchwork = _record(value)
    return mail


def _text(value: object) -> str:
    """VALUE as text with LF line ends; empty for what is none."""
    if not isinstance(value, str):
        return ""
    return (
        value.replace("\r\n", "\n")
        .replace("\x00", "\ufffd")
        .encode("utf-8", "replace")
        .decode("utf-8")
    )


def _is_submission(value: dict[str, Any]) -> bool:
    """Whether VALUE is a patch or cover: a comment has neither a mbox nor a name of its own."""
    if value.get("comment") is True or "subject" in value:
        return False
    return _PARENT.search(_text(value.get("url"))[:500]) is None


def _stored_headers(value: object) -> list[tuple[str, str]]:
    """The headers that patchwork kept: an object of names, or the block of its HTML page."""
    pairs: list[tuple[str, str]] = []
    if isinstance(value, dict):
        for name, values in value.items():
            for entry in values if isinstance(values, list) else [values]:
                pairs.append((str(name), _text(entry)))
    elif isinstance(value, str):
        for line in _text(value).split("\n"):
            if line[:1] in (" ", "\t") and pairs:
                pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]}\n{line}")
            elif (match := _HEADER.match(line)) is not None:
                pairs.append((match[1], match[2]))
    return [(name, _field(name, text)) for name, text in pairs[:_HEADER_LIMIT] if _rewritten(name)]


def _rewritten(name: str) -> bool:
    """Whether the header NAME holds for the text as it is now: it is decoded already."""
    return name.lower() not in ("content-transfer-encoding", "content-type", "mime-version")


def _field(name: str, text: str) -> str:
    text = _FOLD.sub(" ", text).strip()
    return decode_words(text, in_address=name.lower() in _ADDRESSES) if "=?" in text else text


def _told_headers(value: dict[str, Any]) -> list[tuple[str, str]]:
    """Headers made of what patchwork says of the mail."""
    headers: list[tuple[str, str]] = []
    identifier = _text(value.get("msgid")).strip()
    if identifier:
        headers.append(("Message-ID", f"<{identifier.strip('<>')}>"))
    date = _text(value.get("date")).strip()
    if date:
        headers.append(("Date", date))
    submitter = value.get("submitter")
    if isinstance(submitter, dict):
        name, address = one_line(_text(submitter.get("name"))), _text(submitter.get("email"))
        quoted = f'"{name}"' if any(sign in name for sign in ",;:<>()@") else name
        sender = f"{quoted} <{one_line(address)}>".strip() if address else quoted
        if sender:
            headers.append(("From", sender))
    subject = one_line(_text(value.get("subject"))) or _subject(one_line(_text(value.get("name"))))
    if value.get("comment") is True and subject:
        subject = f"Re: {subject}"
    if subject:
        headers.append(("Subject", subject))
    parent = _text(value.get("parent")).strip(" <>")
    if parent:
        headers.append(("In-Reply-To", f"<{parent}>"))
    return headers


def _subject(name: str) -> str:
    """The subject behind a NAME of patchwork: ``[v2,1/3] dim`` was ``[PATCH v2 1/3] dim``."""
    if not name:
        return ""
    match = _NAME.match(name)
    if match is None:
        return f"[PATCH] {name}"
    words = [word.strip() for word in match[1].split(",") if word.strip()]
    if any(word.upper() in ("PATCH", "GIT", "PULL") for word in words):
        return name
    return f"[PATCH {' '.join(words)}] {match[2]}".strip()


def _record(value: dict[str, Any]) -> Patchwork | None:
    """What patchwork knows beside the mail; None when the object tells nothing of it."""
    series = value.get("series")
    series = series[0] if isinstance(series, list) and series else series
    delegate = value.get("delegate")
    record = Patchwork(
        state=_text(value.get("state")) or None,
        archived=value.get("archived") is True,
        commit=_text(value.get("commit_ref")).strip() or None,
        delegate=(
            _text(delegate.get("username")) or _text(delegate.get("email")) or None
            if isinstance(delegate, dict)
            else None
        ),
    )
    if isinstance(series, dict):
        record.series = series["id"] if isinstance(series.get("id"), int) else None
        record.series_name = one_line(_text(series.get("name"))) or None
    checks = value.get("checks")
    for check in checks[:1000] if isinstance(checks, list) else []:
        if isinstance(check, dict):
            record.checks.append(
                PatchworkCheck(
                    context=_text(check.get("context")),
                    state=_text(check.get("state")),
                    description=_text(check.get("description")) or None,
                    url=_text(check.get("target_url")) or None,
                )
            )
    related = value.get("related")
    for other in related[:1000] if isinstance(related, list) else []:
        identifier = other.get("msgid") if isinstance(other, dict) else other
        if _text(identifier):
            record.related.append(_text(identifier).strip(" <>"))
    return record if record != Patchwork() else None

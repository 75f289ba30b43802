"""Bugzilla's XML: bugs with their comments and attachments (``show_bug.cgi?ctype=xml``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from patchlore.ingest.sources.bugzilla import (
    Note,
    field,
    host_of_url,
    moment,
    new_bug,
    number_of,
    words,
)

#: What XML 1.0 has no place for; Bugzilla lets it through in comments.
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CHUNK = 1 << 16
_LIMIT = 10_000


def notes_of_xml(data: bytes) -> tuple[list[Note], str | None]:
    """The notes of all bugs, and what ended them early, if something did.

    A document that defines entities is not Bugzilla's and may be a bomb.
    """
    text = data.decode("utf-8-sig", "replace")
    if "<!ENTITY" in text:
        return [], "it defines entities, which Bugzilla does not"
    text = _NO_CHARACTER.sub("\ufffd", text)
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    notes: list[Note] = []
    state: dict[str, Any] = {"host": None, "open": None}
    trouble = None
    try:
        for start in range(0, len(text), _CHUNK):
            parser.feed(text[start : start + _CHUNK])
            _take(parser, state, notes)
        parser.close()
        _take(parser, state, notes)
    except (ParseError, ValueError, RecursionError) as error:
        trouble = f"its XML is damaged ({error}); what was before has been read"
        with suppress(ParseError, ValueError, RecursionError):
            _take(parser, state, notes)
        if state["open"] is not None:
            notes.extend(_notes(state["open"], state["host"]))
    return notes, trouble


def _take(parser: XMLPullParser[Any], state: dict[str, Any], notes: list[Note]) -> None:
    """Note the bugs that the parser has come to the end of."""
    events: Iterator[tuple[str, Any]] = parser.read_events()  # type: ignore[assignment]  # asked for
    for event, element in events:
        if event == "start" and element.tag == "bugzilla":
            state["host"] = host_of_url(element.get("urlbase"))
        elif element.tag == "bug":
            if event == "start":
                state["open"] = element
            elif state["open"] is element:
                notes.extend(_notes(element, state["host"]))
                element.clear()
                state["open"] = None


def _notes(element: Element, host: str | None) -> list[Note]:
    """A bug's note and its comments'; none for ``<bug error="NotFound">``."""
    number = number_of(element.findtext("bug_id"))
    if number is None or element.get("error"):
        return []
    bug = new_bug(number, host, field(element.findtext("product")))
    bug.title = field(element.findtext("short_desc"))
    bug.component = field(element.findtext("component"))
    bug.version = field(element.findtext("version"))
    bug.status = field(element.findtext("bug_status"))
    bug.resolution = field(element.findtext("resolution"))
    bug.severity = field(element.findtext("bug_severity"))
    bug.known_to_work = words(element.findtext("cf_known_to_work"))
    bug.known_to_fail = words(element.findtext("cf_known_to_fail"))
    bug.target_milestone = field(element.findtext("target_milestone"))
    bug.created = moment(element.findtext("creation_ts"))
    bug.changed = moment(element.findtext("delta_ts"))
    bug.assignee = field(element.findtext("assigned_to"))
    bug.keywords = words(element.findtext("keywords"))
    bug.see_also = words([item.text for item in element.findall("see_also")])
    bug.depends = _numbers(element, "dependson")
    bug.blocks = _numbers(element, "blocked")
    bug.duplicate_of = number_of(element.findtext("dup_id"))
    name, email = _person(element.find("reporter"))
    notes = [Note(kind="bug", bug=bug, name=name, email=email, when=bug.created)]
    attached = {
        key: item for item in element.findall("attachment") if (key := item.findtext("attachid"))
    }
    for place, item in enumerate(element.findall("long_desc")[:_LIMIT]):
        comment = new_bug(number, host, bug.product)
        comment.title, comment.component = bug.title, bug.component
        count = number_of(item.findtext("comment_count"))
        comment.comment = place if count is None else count
        name, email = _person(item.find("who"))
        attachment = attached.pop(item.findtext("attachid") or "", None)
        notes.append(
            Note(
                kind="comment",
                bug=comment,
                name=name,
                email=email,
                when=moment(item.findtext("bug_when")),
                text=item.findtext("thetext") or "",
                attachments=[] if attachment is None else [_attachment(attachment)],
            )
        )
    return notes


def _numbers(element: Element, tag: str) -> list[int]:
    return [number for item in element.findall(tag) if (number := number_of(item.text)) is not None]


def _person(element: Element | None) -> tuple[str | None, str | None]:
    if element is None:
        return None, None
    return field(element.get("name")), field(element.text)


def _attachment(element: Element) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": element.findtext("filename"),
        "type": element.findtext("type"),
        "size": element.findtext("size"),
        "patch": element.get("ispatch") == "1",
    }
    data = element.find("data")
    if data is not None and data.get("encoding") == "base64" and found["patch"]:
        found["data"] = data.text
    return found

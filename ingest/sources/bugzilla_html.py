"""Bugzilla's pages: a bug (``show_bug.cgi``) and its history (``show_activity.cgi``)."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

from patchlore.ingest.bug import BugChange
from patchlore.ingest.headers import one_line
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.bugzilla import (
    TRACKERS,
    Note,
    field,
    host_of_url,
    moment,
    new_bug,
    number_of,
    words,
)
from patchlore.ingest.sources.page import html_of, is_html, soup_of, text_of

_NUMBER = re.compile(r"(?:Bug )?(\d{1,9})\b|Changes made to bug (\d{1,9})")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? [A-Z]{2,5})")
_DUPLICATE = re.compile(r"DUPLICATE of\s+bug (\d{1,9})", re.I)
_SAVED = re.compile(r"<!-- saved from url=\(\d{4}\)(https?://[^\s>]{3,300})")
_ADDRESS = re.compile(r"<?([^<>\s]{1,80}@[^<>\s]{1,200})>?\Z")
_LIMIT = 10_000


def looks_like_bugzilla_html(head: bytes) -> bool:
    """Whether HEAD is a page of a bug or of its history."""
    if not is_html(head):
        return False
    if b"show_activity.cgi" in head and b"<title>Changes made to bug" in head:
        return True
    return b"bz_bug" in head and (b"show_bug.cgi" in head or b"bugzilla" in head.lower())


def notes_of_page(raw: Raw, host: str | None) -> tuple[list[Note], str | None]:
    """The notes of a page, and what is wrong with it, if something is."""
    text, defects = html_of(raw)
    soup = soup_of(text)
    title = one_line(text_of(soup.title))
    found = _NUMBER.match(title)
    number = number_of(found[1] or found[2]) if found else None
    if number is None:
        return [], None
    host = _host(text, soup) or host
    trouble = f"it is too large ({defects[0].text})" if defects else None
    if found is not None and found[2]:
        return [_history(soup, number, host)], trouble
    return _bug_page(soup, number, host), trouble


def _host(text: str, soup: BeautifulSoup) -> str | None:
    """The tracker by the page's own words: where it was saved from, its base, its body's class.

    The class is the tracker's URL with other characters made hyphens:
    ``gcc-gnu-org-bugzilla``.
    """
    saved = _SAVED.search(text[:2000])
    if saved is not None:
        return host_of_url(saved[1])
    top = soup.find("link", rel="Top") or soup.find("base")
    host = host_of_url(str(top.get("href") or "")) if isinstance(top, Tag) else None
    if host is not None or not isinstance(soup.body, Tag):
        return host
    for name in soup.body.get_attribute_list("class"):
        for known in TRACKERS:
            mangled = known.replace(".", "-")
            if name == mangled or str(name).startswith(f"{mangled}-"):
                return known
    return None


def _shown(cell: Tag | None) -> str | None:
    """What a cell shows: of a form (who is logged in may edit) what is chosen or filled in."""
    if cell is None:
        return None
    if cell.find("select") is not None:
        chosen = cell.find_all("option", selected=True)
        return field(", ".join(text_of(option) for option in chosen))
    if cell.find("textarea") is None:
        filled = cell.find("input", type=lambda kind: kind in (None, "text"))
        if isinstance(filled, Tag) and filled.get("value"):
            return field(str(filled["value"]))
    return field(text_of(cell))


def _value(soup: BeautifulSoup, *ids: str) -> str | None:
    """What the first element with one of IDS shows, if it shows something."""
    for name in ids:
        tag = soup.find(id=name)
        if isinstance(tag, Tag) and (value := _shown(tag)) is not None:
            return value
    return None


def _labelled(soup: BeautifulSoup, name: str) -> str | None:
    """What the cell of a field shows, or the one beside its label."""
    value = _value(soup, f"field_container_{name}")
    if value is not None:
        return value
    label = soup.find(id=f"field_label_{name}")
    cell = label.find_next_sibling("td") if isinstance(label, Tag) else None
    return _shown(cell) if isinstance(cell, Tag) else None


def _read_dates(soup: BeautifulSoup, note: Note) -> None:
    """``Reported: 2031-02-03 04:05 UTC by Nora Finch`` and ``Modified: …``; to the minute."""
    for label in soup.find_all("th", limit=_LIMIT):
        name = one_line(text_of(label))
        cell = label.find_next_sibling("td") if name in ("Reported:", "Modified:") else None
        time = _DATE.match(one_line(text_of(cell))) if isinstance(cell, Tag) else None
        if time is None or not isinstance(cell, Tag):
            continue
        if name == "Modified:":
            note.bug.changed = moment(time[1])
        else:
            note.bug.created = note.when = moment(time[1])
            note.name, note.email = _person(cell)


def _person(tag: Tag | None) -> tuple[str | None, str | None]:
    """Name and address of a card; who is not logged in sees no address."""
    card = tag.find(class_="vcard") if tag is not None else None
    if not isinstance(card, Tag):
        return field(text_of(tag)), None
    link = card.find("a", class_="email")
    email = str(link.get("href") or "").removeprefix("mailto:") if isinstance(link, Tag) else ""
    return field(text_of(card)), email if _ADDRESS.match(email) else None


def _bug_page(soup: BeautifulSoup, number: int, host: str | None) -> list[Note]:
    product = _labelled(soup, "product")
    bug = new_bug(number, host, product)
    bug.title = _value(soup, "short_desc_nonedit_display", "short_short_desc")
    component = _labelled(soup, "component")
    bug.component = component.split(" (")[0].strip() if component else None
    status = (_value(soup, "static_bug_status") or _labelled(soup, "bug_status") or "").split()
    bug.status = status[0] if status else None
    bug.resolution = status[1] if len(status) > 1 and status[1].isupper() else None
    duplicate = _DUPLICATE.search(" ".join(status))
    bug.duplicate_of = number_of(duplicate[1]) if duplicate else None
    bug.version = _labelled(soup, "version")
    bug.known_to_work = words(_labelled(soup, "cf_known_to_work"))
    bug.known_to_fail = words(_labelled(soup, "cf_known_to_fail"))
    bug.target_milestone = _labelled(soup, "target_milestone")
    bug.keywords = words(_labelled(soup, "keywords"))
    bug.assignee = _labelled(soup, "assigned_to")
    for name, into in (("dependson", bug.depends), ("blocked", bug.blocks)):
        label = soup.find(id=f"field_label_{name}")
        cell = label.find_next_sibling("td") if isinstance(label, Tag) else None
        for link in cell.find_all("a") if isinstance(cell, Tag) else []:
            if (other := number_of(text_of(link).strip())) is not None:
                into.append(other)
    see = soup.find(id="field_container_see_also") or soup.find(class_="bug_urls")
    if isinstance(see, Tag):
        links = [str(link.get("href") or "") for link in see.find_all("a")]
        bug.see_also = words([link for link in links if link.startswith(("http:", "https:"))])
    notes = [Note(kind="bug", bug=bug)]
    _read_dates(soup, notes[0])
    for item in soup.find_all("div", class_="bz_comment", limit=_LIMIT):
        note = _comment(item, number, host, product)
        if note is not None:
            note.bug.title, note.bug.component = bug.title, bug.component
            notes.append(note)
    if len(notes) > 1 and notes[1].bug.comment == 0:
        first = notes[1]
        bug.created = first.when
        notes[0].name, notes[0].email, notes[0].when = first.name, first.email, first.when
    return notes


def _comment(item: Tag, number: int, host: str | None, product: str | None) -> Note | None:
    count = number_of(str(item.get("id") or "").removeprefix("c"))
    pre = item.find(class_="bz_comment_text")
    if count is None or pre is None:
        return None
    bug = new_bug(number, host, product)
    bug.comment = count
    user = item.find(class_="bz_comment_user")
    name, email = _person(user if isinstance(user, Tag) else None)
    time = _DATE.search(one_line(text_of(item.find(class_="bz_comment_time"))))
    return Note(
        kind="comment",
        bug=bug,
        name=name,
        email=email,
        when=moment(time[1]) if time else None,
        text=text_of(pre),
    )


def _history(soup: BeautifulSoup, number: int, host: str | None) -> Note:
    """Rows of who, when, what, removed, added; the first two reach over several rows."""
    bug = new_bug(number, host)
    who = when = None
    for row in soup.find_all("tr", limit=_LIMIT):
        cells = [one_line(text_of(cell)) for cell in row.find_all("td", recursive=False)]
        if len(cells) == 5:
            who, when = field(cells[0]), moment(cells[1])
            cells = cells[2:]
        if len(cells) != 3 or when is None:
            continue
        what, removed, added = cells
        bug.changes.append(
            BugChange(
                when=when,
                who=who,
                field=field(what) or "",
                removed=field(removed) or "",
                added=field(added) or "",
            )
        )
    return Note(kind="history", bug=bug, when=bug.changes[0].when if bug.changes else None)

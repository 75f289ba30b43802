"""People of headers: names and addresses, as broken as lists carry them, masks understood.

The standard library's parser loses or raises on what is common here:
``bumper[bot] <1+bumper[bot]@users.example.com>``, an unterminated quote,
``ada at example.org (Ada Quill)``, ``ada@...mple.org``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from patchlore.ingest.message import Person

#: openwall: "@" and the next three characters become "@..."; spinics: every
#: character of the domain becomes "x" (dots too).
_MASKED = re.compile(
    r"@\.\.\.|@x{5,}$|@x+(?:\.x+)+$|@\[?(?:redacted|hidden|xxx)\b|\[email|…@|\.\.\.@"
)
_PIPERMAIL = re.compile(r"([\w.+=~!#$%&'*/?^`{|}-]+) at ([\w.-]+\.\w+|\w+)")
#: Brackets in a quoted name are part of it.
_ANGLE = re.compile(r'((?:"[^"\\]*(?:\\.[^"\\]*){0,64}")?.*?)<([^<>]*)>')
_GROUP_NAME = re.compile(r"\A\s*[^<>@\",;:]{1,80}:")
#: Characters of a header whose people are remembered.
_REMEMBERED = 2000
#: Stands for an escaped quote while the others are taken off.
_INNER_QUOTE = "\x00"
#: A quoted string has few escaped signs: a header of quotes that never close
#: (``"a\\"a\\"a``) is not read to its end from each of them.
_SPLIT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*){0,64}"|\([^()]*\)|<[^<>]*>|[,;]|[^,;"(<]+|.', re.S)


def parse_addresses(value: str | None) -> list[Person]:
    """The people of an address header (decoded, encoded names quoted), in order.

    Group names (``undisclosed-recipients:;``), empty addresses and stray
    quotes are passed over. Never raises.
    """
    if not value:
        return []
    # The people of a thread stand in each of its mails.
    return list(_people_of(value)) if len(value) <= _REMEMBERED else _read_people(value)


@lru_cache(maxsize=2048)
def _people_of(value: str) -> tuple[Person, ...]:
    return tuple(_read_people(value))


def _read_people(value: str) -> list[Person]:
    if '"' not in value and "(" not in value and ";" not in value:
        pieces = value.split(",")
    else:
        pieces = _split_list(value)
        if ";" in value:  # a group (RFC 5322 section 3.4): "lamps: ada@example.org, …;"
            pieces = [_GROUP_NAME.sub("", piece) for piece in pieces]
    people = (parse_address(piece) for piece in pieces)
    return [person for person in people if person is not None]


def _split_list(value: str) -> list[str]:
    pieces = [""]
    for match in _SPLIT.finditer(value[:100_000]):
        token = match[0]
        if token in (",", ";"):
            pieces.append("")
        else:
            pieces[-1] += token
    return pieces


@lru_cache(maxsize=16384)
def parse_address(text: str) -> Person | None:
    """One person: ``Name <addr>``, ``addr (Name)``, ``addr`` or a name alone; None for nothing."""
    text = text.strip()
    match = _ANGLE.match(text)
    if match:
        return _person(_clean_name(match[1]), match[2].strip())
    comment = None
    if text.endswith(")") and "(" in text:
        text, _, rest = text.partition("(")
        comment, text = _clean_name(rest[:-1]), text.strip()
    if "@" in text and " " not in text:
        return _person(comment, text.strip('"'))
    obscured = _PIPERMAIL.fullmatch(text)
    if obscured:
        return _person(comment, f"{obscured[1]}@{obscured[2]}")
    if text.endswith(":") or not text.strip('"<> '):
        return None  # a group's name, an empty address
    name = _clean_name(text)
    return None if name is None else Person(name=name)


def _person(name: str | None, address: str) -> Person | None:
    obscured = _PIPERMAIL.fullmatch(address)
    if obscured:
        address = f"{obscured[1]}@{obscured[2]}"
    if not address:
        return None if name is None else Person(name=name)
    if is_masked(address):
        return Person(name=name, email_masked=address)
    if "@" not in address:
        # "<ada>" names nobody that mail could reach, yet it is what was written.
        return Person(name=name or address)
    return Person(name=name, email=address)


def is_masked(address: str) -> bool:
    """Does an archive's mask stand in this address?"""
    return _MASKED.search(address) is not None


def _clean_name(text: str) -> str | None:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1]
    text = text.replace('\\"', _INNER_QUOTE).replace("\\\\", "\\").strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":  # 'Ada Quill' via a list
        text = text[1:-1].strip()
    if '"' in text and text.count('"') % 2 == 0:
        text = text.replace('" "', " ").replace('"', "")
    text = text.replace(_INNER_QUOTE, '"')
    return " ".join(text.split()) or None

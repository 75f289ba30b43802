"""Which mails are copies of one message: by Message-ID, else by date, sender and subject.

Archives change what they show: openwall keeps the local part and the end of a
domain (``ada.quill@...ple.org``), MHonArc the length (``ada@xxxxxxxxxxx``),
MARC nothing but words.  Texts are compared in a form that survives that.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from datetime import datetime

from msgspec import Struct

from patchlore.ingest.message import KIND_FOOTER, Message, Person

#: The Date of copies is the same header; archives shift it by a time zone at most.
_SAME_DAY = 26 * 3600

_REPLY = re.compile(r"^(?:(?:re|aw|fwd?|sv|antw|wg|vs)(?:\[\d+\])?:\s*)+", re.IGNORECASE)

#: "[lamp] " before a subject; a tag of patches ([PATCH 5.10], [RFC], [GIT PULL]) is none.
_LIST_TAG = re.compile(
    r"\[(?!patch|rf[ct]|git|pull|resend|v\d)[a-z][a-z_.+-]{0,40}\] (?:re: )?", re.IGNORECASE
)

#: (name, lower-case address, masked address), empty text where not given.
PersonKey = tuple[str, str, str]


class Identity(Struct, kw_only=True):
    """What is compared to tell whether two mails are copies of one message."""

    timestamp: int | None
    subject: str
    sender: PersonKey
    body_hash: int | None
    #: Whether the text is as it was sent: neither masked nor flattened.
    is_faithful: bool


def hash64(text: str) -> int:
    """Return 64 bits of a hash of ``text`` as a signed number, as SQLite stores it."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def even_out(text: str | None) -> str:
    """Return a title as it is compared: one blank for white space, no case, no reply marks."""
    return "" if text is None else _REPLY.sub("", " ".join(text.split()).casefold())


def title_hash(title: str | None) -> int | None:
    """Return the hash by which messages of one title are found; None for an empty title."""
    evened = even_out(title)
    return hash64(evened) if evened else None


def body_hash(message: Message) -> int | None:
    """Return a hash of the body that is the same for all copies, or None for too short a text.

    Left out are white space (pages wrap and indent), footers of lists and lines
    with an address (masked by archives, whole in the raw mail).
    """
    body = message.body
    if KIND_FOOTER in message.line_kinds:
        kinds = message.line_kinds.ljust(body.count("\n") + 1)
        lines = zip(body.split("\n"), kinds, strict=False)
        body = "\n".join(line for line, kind in lines if kind != KIND_FOOTER)
    text = "".join(_without_addresses(body).split())
    return hash64(text) if len(text) >= 40 else None


def _without_addresses(body: str) -> str:
    """Return a text without the lines that hold an "@", but for headers of hunks."""
    pieces = []
    start = 0
    while (place := body.find("@", start)) >= 0:
        line = body.rfind("\n", start, place) + 1 or start
        end = body.find("\n", place) + 1 or len(body)
        if body[line:end].lstrip("> ").startswith("@@"):
            pieces.append(body[start:end])
        else:
            pieces.append(body[start:line])
        start = end
    pieces.append(body[start:])
    return "".join(pieces)


def person_key(person: Person | None) -> PersonKey:
    """Return a person as the archive keeps one."""
    if person is None:
        return ("", "", "")
    return (person.name or "", (person.email or "").lower(), person.email_masked or "")


def same_message(one: Identity, other: Identity) -> bool:
    """Whether two mails under one Message-ID are copies of one message.

    Two of the three must agree for sure (a value that is missing agrees with
    any): the text, or date with subject and sender.  A robot that sends every
    report under one Message-ID sends several messages.
    """
    subject = _subjects_agree(one.subject, other.subject)
    near = _dates_agree(one.timestamp, other.timestamp, _SAME_DAY)
    if one.body_hash is not None and one.body_hash == other.body_hash:
        return subject or near
    if not (subject and near):
        return False
    if (
        one.is_faithful
        and other.is_faithful
        and None not in (one.body_hash, other.body_hash, one.timestamp, other.timestamp)
        and one.timestamp != other.timestamp
    ):
        return False  # a robot's next report: both have the text and the date as they were sent
    # A list that rewrites From (DMARC) leaves the date alone.
    exact = one.timestamp is not None and one.timestamp == other.timestamp
    return exact or senders_agree(one.sender, other.sender)


def same_without_id(one: Identity, other: Identity) -> bool:
    """Whether two mails are copies of one message when at least one has no Message-ID.

    More must agree than under one Message-ID: the whole subject with its tags,
    the sender under the masks, and the text.  The second of the date will do
    where an archive has changed the text of one of them; but files of
    ``git format-patch`` with one title, author and date and different diffs are
    backports of one commit to different trees.
    """
    first, second = _plain(one.subject), _plain(other.subject)
    if not first or (first != second and _list_tag(first, second) is None):
        return False
    if not senders_agree(one.sender, other.sender):
        return False
    same_text = one.body_hash is not None and one.body_hash == other.body_hash
    if one.timestamp is None or other.timestamp is None:
        return same_text
    if one.timestamp == other.timestamp and not (one.is_faithful and other.is_faithful):
        return True
    # Pages show the date without seconds or in the zone of the archive.
    return same_text and abs(one.timestamp - other.timestamp) <= _SAME_DAY


def is_nearer(one: Identity, other: Identity) -> bool:
    """Whether ``one`` shows more of what was sent than ``other``, two copies of one message.

    A list has put itself in the place of the sender (DMARC), a page masked the address,
    a list put its name before the subject.
    """
    for first, second in (
        (_is_via(one.sender), _is_via(other.sender)),
        (not one.sender[1], not other.sender[1]),
    ):
        if first != second:
            return second
    return _list_tag(_plain(one.subject), _plain(other.subject)) == 1


def record_age(message: Message) -> tuple[float, int, int, bool]:
    """Return what is greater the later a record of a tracker was saved, or the more it has.

    When the bug was last changed, how many changes a history has, how many files an attached
    patch, and whether the bug's title is known: one who saved a bug again wants its new state.
    """
    bug = message.bug
    if bug is None:
        return (0.0, 0, 0, False)
    changed = 0.0
    with contextlib.suppress(ValueError, OverflowError):
        changed = datetime.fromisoformat(bug.changed or "").timestamp()
    return (changed, len(bug.changes), len(message.files), bug.title is not None)


def _list_tag(first: str, second: str) -> int | None:
    """Which of two subjects (0, 1) is the other behind the name of a list; None for neither."""
    for place, (tagged, bare) in enumerate(((first, second), (second, first))):
        begin = len(tagged) - len(bare)
        if begin > 2 and tagged.endswith(bare) and _LIST_TAG.fullmatch(tagged, 0, begin):
            return place
        reply = _REPLY.match(bare)  # Re: [lamp] dim
        if reply and tagged.startswith(reply[0]) and bare != reply[0]:
            inner = _list_tag(tagged[reply.end() :], bare[reply.end() :])
            if inner == 0:
                return place
    return None


def _is_via(sender: PersonKey) -> bool:
    return " via " in sender[0]


def senders_agree(one: PersonKey, other: PersonKey) -> bool:
    """Whether two spellings can be the same person; a spelling of nothing agrees with any."""
    if one[1] and other[1]:
        return one[1] == other[1] or _names_agree(one[0], other[0])
    if one[1] or one[2]:
        address, shown = (one[1] or one[2]), (other[1] or other[2])
        if shown and masks_agree(address, shown):
            return True
    if one[0] and other[0]:
        return _names_agree(one[0], other[0])
    return not (any(one) and any(other)) or not (one[1] or one[2]) or not (other[1] or other[2])


def masks_agree(one: str, other: str) -> bool:
    """Whether two addresses, whole or masked, can be the same one.

    ``ada@...ple.org`` and ``ada@xxxxxxxxxxx`` both agree with ``ada@example.org``.
    """
    one_local, one_at, one_domain = one.casefold().partition("@")
    other_local, other_at, other_domain = other.casefold().partition("@")
    if not one_at or not other_at:
        return one.casefold() == other.casefold()
    if one_local != other_local:
        return False
    return _domains_agree(one_domain, other_domain) or _domains_agree(other_domain, one_domain)


def _domains_agree(shown: str, other: str) -> bool:
    if shown == other:
        return True
    if shown.startswith("..."):
        return other.startswith("...") or other.endswith(shown[3:])
    if set(shown) <= {"x", "."} and "x" in shown:
        return len(shown) == len(other) or other.startswith("...")
    return False


def _names_agree(one: str, other: str) -> bool:
    first, second = _name_words(one), _name_words(other)
    return bool(first) and first == second


def _name_words(name: str) -> frozenset[str]:
    # "Quill, Ada (Example)" and "Ada Quill via list" are Ada Quill.
    name = name.partition("(")[0].partition(" via ")[0]
    return frozenset(re.findall(r"\w+", name.casefold()))


def _subjects_agree(one: str, other: str) -> bool:
    first, second = even_out(one), even_out(other)
    if not first or not second or first == second:
        return True
    # A list puts its name before the subject: "[widgets] tick: use two".
    shorter, longer = sorted((first, second), key=len)
    return longer.endswith(shorter) and longer.startswith("[")


def _plain(subject: str) -> str:
    return " ".join(subject.split()).casefold()


def _dates_agree(one: int | None, other: int | None, distance: int) -> bool:
    return one is None or other is None or abs(one - other) <= distance

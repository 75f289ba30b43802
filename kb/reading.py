"""Finding things in the archive by the names that people give them."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from patchlore.kb.errors import NotFoundError
from patchlore.kb.store import Archive
from patchlore.kb.text import unescaped

#: Shorter abbreviations of a commit name too much (git's own minimum is 4, its habit 7).
MIN_HEX = 7

_HEX = re.compile(rf"[0-9a-f]{{{MIN_HEX},40}}", re.IGNORECASE)
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.IGNORECASE)
_BUG = re.compile(
    r"(?:(?P<tracker>[a-z][a-z-]*):)?(?:pr[ #/]*)?"
    r"(?:(?P<component>[a-z][a-z0-9+-]*)/)?#?(?P<number>\d{1,9})",
    re.IGNORECASE,
)
_SYZBOT = re.compile(r"syzbot[:+-](?P<id>[0-9a-f]{16,40})", re.IGNORECASE)
_GCC_COMMIT = re.compile(
    r"(?P<number>r\d{1,3}-\d{1,6})(?:-g[0-9a-f]{7,40})?|(?P<revision>r\d{4,6})"
    r"|g:(?P<hash>[0-9a-f]{7,40})",
    re.IGNORECASE,
)

#: Tables that name commits: of mails, of git trees, of which mail became which commit.
_COMMITS = ("commit_ref", "git_commit", "git_commit_ref", "edge")

_BRIEF = (
    "SELECT id, key, message_id, subject, clean_subject, sender_name, sender_email, sender_masked,"
    " timestamp, date_iso, is_patch, is_reply, is_cover, is_pull, is_report, notice, notice_tree,"
    " malformed, applicable, fidelity, version, part, parts, thread FROM mail WHERE "
)


class Brief(Struct, kw_only=True):
    """A message in one line of a list."""

    id: int
    key: str
    message_id: str | None
    subject: str | None
    clean_subject: str | None
    sender: str | None
    timestamp: int | None
    date_iso: str | None
    kind: str
    is_patch: bool
    is_reply: bool
    malformed: bool
    applicable: bool
    fidelity: int
    version: int | None
    part: int | None
    parts: int | None
    thread: int


class Bug(Struct, frozen=True):
    """A bug as it is asked for."""

    tracker: str
    number: int | None = None
    component: str | None = None
    #: The id of a tracker without numbers.
    name: str | None = None

    def __str__(self) -> str:
        """Return the bug as people write it: ``PR target/89587``, ``llvm bug 143908``."""
        if self.tracker == "gcc":
            return f"PR {self.component + '/' if self.component else ''}{self.number}"
        return f"{self.tracker} bug {self.number if self.name is None else self.name}"


class Named(Struct, frozen=True):
    """What a name names: ``kind`` is message, commit, bug, cve or gcc-commit."""

    kind: str
    value: str
    bug: Bug | None = None


def briefs(archive: Archive, messages: Iterable[int]) -> dict[int, Brief]:
    """Return a Brief for each row id that exists."""
    wanted = list(dict.fromkeys(messages))
    found: dict[int, Brief] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        for row in archive.execute(f"{_BRIEF} id IN ({marks})", part):
            found[row[0]] = _brief(row)
    return found


def _brief(row: Sequence[Any]) -> Brief:
    (id_, key, message_id, subject, clean, name, email, masked, timestamp, date, is_patch, is_reply,
     is_cover, is_pull, is_report, notice, notice_tree, malformed, applicable, fidelity, version,
     part, parts, thread) = row  # fmt: skip
    if notice:
        kind = f"{notice} notice" + (f" ({notice_tree})" if notice_tree else "")
    elif is_cover:
        kind = "cover"
    elif is_pull:
        kind = "pull request"
    elif is_patch:
        kind = "patch in a reply" if is_reply else "patch"
    elif is_report:
        kind = "reply to a report" if is_reply else "report"
    else:
        kind = "reply" if is_reply else "mail"
    return Brief(
        id=id_,
        key=key,
        message_id=message_id,
        subject=subject,
        clean_subject=clean,
        sender=name or email or masked,
        timestamp=timestamp,
        date_iso=date,
        kind=kind,
        is_patch=bool(is_patch),
        is_reply=bool(is_reply),
        malformed=bool(malformed),
        applicable=bool(applicable),
        fidelity=fidelity,
        version=version,
        part=part,
        parts=parts,
        thread=thread,
    )


def message_names(name: str) -> Iterator[str]:
    """Yield the Message-IDs that a name can mean: as given, in brackets, in an archive's URL."""
    name = name.strip()
    yield name
    bare = name.removeprefix("id:").removeprefix("mid:").strip().strip("<>")
    if bare != name:
        yield bare
    if "\\" in name:  # as it is printed when a terminal may not get it: a\x1bb@example.org
        yield unescaped(name)
        yield unescaped(bare)
    if name.startswith(("http://", "https://")):
        for piece in urllib.parse.urlsplit(name).path.split("/"):
            if "@" in piece or "%40" in piece.lower():
                yield urllib.parse.unquote(piece)


def find_messages(archive: Archive, name: str) -> list[int]:
    """Return the row ids of the messages with a Message-ID, key or alias; [] for none.

    Two mails can share a Message-ID; a key (``…#2``) names exactly one.
    """
    for text in message_names(name):
        found = _by_text(archive, text)
        if not found and "#" in text:
            head, _, number = text.rpartition("#")
            if number.isdigit():
                found = [
                    id_
                    for id_ in _by_text(archive, head)
                    if archive.value("SELECT key FROM mail WHERE id = ?", (id_,)) == text
                ]
        if found:
            return found
    return []


def _by_text(archive: Archive, text: str) -> list[int]:
    mid = archive.value("SELECT id FROM mid WHERE text = ?", (text,))
    if mid is None:
        return []
    rows = archive.execute(
        "SELECT id FROM message WHERE mid = ?1 UNION SELECT message FROM alias WHERE mid = ?1"
        " ORDER BY 1",
        (mid,),
    )
    return [id_ for (id_,) in rows]


def find_message(archive: Archive, name: str) -> int:
    """Return the row id of the message with this Message-ID or key (the first of several).

    Raises NotFoundError, which says when the id is only known from references.
    """
    found = find_messages(archive, name)
    if found:
        return found[0]
    for text in message_names(name):
        if archive.value("SELECT 1 FROM mid WHERE text = ?", (text,)):
            raise NotFoundError(
                f"The mail <{text}> is not in the archive: other mails only refer to it."
            )
    raise NotFoundError(f"No mail in the archive has the Message-ID {name}.")


def keys_beside(archive: Archive, message: int) -> list[str]:
    """Return the keys of the other messages under the Message-ID of a message."""
    rows = archive.execute(
        "SELECT other.key FROM mail AS own JOIN mail AS other ON other.mid = own.mid"
        " AND other.id <> own.id WHERE own.id = ? ORDER BY other.ordinal",
        (message,),
    )
    return [key for (key,) in rows]


def find_thread(archive: Archive, name: str) -> int:
    """Return the thread of a Message-ID, also of one that mails only refer to.

    Raises NotFoundError.
    """
    for id_ in find_messages(archive, name):
        return int(archive.value("SELECT thread FROM mail WHERE id = ?", (id_,)))
    for text in message_names(name):
        thread = archive.value("SELECT thread FROM mid WHERE text = ?", (text,))
        if thread is not None:
            return int(thread)
    raise NotFoundError(f"No mail in the archive has or names the Message-ID {name}.")


def parse_bug(text: str) -> Bug | None:
    """Return the bug that ``83356``, ``PR83356``, ``target/89587`` or ``llvm:143908`` names."""
    text = text.strip() if len(text) <= 100 else ""
    syzbot = _SYZBOT.fullmatch(text)
    if syzbot is not None:
        return Bug(tracker="syzbot", name=syzbot["id"].lower())
    match = _BUG.fullmatch(text)
    if match is None:
        return None
    component = match["component"]
    return Bug(
        tracker=(match["tracker"] or "gcc").lower(),
        number=int(match["number"]),
        component=component.lower() if component else None,
    )


def resolve(archive: Archive, name: str) -> Named:
    """Return what a name means: a CVE, a message, a bug, a commit of GCC or a commit.

    A number is a bug unless it has seven or more digits and begins a commit
    that is known.  Raises NotFoundError for what has none of these forms.
    """
    text = name.strip()
    if _CVE.fullmatch(text):
        return Named("cve", text.upper())
    if "@" in text or text.startswith(("<", "id:", "mid:")) or find_messages(archive, text):
        return Named("message", text)
    if _HEX.fullmatch(text):
        known = spellings(archive, text)
        if not known and names_gcc_commit(archive, text):
            return Named("gcc-commit", text)
        if known or not text.isdigit():
            return Named("commit", text.lower())
    if _GCC_COMMIT.fullmatch(text):
        return Named("gcc-commit", text)
    bug = parse_bug(text)
    if bug is not None:
        return Named("bug", text, bug)
    raise NotFoundError(
        f"{name} names nothing: give a Message-ID, a commit of {MIN_HEX} or more digits, "
        "a bug number (83356, PR83356) or a CVE."
    )


def is_gcc_commit(name: str) -> bool:
    """Whether a name has a form that only commits of GCC have: ``r12-7719``, ``g:8ca61ad148f``."""
    return _GCC_COMMIT.fullmatch(name.strip()) is not None


def gcc_commit_condition(name: str) -> tuple[str, list[object]]:
    """Return the condition on ``gcc_commit.name`` for a commit of GCC, and its parameters.

    ``r12-7719`` and ``r161328`` are whole names; a hash (``g:8ca61ad148f``, or bare) means longer
    ones too.  What is neither meets no row.
    """
    text = name.strip().lower()
    match = _GCC_COMMIT.fullmatch(text)
    if match is None and _HEX.fullmatch(text) is None:
        return "0", []
    number = match and (match["number"] or match["revision"])
    if number:
        return "name = ?", [number]
    digits = text.removeprefix("g:")
    shorter = [digits[:size] for size in range(MIN_HEX, len(digits))]
    marks = ", ".join("?" * len(shorter))
    return f"(name >= ? AND name < ? OR name IN ({marks}))", [digits, f"{digits}g", *shorter]


def names_gcc_commit(archive: Archive, name: str) -> bool:
    """Whether a mail names this commit of GCC."""
    condition, parameters = gcc_commit_condition(name)
    sql = f"SELECT 1 FROM gcc_commit WHERE {condition} LIMIT 1"
    return archive.value(sql, parameters) is not None


def spellings(archive: Archive, sha: str) -> list[str]:
    """Return all ways in which the archive writes a commit: longer, equal and abbreviated.

    A prefix is completed when exactly one commit begins so; an abbreviation of
    it in another mail (`Fixes:` with 12 digits) names it too.  [] when none does.
    """
    sha = sha.lower()
    longer = [
        found
        for (found,) in archive.execute(
            " UNION ".join(
                f"SELECT sha FROM {table} WHERE sha >= ?1 AND sha < ?2" for table in _COMMITS
            )
            + " ORDER BY sha",
            (sha, sha + "g"),
        )
    ]
    whole = longest(longer) or sha
    prefixes = [whole[:size] for size in range(MIN_HEX, len(whole))]
    marks = ", ".join("?" * len(prefixes))
    shorter = [
        found
        for (found,) in archive.execute(
            " UNION ".join(f"SELECT sha FROM {table} WHERE sha IN ({marks})" for table in _COMMITS),
            prefixes * len(_COMMITS),
        )
    ]
    return sorted(dict.fromkeys([*longer, *shorter]), key=lambda item: (-len(item), item))


def longest(shas: Sequence[str]) -> str | None:
    """Return the longest of some spellings when all others begin it, else None."""
    if not shas:
        return None
    whole = max(shas, key=len)
    return whole if all(whole.startswith(sha) for sha in shas) else None

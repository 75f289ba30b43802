"""Patches of rows as files that ``git am``, ``quilt`` and the stable queue take; their names."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_BINARY,
    KIND_CONTEXT,
    KIND_CUT,
    KIND_DIFF,
    KIND_HUNK,
    KIND_REMOVED,
    KIND_STAT,
    Message,
)
from patchlore.ingest.mime import read_mail
from patchlore.ingest.raw import Raw
from patchlore.ingest.text import text_of
from patchlore.kb.backports import Row
from patchlore.kb.carrying import Carried, carried
from patchlore.kb.events import Event
from patchlore.kb.mailing import address_of, encoded, name_for_git, one_line, title_line
from patchlore.kb.store import Archive
from patchlore.kb.text import count

_DIFF = frozenset({KIND_DIFF, KIND_HUNK, KIND_ADDED, KIND_REMOVED, KIND_CONTEXT, KIND_BINARY})

#: The line that a format-patch begins with; the date is git's, of no meaning.
_FIRST = "From {} Mon Sep 17 00:00:00 2001"
_UNKNOWN = "0" * 40

_SHA = re.compile(r"[0-9a-f]{40}")

#: What git mailinfo takes for a header where a text begins with it.
_IN_BODY = re.compile(r"(?:>?From\b|(?:From|Subject|Date|[A-Za-z-]{1,40}):)")

#: Characters that the stable maintainers' scripts leave in a name; all others are a dash.
_NO_NAME = re.compile(r"[^a-z0-9_.]+")
#: File systems take 255 bytes; a number of the list and one against doubles come on top.
_LONGEST_NAME = 120


class Patch(Struct, kw_only=True):
    """A patch that can be applied, taken from a mail."""

    title: str
    #: ``Ada Quill <ada@example.org>``, safe in a header; and its two parts.
    author: str
    author_name: str
    author_email: str
    #: The author's date as RFC 5322 has it; None where no calendar has it.
    date: str | None
    #: The commit message with a marker of the upstream commit, where that is known.
    message: str
    #: From the diffstat on, as it was sent.
    diff: bytes
    #: The upstream commit, whole; None where it is not known.
    sha: str | None
    #: The Message-ID.
    key: str
    #: The name of the file in a stable queue, where a notice gives it.
    queue_file: str | None = None

    def as_file(self, *, again: bool = False) -> bytes:
        """Return the patch as ``git format-patch`` writes it, readable by quilt and patch(1).

        With ``again`` the author stands in the text once more, as in stable queues; so it
        does where git would take the first line of the message for who wrote it.
        """
        again = again or _IN_BODY.match(self.message) is not None
        lines = [
            _FIRST.format(self.sha or _UNKNOWN),
            f"From: {self.author}",
            *([f"Date: {self.date}"] if self.date else []),
            f"Subject: {encoded(self.title)}",
            *(["MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8",
               "Content-Transfer-Encoding: 8bit"] if not self.message.isascii() else []),
            "",
            *([f"From: {self.author}", ""] if again else []),
            *self.message.split("\n"),
        ]  # fmt: skip
        return "\n".join(lines).encode("utf-8", "replace") + b"\n---\n" + self.diff


def patch_event(row: Row) -> Event | None:
    """Return the event of a row whose patch is taken: the newest for the tree, else upstream's.

    An upstream patch that asks for stable trees has no marker and was made for
    another tree, but until somebody posts a backport it is the patch there is.
    Where no mail has one, a commit of a git tree will do.
    """
    if row.patch is not None:
        return row.patch
    for event in reversed(row.events):
        if event.kind == "nominated" and event.is_patch and event.applicable:
            return event
    # A tree's own commit was made for a stable tree; upstream's comes first in the list.
    for sha in reversed(row.commits):
        mine = next((event for event in row.events if event.commit == sha), row.event)
        return replace(mine, commit=sha, message=0, attachment=None, key=sha)
    return None


def patches(archive: Archive, rows: Iterable[Row]) -> Iterator[tuple[Row, Patch | None]]:
    """Yield each row with its patch, None where there is none that can be applied.

    Rows of which an earlier one has the same mail (one mail may carry several
    commits) are passed over.
    """
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        event = patch_event(row)
        if event is None:
            yield row, None
        elif place_of_patch(event) not in seen:
            seen.add(place_of_patch(event))
            yield row, patch_of(archive, row, event)


def to_apply(rows: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows whose patch the tree's branch lacks, and the note about the others.

    A commit that waits in the branch for the next release is queued as one that waits
    in the stable queue is, but there is nothing left to apply.
    """
    there = [row for row in rows if row.state == "queued" and row.event.commit]
    if not there:
        return list(rows), []
    return [row for row in rows if row not in there], left_out(there, IN_BRANCH)


def place_of_patch(event: Event) -> tuple[object, ...]:
    """Return what is equal for events with one patch: of a mail, attached to one, of a commit."""
    return (event.message, event.attachment, event.commit)


def patch_of(archive: Archive, row: Row, event: Event) -> Patch | None:
    """Return the patch of a row that an event carries; None for a commit that git can't show."""
    found = carried(archive, event)
    if found is None:
        return None
    message = found.message
    text = message.commit_message or ""
    sha = row.sha if row.is_full else None
    who = message.author or message.from_
    if row.sha and not has_marker(message, row.sha):
        text = f"{marker(row.sha)}\n\n{text}".rstrip("\n")
    return Patch(
        title=title_line(message.commit_subject or message.clean_subject or row.subject or ""),
        author=address_of(who and replace(who, name=name_for_git(who))),
        author_name=name_for_git(who) or one_line((who and who.email) or "unknown"),
        author_email=one_line((who and (who.email or who.email_masked)) or "unknown@invalid"),
        date=_date(message),
        message=text,
        diff=_diff(found),
        sha=sha,
        key=event.key,
        queue_file=next((name for name in _queue_files(archive, row)), None),
    )


def marker(sha: str) -> str:
    """Return the line that names the upstream commit (the kernel's stable rules, option 3)."""
    return f"commit {sha} upstream."


def has_marker(message: Message, sha: str) -> bool:
    """Whether a mail's commit message names the upstream commit."""
    return any(named.startswith(sha) or sha.startswith(named) for named in message.upstream_commits)


def left_out(rows: Collection[Row], why: str) -> list[str]:
    """Return the note about rows that a format can't hold; none for none."""
    return [f"{count(len(rows), 'row')} left out, {why}: {_some(rows)}"] if rows else []


def unmarked(rows: Iterable[Row]) -> list[str]:
    """Return the note about patches of rows whose upstream commit is not known; none for none."""
    bare = [row for row in rows if row.sha is None]
    if not bare:
        return []
    patches_ = count(len(bare), "patch", "patches")
    return [f"{patches_} without a marker, the upstream commit is not known: {_some(bare)}"]


def _some(rows: Collection[Row]) -> str:
    names = [row.sha[:12] if row.sha else one_line(row.subject or "") for row in rows]
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


NO_PATCH = "no patch that can be applied"
IN_BRANCH = "already in the branch of the tree"


def full_sha(row: Row) -> str | None:
    """Return the row's upstream commit if it is known with all digits and is nothing else."""
    return row.sha if row.sha is not None and _SHA.fullmatch(row.sha) else None


class Names:
    """Names of files in one folder: safe everywhere, each once."""

    def __init__(self, *taken: str) -> None:
        """Take names that are not to be used."""
        self._used = set(taken)

    def of(self, title: str | None, suffix: str = ".patch") -> str:
        """Return the name of a patch with this title, as the stable maintainers' scripts make it.

        >>> Names().of("ACPI: bus: Call kobject_put() in acpi_init() error path")
        'acpi-bus-call-kobject_put-in-acpi_init-error-path.patch'
        """
        name = _NO_NAME.sub("-", (title or "").lower())[:_LONGEST_NAME]
        # Neither a hidden file nor an option nor a way out of the folder.
        while ".." in name:
            name = name.replace("..", ".")
        stem = name.strip("-._") or "patch"
        number, found = 1, f"{stem}{suffix}"
        while found in self._used:
            number += 1
            found = f"{stem}-{number}{suffix}"
        self._used.add(found)
        return found


def _queue_files(archive: Archive, row: Row) -> Iterator[str]:
    for event in reversed(row.events):
        if event.kind == "queued" and event.message:
            name = archive.value("SELECT queue_file FROM message WHERE id = ?", (event.message,))
            if name:
                yield str(name)


def _date(message: Message) -> str | None:
    for text in (message.author_date_iso, message.date_iso, message.effective_date_iso):
        if text:
            try:
                return email.utils.format_datetime(datetime.fromisoformat(text))
            except ValueError:
                continue
    return None


def _diff(found: Carried) -> bytes:
    """The diffstat and the diff, in the octets that were sent: a file may be no UTF-8."""
    kinds = found.message.line_kinds
    lines = _octets(found.raw, found.message)
    first = next((n for n, kind in enumerate(kinds) if kind in _DIFF), len(kinds))
    cut = kinds.find(KIND_CUT)
    stat = [lines[n] for n in range(max(cut, 0), first) if kinds[n] == KIND_STAT and n < len(lines)]
    diff = [lines[n] for n in range(first, len(kinds)) if kinds[n] in _DIFF and n < len(lines)]
    return b"".join(line + b"\n" for line in [*stat, b"", *diff])


def _octets(raw: bytes, message: Message) -> list[bytes]:
    written = [line.encode("utf-8", "replace") for line in message.body.split("\n")]
    text = text_of(read_mail(Raw(data=raw, source=message.source)))
    if text.body != message.body:  # a page, or a mail of another copy
        return written
    found: list[bytes] = []
    for first, end, part in text.parts:
        octets = part.data.split(b"\n") if part.data else []
        if len(octets) < end - first:  # decoded from something that is not line by line
            octets = written[first:end]
        found += octets[: end - first]
    return found

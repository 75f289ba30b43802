"""Patches as their contents are compared, of a mail or of a commit; notes of what was adjusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_BINARY,
    KIND_CONTEXT,
    KIND_DIFF,
    KIND_HUNK,
    KIND_PROSE,
    KIND_REMOVED,
    Message,
)
from patchlore.kb.edges_likeness import CommitDiffs
from patchlore.kb.git_reading import read_stored
from patchlore.kb.range_diff import patch_lines
from patchlore.kb.store import Archive

#: A note runs over so many lines at most; an open bracket further on is something else.
_MOST_NOTE_LINES = 20
_MOST_LINE = 1000

#: ``[bwh: Backported to 3.16: …]``, ``[ Ada Quill: adjusted context ]``: who, then what.
_NAMED = re.compile(r"\s{0,8}\[\s{0,4}([^\W\d][\w.@+' -]{0,60}):\s+\S")
#: Kernel logs have brackets, too: ``[ BUG: Invalid wait context ]``.
_LOG = re.compile(r"\s{0,8}\[\s{0,4}(?:BUG|INFO|WARNING|ERROR)\b")
#: ``[Backported to 5.10: …]``, ``[ resolved conflict in clock.c ]``: no name.
_UNNAMED = re.compile(
    r"\s{0,8}\[[^\[\]]{0,200}\b(?:backport|adjust|adapt|conflict|context|rebas|resolv|ported to)",
    re.IGNORECASE,
)
#: Brackets that are markers or references: ``[ Upstream commit 0123… ]``.
_MARKER = re.compile(
    r"\s{0,8}\[\s{0,4}(?:backported\s+)?(?:from\s+)?(?:upstream|commit|patch|https?:)\b",
    re.IGNORECASE,
)
#: What git leaves in a message when a cherry-pick met conflicts.
_CONFLICTS = re.compile(r"(?:#\s?)?Conflicts:\s*$")


_ADJUSTED = re.compile(
    r"\b(?:backport|adjust|adapt|context|conflict|rebas|resolv|port(?:ed)? to)", re.IGNORECASE
)


class Note(Struct, frozen=True):
    """What the person who took a patch says of it: 1-based line, and the text verbatim."""

    line: int
    text: str

    @property
    def says_adjusted(self) -> bool:
        """Whether it is about the patch, and not about its message (``massaged changelog``)."""
        return bool(_ADJUSTED.search(self.text))


class Hunk(Struct):
    """Changed lines that belong together, with sign and without white space, and the context."""

    changed: list[str]
    context: list[str]


class FilePatch(Struct):
    """What a patch does to one file."""

    path: str
    hunks: list[Hunk]

    @property
    def changed(self) -> list[str]:
        """All changed lines in their order."""
        return [line for hunk in self.hunks for line in hunk.changed]


class Patch(Struct, kw_only=True):
    """A patch: where it stands (``key``: Message-ID or commit), what it changes, what it says."""

    key: str
    commit: str | None
    title: str | None
    patch_id: str | None
    files: list[FilePatch]
    #: Title, message and diff as ``git range-diff`` compares them.
    lines: list[str]
    notes: list[Note]

    @property
    def changed(self) -> list[str]:
        """All changed lines."""
        return [line for file in self.files for line in file.changed]


def patch_of_mail(archive: Archive, message: int) -> Patch | None:
    """Return the patch that a mail carries; None for one without a diff of its own."""
    mail = archive.message(message)
    key = archive.value("SELECT key FROM mail WHERE id = ?", (message,))
    files = _files(zip(mail.body.split("\n"), mail.line_kinds, strict=False))
    if not files:
        return None
    return Patch(
        key=str(key),
        commit=None,
        title=mail.commit_subject or mail.clean_subject,
        patch_id=mail.patch_id,
        files=files,
        lines=list(patch_lines(mail)),
        notes=list(notes_of(mail)),
    )


def patch_of_commit(archive: Archive, diffs: CommitDiffs, sha: str) -> Patch | None:
    """Return the patch of a commit of a git tree, None for one without any diff.

    Where its repository can't be read any more, there are no files and only the
    patch id tells something, if it was asked for then.  ``diffs`` reads and keeps
    repositories.  A commit that only a notice carries (tip-bot) is read from that mail.
    """
    row = archive.execute(
        "SELECT id, subject, nullif(patch_id, ''), message FROM git_commit WHERE sha = ?", (sha,)
    ).fetchone()
    if row is None:
        return None
    id_, subject, patch_id, notice = row
    stored = read_stored(archive, sha)
    if stored is None:
        return None if notice is None else patch_of_mail(archive, notice)
    diff = diffs.lines(id_, sha)
    kinds = list(_kinds(diff))
    files = _files(zip(diff, kinds, strict=True))
    if not files and patch_id is None:
        return None
    # The title is the first paragraph; mails have it in their subject.
    body = stored.message.body.strip("\n").partition("\n\n")[2].strip("\n").split("\n")
    return Patch(
        key=sha,
        commit=sha,
        title=subject,
        patch_id=patch_id,
        files=files,
        lines=[subject, *body, *_without_moving_parts(diff, kinds)],
        notes=list(notes_of(stored.message)),
    )


def notes_of(message: Message) -> Iterator[Note]:
    """Yield the notes in brackets in which someone says what was changed, and git's conflicts.

    Of ``[bwh: Backported to 3.16: …]`` and its like in the commit message
    (grammar of upstream markers); markers themselves are none.
    """
    lines = message.body.split("\n")
    kinds = message.line_kinds
    number = 0
    while number < len(lines):
        line = lines[number][:_MOST_LINE]
        if number < len(kinds) and kinds[number] not in (KIND_PROSE, " "):
            if kinds[number] in (KIND_DIFF, KIND_HUNK):
                return
            number += 1
            continue
        size = 0
        if _CONFLICTS.match(line):
            size = _indented(lines, number + 1)
        elif "[" in line and _begins_note(line):
            size = _bracketed(lines, number)
        if size:
            text = "\n".join(part[:_MOST_LINE].strip() for part in lines[number : number + size])
            yield Note(number + 1, text)
        number += size or 1


def _begins_note(line: str) -> bool:
    if _MARKER.match(line) or _LOG.match(line):
        return False
    return bool(_NAMED.match(line) or _UNNAMED.match(line))


def _bracketed(lines: list[str], start: int) -> int:
    """How many lines a bracket that opens there runs over, 0 for one that does not end."""
    depth = 0
    for number, line in enumerate(lines[start : start + _MOST_NOTE_LINES]):
        if number and not line.strip():
            return 0
        depth += line.count("[") - line.count("]")
        if depth <= 0:
            return number + 1
    return 0


def _indented(lines: list[str], start: int) -> int:
    number = start
    while number < len(lines) and number - start < _MOST_NOTE_LINES:
        if not lines[number].lstrip("#").startswith(("\t", "  ")):
            break
        number += 1
    return number - start + 1 if number > start else 0


def _kinds(diff: Iterable[str]) -> Iterator[str]:
    """The kind of each line of a diff as git prints it."""
    signs = {"+": KIND_ADDED, "-": KIND_REMOVED, " ": KIND_CONTEXT, "\\": KIND_CONTEXT}
    in_hunk = is_binary = False
    for line in diff:
        if line.startswith("diff "):
            in_hunk = is_binary = False
        elif line.startswith("@@"):
            in_hunk = True
            yield KIND_HUNK
            continue
        elif line.startswith(("GIT binary patch", "Binary files ")):
            is_binary = True
        if is_binary:
            yield KIND_BINARY
        else:
            yield signs.get(line[:1], KIND_CONTEXT) if in_hunk else KIND_DIFF


def _without_moving_parts(diff: list[str], kinds: list[str]) -> Iterator[str]:
    """The diff as patch_lines of kb/range_diff.py has it of a mail."""
    for line, kind in zip(diff, kinds, strict=True):
        if line.startswith("index ") and kind == KIND_DIFF:
            continue
        yield "@@" + line[2:].partition("@@")[2] if kind == KIND_HUNK else line


def _files(lines: Iterable[tuple[str, str]]) -> list[FilePatch]:
    """What a diff changes, file by file, those without a changed line left out."""
    files: list[FilePatch] = []
    before = ""
    for line, kind in lines:
        if kind == KIND_DIFF:
            if line.startswith("diff ") or (line.startswith("--- ") and before != KIND_DIFF):
                files.append(FilePatch(line.rpartition(" ")[2].removeprefix("b/"), []))
            elif files and line.startswith("+++ ") and not line.startswith("+++ /dev/null"):
                name = line[4:].partition("\t")[0].rstrip()
                files[-1].path = name.removeprefix("b/")
        elif files and kind == KIND_HUNK:
            files[-1].hunks.append(Hunk([], []))
        elif files and kind in (KIND_ADDED, KIND_REMOVED, KIND_CONTEXT):
            if not files[-1].hunks:
                files[-1].hunks.append(Hunk([], []))
            text = "".join(line[1:].split())
            hunk = files[-1].hunks[-1]
            if kind == KIND_CONTEXT:
                hunk.context.append(text)
            else:
                hunk.changed.append(line[:1] + text)
        before = kind
    return [file for file in files if any(hunk.changed for hunk in file.hunks)]

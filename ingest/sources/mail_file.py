"""Single mails in files of any name (RFC 5322), and what is not quite one at their start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlore.ingest.sources.mbox import (
    is_git_patch_line,
    is_header_line,
    is_separator_line,
    line_at,
)

#: Names that hardly any other kind of text has at its start.
_SURE = frozenset(
    b"message-id received return-path delivered-to x-original-to envelope-to mime-version "
    b"dkim-signature arc-seal authentication-results content-type content-transfer-encoding "
    b"in-reply-to references list-id user-agent x-mailer x-gmail-labels x-mozilla-status".split()
)
_LIKELY = frozenset(b"from to cc bcc subject date sender reply-to resent-from".split())
#: DEP-3 (https://dep-team.pages.debian.net/deps/dep3/): fields that no mail has.
_DEP3 = frozenset(
    b"description origin forwarded author bug last-update applied-upstream reviewed-by "
    b"acked-by".split()
)
_NAME = re.compile(rb"[!-9;-~]{1,76}[ \t]{0,4}:")
_LEAD = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")


def start_of_mail(data: bytes) -> int:
    """Where the header begins in DATA: behind a byte order mark, empty lines and ``From `` lines.

    Some mail servers leave such a line, also escaped, at the top of a file
    (``>From ada@example.org Tue Mar  5 09:20:30 2024``; RFC 976).
    """
    lead = _LEAD.match(data)
    start = lead.end() if lead else 0
    start = data.rfind(b"\n", 0, start) + 1 or (3 if data.startswith(b"\xef\xbb\xbf") else 0)
    for _ in range(3):
        line = line_at(data, start)
        if not line.startswith((b"From ", b">From ")):
            break
        if not is_header_line(line_at(data, start + len(line))):
            following = line_at(data, start + len(line))
            if not following.startswith((b"From ", b">From ")):
                break
        start += len(line)
    return start


def header_names(head: bytes, start: int = 0, limit: int = 200) -> list[bytes]:
    """The names of the first header block of HEAD, in lower case, until a line is none."""
    names: list[bytes] = []
    for _ in range(limit):
        line = line_at(head, start)
        start += len(line)
        if not line.strip():
            break
        if line[:1] in b" \t" and names:
            continue
        match = _NAME.match(line)
        if match is None:
            break
        names.append(match[0][:-1].rstrip().lower())
    return names


def looks_like_mail(head: bytes) -> bool:
    """Whether HEAD starts as a mail does: known header names, and none that only DEP-3 has."""
    names = header_names(head, start_of_mail(head))
    known = set(names)
    if known & _SURE:
        return True
    if known & _DEP3 or any(name.startswith(b"bug-") for name in known):
        # A DEP-3 header may have From and Subject too; with a Date it came from git.
        return b"date" in known and b"subject" in known and b"from" in known
    likely = known & _LIKELY
    return len(likely) >= 2 or bool(likely & {b"subject", b"from"} and len(names) >= 1)


def looks_like_cut_mbox(head: bytes) -> bool:
    """Whether HEAD has a separator and a mail's header further on, so its own start is lost."""
    return any(names & {b"date", b"message-id", b"subject"} for names in _mails_behind(head))


def looks_like_headless_mbox(head: bytes) -> bool:
    """Whether HEAD is a mail with further whole mails behind separators: only the first lacks one.

    A mail may quote another's first lines; one that has a date and an id, too,
    below a separator and a blank line stands in a mailbox.
    """
    whole = {b"date", b"message-id", b"subject"}
    return looks_like_mail(head) and any(whole <= names for names in _mails_behind(head))


def _mails_behind(head: bytes) -> Iterator[set[bytes]]:
    """The names of the headers of each mail with a From: behind a separator in HEAD."""
    at = head.find(b"\nFrom ")
    while at >= 0:
        line = line_at(head, at + 1)
        above = head[max(at - 1, 0) : at]
        if above in (b"\n", b"\r", b"") and is_separator_line(line) and not is_git_patch_line(line):
            names = set(header_names(head, at + 1 + len(line)))
            if b"from" in names:
                yield names
        at = head.find(b"\nFrom ", at + 1)


def looks_like_mbox(head: bytes) -> bool:
    """Whether HEAD starts with a separator and a header: a mailbox, of one mail or many."""
    head = head[len(head) - len(head.lstrip(b"\xef\xbb\xbf\r\n")) :]
    line = line_at(head, 0)
    following = line_at(head, len(line))
    if is_header_line(following) or following.startswith((b"From ", b">From ")):
        return is_separator_line(line)
    if b" format=" in line and is_separator_line(line):
        return True  # a text that is no mail, as `export --all` writes it
    # A mailbox that begins with a mail without a header has another one further on.
    return is_separator_line(line) and head.find(b"\nFrom ", len(line)) >= 0

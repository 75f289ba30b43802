"""Backport lists as mails that ask the stable team for a commit, in an mbox.

https://docs.kernel.org/process/stable-kernel-rules.html, option 2: the subject of
the patch, its commit id, why it should be applied, and to which versions.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import full_sha, left_out
from patchlore.kb.export.telling import proof_of, requirement
from patchlore.kb.export.vulnerabilities import fixes_of
from patchlore.kb.mailing import encoded
from patchlore.kb.store import Archive
from patchlore.kb.text import printable, shorten

_TO = "stable@vger.kernel.org"
_WIDTH = 72
#: A line of a mail has at most 998 octets (RFC 5322).
_LONGEST = 300

#: The separator of mboxrd; its date is no one's, so that two runs are alike.
_SEPARATOR = "From mboxrd@z Thu Jan  1 00:00:00 1970"


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write a mail for each row; From and Date are left to who sends them."""
    left = []
    for row in rows:
        sha = full_sha(row)
        if sha is None:
            left.append(row)
            continue
        text = "\n".join(_mail(archive, tree, row, sha)) + "\n"
        # No line of the text can be taken for a separator.
        safe = text.replace("\nFrom ", "\n>From ")
        out.write(f"{_SEPARATOR}\n{safe}\n".encode("utf-8", "replace"))
    return left_out(left, "the upstream commit is not known in full")


def _mail(archive: Archive, tree: str, row: Row, sha: str) -> Iterator[str]:
    title = shorten(printable(row.subject), _LONGEST) or "(no title)"
    yield f"To: {_TO}"
    # Folded in our way alone: a title can't begin a header.
    yield f"Subject: {encoded(f'Please apply to {tree}: {title}')}"
    yield "MIME-Version: 1.0"
    yield "Content-Type: text/plain; charset=UTF-8"
    yield "Content-Transfer-Encoding: 8bit"
    yield ""
    yield f"Please apply this commit to {tree}:"
    yield ""
    yield f"    {sha}"
    yield f'    ("{title}")'
    yield ""
    yield "Why:"
    yield ""
    yield from _item(row.reason)
    yield f"    {shorten(proof_of(row), _LONGEST)}"
    for commit, subject in fixes_of(archive, row):
        yield from _item(f"It fixes {commit}" + (f' ("{subject}").' if subject else "."))
    for text in row.notes:
        yield from _item(text)
    if row.requires:
        yield ""
        yield "It needs these first, in this order:"
        yield ""
        yield from (f"    {requirement(need)}" for need in row.requires)
    yield ""
    yield f"Versions: {tree}"


def _item(text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        printable(text), _WIDTH, initial_indent="  - ", subsequent_indent="    "
    )

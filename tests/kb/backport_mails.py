"""A repository with commits whose titles mean harm, and the mails that bring them to 5.10."""

from __future__ import annotations

import base64
import pathlib
import quopri
from collections.abc import Sequence
from email.header import Header
from typing import NamedTuple

from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository
from tests.kb.mails import source

#: Each would do something where it is not quoted as its place demands.
HOSTILE = (
    "tick: $(touch pwned) and `touch pwned`",
    "tick: '; touch pwned; echo \"",
    "--exec=touch pwned",
    "tick: \u202etac ;touch pwned\u2069 <!-- & -->",
    "<script>alert(1)</script> | [x](javascript:alert(1)) **b** <img src=x onerror=y>",
    '=HYPERLINK("http://example.org"), "tick"',
    "../../../../etc/passwd",
    "tick: café — naïve clocks",
)


class Mainline(NamedTuple):
    """A repository on branch 5.10 and the commits of its mainline, oldest first."""

    repository: Repository
    shas: list[str]
    titles: Sequence[str]


def mainline(folder: pathlib.Path, titles: Sequence[str] = HOSTILE) -> Mainline:
    """Make a repository: v5.10, a branch 5.10 there (checked out), and a commit for each title.

    Each commit adds a line to clock.c, so that they apply in their order alone, and a
    file of its own.
    """
    made = Repository(folder)
    made.commit("clock: begin", {"clock.c": "begin\n"})
    made.tag("v5.10")
    made.git("branch", "5.10")
    shas = []
    text = "begin\n"
    for number, title in enumerate(titles, 1):
        text += f"tick {number}\n"
        files = {"clock.c": text, f"tick-{number}.c": f"tick {number}\n"}
        shas.append(made.commit(f"{title}\n\nReason number {number}.\n", files))
    made.git("checkout", "-q", "5.10")
    return Mainline(made, shas, titles)


def mail(
    made: Mainline,
    number: int,
    *,
    tag: str = "PATCH 5.10.y",
    marked: bool = True,
    encoding: str = "8bit",
    charset: str = "utf-8",
    text: str = "",
) -> bytes:
    """Return the mail that posts commit ``number`` (from 0) for 5.10."""
    sha, title = made.shas[number], made.titles[number]
    subject = f"[{tag}] {title}"
    marker = f"commit {sha} upstream.\n\n" if marked else ""
    body = (
        f"From: Dora Fenn <dora@example.org>\n\n{marker}Reason number {number + 1}.\n{text}\n"
        "Signed-off-by: Dora Fenn <dora@example.org>\n---\n clock.c | 1 +\n\n"
        f"{made.repository.diff(sha)}-- \n2.39.5\n"
    ).encode(charset)
    if encoding == "base64":
        body = base64.encodebytes(body)
    elif encoding == "quoted-printable":
        body = quopri.encodestring(body)
    head = (
        "From: Bo Tern <bo@example.org>\n"
        f"Date: Tue, {number + 2} Jan 2024 03:04:05 +0000\n"
        f"Subject: {Header(subject, 'utf-8', maxlinelen=2000).encode()}\n"
        f"Message-ID: <backport-{number}@example.org>\n"
        "MIME-Version: 1.0\n"
        f"Content-Type: text/plain; charset={charset}\n"
        f"Content-Transfer-Encoding: {encoding}\n\n"
    )
    return head.encode() + body


def add(archive: Archive, mails: Sequence[bytes]) -> list[Message]:
    """Parse mails and put them into an archive."""
    raws = [
        Raw(data=data, source=source(offset=place * 100_000)) for place, data in enumerate(mails)
    ]
    messages = [parse_raw(raw) for raw in raws]
    archive.add(messages, raws)
    return messages

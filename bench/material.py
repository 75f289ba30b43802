"""The mails that programs are compared on: an epoch of public-inbox and a maildir of the same."""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

#: Mails in one folder of a maildir: all of them, as mail programs have it.
_FOLDERS = ("cur", "new", "tmp")

_message_id = re.compile(rb"^message-id:[ \t\r\n]*<?([^>\s]+)", re.IGNORECASE | re.MULTILINE)


class Material(Struct, kw_only=True):
    """The same mails in the two forms that the programs read."""

    #: A public-inbox (v2) folder whose git/0.git holds the mails.
    inbox: Path
    #: The same mails as files.
    maildir: Path
    mails: int
    #: Mails with a Message-ID of their own: what a program that knows doubles must hold.
    distinct: int
    #: Bytes of the mails as plain text.
    size: int

    @property
    def epoch(self) -> Path:
        """The git repository."""
        return self.inbox / "git" / "0.git"


def prepare(epoch: Path, folder: Path, mails: int = 0) -> Material:
    """Copy the first MAILS commits of an epoch (all: 0) into FOLDER, and export its maildir.

    Objects come packed as git packs them for a fetch.  Raises
    subprocess.CalledProcessError when EPOCH is no repository.
    """
    inbox, maildir = folder / "inbox", folder / "maildir"
    commits = _git(epoch, "rev-list", "--reverse", "HEAD").split()
    tip = commits[mails - 1] if 0 < mails < len(commits) else commits[-1]
    copy = inbox / "git" / "0.git"
    _git(None, "init", "-q", "--bare", "-b", "master", str(copy))
    _git(copy, "fetch", "-q", "--no-tags", str(epoch.absolute()), f"{tip}:refs/heads/master")
    return describe(inbox, maildir)


def describe(inbox: Path, maildir: Path) -> Material:
    """Export the mails of an inbox into a maildir, and count them."""
    for name in _FOLDERS:
        (maildir / name).mkdir(parents=True, exist_ok=True)
    number = size = 0
    ids: set[bytes] = set()
    for number, mail in enumerate(mails_of(inbox / "git" / "0.git"), 1):
        (maildir / "cur" / f"{number:07}.bench:2,S").write_bytes(mail)
        size += len(mail)
        found = _message_id.search(mail[: mail.find(b"\n\n") + 1] or mail)
        ids.add(found[1] if found else b"%d" % number)
    return Material(inbox=inbox, maildir=maildir, mails=number, distinct=len(ids), size=size)


def mails_of(epoch: Path) -> Iterator[bytes]:
    """Yield the mails of an epoch from the oldest on: the blob ``m`` of each commit."""
    commits = _git(epoch, "rev-list", "--reverse", "HEAD").split()
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{commit}:m\n" for commit in commits).encode())
        asked.seek(0)
        with subprocess.Popen(
            ["git", "-C", str(epoch), "cat-file", "--batch"], stdin=asked, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for _ in commits:
                head = process.stdout.readline().split()
                if head[-1] == b"missing":  # a commit that deletes a mail
                    continue
                yield process.stdout.read(int(head[2]))
                process.stdout.read(1)


def commits_of(epoch: Path) -> int:
    """Return how many commits an epoch has, which is how many mails but for deletions."""
    return int(_git(epoch, "rev-list", "--count", "HEAD"))


def make_epoch(mails: Iterable[bytes], inbox: Path) -> Path:
    """Write MAILS as the first epoch of a public-inbox (v2) in INBOX; return the repository."""
    epoch = inbox / "git" / "0.git"
    _git(None, "init", "-q", "--bare", "-b", "master", str(epoch))
    with subprocess.Popen(
        ["git", "-C", str(epoch), "fast-import", "--quiet"], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        for number, mail in enumerate(mails):
            process.stdin.write(
                b"commit refs/heads/master\ncommitter Ada Quill <ada@example.org> %d +0000\n"
                b"data 0\nM 100644 inline m\ndata %d\n%s\n" % (1700000000 + number, len(mail), mail)
            )
        process.stdin.close()
    return epoch


#: What invented mails talk of.
_WORDS = (
    "queue lock timer frame probe index cache merge fault guard slot retry flush memory".split()
)


def invented_mails(count: int) -> Iterator[bytes]:
    """Yield COUNT invented patch mails and replies; the same ones each time."""
    chance = random.Random(1)
    for number in range(count):
        title = " ".join(chance.choices(_WORDS, k=4))
        sha = f"{chance.getrandbits(160):040x}"
        prose = "\n".join(
            " ".join(chance.choices(_WORDS, k=10)) for _ in range(chance.randint(3, 30))
        )
        head = (
            f"From: Ada Quill <ada@example.org>\nTo: list@example.org\n"
            f"Date: Tue, 05 Mar 2024 10:{number % 60:02}:30 +0100\n"
            f"Message-ID: <bench-{number}@example.org>\n"
        )
        if number % 3 == 2:
            yield (
                f"{head}In-Reply-To: <bench-{number - 1}@example.org>\nSubject: Re: [PATCH] {title}\n\n"
                f"> {prose.partition(chr(10))[0]}\n\n{prose}\n"
            ).encode()
            continue
        path = f"lib/{number % 50}.c"
        yield (
            f'{head}Subject: [PATCH] {title}\n\n{prose}\n\nFixes: {sha[:12]} ("{title}")\n'
            f"Signed-off-by: Ada Quill <ada@example.org>\n---\n {path} | 2 +-\n\n"
            f"diff --git a/{path} b/{path}\nindex {sha[:12]}..{sha[12:24]} 100644\n"
            f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@ int probe(void)\n int a;\n"
            f"-int {chance.choice(_WORDS)};\n+int {chance.choice(_WORDS)}_{number};\n int c;\n"
            f"-- \n2.41.0\n"
        ).encode()


def _git(repository: Path | None, *arguments: str) -> str:
    place = [] if repository is None else ["-C", str(repository)]
    return subprocess.run(
        ["git", *place, *arguments], check=True, capture_output=True, text=True
    ).stdout

"""The same mails in every container that keeps bytes, and as openwall shows them."""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.ingest.sources.test_public_inbox import Inbox

SEPARATOR = b"From nora@example.org Thu Jun  8 07:06:05 2023\n"
_FROM = re.compile(rb"^(>*From )", re.M)
_MBOXO = re.compile(rb"^From ", re.M)
_SHOWN = ("message-id", "date", "from", "to", "cc", "subject")


def _ended(data: bytes) -> bytes:
    """A mailbox can't keep whether a mail's last line had an end."""
    return data if data.endswith(b"\n") else data + b"\n"


def public_inbox(folder: Path, mails: Sequence[bytes]) -> None:
    """An epoch of a v2 inbox: a commit a mail."""
    inbox = Inbox(folder / "git/0.git")
    for data in mails:
        inbox.commit({"m": data})


def maildir(folder: Path, mails: Sequence[bytes]) -> None:
    """A file a mail, its flags in its name."""
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True)
    for number, data in enumerate(mails):
        (folder / f"cur/{1686207965 + number}.{number}.lamp:2,S").write_bytes(data)


def mboxo(folder: Path, mails: Sequence[bytes]) -> None:
    """Lines that begin with From get a mark; those that had one before look the same."""
    marked = [SEPARATOR + _MBOXO.sub(b">From ", _ended(data)) + b"\n" for data in mails]
    folder.mkdir()
    (folder / "list.mbox").write_bytes(b"".join(marked))


def mboxrd(folder: Path, mails: Sequence[bytes]) -> None:
    """Those that had a mark get one more, as public-inbox writes it."""
    folder.mkdir()
    (folder / "list.mboxrd").write_bytes(_mboxrd(mails))


def mbox_gz(folder: Path, mails: Sequence[bytes]) -> None:
    """As ``t.mbox.gz`` of a public-inbox."""
    folder.mkdir()
    (folder / "t.mbox.gz").write_bytes(gzip.compress(_mboxrd(mails)))


def _mboxrd(mails: Sequence[bytes]) -> bytes:
    first = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
    return b"".join(first + _FROM.sub(rb">\1", _ended(data)) + b"\n" for data in mails)


#: Those that keep a mail's bytes.
CONTAINERS: dict[str, Callable[[Path, Sequence[bytes]], None]] = {
    "public-inbox": public_inbox,
    "maildir": maildir,
    "mboxo": mboxo,
    "mboxrd": mboxrd,
    "mbox.gz": mbox_gz,
}


def mask(text: str) -> str:
    """Openwall's mask of what looks like an address; doing it twice changes nothing."""
    return re.sub(r"(?<=[\w.+-])@[\w.-]{3}", "@...", text)


def openwall_page(headers: Sequence[tuple[str, str]], body: str) -> bytes:
    """A mail as openwall shows it: some headers, its text, both masked."""
    shown = [(name, value) for name, value in headers if name.lower() in _SHOWN]
    lines = [
        f"{name}: {value if name.lower() == 'message-id' else mask(value)}" for name, value in shown
    ]
    text = html.escape("\n".join(lines) + "\n\n" + mask(body), quote=False)
    return (
        "<!DOCTYPE html>\n<html><head><title>lamp-devel - x</title></head><body>\n"
        '<b><a href="/">lists.openwall.net</a></b> <a href=".">[day]</a> <a href="..">[month]</a>\n'
        f'<pre style="white-space: pre-wrap">\n{text.replace("@", "&#64;")}\n</pre>\n'
        "<p>Powered by blists - more mailing lists</body></html>\n"
    ).encode()

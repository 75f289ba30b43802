"""Mails as archives export them: pipermail's monthly text, HyperKitty's mbox.gz, MARC's raw mails.

They look like mails in a mailbox. What the archive did to them:

* pipermail (``2023-June.txt.gz``) keeps seven headers, writes ``ada at
  example.org (Ada Quill)``, and puts a notice in place of an attachment;
* HyperKitty writes ``ada(a)example.org`` in headers and text;
* MARC (``&q=mbox``, ``&q=raw``) writes ``ada () example ! org``.
"""

from __future__ import annotations

import re

from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.mime import read_mail
from patchlore.ingest.raw import Fidelity, Raw
from patchlore.ingest.sources import marc
from patchlore.ingest.sources.pipermail import split_scrubbed

#: What says so stands in this many bytes of a mail.
_HEAD = 4096

_PIPERMAIL = re.compile(rb"From: [^\n<>]{1,500} \([^\n]{0,500}\)\r?\n(?:Date|Subject): ")
_MASKED_SENDER = re.compile(rb"From \S{1,200} at \S{1,200}  ?\S")
_HYPERKITTY = re.compile(rb"^From: [^\n]{0,400}[\w.+-]\(a\)[\w-]{1,63}\.", re.M)
_MARC = re.compile(rb"^From: [^\n]{0,400}\w \(\) [\w-]{1,63} ! \w", re.M)
_MARC_ID = re.compile(rb"^(?:Message-ID: <|X-MARC-Message:)", re.M | re.I)
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,60}: ")
_SCRUBBER = ("-------------- next part", "was scrubbed...", "Skipped content of type")
_AT = re.compile(r"([\w.+-]{1,64})\(a\)([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})")


def export_form(separator: bytes, data: bytes) -> tuple[str, Fidelity] | None:
    """The format and fidelity of a mail of a mailbox that an archive wrote; None for others.

    SEPARATOR is its first line, DATA what follows.
    """
    if _PIPERMAIL.match(data) is not None:
        masked = _MASKED_SENDER.match(separator) is not None
        return "pipermail-text", "masked" if masked else "rewritten"
    head = data[:_HEAD]
    if b"(a)" in head and _HYPERKITTY.search(head) is not None:
        return "hyperkitty-mbox", "masked"
    if b" () " in head and _MARC.search(head) is not None:
        return "marc-raw", "rewritten"
    if _MASKED_SENDER.match(separator) is not None:
        return "mbox", "masked"
    return None


def looks_like_marc_raw(head: bytes) -> bool:
    """Whether HEAD is a mail downloaded from MARC: a mail's headers, their addresses masked."""
    head = head[:_HEAD]
    if b" () " not in head or b"[Download RAW" in head or _HEADER.match(head) is None:
        return False
    block = head.replace(b"\r\n", b"\n").split(b"\n\n", 1)[0]
    return _MARC.search(block) is not None and _MARC_ID.search(block) is not None


def read_marc_raw(raw: Raw) -> Mail:
    """The mail as sent but for its mask, which is undone."""
    unmasked = marc.unmask(raw.data.decode("latin-1")).encode("latin-1")
    return read_mail(Raw(data=unmasked, source=raw.source))


def read_hyperkitty(raw: Raw) -> Mail:
    """The mail with its addresses unmasked; ``serial(a)12340000`` in a diff stays as it is."""
    mail = read_mail(raw)
    mail.headers = [(name, _unmasked(value)) for name, value in mail.headers]
    for part in mail.parts:
        if "(a)" in part.text:
            part.text = _unmasked(part.text)
            part.data = b""
    return mail


def _unmasked(text: str) -> str:
    return _AT.sub(r"\1@\2", text) if "(a)" in text else text


def read_pipermail_text(raw: Raw) -> Mail:
    """The mail of a monthly file; notices of scrubbed attachments are attachments."""
    mail = read_mail(raw)
    if len(mail.parts) != 1:
        return mail
    whole = mail.parts[0]
    if not any(sign in whole.text for sign in _SCRUBBER):
        return mail
    texts, attachments = split_scrubbed(whole.text)
    mail.parts = [TextPart(text=text, charset=whole.charset) for text in texts]
    mail.attachments = [*mail.attachments, *attachments]
    return mail

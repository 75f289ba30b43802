"""What is this? The one table of formats; content decides, never a file's name.

A new source is a module in sources/ and a line in ``FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from patchlore.ingest.errors import IngestError
from patchlore.ingest.mail import Mail
from patchlore.ingest.raw import Fidelity, Raw
from patchlore.ingest.sources import (
    bugzilla,
    bugzilla_html,
    cve_records,
    exports,
    lkml,
    lore,
    marc,
    mhonarc,
    openwall,
    pipermail,
)
from patchlore.ingest.sources.git_patches import looks_like_patch, mail_or_patch
from patchlore.ingest.sources.index_pages import looks_like_index, split_index
from patchlore.ingest.sources.items import Part, Problem
from patchlore.ingest.sources.mail_file import (
    looks_like_cut_mbox,
    looks_like_headless_mbox,
    looks_like_mail,
    looks_like_mbox,
    start_of_mail,
)
from patchlore.ingest.sources.mbox import split_cut_mbox, split_mbox
from patchlore.ingest.sources.page import is_html
from patchlore.ingest.sources.page_text import (
    looks_like_page_text,
    masked_or_rewritten,
    read_page_text,
)
from patchlore.ingest.sources.patchwork_html import (
    looks_like_patchwork_html,
    split_patchwork_html,
)
from patchlore.ingest.sources.patchwork_json import (
    looks_like_patchwork_json,
    read_patchwork_json,
    split_patchwork_json,
)
from patchlore.ingest.sources.patchwork_text import (
    looks_like_patchwork_text,
    read_patchwork_text,
    split_patchwork_text,
)
from patchlore.ingest.sources.window import Window

#: How much of a file is looked at to tell its format.
HEAD = 1 << 16

Splitter = Callable[[Window, str, str | None], Iterator[Part]]


def _whole(data: bytes) -> int:
    return 0


def _unknown_page(window: Window, path: str, list_name: str | None) -> Iterator[Raw | Problem]:
    """A page of no archive that is known: a diff on it would be damaged in unknown ways."""
    text = f"{path}: it is an HTML page, but of no known archive. Fetch the raw mail instead."
    yield Problem(path, 0, text, "no-mail")


class Format(Struct, frozen=True, kw_only=True):
    """A format of files.

    ``looks_like`` sees the first HEAD bytes of the unpacked file. ``split``
    yields the mails of a container; where it is None the file is one mail,
    which begins at ``start(data)``. ``read`` makes a Mail of a page; where it
    is None the MIME reader does. ``fidelity`` is that of the mails in it, or a
    function that tells it from a mail's bytes.
    """

    name: str
    looks_like: Callable[[bytes], bool]
    fidelity: Fidelity | Callable[[bytes], Fidelity] = "exact"
    split: Splitter | None = None
    start: Callable[[bytes], int] = _whole
    read: Callable[[Raw], Mail] | None = None

    def fidelity_of(self, data: bytes) -> Fidelity:
        """The fidelity of a mail of this format with the bytes DATA."""
        return self.fidelity(data) if callable(self.fidelity) else self.fidelity


#: In the order in which they are tried: what is told surely comes first.
FORMATS: tuple[Format, ...] = (
    Format(
        name="openwall-html",
        looks_like=openwall.looks_like_openwall_html,
        fidelity="masked",
        read=openwall.read_openwall_html,
    ),
    Format(
        name="marc-html",
        looks_like=marc.looks_like_marc_html,
        fidelity="rewritten",
        read=marc.read_marc_html,
    ),
    Format(
        name="lore-html",
        looks_like=lore.looks_like_lore,
        fidelity="rewritten",
        split=lore.split_lore,
        read=lore.read_lore,
    ),
    Format(
        name="lkml-html",
        looks_like=lkml.looks_like_lkml,
        fidelity=masked_or_rewritten,
        read=lkml.read_lkml,
    ),
    Format(
        name="patchwork-html",
        looks_like=looks_like_patchwork_html,
        fidelity="rewritten",
        split=split_patchwork_html,
        read=read_patchwork_json,
    ),
    Format(
        name="patchwork-json",
        looks_like=looks_like_patchwork_json,
        fidelity="rewritten",
        split=split_patchwork_json,
        read=read_patchwork_json,
    ),
    Format(
        name="pipermail-html",
        looks_like=pipermail.looks_like_pipermail,
        fidelity="masked",
        read=pipermail.read_pipermail,
    ),
    Format(
        name="mhonarc-html",
        looks_like=mhonarc.looks_like_mhonarc,
        fidelity="masked",
        read=mhonarc.read_mhonarc,
    ),
    Format(
        name="bugzilla-html",
        looks_like=bugzilla_html.looks_like_bugzilla_html,
        fidelity="rewritten",
        split=bugzilla.split_bugzilla_html,
        read=bugzilla.read_bugzilla,
    ),
    Format(name="index-page", looks_like=looks_like_index, split=split_index),
    Format(name="html", looks_like=is_html, split=_unknown_page),
    Format(
        name="patchwork-text",
        looks_like=looks_like_patchwork_text,
        fidelity="flattened",
        split=split_patchwork_text,
        read=read_patchwork_text,
    ),
    Format(
        name="bugzilla-xml",
        looks_like=bugzilla.looks_like_bugzilla_xml,
        fidelity="rewritten",
        split=bugzilla.split_bugzilla_xml,
        read=bugzilla.read_bugzilla,
    ),
    Format(
        name="bugzilla-json",
        looks_like=bugzilla.looks_like_bugzilla_json,
        fidelity="rewritten",
        split=bugzilla.split_bugzilla_json,
        read=bugzilla.read_bugzilla,
    ),
    Format(
        name="cve-json",
        looks_like=cve_records.looks_like_cve_json,
        fidelity="rewritten",
        read=cve_records.read_cve_json,
    ),
    Format(
        name="cve-dyad",
        looks_like=cve_records.looks_like_dyad,
        fidelity="rewritten",
        split=cve_records.split_dyad,
        read=cve_records.read_dyad,
    ),
    Format(name="mbox", looks_like=looks_like_mbox, split=split_mbox),
    Format(
        name="openwall-text",
        looks_like=openwall.looks_like_openwall_text,
        fidelity="masked",
        read=openwall.read_openwall_text,
    ),
    Format(
        name="marc-raw",
        looks_like=exports.looks_like_marc_raw,
        fidelity="rewritten",
        read=exports.read_marc_raw,
    ),
    Format(
        name="marc-text",
        looks_like=marc.looks_like_marc_text,
        fidelity="rewritten",
        read=marc.read_marc_text,
    ),
    Format(
        name="lkml-text",
        looks_like=lkml.looks_like_lkml_text,
        fidelity=masked_or_rewritten,
        read=lkml.read_lkml_text,
    ),
    Format(
        name="archive-text",
        looks_like=looks_like_page_text,
        fidelity=masked_or_rewritten,
        read=read_page_text,
    ),
    Format(name="mbox", looks_like=looks_like_headless_mbox, split=split_mbox),
    Format(name="rfc822", looks_like=looks_like_mail, fidelity=mail_or_patch, start=start_of_mail),
    Format(name="mbox", looks_like=looks_like_cut_mbox, split=split_cut_mbox),
    Format(name="patch", looks_like=looks_like_patch),
)

#: Formats of mails that stand in a mailbox; what mails from elsewhere are called.
_IN_MAILBOXES = ("git-patch", "patchwork-mbox", "pipermail-text", "hyperkitty-mbox")
_OTHER_FORMATS = (*_IN_MAILBOXES, "maildir", "public-inbox")
_NO_FORMATS = ("index-page", "html")

#: How to make a Mail of a page, by ``source.format``; others are mails as sent.
READERS: dict[str, Callable[[Raw], Mail]] = {
    form.name: form.read for form in FORMATS if form.read is not None
} | {
    "pipermail-text": exports.read_pipermail_text,
    "hyperkitty-mbox": exports.read_hyperkitty,
}


def detect(head: bytes) -> Format | None:
    """The format of a file that begins with HEAD (unpacked); None when it is no known one."""
    if not head.strip():
        return None
    for form in FORMATS:
        if form.looks_like(head):
            return form
    return None


def format_names() -> list[str]:
    """The names that ``source.format`` may have."""
    names = [form.name for form in FORMATS if form.name not in _NO_FORMATS]
    return [*dict.fromkeys(names), *_OTHER_FORMATS]


def format_named(name: str) -> Format:
    """The format NAME, for a caller who knows better; raises IngestError for an unknown one."""
    for form in FORMATS:
        if form.name == name and name not in _NO_FORMATS:
            return form
    if name in _IN_MAILBOXES:
        return format_named("mbox")
    if name in ("maildir", "public-inbox"):
        return format_named("rfc822")
    known = ", ".join(format_names())
    raise IngestError(f"There is no format {name!r}; known are: {known}.")

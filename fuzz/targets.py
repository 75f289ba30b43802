"""What is fuzzed: each public parser as a function of bytes, with its seeds and their size.

A target raises when the parser does, when a value can't be written as JSON,
or when evidence does not point at its text. Errors that a parser documents
(QueryError for a query that asks for nothing) are answers, not failures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO

import msgspec

from fuzz import seeds
from patchlore.index import dates as query_dates
from patchlore.index.errors import QueryError
from patchlore.index.query import leaves, parse_query
from patchlore.index.regexes import RegexError, parse_regex
from patchlore.ingest.addresses import parse_addresses
from patchlore.ingest.charset import decode
from patchlore.ingest.dates import effective_date, parse_date, received_date, timestamp
from patchlore.ingest.detect import READERS, detect
from patchlore.ingest.diff import scan_diffs
from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.headers import message_id, message_ids, read_header_block
from patchlore.ingest.html_text import html_to_text
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.mime import lenient_base64, parse_content_type, read_mail, unflow
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.patch_id import stable_patch_id
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.compression import Unpacked, compression_of
from patchlore.ingest.sources.files import Stream
from patchlore.ingest.sources.mbox import split_cut_mbox, split_mbox
from patchlore.ingest.sources.window import Window
from patchlore.ingest.subject import read_subject
from patchlore.ingest.text import text_of
from patchlore.kb import dates
from patchlore.kb.built_files import read_built_files
from patchlore.kb.errors import UsageError
from patchlore.kb.overriding import Overrides, parse_overrides
from patchlore.kb.pathspec import Pathspec
from patchlore.kb.versions import (
    note_intervals,
    parse_intervals,
    parse_version,
    release_of,
    sort_key,
    tree_name,
)
from tests.ingest.letters import check

_ENCODER = msgspec.json.Encoder()
_FORMS = sorted({*READERS, "patch", "git-patch", "mbox", "rfc822"})
_LABELS = (
    "utf-8 us-ascii iso-8859-1 windows-1252 koi8-r gb2312 gb18030 big5 shift_jis iso-2022-jp"
    " euc-kr utf-7 utf-16 utf-32 hz unknown-8bit x-none idna"
).split()
_KINDS = ("gzip", "bzip2", "xz", "zstd")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A parser to fuzz; SEEDS make its first corpus; inputs grow to SIZE bytes."""

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    size: int = 2048


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _raw(data: bytes, form: str) -> Raw:
    return Raw(data=data, source=Source(path="fuzz", format=form))


def _look(data: bytes, form: str) -> None:
    """Parse as FORM: the message can be written, its evidence points at its text."""
    message = parse_raw(_raw(data, form))
    _ENCODER.encode(message)
    check(message)


def _message(data: bytes) -> None:
    _look(data, "rfc822")


def _patch(data: bytes) -> None:
    _look(data, "patch")


def _any_format(data: bytes) -> None:
    """The first byte says what format the rest is said to have."""
    if data:
        _look(data[1:], _FORMS[data[0] % len(_FORMS)])


def _facts(data: bytes) -> None:
    """A body below headers that are right: the first byte picks the subject and the sender."""
    if data:
        sender, subject = divmod(data[0], len(seeds.SUBJECTS))
        head = seeds.HEADERS.replace(b"Nora Finch", seeds.SENDERS[sender % len(seeds.SENDERS)])
        subject_line = b"Subject: " + seeds.SUBJECTS[subject].encode() + b"\n\n"
        _look(head + subject_line + data[1:], "rfc822")


def _header_block(data: bytes) -> None:
    block = read_header_block(data)
    assert 0 <= block.body_start <= len(data)
    _ENCODER.encode(block.fields)


def _words(data: bytes) -> None:
    text = _text(data)
    decode_words(text).encode()
    decode_words(text, in_address=True).encode()


def _dates(data: bytes) -> None:
    text = _text(data)
    timestamp(effective_date(parse_date(text), [text], parse_date(text)))
    timestamp(received_date(text))


def _addresses(data: bytes) -> None:
    _ENCODER.encode(parse_addresses(_text(data)))


def _ids(data: bytes) -> None:
    text = _text(data)
    message_id(text)
    message_ids(text)
    parse_content_type(text)


def _subject(data: bytes) -> None:
    _ENCODER.encode(read_subject(_text(data)))


def _diffs(data: bytes) -> None:
    text = text_of(Mail(parts=[TextPart(text=_text(data), data=data)]))
    patches, defects = scan_diffs(text)
    _ENCODER.encode(([patch.change for patch in patches], defects))
    assert all(0 <= patch.start <= patch.end <= len(text.lines) for patch in patches)


def _patch_id(data: bytes) -> None:
    stable_patch_id(data.split(b"\n"))


def _mime(data: bytes) -> None:
    mail = read_mail(_raw(data, "rfc822"))
    _ENCODER.encode(mail.headers)
    for part in mail.parts:
        part.text.encode()


def _charset(data: bytes) -> None:
    """The first byte picks the label."""
    if data:
        decode(data[1:], _LABELS[data[0] % len(_LABELS)])[0].encode()


def _body_codes(data: bytes) -> None:
    lenient_base64(data)
    unflow(_text(data), bool(data[:1] > b"\x7f"))


def _html(data: bytes) -> None:
    html_to_text(_text(data)).encode()


def _page(form: str) -> Callable[[bytes], None]:
    reader = READERS[form]

    def read(data: bytes) -> None:
        mail = reader(_raw(data, form))
        _ENCODER.encode(mail.headers)
        for part in mail.parts:
            part.text.encode()

    return read


class _Sips:
    """A stream that gives a few bytes at a time, as pipes do."""

    def __init__(self, data: bytes) -> None:
        self._rest = BytesIO(data)
        self._sip = 1 + len(data) // 7

    def read(self, size: int = -1, /) -> bytes:
        return self._rest.read(self._sip)


def _mbox(data: bytes) -> None:
    sizes = []
    for split in (split_mbox, split_cut_mbox):
        mails = [item for item in split(Window(_Sips(data)), "fuzz") if isinstance(item, Raw)]
        assert [mail.source.offset for mail in mails] == sorted(
            mail.source.offset for mail in mails
        )
        sizes.append(sum(len(mail.data) for mail in mails))
    assert max(sizes) <= len(data)


def _source(data: bytes) -> None:
    """A file as read_source reads it: unpacked, told by its content, split."""
    for item in Stream(_Sips(data), "fuzz", None, None).run():
        _ENCODER.encode(item.source if isinstance(item, Raw) else item)


def _detect(data: bytes) -> None:
    form = detect(data)
    if form is not None:
        form.fidelity_of(data)
        assert 0 <= form.start(data) <= len(data)


def _unpack(data: bytes) -> None:
    """By its magic, else the first byte picks the decoder."""
    kind = compression_of(data)
    if kind is None and data:
        kind, data = _KINDS[data[0] % 4], data[1:]
    if kind is not None:
        stream = Unpacked(_Sips(data), kind)
        while stream.read(4096):
            pass


def no_git(text: str, minute: int) -> int:
    """Stand for git where dates are asked for; raises ValueError, as for what is no date."""
    raise ValueError(f"git is not asked what date '{text}' is in minute {minute}")


def leave_git_out() -> None:
    """Ask git for no date in this process: starting it would be all that is timed."""
    vars(dates)["_git_date"] = no_git


def _query(data: bytes) -> None:
    with suppress(QueryError):
        for leaf in leaves(parse_query(_text(data), lambda name: name.startswith("r"))):
            assert leaf.place.start <= leaf.place.end


def _regex(data: bytes) -> None:
    """An expression of a query between slashes."""
    with suppress(RegexError):
        parse_regex(_text(data), bool(data[:1] > b"\x7f"))


def _ranges(data: bytes) -> None:
    text = _text(data)
    with suppress(ValueError):
        query_dates.parse_time_range(text)
    with suppress(ValueError):
        query_dates.parse_size_range(text)


def _versions(data: bytes) -> None:
    text = _text(data)
    parse_version(text)
    parse_intervals(text)
    parse_intervals(text, in_list=True)
    release_of(text)
    sort_key(tree_name(text))


def _stable_notes(data: bytes) -> None:
    """A note of a Cc: stable line, from mail to intervals of trees."""
    note = b"\nCc: stable@vger.kernel.org " + data.replace(b"\n", b" ") + b"\n"
    message = parse_raw(
        _raw(seeds.HEADERS + b"Subject: [PATCH] lamp\n\n" + note + seeds.DIFF, "rfc822")
    )
    _ENCODER.encode(message)
    check(message)
    ranges = note_intervals(
        [(entry.range, entry.comment, entry.text) for entry in message.cc_stable]
    )
    assert len(ranges) == len(message.cc_stable)


def _built_files(data: bytes) -> None:
    with suppress(UsageError):
        built = read_built_files(data, ["lib/lamp.c", "drivers/fan/fan.c", "include/lamp.h"])
        built.touched_by(["lib/lamp.c", "include/lamp.h"])


def _pathspec(data: bytes) -> None:
    text = _text(data)
    with suppress(UsageError):
        Pathspec([text]).matches("drivers/fan/fan.c")


def _overrides(data: bytes) -> None:
    names = ("own.txt", "rejected/CVE-2023-90001", "CVE-2023-90001.vulnerable")
    found = Overrides(rules=[], problems=[])
    parse_overrides(names[len(data) % 3], data, found)
    _ENCODER.encode(found)


TARGETS: dict[str, Target] = {
    "message": Target(run=_message, seeds=seeds.mails),
    "patch": Target(run=_patch, seeds=seeds.patches),
    "any-format": Target(run=_any_format, seeds=seeds.any_format),
    "facts": Target(run=_facts, seeds=seeds.bodies),
    "stable-notes": Target(run=_stable_notes, seeds=seeds.notes, size=256),
    "headers": Target(run=_header_block, seeds=seeds.mails, size=4096),
    "words": Target(run=_words, seeds=seeds.words, size=512),
    "dates": Target(run=_dates, seeds=seeds.dates, size=128),
    "addresses": Target(run=_addresses, seeds=seeds.addresses, size=512),
    "ids": Target(run=_ids, seeds=seeds.ids, size=512),
    "subject": Target(run=_subject, seeds=seeds.subjects, size=256),
    "diffs": Target(run=_diffs, seeds=seeds.patches, size=4096),
    "patch-id": Target(run=_patch_id, seeds=seeds.patches, size=4096),
    "mime": Target(run=_mime, seeds=seeds.mails),
    "charset": Target(run=_charset, seeds=seeds.words, size=512),
    "body-codes": Target(run=_body_codes, seeds=seeds.mails),
    "html": Target(run=_html, seeds=seeds.html),
    "mbox": Target(run=_mbox, seeds=seeds.mailboxes, size=4096),
    "source": Target(run=_source, seeds=seeds.files, size=4096),
    "detect": Target(run=_detect, seeds=seeds.files, size=4096),
    "unpack": Target(run=_unpack, seeds=seeds.packed),
    "query": Target(run=_query, seeds=seeds.queries, size=256),
    "query-regex": Target(run=_regex, seeds=seeds.regexes, size=128),
    "query-ranges": Target(run=_ranges, seeds=seeds.ranges, size=64),
    "versions": Target(run=_versions, seeds=seeds.notes, size=256),
    "built-files": Target(run=_built_files, seeds=seeds.built_files, size=1024),
    "pathspec": Target(run=_pathspec, seeds=seeds.pathspecs, size=128),
    "overrides": Target(run=_overrides, seeds=seeds.overrides, size=1024),
}


def _pages() -> Iterator[tuple[str, Target]]:
    for form in READERS:
        yield f"page-{form}", Target(run=_page(form), seeds=partial(seeds.pages_of, form))


TARGETS |= dict(_pages())

"""The one entry of the parser: a ``Raw`` in, a ``Message`` with facts and evidence out.

Pure: the same bytes and format always give the same message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchlore.ingest import dates, headers
from patchlore.ingest.addresses import parse_addresses
from patchlore.ingest.attached import inner_mails
from patchlore.ingest.detect import READERS
from patchlore.ingest.diff_hunks import FilePatch
from patchlore.ingest.diff_names import leaves_tree
from patchlore.ingest.errors import CUT_SHORT, Defect
from patchlore.ingest.facts import FINDERS
from patchlore.ingest.facts.context import Context
from patchlore.ingest.flat import text_of_flat
from patchlore.ingest.frame import Layout
from patchlore.ingest.layout import read_layout
from patchlore.ingest.mail import Mail, TextPart
from patchlore.ingest.message import FileChange, Message, Page, Patchwork
from patchlore.ingest.mime import DOUBLE_SPACED, MAX_LINES, TEXT_CUT, cut_long_text, read_mail
from patchlore.ingest.patch_id import stable_patch_id
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.links import PAGE_FORMATS, link_key, page_key
from patchlore.ingest.subject import Subject, read_subject, stable_tree
from patchlore.ingest.text import DIFF_KINDS, QUOTED, Text, text_of

#: Mails inside mails are read so far down; each level costs its size once more.
MAX_DEPTH = 8
_FORMAT_PATCH = re.compile(r"From ([0-9a-f]{40}) Mon Sep 17 00:00:00 2001")
_QUOTED_FILE = re.compile(r"[> |]{1,20}(?:diff --git a/(\S+) b/|\+\+\+ (?:b/)?(\S+))")
#: Openwall, spinics, HyperKitty; pipermail only where it can't be a word of a comment.
_MASK_IN_DIFF = re.compile(
    r"@\.\.\.|@x{5,}|\w\(a\)\w|<[\w.+-]{1,64} at [\w-]{1,63}\.[\w.-]{1,200}>"
    r"|\w at [0-9a-f]{1,16} \{"
)
#: So many names outside of the tree are told.
_MOST_OUTSIDE = 10
_QUOTED_RUN = re.compile(b"%c+" % QUOTED)
_LIST_ID = re.compile(r"<([^<>]+)>")
_RELEASE_DIFF = re.compile(r"Linux (?:kernel )?v?\d+\.\d+(?:\.\d+)*\s*$")


def parse_raw(raw: Raw) -> Message:
    """Parse one message as found; never raises, whatever its bytes are.

    What is wrong with the mail or its patch stands in ``defects``;
    ``malformed`` says that there is something.
    """
    message = _parse(raw, 0)
    if raw.cut:
        message.defects.append(Defect(CUT_SHORT, 0, "the file that it stands in is cut short"))
        message.malformed = True
    return message


def _parse(raw: Raw, depth: int) -> Message:
    """A message DEPTH levels inside another one."""
    mail = _read(raw)
    if mail.flat:
        text, flat_patches = text_of_flat(mail)
        layout = read_layout(text, flat_patches)
    else:
        text = text_of(mail)
        layout = read_layout(text)
    message = Message(source=raw.source, body=text.body, flattened=mail.flat)
    fields = mail.by_name()
    subject = _fill_headers(message, mail, fields)
    _fill_patch(message, mail, text, layout, subject)
    context = Context(mail, text, layout, subject, message, fields)
    for find in FINDERS:
        find(context)
    message.line_kinds = text.line_kinds()
    inner = inner_mails(mail, raw.source)
    if inner and depth >= MAX_DEPTH:
        message.defects.append(Defect("nested-too-deep"))
    else:
        message.nested = [_parse(nested, depth + 1) for nested in inner]
    return message


def _read(raw: Raw) -> Mail:
    """Bytes to a decoded mail, by the reader of the format."""
    reader = READERS.get(raw.source.format)
    if raw.source.format == "patch":
        mail = _read_patch(raw)
    elif reader is not None:
        mail = reader(raw)
    else:
        return read_mail(raw)
    if len(raw.data) > MAX_LINES:
        cut_long_text(mail)
    return mail


def _read_patch(raw: Raw) -> Mail:
    """A file that is a patch and no mail, as a mail without a header."""
    from patchlore.ingest.charset import decode

    data = raw.data
    if b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n"):
        data = data.replace(b"\r\n", b"\n")
    text, charset, defect = decode(data, None)
    part = TextPart(text=text.replace("\x00", "�"), data=data, charset=charset)
    return Mail(parts=[part], defects=[Defect(defect)] if defect else [])


def _fill_headers(message: Message, mail: Mail, fields: dict[str, list[str]]) -> Subject:
    """Ids, people, dates and the subject's tags."""
    ids = [mid for value in fields.get("message-id", []) if (mid := headers.message_id(value))]
    if ids:
        message.message_id = ids[0]
        message.message_id_aliases = list(dict.fromkeys(mid for mid in ids[1:] if mid != ids[0]))
    replied = headers.message_ids(_first(fields, "in-reply-to"))
    message.in_reply_to = replied[0] if replied else None
    message.references = headers.message_ids(" ".join(fields.get("references", [])))
    stated_subject = _first(fields, "subject")
    message.subject = None if stated_subject is None else headers.one_line(stated_subject)
    subject = read_subject(message.subject or "")
    message.clean_subject = None if message.subject is None else subject.clean
    message.subject_tags = subject.tags
    message.list_tags = subject.list_tags
    message.is_pull_request = subject.is_pull
    _fill_people(message, fields)
    _fill_dates(message, fields)
    for value in fields.get("list-id", []):
        match = _LIST_ID.search(value)
        name = (match[1] if match else value).strip().lower()
        if name and name not in message.lists:
            message.lists.append(name)
    for known in (message.source.list, mail.hints.get("list")):
        if known and known not in message.lists:
            message.lists.append(known)
    number = mail.hints.get("patchwork_id") or _first(fields, "x-patchwork-id") or ""
    if number.strip().isdecimal():
        message.patchwork_id = int(number[:18])
    envelope = _FORMAT_PATCH.match(mail.hints.get("envelope", ""))
    if envelope:
        message.own_commit = envelope[1]
    message.patchwork = mail.patchwork or _patchwork_of(fields)
    message.page = _page_of(message, mail)
    message.format_flowed = mail.format_flowed
    message.attachments = mail.attachments
    message.defects = list(mail.defects)
    if subject.unbalanced:
        message.defects.append(Defect("unbalanced-bracket", text=message.subject or ""))
        message.malformed = True
    return subject


def _patchwork_of(fields: dict[str, list[str]]) -> Patchwork | None:
    """What the headers of a patchwork mbox export say."""
    state = _first(fields, "x-patchwork-state")
    delegate = _first(fields, "x-patchwork-delegate")
    return Patchwork(state=state, delegate=delegate) if state or delegate else None


def _page_of(message: Message, mail: Mail) -> Page | None:
    """The page that the message is, and its neighbours in the thread."""
    path = message.source.path
    url = mail.hints.get("url")
    if url is None and message.source.format not in PAGE_FORMATS:
        return None
    return Page(
        url=page_key(url or path),
        thread_prev=link_key(url or path, mail.hints.get("thread-prev", "")),
        thread_next=link_key(url or path, mail.hints.get("thread-next", "")),
    )


def _first(fields: dict[str, list[str]], name: str) -> str | None:
    values = fields.get(name)
    return values[0] if values else None


def _fill_people(message: Message, fields: dict[str, list[str]]) -> None:
    senders = parse_addresses(_first(fields, "from"))
    message.from_ = senders[0] if senders else None
    originals = parse_addresses(_first(fields, "x-original-from"))
    message.author = originals[0] if originals else message.from_
    message.to = [person for value in fields.get("to", []) for person in parse_addresses(value)]
    message.cc = [person for value in fields.get("cc", []) for person in parse_addresses(value)]


def _fill_dates(message: Message, fields: dict[str, list[str]]) -> None:
    stated = dates.parse_date(_first(fields, "date"))
    received = fields.get("received", [])
    newest = dates.received_date(received[0]) if received else None
    effective = dates.effective_date(stated, received, newest)
    message.date_iso = stated.isoformat() if stated else None
    if effective is stated:
        message.effective_date_iso = message.date_iso
    elif effective is not None:
        message.effective_date_iso = effective.isoformat()
    message.timestamp = dates.timestamp(effective)
    message.received_timestamp = dates.timestamp(newest)


def _fill_patch(message: Message, mail: Mail, text: Text, layout: Layout, subject: Subject) -> None:
    """What the mail carries: its patch, whose it is, and what kind of mail that makes it."""
    message.defects.extend(layout.defects)
    changes = _distinct(layout.patches)
    failed = subject.notice == "failed" and not subject.is_reply
    # "Re: Linux 6.6.9" carries all that changed since 6.6.8: a release, no patch.
    # The commit of that name, as format-patch writes it, is one: of the Makefile.
    release = (
        message.subject_tags is None
        and message.own_commit is None
        and _RELEASE_DIFF.match(subject.clean) is not None
    )
    if failed or release:
        message.original_patch_files = changes
    else:
        message.files = changes
        message.is_patch = bool(changes)
    if layout.author is not None and not failed:
        message.author = layout.author
    if layout.date:
        stated = dates.parse_date(layout.date)
        message.author_date_iso = stated.isoformat() if stated else None
    if layout.carried_commit and not failed:
        message.own_commit = layout.carried_commit
    if message.is_patch:
        message.commit_message = _commit_message(text, layout)
        if layout.subject:
            carried = read_subject(layout.subject)
            if carried.clean != (message.clean_subject or ""):
                message.commit_subject = carried.clean
            if message.subject_tags is None and carried.tags is not None and not message.subject:
                message.subject_tags = carried.tags
        _judge_patch(message, text, layout)
    message.quoted_files = _quoted_files(text)
    _classify(message, subject)
    if layout.review_tree and message.subject_tags and message.subject_tags.target_tree is None:
        message.subject_tags.target_tree = stable_tree(layout.review_tree)


def _distinct(patches: list[FilePatch]) -> list[FileChange]:
    """Files in order; a second diff of the same file in one mail counts as the file it is."""
    return [patch.change for patch in patches]


def _commit_message(text: Text, layout: Layout) -> str:
    """The message as written (dedented where git show indented it), without blank edges."""
    start, end = layout.message_start, layout.message_end
    if text.flat:
        return "\n".join(text.lines[start:end]).strip()
    indent = " " * layout.indent
    lines = text.lines[start:end]
    if indent:
        lines = [line.removeprefix(indent) for line in lines]
    return "\n".join(lines).strip("\n")


def _judge_patch(message: Message, text: Text, layout: Layout) -> None:
    """Is the patch whole, may it be applied, and which patch id has it?"""
    damaged = any(patch.damaged for patch in layout.patches) or any(
        defect.code == DOUBLE_SPACED for defect in message.defects
    )
    if damaged and not message.flattened:
        message.malformed = True
    masked = message.source.fidelity == "masked" and any(
        kind in DIFF_KINDS and _MASK_IN_DIFF.search(line)
        for kind, line in zip(text.kinds, text.lines, strict=True)
    )
    readable = all(patch.form not in ("combined", "context") for patch in layout.patches)
    without_data = any(patch.change.binary and patch.form == "binary" for patch in layout.patches)
    cut = any(defect.code == TEXT_CUT for defect in message.defects)
    lossy = damaged or masked or cut or message.flattened
    outside = [name for name in _paths(layout) if leaves_tree(name)]
    message.defects += [Defect("path-outside-tree", text=name) for name in outside[:_MOST_OUTSIDE]]
    message.applicable = readable and not lossy and not without_data and not outside
    if not lossy:
        message.patch_id = _patch_id(text, layout)


def _paths(layout: Layout) -> Iterator[str]:
    for patch in layout.patches:
        yield patch.change.path
        if patch.change.old_path is not None:
            yield patch.change.old_path


def _patch_id(text: Text, layout: Layout) -> str | None:
    """git's id of the first diff, over the octets that were sent."""
    start = layout.patches[0].start
    lines: list[bytes] = []
    for first, end, part in text.parts:
        if end <= start:
            continue
        above = max(start - first, 0)
        if part.charset == "ascii" and len(part.data) == len(part.text):
            offset = text.starts[first + above] - text.starts[first]
            lines.extend(part.data[offset:].split(b"\n")[: end - first - above])
            continue
        octets = part.data.split(b"\n") if part.data else []
        count = end - first
        if len(octets) < count:  # decoded from something that is not line by line
            octets = [line.encode("utf-8", "replace") for line in text.lines[first:end]]
        lines.extend(octets[above:count])
    return stable_patch_id(lines)


def _quoted_files(text: Text) -> list[str]:
    """Paths of diffs that stand only in quoted text."""
    found: dict[str, None] = {}
    if QUOTED not in text.kinds or not text.words.any("diff --git ", "+++ "):
        return []
    lines = text.lines
    for run in _QUOTED_RUN.finditer(text.kinds):
        for index in range(run.start(), run.end()):
            line = lines[index]
            if "diff --git " in line or "+++ " in line:
                match = _QUOTED_FILE.match(line)
                # strace says "+++ exited with 0 +++", too.
                above = lines[index - 1].lstrip("> |") if index else ""
                if match and (match[1] or above.startswith("--- ")):
                    path = match[1] or match[2]
                    if path != "/dev/null":
                        found[path] = None
    return list(found)


def _classify(message: Message, subject: Subject) -> None:
    """Cover letter, reply: facts.md, ``is_reply`` and ``is_cover_letter``."""
    tags = message.subject_tags
    has_cover_tag = tags is not None and (tags.index == 0 or subject.is_patchset)
    own_diff = message.is_patch
    # Part 0 of N is a cover even where it shows what changed since the last revision.
    message.is_cover_letter = has_cover_tag and not subject.is_reply
    if message.is_cover_letter:
        message.applicable = False
    if subject.is_reply:
        message.is_reply = True
    elif message.in_reply_to is not None:
        message.is_reply = not (own_diff or has_cover_tag or subject.notice or subject.is_pull)

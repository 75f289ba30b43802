"""What of a message is searched, and in which field."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct, field

from patchlore.index.engine import Document
from patchlore.index.words import BREAK, LONGEST, cut, message_id_words
from patchlore.ingest.function_names import function_name
from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_BINARY,
    KIND_CONTEXT,
    KIND_CUT,
    KIND_DIFF,
    KIND_FOREIGN,
    KIND_HUNK,
    KIND_QUOTED,
    KIND_REMOVED,
    Attachment,
    FileChange,
    Message,
    Person,
)

# Lines of a diff by field.
CODE_KINDS = {KIND_ADDED: "dfb", KIND_REMOVED: "dfa", KIND_CONTEXT: "dfctx", KIND_HUNK: "dfhh"}
# A context line that begins with a letter lost its blank on the way.
_SIGNS = {KIND_ADDED: "+", KIND_REMOVED: "-", KIND_CONTEXT: " \t\xa0"}
_SKIPPED = frozenset((KIND_BINARY, KIND_CUT))
_QUOTED = frozenset((KIND_QUOTED, KIND_FOREIGN))

_quote_marks = re.compile(r"[ \t]*(?:[>|][ \t]?)+").match
_hunk_ranges = re.compile(r"@{2,8}[^@\n]{0,200}@{2,8}").match


class Searched(Struct, kw_only=True):
    """The part of a Message that is searched: decoding only this is several times faster."""

    message_id: str | None = None
    message_id_aliases: list[str] = []
    subject: str | None = None
    from_: Person | None = field(default=None, name="from")
    body: str = ""
    line_kinds: str = ""
    files: list[FileChange] = []
    attachments: list[Attachment] = []


_decode = msgspec.msgpack.Decoder(Searched).decode


def decode_searched(facts: bytes | msgspec.Raw) -> Searched:
    """Return the searched part of a Message that is encoded in an archive."""
    return _decode(facts)


def make_document(number: int, message: Message | Searched) -> Document:
    """Return the document for MESSAGE.

    ``own`` is what the author wrote except the diff; ``head`` what a bare word
    finds besides subject and text: Message-ID, From, names of attachments.
    """
    texts = _texts(message)
    texts["subject"] = (message.subject or "").replace("\n", " ")
    texts["dfn"] = "\n".join(_paths(message))
    names = map(function_name, dict.fromkeys(texts["dfhh"].split("\n")))
    texts["fn"] = "\n".join(name for name in names if name)
    fields = {name: cut(text) if text else "" for name, text in texts.items()}
    fields["head"] = _head(message)
    return Document(number, fields)


def words_of(document: Document) -> set[str]:
    """The words of a document, which is rid of those that are too long for one."""
    found = set(" ".join(document.fields.values()).split())
    found.discard(BREAK)
    long = [word for word in found if len(word) > LONGEST]
    if long:
        found.difference_update(long)
        for name, text in document.fields.items():
            document.fields[name] = " ".join(word for word in text.split() if len(word) <= LONGEST)
    return found


def _texts(message: Message | Searched) -> dict[str, str]:
    """The text of each field; a line end stands where no phrase may go on."""
    own: list[str] = []
    quoted: list[str] = []
    code: dict[str, list[str]] = {name: [] for name in CODE_KINDS.values()}
    last: list[str] | None = None
    for line, kind in zip(message.body.split("\n"), message.line_kinds, strict=False):
        name = CODE_KINDS.get(kind)
        if name is not None:
            code[name].append(code_line(line, kind))
            last = None
            continue
        if kind in _SKIPPED:
            last = None
            continue
        if kind == KIND_DIFF:
            line = _diff_line(line)
            if not line:
                last = None
                continue
        runs = quoted if kind in _QUOTED else own
        if runs is not last and runs:
            runs.append("\n")
        last = runs
        if kind == KIND_QUOTED:
            marks = _quote_marks(line)
            line = line[marks.end() :] if marks else line
        runs.append(line)
    texts = {name: "\n".join(lines) for name, lines in code.items()}
    texts["own"] = " ".join(own)
    texts["quoted"] = " ".join(quoted)
    return texts


def code_line(line: str, kind: str) -> str:
    """The text of a LINE of a diff without its sign, or behind the second ``@@``.

    The rest of a line that a mail program wrapped has neither.
    """
    if kind == KIND_HUNK:
        ranges = _hunk_ranges(line)
        return line[ranges.end() :] if ranges else line
    return line[1:] if line[:1] in _SIGNS[kind] else line


def _diff_line(line: str) -> str:
    """What a header line of a diff says beyond paths and blobs, as lore has it: "new file mode"."""
    if line.startswith(("index ", "--- ", "+++ ")):
        return ""
    return "diff git" if line.startswith("diff --git ") else line


def _head(message: Message | Searched) -> str:
    found = [
        word
        for mid in (message.message_id, *message.message_id_aliases)
        if mid
        for word in (*message_id_words(mid), BREAK)
    ]
    texts = []
    if message.from_ is not None:
        person = message.from_
        texts.append(
            " ".join(text for text in (person.name, person.email, person.email_masked) if text)
        )
    texts += [attachment.filename or "" for attachment in message.attachments]
    return f"{' '.join(found)} {cut(chr(10).join(texts))}"


def _paths(message: Message | Searched) -> list[str]:
    paths: dict[str, None] = {}
    for file in message.files:
        paths[file.path] = None
        if file.old_path:
            paths[file.old_path] = None
    return list(paths)

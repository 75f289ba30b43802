"""Questions for lore's search box, made from the mails of an archive: all prefixes and forms."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from patchlore.ingest.message import (
    KIND_ADDED,
    KIND_CONTEXT,
    KIND_HUNK,
    KIND_QUOTED,
    KIND_REMOVED,
    Message,
    Person,
)
from patchlore.kb.store import Archive


class Question(Struct, frozen=True):
    """A query, and the prefix or form that it tries.

    ``exact``: the answers must be one set; else words, whose stems may differ.
    """

    form: str
    query: str
    exact: bool = False


#: A form of question: of what it is made, None where a mail has nothing for it.
_Maker = Callable[["_Mail"], str | None]

#: Tries for each question that is asked for, before a form is given up.
_TRIES = 60


class _Mail:
    """A mail drawn by chance, and words drawn from its parts."""

    def __init__(self, message: Message, chance: random.Random) -> None:
        self.message = message
        self.chance = chance

    def subject(self) -> str | None:
        """A word of the subject."""
        return self._word([self.message.subject or ""])

    def own(self) -> str | None:
        """A word that the author wrote outside of diffs."""
        return self._word(self._lines("tn"))

    def of(self, kinds: str) -> str | None:
        """A word of the lines of these kinds."""
        return self._word(self._lines(kinds))

    def phrase(self) -> str | None:
        """Two or three words of the author's text, side by side."""
        lines = self._lines("tn")
        if not lines:
            return None
        found = re.findall(r"[A-Za-z_]+(?: [A-Za-z_]+){1,2}", self.chance.choice(lines))
        return f'"{self.chance.choice(found)}"' if found else None

    def address(self, people: Sequence[Person]) -> str | None:
        """The address of one of PEOPLE."""
        known = [person.email for person in people if person.email and " " not in person.email]
        return self.chance.choice(known) if known else None

    def day(self, days: int = 0, form: str = "%Y-%m-%d") -> str | None:
        """The day of the mail, or one up to DAYS later."""
        if self.message.timestamp is None:
            return None
        moment = datetime.fromtimestamp(self.message.timestamp, UTC)
        return (moment + timedelta(days=self.chance.randint(0, days))).strftime(form)

    def _lines(self, kinds: str) -> list[str]:
        pairs = zip(self.message.body.split("\n"), self.message.line_kinds, strict=False)
        return [line for line, kind in pairs if kind in kinds]

    def _word(self, lines: Sequence[str]) -> str | None:
        words = [
            word
            for line in lines
            for word in re.findall(r"(?<![\w'&])[A-Za-z_][A-Za-z0-9_]*(?![\w'&])", line)
            if 3 < len(word) <= 40 and word.upper() not in ("XOR", "NEAR")
        ]
        return self.chance.choice(words) if words else None


def _with(prefix: str, word: str | None, *, lower: bool = True) -> str | None:
    """PREFIX before WORD; a word in small letters is stemmed."""
    if word is None:
        return None
    return prefix + (word.lower() if lower else word)


def _joined(*parts: str | None, by: str = " ") -> str | None:
    words = [part for part in parts if part is not None]
    return by.join(words) if len(words) == len(parts) else None


_WORDS: dict[str, _Maker] = {
    "word": lambda mail: _with("", mail.own()),
    "Word": lambda mail: _with("", mail.own(), lower=False),
    "identifier": lambda mail: _with("", mail.of(KIND_ADDED), lower=False),
    "beginning*": lambda mail: _begun(mail.own()),
    '"phrase"': lambda mail: mail.phrase(),
    "s:": lambda mail: _with("s:", mail.subject()),
    's:"phrase"': lambda mail: _subject_phrase(mail.message),
    "b:": lambda mail: _with("b:", mail.own(), lower=False),
    'b:"phrase"': lambda mail: _with("b:", mail.phrase(), lower=False),
    "nq:": lambda mail: _with("nq:", mail.own()),
    "q:": lambda mail: _with("q:", mail.of(KIND_QUOTED)),
    "bs:": lambda mail: _with("bs:", mail.own()),
    "dfa:": lambda mail: _with("dfa:", mail.of(KIND_REMOVED), lower=False),
    "dfb:": lambda mail: _with("dfb:", mail.of(KIND_ADDED), lower=False),
    "dfctx:": lambda mail: _with("dfctx:", mail.of(KIND_CONTEXT), lower=False),
    "dfhh:": lambda mail: _with("dfhh:", mail.of(KIND_HUNK), lower=False),
    "dfn: path": lambda mail: _path(mail.message, whole=True),
    "dfn: name": lambda mail: _path(mail.message, whole=False),
    "f: address": lambda mail: _with("f:", mail.address(_sender(mail.message))),
    "f: name": lambda mail: _name(mail.message),
    "t:": lambda mail: _with("t:", mail.address(mail.message.to)),
    "c:": lambda mail: _with("c:", mail.address(mail.message.cc)),
    "tc:": lambda mail: _with("tc:", mail.address([*mail.message.to, *mail.message.cc])),
    "a:": lambda mail: _with("a:", mail.address([*_sender(mail.message), *mail.message.cc])),
    "m:": lambda mail: _with("m:", mail._word([mail.message.message_id or ""]), lower=False),
    "l:": lambda mail: _with("l:", next(iter(mail.message.lists), None)),
    "n:": lambda mail: _attachment(mail.message),
    "a b": lambda mail: _joined(_with("", mail.own()), _with("", mail.own())),
    "a -b": lambda mail: _joined(_with("s:", mail.subject()), _with("-", mail.own())),
    "a NOT b": lambda mail: _joined(
        _with("", mail.subject()), _with("b:", mail.own()), by=" NOT "
    ),
    "a OR b": lambda mail: _joined(
        _with("s:", mail.subject()), _with("nq:", mail.own()), by=" OR "
    ),
    "(a OR b) c": lambda mail: _grouped(mail),
    "s: d:": lambda mail: _joined(
        _with("s:", mail.subject()), _span(mail, days=400)
    ),
    "f: dfn:": lambda mail: _joined(
        _with("f:", mail.address(_sender(mail.message))), _path(mail.message, whole=False)
    ),
}  # fmt: skip

_EXACT: dict[str, _Maker] = {
    "d:a..b": lambda mail: _span(mail, days=90),
    "d:a..": lambda mail: _joined("d:", mail.day(form="%Y%m%d"), "..", by=""),
    "d:..b": lambda mail: _joined("d:..", mail.day(), by=""),
    "dt:a..b": lambda mail: _joined(
        "dt:", mail.day(form="%Y%m%d%H%M%S"), "..", mail.day(9, "%Y%m%d235959"), by=""
    ),
    "rt:a..b": lambda mail: _received(mail),
    "dfpre:": lambda mail: _blob(mail.message, "dfpre:", old=True),
    "dfpost:": lambda mail: _blob(mail.message, "dfpost:", old=False),
    "dfblob:": lambda mail: _blob(mail.message, "dfblob:", old=False),
    "patchid:": lambda mail: _with("patchid:", mail.message.patch_id),
    "mid:": lambda mail: _with("mid:", mail.message.message_id, lower=False),
}


def make_questions(archive: Archive, number: int, seed: int = 1) -> list[Question]:
    """Return at least NUMBER questions to an archive, as many of each form as it has mails for."""
    chance = random.Random(seed)
    last = archive.value("SELECT max(id) FROM message") or 0
    forms = {**_WORDS, **_EXACT}
    each = -(-number // len(forms))
    questions: list[Question] = []
    for form, make in forms.items():
        found: dict[str, None] = {}
        for _ in range(_TRIES * each if last else 0):
            if len(found) == each:
                break
            try:
                message = archive.message(chance.randint(1, last))
            except KeyError:
                continue
            query = make(_Mail(message, chance))
            if query is not None and query.isascii() and query.isprintable():
                found[query] = None
        questions += [Question(form, query, form in _EXACT) for query in found]
    return questions


def _sender(message: Message) -> list[Person]:
    return [] if message.from_ is None else [message.from_]


def _name(message: Message) -> str | None:
    name = message.from_.name if message.from_ is not None else None
    return f"f:{name.split()[0].lower()}" if name and name.split()[0].isalpha() else None


def _begun(word: str | None) -> str | None:
    return f"{word[:-2].lower()}*" if word is not None and len(word) > 6 else None


def _subject_phrase(message: Message) -> str | None:
    found = re.findall(r"[A-Za-z]+ [A-Za-z]+", message.clean_subject or "")
    return f's:"{found[-1]}"' if found else None


def _path(message: Message, *, whole: bool) -> str | None:
    for file in message.files:
        if re.fullmatch(r"[\w./-]+", file.path):
            return f"dfn:{file.path if whole else file.path.rpartition('/')[2]}"
    return None


def _blob(message: Message, prefix: str, *, old: bool) -> str | None:
    for file in message.files:
        blob = file.old_blob if old else file.new_blob
        if blob and set(blob) != {"0"}:
            return prefix + blob[:12]
    return None


def _attachment(message: Message) -> str | None:
    for attachment in message.attachments:
        name = (attachment.filename or "").rpartition(".")[2]
        if name.isalpha():
            return f"n:{name}"
    return None


def _received(mail: _Mail) -> str | None:
    """Seconds since 1970: public-inbox leaves the hour of a day to git, which takes that of now."""
    moment = mail.message.timestamp
    if moment is None:
        return None
    return f"rt:{moment - 60}..{moment + mail.chance.randint(1, 60) * 86400}"


def _span(mail: _Mail, days: int) -> str | None:
    return _joined("d:", mail.day(), "..", mail.day(days), by="")


def _grouped(mail: _Mail) -> str | None:
    either = _joined(_with("", mail.own()), _with("", mail.own()), by=" OR ")
    return _joined(f"({either})", _with("s:", mail.subject())) if either else None

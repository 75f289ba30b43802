"""``Context``: what every kind of fact is given: the text, its layout, and where evidence goes."""

from __future__ import annotations

import re
from functools import cached_property

from patchlore.ingest.errors import Defect
from patchlore.ingest.frame import Layout
from patchlore.ingest.mail import Mail
from patchlore.ingest.message import (
    KIND_NOTE,
    KIND_PROSE,
    Confidence,
    Evidence,
    Message,
    Rejected,
)
from patchlore.ingest.subject import Subject
from patchlore.ingest.text import Text
from patchlore.ingest.words import MAX_LINES

#: Longer lines are base64 or generated code; no fact is looked for in them.
MAX_LINE = 2000
#: Nor in more lines than these for one word.
MAX_MENTIONS = MAX_LINES

Line = tuple[int, str]

_OWN_RUN = re.compile(f"[{KIND_PROSE}{KIND_NOTE}]+".encode())


class Context:
    """One message while its facts are found. ``message`` is filled in place."""

    def __init__(
        self,
        mail: Mail,
        text: Text,
        layout: Layout,
        subject: Subject,
        message: Message,
        fields: dict[str, list[str]],
    ) -> None:
        self.mail = mail
        #: The headers' values by name (``Mail.by_name``).
        self.fields = fields
        self.text = text
        self.layout = layout
        self.subject = subject
        self.message = message
        #: Which words stand where: a cheap test before a fact's patterns are tried.
        self.words = text.words
        #: Lines that another fact has claimed (a revert's "commit X upstream.").
        self.claimed: set[int] = set()

    @cached_property
    def lower(self) -> str:
        """The body with its ASCII letters in lower case, every character in its place."""
        body = self.text.body
        if body.isascii():
            return body.lower()
        return body.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")

    @cached_property
    def own_lines(self) -> list[Line]:
        """The author's own prose with its line indices, notes below the cut included."""
        indent = " " * self.layout.indent
        text = self.text
        lines: list[Line] = []
        for run in _OWN_RUN.finditer(text.kinds):
            start, end = run.span()
            lines.extend(zip(range(start, end), text.lines[start:end], strict=True))
        if text.longest > MAX_LINE:
            lines = [line for line in lines if len(line[1]) <= MAX_LINE]
        if indent:
            return [(index, line.removeprefix(indent)) for index, line in lines]
        return lines

    @cached_property
    def message_lines(self) -> list[Line]:
        """The commit message of the carried patch; for other mail the author's own prose.

        A reply without a patch has no commit message: its tags belong to the
        patch under review.
        """
        if self.message.is_patch:
            if self.text.longest <= MAX_LINE:
                return self.layout.message
            return [line for line in self.layout.message if len(line[1]) <= MAX_LINE]
        if self.message.is_reply or self.subject.notice == "failed":
            return []  # a failure notice encloses what its tree did not get
        return self.own_lines

    def lines_with(self, *words: str) -> list[Line]:
        """The lines that hold one of WORDS (in lower case, whatever case the line has), in order.

        The words are some of ``words.WORDS``, which were looked for at once.
        Lines longer than MAX_LINE are left out.
        """
        text, found = self.text, self.words
        if not found.any(*words):
            return []
        if text.flat:
            return [
                (index, line)
                for index, line in enumerate(text.lines)
                if any(word in line.lower() for word in words)
            ]
        indices: set[int] = set()
        for word in words:
            rows = found.lines(word)
            if len(indices) + len(rows) < MAX_MENTIONS:
                indices.update(rows)
                continue
            for index in rows:
                indices.add(index)
                if len(indices) >= MAX_MENTIONS:
                    self._tell_of_mentions(index, word)
                    break
        lines = text.lines
        return [(n, lines[n]) for n in sorted(indices) if len(lines[n]) <= MAX_LINE]

    def lines_matching(self, pattern: re.Pattern[str]) -> list[Line]:
        """The lines in which PATTERN, which ends with its line, is found, as for ``lines_with``."""
        text = self.text
        if text.flat:
            return [line for line in enumerate(text.lines) if pattern.search(line[1])]
        body, lines = text.body, text.lines
        found: list[Line] = []
        index = position = seen = 0
        match = pattern.search(body)
        while match is not None:
            index += body.count("\n", position, match.start())
            position = match.start()
            if len(lines[index]) <= MAX_LINE:
                found.append((index, lines[index]))
            seen += 1
            if seen == MAX_MENTIONS:
                self._tell_of_mentions(index, pattern.pattern)
                break
            end = body.find("\n", position)
            match = pattern.search(body, end) if end >= 0 else None
        return found

    def _tell_of_mentions(self, index: int, word: str) -> None:
        """Lines below this one are left out for WORD and the like; said once a mail."""
        defects = self.message.defects
        if not any(defect.code == "too-many-mentions" for defect in defects):
            line = self.text.line_number(index)
            defects.append(Defect("too-many-mentions", line, f"{MAX_MENTIONS} lines with {word!r}"))

    def note(
        self,
        fact: str,
        value: object,
        index: int,
        rule: str,
        *,
        text: str | None = None,
        confidence: Confidence = "certain",
    ) -> None:
        """Record that FACT with VALUE stands on line INDEX (below 0: in the headers).

        ``text`` is what the line says of it; the whole line unless given, or
        where a wrap parted what it says ("GCC PR" at a line's end).
        """
        line = self.text.lines[index] if index >= 0 else ""
        said = line if text is None or (index >= 0 and text not in line) else text
        said = said.strip()
        span = None
        if index >= 0:
            start = max(line.find(said), 0)
            span = self.text.span(index, start, start + len(said))
        self.message.evidence.append(
            Evidence(
                fact=fact,
                value=str(value),
                line=self.text.line_number(index),
                span=span,
                rule=rule,
                text=said[:500],
                confidence=confidence,
            )
        )

    def reject(self, fact: str, index: int, rule: str, text: str) -> None:
        """Record a candidate for FACT that the named RULE turned down."""
        line = self.text.line_number(index)
        self.message.rejected.append(Rejected(fact=fact, line=line, rule=rule, text=text[:500]))


def is_robot(message: Message) -> bool:
    """Is the sender a test robot? Its name says so, since archives mask addresses."""
    sender = message.from_
    if sender is None:
        return False
    name = (sender.name or sender.email or "").lower()
    return "test robot" in name or "syzbot" in name or name == "lkp@intel.com"

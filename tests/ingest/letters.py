"""Mails of invented people, built from the part that a test is about, and their facts."""

from __future__ import annotations

from itertools import accumulate

from patchlore.ingest.message import Evidence, Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Fidelity, Raw, Source

#: Hashes that no test has to spell: 40 digits each, all different.
SHA = "5e0ac1d27f3b94866a1fd0c2b7e8934d5a6f7b01"
OTHER = "9b41f0e6d2c8a735be1940cc6d82f3a7e5b91d02"
THIRD = "c07fd3b8a16e5294f8d1b63a0e97c45f2ab8de03"

DIFF = """\
diff --git a/lamp.c b/lamp.c
index 1a2b3c4d5e6f..6f5e4d3c2b1a 100644
--- a/lamp.c
+++ b/lamp.c
@@ -1,3 +1,3 @@ static void lamp_dim(struct lamp *lamp)
 {
-	lamp->level = 0;
+	lamp->level = 1;
 }
"""


def raw(data: bytes, form: str = "rfc822", fidelity: Fidelity = "exact") -> Raw:
    """DATA as a source yields it."""
    return Raw(data=data, source=Source(path="letter", format=form, fidelity=fidelity))


def letter(body: str, *headers: str, subject: str = "[PATCH] lamp: dim") -> bytes:
    """A mail as sent by Nora Finch, further HEADERS below hers."""
    lines = [
        "From: Nora Finch <nora@example.org>",
        "Date: Thu, 8 Jun 2023 09:06:05 +0200",
        "Message-ID: <lamp-1@example.org>",
        f"Subject: {subject}",
        *headers,
    ]
    return ("\n".join(lines) + "\n\n" + body).encode()


def parse(data: bytes, form: str = "rfc822", fidelity: Fidelity = "exact") -> Message:
    """The facts of DATA, after a look at what holds for every message."""
    message = parse_raw(raw(data, form, fidelity))
    check(message)
    return message


def parse_letter(body: str, *headers: str, subject: str = "[PATCH] lamp: dim") -> Message:
    """The facts of a mail with BODY."""
    return parse(letter(body, *headers, subject=subject))


def parse_patch(message: str, *headers: str, subject: str = "[PATCH] lamp: dim") -> Message:
    """The facts of a patch mail whose commit message is MESSAGE."""
    stat = " lamp.c | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"
    body = f"{message}\n---\n{stat}\n{DIFF}-- \n2.41.0\n"
    return parse_letter(body, *headers, subject=subject)


def evidence(message: Message, fact: str) -> list[Evidence]:
    """What is on record for FACT, in order."""
    return [entry for entry in message.evidence if entry.fact == fact]


def check(message: Message) -> None:
    """What holds for every message: one kind a line, evidence that points at its text."""
    lines = message.body.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not message.flattened:
        assert len(message.line_kinds) == len(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for entry in message.evidence:
        assert entry.confidence in ("certain", "high", "medium", "low")
        if entry.line == 0:
            assert entry.span is None
            continue
        assert entry.line <= max(len(lines), 1)
        assert entry.span is not None
        start, end = entry.span
        assert 0 <= start <= end <= len(message.body)
        pointed = message.body[start:end]
        assert pointed.strip()[:500] == entry.text
        if not message.flattened:
            assert starts[entry.line - 1] <= start <= starts[entry.line]
    for nested in message.nested:
        check(nested)

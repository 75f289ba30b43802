"""What holds for any input: nothing raises, all values can be written, time is linear."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from patchlore.ingest.addresses import parse_address, parse_addresses
from patchlore.ingest.charset import decode
from patchlore.ingest.dates import effective_date, parse_date, timestamp
from patchlore.ingest.detect import READERS
from patchlore.ingest.diff_names import file_name, split_git_header, unquote
from patchlore.ingest.encoded_words import decode_words
from patchlore.ingest.function_names import function_name
from patchlore.ingest.headers import message_id, message_ids, read_header_block
from patchlore.ingest.message import Message
from patchlore.ingest.mime import lenient_base64, parse_content_type, unflow
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.patch_id import stable_patch_id
from tests.ingest.letters import DIFF, OTHER, SHA, letter, parse, raw

FORMATS = sorted({*READERS, "rfc822", "patch", "git-patch", "mbox", "unknown"})

#: Mails that have something of everything in them, to be damaged.
SPECIMENS = [
    letter(
        f"From: Ada Quill <ada@example.org>\n\ncommit {SHA} upstream.\n\nSee GCC PR108477 and\n"
        f'https://lore.kernel.org/r/lamp-0@example.org\n\nFixes: {OTHER[:12]} ("lamp: glow")\n'
        "Cc: stable@vger.kernel.org # 5.4+\nSigned-off-by: Ada Quill <ada@example.org>\n---\n"
        f" lamp.c | 2 +-\n\n{DIFF}-- \n2.41.0\n",
        "Received: from a by b; Thu, 8 Jun 2023 09:06:06 +0200",
        "To: =?utf-8?q?B=C3=B6?= <bo@example.org>, lamps@example.org",
        subject="[PATCH 5.10.y v2 1/2] lamp: dim",
    ),
    letter(
        "--=-x\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
        "VGV4dC4K\n--=-x\nContent-Type: multipart/mixed; boundary=y\n\n--y\n"
        'Content-Type: text/x-patch; name="lamp.patch"\nContent-Disposition: attachment\n\n'
        f"{DIFF}--y--\n--=-x\nContent-Type: message/rfc822\n\nSubject: inner\n\nText\n--=-x--\n",
        'Content-Type: multipart/mixed; boundary="=-x"',
        "MIME-Version: 1.0",
    ),
    letter(
        f"> commit {SHA} upstream.\n> {DIFF}\n\nReviewed-by: Bo Reed <bo@example.org>\n\n"
        "-----Original Message-----\nFrom: Ada Quill\nSent: now\n\nOn Thu, Nora wrote:\n| a\n",
        "In-Reply-To: <lamp-0@example.org>",
        "Content-Type: text/plain; charset=iso-8859-1; format=flowed; delsp=yes",
        "Content-Transfer-Encoding: quoted-printable",
        subject="=?utf-8?q?Re=3A?= [PATCH] lamp",
    ),
    letter(
        "diff --cc lamp.c\nindex 1,2..3\n--- a/lamp.c\n+++ b/lamp.c\n"
        "@@@ -1,1 -1,1 +1,1 @@@\n--a\n++b\n"
        "*** a/lamp.c\n--- b/lamp.c\n***************\n*** 1,2 ****\n! a\n--- 1,2 ----\n! b\n"
        "diff --git a/p b/p\nGIT binary patch\nliteral 1\nIcmZ\n\nliteral 0\nHcmV\n\n"
        "Index: x\n=====\n--- x\t(revision 1)\n+++ x\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n",
        subject='Patch "lamp: dim" has been added to the 6.6-stable tree',
    ),
]
ENCODER = msgspec.json.Encoder()


def look(data: bytes, form: str) -> Message:
    """Parse DATA and write the message as JSON: no value may be unprintable."""
    message = parse(data, form)
    ENCODER.encode(message)
    return message


@given(data=st.binary(max_size=400), form=st.sampled_from(FORMATS))
def test_any_bytes_in_any_format(data: bytes, form: str) -> None:
    """Whatever the bytes are and whatever they are said to be, a message comes out."""
    look(data, form)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A specimen with pieces cut out, doubled, swapped or overwritten."""
    data = draw(st.sampled_from(SPECIMENS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(start + draw(st.integers(0, 120)), len(data))
        piece = data[start:end]
        match draw(st.sampled_from(["cut", "double", "move", "overwrite", "truncate", "crlf"])):
            case "cut":
                data = data[:start] + data[end:]
            case "double":
                data = data[:end] + piece + data[end:]
            case "move":
                rest = data[:start] + data[end:]
                place = draw(st.integers(0, len(rest)))
                data = rest[:place] + piece + rest[place:]
            case "overwrite":
                data = data[:start] + draw(st.binary(max_size=20)) + data[end:]
            case "truncate":
                data = data[:start]
            case "crlf":
                data = data.replace(b"\n", b"\r\n")
    return data


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=damaged())
def test_damaged_mails(data: bytes) -> None:
    """Damage to a mail may cost facts, never an exception."""
    look(data, "rfc822")


@given(data=damaged(), form=st.sampled_from(FORMATS))
def test_damaged_mails_as_other_formats(data: bytes, form: str) -> None:
    """The same under every other name of a format."""
    look(data, form)


BODY_PIECES = [
    "diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1,2 +1,2 @@", "-x", "+y", " z", "", "---",
    "-- ", "> ", "> q", f"commit {SHA} upstream.", f"From {SHA} Mon Sep 17 00:00:00 2001",
    "From: Nora Finch <nora@example.org>", "Subject: [PATCH] x", "Date: now", " folded",
    f"Fixes: {SHA[:12]} (\"a", "\")", "Author: A <a@example.org>", f"commit {SHA}", "    indented",
    "6.6-stable review patch.  If", "------------------", "-----Original Message-----", "| bar",
    "On Thu, Bo wrote:", " a.c | 2 +-", " 1 file changed", "GIT binary patch", "literal 3", "zcmV",
    "index 1234567..2345678 100644", "new file mode 100644", "rename from a", "rename to b",
    "*** a/a", "***************", "*** 1 ****", "--- 1 ----", "! x", "diff --cc a",
    "@@@ -1 -1 +1 @@@",
    "Cc: stable@vger.kernel.org # 5.4", "This reverts commit", SHA, "Index: a", "=======",
    "Only in a: b", "Binary files a and b differ", "___________________________",
    "list@example.org",
    "8< --------------------", "\\ No newline at end of file", "Upstream Status: x", "\xa0",
    "\u2028",
    "The following commit has been merged into the x branch of tip:", "Commit-ID: x", "PR c/1234",
    "base-commit: " + SHA, "https://example.org/", "I've now dropped it", "hulk inclusion",
]  # fmt: skip


@settings(max_examples=150)
@given(
    lines=st.lists(st.sampled_from(BODY_PIECES), max_size=30),
    subject=st.sampled_from(["[PATCH 5.4] x", "Re: x", "Linux 6.6.9", 'Revert "x"', ""]),
)
def test_any_arrangement_of_lines(lines: list[str], subject: str) -> None:
    """Lines that mean something, in any order: kinds and evidence stay in step with the body."""
    look(letter("\n".join(lines), subject=subject), "rfc822")
    look("\n".join(lines).encode(), "patch")


@given(st.text(max_size=200))
def test_readers_of_text(text: str) -> None:
    """The small readers take any text."""
    parse_address(text)
    parse_addresses(text)
    timestamp(effective_date(parse_date(text), [text], parse_date(text)))
    decode_words(text)
    decode_words(f"=?utf-8?q?{text}?= =?{text}?b?{text}?=", in_address=True)
    message_id(text)
    message_ids(text)
    parse_content_type(text)
    unflow(text, True)
    unquote(f'"{text}')
    file_name(f"--- {text}")
    split_git_header(f"diff --git {text}")
    function_name(text)


@given(st.binary(max_size=200), st.one_of(st.none(), st.text(max_size=20)))
def test_readers_of_bytes(data: bytes, label: str | None) -> None:
    """And the readers of bytes any bytes, under any label; what they decode can be written."""
    decode(data, label)[0].encode("utf-8")
    read_header_block(data)
    lenient_base64(data)
    stable_patch_id([b"diff --git a/a b/a", *data.split(b"\n")])


@given(
    st.binary(max_size=60),
    st.sampled_from(
        ["utf-7", "utf-16", "utf-32", "iso-2022-jp", "hz", "gb2312", "idna", "punycode", "rot13",
         "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "zlib", "base64", "utf-8-sig"]
    ),
)  # fmt: skip
def test_odd_charsets(data: bytes, label: str) -> None:
    """Labels of charsets that are stateful, no text, or Python's own."""
    decode(data, label)[0].encode("utf-8")


HOSTILE: dict[str, Any] = {
    "parentheses": lambda n: letter("(" * n, subject="(" * n),
    "address parentheses": lambda n: letter("x", "To: " + "(" * n),
    "address quotes": lambda n: letter("x", "Cc: " + '"' * n + "<" * n),
    "address escapes": lambda n: letter("x", 'To: "' + 'a\\"' * (n // 3)),
    "commas": lambda n: letter("," * n, "To: " + "," * n),
    "quote marks": lambda n: letter(">" * n),
    "quote lines": lambda n: letter(">\n" * n),
    "arrows": lambda n: letter(">=" * n),
    "arrow lines": lambda n: letter("> diff --git a/x b/x\n" * (n // 20)),
    "tags": lambda n: letter("[PATCH " * (n // 7), subject="[PATCH " * (n // 7)),
    "brackets": lambda n: letter("x", subject="[x] " * (n // 4) + "[PATCH]"),
    "replies": lambda n: letter("x", subject="Re: " * (n // 4)),
    "fixes": lambda n: letter("Fixes: " * (n // 7)),
    "fixes lines": lambda n: letter(f'Fixes: {SHA[:12]} ("\n' * (n // 22) + DIFF),
    "fixes list": lambda n: letter(
        f"Fixes: {SHA[:12]}" + f", {SHA[:12]}" * (n // 14) + "\n" + DIFF
    ),
    "commit lines": lambda n: letter(f"commit {SHA}\nAuthor: x\n" * (n // 58) + DIFF),
    "status lines": lambda n: letter(
        "Upstream Status: x\n" + f"commit {SHA}\nAuthor: x\n" * (n // 58) + DIFF
    ),
    "format patches": lambda n: letter(f"From {SHA} Mon Sep 17 00:00:00 2001\n" * (n // 72) + DIFF),
    "tip heads": lambda n: letter(
        "The following commit has been merged into the x branch of tip:\n" * (n // 63) + DIFF
    ),
    "tags in text": lambda n: letter("Reviewed-by: x <x@y>\n" * (n // 21) + DIFF),
    "folded tag": lambda n: letter("Tested-on: x\n" + " y\n" * (n // 3) + DIFF),
    "hex": lambda n: letter("commit " + "0a" * n + "\n" + f"commit {SHA} " * (n // 48)),
    "mentions": lambda n: letter("".join(f"commit {k:012x}a\n" for k in range(n // 21))),
    "reverts": lambda n: letter(
        "This reverts commits " + ", ".join(f"{k:011x}a" for k in range(n // 14)) + "\n" + DIFF
    ),
    "blanks": lambda n: letter(" " * n + "x", subject="a" + " " * n + "b"),
    "blank lines": lambda n: letter("\n" * n + DIFF),
    "tabs in a line": lambda n: letter(
        "Cc: stable@vger.kernel.org #" + "\t 5.4" * (n // 5) + "\n" + DIFF
    ),
    "urls": lambda n: letter("https://example.org/" + "a/" * n),
    "url ids": lambda n: letter("https://lore.kernel.org/" + "a@" * n),
    "url brackets": lambda n: letter("https://example.org/" + "(" * n + ")" * n + "." * n),
    "bugs": lambda n: letter("PR c/1234 " * (n // 10)),
    "diff words": lambda n: letter("diff -\n" * (n // 7)),
    "index words": lambda n: letter("Index: x\n" * (n // 9)),
    "minus lines": lambda n: letter("--- x\n" * (n // 6)),
    "star lines": lambda n: letter("*** x\n--- y\n*****\n" * (n // 18)),
    "plus lines": lambda n: letter("--- a/x\n+++ b/x\n@@ -1 +1 @@\n" * (n // 28)),
    "git lines": lambda n: letter("diff --git a/x b/x\nindex 1..2\n" * (n // 30)),
    "long git line": lambda n: letter("diff --git " + "a b/" * (n // 4) + "\nindex 1..2\n"),
    "hunk that never ends": lambda n: letter(
        "--- a/x\n+++ b/x\n@@ -1,999999999 +1,999999999 @@\n" + "x\n" * (n // 2)
    ),
    "hunks without marks": lambda n: letter(
        "--- a/x\n+++ b/x\n" + "@@ -1,9999 +1,9999 @@\nx\n+\n" * (n // 26)
    ),
    "wrapped lines": lambda n: letter(
        "--- a/x\n+++ b/x\n@@ -1,999999999 +1,999999999 @@\n"
        + ("+" + "y" * 70 + "\nz\n") * (n // 74)
    ),
    "binary data": lambda n: letter(
        "diff --git a/x b/x\nGIT binary patch\n" + "literal 1\nabc\n\n" * (n // 15)
    ),
    "combined": lambda n: letter("diff --cc x\nindex 1,2..3\n" + "@@@ -1 -1 +1 @@@\n" * (n // 17)),
    "digits": lambda n: letter("9" * n + "\n@@ -" + "9" * n + " +1 @@\n"),
    "footers": lambda n: letter("______________\n" * (n // 15)),
    "signatures": lambda n: letter("-- \n" * (n // 4)),
    "statistics": lambda n: letter(" a |" + " |" * n + "\n" + " a.c | 2 +-\n" * (n // 12)),
    "many headers": lambda n: letter("x", *["To: a@example.org"] * (n // 18)),
    "received": lambda n: letter("x", *["Received: a; b; c"] * (n // 18)),
    "folds": lambda n: letter("x", "To: a" + "\n b" * (n // 3)),
    "references": lambda n: letter("x", "References: " + "<" * n, "In-Reply-To: " + "<a" * n),
    "encoded words": lambda n: letter("x", subject="=?utf-8?q?a?= " * (n // 14)),
    "half encoded words": lambda n: letter("x", subject="=?utf-8?q?" * (n // 10)),
    "parameters": lambda n: letter("x", "Content-Type: text/plain" + '; a="b' * (n // 6)),
    "nested parts": lambda n: letter(
        "".join(
            f"--b{k}\nContent-Type: multipart/mixed; boundary=b{k + 1}\n\n" for k in range(n // 55)
        ),
        "Content-Type: multipart/mixed; boundary=b0",
    ),
    "parts": lambda n: letter("--b\n\nx\n" * (n // 7), "Content-Type: multipart/mixed; boundary=b"),
    "nested mails": lambda n: letter(
        "Content-Type: message/rfc822\n\n" * (n // 31), "Content-Type: message/rfc822"
    ),
    "flowed": lambda n: letter("a \n" * (n // 3), "Content-Type: text/plain; format=flowed"),
    "base64": lambda n: letter("QUJD\n" * (n // 5) + "!", "Content-Transfer-Encoding: base64"),
    "quoted-printable": lambda n: letter("=\n" * n, "Content-Transfer-Encoding: quoted-printable"),
    "html": lambda n: letter("<div>" * (n // 50), "Content-Type: text/html"),
    "original messages": lambda n: letter("From: x\n" * (n // 8) + "Sent: y\n"),
    "in-body headers": lambda n: letter("Subject: x\n" * (n // 11) + DIFF),
    "table rows": lambda n: letter("gcc 12.2  1.0  2.0\n" * (n // 19)),
    "bisections": lambda n: letter("first bad commit: [\n" * (n // 20)),
    "notices": lambda n: letter(
        "", subject='Patch "' + 'x" has been added to' * (n // 20) + " the 5.4-stable"
    ),
}


def _seconds(data: bytes) -> float:
    """The processor time that it takes to parse DATA."""
    item = raw(data)
    start = time.process_time()
    parse_raw(item)
    return time.process_time() - start


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    """Four times the bytes take about four times as long, whatever they are made of.

    Quadratic work would take sixteen times as long; what a second run of the
    same takes less is the machine's.
    """
    small, large = HOSTILE[name](32_000), HOSTILE[name](128_000)
    for _ in range(4):
        if _seconds(large) < 9 * _seconds(small) + 0.1:
            return
    pytest.fail("parsing takes more than in proportion")

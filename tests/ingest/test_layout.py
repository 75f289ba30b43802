"""Which line of a body is what, and whose words they are."""

from __future__ import annotations

import pytest

from patchlore.ingest.message import Message
from tests.ingest.letters import DIFF, OTHER, SHA, parse_letter, parse_patch

ADA = "Ada Quill <ada@example.org>"


def author(message: Message) -> str | None:
    """The author's name."""
    return message.author.name if message.author else None


@pytest.mark.parametrize(
    ("head", "name", "text"),
    [
        (f"From: {ADA}\n\n", "Ada Quill", "Text."),
        (f"\n\nFrom: {ADA}\n\n", "Ada Quill", "Text."),
        (f"From: {ADA}\nSubject: [PATCH] lamp: glow\nDate: now\n\n", "Ada Quill", "Text."),
        ("From: Ada Quill\n <ada@example.org>\n\n", "Ada Quill", "Text."),
        ("From: =?utf-8?q?Ad=C3=A1?= <ada@example.org>\n\n", "Adá", "Text."),
        ("From: my point of view\n\n", "Nora Finch", "From: my point of view\n\nText."),
        ("From now on it is dim.\n\n", "Nora Finch", "From now on it is dim.\n\nText."),
    ],
)
def test_in_body_from(head: str, name: str, text: str) -> None:
    """An in-body From with an address names the author and is no part of the message."""
    message = parse_patch(f"{head}Text.")
    assert (author(message), message.commit_message) == (name, text)
    assert message.from_ is not None
    assert message.from_.name == "Nora Finch"


@pytest.mark.parametrize(
    "head",
    [
        f"From: {ADA}\nDate: Thu, 8 Jun 2023 09:06:05 +0200\n\n> The lamp is dim.\n",
        f"From: {ADA}\n> The lamp is dim.\n",
        "From: Ada Quill\n> Sent: Thursday\n> To: Nora Finch\n>\n> The lamp is dim.\n",
    ],
)
def test_head_of_a_quotation_is_no_author(head: str) -> None:
    """Whom a reply quotes did not write the reply."""
    message = parse_letter(f"{head}\nApplied, thanks.\n", subject="Re: [PATCH] lamp: dim")
    assert author(message) == "Nora Finch"
    assert message.line_kinds[0] == "q"


def test_original_from_of_a_list_that_rewrites_it() -> None:
    """X-Original-From names the author where a list put itself into From."""
    assert author(parse_letter("Text.\n", f"X-Original-From: {ADA}", subject="lamp")) == "Ada Quill"


def test_carried_subject_differs_from_the_mail_s() -> None:
    """An in-body Subject is the commit's title; the mail keeps its own."""
    message = parse_patch(f"From: {ADA}\nSubject: lamp: glow\n\nText.")
    assert message.commit_subject == "lamp: glow"
    assert message.clean_subject == "lamp: dim"


def test_format_patch_inside_a_body() -> None:
    """A whole format-patch in a body starts its own message and its own cut."""
    message = parse_letter(
        f"Hello,\n---\nplease take this:\n\nFrom {SHA} Mon Sep 17 00:00:00 2001\nFrom: {ADA}\n"
        "Date: Thu, 1 Jun 2023 09:06:05 +0200\nSubject: [PATCH] lamp: glow\nMIME-Version: 1.0\n\n"
        f'Why.\n\nFixes: {OTHER[:12]} ("lamp: off")\n---\n lamp.c | 2 +-\n\n{DIFF}-- \n2.41.0\n',
        subject="a patch",
    )
    assert message.own_commit == SHA
    assert author(message) == "Ada Quill"
    assert message.commit_subject == "lamp: glow"
    assert message.commit_message == f'Why.\n\nFixes: {OTHER[:12]} ("lamp: off")'
    assert [ref.sha for ref in message.fixes] == [OTHER[:12]]


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("Text.\n> quoted\n>> deeper\n", "tqq"),
        ("Text.\n > indented quote\n", "tq"),
        ("Bo wrote:\n| quoted\n| more\nText.\n", "tqqt"),
        ("| a | b |\n| 1 | 2 |\n", "tt"),
        (">From here on\n", "t"),
        ("Text.\n-- \nNora\n", "tgg"),
        ("Text.\n--\nNora\n", "tgg"),
        (
            "Text.\n_______________________________________________\n"
            "lamps mailing list\nlamps@example.org\n",
            "tfff",
        ),
        ("Text.\n-- \nTo unsubscribe from this list: send a line\n", "tgf"),
        (" lamp.c | 2 +-\n 1 file changed, 1 insertion(+)\n create mode 100644 x\n", "sss"),
        ("a\n-----Original Message-----\nb\n", "too"),
        ("a\nFrom: Bo Reed\nSent: Thursday\nb\n", "tooo"),
    ],
)
def test_kinds_of_lines(body: str, kinds: str) -> None:
    """Own words, quotations with and without marks, signatures, footers, diffstats."""
    assert parse_letter(body, subject="lamp").line_kinds == kinds


def test_quoted_output_of_strace_is_no_file() -> None:
    """``+++ exited with 0 +++`` in a quotation names no file."""
    message = parse_letter("> +++ exited with 0 +++\n\nHm.\n", subject="Re: lamp")
    assert message.quoted_files == []


def test_cut_ends_the_commit_message() -> None:
    """The first ``---`` line ends the message; what follows are notes."""
    message = parse_patch("Text with --- inside.\n\n----\nMore.\n---\nv2: shorter")
    assert message.commit_message == "Text with --- inside.\n\n----\nMore."
    assert "n" in message.line_kinds


@pytest.mark.parametrize(
    ("subject", "headers", "wanted"),
    [
        ("[PATCH 0/3] lamps", [], (False, True)),
        ("[PATCHSET 1/3] lamps", [], (False, True)),
        ("[PATCH 0/3] lamps", ["In-Reply-To: <lamp-0@example.org>"], (False, True)),
        ("Re: [PATCH 0/3] lamps", [], (True, False)),
        ("lamps", ["In-Reply-To: <lamp-0@example.org>"], (True, False)),
        ("lamps", [], (False, False)),
        ("[GIT PULL] lamps", ["In-Reply-To: <lamp-0@example.org>"], (False, False)),
    ],
)
def test_reply_and_cover(subject: str, headers: list[str], wanted: tuple[bool, bool]) -> None:
    """A reply by mark or by header; a cover letter by its tag."""
    message = parse_letter("Text.\n", *headers, subject=subject)
    assert (message.is_reply, message.is_cover_letter) == wanted


def test_patch_in_a_thread_is_no_reply() -> None:
    """A patch of a series answers the cover letter and is no reply."""
    message = parse_patch("Text.", "In-Reply-To: <lamp-0@example.org>", subject="[PATCH 1/3] lamp")
    assert message.is_patch
    assert not message.is_reply

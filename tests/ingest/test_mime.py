"""Mails as sent to decoded parts: transfer encodings, charsets, attachments, damage."""

from __future__ import annotations

import base64
import email
import email.policy
import quopri
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.mime import lenient_base64, parse_content_type, read_mail, unflow
from tests.ingest.letters import DIFF, letter, parse, parse_letter, raw


def multipart(*parts: str, kind: str = "mixed", closed: bool = True) -> bytes:
    """A multipart mail of PARTS, each with headers of its own."""
    body = "".join(f"--=-b\n{part}\n" for part in parts) + ("--=-b--\n" if closed else "")
    return letter(body, "MIME-Version: 1.0", f'Content-Type: multipart/{kind}; boundary="=-b"')


TEXT = "Content-Type: text/plain; charset=utf-8\n\nText.\n"
PATCH = (
    "Content-Type: text/x-patch; name=lamp.patch\n"
    f"Content-Disposition: attachment; filename=lamp.patch\n\n{DIFF}"
)


@pytest.mark.parametrize("encoding", ["7bit", "8bit", "binary", "", "x-unknown", "8BIT"])
def test_identity(encoding: str) -> None:
    """Encodings that change nothing, unknown ones among them."""
    message = parse_letter("Text.\n", f"Content-Transfer-Encoding: {encoding}")
    assert message.body == "Text.\n"
    assert [defect.code for defect in message.defects] == (
        ["unknown-transfer-encoding"] if encoding == "x-unknown" else []
    )


def encoded(body: str, encoding: str, charset: str = "utf-8") -> bytes:
    """A mail whose body is encoded."""
    octets = body.encode(charset)
    text = base64.encodebytes(octets) if encoding == "base64" else quopri.encodestring(octets)
    head = letter(
        "",
        f"Content-Type: text/plain; charset={charset}",
        f"Content-Transfer-Encoding: {encoding}",
    )
    return head + text


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_whole_patch_encoded(encoding: str) -> None:
    """A patch is found below its transfer encoding; its id is that of the octets inside."""
    plain = parse_letter(f"Text.\n---\n{DIFF}")
    message = parse(encoded(f"Text.\n---\n{DIFF}", encoding))
    assert message.patch_id == plain.patch_id
    assert message.body == plain.body


def test_carriage_returns_inside_base64() -> None:
    """Line ends of the transport inside an encoded body are no content."""
    message = parse(encoded(f"Text.\n---\n{DIFF}".replace("\n", "\r\n"), "base64"))
    assert [f.path for f in message.files] == ["lamp.c"]
    assert "\r" not in message.body


def test_footer_below_base64() -> None:
    """A list's plain footer below an encoded body does not spoil it."""
    assert lenient_base64(b"VGV4dC4K\n_____\nlist\n") == b"Text.\n_____\nlist\n"


def test_missing_padding() -> None:
    """base64 without its padding can be read."""
    assert lenient_base64(b"YQ") == b"a"
    assert lenient_base64(b"!") is None


@pytest.mark.parametrize(
    ("label", "octets", "text"),
    [
        ("utf-8", "Bö".encode(), "Bö"),
        ("iso-8859-1", b"B\xf6", "Bö"),
        ("iso-8859-1", b"\x93B\x94", "“B”"),
        ("gb2312", "镕".encode("gbk"), "镕"),
        ("ISO-2022-JP", "電灯".encode("iso-2022-jp"), "電灯"),
        ("x-unknown", "Bö".encode(), "Bö"),
        ("us-ascii", "Bö".encode(), "Bö"),
        ("iso-8859-1", "Bö".encode(), "Bö"),
        ("koi8-r", "лампа".encode("koi8-r"), "лампа"),
        ("utf-8", "Bö\n".encode() + b"caf\xe9", "Bö\ncafé"),
    ],
    ids=["utf-8", "latin-1", "windows quotes", "gbk as gb2312", "stateful", "unknown label",
         "ascii label", "utf-8 as latin-1", "koi8", "latin-1 footer"],
)  # fmt: skip
def test_charsets(label: str, octets: bytes, text: str) -> None:
    """Labels lie: a label that decodes, then UTF-8, then each line by itself."""
    data = letter("", f"Content-Type: text/plain; charset={label}") + octets
    assert parse(data).body == text


def test_attached_patch() -> None:
    """An attached diff is the author's patch; the attachment is on record."""
    message = parse(multipart(TEXT, PATCH))
    assert message.is_patch
    assert [f.path for f in message.files] == ["lamp.c"]
    (attachment,) = message.attachments
    assert (attachment.filename, attachment.is_patch) == ("lamp.patch", True)
    assert attachment.size == len(DIFF)


def test_attached_format_patch_has_its_own_message() -> None:
    """An attached format-patch brings its subject, author and trailers."""
    message = parse(
        multipart(
            TEXT,
            "Content-Type: text/x-patch; name=0001-lamp.patch\n"
            "Content-Disposition: attachment; filename=0001-lamp.patch\n\n"
            "From: Ada Quill <ada@example.org>\nSubject: [PATCH] lamp: glow\n\nWhy.\n\n"
            f"Signed-off-by: Ada Quill <ada@example.org>\n---\n{DIFF}",
        )
    )
    assert message.commit_subject == "lamp: glow"
    assert message.author is not None
    assert message.author.name == "Ada Quill"
    assert message.commit_message == "Why.\n\nSigned-off-by: Ada Quill <ada@example.org>"
    assert message.clean_subject == "lamp: dim"


def test_attachment_without_a_diff() -> None:
    """Logs and pictures are attachments and no patches."""
    message = parse(
        multipart(
            TEXT,
            "Content-Type: text/plain; name=dmesg.txt\nContent-Disposition: attachment\n\nlog\n",
            "Content-Type: image/png; name=lamp.png\nContent-Transfer-Encoding: base64\n\nAAAA\n",
        )
    )
    assert not message.is_patch
    assert [(a.filename, a.content_type, a.is_patch) for a in message.attachments] == [
        ("dmesg.txt", "text/plain", False),
        ("lamp.png", "image/png", False),
    ]


def test_html_twin_counts_once() -> None:
    """The HTML twin repeats the text: facts are counted once."""
    message = parse(
        multipart(
            f"Content-Type: text/plain\n\nText.\n---\n{DIFF}",
            f"Content-Type: text/html\n\n<pre>Text.\n---\n{DIFF}</pre>",
            kind="alternative",
        )
    )
    assert len(message.files) == 1


def test_html_alone_is_shown_as_text() -> None:
    """A mail that has only HTML has a body all the same, and says what was wrong."""
    message = parse(letter("<p>Hello <b>Bo</b></p>", "Content-Type: text/html"))
    assert message.body == "Hello Bo\n"
    assert [defect.code for defect in message.defects] == ["html-only"]


def test_multipart_never_closed() -> None:
    """A mail cut off before its last boundary keeps what is there."""
    message = parse(multipart(TEXT, PATCH, closed=False))
    assert message.is_patch


def test_nested_mail() -> None:
    """A mail inside a mail is a message of its own, not the outer one's patch."""
    inner = f"From: Ada Quill <ada@example.org>\nSubject: [PATCH] lamp: glow\n\nWhy.\n---\n{DIFF}"
    message = parse(multipart(TEXT, f"Content-Type: message/rfc822\n\n{inner}"))
    assert not message.is_patch
    (nested,) = message.nested
    assert nested.is_patch
    assert nested.clean_subject == "lamp: glow"


def test_nested_too_deep() -> None:
    """Mails nested without end are a defect."""
    data = letter("x\n")
    for number in range(12):
        data = letter(
            f"--b{number}\nContent-Type: message/rfc822\n\n{data.decode()}\n--b{number}--\n",
            f"Content-Type: multipart/mixed; boundary=b{number}",
        )
    message = parse(data)
    depth = 0
    while message.nested:
        message, depth = message.nested[0], depth + 1
    assert depth == 8
    assert "nested-too-deep" in [defect.code for defect in message.defects]


def test_nul_bytes() -> None:
    """NUL bytes are replaced and reported: databases choke on them."""
    message = parse(letter("a\x00b\n"))
    assert message.body == "a\ufffdb\n"
    assert [defect.code for defect in message.defects] == ["nul-bytes"]


@pytest.mark.parametrize(
    ("text", "delete", "wanted"),
    [
        ("a \nb\n", False, "a b\n"),
        ("a \nb\n", True, "ab\n"),
        (" > no quote\n", False, "> no quote\n"),
        ("> a \n> b\n", False, "> a \n> b\n"),
        ("a\n-- \nb\n", False, "a\n-- \nb\n"),
    ],
)
def test_unflow(text: str, delete: bool, wanted: str) -> None:
    """Soft line breaks are joined as git mailinfo does."""
    assert unflow(text, delete) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, ("text/plain", {})),
        ("TEXT/Plain; Charset=UTF-8", ("text/plain", {"charset": "UTF-8"})),
        ('text/plain; charset="utf-8"; x', ("text/plain", {"charset": "utf-8"})),
        ("garbage", ("text/plain", {})),
    ],
)
def test_content_type(value: str | None, wanted: tuple[str, dict[str, str]]) -> None:
    """Type and parameters, text/plain where there is none."""
    assert parse_content_type(value) == wanted


WORDS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\x00\r", exclude_categories=["Cs"]),
    max_size=60,
)


@given(
    body=st.lists(WORDS, max_size=8).map("\n".join),
    encoding=st.sampled_from(["8bit", "base64", "quoted-printable"]),
)
def test_short_path_equals_the_standard_library(body: str, encoding: str) -> None:
    """Plain mails, whatever their encoding, give the text that the email package gives."""
    if encoding == "8bit":
        data = letter(body, "Content-Type: text/plain; charset=utf-8")
    else:
        data = encoded(body, encoding)
    mail = read_mail(raw(data))
    wanted = email.message_from_bytes(data, policy=email.policy.default).get_content()
    (part,) = mail.parts
    assert part.text.rstrip("\n") == wanted.rstrip("\n")


def test_octets_of_a_part() -> None:
    """Text in a multipart keeps the octets that were sent, so that patch ids are git's."""
    head = "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit"
    data = letter(f"--b\n{head}\n\nZZ\n--b--\n", "Content-Type: multipart/mixed; boundary=b")
    made = read_mail(raw(data.replace(b"ZZ", b"gr\xfc\xdfe")))
    assert [part.text for part in made.parts] == ["grüße"]
    assert [part.data for part in made.parts] == [b"gr\xfc\xdfe"]
    assert made.defects == []


def test_charset_with_a_nul_in_its_name() -> None:
    """The standard library raises for such a label."""
    lines = "--b\nContent-Type: text/plain; charset=a\x00b\n\nB\xf6\n--b--\n"
    made = read_mail(raw(letter(lines, "Content-Type: multipart/mixed; boundary=b")))
    assert [part.text for part in made.parts] == ["Bö"]


def test_many_tags_take_no_time() -> None:
    """A body of 100,000 tags is read without a tree; how deep they are nested doesn't matter."""
    html = "<div><b>" * 50_000 + "dim" + "</b></div>" * 50_000 + "<br>" * 50_000 + "glow"
    start = time.process_time()
    made = read_mail(raw(letter(html, "Content-Type: text/html")))
    assert time.process_time() - start < 5
    assert made.parts[0].text.rstrip().endswith("glow")


def test_enclosed_mail_that_python_refuses_to_write() -> None:
    """A header that looks as if another one stood in it ("Subject:t<VT>nt-Type: x")."""
    made = read_mail(
        raw(multipart(TEXT, "Content-Type: message/rfc822\n\nSubject:t\x0bnt-Type: x\n\nHi.\n"))
    )
    assert [part.text for part in made.parts] == ["Text.\n"]
    assert [defect.code for defect in made.defects] == ["nested-unreadable"]


@pytest.mark.parametrize("boundary", ["b", '"b"'])
def test_parts_without_headers_are_counted(boundary: str) -> None:
    """A boundary line alone makes a part; lines of a diff that begin with "--" don't."""
    many = read_mail(
        raw(letter("--b\n\nx\n" * 2000, f"Content-Type: multipart/mixed; boundary={boundary}"))
    )
    assert [defect.code for defect in many.defects] == ["too-many-parts"]
    diff = "--b\n\n" + "--- a/x\n" * 2000 + "--b--\n"
    few = read_mail(raw(letter(diff, f"Content-Type: multipart/mixed; boundary={boundary}")))
    assert few.defects == []


@pytest.mark.parametrize(
    ("body", "octets"),
    [
        (b"ZGlt=\n", b"dim"),
        (b"ZA==\naW0=\n", b"dim"),
        (b"ZA==aW0=", None),
        (b"Z=G", None),
        (b"ZGlt\n=\nZGlt\n", b"dim\n=\nZGlt\n"),
        (b"F=\n\nG\n \n,", b"\n,"),
    ],
)
def test_padding_in_the_middle(body: bytes, octets: bytes | None) -> None:
    """Pieces encoded one by one, and padding where none belongs."""
    assert lenient_base64(body) == octets

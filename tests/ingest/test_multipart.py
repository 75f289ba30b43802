"""The short path to the parts of a multipart reads what the standard library reads."""

from __future__ import annotations

from unittest import mock

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest import headers, mime
from patchlore.ingest.errors import Defect
from patchlore.ingest.multipart import Leaf, plain_leaves
from patchlore.ingest.multipart_library import parsed_parts
from patchlore.ingest.raw import Source
from tests.ingest.letters import letter, raw

_TYPES = st.sampled_from(
    [
        "",
        "Content-Type: text/plain\n",
        "Content-Type: text/plain; charset=utf-8\n",
        'Content-type: Text/Plain;\n\tcharset="iso-8859-1"; format=Flowed;\n delsp=yes\n',
        "Content-Type: text/plain; charset=us-ascii;\n",
        "Content-Type: text/html; charset=utf-8\n",
        'Content-Type: text/x-patch; name="0001-lamp.patch"\n',
        "Content-Type: application/pgp-signature; name=signature.asc\n",
        "Content-Type: application/octet-stream; name*0=la; name*1=mp\n",
        "Content-Type: text/plain; name=<lamp>\n",
        "Content-Type: text/plain (a comment)\n",
        "Content-Type: nonsense\n",
        "Content-Type: message/rfc822\n",
        "Content-Type: text/plain; charset=utf-8; charset=latin1\n",
        "Content-Type:\n text/plain\n",
    ]
)
_FIELDS = st.sampled_from(
    [
        "",
        "Content-Disposition: inline\n",
        "Content-Disposition: attachment\n",
        'Content-Disposition: attachment; filename="a b.diff"\n',
        "Content-Disposition: inline;\n filename=lamp.diff\n",
        'Content-Disposition: attachment; filename="la\\"mp"\n',
        "Content-Disposition: attachment; filename==?utf-8?q?l=C3=A4mp?=\n",
        "Content-Transfer-Encoding: quoted-printable\n",
        "Content-Transfer-Encoding: BASE64 \n",
        "Content-Transfer-Encoding: 8bit\nContent-Transfer-Encoding: base64\n",
        "Content-Description: a lamp\n folded\n",
        "Stray line\n",
        "X-Lamp : dim\n",
        "Content-Description: Lämpchen\n",
    ]
)
_CONTENTS = st.sampled_from(
    [
        "",
        "\n",
        "Dim it.\n",
        "Dim it.",
        "--b-no\n--\n",
        "diff --git a/l.c b/l.c\n--- a/l.c\n+++ b/l.c\n@@ -1 +1 @@\n-a\n+b\n",
        "L=C3=A4mp=\nchen\n",
        "TMOkbXBjaGVuCg==\n",
        "<p>Lämpchen</p>\n",
        "Text  \nflows \n-- \nAda\n",
        "carriage\r\nreturn\r\n",
    ]
)
_BOUNDARIES = st.sampled_from(["b", "=-b", "b.c+d", "b b"])
_ENDS = st.sampled_from(["--", "--  ", "", "--x"])


@st.composite
def entities(draw: st.DrawFn, depth: int = 2) -> str:
    """A part: its fields, a blank line (or none), its content."""
    gap = draw(st.sampled_from(["\n", "\n", "\n", "\n", ""]))
    if depth and draw(st.integers(0, 3)) == 0:
        boundary = draw(_BOUNDARIES)
        kind = draw(st.sampled_from(["mixed", "alternative", "signed; micalg=pgp-sha1", "digest"]))
        stated = draw(st.sampled_from([f'"{boundary}"', boundary]))
        head = f"Content-Type: multipart/{kind};\n\tboundary={stated}\n"
        return head + gap + draw(bodies(boundary, depth - 1))
    return draw(_TYPES) + draw(_FIELDS) + gap + draw(_CONTENTS)


@st.composite
def bodies(draw: st.DrawFn, boundary: str, depth: int) -> str:
    """What stands below the fields of a multipart."""
    parts = draw(st.lists(entities(depth), max_size=3))
    text = draw(st.sampled_from(["", "This is MIME.\n", "\n"]))
    for part in parts:
        text += f"--{boundary}{draw(st.sampled_from(['', ' ']))}\n{part}\n"
    return text + f"--{boundary}{draw(_ENDS)}\n" + draw(st.sampled_from(["", "A footer.\n"]))


@settings(max_examples=400)
@given(entities())
def test_parts_equal_the_standard_library(entity: str) -> None:
    """Whatever the parts are: types, names, encodings, nesting, damage."""
    data = f"From: Ada Quill <ada@example.org>\nMIME-Version: 1.0\n{entity}".encode()
    short = mime.read_mail(raw(data))
    with mock.patch.object(mime, "plain_leaves", return_value=None):
        assert msgspec.structs.asdict(short) == msgspec.structs.asdict(mime.read_mail(raw(data)))


@pytest.mark.parametrize("kind", ["mixed", "signed; micalg=pgp-sha256", "alternative"])
def test_regular_multiparts_take_the_short_path(kind: str) -> None:
    """A text with an attachment, a signature or an HTML twin needs no library."""
    body = (
        '--b\nContent-Type: text/plain; charset="utf-8"\n'
        "Content-Transfer-Encoding: quoted-printable\n\nDim it.\n"
        "--b\nContent-Type: application/x-lamp\nContent-Disposition: inline\n\nx\n--b--\n"
    )
    head, _, _ = letter("", f"Content-Type: multipart/{kind}; boundary=b").partition(b"\n\n")
    leaves = plain_leaves(head + b"\n", body.encode())
    assert leaves is not None
    assert [(leaf.content_type, leaf.payload) for leaf in leaves] == [
        ("text/plain", b"Dim it."),
        ("application/x-lamp", b"x"),
    ]


_HEADER_LINES = st.sampled_from(
    [
        b"Subject: dim it",
        b"SUBJECT:x",
        b"Subject : spaced",
        b" folded",
        b"\tfolded ",
        b"Cc: Ada <ada@example.org>,",
        b"X-Git-Lamp: 1",
        b"X-Other: 1",
        b"DKIM-Signature: a=b; c",
        b"Received: from lamp; Tue, 5 Mar 2024 09:20:30 +0100",
        b"no field",
        b": empty",
        b"Subject:",
        b"From: =?utf-8?q?Ad=C3=A4?= <ada@example.org>",
        "From: Adä <ada@example.org>".encode(),
        b"From: Ad\xe4 <ada@example.org>",
        b"References: <1@example.org>\r",
        b"List-Id:\x0b<lamp.example.org> \xa0",
    ]
)


@settings(max_examples=300)
@given(st.lists(_HEADER_LINES, max_size=12), st.sampled_from([b"\n\nText.\n", b"\n", b""]))
def test_plain_header_blocks_equal_the_careful_path(lines: list[bytes], end: bytes) -> None:
    """Fields are the same whether they are read at once or line by line."""
    data = b"\n".join(lines) + end
    short = headers.read_header_block(data)
    with mock.patch.object(headers, "_plain_fields", return_value=None):
        assert short == headers.read_header_block(data)


@pytest.mark.parametrize(("padding", "charset"), [(100, "koi8-r"), (1 << 20, None)])
def test_parameters_are_read_as_far_as_a_field_goes(padding: int, charset: str | None) -> None:
    """The library's time grows with the square of a field: of 1 MiB the beginning is read."""
    field = f'text/plain; x="{"a" * padding}"; charset=koi8-r'
    mail = (
        'Content-Type: multipart/mixed; boundary="x"\n\n--x\n'
        f"Content-Type: {field}\n\nLamps.\n--x--\n"
    )
    parts = parsed_parts(mail.encode(), Source(path="letter", format="rfc822"))
    assert not isinstance(parts, Defect)
    (leaf,) = parts
    assert isinstance(leaf, Leaf)
    assert (leaf.content_type, leaf.charset) == ("text/plain", charset)

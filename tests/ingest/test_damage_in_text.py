"""Damage and oddities of whole texts: what a tester found in real mail, written anew."""

from __future__ import annotations

from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source

HEAD = (
    "From: Ada Quill <ada@example.org>\nDate: Tue, 05 Mar 2024 10:20:30 +0100\n"
    "Message-ID: <t@example.org>\nSubject: {subject}\n\n"
)
DIFF = (
    "diff --git a/lib/tick.c b/lib/tick.c\nindex 3a1f0c2..9be47d5 100644\n--- a/lib/tick.c\n"
    "+++ b/lib/tick.c\n@@ -1,3 +1,3 @@\n int tick;\n-int tock = 1;\n+int tock = 2;\n int clock;\n"
)


def read(body: str, subject: str = "[PATCH] tick: use two") -> Message:
    """Parse a mail with this body."""
    data = (HEAD.format(subject=subject) + body).encode()
    return parse_raw(Raw(data=data, source=Source(path="t.eml", format="rfc822")))


def test_diff_without_file_names_below_its_first_line() -> None:
    """``diff --git`` and at once ``@@``: read with the names of the first line, not applicable."""
    header, _, rest = DIFF.partition("\n")
    message = read(header + "\n" + rest[rest.index("@@") :])
    assert [(file.path, file.added, file.removed) for file in message.files] == [
        ("lib/tick.c", 1, 1)
    ]
    assert message.malformed
    assert not message.applicable
    assert message.defects[0].code == "no-file-names"


def test_double_spaced_patch_is_read_and_reported() -> None:
    """A blank line below each line of a patch, as Outlook sends it: read, never applicable."""
    body = "Use two.\n\nSigned-off-by: Ada Quill <ada@example.org>\n---\n" + DIFF
    message = read(body.replace("\n", "\n\n"))
    assert [file.path for file in message.files] == ["lib/tick.c"]
    assert message.malformed
    assert not message.applicable
    assert "double-spaced" in [defect.code for defect in message.defects]


def test_cover_letter_with_an_interdiff_is_a_cover() -> None:
    """Part 0 of N stays a cover where it shows what changed; its diff is not for git am."""
    message = read("What changed since v1:\n\n" + DIFF, "[PATCH v2 0/3] tick series")
    assert message.is_cover_letter
    assert not message.applicable


def test_culprit_between_cut_marks_is_not_the_robots_patch() -> None:
    """A bisecting robot shows somebody's commit between marks: it offers no patch."""
    shown = "commit " + "a1" * 20 + "\nAuthor: Bo Reed <bo@example.com>\n\n    tick: add\n\n"
    message = read("Culprit:\n<cut>\n" + shown + DIFF + "</cut>\n", "[ci] regression in tick")
    assert not message.is_patch
    assert message.files == []


def test_mail_with_carriage_returns_only() -> None:
    """Line ends of old Macs are line ends."""
    data = (HEAD.format(subject="[PATCH] tick: use two") + DIFF).replace("\n", "\r").encode()
    message = parse_raw(Raw(data=data, source=Source(path="t.eml", format="rfc822")))
    assert message.message_id == "t@example.org"
    assert [file.path for file in message.files] == ["lib/tick.c"]


def test_head_of_a_mime_part_in_the_text_is_no_trailer() -> None:
    """``Content-Type:`` in a commit message is what a broken multipart left there."""
    message = read(
        "Use two.\n\nContent-Type: text/x-patch\n\nAcked-by: Bo Reed <bo@example.com>\n---\n" + DIFF
    )
    assert [trailer.key for trailer in message.trailers] == ["Acked-by"]


def test_in_body_headers_and_tags_have_evidence() -> None:
    """The author of the body's From:, its Date: and each tag show their lines."""
    message = read(
        "From: Bo Reed <bo@example.com>\nDate: Mon, 4 Mar 2024 09:00:00 +0000\n\nUse two.\n\n"
        "Acked-by: Cy Dove <cy@example.net>\n---\n" + DIFF
    )
    lines = {evidence.fact: evidence.line for evidence in message.evidence}
    assert lines["author"] == 1
    assert lines["author_date_iso"] == 2
    assert lines["trailers"] == 6


def test_evidence_selects_its_text() -> None:
    """The span is that of the text, without the blanks around the line."""
    message = read("See\n  https://lore.kernel.org/r/x1@example.org\n", "question")
    found = [item for item in message.evidence if item.fact == "mentioned_message_ids"]
    span = found[0].span
    assert span is not None
    assert message.body[span[0] : span[1]] == found[0].text

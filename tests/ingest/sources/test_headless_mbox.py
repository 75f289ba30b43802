"""A mailbox whose first mail has no separator above it."""

from __future__ import annotations

from patchlore.ingest.detect import detect

MAIL = (
    b"From: Ada Quill <ada@example.org>\nDate: Tue, 05 Mar 2024 10:20:30 +0100\n"
    b"Message-ID: <%s@example.org>\nSubject: hello\n\n%s\n\n"
)
SEPARATOR = b"From ada@example.org Tue Mar  5 09:20:30 2024\n"


def test_mails_behind_separators_make_a_mailbox() -> None:
    """The first mail stands bare, the others below separators: an mbox."""
    data = MAIL % (b"a", b"First.") + SEPARATOR + MAIL % (b"b", b"Second.")
    found = detect(data)
    assert found is not None
    assert found.name == "mbox"


def test_a_mail_that_quotes_the_start_of_a_mailbox_stays_one_mail() -> None:
    """Lines of a mailbox without date and id below them are what the author shows."""
    data = MAIL % (b"a", b"It begins so:\n\n" + SEPARATOR + b"Subject: not a message\n\nUse two.")
    found = detect(data)
    assert found is not None
    assert found.name == "rfc822"

"""Messages made by hand for the tests of the archive: invented people at example.org."""

from __future__ import annotations

from typing import Any

from patchlore.ingest.message import Message, Person, SubjectTags
from patchlore.ingest.raw import Fidelity, Raw, Source

ADA = Person(name="Ada Quill", email="ada@example.org")
BO = Person(name="Bo Tern", email="bo@example.org")

#: 2024-01-02 03:04:05 UTC.
NOON = 1704164645

UPSTREAM = "0123456789abcdef0123456789abcdef01234567"
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


def source(
    path: str = "/mail/widgets.mbox",
    *,
    offset: int = 0,
    fidelity: Fidelity = "exact",
    list: str | None = "widgets",
    format: str = "mbox",
) -> Source:
    """Return where a copy was found."""
    return Source(path=path, format=format, offset=offset, fidelity=fidelity, list=list)


def message(message_id: str | None = "one@example.org", **fields: Any) -> Message:
    """Return a message with a sender, a date and a subject, and the given fields."""
    values: dict[str, Any] = {
        "source": source(),
        "subject": "[PATCH] tick: use two",
        "clean_subject": "tick: use two",
        "from_": ADA,
        "author": ADA,
        "timestamp": NOON,
        "date_iso": "2024-01-02T03:04:05+00:00",
        "effective_date_iso": "2024-01-02T03:04:05+00:00",
        "body": "The clock ticks once where it should tick twice, says its manual.\n",
        "line_kinds": "tt",
        **fields,
    }
    return Message(message_id=message_id, **values)


def raw_of(made: Message, data: bytes | None = None) -> Raw:
    """Return raw mail for a message: its own bytes, or some that tell messages apart."""
    if data is None:
        head = f"Message-ID: <{made.message_id}>\nSubject: {made.subject}\n"
        data = (head + f"X-Source: {made.source.path}\n\n{made.body}").encode()
    return Raw(data=data, source=made.source)


def tags(tree: str | list[str] | None = None, **fields: Any) -> SubjectTags:
    """Return the tags of a subject for a stable tree."""
    return SubjectTags(target_tree=tree, **fields)

"""What patchwork knows of a patch stays, whichever copy of the mail is the best one."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.ingest.message import Message, Patchwork
from patchlore.kb.filling import fill
from patchlore.kb.redoing import redo_facts
from patchlore.kb.store import Archive
from tests.kb.mails import message, raw_of, source


def copy(number: int, state: str | None) -> Message:
    """Return a copy of one mail: of patchwork, with that state, or the mail itself."""
    if state is None:
        return message(source=source(offset=number))
    where = source(f"/pw/{number}.json", fidelity="rewritten", format="patchwork-json")
    return message(source=where, patchwork=Patchwork(state=state, series=7))


def state(archive: Archive) -> str | None:
    """Return what the one message of the archive has as its state."""
    assert archive.value("SELECT count(*) FROM message") == 1
    known = archive.message(1).patchwork
    return None if known is None else known.state


@pytest.mark.parametrize("order", [("new", None), (None, "new"), ("new",)])
@pytest.mark.parametrize("together", [False, True])
def test_the_state_is_kept(
    tmp_path: pathlib.Path, order: tuple[str | None, ...], together: bool
) -> None:
    """In whatever order the copies come, in one batch or in several."""
    copies = [copy(number, said) for number, said in enumerate(order)]
    with Archive(tmp_path, write=True) as archive:
        for some in [copies] if together else [[item] for item in copies]:
            archive.add(some, [raw_of(item) for item in some])
        assert state(archive) == "new"
        assert archive.message(1).source.fidelity == ("exact" if None in order else "rewritten")


def test_the_copy_that_was_read_last_counts(tmp_path: pathlib.Path) -> None:
    """Patchwork was asked again, and the patch had been accepted."""
    with Archive(tmp_path, write=True) as archive:
        for item in (copy(0, "new"), copy(1, None), copy(2, "accepted")):
            archive.add([item], [raw_of(item)])
        assert state(archive) == "accepted"


JSON = """{"id": 17, "url": "https://patchwork.example.org/api/patches/17/", "msgid":
"<one@example.org>", "date": "2024-01-02T03:04:05", "name": "tick: use two", "state": "accepted",
"archived": false, "headers": {"From": "Ada Quill <ada@example.org>", "Subject":
"[PATCH] tick: use two", "Message-ID": "<one@example.org>", "Date":
"Tue, 2 Jan 2024 03:04:05 +0000"}, "content": "Let the clock tick twice, as its manual has it.\\n",
"diff": "--- a/tick.c\\n+++ b/tick.c\\n@@ -1 +1 @@\\n-one\\n+two\\n", "submitter": {"name":
"Ada Quill", "email": "ada@example.org"}, "project": {"name": "widgets", "list_id":
"widgets.example.org"}}
"""

MAIL = """\
From: Ada Quill <ada@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0000
Subject: [PATCH] tick: use two
Message-ID: <one@example.org>

Let the clock tick twice, as its manual has it.
---
--- a/tick.c
+++ b/tick.c
@@ -1 +1 @@
-one
+two
"""


def test_an_older_archive_finds_what_it_has_of_patchwork(tmp_path: pathlib.Path) -> None:
    """The raw copies are there: what was not kept of them before is read again."""
    (tmp_path / "patch.json").write_text(JSON)
    (tmp_path / "mail.eml").write_text(MAIL)
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "patch.json"), str(tmp_path / "mail.eml")], jobs=0)
        assert state(archive) == "accepted"
        archive.execute("DELETE FROM patchwork")
        assert state(archive) is None
        redo_facts(archive)
        assert state(archive) == "accepted"

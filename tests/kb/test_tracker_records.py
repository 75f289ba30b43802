"""Records of a bug tracker in an archive: saved again later, and duplicates."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import pytest

from patchlore.cli import main
from patchlore.ingest.bug import Bug
from patchlore.kb.dossiers.bugs import BugDossier, bug_dossier
from patchlore.kb.reading import find_messages, parse_bug
from patchlore.kb.store import Archive

TEXT = "At -O2 the lamp of the long hall is dimmed twice, at -O1 it is dimmed once."

XML = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>
<bugzilla version="5.0.4" urlbase="https://gcc.gnu.org/bugzilla/" maintainer="x@example.org">
<bug><bug_id>90210</bug_id><short_desc>lamp is dimmed twice</short_desc><product>gcc</product>
<long_desc><comment_count>1</comment_count><attachid>77</attachid><who>bo@example.org</who>
<bug_when>2031-02-04 04:05:06 +0000</bug_when><thetext>Created attachment 77
a patch</thetext></long_desc>
<attachment ispatch="1"><attachid>77</attachid><filename>l.patch</filename>
<type>text/plain</type><data encoding="base64">{data}</data></attachment></bug></bugzilla>
"""


def record(number: int, **fields: object) -> dict[str, Any]:
    """An answer of /rest/bug about GCC's bug NUMBER."""
    bug = {
        "id": number,
        "product": "gcc",
        "component": "target",
        "summary": "lamp is dimmed twice",
        "status": "NEW",
        "creation_time": "2031-02-03T04:05:06Z",
        "last_change_time": "2031-03-04T05:06:07Z",
        "creator": "nora@example.org",
    }
    return {"bugs": [bug | fields]}


def comment(number: int, text: str) -> dict[str, Any]:
    """An answer of /rest/bug/N/comment with one comment."""
    item = {"count": 1, "creator": "bo@example.org", "text": text}
    return {"bugs": {str(number): {"comments": [item | {"creation_time": "2031-02-04T04:05:06Z"}]}}}


def ingest(tmp_path: pathlib.Path, *answers: dict[str, Any]) -> None:
    """Read the answers one after the other, each a file of its own."""
    for answer in answers:
        count = len(list(tmp_path.glob("*/gcc.gnu.org/*")))
        path = tmp_path / str(count) / "gcc.gnu.org" / "saved"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(answer), "utf-8")
        archive = str(tmp_path / "archive")
        assert main(["--archive", archive, "ingest", "--no-index", str(path)]) == 0


def dossier(tmp_path: pathlib.Path, name: str) -> BugDossier:
    """The dossier of a bug."""
    bug = parse_bug(name)
    assert bug is not None
    with Archive(tmp_path / "archive") as archive:
        return bug_dossier(archive, bug)


CLOSED = {
    "status": "RESOLVED",
    "resolution": "FIXED",
    "last_change_time": "2031-04-05T07:06:07+02:00",
}


@pytest.mark.parametrize("later_first", [False, True])
def test_the_record_that_was_changed_last_counts(tmp_path: pathlib.Path, later_first: bool) -> None:
    """A bug is saved again when it was closed: its state is the new one, in whatever order."""
    answers = [record(90210), record(90210, **CLOSED)]
    ingest(tmp_path, *(reversed(answers) if later_first else answers))
    found = dossier(tmp_path, "90210")
    assert found.record is not None
    assert (found.record.status, found.record.resolution) == ("RESOLVED", "FIXED")
    assert len(found.hits) == 1


def test_a_longer_history_counts(tmp_path: pathlib.Path) -> None:
    """A history that was saved again has more changes."""
    changes = [
        {
            "when": f"2031-02-0{day}T00:00:00Z",
            "who": "bo@example.org",
            "changes": [{"field_name": "status", "removed": "NEW", "added": "ASSIGNED"}],
        }
        for day in (4, 5)
    ]
    ingest(
        tmp_path,
        *({"bugs": [{"id": 90210, "history": changes[:size]}]} for size in (1, 2)),
    )
    with Archive(tmp_path / "archive") as archive:
        (id_,) = find_messages(archive, "bug-90210-history@gcc.gnu.org.invalid")
        bug = archive.message(id_).bug
    assert bug is not None
    assert len(bug.changes) == 2


def test_a_bug_that_got_another_title_is_the_same_bug(tmp_path: pathlib.Path) -> None:
    """Titles of regressions grow with each release that has them."""
    ingest(
        tmp_path,
        record(90210, summary="[12 Regression] lamp is dimmed twice"),
        record(90210, summary="[12/13 Regression] lamp is dimmed twice", **CLOSED),
    )
    found = dossier(tmp_path, "90210")
    assert len(found.hits) == 1
    assert found.record is not None
    assert found.record.title == "[12/13 Regression] lamp is dimmed twice"


def test_records_of_unknown_trackers_stay_apart(tmp_path: pathlib.Path) -> None:
    """Bug 7 of two trackers: without a host only likeness makes two records one."""
    for name, title in (("a", "lamp is dimmed"), ("b", "door is open")):
        path = tmp_path / name
        answer = record(7, product=name, summary=title)
        path.write_text(json.dumps(answer | {"made": title}), "utf-8")
        archive = str(tmp_path / "archive")
        assert main(["--archive", archive, "ingest", "--no-index", str(path)]) == 0
    with Archive(tmp_path / "archive") as opened:
        assert opened.value("SELECT count(*) FROM message") == 2


@pytest.mark.parametrize("forged_first", [False, True])
def test_a_mail_under_the_id_of_a_record_is_another_message(
    tmp_path: pathlib.Path, forged_first: bool
) -> None:
    """Whoever sends a mail can write any Message-ID into it."""
    path = tmp_path / "mail"
    path.write_text(
        "From: Eve Moss <eve@example.org>\nDate: Fri, 7 Mar 2031 03:04:05 +0000\n"
        "Subject: [Bug target/90210] the lamp is fine\n"
        f"Message-ID: <bug-90210@gcc.gnu.org.invalid>\n\n{TEXT}\n",
        "utf-8",
    )
    archive = str(tmp_path / "archive")
    for is_forged in (forged_first, not forged_first):
        if is_forged:
            assert main(["--archive", archive, "ingest", "--no-index", str(path)]) == 0
        else:
            ingest(tmp_path, record(90210))
    found = dossier(tmp_path, "90210")
    assert found.record is not None
    assert found.record.title == "lamp is dimmed twice"
    with Archive(archive) as opened:
        assert opened.value("SELECT count(*) FROM message") == 2


def test_a_duplicate_is_told_of_both_bugs(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the record's field, with its line; what depends on what is told likewise."""
    ingest(
        tmp_path,
        record(90100, blocks=[90300]),
        record(90210, status="RESOLVED", resolution="DUPLICATE", dupe_of=90100, depends_on=[90200]),
    )
    assert dossier(tmp_path, "90100").duplicates == [90210]
    archive = str(tmp_path / "archive")
    capsys.readouterr()
    main(["--archive", archive, "pr", "90100"])
    out = capsys.readouterr().out
    assert "\n  blocks: 90300\n" in out
    assert "\n  duplicates of it: 90210\n" in out
    assert "body: Duplicate of: 90100\n" in out
    main(["--archive", archive, "pr", "90210"])
    out = capsys.readouterr().out
    assert "\n  duplicate of: 90100\n" in out
    assert "\n  depends on: 90200\n" in out


def test_a_comment_names_bugs_of_its_tracker(tmp_path: pathlib.Path) -> None:
    """The tracker makes "bug 90100" a link; the comment's own bug is not named once more."""
    text = "*** Bug 90100 has been marked as a duplicate of this bug. ***\n\nNot of bug 90210."
    ingest(tmp_path, comment(90210, text))
    (hit,) = dossier(tmp_path, "90100").hits
    (place,) = hit.places
    assert (place.place, place.line, place.rule, place.confidence) == (
        "body",
        1,
        "tracker-comment",
        "high",
    )
    assert [len(hit.places) for hit in dossier(tmp_path, "90210").hits] == [1]


def test_a_history_is_no_record(tmp_path: pathlib.Path) -> None:
    """It says nothing of what the bug is."""
    ingest(tmp_path, {"bugs": [{"id": 90210, "history": []}]}, comment(90210, TEXT))
    assert dossier(tmp_path, "90210").record is None


def test_attachments_by_rest_are_patches(tmp_path: pathlib.Path) -> None:
    """``/rest/bug/N/attachment`` has a patch that no page and no comment has."""
    diff = b"--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-on\n+off\n"
    item: dict[str, Any] = {
        "id": 77,
        "bug_id": 90210,
        "creation_time": "2031-02-05T04:05:06Z",
        "creator": "bo@example.org",
        "file_name": "lamp.patch",
        "summary": "turn it off",
        "content_type": "text/plain",
        "size": len(diff),
        "is_patch": 1,
        "is_obsolete": 0,
        "data": base64.b64encode(diff).decode(),
    }
    text = {"id": 78, "is_patch": 0, "file_name": "lamp.i", "creation_time": None, "data": "aW50"}
    ingest(tmp_path, {"bugs": {"90210": [item, text, "?"]}, "attachments": {}}, record(90210))
    found = dossier(tmp_path, "90210")
    assert found.record is not None
    assert {hit.message.key: hit.message.is_patch for hit in found.hits} == {
        "bug-90210@gcc.gnu.org.invalid": False,
        "bug-90210-a77@gcc.gnu.org.invalid": True,
        "bug-90210-a78@gcc.gnu.org.invalid": False,
    }
    with Archive(tmp_path / "archive") as archive:
        (id_,) = find_messages(archive, "bug-90210-a77@gcc.gnu.org.invalid")
        message = archive.message(id_)
    assert [file.path for file in message.files] == ["lamp.c"]
    assert message.body.startswith("Created attachment 77\nturn it off\n")


def test_a_copy_with_the_attached_patch_is_the_better_one(tmp_path: pathlib.Path) -> None:
    """A comment by REST has no patch, the same one in XML has it."""
    text = "Created attachment 77\na patch"
    xml = XML.format(
        data=base64.b64encode(b"--- a/l.c\n+++ b/l.c\n@@ -1 +1 @@\n-on\n+off\n").decode()
    )
    ingest(tmp_path, comment(90210, text))
    path = tmp_path / "saved.xml"
    path.write_text(xml, "utf-8")
    assert main(["--archive", str(tmp_path / "archive"), "ingest", "--no-index", str(path)]) == 0
    with Archive(tmp_path / "archive") as archive:
        (id_,) = find_messages(archive, "bug-90210-c1@gcc.gnu.org.invalid")
        assert [file.path for file in archive.message(id_).files] == ["l.c"]


def test_a_bug_of_a_tracker_with_a_hyphen_is_asked_for() -> None:
    """``prs --tracker clang-built-linux`` lists them."""
    bug = parse_bug("clang-built-linux:504")
    assert bug is not None
    assert (bug.tracker, bug.number) == ("clang-built-linux", 504)


def test_a_report_of_syzbot_is_asked_for(tmp_path: pathlib.Path) -> None:
    """``prs --tracker syzbot`` lists them by their ids."""
    path = tmp_path / "mail"
    path.write_text(
        "From: Ada Quill <ada@example.org>\nSubject: [PATCH] lamp: dim once\n"
        "Message-ID: <one@example.org>\n\nDim once.\n\n"
        "Reported-by: syzbot+0123456789abcdef0123@syzkaller.appspotmail.com\n---\n"
        "--- a/l.c\n+++ b/l.c\n@@ -1 +1 @@\n-on\n+off\n",
        "utf-8",
    )
    assert main(["--archive", str(tmp_path / "archive"), "ingest", "--no-index", str(path)]) == 0
    found = dossier(tmp_path, "syzbot:0123456789abcdef0123")
    assert str(found.bug) == "syzbot bug 0123456789abcdef0123"
    assert [hit.message.key for hit in found.hits] == ["one@example.org"]


def test_other_trackers_have_the_line_of_their_records(tmp_path: pathlib.Path) -> None:
    """The bug that a record is about stands in its subject, whoever keeps it."""
    path = tmp_path / "bugzilla.kernel.org" / "saved"
    path.parent.mkdir()
    path.write_text(json.dumps(record(217000, product="Drivers", dupe_of=217001)), "utf-8")
    archive = str(tmp_path / "archive")
    assert main(["--archive", archive, "ingest", "--no-index", str(path)]) == 0
    (hit,) = dossier(tmp_path, "kernel:217000").hits
    assert [(place.place, place.line) for place in hit.places] == [("subject", 0)]
    (hit,) = dossier(tmp_path, "kernel:217001").hits
    assert [(place.place, place.text) for place in hit.places] == [("body", "Duplicate of: 217001")]
    record_ = dossier(tmp_path, "kernel:217000").record
    assert isinstance(record_, Bug)

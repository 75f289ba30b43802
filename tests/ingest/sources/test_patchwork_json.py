"""Saved answers of patchwork's REST API: patches, covers, comments, series, events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.detect import detect
from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.patchwork_json import read_patchwork_json
from tests.ingest.letters import DIFF, SHA
from tests.ingest.sources.samples import read, write

API = "https://patchwork.example.org/api/1.3"
PROJECT = {"id": 4, "url": f"{API}/projects/4/", "name": "Lamps", "list_id": "lamp.example.org"}
NORA = {"id": 9, "url": f"{API}/people/9/", "name": "Nora Finch", "email": "nora@example.org"}
LISTED: dict[str, Any] = {
    "id": 71,
    "url": f"{API}/patches/71/",
    "web_url": "https://patchwork.example.org/project/lamp/patch/lamp-1@example.org/",
    "project": PROJECT,
    "msgid": "<lamp-1@example.org>",
    "list_archive_url": None,
    "date": "2023-06-08T07:06:05",
    "name": "[v2,1/2] lamp: dim",
    "commit_ref": SHA,
    "pull_url": None,
    "state": "accepted",
    "archived": True,
    "hash": "c0ffee",
    "submitter": NORA,
    "delegate": {"id": 3, "username": "bo", "email": "bo@example.org"},
    "mbox": "https://patchwork.example.org/project/lamp/patch/lamp-1@example.org/mbox/",
    "series": [{"id": 12, "name": "lamp: dim", "version": 2, "mbox": "x"}],
    "comments": f"{API}/patches/71/comments/",
    "check": "success",
    "checks": f"{API}/patches/71/checks/",
    "tags": {},
    "related": [{"id": 70, "msgid": "<lamp-0@example.org>"}],
}
DETAIL = LISTED | {
    "headers": {
        "Received": ["from a.example.org", "from b.example.org"],
        "From": "=?utf-8?q?N=C3=B6ra?= Finch <nora@example.org>",
        "Subject": "[PATCH v2 1/2] lamp:\n dim",
        "Date": "Thu, 8 Jun 2023 09:06:05 +0200",
        "Message-Id": "<lamp-1@example.org>",
        "In-Reply-To": "<cover@example.org>",
        "Content-Type": "multipart/mixed; boundary=x",
    },
    "content": f"commit {SHA} upstream.\n\nDim it.\n\n"
    "Signed-off-by: Nora Finch <nora@example.org>\n---\n lamp.c | 2 +-",
    "diff": DIFF,
    "prefixes": ["v2", "1/2"],
}
COMMENT = {
    "id": 555,
    "url": f"{API}/patches/71/comments/555/",
    "web_url": "https://patchwork.example.org/comment/555/",
    "msgid": "<answer@example.org>",
    "list_archive_url": None,
    "date": "2023-06-09T07:06:05",
    "subject": "Re: [PATCH v2 1/2] lamp: dim",
    "submitter": {"id": 2, "name": "Reed, Bo", "email": "bo@example.org"},
    "content": "> Dim it.\n\nReviewed-by: Bo Reed <bo@example.org>",
    "headers": {
        "From": '"Reed, Bo" <bo@example.org>',
        "Subject": "Re: [PATCH v2 1/2] lamp: dim",
        "Message-ID": "<answer@example.org>",
        "In-Reply-To": "<lamp-1@example.org>",
        "Date": "Fri, 9 Jun 2023 09:06:05 +0200",
    },
    "addressed": None,
}
EMBEDDED = {key: LISTED[key] for key in ("id", "url", "web_url", "msgid", "date", "name", "mbox")}
SERIES = {
    "id": 12,
    "url": f"{API}/series/12/",
    "web_url": "https://patchwork.example.org/project/lamp/list/?series=12",
    "project": PROJECT,
    "name": "lamp: dim",
    "date": "2023-06-08T07:06:05",
    "submitter": NORA,
    "version": 2,
    "total": 2,
    "received_total": 2,
    "received_all": True,
    "mbox": "https://patchwork.example.org/series/12/mbox/",
    "cover_letter": EMBEDDED | {"id": 70, "msgid": "<cover@example.org>", "name": "[v2,0/2] dim"},
    "patches": [EMBEDDED, EMBEDDED | {"id": 72, "msgid": "<lamp-2@example.org>", "name": "dim 2"}],
}


def messages(tmp_path: Path, value: object) -> list[Message]:
    """The facts of what a file with VALUE as JSON holds."""
    raws, problems, _ = read(write(tmp_path / "saved", json.dumps(value, indent=1).encode()))
    assert not problems
    assert {raw.source.format for raw in raws} == {"patchwork-json"}
    return [parse_raw(raw) for raw in raws]


def test_a_patch_is_its_mail(tmp_path: Path) -> None:
    """Stored headers are unfolded and decoded, text and diff are put together again."""
    (found,) = messages(tmp_path, DETAIL)
    assert found.source.fidelity == "rewritten"
    assert found.message_id == "lamp-1@example.org"
    assert found.in_reply_to == "cover@example.org"
    assert found.subject == "[PATCH v2 1/2] lamp: dim"
    assert found.from_ is not None
    assert found.from_.name == "Nöra Finch"
    assert found.date_iso == "2023-06-08T09:06:05+02:00"
    assert found.upstream_commits == [SHA]
    assert [change.path for change in found.files] == ["lamp.c"]
    assert found.applicable
    assert found.lists == ["lamp.example.org"]
    assert found.patchwork_id == 71


def test_the_diff_keeps_its_patch_id(tmp_path: Path) -> None:
    """It is the same as that of the mail."""
    (found,) = messages(tmp_path, DETAIL)
    mail = Raw(data=b"Subject: [PATCH] x\n\n" + DIFF.encode(), source=Source(path="m", format="m"))
    assert found.patch_id == parse_raw(mail).patch_id is not None


def test_what_patchwork_knows_beside_the_mail(tmp_path: Path) -> None:
    """State, commit, delegate, series, related patches."""
    (found,) = messages(tmp_path, DETAIL)
    record = found.patchwork
    assert record is not None
    assert (record.state, record.archived, record.commit) == ("accepted", True, SHA)
    assert (record.delegate, record.series, record.series_name) == ("bo", 12, "lamp: dim")
    assert record.related == ["lamp-0@example.org"]
    assert found.page is not None
    assert found.page.url == LISTED["web_url"].rstrip("/")


def test_comments_are_replies(tmp_path: Path) -> None:
    """A list of comments is a list of mails with all their headers."""
    (found,) = messages(tmp_path, [COMMENT])
    assert (found.message_id, found.in_reply_to) == ("answer@example.org", "lamp-1@example.org")
    assert found.is_reply
    assert found.trailers_given == ["Reviewed-by: Bo Reed <bo@example.org>"]
    assert found.patchwork_id is None


def test_a_list_of_patches_gives_summaries(tmp_path: Path) -> None:
    """Lists have no text: any other copy of the mail is better."""
    found, other = messages(tmp_path, [LISTED, LISTED | {"msgid": "<b@example.org>"}])
    assert found.source.fidelity == "flattened"
    assert found.subject == "[PATCH v2 1/2] lamp: dim"
    assert found.subject_tags is not None
    assert (found.subject_tags.version, found.subject_tags.index) == (2, 1)
    assert found.from_ is not None
    assert found.from_.email == "nora@example.org"
    assert found.date_iso == "2023-06-08T07:06:05+00:00"
    assert (found.is_patch, found.files, found.flattened) == (False, [], False)
    assert [defect.code for defect in found.defects] == ["content-removed"]
    assert other.message_id == "b@example.org"
    assert other.source.offset > found.source.offset


def test_a_series_names_its_mails(tmp_path: Path) -> None:
    """The cover, then the patches, which answer it."""
    found = messages(tmp_path, SERIES)
    assert [(each.message_id, each.in_reply_to) for each in found] == [
        ("cover@example.org", None),
        ("lamp-1@example.org", "cover@example.org"),
        ("lamp-2@example.org", "cover@example.org"),
    ]
    assert found[0].is_cover_letter
    assert found[2].subject == "[PATCH] dim 2"
    assert all(each.patchwork is not None and each.patchwork.series == 12 for each in found)


@pytest.mark.parametrize(
    ("category", "payload", "expected"),
    [
        (
            "patch-state-changed",
            {"patch": EMBEDDED, "previous_state": "new", "current_state": "accepted"},
            [("lamp-1@example.org", "accepted", None)],
        ),
        ("patch-created", {"patch": EMBEDDED}, [("lamp-1@example.org", None, None)]),
        (
            "patch-comment-created",
            {"patch": EMBEDDED, "comment": COMMENT},
            [
                ("lamp-1@example.org", None, None),
                ("answer@example.org", None, "lamp-1@example.org"),
            ],
        ),
    ],
)
def test_events_name_mails(
    tmp_path: Path, category: str, payload: dict[str, Any], expected: list[tuple[str, Any, Any]]
) -> None:
    """What happened to a patch is a summary of it with what changed."""
    event = {"id": 1, "category": category, "project": PROJECT, "date": "x", "payload": payload}
    found = messages(tmp_path, [event])
    states = [each.patchwork.state if each.patchwork else None for each in found]
    assert [
        (each.message_id, state, each.in_reply_to)
        for each, state in zip(found, states, strict=True)
    ] == expected


def test_a_check_is_kept(tmp_path: Path) -> None:
    """The event of a check says what a robot found."""
    check = {"id": 5, "state": "fail", "context": "build", "target_url": "https://ci.example.org"}
    event = {"id": 1, "category": "check-created", "payload": {"patch": EMBEDDED, "check": check}}
    (found,) = messages(tmp_path, event)
    assert found.patchwork is not None
    (kept,) = found.patchwork.checks
    assert (kept.context, kept.state, kept.url) == ("build", "fail", "https://ci.example.org")


def test_objects_one_a_line(tmp_path: Path) -> None:
    """As tools append what they fetch."""
    path = write(tmp_path / "lines", b"\n".join(json.dumps(v).encode() for v in (DETAIL, COMMENT)))
    raws, problems, _ = read(path)
    assert [parse_raw(raw).message_id for raw in raws] == [
        "lamp-1@example.org",
        "answer@example.org",
    ]
    assert not problems


@pytest.mark.parametrize("tail", [b'{"msgid": "a", "mbox": ', b'[{"msgid": "<a>", "mbox":1}, {'])
def test_damaged_json_is_a_problem(tmp_path: Path, tail: bytes) -> None:
    """A download that was cut short."""
    raws, problems, _ = read(write(tmp_path / "cut", tail))
    assert not raws
    assert [problem.code for problem in problems] == ["damaged"]


def test_other_json_is_not_patchworks() -> None:
    """A package's manifest, say."""
    assert detect(b'{"name": "lamp", "version": 1, "submitter": null}') is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(sorted(DETAIL | COMMENT | SERIES)), inner, max_size=8)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(sorted(DETAIL | COMMENT)), JSON) | JSON)
def test_any_values_are_read(value: object) -> None:
    """Whatever stands where a text should be."""
    data = json.dumps(value).encode()
    read_patchwork_json(Raw(data=data, source=Source(path="p", format="patchwork-json")))


def test_deep_json_is_bounded(tmp_path: Path) -> None:
    """Brackets without end are a problem and no crash."""
    data = b'{"msgid": "a", "mbox": ' + b"[" * 200_000
    raws, problems, _ = read(write(tmp_path / "deep", data))
    assert not raws
    assert problems

"""Bugzilla's XML, REST answers and pages say the same of a bug."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchlore.ingest.bug import Bug, BugChange
from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.bugzilla import moment
from tests.ingest.sources.samples import read, write

DIFF = b"--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-on\n+off\n"
XML = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>
<!DOCTYPE bugzilla SYSTEM "https://gcc.gnu.org/bugzilla/page.cgi?id=bugzilla.dtd">
<bugzilla version="5.0.4" urlbase="https://gcc.gnu.org/bugzilla/" maintainer="x@example.org">
  <bug>
    <bug_id>90210</bug_id>
    <creation_ts>2031-02-03 04:05:06 +0000</creation_ts>
    <short_desc>[12 Regression] lamp is dimmed twice</short_desc>
    <delta_ts>2031-03-04 05:06:07 +0000</delta_ts>
    <product>gcc</product>
    <component>tree-optimization</component>
    <version>12.1.0</version>
    <bug_status>RESOLVED</bug_status>
    <resolution>DUPLICATE</resolution>
    <dup_id>90100</dup_id>
    <see_also>https://bugs.example.org/7</see_also>
    <keywords>wrong-code, patch</keywords>
    <bug_severity>normal</bug_severity>
    <target_milestone>12.3</target_milestone>
    <dependson>90001</dependson>
    <blocked>90002</blocked>
    <blocked>90003</blocked>
    <reporter name="Nora Finch">nora@example.org</reporter>
    <assigned_to name="Bo Reed">bo@example.org</assigned_to>
    <cf_known_to_work>11.3.0, 13.0</cf_known_to_work>
    <cf_known_to_fail>12.1.0</cf_known_to_fail>
    <long_desc isprivate="0">
      <commentid>5001</commentid>
      <comment_count>0</comment_count>
      <who name="Nora Finch">nora@example.org</who>
      <bug_when>2031-02-03 04:05:06 +0000</bug_when>
      <thetext>With -O2 the lamp is dimmed twice.
See also PR tree-optimization/90100.</thetext>
    </long_desc>
    <long_desc isprivate="0">
      <commentid>5002</commentid>
      <comment_count>2</comment_count>
      <attachid>77</attachid>
      <who name="Bo Reed">bo@example.org</who>
      <bug_when>2031-02-05 04:05:06 +0000</bug_when>
      <thetext>Created attachment 77
a patch</thetext>
    </long_desc>
    <attachment isobsolete="0" ispatch="1" isprivate="0">
      <attachid>77</attachid>
      <filename>lamp.patch</filename>
      <type>text/plain</type>
      <size>{len(DIFF)}</size>
      <data encoding="base64">{base64.b64encode(DIFF).decode()}</data>
    </attachment>
  </bug>
</bugzilla>
"""
REST: dict[str, Any] = {
    "bugs": [
        {
            "id": 90210,
            "product": "gcc",
            "component": "tree-optimization",
            "version": "12.1.0",
            "summary": "[12 Regression] lamp is dimmed twice",
            "status": "RESOLVED",
            "resolution": "DUPLICATE",
            "dupe_of": 90100,
            "severity": "normal",
            "cf_known_to_work": "11.3.0, 13.0",
            "cf_known_to_fail": "12.1.0",
            "target_milestone": "12.3",
            "creation_time": "2031-02-03T04:05:06Z",
            "last_change_time": "2031-03-04T05:06:07Z",
            "assigned_to": "bo@example.org",
            "keywords": ["wrong-code", "patch"],
            "see_also": ["https://bugs.example.org/7"],
            "depends_on": [90001],
            "blocks": [90002, 90003],
            "creator": "nora@example.org",
            "creator_detail": {"email": "nora@example.org", "real_name": "Nora Finch"},
            "is_open": False,
        }
    ],
    "faults": [],
}
COMMENTS = {
    "bugs": {
        "90210": {
            "comments": [
                {
                    "bug_id": 90210,
                    "count": 0,
                    "creator": "nora",
                    "creation_time": "2031-02-03T04:05:06Z",
                    "text": "With -O2 the lamp is dimmed twice.",
                },
                {"bug_id": 90210, "creator": "bo@example.org", "text": "Confirmed."},
            ]
        }
    },
    "comments": {},
}
HISTORY = {
    "bugs": [
        {
            "id": 90210,
            "history": [
                {
                    "when": "2031-02-04T00:00:00Z",
                    "who": "bo@example.org",
                    "changes": [
                        {"field_name": "status", "removed": "NEW", "added": "RESOLVED"},
                        {"field_name": "resolution", "removed": "", "added": "DUPLICATE"},
                    ],
                }
            ],
        }
    ]
}
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><title>90210 &ndash; [12 Regression] lamp is dimmed twice</title>
<link href="https://fonts.example.org/lamp.css" rel="stylesheet">
</head><body class="gcc-gnu-org-bugzilla bz_bug bz_status_RESOLVED bz_bug_90210">
<a href="show_bug.cgi?id=90210">Bug&nbsp;90210</a>
<span id="short_desc_nonedit_display">[12 Regression] lamp is dimmed twice</span>
<table>
<tr><th class="field_label" id="field_label_bug_status">Status:</th>
<td><span id="static_bug_status">RESOLVED
 DUPLICATE of <a class="bz_bug_link" href="show_bug.cgi?id=90100">bug 90100</a></span></td></tr>
<tr><th class="field_label">Reported:</th><td>2031-02-03 04:05 UTC by
<span class="vcard"><a class="email" href="mailto:nora&#64;example.org"
 title="Nora Finch &lt;nora&#64;example.org&gt;"><span class="fn">Nora Finch</span></a></span>
</td></tr>
<tr><th class="field_label">Modified:</th>
<td>2031-03-04 05:06 UTC (<a href="show_activity.cgi?id=90210">History</a>)</td></tr>
<tr><th id="field_label_product">Product:</th>
<td class="field_value" id="field_container_product">gcc</td></tr>
<tr><th id="field_label_component">Component:</th>
<td id="field_container_component">tree-optimization (<a href="x">show other bugs</a>)</td>
</tr>
<tr><th id="field_label_version">Version:</th><td>12.1.0</td></tr>
<tr><th id="field_label_target_milestone">Target Milestone:</th><td>12.3</td></tr>
<tr><th id="field_label_keywords">Keywords:</th>
<td id="field_container_keywords">wrong-code, patch</td></tr>
<tr><th id="field_label_dependson">Depends on:</th>
<td><a href="show_bug.cgi?id=90001">90001</a></td></tr>
<tr><th id="field_label_blocked">Blocks:</th>
<td><a href="show_bug.cgi?id=90002">90002</a> <a href="show_bug.cgi?id=90003">90003</a></td></tr>
<tr><th id="field_label_see_also">See Also:</th>
<td id="field_container_see_also"><a href="https://bugs.example.org/7">x</a></td></tr>
<tr><th id="field_label_cf_known_to_work">Known to work:</th>
<td id="field_container_cf_known_to_work">11.3.0, 13.0</td></tr>
<tr><th id="field_label_cf_known_to_fail">Known to fail:</th>
<td id="field_container_cf_known_to_fail">12.1.0</td></tr>
</table>
<div id="c0" class="bz_comment bz_first_comment">
<span class="bz_comment_user"><span class="vcard"><a class="email"
 href="mailto:nora&#64;example.org"><span class="fn">Nora Finch</span></a></span></span>
<span class="bz_comment_time">2031-02-03 04:05:06 UTC</span>
<pre class="bz_comment_text" id="comment_text_0">With -O2 the lamp is dimmed twice.
See also &lt;bug 90100&gt;.</pre></div>
<div id="c3" class="bz_comment">
<span class="bz_comment_user"><span class="vcard"><span class="fn">Bo Reed</span></span></span>
<span class="bz_comment_time">2031-02-04 04:05:06 UTC</span>
<pre class="bz_comment_text" id="comment_text_3">Confirmed.</pre></div>
</body></html>
"""
ACTIVITY = """\
<html><head><title>Changes made to bug 90210</title>
<link rel="Top" href="https://gcc.gnu.org/bugzilla/"></head>
<body><a href="show_activity.cgi?id=90210">x</a><table>
<tr><th>Who</th><th>When</th><th>What</th><th>Removed</th><th>Added</th></tr>
<tr><td rowspan="2">bo&#64;example.org</td><td rowspan="2">2031-02-04 00:00:00 UTC</td>
<td>Status</td><td>NEW</td><td>RESOLVED</td></tr>
<tr><td>Resolution</td><td>---</td><td>DUPLICATE</td></tr></table></body></html>
"""
FORMS = {"xml": XML.encode(), "json": json.dumps(REST).encode(), "html": PAGE.encode()}


def messages(tmp_path: Path, data: bytes, name: str = "saved") -> list[Message]:
    """The messages of a saved document."""
    raws, problems, _ = read(write(tmp_path / name, data))
    assert not problems
    return [parse_raw(raw) for raw in raws]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_says_the_same_of_a_bug(tmp_path: Path, form: str) -> None:
    """Whatever was saved; a page has no severity that we read, and no seconds."""
    message = messages(tmp_path, FORMS[form])[0]
    bug = message.bug
    assert bug is not None
    if form == "html":
        assert (bug.created, bug.changed) == (
            "2031-02-03T04:05:06+00:00",
            "2031-03-04T05:06:00+00:00",
        )
        bug.changed, bug.severity = "2031-03-04T05:06:07+00:00", "normal"
        bug.assignee = "bo@example.org"
    assert bug == Bug(
        tracker="gcc",
        host="gcc.gnu.org",
        number=90210,
        title="[12 Regression] lamp is dimmed twice",
        product="gcc",
        component="tree-optimization",
        version="12.1.0",
        status="RESOLVED",
        resolution="DUPLICATE",
        severity="normal",
        known_to_work=["11.3.0", "13.0"],
        known_to_fail=["12.1.0"],
        target_milestone="12.3",
        created="2031-02-03T04:05:06+00:00",
        changed="2031-03-04T05:06:07+00:00",
        assignee="bo@example.org",
        keywords=["wrong-code", "patch"],
        see_also=["https://bugs.example.org/7"],
        depends=[90001],
        blocks=[90002, 90003],
        duplicate_of=90100,
    )
    assert message.message_id == "bug-90210@gcc.gnu.org.invalid"
    assert message.subject == ("[Bug tree-optimization/90210] [12 Regression] lamp is dimmed twice")
    assert message.from_ is not None
    assert (message.from_.name, message.from_.email) == ("Nora Finch", "nora@example.org")
    assert message.date_iso == "2031-02-03T04:05:06+00:00"
    assert [(pr.number, pr.component, pr.confidence) for pr in message.gcc_prs] == [
        (90210, "tree-optimization", "certain"),
        (90100, None, "certain"),
    ]


def test_each_field_has_its_evidence(tmp_path: Path) -> None:
    """The line of the body that shows it."""
    message = messages(tmp_path, FORMS["xml"])[0]
    found = {item.fact: item for item in message.evidence}
    lines = message.body.split("\n")
    assert lines[found["bug.status"].line - 1] == "Status: RESOLVED"
    assert found["bug.known_to_work"].value == "11.3.0, 13.0"


def test_comments_answer_the_bug(tmp_path: Path) -> None:
    """Their numbers are the tracker's; bugs that they name are facts as in any mail."""
    _, first, second = messages(tmp_path, FORMS["xml"])
    assert first.message_id == "bug-90210-c0@gcc.gnu.org.invalid"
    assert first.in_reply_to == "bug-90210@gcc.gnu.org.invalid"
    assert first.body.startswith("With -O2")
    assert [pr.number for pr in first.gcc_prs] == [90210, 90100]
    assert second.bug is not None
    assert second.bug.comment == 2
    assert second.from_ is not None
    assert second.from_.email == "bo@example.org"


def test_an_attached_patch_is_read(tmp_path: Path) -> None:
    """Where the document has its bytes."""
    message = messages(tmp_path, FORMS["xml"])[2]
    assert message.is_patch
    assert [change.path for change in message.files] == ["lamp.c"]
    assert [attached.filename for attached in message.attachments] == ["lamp.patch"]


def test_comments_of_a_page(tmp_path: Path) -> None:
    """With the text as shown; a name whose address is hidden has none."""
    _, first, third = messages(tmp_path, FORMS["html"])
    assert first.body == "With -O2 the lamp is dimmed twice.\nSee also <bug 90100>.\n"
    assert third.message_id == "bug-90210-c3@gcc.gnu.org.invalid"
    assert third.from_ is not None
    assert (third.from_.name, third.from_.email) == ("Bo Reed", None)


def test_a_page_that_may_be_edited(tmp_path: Path) -> None:
    """Who is logged in sees forms: what is chosen or filled in counts."""
    page = PAGE.replace(
        "<td>12.3</td>",
        '<td><select id="target_milestone"><option>12.2</option>'
        "<option selected>12.3</option></select></td>",
    ).replace(
        ">11.3.0, 13.0<", '><input id="cf_known_to_work" class="text_input" value="11.3.0, 13.0"><'
    )
    bug = messages(tmp_path, page.encode())[0].bug
    assert bug is not None
    assert bug.target_milestone == "12.3"
    assert bug.known_to_work == ["11.3.0", "13.0"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<html", "<!-- saved from url=(0046)https://bugzilla.kernel.org/x -->\n<html"),
        ("gcc-gnu-org-bugzilla", "bugzilla-kernel-org"),
        ("<head>", '<head><link rel="Top" href="https://bugzilla.kernel.org/">'),
    ],
)
def test_a_page_says_whose_it_is(tmp_path: Path, old: str, new: str) -> None:
    """A browser notes the address, the page its own in a class or a link."""
    page = PAGE.replace(">gcc<", ">Lamps<").replace(old, new, 1)
    bug = messages(tmp_path, page.encode())[0].bug
    assert bug is not None
    assert (bug.tracker, bug.host) == ("kernel", "bugzilla.kernel.org")


def test_comments_by_rest_know_their_tracker_by_the_path(tmp_path: Path) -> None:
    """Nothing in the answer says whose it is; a mirror's folders do."""
    name = "gcc.gnu.org/bugzilla/rest/bug/90210/comment"
    first, second = messages(tmp_path, json.dumps(COMMENTS).encode(), name)
    assert first.message_id == "bug-90210-c0@gcc.gnu.org.invalid"
    assert first.from_ is not None
    assert (first.from_.name, first.from_.email) == ("nora", None)
    assert second.message_id == "bug-90210-c1@gcc.gnu.org.invalid"
    (unknown, _) = messages(tmp_path, json.dumps(COMMENTS).encode(), "elsewhere")
    assert unknown.bug is not None
    assert unknown.bug.tracker is None
    assert unknown.message_id == "bug-90210-c0@bugzilla.invalid"


def test_a_history_is_a_list_of_changes(tmp_path: Path) -> None:
    """By REST and as a page."""
    (rest,) = messages(tmp_path, json.dumps(HISTORY).encode(), "gcc.gnu.org/history")
    (page,) = messages(tmp_path, ACTIVITY.encode())
    assert rest.bug is not None
    assert page.bug is not None
    assert rest.bug.changes == [
        BugChange(
            when="2031-02-04T00:00:00+00:00",
            who="bo@example.org",
            field="status",
            removed="NEW",
            added="RESOLVED",
        ),
        BugChange(
            when="2031-02-04T00:00:00+00:00",
            who="bo@example.org",
            field="resolution",
            added="DUPLICATE",
        ),
    ]
    assert [change.field for change in page.bug.changes] == ["Status", "Resolution"]
    assert page.bug.changes[1].removed == ""
    assert rest.message_id == page.message_id == "bug-90210-history@gcc.gnu.org.invalid"


def test_another_tracker_is_told_by_its_host(tmp_path: Path) -> None:
    """Its bugs are no bugs of GCC."""
    xml = XML.replace("gcc.gnu.org/bugzilla/", "bugzilla.kernel.org/").replace(">gcc<", ">Lamps<")
    message = messages(tmp_path, xml.encode())[0]
    assert message.gcc_prs == []
    assert [(bug.tracker, bug.number) for bug in message.other_prs] == [
        ("kernel", 90210),
        ("kernel", 90100),
    ]


def test_damaged_xml_gives_what_came_before(tmp_path: Path) -> None:
    """A download that was cut."""
    raws, problems, _ = read(write(tmp_path / "cut", XML[: XML.index("Created att")].encode()))
    assert len(raws) >= 2
    assert "XML is damaged" in problems[0].text


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    """A bomb of entities is told and left."""
    bomb = '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    data = f'<?xml version="1.0"?>{bomb}<bugzilla urlbase="x"><bug/></bugzilla>'.encode()
    raws, problems, _ = read(write(tmp_path / "bomb", data))
    assert not raws
    assert "entities" in problems[0].text


def test_a_bug_that_may_not_be_seen_is_none(tmp_path: Path) -> None:
    """The tracker says NotFound or NotPermitted."""
    data = b'<?xml version="1.0"?><bugzilla version="5"><bug error="NotFound"><bug_id>1</bug_id>'
    _, problems, _ = read(write(tmp_path / "none", data + b"</bug></bugzilla>"))
    assert [problem.code for problem in problems] == ["no-mail"]


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2031-02-03 04:05:06 +0200", "2031-02-03T04:05:06+02:00"),
        ("2031-02-03 04:05 UTC", "2031-02-03T04:05:00+00:00"),
        ("2031-02-03 04:05:06 PST", "2031-02-03T04:05:06-08:00"),
        ("2031-02-03T04:05:06Z", "2031-02-03T04:05:06+00:00"),
        ("2031-13-03 04:05:06 PST", None),
        ("soon", None),
        (None, None),
    ],
)
def test_dates_of_trackers(text: str | None, iso: str | None) -> None:
    """Each form has its zone."""
    assert moment(text) == iso


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "bugs comments history changes id 7 creator text count summary product component"
                " keywords depends_on creation_time field_name added removed when who".split()
            ),
            inner,
        )
    ),
    max_leaves=25,
)


@settings(deadline=None)
@given(st.dictionaries(st.just("bugs"), VALUES, min_size=1), st.binary(max_size=99))
def test_any_answer_is_read(
    tmp_path_factory: pytest.TempPathFactory, value: object, data: bytes
) -> None:
    """Whatever stands where something else should; cut and changed documents, too."""
    path = tmp_path_factory.getbasetemp() / "any"
    for document in (
        json.dumps(value).encode(),
        b'{"bugs": "creation_time"' + data,
        XML.encode()[: len(data) * 30] + data,
        PAGE.encode()[: len(data) * 30] + data,
    ):
        raws, _, _ = read(write(path, document))
        for raw in raws:
            parse_raw(raw)
    for form in ("bugzilla-xml", "bugzilla-json", "bugzilla-html"):
        parse_raw(Raw(data=data, source=Source(path="x", format=form)))

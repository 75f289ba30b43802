"""Pages of patchwork: a patch with its comments, a cover, a list of patches."""

from __future__ import annotations

import html
import time
from pathlib import Path

import pytest

from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from tests.ingest.letters import DIFF, SHA
from tests.ingest.sources.samples import read, write

HEADERS = """Received: from a.example.org by b.example.org; Thu, 8 Jun 2023 07:06:06 +0000
From: =?utf-8?q?N=C3=B6ra?= Finch <nora@example.org>
Subject: [PATCH v2 1/2] lamp:
 dim
Date: Thu, 8 Jun 2023 09:06:05 +0200
Message-ID: <lamp-1@example.org>
In-Reply-To: <cover@example.org>
References: <cover@example.org>
MIME-Version: 1.0
Content-Transfer-Encoding: quoted-printable"""


def coloured(diff: str) -> str:
    """DIFF as patchwork shows it, each line in its colour."""
    lines = []
    for line in html.escape(diff, quote=True).split("\n"):
        kind = {"+": "p_add", "-": "p_del", "d": "p_header"}.get(line[:1])
        lines.append(f'<span class="{kind}">{line}</span>' if kind else line)
    return "\n".join(lines)


PAGE = f"""
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
  <head><title>[v2,1/2] lamp: dim - Patchwork</title></head>
  <body>
  <h1>[v2,1/2] lamp: dim</h1>
<table id="patch-meta" class="patch-meta" data-submission-type=patches data-submission-id=71>
  <tr><th>Message ID</th>
    <td>
      lamp-1@example.org
      (<a href="https://lists.example.org/r/lamp-1@example.org">mailing list archive</a>)
    </td>
  </tr>
  <tr><th>State</th><td>Accepted, archived</td></tr>
  <tr><th>Commit</th><td><a href="https://git.example.org/?id={SHA}">{SHA}</a></td></tr>
  <tr><th>Delegated to:</th><td>Bo Reed</td></tr>
  <tr><th>Headers</th>
    <td><button id="toggle-patch-headers">show</button>
        <div id="patch-headers" class="patch-headers" style="display:none;">
            <pre>{html.escape(HEADERS)}</pre>
        </div>
    </td>
  </tr>
  <tr><th>Series</th>
    <td><a href="/project/lamp/list/?series=12">
        lamp: dim &amp; glow
      </a> |
      <div id="patch-series" class="submission-list" style="display:none;"><ul>
        <li><a href="/project/lamp/cover/cover@example.org/">[v2,0/2] lamp</a></li>
      </ul></div>
    </td>
  </tr>
  <tr><th>Related</th>
    <td><ul><li></li><li><a href="/project/lamp/patch/lamp%2B0@example.org/">lamp: dim</a></li>
    </ul></td>
  </tr>
</table>
<form id="patch-list-form" method="POST"><table class="form"><tr><td>x</td></tr></table></form>
<h2>Checks</h2>
<table class="checks">
<tr><th>Context</th><th>Check</th><th>Description</th></tr>
<tr>
  <td>robot/build</td>
  <td><span title="Updated now" class="state success">success</span></td>
  <td><a href="https://ci.example.org/?a=1&amp;b=2">  built &amp; linked </a></td>
</tr>
</table>
<h2>Commit Message</h2>
<div class="submission-message">
  <div class="meta">
    <span><a href="/project/lamp/list/?submitter=9">Nora Finch</a></span>
    <span class="message-date">June 8, 2023, 7:06 a.m. UTC</span>
  </div>
  <pre class="content">
commit {SHA} upstream.

if a &lt; b, dim; see <a href="https://example.org/">https://example.org/</a>

<span class="signed-off-by">Signed-off-by: Nora Finch &lt;nora@example.org&gt;</span>
---
 lamp.c | 2 +-
  </pre>
</div>
<h2>Comments</h2>
<a name="555"></a>
<div class="submission-message">
  <div class="meta">
    <a href="/project/lamp/list/?submitter=2">Bo Reed</a>
    <span class="message-date">Sept. 9, 2023, noon UTC |
      <a href="/comment/555/">#1</a>
    </span>
  </div>
  <pre class="content">
<span class="quote">&gt; if a &lt; b, dim</span>

<span class="reviewed-by">Reviewed-by: Bo Reed &lt;bo@example.org&gt;</span>
  </pre>
</div>
<a name="556"></a>
<div class="submission-message">
  <div class="meta"><a href="/project/lamp/list/?submitter=9">Nora Finch</a>
    <span class="message-date">Sept. 9, 2023, 3:04 p.m. UTC |</span></div>
  <pre class="content">
Thanks.
  </pre>
</div>
<div><h2>Patch</h2></div>
<div id="patch" class="patch">
  <pre class="content">
{coloured(DIFF)}
  </pre>
</div>
  </body>
</html>
"""

LIST = """<!DOCTYPE html><html><head><title>Lamps - Patchwork</title></head><body>
<table id="patch-list" class="table table-hover table-extra-condensed pw-list patch-list">
<thead><tr><th>Patch</th></tr></thead><tbody>
<tr id="patch-row:71" data-patch-id="71">
  <td id="patch-name:71"><a href="/project/lamp/patch/lamp-1@example.org/">
     [v2,1/2] lamp: dim
  </a></td>
  <td id="patch-series:71"><a href="?series=12">lamp: dim</a></td>
  <td id="patch-tags:71" class="text-nowrap"><span title="1">1</span></td>
  <td id="patch-checks:71" class="text-nowrap">-</td>
  <td id="patch-date:71" class="text-nowrap">2023-06-08</td>
  <td id="patch-submitter:71"><a href="/project/lamp/list/?submitter=9">Nora Finch</a></td>
  <td id="patch-delegate:71">bo</td>
  <td id="patch-state:71">New</td>
</tr></tbody></table></body></html>
"""


def messages(tmp_path: Path, text: str) -> list[Message]:
    """The facts of what a page holds."""
    raws, problems, _ = read(write(tmp_path / "page", text.encode()))
    assert not problems
    assert {raw.source.format for raw in raws} == {"patchwork-html"}
    return [parse_raw(raw) for raw in raws]


def test_a_patch_is_its_mail(tmp_path: Path) -> None:
    """The hidden headers are those of the mail; text and diff are put together again."""
    found = messages(tmp_path, PAGE)[0]
    assert found.source.fidelity == "rewritten"
    assert found.message_id == "lamp-1@example.org"
    assert found.in_reply_to == "cover@example.org"
    assert found.references == ["cover@example.org"]
    assert found.subject == "[PATCH v2 1/2] lamp: dim"
    assert found.from_ is not None
    assert (found.from_.name, found.from_.email) == ("Nöra Finch", "nora@example.org")
    assert found.date_iso == "2023-06-08T09:06:05+02:00"
    assert found.upstream_commits == [SHA]
    assert found.body.startswith(f"commit {SHA} upstream.\n\nif a < b, dim; see https://")
    assert found.applicable
    assert not found.defects


def test_the_diff_keeps_its_patch_id(tmp_path: Path) -> None:
    """Colours and escapes leave no trace."""
    mail = Raw(data=b"Subject: [PATCH] x\n\n" + DIFF.encode(), source=Source(path="m", format="m"))
    assert messages(tmp_path, PAGE)[0].patch_id == parse_raw(mail).patch_id is not None


def test_what_patchwork_knows_beside_the_mail(tmp_path: Path) -> None:
    """State, commit, delegate, series, related patches and checks."""
    found = messages(tmp_path, PAGE)[0]
    assert found.patchwork_id == 71
    record = found.patchwork
    assert record is not None
    assert (record.state, record.archived, record.commit) == ("Accepted", True, SHA)
    assert (record.delegate, record.series) == ("Bo Reed", 12)
    assert record.series_name == "lamp: dim & glow"
    assert record.related == ["lamp+0@example.org"]
    (check,) = record.checks
    assert (check.context, check.state, check.description, check.url) == (
        "robot/build",
        "success",
        "built & linked",
        "https://ci.example.org/?a=1&b=2",
    )


def test_comments_are_replies(tmp_path: Path) -> None:
    """A comment answers the patch; the page shows neither its id nor an address."""
    _, first, second = messages(tmp_path, PAGE)
    assert (first.message_id, first.in_reply_to) == (None, "lamp-1@example.org")
    assert first.subject == "Re: [PATCH v2 1/2] lamp: dim"
    assert first.is_reply
    assert first.from_ is not None
    assert (first.from_.name, first.from_.email) == ("Bo Reed", None)
    assert first.date_iso == "2023-09-09T12:00:00+00:00"
    assert first.trailers_given == ["Reviewed-by: Bo Reed <bo@example.org>"]
    assert (second.body, second.date_iso) == ("Thanks.\n", "2023-09-09T15:04:00+00:00")
    assert not second.is_patch


def test_a_page_of_an_older_patchwork(tmp_path: Path) -> None:
    """Before version 3 its classes had no hyphens."""
    text = PAGE.replace("patch-meta", "patchmeta").replace("patch-headers", "patchheaders")
    text = text.replace('class="submission-message"', 'class="comment"')
    old, comment, _ = messages(tmp_path, text.replace("Sept. 9, 2023, noon", "2023-09-09 12:00:01"))
    new = messages(tmp_path, PAGE)[0]
    assert (old.subject, old.body, old.patch_id) == (new.subject, new.body, new.patch_id)
    assert comment.date_iso == "2023-09-09T12:00:01+00:00"


def test_a_cover_has_no_diff(tmp_path: Path) -> None:
    """Its heading is "Message", and it has no state."""
    text = PAGE[: PAGE.index("<h2>Comments")].replace("1/2]", "0/2]")
    (found,) = messages(tmp_path, text + "</body></html>")
    assert found.is_cover_letter
    assert not found.is_patch


def test_a_list_gives_summaries(tmp_path: Path) -> None:
    """A list has no text and dates without a time: any other copy is better."""
    (found,) = messages(tmp_path, LIST)
    assert found.source.fidelity == "flattened"
    assert (found.message_id, found.patchwork_id) == ("lamp-1@example.org", 71)
    assert found.subject == "[PATCH v2 1/2] lamp: dim"
    assert found.date_iso == "2023-06-08T00:00:00+00:00"
    assert found.from_ is not None
    assert found.from_.name == "Nora Finch"
    assert found.patchwork is not None
    assert (found.patchwork.state, found.patchwork.delegate) == ("New", "bo")
    assert found.patchwork.series == 12


def test_a_page_without_a_patch_is_a_problem(tmp_path: Path) -> None:
    """An empty list."""
    text = LIST[: LIST.index("<tr id=")] + "</tbody></table></body></html>"
    raws, problems, _ = read(write(tmp_path / "page", text.encode()))
    assert not raws
    assert [problem.code for problem in problems] == ["no-mail"]


HEAD = '<html><body><table class="patch-meta">'


@pytest.mark.parametrize(
    "filler",
    ["<div class=comment>", "<th", "<td", "<h1>", '<a href="', "<pre class=content>", "<", "&",
     "</table>", "<tr id=\"patch-row:1\"><td><a href=\"/patch/a@b/\">", "<div id=patch ", "<a "],
)  # fmt: skip
def test_hostile_pages_are_read_in_time(tmp_path: Path, filler: str) -> None:
    """1 MiB of anything takes well under a second a time."""
    for lead in (HEAD, '<html><table class="patch-list">'):
        text = lead + filler * ((1 << 20) // len(filler))
        start = time.process_time()
        raws, _, _ = read(write(tmp_path / "page", text.encode()))
        assert time.process_time() - start < 1.5
        assert len(raws) <= 10_000

"""Series: what belongs to one sending, which sendings are revisions, and what changed."""

from __future__ import annotations

import io
import json
import pathlib
import tarfile
from typing import Any

import pytest

from patchlore.cli import main
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.kb.errors import NotFoundError
from patchlore.kb.filling import fill
from patchlore.kb.range_diff import compare
from patchlore.kb.series import Series, series_of
from patchlore.kb.store import Archive
from tests.kb.mails import source

FIXTURES = pathlib.Path(__file__).parents[3] / "shared/corpora/peer-fixtures.tar.xz"

#: What patchwork's own tests expect of its mailboxes: the numbers of patches of each series.
PATCHWORK = {
    "base-cover-letter": [2],
    "base-deep-threaded": [2],
    "base-different-versions": [4],
    "base-extra-patches": [3],
    "base-incomplete": [1],
    "base-no-cover-letter": [2],
    "base-no-references": [2],
    "base-no-references-no-cover": [2],
    "base-out-of-order": [2],
    "base-single-patch": [1],
    "bugs-mixed-versions": [1, 1],
    "bugs-multiple-content-types": [1],
    "bugs-multiple-references": [4],
    "bugs-nocover": [2, 2],
    "bugs-nocover-noversion": [2, 2],
    "bugs-spamming": [1, 1, 1],
    "bugs-unnumbered": [1],
    "mercurial-cover-letter": [2],
    "mercurial-no-cover-letter": [2],
    "revision-basic": [2, 2],
    "revision-no-cover-letter": [2, 2],
    "revision-out-of-order": [2, 2],
    "revision-threaded-to-cover": [2, 2],
    "revision-threaded-to-patch": [2, 2],
    "revision-threaded-to-single-patch": [1, 1],
    "revision-unlabeled": [2, 2],
    "revision-unlabeled-noreferences": [2, 2],
}


def posted(
    key: str, subject: str, minute: int, *headers: str, text: str = "", change: str = ""
) -> Raw:
    """Return a patch or cover letter by Ada Quill; ``change`` is the line that it adds."""
    lines = [
        "From: Ada Quill <ada@example.org>",
        f"Date: Tue, 2 Jan 2024 {3 + minute // 60:02}:{minute % 60:02}:05 +0000",
        f"Subject: {subject}",
        f"Message-ID: <{key}@example.org>",
        *headers,
        "",
        text or f"Says why {key} is needed.",
    ]
    if change:
        lines += [
            "",
            "Signed-off-by: Ada Quill <ada@example.org>",
            "---",
            "diff --git a/tick.c b/tick.c",
            "index 5626abf..f719efd 100644",
            "--- a/tick.c",
            "+++ b/tick.c",
            "@@ -1,3 +1,3 @@ int tick(void)",
            " one",
            "-two",
            f"+{change}",
            " three",
        ]
    data = "\n".join([*lines, ""]).encode()
    return Raw(data=data, source=source(format="rfc822", list=None))


def below(key: str) -> str:
    """Return the header of an answer."""
    return f"In-Reply-To: <{key}@example.org>"


def archive_of(path: pathlib.Path, *raws: Raw) -> pathlib.Path:
    """Store mails and return the archive's folder."""
    with Archive(path, write=True) as archive:
        archive.add([parse_raw(raw) for raw in raws], raws)
    return path


def series(path: pathlib.Path, name: str, *raws: Raw) -> Series:
    """Store mails and return the series of one of them."""
    with Archive(archive_of(path, *raws)) as archive:
        return series_of(archive, f"{name}@example.org")


def shape(found: Series) -> list[tuple[str, str | None, list[int], list[int]]]:
    """Return (label, cover, parts, missing parts) of each revision."""
    return [
        (
            revision.label,
            revision.sending.cover.key.partition("@")[0] if revision.sending.cover else None,
            sorted(revision.sending.patches),
            revision.sending.missing,
        )
        for revision in found.revisions
    ]


FIRST = (
    posted("c1", "[PATCH 0/3] tick: speed", 0),
    posted("a1", "[PATCH 1/3] tick: use two", 1, below("c1"), change="use"),
    posted("b1", "[PATCH 3/3] tick: end", 2, below("c1"), change="end"),
)
SECOND = (
    posted("c2", "[PATCH v2 0/2] tick: speed", 60),
    posted("a2", "[PATCH v2 1/2] tick: use two", 61, below("c2"), change="used"),
    posted("b2", "[PATCH v2 2/2] tick: end", 62, below("c2"), change="end"),
)


def test_missing_patches_are_named(tmp_path: pathlib.Path) -> None:
    """Any mail of the series leads to all of it; a hole is a hole."""
    assert shape(series(tmp_path, "b1", *FIRST)) == [("v1", "c1", [1, 3], [2])]


def test_an_answer_leads_to_the_series(tmp_path: pathlib.Path) -> None:
    """Who has only a reply at hand finds the series that it is about."""
    reply = posted("r", "Re: [PATCH 1/3] tick: use two", 9, below("a1"))
    assert shape(series(tmp_path, "r", *FIRST, reply))[0][:2] == ("v1", "c1")


def test_a_cover_without_references_is_found_from_every_patch(tmp_path: pathlib.Path) -> None:
    """Patches that answer the first one lead to the cover that was sent beside it."""
    archive_of(
        tmp_path,
        posted("c1", "[PATCH 0/2] clock: rework", 0),
        posted("a1", "[PATCH 1/2] tick: use two", 1, change="one"),
        posted("b1", "[PATCH 2/2] tock: use two", 2, below("a1"), change="two"),
    )
    with Archive(tmp_path) as archive:
        for key in ("c1", "a1", "b1"):
            assert shape(series_of(archive, f"{key}@example.org")) == [("v1", "c1", [1, 2], [])]


def test_what_is_no_series_is_said(tmp_path: pathlib.Path) -> None:
    """A mail about something else is in no series."""
    with pytest.raises(NotFoundError, match="neither part of a series"):
        series(tmp_path, "x", posted("x", "a question", 0))


def test_revisions_are_linked_by_title_and_sender(tmp_path: pathlib.Path) -> None:
    """The cover has the same title; both ways, in order of the version."""
    for name in ("c1", "b2"):
        found = series(tmp_path / name, name, *SECOND, *FIRST)
        assert shape(found) == [("v1", "c1", [1, 3], [2]), ("v2", "c2", [1, 2], [])]
    assert [revision.rule for revision in found.revisions] == ["title", None]


def test_somebody_elses_series_of_that_title_is_another(tmp_path: pathlib.Path) -> None:
    """The same title by Bo is Bo's series."""
    other = posted("o", "[PATCH v2 0/2] tick: speed", 70)
    data = other.data.replace(b"Ada Quill <ada@", b"Bo Tern <bo@")
    found = series(tmp_path, "c1", *FIRST, Raw(data=data, source=other.source))
    assert [label for label, *_ in shape(found)] == ["v1"]


def test_a_change_id_links_what_got_another_title(tmp_path: pathlib.Path) -> None:
    """b4's change-id stays the same when everything else changes."""
    text = "Says why.\n\n---\nbase-commit: 0123456789abcdef0123456789abcdef01234567\n"
    text += "change-id: 20240102-tick-5ce7f00d"
    one = posted("c1", "[PATCH 0/2] tick: speed", 0, text=text)
    two = posted("c2", "[PATCH v2 0/2] tock: renamed", 60, text=text)
    found = series(tmp_path, "c2", one, two)
    assert [(item.label, item.rule) for item in found.revisions] == [
        ("v1", "change-id"),
        ("v2", None),
    ]


def test_a_revision_in_answer_to_the_first_is_linked(tmp_path: pathlib.Path) -> None:
    """v2 below v1 in one thread, all titles new."""
    two = posted("c2", "[PATCH v2 0/2] tock: renamed", 60, below("c1"))
    found = series(tmp_path, "c1", *FIRST, two)
    assert [(item.label, item.rule) for item in found.revisions] == [
        ("v1", None),
        ("v2", "in-reply-to"),
    ]


def test_a_link_in_the_cover_links(tmp_path: pathlib.Path) -> None:
    """ "v1: https://lore.kernel.org/r/…" in the cover letter."""
    text = "Changes since v1: https://lore.kernel.org/r/c1@example.org\n- renamed"
    two = posted("c2", "[PATCH v2 0/2] tock: renamed", 60, text=text)
    for name in ("c1", "c2"):
        found = series(tmp_path / name, name, *FIRST, two)
        assert [item.label for item in found.revisions] == ["v1", "v2"]
    assert found.revisions[0].rule == "link"


def test_a_resend_is_the_same_revision_again(tmp_path: pathlib.Path) -> None:
    """By its tag, or because no patch is another."""
    again = posted("a2", "[PATCH RESEND] tick: use two", 900, change="use")
    same = posted("a3", "[PATCH] tick: use two", 999, change="use")
    found = series(
        tmp_path, "a1", posted("a1", "[PATCH] tick: use two", 1, change="use"), again, same
    )
    assert [(item.label, item.is_resend) for item in found.revisions] == [
        ("v1", False),
        ("v1#2", True),
        ("v1#3", True),
    ]


def test_a_backport_is_no_revision(tmp_path: pathlib.Path) -> None:
    """The same patch for a stable tree is another posting of another series."""
    backport = posted("s", "[PATCH 5.10] tick: use two", 500, change="use")
    found = series(tmp_path, "a1", posted("a1", "[PATCH] tick: use two", 1, change="use"), backport)
    assert len(found.revisions) == 1


def test_rounds_of_autosel_are_no_revisions(tmp_path: pathlib.Path) -> None:
    """Two series for one tree share a patch, and are two series."""
    one = posted("a1", "[PATCH AUTOSEL 5.10 07/24] tick: use two", 1, change="use")
    two = posted("a2", "[PATCH AUTOSEL 5.10 03/31] tick: use two", 9000, change="use")
    assert len(series(tmp_path, "a1", one, two).revisions) == 1


def test_changes_are_told_patch_by_patch(tmp_path: pathlib.Path) -> None:
    """One changed, one only moved, one gone, one new; rebases change nothing."""
    new = posted("n2", "[PATCH v2 2/3] tick: more", 63, below("c2"), change="wholly new")
    moved = posted("b2", "[PATCH v2 3/3] tick: end", 62, below("c2"), change="end")
    data = moved.data.replace(b"5626abf", b"1111111").replace(b"@@ -1,3 +1,3", b"@@ -9,3 +9,3")
    moved = Raw(data=data, source=moved.source)
    gone = posted("g1", "[PATCH 2/3] tock: drop me", 3, below("c1"), change="x\n+y\n+z\n+w\n+v")
    second = [
        posted("c2", "[PATCH v2 0/3] tick: speed", 60),
        posted("a2", "[PATCH v2 1/3] tick: use two", 61, below("c2"), change="used"),
    ]
    archive_of(tmp_path, *FIRST, gone, *second, new, moved)
    with Archive(tmp_path) as archive:
        found = series_of(archive, "c1@example.org")
        old, late = (revision.sending for revision in found.revisions)
        changes = compare(archive, old, late)
    signs = {
        (change.new or change.old).title: change.sign  # type: ignore[union-attr] # one is there
        for change in changes
    }
    assert signs == {
        "tock: drop me": "<",
        "tick: use two": "!",
        "tick: more": ">",
        "tick: end": "!",  # its message names another key
    }
    (used,) = [change for change in changes if change.new and change.new.title == "tick: use two"]
    assert "-+use" in used.diff
    assert "++used" in used.diff


def test_the_command_shows_and_compares(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Revisions with missing patches, their difference, JSON, and wrong usage."""
    archive_of(tmp_path, *FIRST, *SECOND)

    def run(*arguments: str) -> tuple[int, str]:
        capfd.readouterr()
        status = main(["--archive", str(tmp_path), "series", "a2@example.org", *arguments])
        return status, capfd.readouterr().out

    status, out = run()
    assert status == 0
    assert out.startswith("tick: speed, Ada Quill\n  2 revisions\n\nv1  2024-01-02")
    assert "  2/3 (not in the archive)\n" in out
    status, out = run("--diff", "v1..v2")
    assert status == 0
    assert "1 ! 1  tick: use two\n" in out
    assert "    ++used\n" in out
    told: dict[str, Any] = json.loads(run("--json")[1])
    assert [item["label"] for item in told["revisions"]] == ["v1", "v2"]
    assert told["revisions"][0]["missing"] == [2]
    assert json.loads(run("--diff", "v1..", "--json")[1])["new"] == "v2"
    assert run("--diff", "v1")[0] == 2
    assert run("--diff", "v1..v9")[0] == 1


@pytest.mark.skipif(not FIXTURES.exists(), reason="needs ../shared/corpora")
def test_series_are_those_that_patchwork_sees(tmp_path: pathlib.Path) -> None:
    """Each mailbox of patchwork's tests gives as many series with as many patches."""
    found: dict[str, list[int]] = {}
    with tarfile.open(FIXTURES) as tar:
        for member in tar:
            name = pathlib.PurePath(member.name)
            if name.parent.name != "series" or name.stem not in PATCHWORK:
                continue
            file = tar.extractfile(member)
            assert file is not None
            box = tmp_path / name.name
            box.write_bytes(io.BytesIO(file.read()).getvalue())
            with Archive(tmp_path / name.stem, write=True) as archive:
                fill(archive, [str(box)], jobs=0)
                found[name.stem] = patches_of(archive)
    assert found == PATCHWORK


def patches_of(archive: Archive) -> list[int]:
    """Return the numbers of patches of all sendings, oldest first."""
    sendings = {}
    keys = archive.execute("SELECT key FROM mail WHERE has_tags AND NOT is_reply").fetchall()
    for (key,) in keys:
        for revision in series_of(archive, key).revisions:
            sendings[revision.sending.timestamp, revision.sending.first.id] = len(
                revision.sending.patches
            )
    return [number for _, number in sorted(sendings.items())]

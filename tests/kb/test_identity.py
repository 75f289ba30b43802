"""Whether a backport is the upstream change: by mail alone, by git, and what is told of it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.cli import main
from patchlore.ingest.message import KIND_PROSE, Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.dossiers.commits import commit_dossier
from patchlore.kb.dossiers.contents import Content
from patchlore.kb.edges import update_edges
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.identity import KINDS, WORDS, identity
from patchlore.kb.identity_patches import notes_of, patch_of_mail
from patchlore.kb.reading import find_message
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository
from tests.kb.mails import message, source

SHA = "89abcdef0123456789abcdef0123456789abcdef"

UPSTREAM = """\
diff --git a/clock/tick.c b/clock/tick.c
index 1111111..2222222 100644
--- a/clock/tick.c
+++ b/clock/tick.c
@@ -10,6 +10,7 @@ void tick(void)
 \tint hand = 0;

 \thand = move(hand);
-\tstrike(hand);
+\tif (hand)
+\t\tstrike(hand);
 \trest();
 }

diff --git a/clock/bell.c b/clock/bell.c
index 3333333..4444444 100644
--- a/clock/bell.c
+++ b/clock/bell.c
@@ -5,4 +5,5 @@ void ring(void)
 {
 \tlift();
 \tfall();
+\thush(bell);
 }
"""

TICK, BELL = UPSTREAM.split("diff --git a/clock/bell.c")
BELL = f"diff --git a/clock/bell.c{BELL}"


def mail(number: int, subject: str, text: str, diff: str) -> Raw:
    """Return a mail with a patch as git send-email makes it."""
    data = (
        "From: Ada Quill <ada@example.org>\nTo: stable@example.org\n"
        f"Message-ID: <patch-{number}@example.org>\n"
        f"Date: Mon, {number} Jan 2024 10:00:00 +0000\nSubject: {subject}\n\n"
        f"{text}\n\nSigned-off-by: Ada Quill <ada@example.org>\n---\n{diff}-- \n2.43.0\n"
    )
    return Raw(data=data.encode(), source=Source(path="clock.mbox", format="rfc822", offset=number))


def posted(number: int, diff: str, *, tree: str = "5.10.y", text: str = "") -> Raw:
    """Return a posted backport."""
    subject = f"[PATCH {tree}] clock: strike only once"
    return mail(number, subject, f"commit {SHA} upstream.\n\nOnce is enough.{text}", diff)


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> Iterator[Archive]:
    """Yield an archive that is open for writing."""
    with Archive(tmp_path / "archive", write=True) as archive:
        yield archive


def add(archive: Archive, *raws: Raw) -> None:
    """Store mails."""
    archive.add([parse_raw(raw) for raw in raws], list(raws))


def upstream_mail(diff: str = UPSTREAM, text: str = "Once is enough.") -> Raw:
    """Return the upstream patch as it was posted."""
    return mail(1, "[PATCH] clock: strike only once", text, diff)


def content(archive: Archive, backport: Raw, upstream: Raw | None = None) -> Content:
    """Store upstream patch and backport, and return what the dossier says of the backport."""
    add(archive, upstream or upstream_mail(), backport)
    (found,) = commit_dossier(archive, SHA).contents
    return found


def test_the_words_are_those_of_the_kinds() -> None:
    """Each kind has words for people."""
    assert tuple(WORDS) == KINDS


def test_a_backport_with_the_patch_id_is_identical(archive: Archive) -> None:
    """Other line numbers do not matter, as to git patch-id."""
    found = content(archive, posted(2, UPSTREAM.replace("-10,6 +10,7", "-99,6 +99,7")))
    assert (found.kind, found.likeness, found.reason) == ("identical", 1.0, "one patch id")
    assert (found.tree, found.key) == ("5.10.y", "patch-2@example.org")
    assert (found.against, found.against_commit) == ("patch-1@example.org", None)


def test_other_context_is_the_same_change(archive: Archive) -> None:
    """What is around the lines was another in the older tree."""
    found = content(archive, posted(2, UPSTREAM.replace("int hand = 0;", "long hand = 0;")))
    assert (found.kind, found.likeness) == ("same-change", 1.0)
    assert found.reason == "the same lines in another context"


def test_another_file_is_the_same_change(archive: Archive) -> None:
    """The file had another name; it is told which."""
    found = content(archive, posted(2, UPSTREAM.replace("clock/bell.c", "old/bell.c")))
    assert (found.kind, found.reason) == (
        "same-change",
        "the same lines in other files (old/bell.c)",
    )


def test_changed_lines_are_adjusted_with_the_note_of_who_did_it(archive: Archive) -> None:
    """The note in brackets is the evidence, verbatim and with its line."""
    diff = UPSTREAM.replace("\thush(bell);", "\thush(bell, 0);")
    note = "\n[bo: Backported to 5.10: hush() takes\n two arguments there]"
    found = content(archive, posted(2, diff, text=note))
    assert (found.kind, found.reason) == (
        "adjusted",
        "1 line of upstream's left out, 1 line of its own",
    )
    assert 0.5 < (found.likeness or 0) < 1
    assert [(item.line, item.text) for item in found.notes] == [
        (4, "[bo: Backported to 5.10: hush() takes\ntwo arguments there]")
    ]


def test_a_note_that_upstream_has_is_not_the_backporters(archive: Archive) -> None:
    """A maintainer's note on the changelog comes with the cherry-pick."""
    note = "[ bo: massaged changelog ]"
    found = content(
        archive,
        posted(2, UPSTREAM, text=f"\n{note}"),
        upstream_mail(text=f"Once is enough.\n{note}"),
    )
    assert found.notes == []


def test_a_file_that_is_left_out_makes_a_part(archive: Archive) -> None:
    """The older tree has no bell."""
    found = content(archive, posted(2, TICK))
    assert (found.kind, found.reason) == ("partial", "3 of 4 changed lines, 1 of 2 files")


def test_a_part_may_have_a_line_of_its_own(archive: Archive) -> None:
    """As long as nearly all of it is upstream's and a whole file is missing."""
    lines = "".join(f"+\tcount({number});\n" for number in range(20))
    diff = TICK.replace("@@ -10,6 +10,7 @@", "@@ -10,6 +10,27 @@").replace(
        "+\tif (hand)\n", f"+\tif (hand)\n{lines}"
    )
    own = diff.replace("count(3)", "count(33)")
    found = content(archive, posted(2, own), upstream_mail(diff + BELL))
    assert found.kind == "partial"
    assert found.reason == "22 of 24 changed lines, 1 of 2 files; 1 line of its own"


def test_another_order_of_lines_is_no_identity(archive: Archive) -> None:
    """The same lines in another order do something else."""
    diff = TICK.replace("+\tif (hand)\n+\t\tstrike(hand);\n", "+\t\tstrike(hand);\n+\tif (hand)\n")
    found = content(archive, posted(2, diff), upstream_mail(TICK))
    assert (found.kind, found.reason) == ("adjusted", "the same lines in another order")
    assert (found.likeness or 0) < 1


def test_another_fix_under_the_title_is_different(archive: Archive) -> None:
    """Neither lines nor words in common."""
    found = content(archive, posted(2, BELL), upstream_mail(TICK))
    assert (found.kind, found.likeness) == ("different", 0.0)


def test_words_tell_a_short_fix_whose_every_line_was_changed(archive: Archive) -> None:
    """Adjusted, though no line is the same."""
    diff = BELL.replace("hush(bell);", "hush(bell, NULL);")
    found = content(archive, posted(2, diff), upstream_mail(BELL))
    assert (found.kind, found.likeness) == ("adjusted", 0.4)


def test_without_the_upstream_patch_a_note_is_believed(archive: Archive) -> None:
    """Who took it says that it was adjusted; by how much is not known."""
    add(archive, posted(2, UPSTREAM, text="\n[bo: adjusted context]"))
    (found,) = commit_dossier(archive, SHA).contents
    assert (found.kind, found.likeness, found.against) == ("adjusted", None, None)
    assert found.notes[0].text == "[bo: adjusted context]"


def test_without_the_upstream_patch_and_a_note_nothing_is_said(archive: Archive) -> None:
    """A note about the changelog is none about the patch."""
    add(archive, posted(2, UPSTREAM, text="\n[ bo: massaged changelog ]"))
    assert commit_dossier(archive, SHA).contents == []


def test_the_newest_backport_of_each_tree_counts(archive: Archive) -> None:
    """A second posting replaces the first; another tree has its own."""
    add(
        archive,
        upstream_mail(),
        posted(2, TICK),
        posted(3, UPSTREAM),
        posted(4, TICK, tree="5.4.y"),
    )
    found = commit_dossier(archive, SHA).contents
    assert [(item.tree, item.kind, item.key) for item in found] == [
        ("5.10.y", "identical", "patch-3@example.org"),
        ("5.4.y", "partial", "patch-4@example.org"),
    ]


def test_a_posting_for_a_stable_tree_is_no_upstream_patch(archive: Archive) -> None:
    """It lacks the marker, but its tag says that it is a backport."""
    other = mail(1, "[PATCH 5.4.y] clock: strike only once", "Once is enough.", UPSTREAM)
    add(archive, other, posted(2, UPSTREAM))
    assert commit_dossier(archive, SHA).contents == []


def test_the_patch_with_the_commits_id_is_the_upstream_one(archive: Archive) -> None:
    """git format-patch writes the commit; its title need not be the backport's."""
    made = mail(1, "[PATCH] clock: do not strike twice", "Once is enough.", UPSTREAM)
    head = f"From {SHA} Mon Sep 17 00:00:00 2001\n".encode()
    raw = Raw(data=head + made.data, source=Source(path="0001.patch", format="git-patch", offset=0))
    add(archive, raw, posted(2, TICK))
    (found,) = commit_dossier(archive, SHA).contents
    assert found.kind == "partial"


# -- git ---------------------------------------------------------------------------------


OLD = "".join(f"tick {number} of the clock\n" for number in range(12))


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a repository with a stable branch."""
    made = Repository(tmp_path / "clock")
    made.commit("clock: begin", {"clock.c": OLD})
    made.tag("v5.10")
    made.git("branch", "linux-5.10.y")
    return made


def take(repository: Repository, upstream: str, text: str, note: str = "") -> str:
    """Commit a backport to the stable branch."""
    repository.git("checkout", "-q", "linux-5.10.y")
    body = f"clock: fix it\n\ncommit {upstream} upstream.\n\nIt was wrong.\n{note}"
    sha = repository.commit(body, {"clock.c": text})
    repository.git("checkout", "-q", "main")
    return sha


def test_commits_of_a_tree_are_compared(archive: Archive, repository: Repository) -> None:
    """git is asked for the diffs where the repository is still there."""
    new = OLD.replace("tick 3 ", "tock 3 ").replace("tick 9 ", "tock 9 ")
    upstream = repository.commit("clock: fix it\n\nIt was wrong.\n", {"clock.c": new})
    note = "[ bo: adjusted to the old clock ]\n"
    own = take(repository, upstream, OLD.replace("tick 3 ", "tock 3 "), note)
    fill_tree(archive, "linux", str(repository.folder), patch_ids=True)
    (found,) = commit_dossier(archive, upstream).contents
    assert (found.kind, found.reason, found.commit) == ("partial", "2 of 4 changed lines", own)
    assert found.against_commit == upstream
    assert [(item.line, item.text) for item in found.notes] == [(6, note.strip())]


def test_a_posted_backport_is_compared_with_the_commit(
    archive: Archive, repository: Repository
) -> None:
    """Mail against git: one patch id, as both have it."""
    upstream = repository.commit("clock: fix it", {"clock.c": OLD + "tock\n"})
    text = f"commit {upstream} upstream."
    add(archive, mail(2, "[PATCH 5.10.y] clock: fix it", text, repository.diff(upstream)))
    fill_tree(archive, "linux", str(repository.folder), patch_ids=True)
    update_edges(archive)
    (found,) = commit_dossier(archive, upstream).contents
    assert (found.kind, found.reason, found.key) == (
        "identical",
        "one patch id",
        "patch-2@example.org",
    )


def test_without_patch_ids_equal_diffs_are_identical(
    archive: Archive, repository: Repository
) -> None:
    """The diffs themselves are compared."""
    upstream = repository.commit("clock: fix it", {"clock.c": OLD + "tock\n"})
    take(repository, upstream, OLD + "tock\n")
    fill_tree(archive, "linux", str(repository.folder))
    (found,) = commit_dossier(archive, upstream).contents
    assert (found.kind, found.reason) == ("identical", "the same files, lines and context")


@pytest.mark.parametrize("note", ["", "[ bo: adjusted to the old clock ]\n"])
def test_patch_ids_tell_when_the_repository_is_gone(
    archive: Archive, repository: Repository, note: str
) -> None:
    """Equal ones are identical; of others nothing is known."""
    upstream = repository.commit("clock: fix it", {"clock.c": OLD + "tock\n"})
    other = repository.commit("clock: fix it again", {"clock.c": OLD + "tock\ntock\n"})
    take(repository, upstream, OLD + "tock\n", note)
    take(repository, other, OLD + "tuck\n")
    fill_tree(archive, "linux", str(repository.folder), patch_ids=True)
    repository.folder.rename(repository.folder.with_name("elsewhere"))
    (found,) = commit_dossier(archive, upstream).contents
    assert (found.kind, found.reason) == ("identical", "one patch id")
    assert [item.text for item in found.notes] == ([note.strip()] if note else [])
    assert commit_dossier(archive, other).contents == []


# -- the command -------------------------------------------------------------------------


def test_the_command_prints_the_diff_of_the_diffs(
    archive: Archive, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What git range-diff shows of two commits: message and diff, without line numbers."""
    content(archive, posted(2, UPSTREAM.replace("hush(bell)", "hush(bell, 0)")))
    archive.close()
    where = ["--archive", str(tmp_path / "archive")]
    assert main([*where, "commit", SHA, "--tree", "5.10", "--diff"]) == 0
    printed = capsys.readouterr().out
    assert "content against the upstream patch\n  <patch-1@example.org>\n" in printed
    assert "  5.10: adjusted, likeness 0.75: 1 line of upstream's left out" in printed
    assert f"    +commit {SHA} upstream.\n" in printed
    assert "    -+\thush(bell);\n    ++\thush(bell, 0);\n" in printed
    assert "@@ -10,6" not in printed
    assert main([*where, "commit", SHA, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["contents"]
    assert (found["kind"], found["diff"]) == ("adjusted", [])


# -- notes -------------------------------------------------------------------------------


def noted(body: str) -> list[str]:
    """Return the notes of a commit message."""
    prose = KIND_PROSE * (body.count("\n") + 1)
    return [note.text for note in notes_of(message("a@example.org", body=body, line_kinds=prose))]


@pytest.mark.parametrize(
    "note",
    [
        "[bo: Backported to 3.16: adjust context]",
        "[ Bo Tern: adjusted context ]",
        "[bo@example.org: fix conflict in clock.c]",
        "[Backported to 5.10: no bell there]",
        "[ resolved conflict due to missing hush() ]",
        "Conflicts:\n\tclock/bell.c",
    ],
)
def test_a_note_is_taken_verbatim(note: str) -> None:
    """Whoever took the patch says in brackets what was changed."""
    found = noted(f"It was wrong.\n\n{note}\nSigned-off-by: Bo Tern <bo@example.org>\n")
    assert found == [note.replace("\t", "")]


@pytest.mark.parametrize(
    "line",
    [
        f"[ Upstream commit {SHA} ]",
        f"[ commit {SHA} upstream ]",
        f"[Backported upstream commit: {SHA}]",
        "[1]: https://example.org/a",
        "[1] https://example.org/a",
        "[   12.345678] clock: stopped",
        "[<804f6714>] tick+0x30/0x54",
        "[ BUG: Invalid wait context ]",
        "[bo: a bracket that is never closed",
        "Brackets [like: these] in the middle",
    ],
)
def test_other_brackets_are_no_notes(line: str) -> None:
    """Markers, references and kernel logs have brackets, too."""
    assert noted(f"It was wrong.\n\n{line}\n\nMore.\n") == []


@given(st.text(alphabet="[]: \nabc#\tConflicts", max_size=200))
def test_any_text_has_notes_or_none(text: str) -> None:
    """Nothing raises, and each note stands where it is said to."""
    made = message("a@example.org", body=text, line_kinds=KIND_PROSE * (text.count("\n") + 1))
    for note in notes_of(made):
        first = text.split("\n")[note.line - 1]
        assert note.text.split("\n")[0] == first.strip()


def test_a_mail_without_a_diff_is_no_patch(archive: Archive) -> None:
    """A cover or a plain request."""
    made: Message = message("plain@example.org", source=source())
    archive.add([made], [Raw(data=b"x", source=source())])
    assert patch_of_mail(archive, find_message(archive, "plain@example.org")) is None


def test_a_patch_is_identical_to_itself(archive: Archive) -> None:
    """Even where no patch id is known."""
    add(archive, upstream_mail())
    patch = patch_of_mail(archive, find_message(archive, "patch-1@example.org"))
    assert patch is not None
    patch.patch_id = None
    verdict = identity(patch, patch)
    assert verdict is not None
    assert verdict.kind == "identical"

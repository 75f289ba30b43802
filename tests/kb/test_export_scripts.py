"""Formats that other tools run or apply, each really used: scripts, mailboxes, folders, mails."""

from __future__ import annotations

import base64
import email
import email.policy
import io
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator

import pytest

from patchlore.ingest.sources.patch_folder import series_of
from patchlore.kb.backports import Row, backports
from patchlore.kb.errors import UsageError
from patchlore.kb.export import FOLDERS, file_maker, writer
from patchlore.kb.export.folders import MARK, write_folder
from patchlore.kb.export.patches import Names
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive
from tests.kb.backport_mails import HOSTILE, Mainline, add, mail, mainline
from tests.kb.mails import UPSTREAM, raw_of
from tests.kb.postings import posting


@pytest.fixture
def made(tmp_path: pathlib.Path) -> Mainline:
    """Return the repository, 5.10 checked out."""
    return mainline(tmp_path / "clock")


def export(tmp_path: pathlib.Path, name: str, mails: list[bytes]) -> tuple[bytes, list[str]]:
    """Put mails into an archive and return the list of 5.10 in a format."""
    out = io.BytesIO()
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, mails)
        notes = writer(name)(archive, "5.10.y", backports(archive, "5.10"), out)
    return out.getvalue(), notes


def folder(tmp_path: pathlib.Path, name: str, mails: list[bytes]) -> pathlib.Path:
    """Put mails into an archive and return the folder of the list of 5.10 in a format."""
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, mails)
        files, _ = file_maker(name)(archive, "5.10.y", backports(archive, "5.10"))
    write_folder(tmp_path / name, files)
    return tmp_path / name


def all_mails(made: Mainline) -> list[bytes]:
    """Return a posting of each commit, in each encoding that mail has."""
    encodings = ("8bit", "base64", "quoted-printable")
    return [mail(made, number, encoding=encodings[number % 3]) for number in range(len(made.shas))]


def run_script(made: Mainline, script: bytes, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a script in the repository with the shell that POSIX systems have."""
    path = made.repository.folder / ".git" / "picks.sh"
    path.write_bytes(script)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_COMMITTER_NAME": "Bo Tern", "GIT_COMMITTER_EMAIL": "bo@example.org",
                   "GIT_EDITOR": "true", **extra}  # fmt: skip
    return subprocess.run(
        ["sh", str(path)],
        cwd=made.repository.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def subjects(made: Mainline) -> list[str]:
    """Return the titles of the branch above v5.10, oldest first."""
    return made.repository.git("log", "--reverse", "--format=%s", "v5.10..HEAD").splitlines()


def no_harm(made: Mainline) -> bool:
    """Whether no title was run as a command."""
    return not list(made.repository.folder.rglob("pwned"))


def test_the_script_picks_in_order(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Run by sh in a real repository, it makes the commits with the lines of -x, nothing else."""
    script, notes = export(tmp_path, "cherry-pick", all_mails(made))
    assert notes == []
    assert subprocess.run(["sh", "-n"], input=script, check=True).returncode == 0
    done = run_script(made, script)
    assert done.returncode == 0, done.stderr
    assert subjects(made) == list(HOSTILE)
    log = made.repository.git("log", "--format=%b", "v5.10..HEAD")
    assert all(f"(cherry picked from commit {sha})" in log for sha in made.shas)
    assert no_harm(made)


def test_all_of_the_script_is_its_own_but_comments_and_checked_commits(
    tmp_path: pathlib.Path,
) -> None:
    """Line ends of a title do not end its comment, and no text stands outside of comments."""
    title = "a\ntouch pwned\r\ntouch pwned\u2028touch pwned\x85touch pwned\\"
    partly = posting(2, "abcdef012345", clean_subject=title)
    with Archive(tmp_path / "a", write=True) as archive:
        archive.add([one := posting(1, clean_subject=title), partly], [raw_of(one), raw_of(partly)])
        out = io.BytesIO()
        notes = writer("cherry-pick")(archive, "5.10.y", backports(archive, "5.10"), out)
    lines = out.getvalue().decode().splitlines()
    told = [line for line in lines if "pwned" in line]
    assert len(told) == 2
    assert all(line.startswith("#") for line in told)
    assert f"pick {UPSTREAM}" in lines
    assert any(line.startswith("#   abcdef012345  a") for line in lines)
    assert notes == ["1 row left out, the upstream commit is not known in full: abcdef012345"]


def test_the_script_goes_on_where_it_stopped(tmp_path: pathlib.Path, made: Mainline) -> None:
    """A conflict ends it; after --continue the same script picks the rest, nothing twice."""
    script, _ = export(tmp_path, "cherry-pick", all_mails(made))
    repository = made.repository
    repository.commit("tick-3: of our own", {"tick-3.c": "ours\n"})
    done = run_script(made, script)
    assert done.returncode != 0
    assert subjects(made)[1:] == list(HOSTILE[:2])
    assert "under way" in run_script(made, script).stderr
    (repository.folder / "tick-3.c").write_text("tick 3\n")
    repository.git("add", "tick-3.c")
    repository.git("-c", "core.editor=true", "cherry-pick", "--continue")
    done = run_script(made, script)
    assert done.returncode == 0, done.stderr
    assert subjects(made)[1:] == list(HOSTILE)
    assert run_script(made, script).returncode == 0
    assert len(subjects(made)) == len(HOSTILE) + 1


@pytest.mark.parametrize("marker", ["commit {} upstream.", "[ Upstream commit {} ]"])
def test_the_script_knows_the_markers_of_stable_trees(
    tmp_path: pathlib.Path, made: Mainline, marker: str
) -> None:
    """What the branch has with "commit … upstream." is not picked again."""
    script, _ = export(tmp_path, "cherry-pick", all_mails(made))
    files = {"clock.c": "begin\ntick 1\n", "tick-1.c": "tick 1\n"}
    made.repository.commit(f"tick: ours\n\n{marker.format(made.shas[0])}\n", files)
    done = run_script(made, script)
    assert done.returncode == 0, done.stderr
    assert subjects(made) == ["tick: ours", *HOSTILE[1:]]


def test_the_script_says_which_commit_is_to_be_fetched(
    tmp_path: pathlib.Path, made: Mainline
) -> None:
    """A commit that the repository lacks ends it with a sentence."""
    script, _ = export(tmp_path, "cherry-pick", all_mails(made))
    done = run_script(made, script.replace(made.shas[1].encode(), b"5" * 40))
    assert done.returncode == 1
    assert f"{'5' * 40} is not in this repository: fetch it first." in done.stderr
    assert subjects(made) == [HOSTILE[0]]


def test_the_script_passes_over_what_is_to_be_skipped(
    tmp_path: pathlib.Path, made: Mainline
) -> None:
    """A commit that a person has skipped for good is named in $SKIP."""
    script, _ = export(tmp_path, "cherry-pick", all_mails(made))
    done = run_script(made, script, SKIP=" ".join(made.shas[2:]))
    assert done.returncode == 0
    assert subjects(made) == list(HOSTILE[:2])


def am(made: Mainline, mbox: bytes) -> None:
    """Apply a mailbox with git am."""
    made.repository.git("am", "-q", "--patch-format=mboxrd", data=mbox)


def test_git_am_takes_every_mail(tmp_path: pathlib.Path, made: Mainline) -> None:
    """In whatever transfer encoding: the files and the author come out, in order."""
    mbox, notes = export(tmp_path, "mbox", all_mails(made))
    assert notes == []
    am(made, mbox)
    assert (made.repository.folder / "clock.c").read_text().endswith("tick 8\n")
    assert set(made.repository.git("log", "--format=%an", "v5.10..HEAD").splitlines()) == {
        "Dora Fenn"
    }
    assert no_harm(made)


@pytest.mark.parametrize("encoding", ["8bit", "quoted-printable", "base64"])
def test_a_nominated_patch_gets_its_marker(
    tmp_path: pathlib.Path, made: Mainline, encoding: str
) -> None:
    """An upstream patch names no commit; where another mail does, git am sees the marker first."""
    note = "\nCc: stable@vger.kernel.org # 5.4+\n"
    asked = mail(made, 0, tag="PATCH", marked=False, encoding=encoding, text=note)
    told = (
        b"From: Cy Marlow <cy@example.org>\nDate: Wed, 3 Jan 2024 03:04:05 +0000\n"
        b"Subject: " + f"[PATCH 6.1.y] {HOSTILE[0]}".encode() + b"\n"
        b"Message-ID: <other@example.org>\n\ncommit " + made.shas[0].encode() + b" upstream.\n\n"
        b"Reason.\n---\n" + made.repository.diff(made.shas[0]).encode()
    )
    mbox, notes = export(tmp_path, "mbox", [asked, told])
    assert notes == []
    am(made, mbox)
    text = made.repository.git("log", "-1", "--format=%an|%s|%b")
    assert text.startswith(f"Dora Fenn|{HOSTILE[0]}|commit {made.shas[0]} upstream.\n\nReason")


@pytest.mark.parametrize("name", ["mbox", "quilt"])
def test_a_patch_without_a_known_commit_is_told(
    tmp_path: pathlib.Path, made: Mainline, name: str
) -> None:
    """It is written as it is: nobody can say which commit it became."""
    note = "\nCc: stable@vger.kernel.org # 5.4+\n"
    asked = mail(made, 0, tag="PATCH", marked=False, text=note)
    told = [f"1 patch without a marker, the upstream commit is not known: {HOSTILE[0]}"]
    if name == "mbox":
        data, notes = export(tmp_path, name, [asked])
        am(made, data)
        assert subjects(made) == [HOSTILE[0]]
    else:
        with Archive(tmp_path / "archive", write=True) as archive:
            add(archive, [asked])
            _, notes = file_maker(name)(archive, "5.10.y", backports(archive, "5.10"))
    assert notes == told


def test_a_file_that_is_no_utf_8_comes_out_as_it_was_sent(
    tmp_path: pathlib.Path, made: Mainline
) -> None:
    """The octets of a diff are those of the mail, not of its text."""
    repository = made.repository
    repository.git("checkout", "-q", "main")
    (repository.folder / "naive.c").write_bytes(b"na\xefve\n")
    sha = repository.commit("naive: begin", {"other.c": "x\n"})
    repository.git("checkout", "-q", "5.10")
    diff = subprocess.run(
        ["git", "show", "--format=", sha], cwd=repository.folder, capture_output=True, check=True
    ).stdout
    head = (
        "From: Bo Tern <bo@example.org>\nDate: Tue, 2 Jan 2024 03:04:05 +0000\n"
        "Subject: [PATCH 5.10.y] naive: begin\nMessage-ID: <naive@example.org>\n"
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=iso-8859-1\n"
        f"Content-Transfer-Encoding: 8bit\n\ncommit {sha} upstream.\n\nReason.\n---\n"
    )
    where = folder(tmp_path, "quilt", [head.encode() + diff + b"-- \n2.39.5\n"])
    (name,) = (where / "series").read_text().split()
    repository.git("apply", str(where / name))
    assert (repository.folder / "naive.c").read_bytes() == b"na\xefve\n"


@pytest.mark.parametrize("name", ["quilt", "stable-queue"])
def test_a_folder_of_patches_applies_in_the_order_of_its_series(
    tmp_path: pathlib.Path, made: Mainline, name: str
) -> None:
    """Each file of the series is a patch that git am takes; names are safe and each once."""
    where = folder(tmp_path, name, all_mails(made))
    if name == "stable-queue":
        where = where / "queue-5.10"
    names = (where / "series").read_text().splitlines()
    assert len(set(names)) == len(HOSTILE)
    assert sorted(path.name for path in where.iterdir() if path.name != MARK) == sorted(
        [*names, "series"]
    )
    assert all(set(file) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.") for file in names)
    assert all(file[0].isalnum() for file in names)
    made.repository.git("am", "-q", *(str(where / file) for file in names))
    assert (made.repository.folder / "clock.c").read_text().endswith("tick 8\n")
    log = made.repository.git("log", "--format=%B", "v5.10..HEAD")
    assert all(f"commit {sha} upstream." in log for sha in made.shas)


def test_our_own_reader_takes_the_queue(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Read by ingest, the folder's patches are queued in 5.10, in the order of the series."""
    where = folder(tmp_path, "stable-queue", all_mails(made)) / "queue-5.10"
    series = series_of(str(where), sorted(os.listdir(where)))
    assert series is not None
    assert series.absent == []
    assert [place.order for _, place in series.present] == list(range(1, len(HOSTILE) + 1))
    with Archive(tmp_path / "again", write=True) as archive:
        fill(archive, [str(where)], jobs=0)
        found = backports(archive, "5.10")
    assert {row.sha for row in found} == set(made.shas)


def test_a_queued_patch_keeps_its_name(tmp_path: pathlib.Path, made: Mainline) -> None:
    """The notice of the stable maintainers says what the file is called."""
    notice = (
        b"From: gregkh@linuxfoundation.org\nDate: Thu, 4 Jan 2024 03:04:05 +0000\n"
        b'Subject: Patch "tick: use two" has been added to the 5.10-stable tree\n'
        b"Message-ID: <added@example.org>\n\n"
        b"This is a note to let you know that I've just added the patch titled\n\n"
        b"    tick: use two\n\nto the 5.10-stable tree which can be found at:\n"
        b"    http://www.kernel.org/git/?p=linux/kernel/git/stable/stable-queue.git;a=summary\n\n"
        b"The filename of the patch is:\n     tick-of-the-queue.patch\n"
        b"and it can be found in the queue-5.10 subdirectory.\n\n"
        b"From dora@example.org Mon Sep 17 00:00:00 2001\nFrom: Dora Fenn <dora@example.org>\n"
        b"Date: Tue, 2 Jan 2024 03:04:05 +0000\nSubject: tick: use two\n\ncommit "
        + made.shas[0].encode()
        + b" upstream.\n\nReason.\n---\n"
        + made.repository.diff(made.shas[0]).encode()
    )
    where = folder(tmp_path, "stable-queue", [notice]) / "queue-5.10"
    assert (where / "series").read_text() == "tick-of-the-queue.patch\n"


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (["a/b: C()"], ["a-b-c.patch"]),
        (["tick", "Tick!", "tick"], ["tick.patch", "tick-2.patch", "tick-3.patch"]),
        (["../..", "", None], ["patch.patch", "patch-2.patch", "patch-3.patch"]),
        (["日本"], ["patch.patch"]),
        (["-rf", ".hidden"], ["rf.patch", "hidden.patch"]),
        (["v1.2_x..y"], ["v1.2_x.y.patch"]),
    ],
)  # fmt: skip
def test_names_are_safe_and_each_once(titles: list[str], names: list[str]) -> None:
    """As the stable maintainers' scripts make them; none is hidden, an option or a way out."""
    given = Names()
    assert [given.of(title) for title in titles] == names


def test_a_long_title_makes_a_name_that_file_systems_take() -> None:
    """255 bytes are the limit of most."""
    assert len(Names().of("tick " * 300)) <= 140


def test_a_folder_of_ours_is_replaced_as_a_whole(tmp_path: pathlib.Path) -> None:
    """What the new list has no more is gone."""
    target = tmp_path / "list"
    write_folder(target, [("a/b", b"1"), ("c", b"2")])
    write_folder(target, [("a/b", b"3")])
    assert (target / "a" / "b").read_bytes() == b"3"
    assert not (target / "c").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["list"]


def test_two_runs_do_not_write_folders_beside_each_other(tmp_path: pathlib.Path) -> None:
    """The second one is refused while the first is at work; afterwards all is as before."""

    def files() -> Iterator[tuple[str, bytes]]:
        with pytest.raises(UsageError, match="is being written"):
            write_folder(tmp_path / "other", [("a", b"1")])
        yield "a", b"1"

    write_folder(tmp_path / "list", files())
    write_folder(tmp_path / "other", [("a", b"1")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list", "other"]


def test_a_folder_of_others_is_refused(tmp_path: pathlib.Path) -> None:
    """An empty folder is taken; one with files, a file or a link to such is left as it is."""
    (tmp_path / "empty").mkdir()
    write_folder(tmp_path / "empty", [("a", b"1")])
    assert (tmp_path / "empty" / "a").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "full")
    for name in ("full", "file", "link"):
        with pytest.raises(UsageError, match="name another with --output"):
            write_folder(tmp_path / name, [("a", b"1")])
    assert (tmp_path / "full" / "mine").read_text() == "mine"


def test_a_folder_that_can_not_be_made_leaves_the_old_one(tmp_path: pathlib.Path) -> None:
    """A name that leads out of the folder stops it before anything is replaced."""
    target = tmp_path / "list"
    write_folder(target, [("a", b"1")])
    for name in ("../b", "/tmp/b"):
        with pytest.raises(ValueError, match="leads out"):
            write_folder(target, [(name, b"2")])
    assert sorted(path.name for path in target.iterdir()) == [MARK, "a"]
    assert [path.name for path in tmp_path.iterdir()] == ["list"]


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_folders_are_the_same_between_runs(
    tmp_path: pathlib.Path, made: Mainline, name: str
) -> None:
    """Two archives filled alike give the same files."""
    found = []
    for run in ("1", "2"):
        with Archive(tmp_path / run, write=True) as archive:
            add(archive, all_mails(made))
            rows: list[Row] = backports(archive, "5.10")
            found.append(file_maker(name)(archive, "5.10.y", rows))
    assert found[0] == found[1]


def test_mails_ask_for_each_commit(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Read by the standard library: subject, commit, why and versions; From and Date are left."""
    data, _ = export(tmp_path, "mail", all_mails(made))
    pieces = data.split(b"From mboxrd@z Thu Jan  1 00:00:00 1970\n")
    assert pieces[0] == b""
    mails = [email.message_from_bytes(piece, policy=email.policy.default) for piece in pieces[1:]]
    assert len(mails) == len(HOSTILE)
    for item, sha, title in zip(mails, made.shas, HOSTILE, strict=True):
        assert item.keys() == [
            "To", "Subject", "MIME-Version", "Content-Type", "Content-Transfer-Encoding",
        ]  # fmt: skip
        assert item["To"] == "stable@vger.kernel.org"
        shown = title.replace("\u202e", "\\u202e").replace("\u2069", "\\u2069")
        assert item["Subject"] == f"Please apply to 5.10.y: {shown}"
        text = item.get_content()
        assert f"\n    {sha}\n" in text
        assert "Versions: 5.10.y\n" in text


#: Names and titles of which git has its own mind, each in an encoded word.
ODD = (
    ("Ada Quill", "tick: one\nBcc: evil@example.org"),
    ("Ada\nBcc: evil@example.org", "tick: \x00nul"),
    ("<script>", "=?utf-8?q?twice=0Aencoded?="),
    ('a"b\\c', "x" * 10_000),
    ("...", "Case: Same"),
    ("$(touch pwned)", "case: same"),
    ("\u202eevil", "CASE  same!"),
    ("", "series"),
    ("n" * 3000, "---"),
    ("a@b, c", "diff --git a/x b/x"),
)


def odd_mails(made: Mainline) -> list[bytes]:
    """Return a posting of each commit with an odd name and title; each has a second author."""
    found = []
    for number, (name, title) in enumerate(ODD):
        sender, subject = (
            "=?utf-8?b?" + base64.b64encode(text.encode()).decode() + "?=" for text in (name, title)
        )
        head, _, body = mail(made, number).partition(b"\n\n")
        head = re.sub(rb"From: [^\n]*", f"From: {sender} <odd{number}@example.org>".encode(), head)
        head = re.sub(rb"Subject: [^\n]*", f"Subject: [PATCH 5.10.y] {subject}".encode(), head)
        author, _, text = body.partition(b"\n\n")
        if number % 2:  # what looks like an author below one is text
            text = b"From: Eve <eve@example.org>\nSubject: other\n\n" + text
            found.append(head + b"\n\n" + author + b"\n\n" + text)
        else:
            found.append(head + b"\n\n" + text)
    return found


@pytest.mark.parametrize("name", ["mbox", "quilt", "stable-queue"])
def test_odd_names_and_titles_stop_no_program(tmp_path: pathlib.Path, name: str) -> None:
    """git am takes all of it; nobody's name, title or text becomes a header or an author."""
    made = mainline(tmp_path / "clock", [f"tick: {number}" for number in range(len(ODD))])
    repository = made.repository
    if name == "mbox":
        am(made, export(tmp_path, name, odd_mails(made))[0])
    else:
        place = folder(tmp_path, name, odd_mails(made))
        series = next(place.rglob("series"))
        files = series.read_text().splitlines()
        assert len({file.lower() for file in files}) == len(ODD)
        assert all(re.fullmatch(r"[a-z0-9_.-]{1,140}", file) for file in files)
        for file in sorted(files, key=lambda file: (series.parent / file).read_text()[:50]):
            assert "\nBcc:" not in (series.parent / file).read_text()
        for file in files:
            repository.git("am", "-q", "--patch-format=mbox", str(series.parent / file))
    names = set(repository.git("log", "--format=%an <%ae>", "v5.10..HEAD").splitlines())
    assert {person for person in names if "dora@" in person} == {"Dora Fenn <dora@example.org>"}
    assert not any("eve@" in person or "evil@" in person.partition("<")[2] for person in names)
    assert {"odd0@example.org", "odd2@example.org", "odd4@example.org"} <= {
        person.partition("<")[2].rstrip(">") for person in names
    }
    assert "other" not in subjects(made)
    assert len(subjects(made)) == len(ODD)
    assert no_harm(made)

"""Trials of lists in real repositories, which stay as they are; branches made of what applies."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import tempfile

import pytest

from patchlore.kb import trying
from patchlore.kb.backports import Row, backports
from patchlore.kb.errors import GitTreeError, UsageError
from patchlore.kb.export import writer
from patchlore.kb.git_scratch import Scratch
from patchlore.kb.outcomes import Tried
from patchlore.kb.store import Archive
from patchlore.kb.trying import Trial, try_rows
from tests.kb.backport_mails import HOSTILE, Mainline, add, mail, mainline
from tests.kb.mails import OTHER, UPSTREAM, raw_of
from tests.kb.postings import posting


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """No settings of the person who runs the tests; a name for who commits."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = Cy Marlow\nemail = cy@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def made(tmp_path: pathlib.Path) -> Mainline:
    """Return a repository with 5.10 checked out, and a mainline of commits."""
    return mainline(tmp_path / "clock")


@pytest.fixture
def other(tmp_path: pathlib.Path, made: Mainline) -> pathlib.Path:
    """Return a repository that has 5.10 alone, none of the mainline's commits."""
    path = tmp_path / "other"
    made.repository.git("clone", "-q", "--single-branch", "--no-local", ".", str(path))
    return path


def listed(tmp_path: pathlib.Path, mails: list[bytes]) -> list[Row]:
    """Return the list of 5.10 of mails."""
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, mails)
        return backports(archive, "5.10")


def tried(
    tmp_path: pathlib.Path, rows: list[Row], repository: pathlib.Path, branch: str | None = None
) -> Trial:
    """Try rows on the branch 5.10."""
    with Archive(tmp_path / "archive") as archive:
        return try_rows(archive, rows, str(repository), "5.10", branch)


def results(trial: Trial) -> list[str]:
    """Return the result of each row."""
    return [row.tried.result if row.tried else "" for row in trial.rows]


def only(trial: Trial) -> Tried:
    """Return what was tried of the only row."""
    (row,) = trial.rows
    assert row.tried is not None
    return row.tried


def state_of(repository: pathlib.Path) -> str:
    """Return a hash of all that a repository and its work tree consist of, times included.

    Except for those of objects: git marks an object that it would have written as used.
    """
    digest = hashlib.sha256()
    for path in sorted(repository.rglob("*")):
        status = path.lstat()
        time = 0 if "objects" in path.parts else status.st_mtime_ns
        digest.update(f"{path} {status.st_mode} {status.st_size} {time}\n".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def git(repository: pathlib.Path, *arguments: str) -> str:
    """Return what git prints in a repository."""
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], capture_output=True, check=True
    )
    return done.stdout.decode()


def test_each_row_is_tried_on_top_of_those_before(
    tmp_path: pathlib.Path, made: Mainline, other: pathlib.Path
) -> None:
    """All lines go into one file: in order each applies; without the first one none does."""
    mails = [mail(made, number) for number in range(4)]
    rows = listed(tmp_path, mails)
    whole = tried(tmp_path, rows, other)
    assert results(whole) == ["applies"] * 4
    assert whole.notes[0].endswith("): applies: 4")
    rest = tried(tmp_path, rows[1:], other)
    assert results(rest) == ["conflict"] * 3
    found = rest.rows[0].tried
    assert found is not None
    assert (found.how, found.what) == ("mail", "backport-1@example.org")
    assert found.conflicts == ["clock.c"]
    assert found.words == "patch failed: clock.c:1"


def test_nothing_of_the_repository_changes(
    tmp_path: pathlib.Path, made: Mainline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither refs, index, files, objects nor settings; nor is anything left behind."""
    repository = made.repository.folder
    (repository / "clock.c").write_text("being worked on\n")
    (repository / "new.c").write_text("not added\n")
    made.repository.git("add", "clock.c")
    (repository / "clock.c").write_text("and more\n")
    rows = listed(tmp_path, [mail(made, 0), mail(made, 2)])
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    before = state_of(repository)
    assert "conflict" in results(tried(tmp_path, rows, repository))
    assert state_of(repository) == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_interrupt_leaves_nothing(
    tmp_path: pathlib.Path, made: Mainline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scratch repository goes away however the trial ends."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    rows = listed(tmp_path, [mail(made, 0)])

    def interrupted(*_: object) -> None:
        assert list((tmp_path / "tmp").iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(trying, "_try", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tried(tmp_path, rows, made.repository.folder)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_commit_of_the_repository_is_picked(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Where no mail carries a patch, the commit is merged as git cherry-pick does."""
    rows = listed(tmp_path, [mail(made, 0)])
    rows[0].events = [event for event in rows[0].events if not event.applicable]
    found = only(tried(tmp_path, rows, made.repository.folder))
    assert (found.result, found.how, found.what) == ("applies", "commit", made.shas[0])
    rows[0].sha = made.shas[3]
    found = only(tried(tmp_path, rows, made.repository.folder))
    assert (found.result, found.conflicts) == ("conflict", ["clock.c"])


def test_a_commit_of_the_repository_helps_where_the_mail_does_not(
    tmp_path: pathlib.Path, made: Mainline
) -> None:
    """A mail against another state of the tree conflicts; the commit may apply."""
    broken = mail(made, 0).replace(b"\n begin\n", b"\n ended\n")
    found = only(tried(tmp_path, listed(tmp_path, [broken]), made.repository.folder))
    assert (found.result, found.how) == ("applies", "commit")


def test_what_is_there_already_is_told(tmp_path: pathlib.Path, made: Mainline) -> None:
    """By the commit itself, by the same change under another commit, by the mail's patch."""
    repository = made.repository
    rows = listed(tmp_path, [mail(made, 0)])
    repository.git("cherry-pick", made.shas[0])
    found = only(tried(tmp_path, rows, repository.folder))
    assert (found.result, found.how) == ("already-there", "mail")
    rows[0].events = []
    found = only(tried(tmp_path, rows, repository.folder))
    assert (found.result, found.how) == ("already-there", "commit")
    repository.git("reset", "-q", "--hard", made.shas[0])
    assert only(tried(tmp_path, rows, repository.folder)).result == "already-there"


def test_what_was_reverted_is_not_there(tmp_path: pathlib.Path, made: Mainline) -> None:
    """A commit of the base's history counts where the base still has its change."""
    repository = made.repository
    rows = listed(tmp_path, [mail(made, 0)])
    repository.git("reset", "-q", "--hard", made.shas[0])
    assert only(tried(tmp_path, rows, repository.folder)).result == "already-there"
    repository.git("revert", "--no-edit", made.shas[0])
    found = only(tried(tmp_path, rows, repository.folder))
    assert (found.result, found.how) == ("applies", "mail")
    rows[0].events = []
    found = only(tried(tmp_path, rows, repository.folder, "again"))
    assert (found.result, found.how) == ("applies", "commit")
    assert git(repository.folder, "rev-parse", "again^{tree}") == git(
        repository.folder, "rev-parse", f"{made.shas[0]}^{{tree}}"
    )
    repository.git("cherry-pick", made.shas[0])
    assert only(tried(tmp_path, rows, repository.folder)).result == "already-there"


def test_what_was_changed_since_is_there(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Later commits may go over its lines, and take back a part; a revert is one by its name."""
    repository = made.repository
    rows = listed(tmp_path, [mail(made, 0)])
    rows[0].events = []
    repository.git("reset", "-q", "--hard", made.shas[0])
    repository.git("rm", "-q", "tick-1.c")
    repository.commit("tick: no file of its own")
    assert only(tried(tmp_path, rows, repository.folder)).result == "already-there"
    repository.commit("clock: another beat", {"clock.c": "begin\ntock 1\n"})
    assert only(tried(tmp_path, rows, repository.folder)).result == "already-there"
    text = f'Revert "tick"\n\nThis reverts commit {made.shas[0]}.\n'
    repository.commit(text, {"clock.c": "start\n"})
    assert only(tried(tmp_path, rows, repository.folder)).result == "conflict"


@pytest.mark.parametrize("how", ["mail", "commit"])
def test_a_partial_clone_that_lacks_a_file_is_told(
    tmp_path: pathlib.Path, made: Mainline, how: str
) -> None:
    """It is no conflict; what can be tried is, and nothing is fetched."""
    repository = made.repository
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.commit("clock: a dial", {"dial.c": "dial\n", "clock.c": "begin\n\n"})
    partial = tmp_path / "partial"
    url = f"file://{repository.folder}"
    repository.git(
        "clone", "-q", "--no-checkout", "--filter=blob:none", "-b", "5.10", url, str(partial)
    )
    rows = listed(tmp_path, [mail(made, 0)])
    if how == "commit":
        rows[0].events = []
    before = state_of(partial)
    trial = tried(tmp_path, rows, partial)
    found = only(trial)
    assert (found.result, found.how) == ("lacks-objects", how)
    assert found.conflicts == (["clock.c"] if how == "mail" else [])
    assert trial.notes[1].startswith("1 row not tried")
    assert "--refetch" in trial.notes[1]
    assert state_of(partial) == before
    git(partial, "fetch", "-q", "--refetch", "--no-filter")
    assert only(tried(tmp_path, rows, partial)).result != "lacks-objects"


def test_a_partial_clone_is_enough_for_new_files(tmp_path: pathlib.Path, made: Mainline) -> None:
    """What the patch does not touch need not be there, nor for a branch."""
    repository = made.repository
    repository.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    url = f"file://{repository.folder}"
    repository.git(
        "clone", "-q", "--no-checkout", "--filter=blob:none", "-b", "5.10", url, str(partial)
    )
    repository.git("checkout", "-q", "main")
    sha = repository.commit("clock: a hand", {"hand.c": "hand\n"})
    rows = listed(tmp_path, [mail(Mainline(repository, [sha], ["clock: a hand"]), 0)])
    assert only(tried(tmp_path, rows, partial, "hands")).result == "applies"
    assert git(partial, "show", "hands:hand.c") == "hand\n"


def test_a_clone_without_trees_is_refused(tmp_path: pathlib.Path, made: Mainline) -> None:
    """With a sentence that says what is missing."""
    repository = made.repository
    repository.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    url = f"file://{repository.folder}"
    repository.git(
        "clone", "-q", "--no-checkout", "--filter=tree:0", "-b", "5.10", url, str(partial)
    )
    with pytest.raises(GitTreeError, match="lacks the files"):
        tried(tmp_path, listed(tmp_path, [mail(made, 0)]), partial)


def test_a_merge_of_three_sides_is_told(tmp_path: pathlib.Path, made: Mainline) -> None:
    """The context has changed, but the repository has the file that the patch was made for."""
    repository = made.repository
    text = "one\ntwo\nthree\nfour\nfive\n"
    repository.git("checkout", "-q", "main")
    repository.commit("clock: long", {"long.c": text})
    sha = repository.commit("clock: last", {"long.c": text.replace("five", "fünf")})
    repository.git("checkout", "-q", "5.10")
    repository.commit("clock: long", {"long.c": text.replace("three", "drei")})
    third = Mainline(repository, [sha], ["clock: last"])
    rows = listed(tmp_path, [mail(third, 0)])
    found = only(tried(tmp_path, rows, repository.folder))
    assert (found.result, found.how) == ("applies-3way", "mail")


def test_a_row_without_a_patch_is_not_tried(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Neither a mail nor the repository has anything."""
    item = posting(1, applicable=False)
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.add([item], [raw_of(item)])
        rows = backports(archive, "5.10")
    assert only(tried(tmp_path, rows, made.repository.folder)) == Tried(result="no-patch")


def test_the_branch_is_what_git_am_makes(
    tmp_path: pathlib.Path, made: Mainline, other: pathlib.Path
) -> None:
    """Author, date, message and files of each commit; one new ref, nothing else."""
    mails = [mail(made, number) for number in range(len(HOSTILE))]
    rows = listed(tmp_path, mails)
    before = (git(other, "for-each-ref"), (other / ".git" / "index").read_bytes())
    trial = tried(tmp_path, rows, other, "fixes")
    assert trial.notes[1] == "branch fixes: 8 commits on 5.10"
    refs = git(other, "for-each-ref").splitlines()
    assert [line for line in refs if "refs/heads/fixes" not in line] == before[0].splitlines()
    assert (other / ".git" / "index").read_bytes() == before[1]
    assert git(other, "status", "--porcelain") == ""
    git(other, "fsck", "--strict")
    box = tmp_path / "list.mbox"
    with Archive(tmp_path / "archive") as archive, box.open("wb") as out:
        writer("mbox")(archive, "5.10.y", rows, out)
    git(other, "am", "-q", "--patch-format=mboxrd", str(box))
    form = "--format=%T%n%an%n%ae%n%ad%n%B"
    assert git(other, "log", form, "v5.10..fixes") == git(other, "log", form, "v5.10..5.10")
    assert git(other, "log", "-1", "--format=%cn <%ce>", "fixes") == "Cy Marlow <cy@example.org>\n"
    assert not list(other.rglob("pwned"))


@pytest.mark.parametrize("name", ["...", "<>", '"', ""])
def test_a_name_that_git_refuses_is_that_of_the_address(
    tmp_path: pathlib.Path, made: Mainline, other: pathlib.Path, name: str
) -> None:
    """A commit needs an author; a mail may have anything for one."""
    written = name.replace('"', '\\"')
    text = mail(made, 0).replace(b"From: Dora Fenn <", f'From: "{written}" <'.encode())
    tried(tmp_path, listed(tmp_path, [text]), other, "fixes")
    assert git(other, "log", "-1", "--format=%ae", "fixes") == "dora@example.org\n"


def test_the_branch_has_picks_as_git_makes_them(tmp_path: pathlib.Path, made: Mainline) -> None:
    """With the line of -x, the author and the date of the commit."""
    rows = listed(tmp_path, [mail(made, 0), mail(made, 1)])
    for row in rows:
        row.events = [event for event in row.events if not event.applicable]
    repository = made.repository.folder
    tried(tmp_path, rows, repository, "picks")
    git(repository, "cherry-pick", "-x", *made.shas[:2])
    form = "--format=%T%n%an%n%ae%n%ad%n%B"
    assert git(repository, "log", form, "v5.10..picks") == git(
        repository, "log", form, "v5.10..5.10"
    )


def test_two_branches_of_a_list_are_the_same_commits(
    tmp_path: pathlib.Path, made: Mainline, other: pathlib.Path
) -> None:
    """No time of now is in them."""
    rows = listed(tmp_path, [mail(made, 0), mail(made, 1)])
    for name in ("one", "two"):
        tried(tmp_path, rows, other, name)
    assert git(other, "rev-parse", "one") == git(other, "rev-parse", "two")


@pytest.mark.parametrize(
    "name",
    ["5.10", "-x", "a..b", "a b", "", "5.10/x", "@{-1}", "HEAD", "@", "FETCH_HEAD", "old",
     "refs/heads/x", "1" * 40, "a\x00b", "a\nb", "x.lock", "/x", "x/"],
)  # fmt: skip
def test_a_branch_that_can_not_be_made_is_refused(
    tmp_path: pathlib.Path, made: Mainline, name: str
) -> None:
    """Before the trial, with a sentence and without a change of any ref."""
    rows = listed(tmp_path, [mail(made, 0)])
    made.repository.git("branch", "old/one")
    before = made.repository.git("for-each-ref")
    with pytest.raises(UsageError):
        tried(tmp_path, rows, made.repository.folder, name)
    assert made.repository.git("for-each-ref") == before


def test_no_branch_is_made_of_nothing(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Where nothing applies there is a note."""
    rows = listed(tmp_path, [mail(made, 3)])
    rows[0].sha = None
    trial = tried(tmp_path, rows, made.repository.folder, "fixes")
    assert trial.notes[1] == "no branch fixes was made: nothing applies."
    assert "fixes" not in made.repository.git("branch")


@pytest.mark.parametrize("base", ["lost", "--help", "HEAD^{tree}", ""])
def test_a_base_that_is_no_commit_is_refused(made: Mainline, base: str) -> None:
    """With a sentence that names it."""
    with pytest.raises(UsageError, match="has no commit"):
        Scratch(made.repository.folder, base)


def test_what_is_no_repository_is_told(tmp_path: pathlib.Path) -> None:
    """A folder without git, or none at all."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(GitTreeError, match="is no git repository"):
            Scratch(path, "HEAD")


def test_a_linked_worktree_and_a_bare_repository_are_tried(
    tmp_path: pathlib.Path, made: Mainline
) -> None:
    """The base of a worktree is its own HEAD; a name with odd signs is a folder like others."""
    made.repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), made.shas[0])
    rows = listed(tmp_path, [mail(made, 1)])
    bare = tmp_path / 'bare "one"\nof\\us: #1'
    made.repository.git("clone", "-q", "--bare", ".", str(bare))
    with Archive(tmp_path / "archive") as archive:
        assert only(try_rows(archive, rows, str(tmp_path / "linked"), "HEAD")).result == "applies"
        assert only(try_rows(archive, rows, str(bare), made.shas[0])).result == "applies"


def test_a_shallow_repository_is_tried(tmp_path: pathlib.Path, made: Mainline) -> None:
    """The history that was cut off is not looked for."""
    shallow = tmp_path / "shallow"
    url = f"file://{made.repository.folder}"
    made.repository.git("clone", "-q", "--depth=1", "-b", "5.10", url, str(shallow))
    rows = listed(tmp_path, [mail(made, 0)])
    assert only(tried(tmp_path, rows, shallow)).result == "applies"


def test_settings_of_the_repository_run_nothing(
    tmp_path: pathlib.Path, made: Mainline, other: pathlib.Path
) -> None:
    """Hooks, a merge driver and a monitor that the repository names are not started."""
    hook = other / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    hook.chmod(0o755)
    for key in ("core.fsmonitor", "merge.x.driver", "core.sshCommand", "filter.x.clean"):
        git(other, "config", key, f"touch {tmp_path}/pwned")
    (other / ".git" / "info").mkdir(exist_ok=True)
    (other / ".git" / "info" / "attributes").write_text("* merge=x filter=x\n")
    (tmp_path / "pwned").unlink(missing_ok=True)
    rows = listed(tmp_path, [mail(made, 0), mail(made, 2)])
    tried(tmp_path, rows, other, "fixes")
    assert not (tmp_path / "pwned").exists()


def test_a_patch_of_another_commit_is_no_double(tmp_path: pathlib.Path, made: Mainline) -> None:
    """Rows of commits that the repository does not have are tried by their mails."""
    rows = listed(tmp_path, [mail(made, 0)])
    rows[0].sha = OTHER
    assert only(tried(tmp_path, rows, made.repository.folder)).result == "applies"
    rows[0].sha = UPSTREAM[:9]
    assert only(tried(tmp_path, rows, made.repository.folder)).result == "applies"


def test_nobody_to_commit_as_is_told(
    tmp_path: pathlib.Path, made: Mainline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git's own rule: a name and an address have to be set."""
    settings = pathlib.Path(os.environ["HOME"]) / ".gitconfig"
    settings.write_text("[user]\nuseConfigOnly = true\n")
    monkeypatch.delenv("EMAIL", raising=False)
    rows = listed(tmp_path, [mail(made, 0)])
    with pytest.raises(UsageError, match="who you are"):
        tried(tmp_path, rows, made.repository.folder, "fixes")

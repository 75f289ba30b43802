"""public-inbox repositories are read in the order of arrival, and from where the last run ended."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path

import pytest

from patchlore.ingest.sources import public_inbox
from patchlore.ingest.sources.git import GitError, git_lines_at_end
from tests.ingest.sources.samples import Marks, mail, read

WHO = {
    "GIT_AUTHOR_NAME": "Nora Finch",
    "GIT_AUTHOR_EMAIL": "nora@example.org",
    "GIT_COMMITTER_NAME": "Nora Finch",
    "GIT_COMMITTER_EMAIL": "nora@example.org",
}


def git(repository: Path, *arguments: str, data: bytes = b"") -> str:
    """Run git on a bare repository and give what it prints."""
    done = subprocess.run(
        ["git", f"--git-dir={repository}", *arguments],
        input=data,
        capture_output=True,
        check=True,
        env=os.environ | WHO,
    )
    return done.stdout.decode().strip()


class Inbox:
    """A repository that mails are committed to as public-inbox does it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        git(path, "init", "-q", "--bare", "--initial-branch=master")

    def commit(self, files: Mapping[str, bytes]) -> str:
        """Commit a tree of FILES, by path (of one level of folders)."""
        tree: dict[str, list[str]] = {}
        for name, data in files.items():
            blob = git(self.path, "hash-object", "-w", "--stdin", data=data)
            folder, _, base = name.rpartition("/")
            tree.setdefault(folder, []).append(f"100644 blob {blob}\t{base}")
        for folder in [name for name in tree if name]:
            inner = git(self.path, "mktree", data="\n".join(tree.pop(folder)).encode() + b"\n")
            tree.setdefault("", []).append(f"040000 tree {inner}\t{folder}")
        root = git(self.path, "mktree", data="\n".join(tree.get("", [])).encode() + b"\n")
        parents = git(self.path, "rev-parse", "--verify", "-q", "HEAD") if self.commits else ""
        options = ["-p", parents] if parents else []
        commit = git(self.path, "commit-tree", root, *options, "-m", "mail")
        git(self.path, "update-ref", "HEAD", commit)
        return commit

    @property
    def commits(self) -> bool:
        """Whether there is a commit yet."""
        return bool(git(self.path, "for-each-ref"))


def test_an_inbox_is_read_in_order(tmp_path: Path) -> None:
    """Epochs by number, mails as they came; each knows its blob."""
    for epoch, numbers in ((0, (1, 2)), (10, (4,)), (9, (3,))):
        inbox = Inbox(tmp_path / f"lamp/git/{epoch}.git")
        for number in numbers:
            inbox.commit({"m": mail(number)})
    raws, problems, marks = read(tmp_path / "lamp", list_name="lamp")
    assert [raw.data for raw in raws] == [mail(1), mail(2), mail(3), mail(4)]
    assert not problems
    assert len(marks) == 3
    source = raws[0].source
    assert (source.format, source.list, source.fidelity) == ("public-inbox", "lamp", "exact")
    assert source.path == str(tmp_path / "lamp/git/0.git")
    header = b"blob %d\0" % len(mail(1))
    assert source.blob == sha1(header + mail(1)).hexdigest()


@pytest.mark.parametrize("inner", ["git/0.git", "git", "."])
def test_an_inbox_is_found_from_any_of_its_folders(tmp_path: Path, inner: str) -> None:
    """The inbox, its git folder, or one epoch may be named; an outer folder too."""
    Inbox(tmp_path / "lamp/git/0.git").commit({"m": mail(1)})
    assert len(read(tmp_path / "lamp" / inner)[0]) == 1
    assert len(read(tmp_path)[0]) == 1


def test_only_new_mail_is_read(tmp_path: Path) -> None:
    """The state is the last commit."""
    inbox, marks = Inbox(tmp_path / "0.git"), Marks()
    inbox.commit({"m": mail(1)})
    assert len(marks.run(tmp_path / "0.git")[0]) == 1
    assert marks.run(tmp_path / "0.git") == ([], [])
    inbox.commit({"m": mail(2)})
    inbox.commit({"m": mail(3)})
    raws, problems = marks.run(tmp_path / "0.git")
    assert [raw.data for raw in raws] == [mail(2), mail(3)]
    assert not problems


def test_rewritten_history_is_read_anew(tmp_path: Path) -> None:
    """A purge rewrites history; the stored commit is gone."""
    inbox, marks = Inbox(tmp_path / "0.git"), Marks()
    inbox.commit({"m": mail(1)})
    first = git(inbox.path, "rev-parse", "HEAD")
    inbox.commit({"m": mail(2)})
    marks.run(inbox.path)
    git(inbox.path, "update-ref", "HEAD", first)
    inbox.commit({"m": mail(3)})
    assert [raw.data for raw in marks.run(inbox.path)[0]] == [mail(1), mail(3)]


def test_deleted_mail_is_left_out(tmp_path: Path) -> None:
    """A file "d" takes the mail with its blob away; the same mail may come again later."""
    inbox = Inbox(tmp_path / "0.git")
    inbox.commit({"m": mail(1)})
    inbox.commit({"m": mail(2)})
    inbox.commit({"d": mail(1)})
    inbox.commit({"m": mail(3)})
    inbox.commit({"m": mail(1)})
    raws, _, _ = read(inbox.path)
    assert [raw.data for raw in raws] == [mail(2), mail(3), mail(1)]


def test_a_repository_that_ends_with_a_deletion(tmp_path: Path) -> None:
    """Its newest tree holds "d" only."""
    inbox = Inbox(tmp_path / "0.git")
    inbox.commit({"m": mail(1)})
    inbox.commit({"m": mail(2)})
    inbox.commit({"d": mail(2)})
    assert [raw.data for raw in read(inbox.path)[0]] == [mail(1)]


def test_a_v1_repository(tmp_path: Path) -> None:
    """One tree of all mails by the hash of their ids; a removed one is left out."""
    inbox = Inbox(tmp_path / "lamp.git")
    names = [sha1(b"%d" % number).hexdigest() for number in range(3)]
    paths = [f"{name[:2]}/{name[2:]}" for name in names]
    inbox.commit({paths[2]: mail(2)})
    inbox.commit({paths[2]: mail(2), paths[0]: mail(0)})
    inbox.commit({paths[2]: mail(2), paths[0]: mail(0), paths[1]: mail(1)})
    inbox.commit({paths[2]: mail(2), paths[1]: mail(1)})
    assert [raw.data for raw in read(inbox.path)[0]] == [mail(2), mail(1)]


def test_marks_come_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark names the last commit whose mails were all yielded."""
    monkeypatch.setattr(public_inbox, "MARK_EVERY", 2)
    inbox = Inbox(tmp_path / "0.git")
    commits = [inbox.commit({"m": mail(number)}) for number in range(5)]
    _, _, marks = read(inbox.path)
    assert [mark.state for mark in marks] == [commits[1], commits[3], commits[4]]


def test_a_source_tree_is_no_mail(tmp_path: Path) -> None:
    """A repository of code is named as what it is."""
    repository = Inbox(tmp_path / "lamp.git")
    repository.commit({"Makefile": b"all:\n", "m": b"x\n"})
    raws, problems, _ = read(repository.path)
    assert not raws
    assert problems[0].code == "no-mail"
    assert "--tree" in problems[0].text


def test_an_empty_repository_is_named(tmp_path: Path) -> None:
    """Nothing was fetched yet."""
    Inbox(tmp_path / "0.git")
    raws, problems, _ = read(tmp_path / "0.git")
    assert not raws
    assert problems[0].code == "empty"


def test_a_damaged_repository_is_named(tmp_path: Path) -> None:
    """A missing object is a problem of that repository only."""
    inbox = Inbox(tmp_path / "lamp/git/0.git")
    inbox.commit({"m": mail(1)})
    Inbox(tmp_path / "lamp/git/1.git").commit({"m": mail(2)})
    shutil.rmtree(inbox.path / "objects")
    (inbox.path / "objects").mkdir()
    raws, problems, _ = read(tmp_path / "lamp")
    assert [raw.data for raw in raws] == [mail(2)]
    assert problems
    assert str(inbox.path) in problems[0].text


def test_a_mail_that_is_missing_is_read_when_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody goes on behind it for good: a partial clone may be completed, a file come back."""
    monkeypatch.setattr(public_inbox, "MARK_EVERY", 2)
    inbox, marks = Inbox(tmp_path / "0.git"), Marks()
    commits = [inbox.commit({"m": mail(number)}) for number in range(9)]
    blob = git(inbox.path, "rev-parse", f"{commits[5]}:m")
    lost = inbox.path / "objects" / blob[:2] / blob[2:]
    lost.rename(tmp_path / "lost")
    for _ in range(2):
        raws, problems = marks.run(inbox.path)
        assert blob in problems[0].text
    assert [raw.data for raw in raws] == [mail(6), mail(7), mail(8)]
    (tmp_path / "lost").rename(lost)
    raws, problems = marks.run(inbox.path)
    assert [raw.data for raw in raws] == [mail(5), mail(6), mail(7), mail(8)]
    assert not problems
    assert marks.run(inbox.path) == ([], [])


def test_many_missing_mails_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone without any mails is not told mail by mail."""
    monkeypatch.setattr(public_inbox, "_NAMED_MAILS", 3)
    inbox = Inbox(tmp_path / "0.git")
    for number in range(8):
        inbox.commit({"m": mail(number)})
        blob = git(inbox.path, "rev-parse", "HEAD:m")
        (inbox.path / "objects" / blob[:2] / blob[2:]).unlink()
    raws, problems, marks = read(inbox.path)
    assert (raws, marks, len(problems)) == ([], [], 4)
    assert "5 more mails" in problems[3].text


def test_without_git_the_reader_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git is a program that may not be installed."""
    inbox = Inbox(tmp_path / "0.git")
    inbox.commit({"m": mail(1)})
    monkeypatch.setenv("PATH", str(tmp_path))
    raws, problems, _ = read(inbox.path)
    assert not raws
    assert "git can't be run" in problems[0].text


def test_stopping_early_leaves_no_process(tmp_path: Path) -> None:
    """A consumer may stop at any mail."""
    from patchlore.ingest.sources.reading import read_source

    inbox = Inbox(tmp_path / "0.git")
    for number in range(3):
        inbox.commit({"m": mail(number)})
    items = read_source(str(inbox.path))
    next(items)
    items.close()  # type: ignore[attr-defined]  # a generator has it


def test_what_git_printed_before_it_failed_is_read(tmp_path: Path) -> None:
    """A log that breaks off in a damaged repository gives its lines, then says that it failed."""
    repository = str(tmp_path / "r.git")
    subprocess.run(["git", "init", "-q", "--bare", repository], check=True)
    lines = git_lines_at_end(repository, "rev-parse", "--is-bare-repository", "absent")
    assert next(lines) == "true"
    with pytest.raises(GitError):
        list(lines)

"""Git trees: what is read of commits, and what a second reading does."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.kb.checking import check
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.git_reading import git_commits, git_namings, read_stored, trees_with
from patchlore.kb.reading import spellings
from patchlore.kb.store import Archive
from tests.kb import git_repositories as made
from tests.kb.dumping import canonical
from tests.kb.git_repositories import fill
from tests.kb.mails import NOON, UPSTREAM

DAY = 86400


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> made.Repository:
    """Return an empty repository."""
    return made.Repository(tmp_path / "clock")


def rows(archive: Archive) -> list[list[object]]:
    """Return all rows about git trees but the paths of repositories."""
    return [
        [tuple(row) for row in archive.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
        for table in (
            "git_ref", "git_commit", "git_place", "git_place_ref", "git_commit_ref", "git_bug_ref",
            "git_link", "git_cve", "git_stable_note",
        )
    ]  # fmt: skip


def test_a_commit_is_read_with_its_people_dates_and_title(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Author and committer, each with a date, and the first paragraph in one line."""
    sha = repository.commit("tick: use\ntwo\n\nThe manual says so.\n")
    with Archive(tmp_path / "a", write=True) as archive:
        assert fill(archive, repository).new == 1
        (commit,) = git_commits(archive, [sha])
    assert (commit.subject, commit.author, commit.committer) == (
        "tick: use two",
        "Ada Quill",
        "Bo Tern",
    )
    assert (commit.author_time, commit.commit_time) == (NOON + DAY, NOON + DAY + 3600)


def test_the_facts_of_a_message_are_those_of_mail(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Marker, Fixes, Link, Cc: stable, CVE and bug are found, each on its line."""
    repository.commit(
        "tick: use two\n\n"
        f"commit {UPSTREAM} upstream.\n\n"
        "This is CVE-2024-12345.\n\n"
        'Fixes: 89abcdef0123 ("tick: begin")\n'
        "Link: https://lore.kernel.org/r/one@example.org\n"
        "Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=83356\n"
        "Cc: <stable@vger.kernel.org> # 5.10+\n"
        "Signed-off-by: Ada Quill <ada@example.org>\n"
    )
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        refs = archive.execute(
            "SELECT relation, sha, line, form FROM git_commit_ref WHERE relation <> 'mention'"
            " ORDER BY position"
        ).fetchall()
        assert refs == [
            ("upstream", UPSTREAM, 3, "commit-upstream"),
            ("fixes", "89abcdef0123", 7, None),
        ]
        assert archive.value("SELECT message_id FROM git_link") == "one@example.org"
        assert archive.value("SELECT number FROM git_bug_ref") == 83356
        assert archive.value("SELECT name FROM git_cve") == "CVE-2024-12345"
        assert archive.value("SELECT range FROM git_stable_note") == "5.10+"


def test_a_subject_is_not_read_as_text_again(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A bug in the title alone stands in one place: the subject."""
    repository.commit("gcc: work around PR83356 of GCC\n\nLong.\n")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        places = archive.execute("SELECT place FROM git_bug_ref").fetchall()
    assert places == [("subject",)]


def test_a_message_in_another_encoding_is_decoded(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The commit's encoding header counts (git-commit(1), i18n.commitEncoding)."""
    repository.git("config", "i18n.commitEncoding", "ISO-8859-1")
    (repository.folder / "a").write_text("a")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-F", "-", data="tick: für zwei\n".encode("latin-1"))
    sha = repository.git("rev-parse", "HEAD")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert git_commits(archive, [sha])[0].subject == "tick: für zwei"


def test_a_second_run_reads_nothing(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """As long as no ref has moved."""
    repository.commit("clock: begin")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        before = rows(archive)
        again = fill(archive, repository)
        assert (again.new, again.commits) == (0, 1)
        assert rows(archive) == before


def test_only_what_is_new_is_read(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """A new commit is read alone; a new tag tells older commits their release."""
    old = repository.commit("clock: begin")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        repository.commit("tick: use two")
        repository.tag("v1.0")
        assert fill(archive, repository).new == 1
        assert git_commits(archive, [old])[0].places[0].release == "v1.0"


def test_in_steps_or_at_once_gives_the_same(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """An archive that followed a tree equals one that read it at its end, places renumbered."""

    def places(archive: Archive) -> list[object]:
        return archive.execute(
            "SELECT git_commit.sha, role, name FROM git_commit JOIN git_place_ref USING (place)"
            " JOIN git_ref ON git_ref.id = ref ORDER BY 1, 2, 3"
        ).fetchall()

    with (
        Archive(tmp_path / "steps", write=True) as steps,
        Archive(tmp_path / "once", write=True) as once,
    ):
        for number in range(6):
            repository.commit(f"tick {number}")
            if number % 2:
                repository.tag(f"v1.{number}")
            if number == 3:
                repository.git("branch", "linux-1.3.y")
            fill(steps, repository)
        fill(once, repository)
        assert len(places(steps)) == len(set(places(steps))) > 0
        assert places(steps) == places(once)


def test_a_rewritten_branch_keeps_no_place(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A commit that a forced push took away is still known, but in no tree."""
    repository.commit("clock: begin")
    gone = repository.commit("tick: use two")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        repository.git("reset", "-q", "--hard", "HEAD^")
        repository.commit("tick: use three")
        fill(archive, repository)
        (commit,) = git_commits(archive, [gone])
        assert (commit.subject, commit.places) == ("tick: use two", [])


def test_two_trees_share_their_commits(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """A clone read as another tree adds its name to the commits that both have."""
    sha = repository.commit("clock: begin")
    other = tmp_path / "stable"
    repository.git("clone", "-q", str(repository.folder), str(other))
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert fill(archive, other, "5.10").new == 0
        own = repository.commit("tick: use two")
        fill(archive, repository)
        found = {c.sha: [p.tree for p in c.places] for c in git_commits(archive, [sha, own])}
    assert found == {sha: ["5.10.y", "mainline"], own: ["mainline"]}


def test_an_interrupted_reading_is_gone_on_with(
    tmp_path: pathlib.Path, repository: made.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was stored before the interruption is not read again; the end is the same."""
    monkeypatch.setattr("patchlore.kb.git_filling.BATCH", 2)
    for number in range(7):
        repository.commit(f"tick {number}")
    repository.tag("v1.0")

    def stop(done: int, total: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with Archive(tmp_path / "a", write=True) as archive:
        with pytest.raises(KeyboardInterrupt):
            fill_tree(archive, "mainline", str(repository.folder), on_progress=stop)
        assert archive.value("SELECT count(*) FROM git_tree") == 0
        assert fill(archive, repository).new == 3
        with Archive(tmp_path / "b", write=True) as whole:
            fill(whole, repository)
            assert rows(archive) == rows(whole)


def test_a_commit_is_found_by_its_prefix(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Also when no mail names it."""
    sha = repository.commit("clock: begin")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert spellings(archive, sha[:9]) == [sha]
        stored = read_stored(archive, sha)
        assert stored is not None
        assert stored.message.body == "clock: begin\n"


def test_trees_with_a_backport_name_its_marker(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The commit itself first, then the backport with the line that says so."""
    repository.commit("clock: begin")
    repository.git("branch", "linux-5.10.y")
    upstream = repository.commit("tick: use two")
    repository.git("checkout", "-q", "linux-5.10.y")
    backport = repository.commit(f"tick: use two\n\n[ Upstream commit {upstream} ]\n")
    repository.tag("v5.10.7")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        found = trees_with(archive, [upstream])
    assert [(item.tree, item.sha, item.how, item.since) for item in found] == [
        ("mainline", upstream, "itself", None),
        ("5.10.y", backport, "bracket-upstream", "v5.10.7"),
    ]
    assert (found[1].line, found[1].text) == (3, f"[ Upstream commit {upstream} ]")


def test_a_fix_is_told_once_with_its_backports(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Backports repeat the Fixes tag of the commit that they are of."""
    broken = repository.commit("clock: begin")
    fixes = f'Fixes: {broken[:12]} ("clock: begin")\n'
    fix = repository.commit(f"tick: use two\n\n{fixes}")
    repository.commit(f"tick: use two\n\n[ Upstream commit {fix} ]\n\n{fixes}")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        (naming,) = git_namings(archive, spellings(archive, broken))
    assert (naming.relation, naming.sha, naming.backports, naming.line) == ("fixes", fix, 1, 3)


def test_check_compares_commits_to_their_ids(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A whole tree is verified; a commit whose content was changed is named."""
    sha = repository.commit("clock: begin")
    repository.commit("tick: use two")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert "2 commits of git trees against their ids" in check(archive).verified
        other = archive.value("SELECT data FROM git_commit WHERE sha <> ?", (sha,))
        archive.execute("UPDATE git_commit SET data = ? WHERE sha = ?", (other, sha))
        assert check(archive).faults == [f"commit {sha} of a git tree is damaged"]
        archive.execute("UPDATE git_commit SET data = x'00' WHERE sha = ?", (sha,))
        assert check(archive).faults == [f"commit {sha} of a git tree is damaged"]


def test_a_name_that_another_repository_takes_is_told(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A repository that has moved, or was rewritten in part, is the same one."""
    repository.commit("clock: begin")
    repository.commit("tick: use two")
    repository.git("clone", "-q", "--bare", str(repository.folder), str(tmp_path / "moved.git"))
    other = made.Repository(tmp_path / "lamp")
    other.commit("lamp: begin", {"lamp.c": "on\n"})
    with Archive(tmp_path / "a", write=True) as archive:
        assert fill(archive, repository).replaced is None
        repository.git("reset", "-q", "--hard", "HEAD~1")
        repository.commit("tick: use three")
        assert fill(archive, repository).replaced is None
        assert fill(archive, tmp_path / "moved.git").replaced is None
        summary = fill(archive, other)
    assert summary.replaced == str(tmp_path / "moved.git")
    assert "in no tree now" in summary.line()


def test_a_commit_that_was_missing_is_read_when_it_is_there(tmp_path: pathlib.Path) -> None:
    """Though no branch has moved since: the repository was mended."""
    repository = made.Repository(tmp_path / "clock")
    shas = [repository.commit(f"tick: use {number}\n") for number in range(5)]
    lost = repository.folder / ".git" / "objects" / shas[2][:2] / shas[2][2:]
    kept = lost.read_bytes()
    repository.git("commit-graph", "write", "--reachable")  # git knows its parents from there
    lost.unlink()
    with Archive(tmp_path / "archive", write=True) as archive:
        assert fill(archive, repository).missing == 1
        assert fill(archive, repository).missing == 1
        lost.write_bytes(kept)
        summary = fill(archive, repository)
        assert (summary.new, summary.missing) == (1, 0)
        assert fill(archive, repository).new == 0
        after = canonical(archive)
    with Archive(tmp_path / "whole", write=True) as archive:
        fill(archive, repository)
        assert canonical(archive) == after

"""Git trees: what is read, where each commit is, and what a second reading does."""

from __future__ import annotations

import pathlib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb.checking import check
from patchlore.kb.errors import GitTreeError
from patchlore.kb.git_filling import TreeSummary, fill_tree
from patchlore.kb.git_reach import parse_text, reach, text_of
from patchlore.kb.git_reading import git_commits, git_namings, read_stored, trees_with
from patchlore.kb.git_repository import Graph, Repository
from patchlore.kb.git_trees import is_release, stable_trees
from patchlore.kb.reading import spellings
from patchlore.kb.store import Archive
from tests.kb import git_repositories as made
from tests.kb.mails import NOON, UPSTREAM

DAY = 86400


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> made.Repository:
    """Return an empty repository."""
    return made.Repository(tmp_path / "clock")


def fill(
    archive: Archive, repository: made.Repository | pathlib.Path, name: str = "mainline"
) -> TreeSummary:
    """Read a repository as a tree."""
    path = repository if isinstance(repository, pathlib.Path) else repository.folder
    return fill_tree(archive, name, str(path))


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


def test_the_first_release_is_no_candidate(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A commit knows the first tag that contains it, and the first release."""
    old = repository.commit("clock: begin")
    repository.tag("v1.0")
    new = repository.commit("tick: use two")
    repository.tag("v1.1-rc1")
    repository.commit("tick: use three")
    repository.tag("v1.1")
    last = repository.commit("tick: use four")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        found = {c.sha: c.places[0] for c in git_commits(archive, [old, new, last])}
    assert (found[old].tag, found[old].release) == ("v1.0", "v1.0")
    assert (found[new].tag, found[new].release) == ("v1.1-rc1", "v1.1")
    assert (found[last].tag, found[last].since) == (None, None)


def test_tags_that_name_no_version_are_no_releases(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A tag for a pull request says nothing about releases."""
    sha = repository.commit("clock: begin")
    repository.tag("clock-for-linus")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert git_commits(archive, [sha])[0].places[0].since is None


def test_branches_that_contain_a_commit_are_known(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """A stable branch has what was before it and its own, not what came later."""
    base = repository.commit("clock: begin")
    repository.git("branch", "linux-5.10.y")
    later = repository.commit("tick: use two")
    repository.git("checkout", "-q", "linux-5.10.y")
    own = repository.commit(f"tick: use two\n\ncommit {later} upstream.\n")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        found = {c.sha: c for c in git_commits(archive, [base, later, own])}
        trees = {sha: [place.tree for place in c.places] for sha, c in found.items()}
    assert trees == {base: ["5.10.y", "mainline"], later: ["mainline"], own: ["5.10.y"]}


def test_many_commits_share_a_place(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """Where commits are costs rows for each tag, not for each commit and branch."""
    for name in ("1.0", "1.1"):
        for number in range(5):
            repository.commit(f"tick {name} {number}")
        repository.tag(f"v{name}")
    for number in range(6):
        repository.git("branch", f"topic-{number}")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert archive.value("SELECT count(*) FROM git_commit") == 10
        assert archive.value("SELECT count(*) FROM git_place") == 2


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


def test_a_tree_named_like_a_stable_tree_is_it() -> None:
    """Its branch of that name alone, where it has one; else all of its branches."""
    assert stable_trees("5.10.y", ["master", "linux-5.10.y", "linux-5.4.y"]) == {
        "linux-5.10.y": "5.10.y"
    }
    assert stable_trees("5.10.y", ["master"]) == {"master": "5.10.y"}
    assert stable_trees("widgets", ["main", "origin/20.11", "20.11-staging"]) == {
        "origin/20.11": "20.11.y",
        "20.11-staging": "20.11.y-staging",
    }


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("v5.10", True), ("v5.10-rc3", False), ("20.11.4", True), ("v2.6.32.9", True),
     ("v1.2.3r4", True), ("gcc-12.2.0", True), ("v23.11.1-rc1", False), ("for-linus", False),
     ("1.0-beta2", False)],
)  # fmt: skip
def test_releases_are_told_from_candidates(tag: str, expected: bool) -> None:
    """By the name of the tag."""
    assert is_release(tag) is expected


def test_a_bare_repository_and_a_linked_worktree_are_read(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Both lead to the same commits, whatever is checked out."""
    sha = repository.commit("clock: begin")
    repository.git("clone", "-q", "--bare", str(repository.folder), str(tmp_path / "bare.git"))
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    for place in ("bare.git", "linked"):
        with Archive(tmp_path / f"archive-{place}", write=True) as archive:
            assert fill(archive, tmp_path / place).commits == 1
            assert git_commits(archive, [sha])


def test_a_detached_head_is_a_branch(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """A repository without branches has what HEAD has."""
    sha = repository.commit("clock: begin")
    repository.git("checkout", "-q", "--detach")
    repository.git("branch", "-q", "-D", "main")
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert git_commits(archive, [sha])[0].places[0].branches == ["HEAD"]


def test_a_shallow_clone_has_what_it_has(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Commits below the cut are absent; when the clone is deepened they come."""
    for number in range(3):
        repository.commit(f"tick {number}")
    url = f"file://{repository.folder}"
    repository.git("clone", "-q", "--depth", "1", url, str(tmp_path / "cut"))
    with Archive(tmp_path / "a", write=True) as archive:
        summary = fill(archive, tmp_path / "cut")
        assert (summary.commits, summary.is_shallow) == (1, True)
        assert "shallow" in summary.line()
        subprocess.run(
            ["git", "-C", str(tmp_path / "cut"), "fetch", "-q", "--unshallow"], check=True
        )
        summary = fill(archive, tmp_path / "cut")
        assert (summary.commits, summary.new, summary.is_shallow) == (3, 2, False)


def test_a_partial_clone_is_read_without_fetching(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Without blobs all commits are there; patch ids of what can't be compared are left out."""
    repository.commit("clock: begin", {"clock.c": "tick 1\n"})
    repository.commit("tick: use two", {"clock.c": "tick 2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repository.folder}"
    repository.git("clone", "-q", "--bare", "--filter=blob:none", url, str(tmp_path / "part.git"))
    repository.folder.rename(tmp_path / "gone")
    with Archive(tmp_path / "a", write=True) as archive:
        summary = fill_tree(archive, "mainline", str(tmp_path / "part.git"), patch_ids=True)
        assert (summary.commits, summary.patch_ids) == (2, 0)


def test_patch_ids_are_those_of_git(tmp_path: pathlib.Path, repository: made.Repository) -> None:
    """With renames, as a mail of git format-patch has them; merges have none."""
    repository.commit("clock: begin", {"clock.c": "".join(f"tick {n}\n" for n in range(20))})
    repository.git("mv", "clock.c", "watch.c")
    renamed = repository.commit(
        "clock: rename", {"watch.c": "".join(f"tick {n}\n" for n in range(21))}
    )
    mail = repository.git("format-patch", "--stdout", "-1", renamed)
    expected = repository.git("patch-id", "--stable", data=mail.encode()).split()[0]
    with Archive(tmp_path / "a", write=True) as archive:
        fill(archive, repository)
        assert git_commits(archive, [renamed])[0].patch_id is None
        summary = fill_tree(archive, "mainline", str(repository.folder), patch_ids=True)
        assert summary.patch_ids == 2
        assert git_commits(archive, [renamed])[0].patch_id == expected
        again = fill_tree(archive, "mainline", str(repository.folder), patch_ids=True)
        assert again.patch_ids == 0


def test_a_commit_with_missing_files_costs_its_own_patch_id_alone(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The ids of commits before and after it are found."""
    shas = [
        repository.commit(f"tick {number}", {f"{number}.c": f"tick {number}\n"})
        for number in range(5)
    ]
    blob = repository.git("rev-parse", f"{shas[2]}:2.c")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = dict(Repository(repository.folder).patch_ids(shas))
    assert list(found) == [shas[0], shas[1], shas[3], shas[4]]


def test_a_tag_of_a_tag_and_a_tag_of_a_file(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """The first leads to its commit, the second to none."""
    sha = repository.commit("clock: begin", {"clock.c": "tick\n"})
    repository.tag("v1.0-rc1")
    repository.git("tag", "-a", "-m", "again", "v1.0", "v1.0-rc1")
    repository.git("tag", "v0.1", "HEAD:clock.c")
    refs = {ref.name: ref.sha for ref in Repository(repository.folder).refs()}
    assert refs == {"main": sha, "v1.0": sha, "v1.0-rc1": sha}


def test_a_branch_of_a_remote_counts_once(
    tmp_path: pathlib.Path, repository: made.Repository
) -> None:
    """Where the local branch of its name is the same; origin/HEAD is another's name."""
    repository.commit("clock: begin")
    repository.git("branch", "linux-5.10.y")
    repository.git("clone", "-q", str(repository.folder), str(tmp_path / "clone"))
    names = [ref.name for ref in Repository(tmp_path / "clone").refs()]
    assert names == ["main", "origin/linux-5.10.y"]


def test_what_is_no_repository_is_refused(tmp_path: pathlib.Path) -> None:
    """A folder, a file and nothing at all."""
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file", tmp_path / "absent"):
        with pytest.raises(GitTreeError, match="no git repository"):
            Repository(path)


def test_an_empty_repository_is_refused(repository: made.Repository) -> None:
    """It has no commits, which is said."""
    with pytest.raises(GitTreeError, match="no commits"):
        Repository(repository.folder).refs()


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


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, list[str], list[tuple[str, bool]]]:
    """Draw a history, children first, with branches and tags on some of its commits."""
    size = draw(st.integers(1, 12))
    graph: Graph = []
    for number in range(size):
        older = list(range(number + 1, size))
        parents = draw(st.lists(st.sampled_from(older), max_size=3, unique=True)) if older else []
        graph.append((f"c{number}", [f"c{parent}" for parent in parents]))
    names = [sha for sha, _ in graph]
    branches = draw(st.lists(st.sampled_from(names), max_size=4))
    tags = draw(st.lists(st.tuples(st.sampled_from(names), st.booleans()), max_size=5))
    return graph, branches, tags


@given(graphs())
def test_reach_is_what_walking_from_each_ref_finds(
    drawn: tuple[Graph, list[str], list[tuple[str, bool]]],
) -> None:
    """Branches that contain each commit and its first tags, by the definition."""
    graph, branches, tags = drawn
    parents = dict(graph)

    def reachable(tip: str) -> set[str]:
        seen: set[str] = set()
        todo = [tip]
        while todo:
            sha = todo.pop()
            if sha not in seen:
                seen.add(sha)
                todo += parents[sha]
        return seen

    in_branch = [reachable(tip) for tip in branches]
    in_tag = [reachable(tip) for tip, _ in tags]
    for sha, found in reach(graph, branches, tags).items():
        mask = sum(1 << n for n, commits in enumerate(in_branch) if sha in commits)
        tag = next((n for n, commits in enumerate(in_tag) if sha in commits), -1)
        release = next((n for n, commits in enumerate(in_tag) if sha in commits and tags[n][1]), -1)
        assert found == (mask, tag, release)


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(["branch", "tag", "release"]))))
def test_the_text_of_a_place_is_read_back(refs: list[tuple[int, str]]) -> None:
    """In the order of refs."""
    assert parse_text(text_of(refs)) == sorted(refs)


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

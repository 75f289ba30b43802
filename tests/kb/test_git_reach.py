"""Where each commit of a git tree is: branches that contain it, first tag, first release."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb.git_reach import parse_text, reach, text_of
from patchlore.kb.git_reading import git_commits
from patchlore.kb.git_repository import Graph
from patchlore.kb.git_trees import is_release, stable_trees
from patchlore.kb.store import Archive
from tests.kb import git_repositories as made
from tests.kb.git_repositories import fill

DAY = 86400


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> made.Repository:
    """Return an empty repository."""
    return made.Repository(tmp_path / "clock")


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

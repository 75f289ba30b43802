"""Paths are chosen as git chooses them: git itself is asked about each pattern."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb.errors import UsageError
from patchlore.kb.pathspec import Pathspec
from tests.kb.git_repositories import Repository

PATHS = (
    "Makefile",
    "clock.c",
    "a[b].c",
    "drivers/clock/hand.c",
    "drivers/clock/Hand.h",
    "drivers/clock/deep/hand.c",
    "drivers/clock.c",
    "drivers/clockwork/hand.c",
    "fs/tarnfs/inline.c",
    "fs/tarnfs/x*y.c",
)

PATTERNS = (
    "drivers",
    "drivers/clock",
    "drivers/clock/",
    "drivers/clock*",
    "drivers/clock/*",
    "drivers/*/hand.c",
    "*.c",
    "*/hand.?",
    "fs/tarnfs/[i-k]nline.c",
    "fs/tarnfs/[!i-k]*",
    "fs/tarnfs/[^i]*",
    "a[b].c",
    "a[b",
    "fs/tarnfs/x\\*y.c",
    ":(glob)drivers/*",
    ":(glob)drivers/*/*.c",
    ":(glob)drivers/**/hand.c",
    ":(glob)**/hand.c",
    ":(glob)drivers/**",
    ":(glob)*.c",
    ":(icase)DRIVERS/clock/hand.*",
    ":(literal)fs/tarnfs/x*y.c",
    ":(literal)*.c",
    ":/drivers/clock.c",
    ":!drivers",
    ":^*.c",
    ":(exclude)fs",
    ":!:Makefile",
    "nothing",
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with the paths."""
    made = Repository(tmp_path_factory.mktemp("paths") / "git")
    made.commit("clock: begin", dict.fromkeys(PATHS, "one\n"))
    return made


def chosen_by_git(repository: Repository, *patterns: str) -> set[str]:
    """Return the paths that git lists."""
    out = repository.git("-c", "core.quotePath=false", "ls-files", "-z", "--", *patterns)
    return {path for path in out.split("\0") if path}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_chooses_what_git_chooses(repository: Repository, pattern: str) -> None:
    """The same paths as git ls-files."""
    spec = Pathspec([pattern])
    assert {path for path in PATHS if spec.matches(path)} == chosen_by_git(repository, pattern)


@given(
    st.lists(
        st.text(alphabet="ach.*?[]/!-", min_size=1, max_size=8).filter(
            # Git refuses what leads out of the tree, and empty patterns are no patterns.
            lambda text: not text.startswith("/") and ".." not in text and "//" not in text
        ),
        min_size=1,
        max_size=2,
    )
)
def test_any_pattern_is_understood(patterns: list[str]) -> None:
    """Whatever is asked for, there is an answer for each path."""
    spec = Pathspec(patterns)
    for path in PATHS:
        assert spec.matches(path) in (True, False)
        assert Pathspec([f":(literal){path}"]).matches(path)


def test_several_patterns(repository: Repository) -> None:
    """Any of those that include, none of those that exclude."""
    patterns = ("drivers", "fs", ":!drivers/clock", ":(exclude)*y.c")
    spec = Pathspec(patterns)
    wanted = {path for path in PATHS if spec.matches(path)}
    assert wanted == chosen_by_git(repository, *patterns)


@pytest.mark.parametrize("pattern", [":(attr:x)a", ":(glob", ":(glob,literal)*"])
def test_magic_that_is_not_known_is_a_mistake(pattern: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(UsageError):
        Pathspec([pattern])


def test_many_stars_take_no_time() -> None:
    """A path can be long and a pattern greedy."""
    start = time.process_time()
    assert not Pathspec(["*a" * 50 + "b"]).matches("a" * 4000)
    assert not Pathspec([":(glob)" + "**/a/" * 30 + "b"]).matches("a/" * 1000 + "c")
    assert time.process_time() - start < 1


def test_a_path_is_taken_from_any_place() -> None:
    """A leading ./ says nothing."""
    assert Pathspec(["./drivers"]).matches("drivers/clock.c")

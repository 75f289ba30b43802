"""What is fuzzed runs at all: each target takes its own seeds."""

from __future__ import annotations

import pytest

from fuzz.targets import TARGETS, no_git
from patchlore.kb import dates


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_takes_its_seeds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that no longer fits what it fuzzes fails here, not in the next run of hours."""
    monkeypatch.setattr(dates, "_git_date", no_git)
    seeds = TARGETS[name].seeds()
    assert seeds
    for seed in seeds:
        TARGETS[name].run(seed)

"""The bench of backport lists runs on an archive made by hand."""

from __future__ import annotations

import pathlib

from bench import backports as bench
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository


def test_it_counts_states_and_missing_fixes(tmp_path: pathlib.Path) -> None:
    """One commit that 5.10 needs is in both lists; another tree has nothing over it."""
    repository = Repository(tmp_path / "clock")
    base = repository.commit("clock: begin")
    repository.tag("v5.10")
    repository.git("branch", "linux-5.10.y")
    repository.git("branch", "linux-5.4.y")
    repository.commit(f'clock: go on\n\nFixes: {base[:12]} ("clock: begin")\n')
    with Archive(tmp_path / "archive", write=True) as archive:
        fill_tree(archive, "clock", str(repository.folder))
        figures = bench.measure(archive, "5.10", "5.4")
        assert bench.sizes(archive) == {"mails": 0, "commits": 2}
    assert (figures["5.10: needed"], figures["5.10: missing fixes"]) == (1, 1)
    assert figures["5.4 over 5.10: rows"] == 0
    assert bench.cpu_of_command(str(tmp_path / "archive"), ["5.10"]) > 0

"""An archive of invented mails, indexed with each engine."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import pytest

from patchlore.index.database import ENGINES
from patchlore.index.indexing import update_index
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive
from tests.index.letters import fill_archive, letters

Numbers = Callable[[str], set[int]]


@pytest.fixture(scope="session", params=ENGINES)
def archive_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The folder of the archive, indexed; once for each engine."""
    path = tmp_path_factory.mktemp("archive") / str(request.param)
    fill_archive(path, letters())
    update_index(path, engine=str(request.param))
    return path


@pytest.fixture
def searcher(archive_path: pathlib.Path) -> Iterator[Searcher]:
    """A searcher of the archive."""
    with Archive(archive_path) as archive, Searcher(archive) as searcher:
        yield searcher


@pytest.fixture
def found(searcher: Searcher) -> Numbers:
    """A function from a query to the numbers of the mails that it finds."""

    def numbers(query: str) -> set[int]:
        results = searcher.search(query)
        return {int(hit.key.split(".")[1].split("-")[0]) for hit in results.hits}

    return numbers

"""Counts of what was found, by list, year, author and kind."""

from __future__ import annotations

import pathlib

from patchlore.index.facets import Count
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive
from tests.index.letters import ADA, BO, LIST, PATCH, fill_archive, mail


def test_all_that_was_found_is_counted(searcher: Searcher) -> None:
    """The counts are those of all messages found, whatever the limit of hits is."""
    facets = searcher.search("widget", limit=1, facets=True).facets
    assert facets is not None
    assert facets.total == searcher.search("widget").total
    assert sum(count.messages for count in facets.years) == facets.total
    assert sum(count.messages for count in facets.kinds) == facets.total
    assert facets.years == [Count("2024", facets.total)]
    assert Count("cover", 1) in facets.kinds


def test_nothing_found_has_empty_counts(searcher: Searcher) -> None:
    """Without hits there are no counts."""
    facets = searcher.search("xyzzyxyzzy", facets=True).facets
    assert facets is not None
    assert (facets.total, facets.lists, facets.authors) == (0, [], [])


def test_facets_are_only_counted_when_asked_for(searcher: Searcher) -> None:
    """Counting costs time: a search without --facets does not do it."""
    assert searcher.search("widget").facets is None


def test_author_is_an_address_with_its_last_name(tmp_path: pathlib.Path) -> None:
    """Spellings of one address are one author, called as in the newest mail with a name."""
    fill_archive(
        tmp_path,
        [
            mail(1, "ring", "a", sender="A. Quill <ada@example.org>"),
            mail(2, "ring", "b", sender=ADA),
            mail(3, "ring", "c", sender="ada@example.org"),
            mail(4, "[PATCH] ring", PATCH, sender=BO),
        ],
    )
    with Archive(tmp_path) as archive, Searcher(archive) as searcher:
        facets = searcher.search("d:2024", facets=True).facets
    assert facets is not None
    assert facets.authors == [
        Count("Ada Quill <ada@example.org>", 3),
        Count("Bo Tern <bo.tern@example.org>", 1),
    ]
    assert Count(LIST.replace("@", "."), 4) in facets.lists

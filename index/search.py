"""A query to hits: facts from the archive, words from the text index, sorted."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from patchlore.index.document import decode_searched
from patchlore.index.errors import DamagedIndex, QueryError
from patchlore.index.facets import FacetCounter
from patchlore.index.facts import KINDS_OF_MAIL, Facts
from patchlore.index.hits import Hit, Hits, Results
from patchlore.index.kin import Kin
from patchlore.index.leaves import (
    BUG_PREFIXES,
    Answered,
    all_leaves,
    bug_of,
    cost,
    is_exact,
    is_in_body,
    is_text,
    needs_index,
    negated_value,
    span_condition,
)
from patchlore.index.people import People
from patchlore.index.query import (
    All,
    Either,
    Exact,
    Leaf,
    Lines,
    Node,
    Not,
    Span,
    Text,
    leaves,
    parse_query,
)
from patchlore.index.regexes import RegexError
from patchlore.index.snippets import find_snippet, make_snippet
from patchlore.index.tables import FactError
from patchlore.kb.store import Archive

if TYPE_CHECKING:
    from patchlore.index.text_search import TextSearch

Sort = Literal["date", "rank"]

#: Up to this many candidates are checked one by one instead of fetching a whole span.
_FEW = 2000

#: How much more a patch counts than another mail.
_PATCH_FACTOR = 1.25

#: Seconds that the regular expressions of one query may take.
REGEX_SECONDS = 4.0


class Searcher:
    """Answers queries about one archive; use as a context manager or ``close`` it."""

    def __init__(self, archive: Archive) -> None:
        """Search in ARCHIVE, which stays open until its owner closes it."""
        self._archive = archive
        self._facts = Facts(archive)
        self._people = People(archive)
        self._reader = Hits(archive)
        self._text: TextSearch | None = None
        self._query = ""
        self._notes: list[str] = []
        self._lost = ""
        self._seconds = 0.0
        # What words of this query find: the same word may be asked for a thousand times.
        self._known: dict[tuple[str | None, str, bool], set[int] | None] = {}

    def __enter__(self) -> Searcher:
        """Return the searcher itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the text index."""
        self.close()

    def close(self) -> None:
        """Close the text index, if it was needed."""
        if self._text is not None:
            self._text.close()
            self._text = None

    def search(
        self,
        query: str,
        *,
        limit: int = 0,
        sort: Sort = "date",
        snippets: bool = True,
        facets: bool = False,
        kin: bool = False,
    ) -> Results:
        """Return what QUERY finds: LIMIT hits (0: all), the newest first or the best first.

        With FACETS also how all that was found spreads over lists, years,
        authors and kinds; with KIN also what belongs with the hits. Raises QueryError
        for a query that can't be understood.
        """
        try:
            return self._search(query, limit, sort, snippets, facets, kin)
        except DamagedIndex as error:  # met while hits were ranked or shown
            self._give_up(error)
            return self._search(query, limit, sort, snippets, facets, kin)

    def _search(
        self, query: str, limit: int, sort: Sort, snippets: bool, facets: bool, kin: bool
    ) -> Results:
        tree = self._parse(query)
        ids = self._evaluate(tree)
        scores = self._scores(tree, ids, limit) if sort == "rank" else None
        shown = self._reader.sort(ids if scores is None else scores, scores, limit)
        more: list[int] = []
        if kin and len(shown) < len(ids):
            kindred = Kin(self._archive).of(shown, ids)
            known = None if scores is None else {id_: scores.get(id_, 0.0) for id_ in kindred}
            more = self._reader.sort(kindred, known, 0)
        rows = self._reader.rows([*shown, *more], scores)
        hits = rows[: len(shown)]
        asks_words = any(needs_index(leaf) for leaf in all_leaves(tree))
        if snippets:
            self._add_snippets(tree, hits)
        return Results(
            hits=hits,
            kin=rows[len(shown) :],
            total=len(ids),
            not_indexed=self._not_indexed() if asks_words else 0,
            notes=self._notes,
            suggestion=None if ids else self._suggestion(tree),
            facets=FacetCounter(self._archive).count(ids) if facets else None,
        )

    def add_snippets(self, query: str, hits: Sequence[Hit]) -> None:
        """Give each of HITS the line that shows best why QUERY finds it, where words are asked for.

        For those who choose among hits what they show.  Raises QueryError.
        """
        tree = self._parse(query)
        try:
            self._add_snippets(tree, hits)
        except DamagedIndex as error:
            self._give_up(error)

    def find(self, query: str) -> set[int]:
        """Return the row ids of all messages that QUERY finds; raises QueryError."""
        return self._evaluate(self._parse(query))

    # -- from the tree to messages --------------------------------------------------------

    def _parse(self, query: str) -> Node:
        self._query = query
        self._notes = []
        self._known = {}
        self._seconds = REGEX_SECONDS
        tree = parse_query(query, self._people.is_trailer)
        self._notes += [
            f"{leaf.text} is looked for as words, since it is no regular expression: {leaf.mistake}"
            for leaf in all_leaves(tree)
            if isinstance(leaf, Text) and leaf.mistake
        ]
        return tree

    def _evaluate(self, node: Node) -> set[int]:
        found = self._find(node)
        return set() if found is None else found

    def _find(self, node: Node) -> set[int] | None:
        """The messages of a node; None for a text without words, which asks for nothing."""
        if isinstance(node, All):
            return self._all(node.items)
        if isinstance(node, Either):
            sets = [found for item in node.items if (found := self._find(item)) is not None]
            return set().union(*sets) if sets else None
        if isinstance(node, Not):
            without = self._find(node.item)
            return None if without is None else self._facts.all() - without
        return self._leaf(node)

    def _leaf(self, leaf: Leaf) -> set[int] | None:
        if isinstance(leaf, Span):
            return self._facts.where(*span_condition(leaf))
        if isinstance(leaf, Lines):
            return self._lines(leaf)
        if isinstance(leaf, Exact):
            try:
                return self._facts.look_up(leaf.prefix.name, leaf.value, leaf.quoted)
            except FactError as error:
                raise self._error(leaf, error) from None
        assert isinstance(leaf, Text)
        if not is_text(leaf):
            assert leaf.prefix is not None
            return self._people.find(leaf.prefix.name, leaf.text, leaf.quoted)
        text = self._open_text()
        if text is None:
            return set()
        asked = (leaf.prefix.name if leaf.prefix else None, leaf.text, leaf.quoted)
        if asked in self._known:
            return self._known[asked]
        try:
            self._known[asked] = found = text.find(*asked)
            return found
        except DamagedIndex as error:
            self._give_up(error)
            return set()

    def _lines(self, leaf: Lines, within: Collection[int] | None = None) -> set[int]:
        """The messages (of WITHIN, if given) with a line of a diff that matches."""
        text = self._open_text()
        if text is None:
            return set()
        prefix = leaf.prefix.name if leaf.prefix else None
        start = time.monotonic()
        try:
            found = text.find_lines(prefix, leaf.regex, self._seconds, within)
        except RegexError as error:
            raise QueryError(self._query, leaf.place.start, leaf.place.end, str(error)) from None
        except DamagedIndex as error:
            self._give_up(error)
            return set()
        self._seconds = max(0.0, self._seconds - (time.monotonic() - start))
        if found.looked_at < found.blocks:
            share = 100 * found.looked_at // found.blocks
            self._notes.append(
                f"/{leaf.regex.text}/ was stopped after {REGEX_SECONDS:g} seconds: the newest"
                f" {share} % of the diffs that come into question were looked at. Give it more"
                " characters in a row, or narrow the search by another prefix."
            )
        return found.documents

    def _all(self, items: Iterable[Node]) -> set[int] | None:
        """What all of ITEMS match, the cheap and the selective first."""
        rest = self._joined(list(items))
        wanted, unwanted, lines = [], [], []
        conditions: list[tuple[str, list[object]]] = []
        for item in sorted(rest, key=cost):
            if isinstance(item, Not):
                unwanted.append(item.item)
            elif isinstance(item, Lines):
                lines.append(item)
            elif isinstance(item, Span):
                conditions.append(span_condition(item))
            elif isinstance(item, Exact) and item.prefix.name == "is":
                conditions.append((KINDS_OF_MAIL[item.value], []))
            else:
                wanted.append(item)
        found: set[int] | None = None
        for item in wanted:
            if isinstance(item, Answered):
                messages: set[int] | None = item.messages
            else:
                messages = self._find(item)
            if messages is not None:
                found = messages if found is None else found & messages
                if not found:
                    return found
        for condition, parameters in conditions:
            if found is None:
                found = self._facts.where(condition, parameters)
            elif len(found) <= _FEW:
                found = self._facts.within(condition, parameters, found)
            else:
                found = found & self._facts.where(condition, parameters)
        for expression in lines:
            if found is not None and not found:
                return found
            messages = self._lines(expression, found)
            found = messages if found is None else found & messages
        for item in unwanted:
            if found is not None and not found:
                return found
            messages = self._find(item)
            if messages is not None:
                found = (self._facts.all() if found is None else found) - messages
        return found

    def _joined(self, items: list[Node]) -> list[Node | Answered]:
        """Answer what belongs together: "pr:83356 -where:quoted", "status:queued stable:5.10"."""
        rest: list[Node | Answered] = []
        names = {item.prefix.name for item in items if isinstance(item, Exact)}
        bugs, states = names.intersection(BUG_PREFIXES), "status" in names
        wanted = [
            item.value for item in items if is_exact(item, "where") and isinstance(item, Exact)
        ]
        besides = [
            negated_value(item)
            for item in items
            if is_exact(item, "where") and isinstance(item, Not)
        ]
        trees = [
            item.value for item in items if isinstance(item, Exact) and is_exact(item, "stable")
        ]
        for item in items:
            if (bugs and is_exact(item, "where")) or (states and is_exact(item, "stable")):
                if isinstance(item, Not) and is_exact(item, "stable"):
                    rest.append(item)
                continue
            if isinstance(item, Exact) and item.prefix.name in BUG_PREFIXES:
                try:
                    rest.append(Answered(self._facts.bugs(bug_of(item), wanted, besides)))
                except FactError as error:
                    raise self._error(item, error) from None
            elif isinstance(item, Exact) and item.prefix.name == "status":
                rest.append(Answered(self._facts.backports(item.value, trees)))
            else:
                rest.append(item)
        return rest

    def _error(self, leaf: Exact, error: FactError) -> QueryError:
        return QueryError(self._query, leaf.place.start, leaf.place.end, str(error))

    # -- the text index ---------------------------------------------------------------------

    def _open_text(self) -> TextSearch | None:
        if self._lost:
            self._notes += [self._lost] if self._lost not in self._notes else []
        elif self._text is None:
            from patchlore.index.text_search import TextSearch

            try:
                self._text = TextSearch(self._archive.path)
            except DamagedIndex as error:
                self._give_up(error)
        return self._text

    def _give_up(self, error: DamagedIndex) -> None:
        """Go on without the text index, and note why."""
        self.close()
        missing = not (self._archive.path / "index" / "words.sqlite").exists()
        reason = "There is no text index yet." if missing else str(error)
        if not missing:
            from patchlore.index.indexing import mark_damaged

            mark_damaged(self._archive.path, reason)
        self._lost = (
            f"{reason} Words can't be searched: run 'patchlore --archive "
            f"{self._archive.path} index'."
        )
        self._notes.append(self._lost)

    def _not_indexed(self) -> int:
        text = self._open_text()
        revision = 0 if text is None else text.revision
        return int(
            self._archive.value("SELECT count(*) FROM message WHERE revision > ?", (revision,))
        )

    # -- order and what is shown -----------------------------------------------------------------

    def _scores(self, tree: Node, ids: Collection[int], limit: int) -> dict[int, float]:
        """Relevance: words by where they stand, bugs by strength, patches before replies.

        With LIMIT only of those that can be among so many of the best.
        """
        scores: dict[int, float] = {}
        asked = dict.fromkeys(
            (leaf.prefix.name if leaf.prefix else None, leaf.text, leaf.quoted)
            for leaf in leaves(tree)
            if isinstance(leaf, Text) and is_text(leaf)
        )
        text = self._open_text() if asked else None
        if text is not None:
            scores = text.rank(list(asked), ids)
        for leaf in leaves(tree):
            if isinstance(leaf, Exact) and leaf.prefix.name in BUG_PREFIXES:
                for message, strength in self._facts.strengths(bug_of(leaf)).items():
                    scores[message] = scores.get(message, 0.0) + 10.0 * (5 - strength)
        if limit and len(ids) > _FEW:
            least = heapq.nlargest(limit, map(scores.get, ids, itertools.repeat(0.0)))[-1]
            least /= _PATCH_FACTOR
            ids = [message for message in ids if scores.get(message, 0.0) >= least]
        patches = self._facts.within("is_patch", (), ids)
        return {
            message: scores.get(message, 0.0) * (_PATCH_FACTOR if message in patches else 1.0)
            for message in ids
        }

    def _suggestion(self, tree: Node) -> str | None:
        """The query with words of the archive in the place of those that find nothing.

        Where that finds nothing either, rare words are replaced too: "implict" is in mails, but
        not beside the others.
        """
        from patchlore.index.correcting import corrected

        query, notes, text = self._query, self._notes, self._open_text()
        plain = corrected(query, tree, self._people, text)
        try:
            for suggestion in (plain, corrected(query, tree, self._people, text, rare=True)):
                if suggestion is not None and self._evaluate(self._parse(suggestion)):
                    return suggestion
        except QueryError:  # a word that reads as an operator in its new place
            pass
        finally:
            self._query, self._notes = query, notes
        return plain

    def _add_snippets(self, tree: Node, hits: Sequence[Hit]) -> None:
        asked = [leaf for leaf in leaves(tree) if isinstance(leaf, Text) and is_text(leaf)]
        lines = [leaf for leaf in leaves(tree) if isinstance(leaf, Lines)]
        text = self._open_text() if (asked or lines) and hits else None
        if text is None:
            return
        finders = [
            text.line_finder(leaf.prefix.name if leaf.prefix else None, leaf.regex)
            for leaf in lines
        ]
        words: set[str] = set()
        for leaf in asked:
            if is_in_body(leaf):
                words |= text.words_meant(leaf.text, leaf.quoted)
        for hit in hits:
            searched = decode_searched(self._archive.content(hit.message).facts)
            hit.snippet = make_snippet(searched, words, hit.subject or "")
            for finder in finders if hit.snippet is None else ():
                hit.snippet = hit.snippet or find_snippet(searched, *finder)

"""A query with words of the archive in the place of those that seem to be mistakes."""

from __future__ import annotations

from patchlore.index.leaves import is_text
from patchlore.index.people import People
from patchlore.index.query import Node, Text, leaves
from patchlore.index.text_search import TextSearch
from patchlore.index.words import words

#: In a query with more words than these nobody looks for a slip of the fingers.
_MOST_WORDS = 16


def corrected(
    query: str, tree: Node, people: People, text: TextSearch | None, *, rare: bool = False
) -> str | None:
    """Return QUERY, of which TREE was made, with the words that were probably meant.

    PEOPLE and TEXT know the archive's words.  With RARE also words that few mails
    have are replaced.  None where all seem right.
    """
    changes: list[tuple[int, str, str]] = []
    asked = [leaf for leaf in leaves(tree) if isinstance(leaf, Text)]
    if sum(len(words(leaf.text)) for leaf in asked) > _MOST_WORDS:
        return None
    for leaf in asked:
        meant: list[tuple[str, str]] = []
        if not is_text(leaf):
            meant = people.suggest(leaf.text)
        elif text is not None:
            meant = text.suggest(leaf.prefix.name if leaf.prefix else None, leaf.text, rare=rare)
        written = query[leaf.place.start : leaf.place.end].lower()
        for wrong, right in meant:
            place = written.rfind(wrong)
            if place >= 0:
                changes.append((leaf.place.start + place, wrong, right))
    for place, wrong, right in sorted(changes, reverse=True):
        query = query[:place] + right + query[place + len(wrong) :]
    return query if changes else None

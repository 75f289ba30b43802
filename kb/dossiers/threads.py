"""A conversation as a tree: who answers whom, with placeholders for mails that were not seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from msgspec import Struct

from patchlore.kb.listings import positions
from patchlore.kb.reading import Brief, briefs, find_thread
from patchlore.kb.store import Archive
from patchlore.kb.threading import WeakLink, connected


class Node(Struct, kw_only=True):
    """A place in a thread: a message, or None for one that is only referred to."""

    mid: int
    #: The Message-ID (or the made-up one of a mail without).
    text: str
    message: Brief | None
    depth: int
    #: What put it below the node above where no header does: index, page, subject.
    rule: str | None = None


def thread_nodes(archive: Archive, name: str) -> list[Node]:
    """Return the thread of the mail with this Message-ID (seen or not) from the top.

    Replies stand below what they answer, in order of their dates, those of one second
    as the archive's index lists them.  A placeholder
    is kept where more than one mail, or a mail at the top, hangs on it.  Loops of
    references are broken at the mail that would close them.  What has no
    references hangs where its archive's index or page puts it, and as a last resort, marked
    so, below the mail whose subject it repeats.  Raises NotFoundError.
    """
    threads, weak = connected(archive, find_thread(archive, name))
    texts: dict[int, str] = {}
    ids: dict[int, list[int]] = {}
    answered: dict[int, int | None] = {}
    for thread in threads:
        texts.update(
            archive.execute("SELECT id, text FROM mid WHERE thread = ?", (thread,)).fetchall()
        )
        for id_, mid, parent in archive.execute(
            "SELECT m.id, m.mid, m.in_reply_to FROM mid JOIN message AS m ON m.mid = mid.id"
            " WHERE mid.thread = ? ORDER BY m.id",
            (thread,),
        ):
            ids.setdefault(mid, []).append(id_)
            answered.setdefault(mid, parent)
    parents = _parents(archive, ids, answered, texts, weak)
    shown = briefs(archive, (id_ for every in ids.values() for id_ in every))
    rules = {link.child: link.rule for link in weak if parents.get(link.child) == link.parent}
    order = positions(archive, ids)
    return list(_walk(parents, ids, shown, texts, rules, order))


def _parents(
    archive: Archive,
    ids: dict[int, list[int]],
    answered: dict[int, int | None],
    texts: dict[int, str],
    weak: list[WeakLink],
) -> dict[int, int]:
    """Return the parent of each mid: In-Reply-To, the nearest of References, else a weak link."""
    parents: dict[int, int] = {}

    tops: dict[int, int] = {}  # what hangs below what, with shortened ways to the top

    def top(mid: int) -> int:
        way = []
        while mid in tops:
            way.append(mid)
            mid = tops[mid]
        tops.update((passed, mid) for passed in way)
        return mid

    def hang(child: int, parent: int) -> None:
        # A mid without a parent is a top: hanging it below itself would close a loop.
        if child not in parents and parent in texts and top(parent) != child:
            parents[child] = parent
            tops[child] = parent

    for mid, every in ids.items():
        chain = [
            ancestor
            for (ancestor,) in archive.execute(
                "SELECT mid FROM reference WHERE message = ? ORDER BY position", (every[0],)
            )
        ]
        direct = answered[mid]
        if direct is not None:
            hang(mid, direct)
        elif chain:
            hang(mid, chain[-1])
        # References name the ancestors in order: they link mails that were not seen.
        for ancestor, child in itertools.pairwise(chain):
            if child not in ids:
                hang(child, ancestor)
    for link in weak:
        hang(link.child, link.parent)
    return parents


def _walk(
    parents: dict[int, int],
    ids: dict[int, list[int]],
    shown: dict[int, Brief],
    texts: dict[int, str],
    rules: dict[int, str],
    order: dict[int, int],
) -> Iterator[Node]:
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)

    times = {mid: shown[every[0]].timestamp or 0 for mid, every in ids.items()}
    for mid in ids:  # a placeholder stands where the first mail below it does
        above = parents.get(mid)
        while above is not None and above not in ids:
            times[above] = min(times.get(above, times[mid]), times[mid])
            above = parents.get(above)

    def key(mid: int) -> tuple[int, int, int]:
        return (times.get(mid, 0), order.get(mid, 0), mid)

    roots = [mid for mid in texts if mid not in parents and (mid in ids or mid in children)]
    stack = [(mid, 0) for mid in sorted(roots, key=key, reverse=True)]
    while stack:
        mid, depth = stack.pop()
        below = sorted(children.get(mid, ()), key=key, reverse=True)
        if mid in ids:
            for id_ in ids[mid]:
                yield Node(
                    mid=mid,
                    text=texts[mid],
                    message=shown[id_],
                    depth=depth,
                    rule=rules.get(mid),
                )
        elif len(below) == 1 and depth > 0:
            stack.append((below[0], depth))
            continue
        else:
            yield Node(mid=mid, text=texts[mid], message=None, depth=depth)
        stack += [(child, depth + 1) for child in below]

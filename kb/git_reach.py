"""Which branches contain a commit, and which tags were the first to: from the graph alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from patchlore.kb.git_repository import Graph

#: Where a commit is: the branches that contain it (as a sum of bits, 1 << number),
#: the first tag and the first release, -1 for none.
Reach = tuple[int, int, int]

#: A ref (row id) and what it is to a place: branch, tag, release.
PlaceRef = tuple[int, str]


def reach(
    graph: Graph, branches: Sequence[str], tags: Sequence[tuple[str, bool]]
) -> dict[str, Reach]:
    """Return where each commit of ``graph`` (children before parents) is.

    ``branches`` are the commits at their tips, numbered in order; ``tags`` are
    (commit, whether it is a release), oldest first, numbered in order.  Each
    commit and each edge is looked at three times, however many refs there are.
    """
    index = {sha: number for number, (sha, _) in enumerate(graph)}
    parents = [[index[parent] for parent in named if parent in index] for _, named in graph]
    masks = [0] * len(graph)
    for number, tip in enumerate(branches):
        if tip in index:
            masks[index[tip]] |= 1 << number
    for number, mask in enumerate(masks):
        # A child's branches are its parents': all children come first.
        if mask:
            for parent in parents[number]:
                masks[parent] |= mask
    first_tag = _first(parents, ((number, index.get(sha)) for number, (sha, _) in enumerate(tags)))
    first_release = _first(
        parents,
        ((number, index.get(sha)) for number, (sha, is_release) in enumerate(tags) if is_release),
    )
    return {
        sha: (masks[number], first_tag[number], first_release[number])
        for number, (sha, _) in enumerate(graph)
    }


def _first(parents: list[list[int]], tags: Iterable[tuple[int, int | None]]) -> list[int]:
    """For each commit the first of ``tags`` (number, commit) that contains it, -1 for none."""
    found = [-1] * len(parents)
    for number, tip in tags:
        if tip is None or found[tip] >= 0:
            continue
        found[tip] = number
        stack = [tip]
        while stack:
            for parent in parents[stack.pop()]:
                if found[parent] < 0:
                    found[parent] = number
                    stack.append(parent)
    return found


def refs_of(reached: Reach, branch_ids: Sequence[int], tag_ids: Sequence[int]) -> list[PlaceRef]:
    """Return a reach as (row id of a ref, role) pairs, sorted: a place of the archive."""
    mask, tag, release = reached
    found = [(id_, "branch") for number, id_ in enumerate(branch_ids) if mask >> number & 1]
    if tag >= 0:
        found.append((tag_ids[tag], "tag"))
    if release >= 0:
        found.append((tag_ids[release], "release"))
    return sorted(found)


def text_of(refs: Iterable[PlaceRef]) -> str:
    """Return refs of a place as its text: ``3b 7t 7r``."""
    return " ".join(f"{id_}{role[0]}" for id_, role in sorted(refs))


_ROLES: Mapping[str, str] = {"b": "branch", "t": "tag", "r": "release"}


def parse_text(text: str) -> list[PlaceRef]:
    """Return the refs that ``text_of`` made the text of."""
    return [(int(item[:-1]), _ROLES[item[-1]]) for item in text.split()]

"""Reading edges: which commit a patch became, and which mails a commit came from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.ingest.message import CONFIDENCES, Confidence
from patchlore.kb.edges_rules import MEDIUM, RULES
from patchlore.kb.reading import Brief, briefs
from patchlore.kb.store import Archive


class Became(Struct, kw_only=True):
    """A commit that a patch became: the rules that say so, the surest first.

    ``is_best`` tells the one to believe where rules disagree.
    """

    sha: str
    subject: str | None
    rules: list[str]
    confidence: Confidence
    is_best: bool
    #: The notice that says so (its key) and the line, if one does.
    witness: str | None = None
    line: int | None = None
    text: str | None = None


class Origin(Struct, kw_only=True):
    """A mail that became the commit; ``is_best`` tells the revision that was taken."""

    message: Brief
    rules: list[str]
    confidence: Confidence
    is_best: bool
    witness: str | None = None
    line: int | None = None
    text: str | None = None


class _Edge(Struct):
    message: int
    sha: str
    rule: str
    confidence: int
    witness: int | None
    line: int | None
    text: str | None


_SELECT = "SELECT message, sha, rule, confidence, witness, line, text FROM edge WHERE "


def became(archive: Archive, message: int) -> list[Became]:
    """Return the commits that a patch became as the rules have it, the surest first."""
    groups: dict[str, list[_Edge]] = {}
    for row in archive.execute(_SELECT + "message = ?", (message,)):
        edge = _Edge(*row)
        whole = next(
            (sha for sha in groups if sha.startswith(edge.sha) or edge.sha.startswith(sha)), None
        )
        if whole is None:
            groups[edge.sha] = [edge]
        elif len(edge.sha) > len(whole):
            groups[edge.sha] = [*groups.pop(whole), edge]
        else:
            groups[whole].append(edge)
    found = []
    for sha, edges in groups.items():
        edges.sort(key=_strength)
        told = next((edge for edge in edges if edge.witness is not None), None)
        found.append((_strength(edges[0]), -len(edges), sha, edges, told))
    found.sort(key=lambda item: item[:3])
    return [
        Became(
            sha=sha,
            subject=archive.value("SELECT subject FROM git_commit WHERE sha = ?", (sha,)),
            rules=[edge.rule for edge in edges],
            confidence=CONFIDENCES[edges[0].confidence],
            is_best=number == 0,
            witness=_key(archive, told),
            line=told.line if told else None,
            text=told.text if told else None,
        )
        for number, (_, _, sha, edges, told) in enumerate(found)
    ]


def commit_of(archive: Archive, message: int) -> str | None:
    """Return the commit that a patch became, None where none is known with some confidence."""
    rows = [_Edge(*row) for row in archive.execute(_SELECT + "message = ?", (message,))]
    edge = min(rows, key=_strength, default=None)
    return None if edge is None or edge.confidence > MEDIUM else edge.sha


def origins(archive: Archive, shas: Sequence[str]) -> list[Origin]:
    """Return the mails that became a commit (all its spellings given), oldest first.

    Of several revisions the one that was taken is the one that the commit or a
    notice names, else the one with its author date or patch id, else the newest.
    """
    groups: dict[int, list[_Edge]] = {}
    for sha in shas:
        for row in archive.execute(_SELECT + "sha = ?", (sha,)):
            groups.setdefault(row[0], []).append(_Edge(*row))
    if not groups:
        return []
    shown = briefs(archive, groups)
    for edges in groups.values():
        edges.sort(key=_strength)
    order = sorted(groups, key=lambda id_: (shown[id_].timestamp or 0, id_))
    best = min(order, key=lambda id_: (*_taken(groups[id_]), -order.index(id_)))
    found = []
    for id_ in order:
        edges = groups[id_]
        told = next((edge for edge in edges if edge.witness is not None), None)
        found.append(
            Origin(
                message=shown[id_],
                rules=list(dict.fromkeys(edge.rule for edge in edges)),
                confidence=CONFIDENCES[edges[0].confidence],
                is_best=id_ == best,
                witness=_key(archive, told),
                line=told.line if told else None,
                text=told.text if told else None,
            )
        )
    return found


def _strength(edge: _Edge) -> tuple[int, int]:
    return (edge.confidence, RULES.index(edge.rule))


def _taken(edges: Sequence[_Edge]) -> tuple[int, int]:
    """What orders revisions of one patch: the best of the rules that tell them apart."""
    order = ("link", "notice", "author-date", "patch-id", "title", "diff")
    return min((max(0, edge.confidence - 1), order.index(edge.rule)) for edge in edges)


def _key(archive: Archive, edge: _Edge | None) -> str | None:
    if edge is None:
        return None
    key = archive.value("SELECT key FROM mail WHERE id = ?", (edge.witness,))
    return None if key is None else str(key)

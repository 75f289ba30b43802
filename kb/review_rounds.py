"""Review rounds of the stable maintainers: which there are, from covers or what answers them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchlore.kb.reading import Brief, briefs
from patchlore.kb.store import Archive
from patchlore.kb.text import count
from patchlore.kb.versions import parse_version, rank, tree_name

#: The title of a cover: ``6.6.9-rc1 review``, in 2019 also ``4.19.45-stable review``.
_TITLE = re.compile(r"\b(\d{1,3}(?:\.\d{1,3}){1,3}(?:-rc\d{1,3})?)[- ](?:stable )?review\b", re.I)
_RELEASE = re.compile(r"(\d{1,3})\.\d{1,3}\.\d{1,3}(\.\d{1,3})?")
_RC = re.compile(r"-rc(\d{1,3})$")
_MAX_TITLE = 300

#: So many rounds are offered when there is none of the name that was asked for.
_NEAREST = 4
_MOST_TREES = 8


class Round(Struct, kw_only=True):
    """A review round; what is known of it without reading its mails.

    ``mid`` is the row of the cover's Message-ID, which the archive may know from
    answers alone: ``cover`` is then None and ``named_by`` the mail that names the
    release in its subject, None where none does.
    """

    mid: int
    key: str
    #: ``6.6.9-rc1``; None where only patches of the round are there.
    release: str | None
    tree: str
    #: How many patches the tag of the subject announces.
    announced: int | None
    timestamp: int | None
    cover: Brief | None = None
    named_by: Brief | None = None

    @property
    def final(self) -> str | None:
        """The release that the round is for: ``6.6.9`` of ``6.6.9-rc1``."""
        return None if self.release is None else _RC.sub("", self.release)

    @property
    def name(self) -> str:
        """What to ask for: the release, or the tree where it is not known."""
        return self.release or f"{self.tree.removesuffix('.y')} (release not known)"

    @property
    def order(self) -> tuple[tuple[int, ...], int, int]:
        """A key that sorts rounds of a tree by release, candidate and date."""
        numbers = tuple(int(part) for part in (self.final or "").split(".") if part.isdigit())
        match = _RC.search(self.release or "")
        return numbers, int(match[1]) if match else 0, self.timestamp or 0


def all_rounds(archive: Archive) -> list[Round]:
    """Return every round that mail shows, ordered by tree, release and candidate.

    A round is its cover letter; where that is not in the archive, what answers it:
    replies that repeat its subject, and its patches.
    """
    found = {item.mid: item for item in _with_cover(archive)}
    covered = {item.release for item in found.values()}
    for item in _named_by_replies(archive):
        if item.release not in covered:
            found.setdefault(item.mid, item)
    found |= {item.mid: item for item in _of_patches(archive) if item.mid not in found}
    return sorted(found.values(), key=lambda item: (rank(item.tree) or 0, item.tree, item.order))


def find_rounds(rounds: Iterable[Round], name: str) -> list[Round]:
    """Return the rounds that a name means, in their order; [] for none.

    ``6.6.9-rc1`` is one, ``6.6.9`` all candidates of a release, ``6.6`` (any
    spelling of a tree) all rounds of a tree.
    """
    rounds = list(rounds)
    wanted = name.strip().removeprefix("v")
    found = [item for item in rounds if wanted in (item.release, item.final)]
    if found:
        return found
    if _RC.search(wanted):
        # An announcement named the release and nobody the candidate: it may have been this one.
        release = _RC.sub("", wanted)
        return [item for item in rounds if item.release == release and item.cover is None]
    if _is_release(wanted):
        return []  # 6.6.99 is a release, and no round of another one will do
    return [item for item in rounds if item.tree == tree_name(wanted)]


def nearest_rounds(rounds: Iterable[Round], name: str) -> list[str]:
    """Return the names of rounds near to one that is not known: of its tree, by release."""
    wanted = name.strip().removeprefix("v")
    version = parse_version(_RC.sub("", wanted))
    named = [item for item in rounds if item.release is not None]
    if version is None:
        near = sorted(named, key=lambda item: -(item.timestamp or 0))
    else:
        near = sorted(
            named,
            key=lambda item: (
                abs((rank(item.tree) or 0) - version.rank),
                abs(_third(item) - version.patch),
                -item.order[1],
            ),
        )
    return list(dict.fromkeys(str(item.release) for item in near))[:_NEAREST]


def unnamed_rounds(rounds: Iterable[Round], name: str) -> list[Round]:
    """Return the rounds of the tree of a release of which no mail names their own release."""
    version = parse_version(_RC.sub("", name.strip().removeprefix("v")))
    return [
        item
        for item in rounds
        if item.release is None and version is not None and rank(item.tree) == version.rank
    ]


def not_found_hint(rounds: Sequence[Round], name: str) -> str:
    """Return what to say behind "no review round NAME": which rounds there are."""
    near = ", ".join(nearest_rounds(rounds, name))
    unnamed = unnamed_rounds(rounds, name)
    hints = [f"the nearest are {near}"] if near else []
    if unnamed:
        tree = unnamed[0].tree.removesuffix(".y")
        what = count(len(unnamed), "round")
        hints.append(f"of {what} of {tree} no mail names the release: ask for {tree}")
    if hints:
        return "".join(f"; {hint}" for hint in hints)
    if not rounds:
        return ": the archive has no review round at all"
    trees = dict.fromkeys(item.tree.removesuffix(".y") for item in rounds)
    return f"; the archive has rounds of {', '.join(list(trees)[-_MOST_TREES:])}"


def release_in(title: str | None) -> str | None:
    """Return the release under review that a subject names, or None."""
    match = _TITLE.search(title) if title and len(title) <= _MAX_TITLE else None
    return match[1] if match else None


def _third(item: Round) -> int:
    numbers = item.order[0]
    return numbers[-1] if len(numbers) > 2 else 0


def _is_release(text: str) -> bool:
    """Whether a text is a version below a tree's name: 6.6.9, and 2.6.32.9 of before 3.0."""
    match = _RELEASE.fullmatch(text)
    return match is not None and (int(match[1]) > 2 or match[2] is not None)


def _with_cover(archive: Archive) -> Iterable[Round]:
    rows = archive.execute(
        "SELECT id, mid, key, notice_release, notice_tree, parts, timestamp FROM mail"
        " WHERE notice = 'review' AND is_cover AND notice_release IS NOT NULL ORDER BY id DESC"
    ).fetchall()
    shown = briefs(archive, (row[0] for row in rows))
    for id_, mid, key, release, tree, parts, timestamp in rows:
        yield Round(
            mid=mid,
            key=key,
            release=release,
            tree=tree or tree_name(_RC.sub("", release)),
            announced=parts,
            timestamp=timestamp,
            cover=shown[id_],
        )


def _named_by_replies(archive: Archive) -> Iterable[Round]:
    """Rounds whose cover is missing: replies repeat its subject, and their references name it.

    The cover is the mail that most of them name first; a reply that was written
    into another conversation begins with that one's mails.
    """
    rows = archive.execute(
        "SELECT m.id, m.subject, m.parts, m.timestamp, mid.id, mid.text"
        " FROM message AS m JOIN reference AS r ON r.message = m.id AND r.position ="
        " (SELECT min(position) FROM reference WHERE message = m.id)"
        " JOIN mid ON mid.id = r.mid"
        " WHERE m.part = 0 AND m.is_reply AND m.subject LIKE '%review%'"
        " AND NOT EXISTS (SELECT 1 FROM message WHERE message.mid = mid.id)"
        " ORDER BY m.timestamp, m.id"
    ).fetchall()
    releases: dict[str, Counter[int]] = {}
    for row in rows:
        release = release_in(row[1])
        if release is not None:
            releases.setdefault(release, Counter())[row[4]] += 1
    chosen = {counter.most_common(1)[0][0]: name for name, counter in releases.items()}
    first: dict[int, tuple[int, str, int | None, int | None, int, str]] = {}
    for row in rows:
        if release_in(row[1]) == chosen.get(row[4]):
            first.setdefault(row[4], row)
    shown = briefs(archive, (row[0] for row in first.values()))
    for id_, _, parts, timestamp, mid, text in first.values():
        yield Round(
            mid=mid,
            key=text,
            release=chosen[mid],
            tree=tree_name(_RC.sub("", chosen[mid])),
            announced=parts,
            timestamp=timestamp,
            named_by=shown[id_],
        )


def _of_patches(archive: Archive) -> Iterable[Round]:
    """Rounds of which only patches are there: what they answer is their cover.

    The release is that of the first announcement behind them that has one of their
    titles, if any.
    """
    rows = archive.execute(
        "SELECT m.in_reply_to, mid.text, m.notice_tree, m.parts, min(m.timestamp)"
        " FROM message AS m JOIN mid ON mid.id = m.in_reply_to"
        " WHERE m.notice = 'review' AND NOT m.is_cover AND m.notice_tree IS NOT NULL"
        " GROUP BY m.in_reply_to ORDER BY min(m.timestamp)"
    ).fetchall()
    released = {
        mid: (id_, release)
        for mid, id_, release, _ in archive.execute(
            "SELECT m.in_reply_to, a.id, a.notice_release, min(a.timestamp)"
            " FROM message AS m JOIN shortlog AS s ON s.title_hash = m.title_hash"
            " JOIN message AS a ON a.id = s.message AND a.notice = 'released'"
            " AND a.notice_tree = m.notice_tree AND a.timestamp > m.timestamp"
            " WHERE m.notice = 'review' AND NOT m.is_cover GROUP BY m.in_reply_to"
        )
    }
    shown = briefs(archive, (id_ for id_, _ in released.values()))
    for mid, text, tree, parts, timestamp in rows:
        id_, release = released.get(mid, (0, None))
        yield Round(
            mid=mid,
            key=text,
            release=release,
            tree=tree,
            announced=parts,
            timestamp=timestamp,
            named_by=shown.get(id_),
        )

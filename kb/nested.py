"""Patches attached to a mail: each a posting of its own, with its trees and upstream commits."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from patchlore.ingest.message import Message, SubjectTags
from patchlore.kb.merge import PersonKey, person_key
from patchlore.kb.referring import FoundAt, Row, commit_rows
from patchlore.kb.versions import rank, tree_name

#: More attached patches than this are not told apart; each costs rows for its commits.
MAX_ATTACHED = 200

#: What an attached patch does to the commits that it names, in a tree.
_RELATIONS = ("upstream", "reverts", "reverted-upstream")


class Attached(Struct, kw_only=True):
    """The rows of one attached patch, without row ids."""

    position: int
    subject: str | None
    author: PersonKey | None
    #: version, part, parts, prefixes, applicable, patch id, primary upstream commit
    columns: Row
    trees: list[str]
    tree_range: tuple[int, int] | None
    #: number, relation, sha, subject, kind, line, rule, text, confidence
    refs: list[Row]


def attached_mails(message: Message) -> Iterator[Message]:
    """Yield the messages inside a message, in order, those inside another behind it."""
    waiting = list(message.nested)
    number = 0
    while waiting and number < MAX_ATTACHED:
        inner = waiting.pop(0)
        number += 1
        yield inner
        waiting[:0] = inner.nested


def attached_rows(message: Message) -> list[Attached]:
    """Return the rows of the patches inside a message that are postings.

    A forwarded reply or notice is none; nor is a patch that names no commit.
    Trees are those of its own subject, else the one that the name of its file
    says, else those of the mail's subject.
    """
    if not message.nested:
        return []
    found = []
    proofs = _Proofs(message)
    for position, inner in enumerate(attached_mails(message)):
        if not inner.is_patch or inner.is_reply or inner.notification is not None:
            continue
        rows = [row for row in commit_rows(inner, FoundAt(inner)) if row[0] in _RELATIONS]
        if not rows:
            continue
        tags = inner.subject_tags
        trees = _trees(inner) or tag_trees(message.subject_tags)
        found.append(
            Attached(
                position=position,
                subject=inner.commit_subject or inner.clean_subject,
                author=_person(inner),
                columns=(
                    tags.version if tags else None,
                    tags.index if tags else None,
                    tags.total if tags else None,
                    f" {' '.join(tags.prefixes)} " if tags and tags.prefixes else "",
                    inner.applicable,
                    inner.patch_id,
                    inner.primary_upstream.lower() if inner.primary_upstream else None,
                ),
                trees=trees,
                tree_range=tag_range(tags) if tags is not None and _trees(inner) else None,
                refs=[(number, *_ref(row, proofs)) for number, row in enumerate(rows)],
            )
        )
    return found


def tag_trees(tags: SubjectTags | None) -> list[str]:
    """Return the trees that the tag of a subject names, the ends of a range among them."""
    if tags is None or not tags.target_tree:
        return []
    named = [tags.target_tree] if isinstance(tags.target_tree, str) else list(tags.target_tree)
    if tags.target_range:
        named += tags.target_range.values()
    return list(dict.fromkeys(tree_name(name) for name in named))


def tag_range(tags: SubjectTags | None) -> tuple[int, int] | None:
    """Return the range of trees of a tag (``AUTOSEL 6.17-5.4``) as ranks, newest and oldest."""
    if tags is None or not tags.target_range:
        return None
    newest = rank(tags.target_range.get("newest", ""))
    oldest = rank(tags.target_range.get("oldest", ""))
    if newest is None or oldest is None:
        return None
    return max(newest, oldest), min(newest, oldest)


def quoted_commits(message: Message, own: list[Row]) -> Iterator[Row]:
    """Yield rows of commit_ref for what only the mails inside a message name, as quoted.

    ``own`` are the rows of the message itself: the text of an attached patch is
    part of its body as a rule, that of a forwarded mail is not.
    """
    seen = {(row[0], row[2]) for row in own}
    position = 1 + max((int(str(row[1])) for row in own), default=-1)
    for inner in attached_mails(message):
        for row in commit_rows(inner, FoundAt(inner)):
            if (row[0], row[2]) in seen:
                continue
            seen.add((row[0], row[2]))
            relation, _, sha, subject, form, kind, tree, _, _, rule, text, confidence = row
            yield (
                relation, position, sha, subject, form, kind, tree, True, None, rule, text,
                confidence,
            )  # fmt: skip
            position += 1


def _trees(inner: Message) -> list[str]:
    trees = tag_trees(inner.subject_tags)
    place = inner.source.place
    if not any(rank(tree) is not None for tree in trees) and place is not None and place.tree:
        return [tree_name(place.tree)]
    return trees


def _person(inner: Message) -> PersonKey | None:
    key = person_key(inner.author or inner.from_)
    return key if any(key) else None


def _ref(row: Row, proofs: _Proofs) -> Row:
    """A row of attached_ref of one of commit_ref; its line is where the outer mail has it."""
    relation, _, sha, subject, _, kind, _, _, _, rule, text, confidence = row
    line = proofs.take(str(sha), str(text or ""))
    return (relation, sha, subject, kind, line, rule, text, confidence)


class _Proofs:
    """The lines of a mail's body that prove a commit: each is that of one attached patch."""

    def __init__(self, message: Message) -> None:
        self._lines: dict[tuple[str, str], list[int]] = {}
        for item in message.evidence:
            if item.line:
                lines = self._lines.setdefault((item.value.lower(), item.text.strip()), [])
                if item.line not in lines[-1:]:
                    lines.append(item.line)

    def take(self, sha: str, text: str) -> int | None:
        """The first line with this text that no patch before has taken, or None."""
        lines = self._lines.get((sha, text.strip()))
        return lines.pop(0) if lines else None

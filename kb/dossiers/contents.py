"""The contents of a commit's backports against the upstream patch, tree by tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchlore.kb.edges_likeness import CommitDiffs
from patchlore.kb.edges_reading import Origin
from patchlore.kb.events import Event
from patchlore.kb.git_events import ITSELF
from patchlore.kb.identity import Verdict, identity
from patchlore.kb.identity_patches import Patch, patch_of_commit, patch_of_mail
from patchlore.kb.range_diff import diff_of_patches
from patchlore.kb.reading import Brief
from patchlore.kb.store import Archive
from patchlore.kb.versions import is_stable

#: Events whose mails can carry the backport as it was taken.
_CARRIES = ("autosel", "posted", "queued", "review")


class Content(Struct, kw_only=True):
    """What a tree's backport is to the upstream patch.

    ``kind`` is one of patchlore.kb.identity.KINDS, ``likeness`` from 0 to 1,
    ``reason`` says what differs.  ``key`` and ``against`` are the backport and the
    upstream patch that were compared: Message-IDs, or commits of git trees.
    ``notes`` are what the backport's message says was adjusted, each with its line.
    Where the upstream patch is not at hand, ``likeness`` and ``against`` are None,
    and only what such a note says is told.
    """

    tree: str
    kind: str
    likeness: float | None
    reason: str
    key: str
    commit: str | None
    against: str | None
    against_commit: str | None
    notes: list[NoteSeen]
    #: The lines of a unified diff from the upstream patch to the backport, if asked for.
    diff: list[str]


class NoteSeen(Struct, kw_only=True):
    """A note in a backport's message: 1-based line, text verbatim."""

    line: int
    text: str


def compare_contents(
    archive: Archive,
    shas: Sequence[str],
    trees: Iterable[tuple[str, Sequence[Event]]],
    *,
    origins: Sequence[Origin] = (),
    postings: Sequence[Brief] = (),
    own: Sequence[int] = (),
    diff: bool = False,
) -> list[Content]:
    """Compare each tree's newest backport with the upstream patch, where both are at hand.

    ``shas`` are all spellings of the upstream commit, ``trees`` what happened in
    each tree.  The upstream patch is the commit where a git tree has it, else the
    mail that became it (``origins``) or that was made of it (``own``, row ids of
    mails with its ``From <sha>``), else the newest posting of its title
    (``postings``).  With ``diff`` the diff of both is made, too.
    """
    wanted = [(tree, candidates) for tree, events in trees if (candidates := _carriers(events))]
    if not wanted:
        return []
    diffs = CommitDiffs(archive)
    upstream = _upstream(archive, diffs, shas, origins, postings, own)
    known: dict[str, Patch | None] = {}
    found = []
    for tree, candidates in wanted:
        for event in candidates:
            if event.key not in known:
                known[event.key] = (
                    patch_of_commit(archive, diffs, event.commit)
                    if event.commit is not None
                    else patch_of_mail(archive, event.message)
                )
            patch = known[event.key]
            if patch is None or (upstream is not None and patch.key == upstream.key):
                continue
            if upstream is not None:
                verdict = identity(upstream, patch)
                if verdict is None:
                    continue
                lines = list(diff_of_patches(upstream.lines, patch.lines)) if diff else []
                found.append(_content(tree, verdict, upstream, patch, lines))
            elif any(note.says_adjusted for note in patch.notes):
                found.append(_content(tree, _AS_TOLD, None, patch, []))
            break
    return found


#: The verdict on a backport whose message says that it was adjusted, without the upstream patch.
_AS_TOLD = Verdict(kind="adjusted", likeness=0, reason="as its message says")


def _carriers(events: Sequence[Event]) -> list[Event]:
    """The events that can carry a backport's patch: commits, then mails, the newest first."""
    commits = [
        event
        for event in events
        if event.commit is not None and event.rule != ITSELF and event.kind != "reverted"
    ]
    mails = [
        event
        for event in events
        if event.commit is None and event.is_patch and event.message and event.kind in _CARRIES
    ]
    return [*reversed(commits), *reversed(mails)]


def _upstream(
    archive: Archive,
    diffs: CommitDiffs,
    shas: Sequence[str],
    origins: Sequence[Origin],
    postings: Sequence[Brief],
    own: Sequence[int],
) -> Patch | None:
    commits = [patch_of_commit(archive, diffs, sha) for sha in shas if len(sha) >= 40]
    known = next((patch for patch in commits if patch is not None), None)
    if known is not None and known.files:
        return known
    for message in _mails(archive, origins, postings, own):
        found = patch_of_mail(archive, message)
        if found is not None:
            return found
    return known  # by its patch id alone


def _mails(
    archive: Archive, origins: Sequence[Origin], postings: Sequence[Brief], own: Sequence[int]
) -> Iterator[int]:
    """Mails that can be the upstream patch, the likeliest first."""
    believed = [origin for origin in origins if origin.confidence != "low"]
    for origin in sorted(believed, key=lambda item: not item.is_best):
        yield origin.message.id
    yield from own
    for posting in reversed(postings):
        trees = archive.execute(
            "SELECT tree FROM target_tree WHERE message = ?", (posting.id,)
        ).fetchall()
        # A patch for a stable tree that lacks the marker is no upstream patch.
        if not any(is_stable(tree) for (tree,) in trees):
            yield posting.id


def _content(
    tree: str, verdict: Verdict, upstream: Patch | None, backport: Patch, diff: list[str]
) -> Content:
    notes = verdict.notes
    if upstream is None:
        notes = [note for note in backport.notes if note.says_adjusted]
    return Content(
        tree=tree,
        kind=verdict.kind,
        likeness=None if upstream is None else verdict.likeness,
        reason=verdict.reason,
        key=backport.key,
        commit=backport.commit,
        against=None if upstream is None else upstream.key,
        against_commit=None if upstream is None else upstream.commit,
        notes=[NoteSeen(line=note.line, text=note.text) for note in notes],
        diff=diff,
    )

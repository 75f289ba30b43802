"""``patchlore review``: a review round of a stable tree, with what speaks against its patches."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from patchlore.commands.common import (
    Style,
    Subparsers,
    add_command,
    add_json,
    open_archive,
    print_json,
    print_lines,
)

if TYPE_CHECKING:
    from patchlore.kb.review import Dropped, OtherRound, Review, ReviewPatch
    from patchlore.kb.review_fixes import PendingFix
    from patchlore.kb.review_replies import GivenTag, Objection, Proof


def add_parsers(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers,
        "review",
        "a stable review round: deadline, patches, objections, tags, fixes pending elsewhere",
        [
            "patchlore review 6.6.9-rc1",
            "patchlore review 6.6.9       the last candidate of a release",
            "patchlore review 6.6         the newest round of a tree",
            "patchlore review ID          the round that a mail belongs to",
            "patchlore review 6.6.9-rc1 --json",
        ],
    )
    parser.add_argument(
        "release", metavar="RELEASE", help="6.6.9-rc1, 6.6.9, a tree (6.6), or a Message-ID"
    )
    add_json(parser)
    parser.set_defaults(run=run_review)


def run_review(args: argparse.Namespace) -> int:
    """Print the dossier of a round; 1 (by NotFoundError) when there is none of that name."""
    from patchlore.kb.review import review

    with open_archive(args) as archive:
        dossier = review(archive, args.release)
    if args.json:
        print_json(dossier)
    else:
        print_lines(review_lines(dossier))
    return 0


def review_lines(dossier: Review) -> Iterator[str]:
    """Yield the dossier as text; below each statement stands the line that proves it."""
    style = Style()
    yield from _head_lines(dossier, style)
    yield from _section(style, "objections", _objection_lines(dossier.objections, style))
    yield from _section(style, "pending elsewhere", _pending_lines(dossier.pending, style))
    yield from _section(style, "tags given", _tag_lines(dossier.tags, style))
    yield from _section(style, "dropped", _dropped_lines(dossier.dropped, style))
    yield from _section(style, "patches", _patch_lines(dossier.patches, style))
    yield from _section(style, "missing", _missing_lines(dossier))


def _section(style: Style, heading: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield style.head(heading)
        yield from found


def _head_lines(dossier: Review, style: Style) -> Iterator[str]:
    from patchlore.commands.lines import brief_lines
    from patchlore.kb.text import count, printable
    from patchlore.kb.versions import short_name

    name = printable(dossier.release) or f"{short_name(dossier.tree)} (release not known)"
    head = f"{name}: review of {short_name(dossier.tree)}"
    if dossier.announced is not None:
        head += f", {count(dossier.announced, 'patch', 'patches')}"
    head += f", {len(dossier.patches)} of them in the archive"
    yield style.head(head)
    if dossier.cover is not None:
        yield from brief_lines(dossier.cover, style, "  ")
    else:
        yield f"  its cover <{printable(dossier.message_id)}> is not in the archive"
        if dossier.named_by is not None:
            yield "  it is named by"
            yield from brief_lines(dossier.named_by, style, "    ")
    if dossier.deadline is None:
        yield "  deadline: not known"
    else:
        yield f"  deadline: {dossier.deadline.date_iso} ({dossier.deadline.words})"
        yield _proof(dossier.deadline.evidence, style)
    states: dict[str, int] = {}
    for patch in dossier.patches:
        states[patch.state] = states.get(patch.state, 0) + 1
    if states:
        told = ", ".join(f"{number} {state}" for state, number in states.items())
        yield f"  now: {told}"
    counts = (
        count(dossier.replies, "answer"),
        count(len(dossier.objections), "objection"),
        count(len(dossier.tags), "tag"),
        count(len(dossier.pending), "fix", "fixes") + " pending",
    )
    yield f"  so far: {', '.join(counts)}"
    yield from _round_lines("earlier", dossier.earlier, style)
    yield from _round_lines("later", dossier.later, style)
    if dossier.released is not None:
        released = dossier.released
        what = count(released.patches, "patch", "patches")
        yield f"  released: {printable(released.release)}, with {what} of these"
        yield from brief_lines(released.message, style, "    ")


def _round_lines(word: str, rounds: Sequence[OtherRound], style: Style) -> Iterator[str]:
    from patchlore.kb.text import count, printable

    for item in rounds:
        number = f", {count(item.patches, 'patch', 'patches')}" if item.patches else ""
        date = f", {item.date_iso}" if item.date_iso else ""
        yield f"  {word} round: {printable(item.release)}{number}{date}"
        if item.evidence is not None:
            yield _proof(item.evidence, style)


def _objection_lines(objections: Sequence[Objection], style: Style) -> Iterator[str]:
    from patchlore.kb.text import day, printable

    for item in objections:
        about = f"patch {_numbers(item.parts)}" if item.parts else "the round"
        sender = printable(item.message.sender) or "(no sender)"
        yield f"  {day(item.message.timestamp)}  {about}: {item.words}, {sender}"
        for proof in item.evidence:
            yield _proof(proof, style)
        if item.answered is not None:
            answer = item.answered
            who = printable(answer.sender) or "(no sender)"
            yield f"    answered {day(answer.timestamp)} by {who}"
            yield style.proof(f"      <{printable(answer.key)}>")


def _pending_lines(pending: Sequence[PendingFix], style: Style) -> Iterator[str]:
    from patchlore.kb.review_fixes import RELATIONS
    from patchlore.kb.text import printable

    for fix in pending:
        name = style.name(fix.sha[:12]) if fix.sha else "(commit not known)"
        yield f"  {name}  {printable(fix.subject)}"
        state = f"; {fix.state} here" if fix.state else ""
        where = ", ".join(map(printable, fix.where))
        relation = RELATIONS.get(fix.relation, fix.relation)
        yield f"    {relation} {style.name(fix.fixes[:12])}, patch {fix.part}; {where}{state}"
        yield _proof(fix.evidence, style)


def _tag_lines(tags: Sequence[GivenTag], style: Style) -> Iterator[str]:
    from patchlore.kb.text import day, printable

    for tag in tags:
        about = "the round" if tag.part is None else f"patch {tag.part}"
        yield (
            f"  {day(tag.message.timestamp)}  {about}: {printable(tag.key)}: {printable(tag.value)}"
        )
        yield _proof(tag.evidence, style)


def _dropped_lines(dropped: Sequence[Dropped], style: Style) -> Iterator[str]:
    from patchlore.kb.text import printable

    for item in dropped:
        number = "" if item.part is None else f"{item.part:>4}  "
        yield f"  {number}{_commit(item.sha, style)}  {printable(item.subject)}: {item.words}"
        yield _proof(item.evidence, style)


def _patch_lines(patches: Sequence[ReviewPatch], style: Style) -> Iterator[str]:
    from patchlore.kb.text import printable

    for patch in patches:
        number = "   ?" if patch.part is None else f"{patch.part:>4}"
        name = _commit(patch.sha, style)
        yield f"  {number}  {name}  {patch.state:<9}  {printable(patch.subject)}"
        if patch.upstream_evidence is not None:
            yield _proof(patch.upstream_evidence, style, "        ")
        yield f"        {printable(patch.reason)}"
        if patch.evidence != patch.upstream_evidence:
            yield _proof(patch.evidence, style, "        ")


def _missing_lines(dossier: Review) -> Iterator[str]:
    from patchlore.kb.text import count, printable

    if dossier.missing:
        what = count(len(dossier.missing), "patch", "patches")
        yield f"  {what} not in the archive: {_numbers(dossier.missing)}"
    for title in dossier.missing_titles:
        yield f"  the cover names: {printable(title)}"


def _commit(sha: str | None, style: Style) -> str:
    return style.name(sha[:12]) if sha else "(no commit) "


def _numbers(numbers: Sequence[int]) -> str:
    """Return numbers in order as people write them: ``1-3, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _proof(proof: Proof, style: Style, indent: str = "    ") -> str:
    from patchlore.commands.lines import proof_line

    key = proof.commit or proof.message_id or ""
    return proof_line(style, key, proof.line, proof.text, proof.confidence, indent)

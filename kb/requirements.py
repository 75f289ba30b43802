"""What has to be in a tree before a commit: prerequisites, dependencies, what it repairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from patchlore.kb.backport_row import Requirement, Row
from patchlore.kb.fix_graph import Ref, Target, Upstream
from patchlore.kb.git_reading import trees_with
from patchlore.kb.needs import Needs
from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_of
from patchlore.kb.versions import rank

#: States of rows whose requirements are told: what is to be taken, or fails to be.
TO_TAKE = ("needed", "nominated", "in-flight", "queued", "failed")

#: Why a row requires what it repairs or takes back (``Requirement.why``).
FIXED, REVERTED = "fixed by this commit", "reverted by this commit"

#: More patches of one series than these are not told.
_MOST_NEIGHBOURS = 8


def add_requirements(
    archive: Archive, needs: Needs, tree: str, rows: Sequence[Row], by_sha: dict[str, Row]
) -> list[Row]:
    """Fill ``requires`` of rows that are to be taken; return rows of prerequisites without one.

    ``by_sha`` are all rows that there are, by commit; the new ones are added.
    Prerequisites of prerequisites are followed.
    """
    made: list[Row] = []
    todo = [row for row in rows if row.state in TO_TAKE and row.sha]
    while todo:
        row = todo.pop()
        commit = needs.graph.commits.get(row.sha or "")
        if commit is None:
            continue
        for target, subject, why, ref in _required(needs, tree, commit, by_sha):
            other = needs.graph.commits.get(target.sha)
            present = needs.contents.find(target) is not None
            if ref is not None and not present and other is not None:
                known = by_sha.get(other.sha)
                if (known is None or known.state == "unknown") and (
                    needs.standing.now(other) is other
                ):
                    lacking = _is_lacking(archive, needs, tree, other, ref)
                    new = needs.verdicts.prerequisite(other, commit.sha, ref, is_lacking=lacking)
                    if known is None:
                        by_sha[other.sha] = known = new
                        made.append(new)
                    elif new.state == "needed":
                        needs.settle(known, new.event)
                    todo += [known] if known.state in TO_TAKE else []
            row_of_it = by_sha.get(target.sha)
            is_known = present or needs.contents.is_complete
            is_known = is_known or (row_of_it is not None and row_of_it.state != "unknown")
            row.requires.append(
                Requirement(
                    sha=target.sha,
                    subject=subject or (other.subject if other else target.subject),
                    why=why,
                    is_present=present if is_known else None,
                )
            )
    return made


def _required(
    needs: Needs, tree: str, commit: Upstream, rows: dict[str, Row]
) -> Iterable[tuple[Target, str | None, str, Ref | None]]:
    """Yield (commit, title, why, the line if it makes a row of its own) in the order to take."""
    told = {commit.sha}
    number = rank(tree)
    for ref in commit.refs:
        if ref.relation != "prerequisite" or ref.target.sha in told:
            continue
        if ref.interval is None or number is None or ref.interval.holds(number):
            told.add(ref.target.sha)
            yield ref.target, ref.subject, "prerequisite (Cc: stable note)", ref
    for other, ref in needs.graph.named_by.get(commit.sha, ()):
        if ref.relation == "stable-dep-of" and other.sha not in told:
            told.add(other.sha)
            target = Target(other.sha, other.place, other.id or None)
            yield target, other.subject, "Stable-dep-of", ref
    for ref in commit.refs:
        if ref.relation not in ("fixes", "reverts", "partial-revert") or ref.target.sha in told:
            continue
        target = ref.target
        named = needs.graph.commits.get(target.sha)
        stands = None if named is None else needs.standing.now(named)
        if stands is not None and stands is not named and stands is not commit:
            target = Target(stands.sha, stands.place, stands.id or None)
        row = rows.get(target.sha)
        if row is not None and row.state in TO_TAKE and target.sha not in told:
            told.add(target.sha)
            why = FIXED if ref.relation == "fixes" else REVERTED
            yield target, row.subject, why, None


def _is_lacking(archive: Archive, needs: Needs, tree: str, commit: Upstream, ref: Ref) -> bool:
    """Whether a tree may be said to lack a prerequisite, of which it has no backport.

    What another tree took for a fix (Stable-dep-of) this one may have had from the start.
    Not where its repository was read, nor where a tree as new as it had to take that, too.
    """
    number = rank(tree)
    if ref.relation != "stable-dep-of" or needs.contents.is_complete or number is None:
        return True
    first = needs.contents.first_version(commit)
    if first is not None:
        return first > number
    takers = [name for mail in commit.mails for name in trees_of(archive, mail, commit.time)]
    if ref.commit is not None:
        takers += [found.tree for found in trees_with(archive, [ref.commit])]
    return any((rank(name) or 0) >= number for name in takers)


def add_neighbours(archive: Archive, needs: Needs, rows: Sequence[Row]) -> None:
    """Note the patches that stood before a row's patch in its series upstream, as context."""
    wanted: dict[int, list[Row]] = {}
    for row in rows:
        if row.state in TO_TAKE:
            for event in row.events:
                if event.kind == "nominated" and event.message and (event.part or 0) > 1:
                    wanted.setdefault(event.message, []).append(row)
    by_commit = {row.sha: row for row in rows if row.state in TO_TAKE and row.sha}
    for message, sha in archive.execute(
        "SELECT e.message, e.sha FROM json_each(?) AS j CROSS JOIN edge AS e ON e.sha = j.value"
        " WHERE e.confidence <= 1 GROUP BY e.sha, e.message",
        (json.dumps(sorted(by_commit)),),
    ).fetchall():
        found = wanted.setdefault(message, [])
        if by_commit[sha] not in found:
            found.append(by_commit[sha])
    before = archive.execute(
        "SELECT DISTINCT x.id, x.parts, x.part, s.part, s.clean_subject, coalesce((SELECT e.sha"
        " FROM edge AS e WHERE e.message = s.id ORDER BY e.confidence LIMIT 1),"
        " (SELECT b.primary_upstream FROM message AS b WHERE b.title_hash = s.title_hash"
        " AND b.primary_upstream IS NOT NULL LIMIT 1))"
        " FROM json_each(?) AS j CROSS JOIN message AS x ON x.id = j.value"
        " JOIN mid AS a ON a.id = x.mid JOIN mid AS b ON b.thread = a.thread"
        " JOIN message AS s ON s.mid = b.id AND s.parts = x.parts AND s.part < x.part"
        " AND s.part > 0 AND s.version IS x.version AND s.is_patch AND NOT s.is_reply"
        " AND s.sender IS x.sender ORDER BY x.id, s.part, s.id",
        (json.dumps(sorted(wanted)),),
    ).fetchall()
    needs.graph.resolve({row[5] for row in before if row[5]})
    series: dict[tuple[int, int, int], dict[int, str]] = {}
    for id_, parts, part, number, title, sha in before:
        words = f'{number}/{parts} "{title}"'
        if sha:
            target = needs.graph.targets[sha]
            there = ", in the tree" if needs.contents.find(target) is not None else ""
            words += f" ({target.sha[:12]}{there})"
        series.setdefault((id_, parts, part), {}).setdefault(number, words)
    for (id_, parts, part), found_before in series.items():
        shown = list(found_before.values())
        more = f" and {len(shown) - _MOST_NEIGHBOURS} more" if len(shown) > _MOST_NEIGHBOURS else ""
        note = f"patch {part} of {parts}; before it: {', '.join(shown[:_MOST_NEIGHBOURS])}{more}"
        for row in wanted[id_]:
            if not any(known.startswith("patch ") for known in row.notes):
                row.notes.append(note)

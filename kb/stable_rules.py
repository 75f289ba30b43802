"""Rules of the kernel's stable process that bear on a row, named in its notes.

https://docs.kernel.org/process/stable-kernel-rules.html: a fix has to be in every
newer tree first; ``# after -rc3`` and the like ask for a delay; stable+noautosel
asks not to pick a patch automatically.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from patchlore.kb.backport_row import Row
from patchlore.kb.git_places import GitPlaces
from patchlore.kb.needs import Needs
from patchlore.kb.store import Archive
from patchlore.kb.trees import Trees, trees_for
from patchlore.kb.versions import newest_first, parse_version, rank, short_name

#: States in which a fix is still to be taken.
_OPEN = ("needed", "nominated", "in-flight", "queued")

#: A tree of which no table says when it ends is kept so long after its last release (seconds).
_KEPT = 550 * 86400

_SPAN = re.compile(
    r"(?:about |at least )?(\d{1,3}|a|one|two|three|four|five|six|eight)[ -](day|week|month)s?\b",
    re.I,
)
_CANDIDATE = re.compile(r"v?(\d{1,3}\.\d{1,3})?-?rc(\d{1,2})\b", re.I)
_WORDS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8}
_DAYS = {"day": 1, "week": 7, "month": 30}


class StableRules:
    """What the rules say of rows of one tree on one day."""

    def __init__(
        self, archive: Archive, tree: str, places: GitPlaces, needs: Needs, as_of: int
    ) -> None:
        """Take what was read; ``as_of`` is the day for which it is asked (seconds)."""
        self._archive = archive
        self._tree = tree
        self._places = places
        self._needs = needs
        self._as_of = as_of
        self._trees = trees_for(archive)
        self._tags = {
            name.removeprefix("v"): time
            for name, time in archive.execute(
                "SELECT name, min(timestamp) FROM git_ref WHERE kind = 'tag' AND timestamp"
                " IS NOT NULL GROUP BY name"
            )
        }

    def note(self, rows: Sequence[Row]) -> None:
        """Add notes to the rows that are still to be taken."""
        wanted = [row for row in rows if row.state in _OPEN]
        self._note_newer(wanted)
        self._note_delays(wanted)
        for row in wanted:
            out = self._needs.opt_outs.told(row)
            if out is not None:
                why = f": {out.why}" if out.why else ""
                row.notes.append(f"its author asks not to pick it automatically{why}")

    # -- present in every newer tree first ------------------------------------------------

    def newer_trees(self) -> list[str]:
        """Return the newer trees that are maintained on the day, newest first."""
        return newer_trees(self._trees, self._places, self._tree, self._as_of, self._tags)

    def _note_newer(self, rows: Sequence[Row]) -> None:
        newer = self.newer_trees()
        if not newer or not rows:
            return
        there = {tree: self._commits_of(tree) for tree in newer}
        told = {tree for tree in newer if there[tree] or self._places.stable.get(tree)}
        for row in rows:
            if row.sha is None:
                continue
            lacking = [
                tree
                for tree in newer
                if tree in told
                and row.sha not in there[tree]
                and not self._has_from_start(row, tree)
            ]
            if lacking:
                names = ", ".join(short_name(tree) for tree in lacking)
                row.notes.append(f"not known in {names}: a fix has to be in every newer tree first")

    def _commits_of(self, tree: str) -> set[str]:
        """The commits upstream that are in a tree or on their way there."""
        found = {
            sha
            for (sha,) in self._archive.execute(
                "SELECT r.sha FROM target_tree AS t CROSS JOIN commit_ref AS r"
                " ON r.message = t.message WHERE t.tree = ? AND NOT r.quoted"
                " AND r.relation IN ('upstream', 'original')",
                (tree,),
            )
        }
        number = rank(tree)
        found |= {
            sha
            for (sha,) in self._archive.execute(
                "SELECT r.sha FROM tree_range AS t CROSS JOIN commit_ref AS r"
                " ON r.message = t.message WHERE t.newest >= ?1 AND t.oldest <= ?1"
                " AND r.relation = 'upstream'",
                (number,),
            )
        }
        places = ", ".join(str(place) for place in sorted(self._places.stable.get(tree, ())))
        found |= {
            sha
            for (sha,) in self._archive.execute(
                "SELECT r.sha FROM git_commit AS c CROSS JOIN git_commit_ref AS r"
                f" ON r.git_commit = c.id WHERE c.place IN ({places})"
                " AND r.relation = 'upstream'"
            )
        }
        return found

    def _has_from_start(self, row: Row, tree: str) -> bool:
        """Whether a tree has the commit itself, or may have it: it was upstream before the tree."""
        commit = self._needs.graph.commits.get(row.sha or "")
        number = rank(tree)
        if commit is not None:
            if commit.place is not None and commit.place in self._places.stable.get(tree, ()):
                return True
            first = self._needs.contents.first_version(commit)
            if first is not None and number is not None:
                return first <= number
            if self._places.stable.get(tree) and commit.place is not None:
                return False
        begin = self._trees.first_releases.get(tree)
        times = [event.timestamp for event in row.events if event.timestamp is not None]
        return begin is None or not times or min(times) < begin

    # -- delays ---------------------------------------------------------------------------

    def _note_delays(self, rows: Sequence[Row]) -> None:
        asked: dict[object, str] = {}
        for message, after in self._archive.execute(
            "SELECT message, after FROM stable_note WHERE after IS NOT NULL"
        ):
            asked[message] = after
        for sha, after in self._archive.execute(
            "SELECT c.sha, n.after FROM git_stable_note AS n JOIN git_commit AS c"
            " ON c.id = n.git_commit WHERE n.after IS NOT NULL"
        ):
            asked[sha] = after
        if not asked:
            return
        for row in rows:
            named = [row.sha, *(event.message for event in row.events if event.message)]
            after = next((asked[name] for name in named if name in asked), None)
            if after is not None:
                row.notes.append(self._delay(row, after))

    def _delay(self, row: Row, after: str) -> str:
        words = f"delay asked for (after {after})"
        due = self._due(row, after)
        if due is None:
            return words
        day = datetime.fromtimestamp(due, UTC).date().isoformat()
        return f"{words}: {'due since' if due <= self._as_of else 'not due before'} {day}"

    def _due(self, row: Row, after: str) -> int | None:
        """When a delay is over: a time after the commit, or when a candidate was tagged."""
        commit = self._needs.graph.commits.get(row.sha or "")
        span = _SPAN.search(after)
        if span is not None:
            start = commit.time if commit is not None and commit.id else None
            number = _WORDS.get(span[1].lower()) or int(span[1])
            days = number * _DAYS[span[2].lower()]
            return None if start is None else start + int(timedelta(days=days).total_seconds())
        candidate = _CANDIDATE.search(after)
        if candidate is not None:
            version = candidate[1] or self._cycle_of(commit.place if commit else None)
            return self._tags.get(f"{version}-rc{candidate[2]}") if version else None
        return None

    def _cycle_of(self, place: int | None) -> str | None:
        first = self._places.first_version.get(place or 0)
        return None if first is None else f"{first // 1_000_000}.{first // 1000 % 1000}"


def newer_trees(
    trees: Trees, places: GitPlaces, tree: str, as_of: int, tags: dict[str, int]
) -> list[str]:
    """Return the trees above ``tree`` that are maintained on a day, newest first.

    Of the kernel's the longterm trees and the newest one; of other projects those of
    the same repository that had a release not long ago.
    """
    number = rank(tree)
    if number is None or "-" in tree:
        return []
    if tree in trees.longterm or tree in trees.first_releases:
        begun = [
            name
            for name in {*trees.first_releases, *trees.longterm}
            if trees.first_releases.get(name, 0) <= as_of
        ]
        latest = newest_first(begun)[:1]
        found: Iterable[str] = [
            name
            for name in begun
            if name in latest
            or (name in trees.longterm and (trees.longterm[name] or as_of) >= as_of)
        ]
    else:
        last: dict[str, int] = {}
        for name, time in tags.items():
            version = parse_version(name)
            if version is not None and time <= as_of:
                last[version.tree] = max(last.get(version.tree, 0), time)
        found = [
            name
            for name in places.siblings
            if "-" not in name and last.get(name, 0) >= as_of - _KEPT
        ]
    return newest_first(name for name in found if (rank(name) or 0) > number)

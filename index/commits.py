"""The mails that name a commit: in any way, by one relation, or by a cherry-pick's line."""

from __future__ import annotations

from collections.abc import Sequence

from patchlore.index.tables import Tables, hex_condition
from patchlore.kb.columns import json_list
from patchlore.kb.reading import gcc_commit_condition, is_gcc_commit


class Commits(Tables):
    """Looks up what names commits, in an archive."""

    def find(self, value: str, relations: Sequence[str] = ()) -> set[int]:
        """The messages that name a commit by one of RELATIONS; without, in any way.

        A hash means what begins with it and what it begins with; ``r12-7719`` and
        ``g:8ca61ad148f`` are commits of GCC.  Raises FactError for what is neither.
        """
        gcc: set[int] = set()
        if not relations:
            condition, parameters = gcc_commit_condition(value)
            gcc = self._set(f"SELECT message FROM gcc_commit WHERE {condition}", parameters)
            if is_gcc_commit(value):
                return gcc
        condition, parameters = hex_condition("sha", value)
        sql = f"SELECT message FROM commit_ref WHERE {condition}"
        if relations:
            sql += " AND relation IN (SELECT value FROM json_each(?))"
            parameters.append(json_list(relations))
        return self._set(sql, parameters) | gcc

    def cherry_picks(self, value: str) -> set[int]:
        """The messages that say "(cherry picked from commit VALUE)" of a commit.

        The table keeps one form for a commit, that of the line that stands first.  A backport may
        have "commit … upstream." above and git's line below: the evidence has both.
        """
        condition, parameters = hex_condition("sha", value)
        found: set[int] = set()
        for message, kind in self._archive.execute(
            f"SELECT DISTINCT message, kind FROM commit_ref WHERE {condition}"
            " AND relation = 'upstream' AND kind IN ('cherry-pick', 'backport', 'partial')",
            parameters,
        ).fetchall():
            if kind == "cherry-pick" or self._says_picked(message, value.lower()):
                found.add(message)
        return found

    def _says_picked(self, message: int, sha: str) -> bool:
        return any(
            proof.rule == "cherry-picked"
            and proof.fact == "upstream_commits"
            and (proof.value.startswith(sha) or sha.startswith(proof.value))
            for proof in self._archive.message(message).evidence
        )

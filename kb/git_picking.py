"""``Commits``: what is asked of many commits of a repository, each thing by one run of git."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from patchlore.kb.git_scratch import Scratch

_FOOTER = re.compile(r"[A-Za-z0-9-]{1,60}: \S|\(cherry picked from commit ")


class Commits:
    """Commits by the names that lists have for them, and whether a base has them already."""

    def __init__(self, scratch: Scratch, names: Iterable[str]) -> None:
        """Look the names up (ids, whole or abbreviated); raises GitTreeError."""
        self._scratch = scratch
        self._whole = _whole(scratch, list(dict.fromkeys(names)))
        self._parents = _parents(scratch, set(self._whole.values()))

    def whole(self, name: str) -> str | None:
        """Return the whole id of a commit that the repository has, None for any other name."""
        return self._whole.get(name)

    @functools.cached_property
    def present(self) -> frozenset[str]:
        """The commits that are in the base."""
        return frozenset(self._parents) - _missing(self._scratch, self._parents)

    def parents(self, commit: str) -> list[str]:
        """Return the parents of a commit that the repository has."""
        return self._parents[commit]

    def is_reverted(self, commit: str) -> bool:
        """Whether the history of the base says that it reverts a commit, later than that."""
        found = self._scratch.out(
            "rev-list", "-1", "--fixed-strings", f"--grep=This reverts commit {commit[:12]}",
            self._scratch.base, f"^{commit}",
        )  # fmt: skip
        return bool(found)

    def pick(self, commit: str) -> tuple[str, tuple[str, str, str]]:
        """Return what git cherry-pick -x makes of a commit: message; name, address, date."""
        name, address, date, message = self._texts[commit]
        message = message.strip("\n")
        last = message.rpartition("\n\n")[2].split("\n")
        # git puts the line into a block of trailers, else into a paragraph of its own.
        is_block = "\n\n" in message and all(_FOOTER.match(line) for line in last)
        line = f"(cherry picked from commit {commit})"
        gap = "\n" if is_block else "\n\n"
        return f"{message}{gap}{line}\n", (name or "unknown", address, f"@{date}")

    @functools.cached_property
    def _texts(self) -> dict[str, tuple[str, str, str, str]]:
        wanted = "".join(f"{commit}\n" for commit in self._parents)
        printed = self._scratch.git(
            "log", "--no-walk=unsorted", "--no-show-signature", "--encoding=UTF-8", "-z",
            # A commit can hold no NUL: each has five fields, the last one empty.
            "--format=%H%x00%an%x00%ae%x00%ad%x00%B%x00", "--date=raw", "--stdin",
            data=wanted.encode("ascii"),
        ).stdout.decode("utf-8", "replace") if wanted else ""  # fmt: skip
        fields = printed.split("\x00")
        return {
            fields[n]: (fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4])
            for n in range(0, len(fields) - 5, 6)
        }


def _whole(scratch: Scratch, names: list[str]) -> dict[str, str]:
    asked = [name for name in names if re.fullmatch(r"[0-9a-f]{7,64}", name)]
    answers = scratch.git(
        "cat-file", "--batch-check", data="".join(f"{name}^{{commit}}\n" for name in asked).encode()
    ).stdout.decode("ascii", "replace")
    found = {}
    for name, answer in zip(asked, answers.split("\n"), strict=False):
        words = answer.split(" ")
        if len(words) == 3 and words[1] == "commit":
            found[name] = words[0]
    return found


def _parents(scratch: Scratch, commits: set[str]) -> dict[str, list[str]]:
    """The parents of each commit."""
    asked = "".join(f"{commit}\n" for commit in sorted(commits)).encode("ascii")
    lines = (
        scratch.out("rev-list", "--no-walk", "--parents", "--stdin", data=asked) if asked else ""
    )
    found = (line.split(" ") for line in lines.split("\n") if line)
    return {commit: parents for commit, *parents in found}


def _missing(scratch: Scratch, commits: Iterable[str]) -> frozenset[str]:
    """The commits that are not in the base."""
    asked = "".join(f"{commit}\n" for commit in sorted(commits))
    if not asked:
        return frozenset()
    asked += f"^{scratch.base}\n"
    found = scratch.out("rev-list", "--stdin", data=asked.encode("ascii")).split("\n")
    return frozenset(found).intersection(commits)

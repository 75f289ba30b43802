"""What of a backport list may be asked for: one table for the command, the API and MCP.

Nothing is imported that costs time: the command line reads it before it knows its command.
"""

from __future__ import annotations

from typing import NamedTuple


class Choice(NamedTuple):
    """Something to ask for: its name as an option, and what is said of it."""

    name: str
    help: str
    #: What stands for its value; None for what is only wanted or not.
    metavar: str | None = None
    #: The values that it can have, where these are few.
    among: tuple[str, ...] = ()
    is_several: bool = False

    @property
    def key(self) -> str:
        """The name where no dash may be: of a parameter, of an attribute."""
        return self.name.replace("-", "_")


CHOICES = (
    Choice("state", "states to show, separated by commas, or 'all'", "LIST"),
    Choice(
        "missing-fixes",
        "only fixes and reverts of commits that the tree has, where it lacks them",
    ),
    Choice("from", "only what the tree A has and TREE has not", "A"),
    Choice("to", "with --from: another way to name TREE", "B"),
    Choice("as-of", "judge delays and supported trees by that day, not today", "DATE"),
    Choice("since", "only what is new or changed its state since", "DATE"),
    Choice(
        "path",
        "only what touches such a file or folder, as git takes paths; may be repeated",
        "GLOB",
        is_several=True,
    ),
    Choice("author", "only patches by this name or address", "WHO"),
    Choice("cve", "only what mails connect with this CVE", "ID"),
    Choice("pr", "only what is about this GCC bug", "NUMBER"),
    Choice("autosel", "only what AUTOSEL picked"),
    Choice(
        "evidence",
        "only rows proved at least so well",
        "LEVEL",
        among=("certain", "high", "medium", "low"),
    ),
)

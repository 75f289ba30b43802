"""What was asked for of a backport list, read and checked: the values of patchlore.kb.choices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from patchlore.kb.backports import STATES, Row, backports
from patchlore.kb.choices import CHOICES
from patchlore.kb.comparing import compare
from patchlore.kb.dates import parse_since
from patchlore.kb.errors import UsageError
from patchlore.kb.filtering import Filters
from patchlore.kb.pathspec import Pathspec
from patchlore.kb.reading import Bug, parse_bug
from patchlore.kb.store import Archive
from patchlore.kb.versions import tree_name


class Asked(Struct, kw_only=True):
    """A question about the list of a tree."""

    tree: str
    #: The tree whose commits are looked for in ``tree``; None for the list of ``tree``.
    over: str | None
    #: None for all.
    states: tuple[str, ...] | None
    as_of: int | None
    missing_fixes: bool
    filters: Filters

    @property
    def trees(self) -> list[str]:
        """The trees that have to be known."""
        return [self.tree] if self.over is None else [self.tree, self.over]

    def rows(self, archive: Archive, *, of_all_states: bool = False) -> list[Row]:
        """Return the rows before ``filters`` choose: of the states, or of all."""
        states = None if of_all_states else self.states
        if self.over is None:
            return backports(
                archive,
                self.tree,
                states=states,
                as_of=self.as_of,
                missing_fixes=self.missing_fixes,
            )
        rows = compare(archive, self.over, self.tree, as_of=self.as_of)
        return [row for row in rows if states is None or row.state in states]


def read_asked(values: Mapping[str, object], open_states: Sequence[str] | None = None) -> Asked:
    """Return what values ask for, by the keys of CHOICES and ``tree``; None is not given.

    ``open_states`` are those that are taken where none is named, None for all.  Raises
    UsageError, and DateError for a text that is no date.
    """
    given = {key: value for key, value in values.items() if value not in (None, False, [])}
    over, path = _text(given, "from"), given.get("path")
    if isinstance(path, str | list):
        Pathspec([path] if isinstance(path, str) else path)  # a mistake is told before all else
    if open_states is not None and over is not None:
        # Nobody may have asked for it in this tree.
        open_states = (*open_states, "failed", "unknown")
    evidence = _text(given, "evidence")
    levels = next(choice.among for choice in CHOICES if choice.name == "evidence")
    if evidence is not None and evidence not in levels:
        raise UsageError(f"evidence is {', '.join(levels[:-1])} or {levels[-1]}.")
    since, as_of = (_text(given, key) for key in ("since", "as_of"))
    return Asked(
        tree=_tree(given),
        over=over,
        states=_states(given, open_states),
        as_of=None if as_of is None else parse_since(as_of),
        missing_fixes="missing_fixes" in given,
        filters=Filters(
            since=None if since is None else parse_since(since),
            path=path,  # type: ignore[arg-type]
            author=_text(given, "author"),
            cve=_cve(given),
            bug=_bug(given),
            autosel="autosel" in given,
            evidence=evidence,  # type: ignore[arg-type]
        ),
    )


def _text(given: Mapping[str, object], key: str) -> str | None:
    value = given.get(key)
    return None if value is None else str(value)


def _tree(given: Mapping[str, object]) -> str:
    """The one name of the tree that the list is of."""
    tree, over, to = (_text(given, key) for key in ("tree", "from", "to"))
    if to is not None and over is None:
        raise UsageError(
            "--to goes with --from: --from 5.10 --to 6.1 is what 5.10 has and 6.1 has not."
        )
    if to is not None and tree is not None:
        raise UsageError("name the tree once: as TREE or with --to.")
    if over is not None and "missing_fixes" in given:
        raise UsageError("--missing-fixes is about one tree; --from compares two.")
    if (name := to or tree) is None:
        raise UsageError("name a tree, for instance 'patchlore backports 5.10'.")
    return tree_name(name)


def _states(
    given: Mapping[str, object], open_states: Sequence[str] | None
) -> tuple[str, ...] | None:
    text = _text(given, "state")
    if text is None:
        return None if open_states is None else tuple(open_states)
    states = tuple(word.strip() for word in text.split(",") if word.strip())
    if not states or any(word not in (*STATES, "all") for word in states):
        raise UsageError(f"there is no state '{text}': use {', '.join(STATES)} or all.")
    return None if "all" in states else states


def _cve(given: Mapping[str, object]) -> str | None:
    text = _text(given, "cve")
    if text is None:
        return None
    name = text.strip().upper()
    name = name if name.startswith("CVE-") else f"CVE-{name}"
    if re.fullmatch(r"CVE-\d{4}-\d{4,19}", name, re.ASCII) is None:
        raise UsageError(f"{text} is no CVE: write CVE-2024-12345.")
    return name


def _bug(given: Mapping[str, object]) -> Bug | None:
    text = _text(given, "pr")
    bug = None if text is None else parse_bug(text)
    if text is not None and bug is None:
        raise UsageError(f"{text} is no bug number: write 83356, PR83356 or target/89587.")
    return bug

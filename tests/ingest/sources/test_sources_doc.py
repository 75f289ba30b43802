"""docs/sources.md is true: its tables name every format, with its fidelity."""

from __future__ import annotations

import re
from pathlib import Path

from patchlore.ingest.detect import FORMATS, format_names

TEXT = (Path(__file__).parents[3] / "docs/sources.md").read_text(encoding="utf-8")
FIDELITIES = {"exact", "rewritten", "masked", "flattened"}


def rows() -> dict[str, list[str]]:
    """The rows of the tables of formats, by the name in their first cell."""
    found: dict[str, list[str]] = {}
    for line in TEXT.splitlines():
        match = re.match(r"\| `([a-z0-9-]+)` \| (.*) \|$", line)
        if match is not None and match[1] not in FIDELITIES:
            assert match[1] not in found
            found[match[1]] = match[2].split(" | ")
    return found


def test_every_format_has_a_row() -> None:
    """And no row names a format that there is not."""
    assert set(rows()) == set(format_names())


def test_formats_without_mail_are_explained() -> None:
    """They are in the table of the program, too."""
    for form in FORMATS:
        assert f"`{form.name}`" in TEXT


def test_fidelities_are_those_of_the_program() -> None:
    """The fourth cell of a row names the fidelity that the format's mails have."""
    named = rows()
    for form in FORMATS:
        if form.name in named and isinstance(form.fidelity, str):
            assert form.fidelity in named[form.name][2], form.name

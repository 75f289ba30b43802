"""Formats of backport lists: each is a module with a ``write`` function and a line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import BinaryIO, cast

from patchlore.kb.backports import Row
from patchlore.kb.store import Archive

#: Writes rows of a list of a tree; returns notes for a person (what was left out and why).
Write = Callable[[Archive, str, Sequence[Row], BinaryIO], list[str]]

#: Format to its module.
FORMATS = {
    "text": "plain",
    "json": "jsonl",
    "csv": "table",
    "ids": "ids",
    "mbox": "mbox",
}

#: Formats for people: they show every state unless told otherwise.
FOR_PEOPLE = frozenset({"text", "json", "csv"})


def writer(name: str) -> Write:
    """Return the function that writes the format called ``name``; raises KeyError."""
    module = importlib.import_module(f"patchlore.kb.export.{FORMATS[name]}")
    return cast(Write, module.write)

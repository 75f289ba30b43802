"""Formats of backport lists: each is a module with a function that writes, and a line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import BinaryIO, cast

from patchlore.kb.backports import Row
from patchlore.kb.store import Archive

#: Writes rows of a list of a tree; returns notes for a person (what was left out and why).
Write = Callable[[Archive, str, Sequence[Row], BinaryIO], list[str]]

#: Makes the files of a folder (name, content) of the rows of a list; and notes, as above.
MakeFiles = Callable[[Archive, str, Sequence[Row]], tuple[list[tuple[str, bytes]], list[str]]]

#: Format to its module.
FORMATS = {
    "text": "plain",
    "md": "markdown",
    "html": "html",
    "csv": "table",
    "json": "jsonl",
    "ids": "ids",
    "cherry-pick": "cherry_pick",
    "mbox": "mbox",
    "quilt": "quilt",
    "stable-queue": "stable_queue",
    "git-fixes": "git_fixes",
    "dyad": "dyad",
    "debian": "debian",
    "cip": "cip",
    "mail": "mail",
}

#: Formats for people: they show every state unless told otherwise.
FOR_PEOPLE = frozenset({"text", "md", "html", "csv", "json"})

#: Formats that are a folder of files: their modules have ``files``, the others ``write``.
FOLDERS = frozenset({"quilt", "stable-queue", "debian", "cip"})


def writer(name: str) -> Write:
    """Return the function that writes the format called ``name``; raises KeyError."""
    return cast(Write, _module(name).write)


def file_maker(name: str) -> MakeFiles:
    """Return the function that makes the files of a format of FOLDERS; raises KeyError."""
    return cast(MakeFiles, _module(name).files)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"patchlore.kb.export.{FORMATS[name]}")

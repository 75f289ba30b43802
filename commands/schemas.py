"""What ``--json`` prints, as JSON Schema (docs/schema): made from the types that are printed."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import msgspec
from msgspec import Struct

from patchlore.index.facets import Facets
from patchlore.kb.dossiers.bugs import BugCount, BugDossier
from patchlore.kb.dossiers.commits import Candidate, CommitDossier
from patchlore.kb.dossiers.compilers import Workaround
from patchlore.kb.dossiers.cves import CveCommit, CveDossier
from patchlore.kb.dossiers.files import FileDossier
from patchlore.kb.dossiers.gcc_commits import GccCommitDossier
from patchlore.kb.dossiers.people import PersonDossier
from patchlore.kb.outcomes import Override, Tried
from patchlore.kb.review import Review

#: Raised whenever a field changes its meaning or goes away; fields may be added.
VERSION = 1


class PrintedEvent(Struct, kw_only=True):
    """An event of a backport as ``event_object`` of kb/export/jsonl.py makes it."""

    event: str
    tree: str
    words: str
    date_iso: str | None
    by: str | None
    author: str | None
    version: int | None
    index: int | None
    total: int | None
    release: str | None
    applicable: bool
    message_id: str | None
    evidence: dict[str, Any]


class PrintedEvidence(Struct, kw_only=True):
    """The line that proves a state: of a mail, a commit's message or a person's file."""

    message_id: str | None
    commit: str | None = None
    file: str | None = None
    line: int | None
    text: str | None
    rule: str | None
    confidence: str


class PrintedRequirement(Struct, kw_only=True):
    """A commit that has to be in the tree first; ``present``: null where that can't be told."""

    sha: str
    subject: str | None
    why: str
    present: bool | None


class PrintedRow(Struct, kw_only=True):
    """A row of a backport list as ``as_object`` of kb/export/jsonl.py makes it."""

    schema: int
    tree: str
    upstream_commit: str | None
    subject: str | None
    state: str
    state_before: str | None = None
    reason: str
    date_iso: str | None
    index: int | None
    total: int | None
    message_id: str | None
    evidence: PrintedEvidence
    requires: list[PrintedRequirement]
    notes: list[str]
    override: Override | None
    tried: Tried | None
    events: list[PrintedEvent]


class PrintedTree(Struct, kw_only=True):
    """The state of a commit in a tree, and its events there."""

    tree: str
    state: str
    reason: str
    events: list[PrintedEvent]


class Ambiguous(Struct, kw_only=True):
    """What ``commit`` prints when several commits begin with what was asked for."""

    ambiguous: str
    candidates: list[Candidate]


def _with_printed_trees(original: type[Struct], name: str, changed: dict[str, Any]) -> type[Struct]:
    """A type like ORIGINAL whose fields named in CHANGED have another type."""
    fields = [
        (field.name, changed.get(field.name, field.type))
        if field.required
        else (field.name, changed.get(field.name, field.type), msgspec.field(default=None))
        for field in msgspec.structs.fields(original)
    ]
    return msgspec.defstruct(name, fields, kw_only=True, namespace={"__doc__": original.__doc__})


PrintedCommit = _with_printed_trees(CommitDossier, "CommitDossier", {"trees": list[PrintedTree]})
_PrintedCveCommit = _with_printed_trees(CveCommit, "CveCommit", {"trees": list[PrintedTree]})
PrintedCve = _with_printed_trees(
    CveDossier,
    "CveDossier",
    {"commits": list[_PrintedCveCommit]},  # type: ignore[valid-type]  # made above, at run time
)

#: What each command prints with --json: an object, or one on each line.
TYPES: dict[str, Any] = {
    "pr": BugDossier,
    "prs": BugCount,
    "prs-older-than": Workaround,
    "commit": PrintedCommit,
    "commit-of-gcc": GccCommitDossier,
    "commit-ambiguous": Ambiguous,
    "cve": PrintedCve,
    "backports": PrintedRow,
    "file": FileDossier,
    "person": PersonDossier,
    "review": Review,
    "search-facets": Facets,
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the schema of what a command prints."""
    schemas, components = msgspec.json.schema_components(
        [TYPES[name]], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"patchlore:{name}:{VERSION}",
        **schemas[0],
        "$defs": components,
    }


def write_schemas(folder: pathlib.Path) -> None:
    """Write the schema of each command into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TYPES:
        text = json.dumps(schema_of(name), indent=1, ensure_ascii=False, sort_keys=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_schemas(pathlib.Path(sys.argv[1]))

"""The mails that name a commit of GCC: by its number (``r12-7719``) or by its hash."""

from __future__ import annotations

import re

from msgspec import Struct

from patchlore.ingest.message import Confidence
from patchlore.kb.errors import NotFoundError
from patchlore.kb.reading import Brief, briefs, gcc_commit_condition
from patchlore.kb.store import Archive

#: More mails than this are not decoded for their lines.
_MOST_DECODED = 500


class GccNaming(Struct, kw_only=True):
    """A mail that names the commit, the name as it stands there (without ``g:``), and the line."""

    message: Brief
    name: str
    line: int | None
    text: str | None
    rule: str | None
    confidence: Confidence


class GccCommitDossier(Struct, kw_only=True):
    """The mails that name a commit of GCC, the oldest first: in short, and each with its line."""

    gcc_commit: str
    messages: list[Brief]
    namings: list[GccNaming]


def gcc_commit_dossier(archive: Archive, name: str) -> GccCommitDossier:
    """Return the mails that name a commit of GCC; raises NotFoundError when none does.

    NAME is ``r12-7719`` (also with the ``-g8ca61ad148f`` of ``git describe``), ``r161328``, or a
    hash of seven or more digits, with or without ``g:``.
    """
    name = re.sub(r"\s", "", name)
    condition, parameters = gcc_commit_condition(name)
    rows = archive.execute(
        f"SELECT message, name FROM gcc_commit WHERE {condition}", parameters
    ).fetchall()
    if not rows:
        raise NotFoundError(f"No mail in the archive names the commit {name} of GCC.")
    shown = briefs(archive, (message for message, _ in rows))
    rows.sort(key=lambda row: (shown[row[0]].timestamp or 0, row[0]))
    namings = [
        _naming(archive, shown[id_], written, read=place < _MOST_DECODED)
        for place, (id_, written) in enumerate(rows)
    ]
    return GccCommitDossier(
        gcc_commit=name,
        messages=list({one.message.id: one.message for one in namings}.values()),
        namings=namings,
    )


def _naming(archive: Archive, brief: Brief, name: str, *, read: bool) -> GccNaming:
    proofs = archive.message(brief.id).evidence if read else []
    proof = next(
        (
            one
            for one in proofs
            if one.fact == "gcc_commits"
            and (one.value == name or one.text.lower().endswith(f"-g{name}"))
        ),
        None,
    )
    return GccNaming(
        message=brief,
        name=name,
        line=proof.line if proof else None,
        text=proof.text if proof else None,
        rule=proof.rule if proof else None,
        confidence=proof.confidence if proof else "certain",
    )

"""Patches that are no mails: bare diffs, quilt, DEP-3 and ``#DP`` headers, ``hg export``."""

from __future__ import annotations

import re

from patchlore.ingest.raw import Fidelity

_MARK = re.compile(
    rb"^(?:diff --(?:git|cc|combined) \S"
    rb"|# HG changeset patch"
    rb"|Index: [^\n]{1,500}\n={20}"
    rb"|--- [^\n]{1,500}\n\+\+\+ \S"
    rb"|\*\*\* [^\n]{1,500}\n--- \S"
    rb"|@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@"
    rb"|diff -\S)",
    re.M,
)


#: Fields that SUSE adds to the headers of a mail, whose References it overwrites.
_REWORKED = re.compile(rb"^(?:Git-commit|Alt-commit|Patch-mainline):", re.I | re.M)


def mail_or_patch(data: bytes) -> Fidelity:
    """The fidelity of a mail in a file: a distribution's patch is a mail that was reworked."""
    head = data[: max(data.find(b"\n\n"), 0) or 8000][:8000]
    return "rewritten" if _REWORKED.search(head) else "exact"


def looks_like_patch(head: bytes) -> bool:
    """Whether HEAD has the first lines of a diff, at its start or below a lead of any text."""
    return _MARK.search(head.replace(b"\r\n", b"\n")) is not None

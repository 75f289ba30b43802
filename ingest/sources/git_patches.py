"""Patches that are no mails: bare diffs, quilt, DEP-3 and ``#DP`` headers, ``hg export``."""

from __future__ import annotations

import re

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


def looks_like_patch(head: bytes) -> bool:
    """Whether HEAD has the first lines of a diff, at its start or below a lead of any text."""
    return _MARK.search(head.replace(b"\r\n", b"\n")) is not None

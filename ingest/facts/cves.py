"""CVE numbers in the subject and in the author's own text."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context

_CVE = re.compile(r"\bCVE[-‐‑–](\d{4})[-‐‑–](\d{4,7})\b", re.I)


def find(context: Context) -> None:
    """Fill ``cves``, each once, in order of appearance."""
    message = context.message
    subject = message.subject or ""
    if "cve" not in context.words and "CVE" not in subject:
        return
    found: dict[str, None] = {}
    for index, line in [(-1, subject), *context.own_lines]:
        if "cve" not in line.lower():
            continue
        for match in _CVE.finditer(line):
            name = f"CVE-{match[1]}-{match[2]}"
            if name not in found:
                found[name] = None
                context.note("cves", name, index, "cve-number", text=match[0])
    message.cves = list(found)

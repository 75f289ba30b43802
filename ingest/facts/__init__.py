"""One module per kind of fact. FINDERS is the table: a new kind is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable

from patchlore.ingest.facts import (
    applied,
    bug_mails,
    bug_records,
    bugs,
    commands,
    compilers,
    cve_records,
    cves,
    dependencies,
    fixes,
    heads,
    links,
    mentions,
    notices,
    patch_headers,
    reports,
    reverts,
    robots,
    stable_notes,
    trailers,
    upstream,
)
from patchlore.ingest.facts.context import Context

#: In this order: a finder may claim lines that later ones then leave alone
#: (the "commit X upstream." inside "This reverts commit Y, which is …").
FINDERS: tuple[Callable[[Context], None], ...] = (
    trailers.find,
    fixes.find,
    links.find,
    reverts.find,
    stable_notes.find,
    upstream.find,
    bugs.find,
    bug_records.find,
    bug_mails.find,
    cves.find,
    patch_headers.find,
    cve_records.find,
    dependencies.find,
    notices.find,
    reports.find,
    robots.find,
    commands.find,
    applied.find,
    mentions.find,
    compilers.find,
    heads.find,
)

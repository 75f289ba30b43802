"""What distributions write into the header block of a patch that is kept as a mail.

SUSE's kernel-source (its README and scripts/check-patchhdr): ``Git-commit:``,
``Alt-commit:``, ``Patch-mainline:``, and ``References:`` with bugs and CVEs
where a mail has Message-IDs. The same fields in a body: upstream.py.
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import OtherBug, UpstreamRef

_COMMIT = re.compile(r"([0-9a-f]{7,40})(?![0-9a-z])(?:[ \t]*\((partial)\))?", re.I)
_RELEASE = re.compile(r"(v\d{1,2}\.\d{1,3}(?:\.\d{1,3})?(?:-rc\d{1,2})?)(?![\w.])")
_NEVER = re.compile(r"never\b|no\b|not applicable", re.I)
_SUSE = re.compile(r"\b(?:bsc|bnc|boo)#(\d{4,8})", re.I)
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,9}", re.I)
_IN_ANGLES = re.compile(r"<[^<>]{0,990}>")
_FORMS = {"git-commit": "git-commit", "alt-commit": "alt-commit"}


def find(context: Context) -> None:
    """Add what such fields say to upstream commits, bugs and CVEs; ``mainline_tag``."""
    for name, value in context.mail.headers:
        if name[:1] not in "AaGgPpRr":
            continue
        lowered = name.lower()
        if lowered in _FORMS:
            _commit(context, _FORMS[lowered], name, value)
        elif lowered == "patch-mainline":
            _mainline(context, name, value)
        elif lowered == "references" and ("#" in value or "CVE" in value):
            _references(context, name, value)


def _commit(context: Context, form: str, name: str, value: str) -> None:
    found = _COMMIT.match(value)
    if found is None or found[1].isdigit():
        return
    message = context.message
    sha = found[1].lower()
    if sha not in message.upstream_commits:
        relation = "partial" if found[2] else "backport"
        message.upstream_commits.append(sha)
        message.upstream_refs.append(UpstreamRef(sha=sha, form=form, relation=relation))
    if message.primary_upstream is None:
        message.primary_upstream = sha
    context.note("upstream_commits", sha, -1, form, text=f"{name}: {value}")


def _mainline(context: Context, name: str, value: str) -> None:
    """The release that has the commit, or that mainline will never have it."""
    message = context.message
    release = _RELEASE.match(value)
    if release is not None and message.mainline_tag is None:
        message.mainline_tag = release[1]
        context.note("mainline_tag", release[1], -1, "patch-mainline", text=f"{name}: {value}")
    elif release is None and _NEVER.match(value):
        message.not_upstream = True
        context.note("not_upstream", "true", -1, "patch-mainline", text=f"{name}: {value}")


def _references(context: Context, name: str, value: str) -> None:
    """Bugs of SUSE's tracker and CVEs: ``References: bsc#1201705 CVE-2031-40001``."""
    message = context.message
    known = {(bug.tracker, bug.number) for bug in message.other_prs}
    for found in _SUSE.finditer(value[:4000]):
        number = int(found[1])
        if ("suse", number) not in known:
            known.add(("suse", number))
            message.other_prs.append(OtherBug(tracker="suse", number=number))
        context.note("other_prs", number, -1, "references-field", text=f"{name}: {value}")
    for found in _CVE.finditer(_IN_ANGLES.sub("", value[:4000])):
        cve = found[0].upper()
        if cve not in message.cves:
            message.cves.append(cve)
        context.note("cves", cve, -1, "references-field", text=f"{name}: {value}")

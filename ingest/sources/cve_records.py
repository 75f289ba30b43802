"""CVE records of the kernel: JSON (CVE 5) and dyad files of the vulns repository.

https://git.kernel.org/pub/scm/linux/security/vulns.git has three files for
each: the record, the announcement as a mailbox (read as mail), and the pairs
of versions and commits. A record becomes a mail in the announcement's form,
so that facts/cve_records.py reads all three alike and shows its evidence.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from patchlore.ingest.headers import one_line
from patchlore.ingest.mail import Mail
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.documents import load_json, texts, whole_document
from patchlore.ingest.sources.items import Problem
from patchlore.ingest.sources.page import page_mail
from patchlore.ingest.sources.window import Window

#: Message-IDs that are made up end so (RFC 2606): no mail has them.
MADE_UP = "cve.kernel.org.invalid"
_DYAD_LINE = re.compile(
    rb"^\d[\w.-]{0,20}:[0-9a-f]{1,40}:\d[\w.-]{0,20}:(?:[0-9a-f]{40}|0)\s{0,2}$", re.M
)
_DYAD_HEAD = re.compile(rb"#\s{0,4}(?:dyad version:|CVE-)")
_CVE = re.compile(r"CVE-\d{4}-\d{4,9}")
_LIMIT = 2000


def looks_like_cve_json(head: bytes) -> bool:
    """Whether HEAD begins a CVE record of version 5; its keys come in any order."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return False
    if b'"containers"' in start[:2000] and b'"cna"' in start[:4000]:
        return True
    return b'"CVE_RECORD"' in start[:4000]


def looks_like_dyad(head: bytes) -> bool:
    """Whether HEAD is a dyad file: comments, then ``version:sha:version:sha`` lines."""
    if _DYAD_HEAD.match(head) is None:
        return False
    return b"# dyad version:" in head[:200] or _DYAD_LINE.search(head[:4000]) is not None


def split_dyad(window: Window, path: str, list_name: str | None) -> Iterator[Raw | Problem]:
    """The file as it is, below a line with the CVE that only its name has."""
    data, cut = whole_document(window)
    if cut:
        yield Problem(path, 0, f"{path}: {cut}")
    name = _CVE.search(posixpath.basename(path))
    if name is not None and not data.startswith(b"# CVE-"):
        data = f"# {name[0]}\n".encode() + data
    yield Raw(
        data=data, source=Source(path=path, format="cve-dyad", fidelity="rewritten", list=list_name)
    )


def read_dyad(raw: Raw) -> Mail:
    """The mail of a dyad file; a Message-ID is made up of the CVE's name."""
    body = raw.data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\x00", "\ufffd")
    name = _CVE.search(body[:200])
    headers = []
    if name is not None:
        headers = [("Message-ID", f"<{name[0]}.dyad@{MADE_UP}>"), ("Subject", name[0])]
    return page_mail(headers, body)


def read_cve_json(raw: Raw) -> Mail:
    """The mail of a record, in the form of its announcement."""
    record, defects = load_json(raw.data)
    meta = _dict(record.get("cveMetadata"))
    cna = _dict(_dict(record.get("containers")).get("cna"))
    name = _CVE.match(str(meta.get("cveId", "")))
    rejected = str(meta.get("state", "")).upper() == "REJECTED"
    title = one_line(str(cna.get("title") or ""))[:_LIMIT]
    headers = []
    if name is not None:
        headers.append(("Message-ID", f"<{name[0]}.json@{MADE_UP}>"))
        subject = f"{name[0]}: {title}" if title else name[0]
        headers.append(("Subject", f"REJECTED: {subject}" if rejected else subject))
    for field in ("datePublished", "dateUpdated", "dateReserved"):
        if isinstance(meta.get(field), str):
            headers.append(("Date", meta[field][:40]))
            break
    lines = ["Description", "===========", ""]
    told = "descriptions" if "descriptions" in cna else "rejectedReasons"
    for text in texts(cna.get(told), "value"):
        lines.extend([*text.split("\n"), ""])
    lines.extend(["", "Affected and fixed versions", "===========================", ""])
    lines.extend(f"\t{pair}" for pair in _pairs(cna))
    files = list(
        dict.fromkeys(
            one_line(file)
            for affected in _dicts(cna.get("affected"))
            for file in texts(affected.get("programFiles"), None)
        )
    )
    if files:
        lines.extend(["", "", "Affected files", "==============", ""])
        lines.extend(["The file(s) affected by this issue are:", *(f"\t{file}" for file in files)])
    urls = [one_line(url) for url in texts(cna.get("references"), "url")]
    if urls:
        lines.extend(["", "", "References", "==========", "", *(f"\t{url}" for url in urls)])
    body = "\n".join(lines).replace("\x00", "\ufffd") + "\n"
    return page_mail(headers, body, defects=defects)


def _pairs(cna: dict[str, Any]) -> Iterator[str]:
    """A sentence for each pair of commits, as the announcement says it.

    The record names the commits in one list and the versions in another, in
    the same order; where they are not equally many the versions stay unknown.
    """
    commits = [
        version
        for affected in _dicts(cna.get("affected"))
        for version in _dicts(affected.get("versions"))
        if version.get("versionType") == "git" and version.get("status") == "affected"
    ]
    spans = [
        match
        for use in _dicts(cna.get("cpeApplicability"))
        for node in _dicts(use.get("nodes"))
        for match in _dicts(node.get("cpeMatch"))
    ]
    if len(spans) != len(commits):
        spans = [{}] * len(commits)
    for commit, span in zip(commits, spans, strict=True):
        sha = _sha(commit.get("version"))
        fixed = _sha(commit.get("lessThan"))
        if sha is None and fixed is None:
            continue
        since = _version(span.get("versionStartIncluding"))
        until = _version(span.get("versionEndExcluding"))
        sentence = f"Issue introduced{since} with commit {sha}" if sha else ""
        if fixed:
            sentence += f" and fixed{until} with commit {fixed}" if sha else ""
            sentence = sentence or f"Fixed{until} with commit {fixed}"
        yield sentence


def _sha(value: object) -> str | None:
    text = str(value or "").lower()
    return text if re.fullmatch(r"[0-9a-f]{7,40}", text) and set(text) != {"0"} else None


def _version(value: object) -> str:
    text = str(value or "")
    return f" in {text}" if re.fullmatch(r"\d{1,3}(?:\.\d{1,4}){1,3}(?:-rc\d{1,2})?", text) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

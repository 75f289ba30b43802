"""What the kernel's CVE announcements, records and dyad files say: which commit fixes what where.

The announcement (https://docs.kernel.org/process/cve.html) has a sentence for
each pair; a dyad file ``version:sha:version:sha``, with ``0:0`` for what is not
known (in front) or not fixed (behind).
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.message import CvePair, CveRecord

_SUBJECT = re.compile(r"(REJECTED: )?(CVE-\d{4}-\d{4,9})(?:: (.*))?\Z")
_V = r"(\d{1,3}(?:\.\d{1,4}){1,3}(?:-rc\d{1,2})?)"
_C = r"([0-9a-f]{12,40})"
_INTRODUCED = re.compile(
    rf"\s{{0,8}}Issue introduced(?: in {_V})? with commit {_C}"
    rf"(?: and fixed(?: in {_V})? with commit {_C})?\s*$"
)
_FIXED = re.compile(rf"\s{{0,8}}(?:Issue )?[Ff]ixed(?: in {_V})? with commit {_C}\s*$")
_DYAD = re.compile(r"(\d[\w.-]{0,20}):([0-9a-f]{12,40}|0):(\d[\w.-]{0,20}):([0-9a-f]{12,40}|0)\s*$")
_DYAD_NAME = re.compile(r"#\s*(CVE-\d{4}-\d{4,9})\s*$")
_FILES = "The file(s) affected by this issue are:"
_URL = re.compile(r"\t(https?://\S{3,500})\s*$")


def find(context: Context) -> None:
    """Fill ``cve_record`` of an announcement, a record or a dyad file."""
    message = context.message
    if message.source.format == "cve-dyad":
        _read_dyad(context)
        return
    title = message.subject or ""
    subject = _SUBJECT.match(title) if "CVE-" in title else None
    if subject is None or not _is_announcement(context, subject[1] is not None):
        return
    record = CveRecord(id=subject[2], title=subject[3] or None, rejected=subject[1] is not None)
    context.note("cve_record", record.id, -1, "cve-subject", text=message.subject)
    in_files = False
    for index, line in context.own_lines:
        if line.startswith(_FILES):
            in_files = True
        elif in_files and line.startswith("\t"):
            record.files.append(line.strip())
        elif in_files and line.strip():
            in_files = False
        elif "with commit" in line:
            _read_sentence(context, record, index, line)
        elif line.startswith("\thttp"):
            url = _URL.match(line)
            if (
                url
                and not url[1].startswith("https://cve.org/")
                and url[1] not in record.references
            ):
                record.references.append(url[1])
    message.cve_record = record


def _is_announcement(context: Context, rejected: bool) -> bool:
    """An answer to one quotes its sentences or none, and is none itself."""
    if context.message.is_reply:
        return False
    return rejected or "affected and fixed versions" in context.words


def _read_sentence(context: Context, record: CveRecord, index: int, line: str) -> None:
    introduced = _INTRODUCED.match(line)
    if introduced:
        pair = CvePair(
            vulnerable_version=introduced[1],
            vulnerable_sha=introduced[2],
            fixed_version=introduced[3],
            fixed_sha=introduced[4],
        )
    else:
        fixed = _FIXED.match(line)
        if fixed is None:
            return
        pair = CvePair(fixed_version=fixed[1], fixed_sha=fixed[2])
    _add(context, record, pair, index, "cve-sentence")


def _read_dyad(context: Context) -> None:
    record = CveRecord()
    for index, line in enumerate(context.text.lines):
        if line.startswith("#"):
            name = _DYAD_NAME.match(line[:200])
            if name is not None and record.id is None:
                record.id = name[1]
                context.note("cve_record", name[1], index, "cve-file-name")
            continue
        match = _DYAD.match(line[:200])
        if match is None:
            continue
        known = [None if text.strip("0") == "" else text for text in match.groups()]
        pair = CvePair(
            vulnerable_version=known[0],
            vulnerable_sha=known[1],
            fixed_version=known[2],
            fixed_sha=known[3],
        )
        _add(context, record, pair, index, "dyad")
    context.message.cve_record = record


def _add(context: Context, record: CveRecord, pair: CvePair, index: int, rule: str) -> None:
    record.pairs.append(pair)
    value = f"{pair.vulnerable_sha or 0}:{pair.fixed_sha or 0}"
    context.note("cve_record", value, index, rule)

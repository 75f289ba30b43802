"""CVE records: announcements, JSON records and dyad files of the kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.detect import detect
from patchlore.ingest.message import CvePair, Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.reading import read_source
from tests.ingest.letters import OTHER, SHA, THIRD, parse, parse_letter
from tests.ingest.sources.samples import write

SUBJECT = "CVE-2031-40001: lamp: fix a flicker"
PAIRS = [
    CvePair(vulnerable_version="5.10", vulnerable_sha=SHA, fixed_version="6.6.9", fixed_sha=OTHER),
    CvePair(vulnerable_version="5.4.7", vulnerable_sha=THIRD),
]
ANNOUNCEMENT = f"""\
Description
===========

In the Linux kernel, the following vulnerability has been resolved:

lamp: fix a flicker

Affected and fixed versions
===========================

\tIssue introduced in 5.10 with commit {SHA} and fixed in 6.6.9 with commit {OTHER}
\tIssue introduced in 5.4.7 with commit {THIRD}
\tFixed in 6.7-rc1 with commit {SHA}

The official CVE entry at
\thttps://cve.org/CVERecord/?id=CVE-2031-40001
will be updated.

Affected files
==============

The file(s) affected by this issue are:
\tdrivers/lamp/lamp.c
\tdrivers/lamp/glow.c


Mitigation
==========

these commits:
\thttps://git.kernel.org/stable/c/{OTHER}
"""
DYAD = f"# dyad version: 1.2.0\n5.10:{SHA}:6.6.9:{OTHER}\n5.4.7:{THIRD}:0:0\n0:0:6.7:{SHA}\n"
RECORD = {
    "containers": {
        "cna": {
            "title": "lamp: fix a flicker",
            "descriptions": [{"lang": "en", "value": "In the Linux kernel …\n\nlamp"}],
            "affected": [
                {
                    "programFiles": ["drivers/lamp/lamp.c"],
                    "versions": [
                        {"version": SHA, "lessThan": OTHER, "status": "affected",
                         "versionType": "git"},
                        {"version": THIRD, "status": "affected", "versionType": "git"},
                    ],
                },
                {"versions": [{"version": "5.10", "status": "affected"}]},
            ],
            "cpeApplicability": [{"nodes": [{"cpeMatch": [
                {"versionStartIncluding": "5.10", "versionEndExcluding": "6.6.9"},
                {"versionStartIncluding": "5.4.7"},
            ]}]}],
            "references": [{"url": f"https://git.kernel.org/stable/c/{OTHER}"}],
        }
    },
    "cveMetadata": {"cveId": "CVE-2031-40001", "state": "PUBLISHED"},
    "dataType": "CVE_RECORD",
}  # fmt: skip


def facts(data: bytes, name: str = "record") -> Message:
    """The facts of a file's only message."""
    form = detect(data)
    assert form is not None
    return parse_raw(Raw(data=data, source=Source(path=name, format=form.name)))


def test_an_announcement_names_pairs_files_and_commits() -> None:
    """Each sentence is a pair; the link to the record is no reference."""
    record = parse_letter(ANNOUNCEMENT, subject=SUBJECT).cve_record
    assert record is not None
    assert (record.id, record.title) == ("CVE-2031-40001", "lamp: fix a flicker")
    assert record.pairs == [*PAIRS, CvePair(fixed_version="6.7-rc1", fixed_sha=SHA)]
    assert record.files == ["drivers/lamp/lamp.c", "drivers/lamp/glow.c"]
    assert record.references == [f"https://git.kernel.org/stable/c/{OTHER}"]


def test_each_pair_has_its_evidence() -> None:
    """The line of the sentence."""
    message = parse_letter(ANNOUNCEMENT, subject=SUBJECT)
    lines = [item.line for item in message.evidence if item.rule == "cve-sentence"]
    assert lines == [11, 12, 13]


def test_an_answer_is_no_announcement() -> None:
    """It quotes one."""
    assert parse_letter(ANNOUNCEMENT, subject=f"Re: {SUBJECT}").cve_record is None


def test_a_rejection_has_no_pairs() -> None:
    """The identifier was withdrawn."""
    record = parse_letter("It is no issue.\n", subject="REJECTED: CVE-2031-40001: lamp").cve_record
    assert record is not None
    assert record.rejected
    assert record.pairs == []


def test_other_mail_about_a_cve_has_no_record() -> None:
    """A question is no announcement."""
    assert parse_letter("Which one is it?\n", subject="CVE-2031-40001: lamp").cve_record is None


def test_a_json_record_says_the_same() -> None:
    """Its lists of commits and of versions go side by side."""
    message = facts(json.dumps(RECORD, indent=3).encode())
    record = message.cve_record
    assert record is not None
    assert record.id == "CVE-2031-40001"
    assert record.pairs == PAIRS
    assert record.files == ["drivers/lamp/lamp.c"]
    assert record.references == [f"https://git.kernel.org/stable/c/{OTHER}"]
    assert message.cves == ["CVE-2031-40001"]
    assert message.message_id == "CVE-2031-40001.json@cve.kernel.org.invalid"


def test_versions_that_fit_no_commit_are_left_out() -> None:
    """What came and went within one release is in one list only."""
    record = json.loads(json.dumps(RECORD))
    record["containers"]["cna"]["cpeApplicability"][0]["nodes"][0]["cpeMatch"].pop()
    found = facts(json.dumps(record).encode()).cve_record
    assert found is not None
    assert found.pairs == [
        CvePair(vulnerable_sha=SHA, fixed_sha=OTHER),
        CvePair(vulnerable_sha=THIRD),
    ]


def test_a_rejected_record() -> None:
    """It has reasons, and neither title nor versions."""
    record = {
        "dataType": "CVE_RECORD",
        "cveMetadata": {"cveId": "CVE-2031-40001", "state": "REJECTED"},
        "containers": {"cna": {"rejectedReasons": [{"value": "No issue."}]}},
    }
    message = facts(json.dumps(record).encode())
    assert message.cve_record is not None
    assert message.cve_record.rejected
    assert "No issue." in message.body


def test_a_dyad_file_says_the_same(tmp_path: Path) -> None:
    """0:0 behind is not fixed, in front it is not known."""

    name = write(tmp_path / "CVE-2031-40001.dyad", DYAD.encode())
    raw = next(item for item in read_source(name) if isinstance(item, Raw))
    message = parse_raw(raw)
    assert raw.source.format == "cve-dyad"
    assert message.cve_record is not None
    assert message.cve_record.id == "CVE-2031-40001"
    assert message.cve_record.pairs == [*PAIRS, CvePair(fixed_version="6.7", fixed_sha=SHA)]
    assert message.cves == ["CVE-2031-40001"]


@pytest.mark.parametrize("data", [b"{", b'{"dataType": "CVE_RECORD"}', b'{"containers": {"cna": 7'])
def test_a_damaged_record_is_a_message_without_facts(data: bytes) -> None:
    """And says so."""
    message = parse(data, "cve-json")
    assert message.cve_record is None


@given(st.recursive(st.none() | st.text(max_size=9) | st.integers(), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["containers", "cna", "affected", "versions", "cveMetadata", "cveId", "references", "url",
         "descriptions", "value", "cpeApplicability", "nodes", "cpeMatch", "title"]), inner),
    max_leaves=20))  # fmt: skip
def test_any_json_is_read(value: object) -> None:
    """Whatever is where something else should be."""
    parse_raw(Raw(data=json.dumps(value).encode(), source=Source(path="x", format="cve-json")))


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    """As a record and as a dyad file."""
    for form in ("cve-json", "cve-dyad"):
        parse_raw(Raw(data=data, source=Source(path="x", format=form)))
        parse_raw(Raw(data=b'{"containers":' + data, source=Source(path="x", format=form)))

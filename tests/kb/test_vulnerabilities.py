"""Pairs of commits of a CVE: as announcements say them, by CVE and by commit."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.cli import main
from patchlore.ingest.message import CvePair, CveRecord
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.store import Archive
from patchlore.kb.vulnerabilities import fixed_pairs, introduced_pairs, pairs_of_cve
from tests.kb.mails import message, raw_of

CAUSE = "0123456789abcdef0123456789abcdef01234567"
FIX = "89abcdef0123456789abcdef0123456789abcdef"
BACKPORT = "fedcba9876543210fedcba9876543210fedcba98"

HEAD = """From: Cleo Ward <cleo@example.org>
To: cve@example.org
Message-ID: <{id}@example.org>
Date: Mon, 4 Mar 2024 10:00:00 +0000
Subject: {subject}

Description
===========

clock: tick once

Affected and fixed versions
===========================

"""
PAIRS = (
    f"\tIssue introduced in 4.3 with commit {CAUSE} and fixed in 5.10.9 with commit {BACKPORT}\n"
    f"\tIssue introduced in 4.3 with commit {CAUSE} and fixed in 6.8 with commit {FIX}\n"
)


def store(archive: Archive, number: int, subject: str, sentences: str) -> None:
    """Store an announcement as it is sent."""
    data = (HEAD.format(id=f"cve-{number}", subject=subject) + sentences).encode()
    raw = Raw(data=data, source=Source(path="cves.mbox", format="rfc822", offset=number))
    archive.add([parse_raw(raw)], [raw])


def test_the_pairs_of_an_announcement_have_their_lines(tmp_path: pathlib.Path) -> None:
    """Each with the sentence that says it."""
    with Archive(tmp_path, write=True) as archive:
        store(archive, 1, "CVE-2024-10001: clock: tick once", PAIRS)
        found = pairs_of_cve(archive, "cve-2024-10001")
    assert [(pair.introduced_version, pair.fixed_version, pair.fixed) for pair in found] == [
        ("4.3", "5.10.9", BACKPORT),
        ("4.3", "6.8", FIX),
    ]
    assert [(pair.key, pair.line) for pair in found] == [
        ("cve-1@example.org", 9),
        ("cve-1@example.org", 10),
    ]
    assert "and fixed in 6.8 with commit" in (found[1].text or "")


def test_pairs_are_found_by_the_commit_that_ended_or_brought_it(tmp_path: pathlib.Path) -> None:
    """An abbreviation names the commit both ways."""
    with Archive(tmp_path, write=True) as archive:
        store(archive, 1, "CVE-2024-10001: clock: tick once", PAIRS)
        assert [pair.introduced for pair in introduced_pairs(archive, FIX[:12])] == [CAUSE]
        assert [pair.fixed for pair in fixed_pairs(archive, CAUSE)] == [BACKPORT, FIX]
        assert introduced_pairs(archive, CAUSE) == []


def test_what_is_not_fixed_yet_has_no_fix(tmp_path: pathlib.Path) -> None:
    """A later announcement may know more: both stand, the older one first."""
    with Archive(tmp_path, write=True) as archive:
        sentence = f"\tIssue introduced in 4.3 with commit {CAUSE}\n"
        store(archive, 1, "CVE-2024-10001: clock: tick once", sentence)
        (pair,) = pairs_of_cve(archive, "CVE-2024-10001")
    assert (pair.introduced, pair.fixed, pair.fixed_version) == (CAUSE, None, None)


def test_a_rejected_cve_has_no_pairs(tmp_path: pathlib.Path) -> None:
    """It was taken back: what the announcement said before is withdrawn."""
    with Archive(tmp_path, write=True) as archive:
        store(archive, 1, "CVE-2024-10001: clock: tick once", PAIRS)
        store(archive, 2, "CVE-2024-10002: clock: tick once", PAIRS)
        store(archive, 3, "REJECTED: CVE-2024-10001: clock: tick once", "")
        assert pairs_of_cve(archive, "CVE-2024-10001") == []
        assert {pair.cve for pair in fixed_pairs(archive, CAUSE)} == {"CVE-2024-10002"}


def test_an_answer_to_an_announcement_says_nothing_itself(tmp_path: pathlib.Path) -> None:
    """What it quotes is the announcement's word."""
    with Archive(tmp_path, write=True) as archive:
        quoted = "".join(f"> {line}\n" for line in PAIRS.splitlines())
        store(archive, 1, "Re: CVE-2024-10001: clock: tick once", quoted)
        assert pairs_of_cve(archive, "CVE-2024-10001") == []


def test_the_command_shows_what_is_affected(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From which version and commit to which, and the sentence that says so."""
    with Archive(tmp_path, write=True) as archive:
        store(archive, 1, "CVE-2024-10001: clock: tick once", PAIRS)
    assert main(["--archive", str(tmp_path), "cve", "CVE-2024-10001"]) == 0
    printed = capsys.readouterr().out
    assert f"affected\n  from 4.3 ({CAUSE[:12]}) to 5.10.9 ({BACKPORT[:12]})\n" in printed
    assert "    <cve-1@example.org> line 10: Issue introduced in 4.3 with commit" in printed


def test_a_pair_without_evidence_is_kept(tmp_path: pathlib.Path) -> None:
    """A record that other programs made has no lines of its own."""
    pairs = [CvePair(vulnerable_sha=CAUSE, fixed_version="6.8", fixed_sha=FIX)]
    made = message("record@example.org", cve_record=CveRecord(id="CVE-2024-10001", pairs=pairs))
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made)])
        (pair,) = pairs_of_cve(archive, "CVE-2024-10001")
    assert (pair.introduced, pair.fixed, pair.line, pair.text) == (CAUSE, FIX, None, None)

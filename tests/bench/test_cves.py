"""The comparison with CVE records: pairs of announcements, and what patches alone say."""

from __future__ import annotations

import pathlib

import pytest

from bench import cves

CAUSE = "0123456789abcdef0123456789abcdef01234567"
FIX = "89abcdef0123456789abcdef0123456789abcdef"
BACKPORT = "fedcba9876543210fedcba9876543210fedcba98"

ANNOUNCEMENT = f"""From bippy-1 Mon Sep 17 00:00:00 2001
From: Cleo Ward <cleo@example.org>
To: <cves@example.org>
Subject: CVE-2024-10001: clock: tick once

Description
===========

It ticked twice.

Affected and fixed versions
===========================

\tIssue introduced in 4.3 with commit {CAUSE} and fixed in 5.10.9 with commit {BACKPORT}
\tIssue introduced in 4.3 with commit {CAUSE} and fixed in 6.8 with commit {FIX}
"""

DYAD = f"""# dyad version: 1
# \tgetting vulnerable:fixed pairs for git id {FIX}
4.3:{CAUSE}:5.10.9:{BACKPORT}
4.3:{CAUSE}:6.8:{FIX}
6.7:{FIX}:6.7:{CAUSE}
"""

PATCH = f"""From {BACKPORT} Mon Sep 17 00:00:00 2001
From: Ada Quill <ada@example.org>
Date: Mon, 1 Jan 2024 10:00:00 +0000
Subject: [PATCH] clock: tick once

commit {FIX} upstream.

Fixes: {CAUSE[:12]} ("clock: begin")
Signed-off-by: Ada Quill <ada@example.org>
---
diff --git a/clock.c b/clock.c
--- a/clock.c
+++ b/clock.c
@@ -1,2 +1,2 @@
 tick
-tick
+tock
"""


def test_pairs_are_counted_and_misses_have_a_cause(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Announced, left out by announcements, and known from a patch alone."""
    records, patches = tmp_path / "records", tmp_path / "patches" / "CVE-2024-10001" / "5.10"
    records.mkdir()
    patches.mkdir(parents=True)
    (records / "CVE-2024-10001.mbox").write_text(ANNOUNCEMENT)
    (records / "CVE-2024-10001.dyad").write_text(DYAD)
    (patches / "0001.patch").write_text(PATCH)
    report = tmp_path / "accuracy.md"
    monkeypatch.setattr(
        "sys.argv", ["cves", str(records), str(tmp_path / "patches"), "--write", str(report)]
    )
    assert cves.main() == 0
    printed = capsys.readouterr().out
    assert "| 1 | 3 | 2 | 66.67% | 0 |" in printed
    assert "* it came and went within one release, which announcements leave out: 1" in printed
    assert "| fixes upstream that a mail or patch names | 1 | 1 |" in printed
    assert "| pairs whose patch lies in a folder named `CVE/tree` | 1 | 1 |" in printed
    assert "| agree: marker of a stable commit | 1 |" in printed
    assert "| agree: the origin | 1 |" in printed
    assert "<!-- announcements hidden: begin -->" in report.read_text("utf-8")

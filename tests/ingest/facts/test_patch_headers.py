"""Header fields that SUSE gives the patches of its kernels."""

from __future__ import annotations

import pytest

from patchlore.ingest.detect import format_named
from tests.ingest.letters import OTHER, SHA, letter, parse_patch


def test_the_commit_and_its_release() -> None:
    """Git-commit is the upstream commit, Alt-commit the same fix elsewhere."""
    message = parse_patch(
        "Dim.", f"Git-commit: {SHA}", f"Alt-commit: {OTHER}", "Patch-mainline: v6.5-rc7"
    )
    assert message.upstream_commits == [SHA, OTHER]
    assert [ref.form for ref in message.upstream_refs] == ["git-commit", "alt-commit"]
    assert message.primary_upstream == SHA
    assert message.mainline_tag == "v6.5-rc7"
    assert not message.not_upstream


def test_a_part_of_a_commit() -> None:
    """SUSE's tools write so."""
    (ref,) = parse_patch("Dim.", f"Git-commit: {SHA} (partial)").upstream_refs
    assert ref.relation == "partial"


def test_a_marker_in_the_message_stays_the_primary_one() -> None:
    """The same commit is named once."""
    message = parse_patch(f"commit {SHA} upstream.\n\nDim.", f"Git-commit: {SHA}")
    assert message.upstream_commits == [SHA]
    assert [ref.form for ref in message.upstream_refs] == ["commit-upstream"]


@pytest.mark.parametrize("value", ["Never, SUSE-specific", "never", "No, lamp only"])
def test_what_mainline_never_gets(value: str) -> None:
    """The distribution's own patch."""
    message = parse_patch("Dim.", f"Patch-mainline: {value}")
    assert message.not_upstream
    assert message.mainline_tag is None


def test_what_mainline_has_not_yet() -> None:
    """Queued, or submitted: nothing is known."""
    message = parse_patch("Dim.", "Patch-mainline: Queued in subsystem maintainer repo")
    assert not message.not_upstream


def test_references_are_bugs_and_no_message_ids() -> None:
    """The field that mails have for Message-IDs."""
    message = parse_patch("Dim.", "References: bsc#1234567 CVE-2031-40001 (git-fixes, jsc#PED-1)")
    assert message.references == []
    assert [(bug.tracker, bug.number) for bug in message.other_prs] == [("suse", 1234567)]
    assert message.cves == ["CVE-2031-40001"]
    assert {item.rule for item in message.evidence if item.line == 0} == {"references-field"}


def test_references_of_a_mail_stay_message_ids() -> None:
    """An id may hold a CVE's name."""
    message = parse_patch("Dim.", "References: <CVE-2031-40001@example.org>")
    assert message.references == ["CVE-2031-40001@example.org"]
    assert message.cves == []


def test_such_a_mail_is_not_as_sent() -> None:
    """Its fields were changed by the distribution."""
    form = format_named("rfc822")
    assert form.fidelity_of(letter("Dim.", f"Git-commit: {SHA}")) == "rewritten"
    assert form.fidelity_of(letter(f"Dim.\nGit-commit: {SHA}")) == "exact"

"""Formats for those who track security fixes: git-fixes, dyads, Debian, CIP, each read back."""

from __future__ import annotations

import io
import pathlib
import re

import pytest

from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.kb.backports import Row, backports
from patchlore.kb.edges import update_edges
from patchlore.kb.export import file_maker, writer
from patchlore.kb.export.cip import scalar
from patchlore.kb.export.vulnerabilities import is_mainline
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.store import Archive
from patchlore.kb.versions import parse_version
from tests.kb.backport_mails import HOSTILE, add, mail, mainline
from tests.kb.git_repositories import Repository
from tests.kb.mails import source

CVE = "CVE-2024-90001"
CAUSE = "1d" * 20
OLDER = "2e" * 20

ANNOUNCED = """\
From: Cy Marlow <cy@example.org>
Date: Fri, 5 Jan 2024 03:04:05 +0000
To: <linux-cve-announce@vger.kernel.org>
Subject: {cve}: tick: 'use' two # safely
Message-ID: <announced@example.org>

Description
===========

In the Linux kernel, the following vulnerability has been resolved:

tick: use two

The Linux kernel CVE team has assigned {cve} to this issue.


Affected and fixed versions
===========================

	Issue introduced in 3.9 with commit {cause} and fixed in 5.4.269 with commit {older}
{sentence}	Issue introduced in 3.9 with commit {cause} and fixed in 6.8 with commit {upstream}

Mitigation
==========

	https://git.kernel.org/stable/c/{upstream}
"""


def announced(upstream: str, sentence: str = "") -> bytes:
    """Return an announcement that says what ended the CVE."""
    return ANNOUNCED.format(
        cve=CVE, cause=CAUSE, older=OLDER, upstream=upstream, sentence=sentence
    ).encode()


class Lists:
    """An archive with postings of two commits, the first one announced as a CVE."""

    def __init__(self, folder: pathlib.Path, sentence: str = "") -> None:
        self.made = mainline(folder / "clock")
        self.path = folder / "archive"
        with Archive(self.path, write=True) as archive:
            add(
                archive,
                [
                    mail(self.made, 0, text=f'Fixes: {CAUSE[:12]} ("tick: begin")\n'),
                    mail(self.made, 1),
                    announced(self.made.shas[0], sentence),
                ],
            )

    def text(self, name: str) -> tuple[str, list[str]]:
        """The list of 5.10 in a format, and the notes."""
        out = io.BytesIO()
        with Archive(self.path) as archive:
            notes = writer(name)(archive, "5.10.y", backports(archive, "5.10"), out)
        return out.getvalue().decode(), notes

    def files(self, name: str) -> tuple[dict[str, str], list[str]]:
        """The files of the list of 5.10 in a format, and the notes."""
        with Archive(self.path) as archive:
            files, notes = file_maker(name)(archive, "5.10.y", backports(archive, "5.10"))
        return {path: data.decode() for path, data in files}, notes


@pytest.fixture
def lists(tmp_path: pathlib.Path) -> Lists:
    """Return an archive in which 5.10 is not fixed yet."""
    return Lists(tmp_path)


def test_git_fixes_are_commits_with_who_brought_them(lists: Lists) -> None:
    """A line is a commit of 40 digits, a comma and one address."""
    text, notes = lists.text("git-fixes")
    found = dict(line.split(",") for line in text.splitlines())
    assert found == dict.fromkeys(lists.made.shas[:2], "bo@example.org")
    assert notes == []


def test_no_address_makes_a_column_or_a_line(tmp_path: pathlib.Path) -> None:
    """An address with a comma or a blank in it is left out."""
    made = mainline(tmp_path / "clock")
    data = mail(made, 0).replace(b"<bo@example.org>", b'<"bo, x"@example.org>')
    out = io.BytesIO()
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, [data])
        writer("git-fixes")(archive, "5.10.y", backports(archive, "5.10"), out)
    assert out.getvalue().decode() == f"{made.shas[0]}\n"


def test_a_dyad_says_what_is_not_fixed(lists: Lists) -> None:
    """The tree came after the version that the record names and is not among those fixed."""
    text, notes = lists.text("dyad")
    lines = text.splitlines()
    assert lines[0].startswith(f"# {CVE} {lists.made.shas[0]} tick: $(touch pwned)")
    assert lines[1:] == [f"3.9:{CAUSE}:0:0"]
    assert notes == [
        "1 row left out, no release is known that brought the fault or has the fix: "
        + lists.made.shas[1][:12]
    ]


def test_our_own_reader_takes_dyads(tmp_path: pathlib.Path) -> None:
    """Read by ingest, the pair is that of the record for the tree."""
    own = "3c" * 20
    sentence = (
        f"\tIssue introduced in 5.10.105 with commit {OLDER[::-1]} and fixed in 5.10.210"
        f" with commit {own}\n"
    )
    text, _ = Lists(tmp_path, sentence).text("dyad")
    read = parse_raw(Raw(data=text.encode(), source=source(format="cve-dyad")))
    assert read.cve_record is not None
    (pair,) = read.cve_record.pairs
    assert (pair.vulnerable_version, pair.vulnerable_sha) == ("5.10.105", OLDER[::-1])
    assert (pair.fixed_version, pair.fixed_sha) == ("5.10.210", own)


def test_git_trees_give_dyads_without_a_record(tmp_path: pathlib.Path) -> None:
    """The commit that Fixes: names, the tree's own commit, and the releases that have them."""
    repository = Repository(tmp_path / "clock")
    cause = repository.commit("tick: begin")
    repository.tag("v5.10")
    repository.git("branch", "linux-5.10.y")
    upstream = repository.commit(f'tick: use two\n\nFixes: {cause[:12]} ("tick: begin")\n')
    repository.git("checkout", "-q", "linux-5.10.y")
    own = repository.commit(f"tick: use two\n\ncommit {upstream} upstream.\n")
    repository.tag("v5.10.1")
    out = io.BytesIO()
    with Archive(tmp_path / "archive", write=True) as archive:
        fill_tree(archive, "linux", str(repository.folder))
        update_edges(archive)
        writer("dyad")(archive, "5.10.y", backports(archive, "5.10"), out)
    assert f"5.10:{cause}:5.10.1:{own}" in out.getvalue().decode().splitlines()


def fields(text: str) -> dict[str, list[str]]:
    """Read a file of kernel-sec: a name, a colon and a value; indented lines go on with it."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(" "):
            found[name].append(line.strip())
            continue
        match = re.fullmatch(r"([A-Za-z0-9][\w.-]*):(?: (.*))?", line)
        assert match, line
        name = match[1]
        assert name not in found
        found[name] = [match[2]] if match[2] else []
    return found


def test_debian_has_a_file_for_each_cve(lists: Lists) -> None:
    """The fields of kernel-sec, with the status of the tree and of those that a record names."""
    files, notes = lists.files("debian")
    assert list(files) == [f"active/{CVE}"]
    found = fields(files[f"active/{CVE}"])
    assert list(found) == [
        "Description", "References", "Notes", "Bugs", "upstream",
        "5.10-upstream-stable", "5.4-upstream-stable",
    ]  # fmt: skip
    assert found["Description"] == ["tick: 'use' two # safely"]
    assert found["upstream"] == [f"released (6.8) [{lists.made.shas[0]}]"]
    assert found["5.10-upstream-stable"] == ["needed"]
    assert found["5.4-upstream-stable"] == [f"released (5.4.269) [{OLDER}]"]
    assert found["Notes"][0] == "patchlore> 5.10: in-flight: posted"
    assert notes == [f"1 row left out, no CVE is known: {lists.made.shas[1][:12]}"]


def test_debian_says_what_is_released(tmp_path: pathlib.Path) -> None:
    """Where the record names the tree's own commit and the list has it released."""
    own = "3c" * 20
    sentence = (
        f"\tIssue introduced in 3.9 with commit {CAUSE} and fixed in 5.10.210 with commit {own}\n"
    )
    lists = Lists(tmp_path, sentence)
    with Archive(lists.path) as archive:
        rows: list[Row] = backports(archive, "5.10")
        for row in rows:
            row.state = "released"
        files, _ = file_maker("debian")(archive, "5.10.y", rows)
    found = fields(files[0][1].decode())
    assert found["5.10-upstream-stable"] == [f"released (5.10.210) [{own}]"]


def read_yaml(text: str) -> dict[str, object]:
    """Read the part of YAML that issues are written in: strict, anything else is an error."""
    found: dict[str, object] = {}
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        match = re.fullmatch(r"([a-z-]+):(?: (.+))?", lines[number])
        assert match, lines[number]
        assert match[1] not in found
        number += 1
        below = []
        while number < len(lines) and lines[number][:1] in (" ", "-"):
            below.append(lines[number])
            number += 1
        found[match[1]] = _value(match[2]) if match[2] else _below(below)
    return found


def _below(lines: list[str]) -> object:
    if lines[0].startswith("- "):
        return [_value(line[2:]) for line in lines]
    table: dict[str, object] = {}
    block: list[str] | None = None
    for line in lines:
        if line.startswith("    ") and block is not None:
            block.append(line[4:])
            continue
        match = re.fullmatch(r"  ([\w.-]+): (.+)", line)
        assert match, line
        block = [] if match[2] == "|-" else None
        table[match[1]] = block if block is not None else _value(match[2])
    return table


def _value(text: str) -> object:
    if text.startswith("["):
        assert text.endswith("]")
        return text[1:-1].split(", ")
    if text.startswith("'"):
        inner = text[1:-1]
        assert text.endswith("'")
        assert inner.replace("''", "").count("'") == 0
        return inner.replace("''", "'")
    assert re.fullmatch(r"[a-z]+", text), text
    return text


def test_cip_has_an_issue_for_each_cve(lists: Lists) -> None:
    """Description, references, what brought and what ended it in which branch."""
    files, notes = lists.files("cip")
    found = read_yaml(files[f"issues/{CVE}.yml"])
    upstream = lists.made.shas[0]
    assert found["description"] == "tick: 'use' two # safely"
    assert found["references"] == [f"https://git.kernel.org/stable/c/{upstream}"]
    assert found["introduced-by"] == {"mainline": [CAUSE]}
    assert found["fixed-by"] == {"linux-5.4.y": [OLDER], "mainline": [upstream]}
    assert isinstance(found["comments"], dict)
    assert found["comments"]["patchlore"][0] == "5.10.y: in-flight: posted"
    assert "ignore" not in found
    assert notes == [f"1 row left out, no CVE is known: {lists.made.shas[1][:12]}"]


@pytest.mark.parametrize(("state", "key"), [("opted-out", "ignore"), ("not-affected", "never")])
def test_cip_says_what_is_ignored_and_never_affected(lists: Lists, state: str, key: str) -> None:
    """With the reason, or as the branch that never had the fault."""
    with Archive(lists.path) as archive:
        rows = backports(archive, "5.10")
        for row in rows:
            row.state, row.reason = state, "overridden in own.txt:1: 'never' built # here"
        files, _ = file_maker("cip")(archive, "5.10.y", rows)
    found = read_yaml(files[0][1].decode())
    if key == "ignore":
        assert found["ignore"] == {"linux-5.10.y": rows[0].reason}
    else:
        assert found["introduced-by"] == {"linux-5.10.y": "never", "mainline": [CAUSE]}


@pytest.mark.parametrize(
    "text", [*HOSTILE, "a\nb: c", "- x", "'", "\t", "\x00", "a\x85b", "&a *a !t"]
)
def test_a_yaml_scalar_is_one_text(text: str) -> None:
    """Whatever is in it, it is one line in single quotes that ends where it should."""
    shown = scalar(text)
    assert "\n" not in shown
    assert shown.isprintable()
    assert isinstance(_value(shown), str)


@pytest.mark.parametrize(
    ("text", "expected"), [("5.10", True), ("5.10.1", False), ("2.6.32", True), ("6.8-rc1", True)]
)
def test_versions_of_mainline(text: str, expected: bool) -> None:
    """Before 3.0 the third number was the release."""
    version = parse_version(text)
    assert version is not None
    assert is_mainline(version) is expected


def test_a_mail_to_the_stable_team_says_what_the_commit_fixes(lists: Lists) -> None:
    """Beside what the list knows, and the line that proves it."""
    text, _ = lists.text("mail")
    first = text.partition("\nFrom mboxrd@z")[0]
    assert f'  - It fixes {CAUSE[:12]} ("tick: begin").\n' in first
    assert "  - posted\n    <backport-0@example.org> line 3: commit " in first


@pytest.mark.parametrize("name", ["debian", "cip"])
def test_a_rejected_cve_has_no_file(lists: Lists, name: str) -> None:
    """The commit stays in the list; the number is one of a vulnerability no more."""
    rejection = (
        f"From: Cy Marlow <cy@example.org>\nSubject: REJECTED: {CVE}: tick: use two\n"
        "Date: Mon, 01 Jan 2035 10:00:00 +0000\nMessage-ID: <rejected@example.org>\n\n"
        f"{CVE} has now been rejected and is no longer a valid CVE.\n"
    )
    assert len(lists.files(name)[0]) == 1
    with Archive(lists.path, write=True) as archive:
        raw = Raw(data=rejection.encode(), source=source(offset=999_999))
        archive.add([parse_raw(raw)], [raw])
    files, notes = lists.files(name)
    assert not files
    assert notes[0].startswith("2 rows left out, no CVE is known: ")

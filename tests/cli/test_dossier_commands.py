"""The commands cve, file and person, old workarounds, facets; and the schemas of all dossiers."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import msgspec
import pytest

from patchlore.cli import main
from patchlore.commands.schemas import TYPES, schema_of
from tests.cli.conftest import BACKPORT, REPLY, UPSTREAM, Result, Run

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema"


def test_cve_tells_commits_trees_and_mails(run: Run) -> None:
    """The dossier of a CVE has what its patch fixes and the mail with the line."""
    result = run("cve", "2024-12345")
    assert result.status == 0
    assert result.out.startswith("CVE-2024-12345: 1 mail\n")
    assert f"introduced by\n  {UPSTREAM}" in result.out
    assert "<fix@example.org> line 1: CVE-2024-12345" in result.out


def test_unknown_cve_is_told(run: Run) -> None:
    """A CVE that no mail names is status 1 and a sentence."""
    result = run("cve", "CVE-1999-0001")
    assert (result.status, result.out) == (1, "")
    assert "No mail in the archive names CVE-1999-0001." in result.err


def test_file_tells_patches_and_backports(run: Run) -> None:
    """The dossier of a file has its authors, backports with their trees, and fixes."""
    result = run("file", "tick.c")
    assert result.status == 0
    assert result.out.startswith("tick.c: 2 patches")
    assert "        1  Ada Quill <ada@example.org>" in result.out
    assert f"  {UPSTREAM[:12]}  tick: use two\n    <backport@example.org> for 5.10" in result.out
    assert "        2  tick\n" in result.out


def test_unknown_file_names_those_like_it(run: Run) -> None:
    """A path that no patch touches is status 1; a name that is like it is offered."""
    result = run("file", "drivers/tik.c")
    assert result.status == 1
    assert (
        "No patch and no commit in the archive touches drivers/tik.c. There are: tick.c."
        in result.err
    )


def test_person_tells_roles_and_patches(run: Run) -> None:
    """The dossier of a person has what they are to mails, and their patches, not the sender's."""
    result = run("person", "Ada Quill")
    assert result.status == 0
    assert "  addresses: ada@example.org" in result.out
    assert "        1  author" in result.out
    assert "<backport@example.org>" in result.out
    assert (
        "<backport@example.org>"
        not in run("person", "bo@example.org").out.partition("newest mails")[0]
    )


@pytest.mark.parametrize(
    ("who", "text"),
    [
        ("nobody@example.org", "Nobody in the archive has the address nobody@example.org."),
        ("Zed", "Nobody in the archive is called Zed."),
        ("r", "Several people are called r:"),
    ],
)
def test_person_that_is_not_one_is_told(run: Run, who: str, text: str) -> None:
    """Nobody and several are told apart; several are named."""
    result = run("person", who)
    assert result.status == 1
    assert text in result.err


def test_part_of_a_name_will_do(run: Run) -> None:
    """A part of a name that one person has means that person."""
    assert run("person", "dora").out.startswith("Dora Fenn\n")


def test_old_workarounds(run: Run) -> None:
    """Patches about a bug that name a compiler older than the minimum are listed with the line."""
    result = run("prs", "--older-than", "gcc-14")
    assert result.status == 0
    assert "about PR 123456\n  gcc 13 (body)\n    <backport@example.org> line" in result.out
    assert run("prs", "--older-than", "gcc-13").status == 1


def test_wrong_compiler_is_wrong_usage(run: Run) -> None:
    """A minimum that is no compiler is status 2."""
    result = run("prs", "--older-than", "tcc")
    assert result.status == 2
    assert "tcc is no compiler" in result.err


def test_pr_tells_trees_and_compilers(run: Run) -> None:
    """The dossier of a bug has what became of its commit in each tree, and compilers."""
    out = run("pr", "123456").out
    assert f"  {UPSTREAM[:12]} in 5.10: in-flight (picked by AUTOSEL, 15 of 24)" in out
    assert f"    <backport@example.org> line 3: [ Upstream commit {UPSTREAM} ]\n" in out
    assert (
        "compilers named\n  gcc 13 (1 mail, body)\n    <backport@example.org> line 5: GCC 13\n"
        in out
    )


def test_pr_tells_answers_to_its_patches(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Mails that don't name the bug stand behind those that do, with the patch that does."""
    answer = REPLY.replace("> Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=123456\n", "")
    copy = BACKPORT.replace("id=123456", "id=7").replace("backport@", "copy@")
    path = str(tmp_path / "archive")
    for name, text in (("1", BACKPORT), ("2", answer), ("3", copy)):
        (tmp_path / f"{name}.eml").write_text(text)
        file = str(tmp_path / f"{name}.eml")
        assert main(["--archive", path, "ingest", "--no-index", file]) == 0
    capfd.readouterr()
    assert main(["--archive", path, "pr", "123456"]) == 0
    told = capfd.readouterr().out.partition("\nnot named, but about the same patches\n")[2]
    assert f"  carries upstream {UPSTREAM}, as <backport@example.org>\n    <copy@" in told
    assert "  <reply@example.org>\n  answers <backport@example.org>\n" in told


def test_commit_of_gcc_tells_lines(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The mails that name a commit of GCC are printed each with its line; or that none does."""
    (tmp_path / "1.eml").write_text(
        "From: Ada Quill <ada@example.org>\nSubject: tick\nMessage-ID: <1@example.org>\n"
        "Date: Tue, 2 Jan 2024 03:04:05 +0000\n\nSee https://gcc.gnu.org/r12-7719 and\n"
        "https://gcc.gnu.org/g:8ca61ad148f0 too.\n"
    )
    path = str(tmp_path / "archive")
    assert main(["--archive", path, "ingest", "--no-index", str(tmp_path / "1.eml")]) == 0
    for name, line in (("r12-7719-g8ca61ad148f", 1), ("8ca61ad148f0", 2), ("g:8ca61ad", 2)):
        capfd.readouterr()
        assert main(["--archive", path, "commit", name]) == 0
        out = capfd.readouterr().out
        assert out.startswith(f"GCC commit {name}: 1 mail\n")
        assert f"\n  <1@example.org> line {line}: gcc.gnu.org/" in out
        assert main(["--archive", path, "commit", name, "--json"]) == 0
        msgspec.json.decode(capfd.readouterr().out, type=TYPES["commit-of-gcc"])
    assert main(["--archive", path, "commit", "r12-7718"]) == 1
    assert "No mail in the archive names the commit r12-7718 of GCC." in capfd.readouterr().err


@pytest.fixture(scope="session")
def ambiguous(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An archive whose mails name two commits with the same seven digits."""
    folder = tmp_path_factory.mktemp("twins")
    for number, rest in ((1, "aaaaa"), (2, "bbbbb")):
        (folder / f"{number}.eml").write_text(
            f"From: Ada Quill <ada@example.org>\nSubject: [PATCH] tick {number}\n"
            f"Message-ID: <{number}@example.org>\nDate: Tue, 2 Jan 2024 03:04:05 +0000\n\n"
            f'Text.\n\nFixes: 1234567{rest} ("tick: begin {number}")\n'
            "Signed-off-by: Ada Quill <ada@example.org>\n---\ndiff --git a/t.c b/t.c\n"
            "--- a/t.c\n+++ b/t.c\n@@ -1 +1 @@\n-one\n+two\n"
        )
    path = tmp_path_factory.mktemp("archive")
    assert main(["--archive", str(path), "ingest", "--no-index", str(folder)]) == 0
    return path


def test_short_sha_lists_the_candidates(
    ambiguous: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each commit that begins so is told with its title and how many mails name it."""
    capfd.readouterr()
    assert main(["--archive", str(ambiguous), "commit", "1234567", "--json"]) == 1
    printed = capfd.readouterr()
    assert "  1234567aaaaa    1 mail  tick: begin 1\n" in printed.err
    assert [found["sha"] for found in json.loads(printed.out)["candidates"]] == [
        "1234567aaaaa",
        "1234567bbbbb",
    ]
    msgspec.json.decode(printed.out, type=TYPES["commit-ambiguous"])


def test_facets_print_counts(run: Run) -> None:
    """With --facets a search prints how many, by list, year, author and kind."""
    result = run("search", "--facets", "is:patch")
    assert result.status == 0
    assert result.out.startswith("2 messages\n")
    assert "year\n          2  2024" in result.out
    assert run("search", "--facets", "f:nobody").status == 1


@pytest.mark.parametrize("name", TYPES)
def test_schema_is_that_of_the_types(name: str) -> None:
    """The files in docs/schema are what tools/update-docs makes of the types."""
    stored = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    assert stored == schema_of(name)
    assert f"`{name}.json`" in (SCHEMAS / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("pr", "pr 123456"),
        ("prs", "prs"),
        ("prs-older-than", "prs --older-than gcc-14"),
        ("commit", f"commit {UPSTREAM[:12]}"),
        ("cve", "cve CVE-2024-12345"),
        ("file", "file tick.c"),
        ("person", "person ada@example.org"),
        ("search-facets", "search --facets is:patch"),
    ],
)
def test_what_is_printed_has_the_schema(run: Run, name: str, command: str) -> None:
    """Each object that is printed has all fields of its type, and no other."""
    result: Result = run(*command.split(), "--json")
    assert result.status == 0
    for line in result.out.splitlines():
        decoded = msgspec.json.decode(line, type=TYPES[name])
        again: Any = msgspec.to_builtins(decoded)
        assert again == json.loads(line)

"""``backports`` with its formats, overrides and trials on the command line."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys

import msgspec
import pytest

from patchlore.commands import backport_extras, backport_output
from patchlore.commands.schemas import TYPES
from patchlore.kb.export import FOLDERS, FORMATS
from tests.cli.conftest import UPSTREAM, Run
from tests.kb.git_repositories import Repository


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> Repository:
    """Return a repository to which the only backport of the archive applies."""
    made = Repository(tmp_path / "clock")
    made.commit(
        "tick: begin",
        {"tick.c": "one\n/* https://gcc.gnu.org/bugzilla/show_bug.cgi?id=99999 */\n"},
    )
    return made


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_to_its_place(run: Run, tmp_path: pathlib.Path, name: str) -> None:
    """A file, or a folder for several files; twice the same, and nothing beside it."""
    target = tmp_path / "list"
    for _ in range(2):
        done = run("backports", "5.10", "--format", name, "--state", "all", "--output", str(target))
        assert (done.status, done.out) == (0, "")
        assert target.is_dir() == (name in FOLDERS)
    assert [path.name for path in tmp_path.iterdir()] == ["list"]


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_a_folder_needs_a_name(run: Run, name: str) -> None:
    """Several files can't go to standard output."""
    done = run("backports", "5.10", "--format", name)
    assert done.status == 2
    assert f"--format {name} is a folder: name it with --output" in done.err


def test_a_folder_that_can_not_be_written_is_told(run: Run, tmp_path: pathlib.Path) -> None:
    """There is no folder above it, or it belongs to somebody else."""
    missing = str(tmp_path / "no" / "list")
    assert "Can't write" in run("backports", "5.10", "--format", "quilt", "--output", missing).err
    (tmp_path / "mine").write_text("mine")
    done = run("backports", "5.10", "--format", "quilt", "--output", str(tmp_path))
    assert done.status == 2
    assert "did not write" in done.err


def test_help_names_the_formats() -> None:
    """All of them."""
    parser = argparse.ArgumentParser(prog="patchlore")
    backport_output.add_options(parser)
    backport_extras.add_options(parser)
    text = " ".join(parser.format_help().split())
    assert ", ".join(FORMATS) in text


def test_overrides_come_before_states(run: Run, tmp_path: pathlib.Path) -> None:
    """A row is shown by the state that the file gives it; bad lines make the status 1."""
    path = tmp_path / "own"
    path.write_text(f"{UPSTREAM[:12]} not-affected 5.10 # never built\n")
    options = ["backports", "5.10", "--overrides", str(path)]
    done = run(*options, "--state", "not-affected", "--json")
    assert done.status == 0
    (line,) = done.out.splitlines()
    assert json.loads(line)["reason"] == f"overridden in {path}:1: never built"
    assert run(*options, "--state", "in-flight").status == 1
    path.write_text("what is this\n")
    done = run(*options)
    assert done.status == 1
    assert UPSTREAM in done.out
    assert f"{path}:1: this begins with no commit" in done.err
    assert run("backports", "5.10", "--overrides", str(tmp_path / "no")).status == 2


def test_try_says_of_each_row_whether_it_applies(run: Run, repository: Repository) -> None:
    """In text and as JSON; a branch is made where one is asked for."""
    where = ["--try", str(repository.folder), "--base", "HEAD", "--state", "in-flight"]
    done = run("backports", "5.10", *where)
    assert "    tried: applies\n" in done.out
    assert "applies: 1" in done.err
    done = run("backports", "5.10", *where, "--json", "--branch", "fixes")
    assert json.loads(done.out)["tried"]["result"] == "applies"
    assert repository.git("log", "-1", "--format=%an %s", "fixes") == "Ada Quill tick: use two"
    done = run("backports", "5.10", *where, "--branch", "fixes")
    assert done.status == 2
    assert "has a branch 'fixes' already" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--base", "HEAD"], "--base needs --try"),
        (["--branch", "x"], "--branch needs --try"),
        (["--try", "."], "--try needs --base"),
        (["--output", ""], "--output needs the name"),
    ],
)
def test_options_that_belong_together(run: Run, options: list[str], words: str) -> None:
    """A sentence says which one is missing."""
    done = run("backports", "5.10", *options)
    assert done.status == 2
    assert words in done.err


def test_a_row_has_the_schema(run: Run, repository: Repository, tmp_path: pathlib.Path) -> None:
    """docs/schema/backports.json is that of the lines, with and without all that can be null."""
    path = tmp_path / "own"
    path.write_text(f"{UPSTREAM} needed\n")
    lines = run(
        "backports", "5.10", "--json", "--overrides", str(path),
        "--try", str(repository.folder), "--base", "HEAD",
    ).out.splitlines()  # fmt: skip
    lines += run("backports", "5.10", "--json").out.splitlines()
    rows = [msgspec.json.decode(line, type=TYPES["backports"], strict=True) for line in lines]
    assert len(rows) == 4
    for line, row in zip(lines, rows, strict=True):
        assert set(json.loads(line)) <= set(msgspec.structs.asdict(row))


def test_the_demo_s_tree_is_a_repository(tmp_path: pathlib.Path) -> None:
    """The same to the bit whenever it is made."""
    script = pathlib.Path(__file__).resolve().parents[2] / "demo" / "make-tree"
    heads = set()
    for name in ("one", "two"):
        subprocess.run([str(script), str(tmp_path / name)], check=True)
        heads.add((tmp_path / name / ".git" / "refs" / "heads" / "linux-6.1.y").read_text())
    assert len(heads) == 1


def test_output_goes_through_links_and_devices(run: Run, tmp_path: pathlib.Path) -> None:
    """What is no file is not put in place of; a file keeps its permissions."""
    arguments = ("backports", "5.10", "--format", "ids", "--state", "all", "--output")
    kept = tmp_path / "kept"
    kept.write_text("old")
    kept.chmod(0o600)
    (tmp_path / "link").symlink_to(kept)
    assert run(*arguments, str(tmp_path / "link")).status == 0
    assert (tmp_path / "link").is_symlink()
    assert kept.read_text() == f"{UPSTREAM}\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert run(*arguments, str(pipe)).status == 0
        assert reader.communicate()[0] == f"{UPSTREAM}\n"
    assert pipe.is_fifo()
    assert run(*arguments, "-").out == f"{UPSTREAM}\n"
    assert not pathlib.Path("-").exists()


@pytest.mark.parametrize("name", ["quilt", "ids"])
@pytest.mark.parametrize("there", [False, True])
def test_output_follows_a_link(run: Run, tmp_path: pathlib.Path, name: str, *, there: bool) -> None:
    """Also one to nothing yet: what it names is made; the link stays."""
    arguments = ("backports", "5.10", "--format", name, "--state", "all", "--output")
    (tmp_path / "link").symlink_to("real")
    if there:
        assert run(*arguments, str(tmp_path / "real")).status == 0
    assert run(*arguments, str(tmp_path / "link")).status == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").is_dir() == (name == "quilt")
    (tmp_path / "lost").symlink_to(tmp_path / "no" / "place")
    (tmp_path / "round").symlink_to("round")
    for wrong in ("lost", "round"):
        done = run(*arguments, str(tmp_path / wrong))
        assert (done.status, done.out) == (2 if wrong == "round" and name == "quilt" else 1, "")
        assert wrong in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "lost", "real", "round"]


@pytest.mark.parametrize("name", ["quilt", "ids"])
def test_a_folder_that_is_read_only_is_told(run: Run, tmp_path: pathlib.Path, name: str) -> None:
    """One sentence with the reason, and nothing written."""
    place = "/proc/list"  # where nobody, nor root, can make a file
    done = run("backports", "5.10", "--format", name, "--state", "all", "--output", place)
    assert done.status == 1
    assert done.err.startswith(f"patchlore: Can't write {place}: ")


def kill_while_writing(archive: pathlib.Path, name: str, target: pathlib.Path) -> None:
    """Run the command in a process that ends like one that is killed, with files half written."""
    program = (
        "import os, sys\n"
        "from patchlore import cli\n"
        "from patchlore.kb.export import ids, quilt\n"
        "def half(archive, tree, rows, out):\n"
        "    out.write(b'half'); out.flush(); os._exit(9)\n"
        "def files(archive, tree, rows):\n"
        "    def some():\n"
        "        yield 'series', b'half'\n"
        "        os._exit(9)\n"
        "    return some(), []\n"
        "ids.write, quilt.files = half, files\n"
        "cli.main(sys.argv[1:])\n"
    )
    arguments = ("backports", "5.10", "--format", name, "--state", "all", "--output", str(target))
    done = subprocess.run(
        [sys.executable, "-c", program, "--archive", str(archive), *arguments], check=False
    )
    assert done.returncode == 9


@pytest.mark.parametrize("name", ["quilt", "ids"])
def test_what_a_killed_run_leaves_goes_away(
    run: Run, archive: pathlib.Path, tmp_path: pathlib.Path, name: str
) -> None:
    """The output is what it was before, and the next run leaves nothing but the output."""
    target = tmp_path / "list"
    arguments = ("backports", "5.10", "--format", name, "--state", "all", "--output", str(target))
    kill_while_writing(archive, name, target)
    assert not target.exists()
    assert run(*arguments).status == 0
    before = sorted(target.iterdir()) if target.is_dir() else target.read_bytes()
    kill_while_writing(archive, name, target)
    assert before == (sorted(target.iterdir()) if target.is_dir() else target.read_bytes())
    assert run(*arguments).status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["list"]


def test_a_folder_that_was_put_aside_comes_back(run: Run, tmp_path: pathlib.Path) -> None:
    """A run may be killed while it puts the new one in the place of the old one."""
    arguments = ("backports", "5.10", "--format", "quilt", "--state", "all", "--output")
    assert run(*arguments, str(tmp_path / "list")).status == 0
    (tmp_path / "list").rename(tmp_path / ".list.old")
    assert run(*arguments, str(tmp_path / "list")).status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["list"]
    (tmp_path / ".list.part").mkdir()
    (tmp_path / ".list.part" / "mine").write_text("mine")
    assert run(*arguments, str(tmp_path / "list")).status == 2
    assert (tmp_path / ".list.part" / "mine").read_text() == "mine"

"""The demo: its script runs anywhere and shows what it promises; its mail is invented and sound."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.reading import read_source

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEMO = ROOT / "demo"
WORKAROUND = "456708cc42bde9e9a4362f2e56bad4714bbc1098"
DROPPED = "e68dd9f7240f51df09c573ad7e166cf3eebe3dcf"


def environment(folder: pathlib.Path) -> dict[str, str]:
    """Return an environment with nothing of the user's but PATH, where patchlore comes first."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    (folder / "home").mkdir(exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    return {"PATH": path, "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}


class Shown:
    """What the demo printed, and the folder in which it ran."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Run the demo in ``folder``."""
        self.folder = folder
        self.done = subprocess.run(
            [str(DEMO / "run")],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.text = self.done.stdout

    def after(self, command: str) -> str:
        """Return what the command that begins so printed."""
        return self.text.partition(f"\n$ patchlore {command}")[2].partition("\n$ ")[0]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Run the demo once for all tests of its output."""
    return Shown(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    """Return the demo's mails, parsed from the files as they are."""
    raws = [item for item in read_source(str(DEMO / "mail")) if isinstance(item, Raw)]
    return [parse_raw(raw) for raw in raws]


def test_the_demo_succeeds_in_silence_on_standard_error(shown: Shown) -> None:
    """The script ends with status 0 and has nothing to complain about."""
    assert (shown.done.returncode, shown.done.stderr) == (0, "")


def test_the_demo_leaves_nothing_behind(shown: Shown) -> None:
    """The temporary folder is gone, and the home folder is as empty as before."""
    left = [*(shown.folder / "tmp").iterdir(), *(shown.folder / "home").iterdir()]
    assert left == []


def test_every_mail_is_read_and_copies_are_merged(shown: Shown) -> None:
    """The one copy is the openwall page of a reply that the mailbox has; one mail is damaged."""
    assert "read 42, new 41, merged 1, damaged 1 " in shown.after("ingest")


def test_the_autosel_patch_stands_under_the_bug_with_its_proof(shown: Shown) -> None:
    """The dossier of the GCC bug has the AUTOSEL posting, its commit and the tag's line."""
    dossier = shown.after("pr 199201")
    _, _, autosel = dossier.partition("[PATCH AUTOSEL 6.1 14/27] lib/larch: build without SLP")
    assert f"upstream {WORKAROUND}" in autosel
    assert "trailer: Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=199201" in autosel


def test_a_bug_in_a_context_line_is_said_to_be_no_more(shown: Shown) -> None:
    """The bug in the Makefile beside the added line is not what the patch is about."""
    assert "0 patches about it" in shown.after("pr 188077")
    assert "in a context line only" in shown.after("pr 188077")


def test_the_commit_has_a_state_in_each_tree(shown: Shown) -> None:
    """The workaround is released in 6.6.9, picked for 6.1 and posted again for 5.15."""
    dossier = shown.after(f"commit {WORKAROUND[:12]}")
    states = re.findall(r"^(\d+\.\d+): ([\w-]+) \((.*)\)$", dossier, re.MULTILINE)
    assert states == [
        ("6.6", "released", "released in 6.6.9"),
        ("6.1", "in-flight", "picked by AUTOSEL, 14 of 27"),
        ("5.15", "in-flight", "posted"),
    ]
    assert "failed to apply, Pell Anwick" in dossier


def test_words_are_found_where_an_author_wrote_them(shown: Shown) -> None:
    """The word search finds the review that has the table of measurements."""
    assert "87jzqs3a5m.fsf@noor.example.org" in shown.after("search --sort rank")


def test_the_fix_of_a_dropped_commit_is_found(shown: Shown) -> None:
    """The exact search by 12 digits finds the one patch with that Fixes tag."""
    found = re.findall(r"^\d{4}-.*$", shown.after("search fixes:"), re.MULTILINE)
    assert len(found) == 1
    assert found[0].endswith("[PATCH] lib/larch: mix in short tails without a buffer")


def test_the_list_of_6_1_has_the_workaround_as_picked(shown: Shown) -> None:
    """The row has the full commit, its state and its place in the AUTOSEL series."""
    rows = shown.after("backports 6.1").split("\n\n")
    (row,) = [row for row in rows if row.startswith(WORKAROUND)]
    assert row.startswith(f"{WORKAROUND}  in-flight\n")
    assert "picked by AUTOSEL, 14 of 27" in row
    assert f"[ Upstream commit {WORKAROUND} ]" in row


def test_the_list_of_6_6_tells_released_from_dropped(shown: Shown) -> None:
    """What the announcement names is released; what a maintainer took out is dropped."""
    listed = shown.after("backports 6.6")
    assert f"{WORKAROUND}  released\n" in listed
    assert f"{DROPPED}  dropped\n" in listed


def test_a_missing_program_is_named(tmp_path: pathlib.Path) -> None:
    """Without patchlore on the PATH the script says so and how to go on."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "dirname"):
        (bare / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        [str(DEMO / "run")],
        cwd=tmp_path,
        env={"PATH": str(bare)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "no 'patchlore' on the PATH" in done.stderr


def test_the_inbox_is_the_same_whenever_it_is_made(tmp_path: pathlib.Path) -> None:
    """Two runs of make-inbox give the same commit, whatever git is told by the surroundings."""
    tips = []
    for name, author in (("one", "ada"), ("two", "bo")):
        env = environment(tmp_path) | {"GIT_AUTHOR_NAME": author, "GIT_DEFAULT_HASH": "sha256"}
        subprocess.run(
            [str(DEMO / "make-inbox"), name], cwd=tmp_path, env=env, check=True, timeout=60
        )
        repository = str(tmp_path / name / "git" / "0.git")
        tips.append(
            subprocess.run(
                ["git", "--git-dir", repository, "rev-parse", "master"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    assert tips[0] == tips[1]


def test_every_patch_that_is_offered_is_one_for_git(
    messages: list[Message], tmp_path: pathlib.Path
) -> None:
    """What counts as applicable is read by git with the same files and counts."""
    offered = [message for message in messages if message.applicable]
    assert len(offered) == 16
    for message in offered:
        counted = subprocess.run(
            ["git", "apply", "--numstat", "-"],
            cwd=tmp_path,
            input=message.body,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        lines = [f"{file.added}\t{file.removed}\t{file.path}\n" for file in message.files]
        assert counted == "".join(lines), message.subject


def test_damaged_mails_are_kept_and_say_what_is_wrong(messages: list[Message]) -> None:
    """A patch that breaks off and a mail without a blank line are there, with their defects."""
    damaged = [message for message in messages if "/damaged/" in message.source.path]
    assert [message.defects[0].code for message in damaged] == [
        "truncated-hunk",
        "no-blank-line-after-headers",
    ]


def test_all_people_are_invented(messages: list[Message]) -> None:
    """Every address is of a domain kept for examples; only the stable list's name is real."""
    addresses = {address for message in messages for address in _addresses(message)}
    real = {
        address
        for address in addresses
        if re.search(r"[@.]example\.(?:com|net|org)\Z", address) is None
    }
    assert real == {"stable@vger.kernel.org"}


def _addresses(message: Message) -> Iterator[str]:
    for person in (message.from_, message.author, *message.to, *message.cc):
        if person is not None and person.email is not None:
            yield person.email
    yield from re.findall(r"[\w.+-]+@(?!\.\.\.|x{3})[\w.-]+\w", message.body)

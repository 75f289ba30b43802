"""Files, counts and patch ids are those that git itself gives, whatever the trees are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ingest.letters import letter, parse
from tests.ingest.repositories import GIT, Repository, Tree

pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")

#: Lines that look like something else: headers, marks, signatures, separators.
ODD_LINES = [
    b"", b" ", b"a", b"b", b"\tif (lamp) {", b"}", b"-- first draft", b"++ counter",
    b"--- a/lamp.c", b"+++ b/lamp.c", b"diff --git a/x b/x", b"@@ -1 +1 @@", b"-- ", b"---",
    b"From nora", b"> quoted", b"\\ No newline at end of file", b"index 1..2", b"GIT binary patch",
    b"\x0c", b"caf\xc3\xa9", b"caf\xe9", b"\xe2\x80\xa8", b"Binary files a and b differ",
    b"crlf\r", b"0123456789abcdef0123456789abcdef01234567", b"commit 0123456789",
]  # fmt: skip
NAMES = [
    "lamp.c", "lib/lamp.c", "lib/lamp two.c", "b/lamp.c", "a/b/c.h", "x b/y", "dash-lamp",
    "ü/lämp.c", 'quo"te', "tab\tname", "deep/er/and/deeper/lamp.c",
]  # fmt: skip


def contents() -> st.SearchStrategy[bytes]:
    """What files hold: odd lines, with and without the last line end, binary now and then."""
    text = st.builds(
        lambda lines, end: b"\n".join(lines) + (b"\n" if end and lines else b""),
        st.lists(st.sampled_from(ODD_LINES), max_size=25),
        st.booleans(),
    )
    return st.one_of(text, text, text, st.just(b"\x00binary\x01"), st.just(b"\x00other"))


def trees() -> st.SearchStrategy[Tree]:
    """A few files under odd names; a name is never a file and a folder at once."""
    entry = st.tuples(contents(), st.booleans())
    return st.dictionaries(st.sampled_from(NAMES), entry, max_size=4)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """One repository for all examples: objects are added, nothing else changes."""
    folder: Path = tmp_path_factory.mktemp("git")
    return Repository(folder)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=trees(), new=trees(), options=st.sampled_from([(), ("--binary",), ("-U0",), ("-U1",)]))
def test_files_counts_and_patch_id(
    repository: Repository, old: Tree, new: Tree, options: tuple[str, ...]
) -> None:
    """A diff of two random trees, mailed, gives what git reads from it."""
    diff = repository.diff(old, new, *options)
    message = parse(letter("Text.\n---\n\n").replace(b"\n\n\n", b"\n\n") + diff + b"-- \n2.41.0\n")
    assert [(f.path, f.added, f.removed) for f in message.files] == repository.numstat(diff)
    assert message.patch_id == repository.patch_id(diff)
    assert message.is_patch is bool(diff)
    if "--binary" in options and diff:
        assert message.applicable


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=trees(), new=trees())
def test_statuses(repository: Repository, old: Tree, new: Tree) -> None:
    """Each file is added, deleted or modified as ``git diff --name-status`` says."""
    before, after = repository.write_tree(old), repository.write_tree(new)
    listing = repository.git(
        "diff-tree", "-r", "-z", "--no-renames", "--name-status", before, after
    )
    words = listing.decode("utf-8", "replace").split("\0")[:-1]
    wanted = dict(zip(words[1::2], words[::2], strict=True))
    diff = repository.git("diff-tree", "-p", "--binary", "--no-renames", before, after)
    message = parse(letter("Text.\n---\n") + diff)
    names = {"A": "added", "D": "deleted", "M": "modified"}
    got = {f.path: "modified" if f.status == "mode_change" else f.status for f in message.files}
    assert got == {path: names[letter_] for path, letter_ in wanted.items()}


FORMS: list[tuple[str, ...]] = [
    (),
    ("--binary",),
    ("--full-index",),
    ("--no-prefix",),
    ("--src-prefix=i/", "--dst-prefix=w/"),
    ("-U0",),
    ("-U10",),
    ("-C", "--find-copies-harder"),
    ("-W",),
    ("--minimal",),
]


@pytest.mark.parametrize("options", FORMS, ids=[" ".join(form) or "plain" for form in FORMS])
def test_options_of_git_diff(repository: Repository, options: tuple[str, ...]) -> None:
    """Renames, copies, modes, binary files, empty files in each of git's spellings."""
    lines = b"".join(b"line %d\n" % n for n in range(40))
    edited = lines.replace(b"line 20\n", b"line twenty\n")
    old: Tree = {
        "lib/lamp.c": (lines, False),
        "run me": (b"#!/bin/sh\n", False),
        "picture": (b"\x00\x01", False),
        "gone": (b"a\n", False),
        "empty": (b"", False),
    }
    new: Tree = {
        "lib/light.c": (edited, False),
        "run me": (b"#!/bin/sh\n", True),
        "picture": (b"\x00\x02", False),
        "ünï": (b"", False),
        "fresh": (b"no end", False),
        "empty": (b"full\n", False),
    }
    diff = repository.diff(old, new, *options)
    message = parse(letter("Text.\n---\n\n") + diff + b"-- \n2.41.0\n")
    if "--no-prefix" in options:
        wanted = [
            (path, added, removed)
            for path, added, removed in _numstat_without_prefix(repository, diff)
        ]
    else:
        wanted = repository.numstat(diff)
    assert [(f.path, f.added, f.removed) for f in message.files] == wanted
    assert message.patch_id == repository.patch_id(diff)
    status = {f.path: f.status for f in message.files}
    assert status["run me"] == "mode_change"
    assert status["lib/light.c"] == "renamed"
    assert status["picture"] == "modified"
    assert status["ünï"] in ("added", "copied")
    renamed = next(f for f in message.files if f.path == "lib/light.c")
    assert renamed.old_path == "lib/lamp.c"


def _numstat_without_prefix(
    repository: Repository, diff: bytes
) -> list[tuple[str, int | None, int | None]]:
    out = repository.git("apply", "-p0", "--numstat", "-z", data=diff)
    found = []
    for record in out.split(b"\0"):
        if record:
            added, removed, path = record.split(b"\t", 2)
            counts = [None if n == b"-" else int(n) for n in (added, removed)]
            found.append((path.decode(), counts[0], counts[1]))
    return found


def test_format_patch_of_a_commit(repository: Repository) -> None:
    """A mail that git format-patch wrote: author, date, message, files, own commit."""
    tree = repository.write_tree({"lamp.c": (b"on\n", False)})
    first = repository.git("commit-tree", "-m", "start", tree).decode().strip()
    tree = repository.write_tree({"lamp.c": (b"dim\n", False)})
    text = "lamp: dim\n\nText with a --- inside.\n\nSigned-off-by: Nora Finch <nora@example.org>\n"
    commit = repository.git("commit-tree", "-p", first, "-m", text, tree).decode().strip()
    data = repository.git("format-patch", "--stdout", "-1", commit)
    message = parse(data)
    assert message.own_commit == commit
    assert message.clean_subject == "lamp: dim"
    assert message.commit_message == (
        "Text with a --- inside.\n\nSigned-off-by: Nora Finch <nora@example.org>"
    )
    assert [(f.path, f.added, f.removed) for f in message.files] == [("lamp.c", 1, 1)]
    assert message.patch_id == repository.patch_id(data)


@pytest.mark.parametrize(
    ("name", "is_outside"),
    [
        (".git/hooks/post-checkout", True),
        ("lib/.GIT/config", True),
        (".git. /config", True),
        ("git~1/config", True),
        ("../../lamp.c", True),
        ("lib/../../lamp.c", True),
        (".gitignore", False),
        ("lib/.gitattributes", False),
        ("..lamp/lamp..c", False),
        ("git/lamp.c", False),
    ],
)
def test_a_file_outside_of_the_tree_is_not_offered(
    tmp_path: Path, name: str, *, is_outside: bool
) -> None:
    """What git apply refuses is applicable for nobody; the defect names the file."""
    diff = (
        f"diff --git a/{name} b/{name}\nnew file mode 100755\nindex 0000000..5626abf\n"
        f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+one\n"
    )
    message = parse(letter(f"Light.\n---\n\n{diff}", subject="[PATCH] lamp: light"))
    assert [change.path for change in message.files] == [name]
    assert message.applicable != is_outside
    outside = [item.text for item in message.defects if item.code == "path-outside-tree"]
    assert outside == ([name] if is_outside else [])
    (tmp_path / "tree").mkdir()
    made = subprocess.run(["git", "init", "-q"], cwd=tmp_path / "tree", check=False)
    done = subprocess.run(
        ["git", "apply", "--check"], cwd=tmp_path / "tree", input=diff.encode(), check=False
    )
    assert (made.returncode, done.returncode != 0) == (0, is_outside)


def test_an_absolute_path_is_not_offered() -> None:
    """It is that of a machine, not of a tree."""
    diff = "--- /etc/lamp.conf\n+++ /etc/lamp.conf\n@@ -1 +1 @@\n-one\n+two\n"
    message = parse(letter(f"Light.\n---\n\n{diff}", subject="[PATCH] lamp: light"))
    assert not message.applicable

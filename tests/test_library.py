"""The public library: the examples of its document, and that it says what the commands say."""

from __future__ import annotations

import doctest
import io
import json
import os
import pathlib
import subprocess
import sys

import msgspec
import pytest

import patchlore
from patchlore.cli import main
from patchlore.kb.errors import NoArchiveError, NotFoundError
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with an archive of the demo's mail in it."""
    from patchlore.index.indexing import update_index

    folder = tmp_path_factory.mktemp("library")
    with Archive(folder / "demo.archive", write=True) as archive:
        fill(archive, [str(ROOT / "demo" / "mail")], jobs=0)
    update_index(folder / "demo.archive")
    return folder


def test_the_examples_print_what_the_document_says(
    demo: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/library.md is run as it stands."""
    monkeypatch.chdir(demo)
    text = (ROOT / "docs" / "library.md").read_text("utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, "library.md", "docs/library.md", 0)
    assert len(examples.examples) > 25
    said = io.StringIO()
    failed, _ = doctest.DocTestRunner(verbose=False).run(examples, out=said.write)
    assert not failed, said.getvalue()


def test_the_library_says_what_the_commands_print(
    demo: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A dossier is the object that --json prints; an export is the same bytes."""
    path = str(demo / "demo.archive")
    assert main(["--archive", path, "pr", "199201", "--json"]) == 0
    printed = capfdbinary.readouterr().out
    with patchlore.open_archive(path) as archive:
        dossier = json.loads(msgspec.json.encode(archive.bug("199201")))
        assert set(dossier) <= set(json.loads(printed))
        assert len(dossier["hits"]) == len(json.loads(printed)["hits"])
        out = io.BytesIO()
        number = archive.export_mbox(out)
        assert len(list(archive.keys())) == len(archive) == number
    assert main(["--archive", path, "export", "--all"]) == 0
    assert capfdbinary.readouterr().out == out.getvalue()


def test_rows_are_written_in_every_format_of_the_command(demo: pathlib.Path) -> None:
    """The ids of a list, as bytes into any file."""
    with patchlore.open_archive(demo / "demo.archive") as archive:
        out = io.BytesIO()
        notes = archive.write_backports("ids", "6.6", archive.backports("6.6"), out)
    assert len(out.getvalue().split()) == 3
    assert notes == ["1 row left out: the upstream commit is not known in full."]


def test_what_is_not_there_is_an_error_for_a_person(demo: pathlib.Path) -> None:
    """No archive, no bug, no mail."""
    with pytest.raises(NoArchiveError, match="ingest SOURCE"):
        patchlore.open_archive(demo / "absent")
    with patchlore.open_archive(demo / "demo.archive") as archive:
        assert "absent@example.org" not in archive
        with pytest.raises(NotFoundError):
            archive.bug("no bug")
        with pytest.raises(NotFoundError):
            archive.series("absent@example.org")


def test_a_library_never_writes(demo: pathlib.Path) -> None:
    """The database is opened read-only."""
    with (
        patchlore.open_archive(demo / "demo.archive") as archive,
        pytest.raises(Exception, match="can't be written"),
    ):
        archive._archive.execute("DELETE FROM message")


def test_importing_patchlore_is_cheap() -> None:
    """Nothing heavy is loaded until an archive is opened."""
    code = (
        "import sys, patchlore; print(any(name in sys.modules for name in ('msgspec', 'sqlite3')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout == "False\n"

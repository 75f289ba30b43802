"""The measuring of searches: on any archive, and beside what other programs have indexed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import search
from patchlore.index.indexing import update_index
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive

DEMO = Path(__file__).parents[2] / "demo" / "mail"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's mails with a text index."""
    path = tmp_path_factory.mktemp("bench") / "archive"
    with Archive(path, write=True) as archive:
        fill(archive, [str(DEMO)], jobs=0)
    update_index(path)
    return path


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> dict[str, dict[str, object]]:
    """What the script prints as JSON."""
    monkeypatch.setattr("sys.argv", ["search", *arguments, "--questions", "2", "--json"])
    assert search.main() == 0
    report: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)
    return report


def test_each_kind_of_question_is_asked_of_a_small_archive(
    indexed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive of a few mails has fewer values than would be drawn from a large one."""
    figures = run(capsys, monkeypatch, str(indexed))[str(indexed)]
    assert {"facts all kinds", "words default order", "regex over all diffs"} <= set(figures)
    assert {"program facts", "program words"} <= set(figures)


def test_what_others_have_indexed_is_kept_and_asked_again(
    indexed: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Indexing 80,000 mails takes others minutes; a second run finds what they made."""
    monkeypatch.setattr("bench.search_peers.shutil.which", lambda name: None)
    arguments = [str(indexed), "--mails", "10", "--kept", str(tmp_path)]
    first = run(capsys, monkeypatch, *arguments)["others"]
    noted = (tmp_path / "filled.json").read_bytes()
    second = run(capsys, monkeypatch, *arguments)["others"]
    assert first["notmuch"] == second["notmuch"] == "is not installed"
    assert "indexing" in str(first["patchlore"])
    assert (tmp_path / "filled.json").read_bytes() == noted

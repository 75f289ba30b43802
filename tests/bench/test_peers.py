"""The comparison of programs: fills, counts, and what is said about those that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import json

from bench import flat, lore, peers
from bench.lore import Answer, Comparison
from bench.lore_queries import Question, make_questions
from bench.material import Material, invented_mails, make_epoch, prepare
from bench.measuring import ProgramFailed, Usage, run
from bench.peer_programs import Patchlore
from patchlore.index.indexing import update_index
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive


class Absent:
    """A program that is not installed."""

    name = "absent"

    def missing(self) -> str | None:
        """Say so."""
        return "absent is not installed"

    def fill(self, home: Path, material: Material) -> Usage:
        """Never called."""
        raise AssertionError

    def count(self, home: Path, material: Material) -> int:
        """Never called."""
        raise AssertionError

    def size(self, home: Path) -> int:
        """Never called."""
        raise AssertionError


class Forgetful(Absent):
    """A program that loses half of all mails."""

    name = "forgetful"

    def missing(self) -> str | None:
        """It is here."""
        return None

    def fill(self, home: Path, material: Material) -> Usage:
        """Take two seconds."""
        return Usage(2.0, 1.0, 5_000_000)

    def count(self, home: Path, material: Material) -> int:
        """Half."""
        return material.mails // 2

    def size(self, home: Path) -> int:
        """Nothing."""
        return 0


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """Thirty invented mails."""
    folder = tmp_path_factory.mktemp("material")
    return prepare(make_epoch(invented_mails(30), folder / "inbox"), folder / "mail")


def test_each_way_to_fill_an_archive_holds_all_mails(material: Material, tmp_path: Path) -> None:
    """Both engines and facts alone are filled from nothing and asked."""
    ours = [
        Patchlore("patchlore", "whoosh"),
        Patchlore("patchlore sqlite", "sqlite"),
        Patchlore("patchlore facts", None),
    ]
    report = peers.compare(ours, material, {program.name: 1 for program in ours}, tmp_path)
    assert [result.problem for result in report.results] == [None] * 3
    assert [result.held for result in report.results] == [30] * 3
    assert all(report.is_complete(result) and result.size for result in report.results)


def test_what_is_not_installed_is_named_and_left_out(material: Material, tmp_path: Path) -> None:
    """A missing program is in the report, with the reason, and without figures."""
    report = peers.compare([Absent()], material, {"absent": 1}, tmp_path)
    assert not report.results
    assert "absent                   left out: absent is not installed" in peers.lines(report)


def test_a_program_that_holds_too_few_mails_is_told(material: Material, tmp_path: Path) -> None:
    """Fast is who has all mails: a fill that lost some is marked."""
    report = peers.compare([Forgetful()], material, {"forgetful": 2}, tmp_path)
    (result,) = report.results
    assert not report.is_complete(result)
    assert result.rates(material.mails) == [15.0, 15.0]
    assert any("NOT ALL MAILS" in line for line in peers.lines(report))


def test_ratios_are_of_common_rounds() -> None:
    """A program with fewer rounds is compared in those that it took part in."""
    report = peers.Report(
        mails=1, distinct=1, size=1, left_out={},
        results=[
            peers.Result(name="patchlore", rounds=[Usage(2.0), Usage(1.0), Usage(1.0)]),
            peers.Result(name="notmuch", rounds=[Usage(8.0), None, None]),
        ],
    )  # fmt: skip
    assert report.ratio("patchlore", "notmuch") == 4.0
    assert report.ratio("patchlore", "mu") is None
    assert any("notmuch 4.00 (3: met)" in line for line in peers.lines(report))


def test_the_command_fills_and_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`python -m bench.peers` works without any other program."""
    arguments = ["--mails", "20", "--rounds", "1", "--only", "patchlore facts", "--json"]
    assert peers.main([*arguments, "--scratch", str(tmp_path)]) == 0
    report = json.decode(capsys.readouterr().out, type=peers.Report)
    assert report.results[0].held == 20


def test_an_unknown_program_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    """--only names those that there are."""
    with pytest.raises(SystemExit):
        peers.main(["--only", "nothing"])
    assert "there is no program 'nothing'" in capsys.readouterr().err


def test_a_program_that_fails_is_quoted() -> None:
    """Its status and the end of what it said."""
    with pytest.raises(ProgramFailed, match="ended with 3: no mail"):
        run(["sh", "-c", "echo no mail; exit 3"])


def test_the_cost_of_a_program_is_that_of_its_children_too() -> None:
    """Processor time and memory of what it started."""
    usage, output = run(["sh", "-c", "head -c 30000000 /dev/zero | tail -c 30000000 | wc -c"])
    assert output.strip() == "30000000"
    assert usage.seconds > 0
    assert usage.peak > 1_000_000


def test_small_and_large_archives_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m bench.flat` prints each figure beside its aim."""
    flat.main(["--mails", "40", "--part", "10"])
    text = capsys.readouterr().out
    assert "time for a thousand mails, large / small" in text
    assert "second run, s" in text


def test_questions_are_made_of_the_mails(material: Material, tmp_path: Path) -> None:
    """Each form that the mails can answer is asked, and the same seed asks the same."""
    with Archive(tmp_path, write=True) as archive:
        fill(archive, [str(material.epoch)], jobs=0)
        update_index(tmp_path)
        questions = make_questions(archive, 100)
        assert questions == make_questions(archive, 100)
    forms = {question.form for question in questions}
    assert {"word", "s:", "dfb:", "dfn: path", "d:a..b", "patchid:", "a OR b"} <= forms
    assert all(question.query for question in questions)


def test_sets_are_compared() -> None:
    """Common mails by all mails, and which are found by one side only."""
    found = lore.compare(Question("s:", "s:lock"), Answer(["a", "b", "c"]), {"b", "c", "d"})
    assert (found.index, found.only_theirs, found.only_ours) == (0.5, ["a"], ["d"])
    nothing = lore.compare(Question("s:", "s:lock"), Answer([]), set())
    assert nothing.index == 1.0


def test_agreement_is_told_by_form_and_each_difference_named() -> None:
    """Exact forms must be equal, words nearly."""
    rows = [
        Comparison(form="s:", query="s:lock", exact=False, theirs=2, ours=2, index=1.0),
        Comparison(
            form="mid:", query="mid:a@example.org", exact=True, theirs=1, ours=0, index=0.0,
            only_theirs=["a@example.org"],
        ),
    ]  # fmt: skip
    assert lore.is_good(rows[:1])
    assert not lore.is_good(rows)
    text = "\n".join(lore.lines(rows, 3))
    assert "0.000 mid:a@example.org: theirs 1, ours 0" in text
    assert "only theirs: a@example.org" in text

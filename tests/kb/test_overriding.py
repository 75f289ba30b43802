"""Overrides of a list from files: own lines, blacklists, the CVE team's files."""

from __future__ import annotations

import csv
import io
import json
import pathlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb import overriding
from patchlore.kb.backports import Row, backports
from patchlore.kb.edges import update_edges
from patchlore.kb.errors import UsageError
from patchlore.kb.export import writer
from patchlore.kb.git_filling import fill_tree
from patchlore.kb.overriding import apply, read_overrides
from patchlore.kb.store import Archive
from tests.kb.backport_mails import add, mail, mainline
from tests.kb.git_repositories import Repository
from tests.kb.mails import OTHER, UPSTREAM, raw_of
from tests.kb.postings import notice, posting
from tests.kb.test_export_security import CVE, announced

Result = tuple[list[Row], list[str], list[str]]
Override = Callable[..., Result]


@pytest.fixture
def override(tmp_path: pathlib.Path) -> Override:
    """Return what becomes of a list of two rows (in flight and queued) by a file of these lines."""
    made = [posting(1, OTHER, clean_subject="tick: other"), notice(2, "added")]
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.add(made, [raw_of(item) for item in made])

    def run(*lines: str, tree: str = "5.10.y") -> Result:
        path = tmp_path / "own.txt"
        path.write_text("".join(f"{line}\n" for line in lines))
        overrides = read_overrides(str(path))
        for rule in overrides.rules:
            rule.file = "own.txt"
        with Archive(tmp_path / "archive") as archive:
            rows, notes = apply(archive, tree, backports(archive, "5.10"), overrides)
        problems = [text.replace(str(path), "own.txt") for text in overrides.problems]
        return rows, notes, problems

    return run


def states(result: Result) -> list[str]:
    """Return the states of the rows."""
    return [row.state for row in result[0]]


def test_a_line_sets_the_state_with_its_reason(override: Override) -> None:
    """The reason names file and line; what the row was before is kept."""
    rows, notes, problems = override(
        "# ours", "", f"{UPSTREAM[:12]} not-affected 5.10 # the driver came with 5.12"
    )
    assert [row.state for row in rows] == ["in-flight", "not-affected"]
    assert rows[1].reason == "overridden in own.txt:3: the driver came with 5.12"
    found = rows[1].override
    assert found is not None
    assert (found.file, found.line, found.was) == ("own.txt", 3, "queued")
    assert found.text == f"{UPSTREAM[:12]} not-affected 5.10 # the driver came with 5.12"
    assert rows[0].override is None
    assert notes == problems == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"{UPSTREAM} ignore # no", ["in-flight", "opted-out"]),
        (f"{UPSTREAM}", ["in-flight", "opted-out"]),
        (f"{UPSTREAM} # a blacklist of git-fixes", ["in-flight", "opted-out"]),
        (f"{UPSTREAM.upper()} NEEDED", ["in-flight", "needed"]),
        (f"{OTHER[:7]} released linux-5.10.y", ["released", "queued"]),
        (f"{OTHER[:7]} released 5.15", ["in-flight", "queued"]),
        (f"{OTHER}  dropped  5.10#no-tree", ["in-flight", "queued"]),
    ],
)
def test_the_forms_of_a_line(override: Override, line: str, expected: list[str]) -> None:
    """A commit alone is ignored, a state may be in capitals, another tree's line is not ours."""
    assert states(override(line)) == expected


def test_the_last_line_holds(override: Override) -> None:
    """A later line takes back an earlier one."""
    rows, notes, _ = override(f"{UPSTREAM} ignore # a", f"{UPSTREAM[:9]} needed # b")
    assert (rows[1].state, rows[1].reason) == ("needed", "overridden in own.txt:2: b")
    assert notes == []


def test_bad_lines_are_told_and_the_rest_goes_on(override: Override) -> None:
    """With file and line and what is wrong."""
    rows, _, problems = override(
        f"{UPSTREAM} lost # x",
        "abc123 needed",
        "tick needed",
        f"{UPSTREAM} needed 5.10 because",
        f"{UPSTREAM} needed net-next",
        "x" * 3000,
        f"{OTHER} needed # this one is right",
    )
    assert [row.state for row in rows] == ["needed", "queued"]
    assert [text.partition(": ")[0] for text in problems] == [
        f"own.txt:{number}" for number in (1, 2, 3, 4, 5, 6)
    ]
    assert "'lost' is no state: use needed, nominated" in problems[0]
    assert "no commit of 7 to 40 digits" in problems[1]
    assert "goes on behind the tree" in problems[3]
    assert "'net-next' is no tree" in problems[4]


def test_lines_that_are_about_no_row_are_told(override: Override) -> None:
    """The first few by name; those for another tree are none."""
    lines = [f"{number:040x} ignore" for number in range(1, 6)]
    _, notes, _ = override(*lines, f"{'5' * 40} ignore 6.1")
    assert notes == [
        "5 lines of overrides that no row of 5.10 is about: "
        + ", ".join(f"own.txt:{number} ({number:040x})" for number in (1, 2, 3))
        + " …"
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["clock.c", "tick-1.c # not built"], "opted-out"),
        (["clock.c"], "in-flight"),
        (["sound/"], "in-flight"),
    ],
)
def test_a_commit_that_touches_only_such_paths_is_ignored(
    tmp_path: pathlib.Path, paths: list[str], expected: str
) -> None:
    """As SUSE's blacklist.conf has it; a path is a file or a folder."""
    made = mainline(tmp_path / "clock")
    (tmp_path / "blacklist.conf").write_text("\n".join(paths))
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, [mail(made, 0)])
        overrides = read_overrides(str(tmp_path / "blacklist.conf"))
        rows, _ = apply(archive, "5.10.y", backports(archive, "5.10"), overrides)
    assert overrides.problems == []
    assert [row.state for row in rows] == [expected]


def test_a_cve_names_its_rows(tmp_path: pathlib.Path) -> None:
    """A line may begin with a CVE; a rejected one is ignored, by name or by its commit."""
    made = mainline(tmp_path / "clock")
    rejected = tmp_path / "cve" / "rejected" / "2024"
    rejected.mkdir(parents=True)
    (rejected / f"{CVE}.sha1").write_text(f"{made.shas[1]}\n")
    (rejected / f"{CVE}.json").write_text("{}")
    (tmp_path / "own").write_text(f"{CVE.lower()} ignore # we don't build it\n")
    with Archive(tmp_path / "archive", write=True) as archive:
        add(archive, [mail(made, 0), mail(made, 1), announced(made.shas[0])])
        found = []
        for path in (tmp_path / "own", tmp_path / "cve"):
            overrides = read_overrides(str(path))
            rows, _ = apply(archive, "5.10.y", backports(archive, "5.10"), overrides)
            assert overrides.problems == []
            found.append({row.sha: row.state for row in rows})
    one, other = made.shas[:2]
    assert [(item[one], item[other]) for item in found] == [
        ("opted-out", "in-flight"),
        ("in-flight", "opted-out"),
    ]


def test_where_a_fault_came_from_decides_about_a_tree(tmp_path: pathlib.Path) -> None:
    """A .vulnerable file names the commit; a tree that lacks it is not affected."""
    repository = Repository(tmp_path / "clock")
    old = repository.commit("tick: begin")
    repository.tag("v5.10")
    repository.git("branch", "linux-5.10.y")
    new = repository.commit("tick: go on")
    (tmp_path / f"{CVE}.vulnerable").write_text(f"{new}\n")
    made = [posting(1), posting(2, OTHER, clean_subject="tick: other")]
    with Archive(tmp_path / "archive", write=True) as archive:
        archive.add(made, [raw_of(item) for item in made])
        add(archive, [announced(UPSTREAM)])
        before = apply_to(archive, tmp_path / f"{CVE}.vulnerable", "unknown")
        fill_tree(archive, "linux", str(repository.folder))
        update_edges(archive)
        after = apply_to(archive, tmp_path / f"{CVE}.vulnerable", "unknown")
        (tmp_path / f"{CVE}.vulnerable").write_text(f"{old[:12]} # older\n")
        older = apply_to(archive, tmp_path / f"{CVE}.vulnerable", "unknown")
        kept = apply_to(archive, tmp_path / f"{CVE}.vulnerable", "released")
    assert before[0] == ("unknown", None)
    assert "from which nothing follows" in str(before[1])
    assert after[0][0] == "not-affected"
    assert str(after[0][1]).endswith(f"{CVE} was introduced by {new[:12]}")
    assert older[0][0] == "needed"
    assert kept[0] == ("released", None)


def apply_to(
    archive: Archive, path: pathlib.Path, state: str
) -> tuple[tuple[str, str | None], list[str]]:
    """Return state and reason of the announced row, that had a state before, and the notes."""
    rows = backports(archive, "5.10")
    for row in rows:
        row.state = state
    rows, notes = apply(archive, "5.10.y", rows, read_overrides(str(path)))
    (row,) = [row for row in rows if row.sha == UPSTREAM]
    return (row.state, row.reason if row.override else None), notes


def test_formats_prove_an_override_by_its_line(override: Override, tmp_path: pathlib.Path) -> None:
    """JSON and CSV have file and line where mail has a Message-ID."""
    rows, _, _ = override(f"{UPSTREAM} ignore # no")
    with Archive(tmp_path / "archive") as archive:
        outs = {}
        for name in ("json", "csv"):
            out = io.BytesIO()
            writer(name)(archive, "5.10.y", rows, out)
            outs[name] = out.getvalue().decode()
    found = json.loads(outs["json"].splitlines()[1])
    assert found["override"] == {
        "file": "own.txt",
        "line": 1,
        "text": f"{UPSTREAM} ignore # no",
        "reason": "no",
        "was": "queued",
    }
    assert found["evidence"]["message_id"] is None
    assert (found["evidence"]["file"], found["evidence"]["rule"]) == ("own.txt", "override")
    cells = list(csv.DictReader(io.StringIO(outs["csv"])))[1]
    assert (cells["message_id"], cells["line"]) == ("", "1")
    assert cells["evidence"] == f"own.txt: {UPSTREAM} ignore # no"


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: pathlib.Path) -> None:
    """A sentence, no traceback."""
    with pytest.raises(UsageError, match="can't be read"):
        read_overrides(str(tmp_path / "no"))


@given(st.binary(max_size=300))
def test_no_file_breaks_the_reader(data: bytes) -> None:
    """Whatever stands in a file, each line is a rule, a problem, or nothing."""
    found = overriding.Overrides(rules=[], problems=[])
    overriding._read("own.txt", data.decode("utf-8", "replace"), found)
    lines = data.decode("utf-8", "replace").count("\n") + 1
    assert len(found.rules) + len(found.problems) <= lines


def test_a_file_of_another_kind_is_not_told_line_by_line() -> None:
    """The first hundred lines that are none are told, the others are counted."""
    found = overriding.Overrides(rules=[], problems=[])
    overriding.parse_overrides("own.txt", b"text\n" * 1000, found)
    assert (len(found.problems), found.more_problems) == (100, 900)

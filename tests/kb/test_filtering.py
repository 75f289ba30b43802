"""What lists are asked for: what changed since a day, paths, people, CVEs, bugs, what is built."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.cli import main
from patchlore.ingest.message import FileChange, Message, Notification, Person, StableNote
from patchlore.kb.backports import Row, backports
from patchlore.kb.built_files import read_built_files
from patchlore.kb.changing import NEW
from patchlore.kb.errors import UsageError
from patchlore.kb.filtering import Filters, files_of
from patchlore.kb.outcomes import Override
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository
from tests.kb.mails import NOON, OTHER, UPSTREAM, message, raw_of, source, tags
from tests.kb.postings import DAY, notice, posting
from tests.kb.stable_trees import Trees, fixing

THIRD = "00112233445566778899aabbccddeeff00112233"


def kept(path: pathlib.Path, filters: Filters, *messages: Message) -> list[Row]:
    """Store messages and return the rows of 5.10 that meet the filters."""
    with Archive(path, write=True) as archive:
        archive.add(messages, [raw_of(item) for item in messages])
        return filters.choose(archive, backports(archive, "5.10"))


@pytest.mark.parametrize(
    ("life", "since", "before"),
    [
        ([posting(1)], 0, NEW),
        ([posting(1)], 5, None),
        ([posting(1), notice(8, "added")], 5, "in-flight"),
        ([posting(1), notice(8, "added")], 9, None),
        ([posting(1), posting(8)], 5, None),
        ([posting(1), notice(3, "failed"), posting(8)], 5, "failed"),
        ([posting(1), notice(3, "failed"), posting(8)], 2, None),
    ],
)
def test_since_compares_states(
    tmp_path: pathlib.Path, life: list[Message], since: int, before: str | None
) -> None:
    """A row is kept when it is new or its state another one; a resend changes nothing."""
    found = kept(tmp_path, Filters(since=NOON + since * DAY), *life)
    assert [row.state_before for row in found] == ([] if before is None else [before])


def test_what_is_concluded_was_so_since_its_line(tmp_path: pathlib.Path) -> None:
    """A commit that mends what the tree has is needed from its own day on, until it is taken."""
    with Archive(tmp_path / "archive", write=True) as archive:
        trees = Trees(tmp_path / "linux", archive)
        fix = trees.main(fixing("clock: begin at one", trees.base, "clock: begin"))  # day 2
        trees.main("clock: paint it")
        rows = trees.rows()
        assert [(row.sha, row.state) for row in rows] == [(fix, "needed")]
        assert Filters(since=NOON + 3 * DAY).choose(archive, rows) == []
        (new,) = Filters(since=NOON + 2 * DAY).choose(archive, rows)
        assert (new.state, new.state_before) == ("needed", NEW)
        trees.backport(fix, "clock: begin at one")  # day 4
        rows = trees.rows()
        (taken,) = Filters(since=NOON + 3 * DAY).choose(archive, rows)
        assert (taken.state, taken.state_before) == ("queued", "needed")
        assert Filters(since=NOON + 5 * DAY).choose(archive, rows) == []


def test_a_nomination_that_got_its_commit_is_not_new(tmp_path: pathlib.Path) -> None:
    """That it became this commit is known since, and counts for the day before, too."""
    asked = message(
        "note@example.org",
        is_patch=True,
        cc_stable=[StableNote(range="5.4+", text="# 5.4+")],
        subject_tags=tags(),
    )
    queued = notice(8, "added", clean_subject="tick: use two")
    (found,) = kept(tmp_path, Filters(since=NOON + 5 * DAY), asked, queued)
    assert (found.sha, found.state, found.state_before) == (UPSTREAM, "queued", "needed")


def test_an_override_is_no_change(tmp_path: pathlib.Path) -> None:
    """What a person's file says is not of this week because it is read this week."""
    made = posting(1)
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made)])
        (row,) = backports(archive, "5.10")
        row.override = Override(file="mine", line=1, text="x", reason="", was=row.state)
        row.state = "opted-out"
        assert Filters(since=NOON + 5 * DAY).choose(archive, [row]) == []
        assert Filters(since=NOON).choose(archive, [row]) == [row]


def file_of(path: str) -> list[FileChange]:
    """Return a change of one file."""
    return [FileChange(path=path)]


def test_paths_are_those_of_the_patches(tmp_path: pathlib.Path) -> None:
    """A folder, its old name after a rename; a notice that a release is out has no say."""
    moved = [FileChange(path="fs/new.c", old_path="drivers/old.c", status="renamed")]
    one, other = posting(1, files=moved), posting(2, OTHER, files=file_of("lib/clock.c"))
    with Archive(tmp_path, write=True) as archive:
        archive.add([one, other], [raw_of(one), raw_of(other)])
        rows = backports(archive, "5.10")
        assert files_of(archive, rows) == [{"fs/new.c", "drivers/old.c"}, {"lib/clock.c"}]
        for path, sha in (("drivers", UPSTREAM), ("fs/", UPSTREAM), ("*.c :!fs :!drivers", None)):
            found = Filters(path=path.split()).choose(archive, rows)
            assert [item.sha for item in found] == ([sha] if sha else [OTHER])
        with pytest.raises(UsageError):
            Filters(path=":(attr)x").choose(archive, rows)


def test_an_author_is_who_wrote_the_patch(tmp_path: pathlib.Path) -> None:
    """Who queues or announces has written nothing."""
    keeper = Person(name="Pell Anwick", email="pell@example.org")
    released = message(
        "out@example.org",
        timestamp=NOON + 5 * DAY,
        subject="Linux 5.10.1",
        clean_subject="Linux 5.10.1",
        from_=keeper,
        author=keeper,
        notification=Notification(kind="released", tree="5.10.y", release="5.10.1"),
        body="Ada Quill (1):\n      tick: use two\n",
        line_kinds="ttt",
    )
    made = [posting(1, from_=keeper), released]
    with Archive(tmp_path, write=True) as archive:
        archive.add(made, [raw_of(item) for item in made])
        rows = backports(archive, "5.10")
        assert [item.state for item in rows] == ["released"]
        assert Filters(author="quill").choose(archive, rows) == rows
        assert Filters(author="pell").choose(archive, rows) == []


def test_what_is_not_built_is_left_out(tmp_path: pathlib.Path) -> None:
    """Rows whose patches touch no file of the list are not for this configuration."""
    built = read_built_files(b"drivers/clock.o\n", ["drivers/clock.c"])
    found = kept(
        tmp_path,
        Filters(built=built),
        posting(1, files=file_of("drivers/clock.c")),
        posting(2, OTHER, files=file_of("drivers/bell.c")),
        posting(3, THIRD),
    )
    assert [item.sha for item in found] == [UPSTREAM]


def test_commits_of_git_trees_have_files_and_authors(tmp_path: pathlib.Path) -> None:
    """A backport that only git has is found by its files and its author, too."""
    repository = Repository(tmp_path / "linux")
    repository.commit("clock: begin")
    repository.git("checkout", "-q", "-b", "linux-5.10.y")
    repository.commit(
        f"clock: mend it\n\ncommit {UPSTREAM} upstream.\n", {"drivers/clock.c": "tick\n"}
    )
    path = tmp_path / "archive"
    tree = ["ingest", "--no-index", "--tree", "5.10", str(tmp_path / "linux")]
    assert main(["--archive", str(path), *tree]) == 0
    with Archive(path) as archive:
        rows = [item for item in backports(archive, "5.10") if item.sha == UPSTREAM]
        assert len(rows) == 1
        assert Filters(path="drivers").choose(archive, rows) == rows
        assert Filters(path="fs").choose(archive, rows) == []
        assert Filters(author="ada@").choose(archive, rows) == rows


def test_a_record_connects_a_commit_with_its_cve(tmp_path: pathlib.Path) -> None:
    """The fix that a CVE's announcement names is about the CVE, though no patch says so."""
    made = posting(1)
    with Archive(tmp_path, write=True) as archive:
        archive.add([made], [raw_of(made)])
        archive.execute(
            "INSERT INTO vulnerability (message, position, cve, fixed)"
            " VALUES (1, 0, 'CVE-2024-90001', ?)",
            (UPSTREAM[:12],),
        )
        rows = backports(archive, "5.10")
        assert Filters(cve="cve-2024-90001").choose(archive, rows) == rows
        assert Filters(cve="CVE-2024-90002").choose(archive, rows) == []


def test_filters_ask_once_for_all_rows(tmp_path: pathlib.Path) -> None:
    """The number of questions does not grow with the list."""
    counts = []
    for number in (3, 30):
        with Archive(tmp_path / str(number), write=True) as archive:
            made = [
                posting(n, f"{n:040x}", files=file_of("drivers/clock.c"), source=source(offset=n))
                for n in range(1, number + 1)
            ]
            archive.add(made, [raw_of(item) for item in made])
            rows = backports(archive, "5.10")
            asked: list[str] = []
            archive.connection.set_trace_callback(asked.append)
            filters = Filters(since=1, path="drivers", author="ada", cve="CVE-2024-1")
            filters.choose(archive, rows)
            archive.connection.set_trace_callback(None)
            counts.append(len(asked))
    assert counts[0] == counts[1] < 100


def test_a_note_alone_has_the_files_of_its_patch(tmp_path: pathlib.Path) -> None:
    """A nomination is a patch, too."""
    made = message(
        "note@example.org",
        is_patch=True,
        cc_stable=[StableNote(range="5.4+", text="# 5.4+")],
        files=file_of("drivers/clock.c"),
        subject_tags=tags(),
    )
    (found,) = kept(tmp_path, Filters(path="drivers"), made)
    assert found.state == "nominated"

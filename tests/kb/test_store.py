"""Opening archives, storing batches, merging copies, redoing facts."""

from __future__ import annotations

import itertools
import pathlib
import sqlite3

import pytest

from patchlore.ingest.message import (
    CommitRef,
    Evidence,
    FileChange,
    GccBug,
    Message,
    Person,
    Trailer,
    UpstreamRef,
)
from patchlore.ingest.sources.items import Mark
from patchlore.kb.checking import check
from patchlore.kb.database import FILE_NAME
from patchlore.kb.errors import ArchiveError, NoArchiveError
from patchlore.kb.repairing import rescue
from patchlore.kb.store import SCHEMA_VERSION, Added, Archive
from tests.kb.mails import ADA, NOON, OTHER, UPSTREAM, message, raw_of, source


def store(path: pathlib.Path, *messages: Message) -> Added:
    """Store messages as one batch."""
    with Archive(path, write=True) as archive:
        return archive.add(messages, [raw_of(item) for item in messages])


def test_reading_without_an_archive_says_how_to_make_one(tmp_path: pathlib.Path) -> None:
    """Where no archive is, the error names the command that makes it."""
    with pytest.raises(NoArchiveError, match="ingest SOURCE"):
        Archive(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_second_writer_is_refused(tmp_path: pathlib.Path) -> None:
    """While one writes, another is told so; a reader is welcome."""
    with Archive(tmp_path, write=True):
        with pytest.raises(ArchiveError, match="Another patchlore is writing"):
            Archive(tmp_path, write=True)
        with Archive(tmp_path) as reader:
            assert reader.value("SELECT count(*) FROM message") == 0
    with Archive(tmp_path, write=True):
        pass


def test_a_newer_archive_is_refused(tmp_path: pathlib.Path) -> None:
    """An archive of a later schema asks for an update of the program."""
    Archive(tmp_path, write=True).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(ArchiveError, match="newer patchlore"):
        Archive(tmp_path)


def test_a_file_that_is_no_database_is_named(tmp_path: pathlib.Path) -> None:
    """A torn file is called damaged, with what to do."""
    (tmp_path / FILE_NAME).write_bytes(b"not a database, but long enough to have a header" * 50)
    with pytest.raises(ArchiveError, match="is damaged"):
        Archive(tmp_path)


def test_a_foreign_database_is_refused(tmp_path: pathlib.Path) -> None:
    """A database of another program is neither read nor written to."""
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    for write in (False, True):
        with pytest.raises(ArchiveError, match="not an archive of patchlore"):
            Archive(tmp_path, write=write)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: pathlib.Path) -> None:
    """Where a file is in the way, the message says which archive can't be written."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ArchiveError, match="Can't write to the archive"):
        Archive(tmp_path / "file" / "archive", write=True)


def test_a_message_comes_back_as_it_was(tmp_path: pathlib.Path) -> None:
    """Facts, evidence and raw mail are read back unchanged."""
    made = message(
        upstream_refs=[UpstreamRef(sha=UPSTREAM, form="commit-upstream")],
        upstream_commits=[UPSTREAM],
        evidence=[
            Evidence(
                fact="upstream_commits",
                value=UPSTREAM,
                line=1,
                rule="commit-upstream",
                text=f"commit {UPSTREAM} upstream.",
            )
        ],
    )
    assert store(tmp_path, made) == Added(new=1)
    with Archive(tmp_path) as archive:
        assert archive.message(1) == made
        assert archive.raw(1) == raw_of(made).data
        row = archive.execute("SELECT sha, form, line, text FROM commit_ref").fetchone()
    assert row == (UPSTREAM, "commit-upstream", 1, f"commit {UPSTREAM} upstream.")


def test_storing_again_adds_nothing(tmp_path: pathlib.Path) -> None:
    """The same mail from the same source is known, in the same batch and later."""
    made = message()
    assert store(tmp_path, made, made) == Added(new=1, known=1)
    assert store(tmp_path, made) == Added(known=1)
    with Archive(tmp_path) as archive:
        assert archive.value("SELECT count(*) FROM copy") == 1


def test_the_same_bytes_elsewhere_are_a_sighting(tmp_path: pathlib.Path) -> None:
    """A mail found in a second list is one message on two lists, its bytes kept once."""
    made, again = message(), message(source=source("/mail/clocks.mbox", list="clocks"))
    data = b"Message-ID: <one@example.org>\n\ntick\n"
    with Archive(tmp_path, write=True) as archive:
        added = archive.add([made, again], [raw_of(made, data), raw_of(again, data)])
        assert added == Added(new=1, merged=1)
        assert archive.raw_of_copy(2) == data
        assert archive.value("SELECT count(*) FROM raw") == 0
        names = archive.execute(
            "SELECT name FROM list JOIN message_list ON list = list.id ORDER BY name"
        )
        assert [name for (name,) in names] == ["clocks", "widgets"]


@pytest.mark.parametrize("at_once", [True, False])
def test_the_same_bytes_in_another_format_are_stored_once(
    tmp_path: pathlib.Path, at_once: bool
) -> None:
    """A list that is read from its mailbox and from its public-inbox takes no more room."""
    forms = ("mbox", "maildir", "public-inbox", "pipermail-text")
    copies = [message(source=source(f"/{form}", format=form)) for form in forms]
    copies[3].source.fidelity = "masked"
    best = message(source=source("/best"), body=message().body + "\nAnd so it ticks.\n")
    data = raw_of(message()).data
    whole = data + b"\nAnd so it ticks.\n"
    raws = [*(raw_of(item, data) for item in copies), raw_of(best, whole)]
    with Archive(tmp_path, write=True) as archive:
        if at_once:
            archive.add([*copies, best], raws)
        else:
            for item, raw in zip([*copies, best], raws, strict=True):
                archive.add([item], [raw])
        assert archive.value("SELECT count(*) FROM message") == 1
        assert archive.value("SELECT count(*) FROM raw") == 1
        assert [archive.raw_of_copy(copy) for copy in range(1, 6)] == [data] * 4 + [whole]
        assert check(archive).is_sound
    assert rescue(tmp_path).copies == 5
    with Archive(tmp_path) as archive:
        assert archive.value("SELECT count(*) FROM raw") == 1
        assert check(archive).is_sound


def test_marks_are_stored_with_their_batch(tmp_path: pathlib.Path) -> None:
    """A mark is readable once its batch is in, and replaced by the next one."""
    with Archive(tmp_path, write=True) as archive:
        archive.add([], [], [Mark("mbox:/mail/widgets.mbox", "100")])
        archive.add([], [], [Mark("mbox:/mail/widgets.mbox", "250")])
        assert archive.mark_of("mbox:/mail/widgets.mbox") == "250"
        assert archive.mark_of("mbox:/mail/other.mbox") is None


def test_a_failed_batch_leaves_nothing(tmp_path: pathlib.Path) -> None:
    """When one row can't be stored, neither mails nor marks of the batch are there."""
    made = message(subject="lone surrogate \udcff")
    with Archive(tmp_path, write=True) as archive:
        with pytest.raises(UnicodeEncodeError):
            archive.add([message("two@example.org"), made], [raw_of(message()), raw_of(message())])
        assert archive.value("SELECT count(*) FROM message") == 0
        assert archive.mark_of("x") is None


MASKED = message(
    None,
    from_=Person(name="Ada Quill", email_masked="ada@...mple.org"),
    source=source("/pages/1.html", fidelity="masked", format="openwall-html", list=None),
    fixes=[CommitRef(sha="0123456789ab")],
)
WHOLE = message(fixes=[CommitRef(sha="0123456789ab"), CommitRef(sha="fedcba987654")])


@pytest.mark.parametrize("order", [(MASKED, WHOLE), (WHOLE, MASKED)])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_page_and_the_raw_mail_are_one_message(
    tmp_path: pathlib.Path, order: tuple[Message, Message], at_once: bool
) -> None:
    """In either order, the raw copy's facts count, and both copies are kept."""
    if at_once:
        store(tmp_path, *order)
    else:
        for item in order:
            store(tmp_path, item)
    with Archive(tmp_path) as archive:
        assert archive.value("SELECT count(*) FROM message") == 1
        assert archive.value("SELECT count(*) FROM copy") == 2
        assert archive.message(1) == WHOLE
        row = archive.execute("SELECT message_id, fidelity, sender_email FROM mail").fetchone()
        assert row == ("one@example.org", 0, "ada@example.org")
        assert archive.value("SELECT count(*) FROM commit_ref") == 2
        expected = [raw_of(item).data for item in order]
        assert [archive.raw_of_copy(copy) for copy in (1, 2)] == expected


#: The copy of a list that puts its name before subjects, and itself in the place of senders.
BY_LIST = message(
    subject="[clock] [PATCH] tick: use two",
    from_=Person(name="Ada Quill via clock", email="clock@lists.example.net"),
    source=source("/mail/clock.mbox", list="clock"),
    body=WHOLE.body + "-- \nThis list is at lists.example.net.\n",
    line_kinds="tttt",
)
#: A page without the Message-ID.
PAGE = message(
    None,
    from_=Person(name="Ada Quill", email_masked="ada@xxxxxxxxxxx"),
    source=source("/pages/1.html", fidelity="masked"),
)


@pytest.mark.parametrize("order", list(itertools.permutations((WHOLE, BY_LIST, PAGE))))
@pytest.mark.parametrize("at_once", [True, False])
def test_a_copy_that_a_list_has_changed_is_not_the_best(
    tmp_path: pathlib.Path, order: tuple[Message, ...], at_once: bool
) -> None:
    """In any order: one message with the facts of the copy that no list has changed."""
    if at_once:
        store(tmp_path, *order)
    else:
        for item in order:
            store(tmp_path, item)
    with Archive(tmp_path) as archive:
        rows = archive.execute("SELECT key, subject, sender_email FROM mail").fetchall()
        assert rows == [("one@example.org", "[PATCH] tick: use two", "ada@example.org")]
        assert archive.value("SELECT count(*) FROM copy") == 3


def test_redone_facts_raise_the_revision(tmp_path: pathlib.Path) -> None:
    """Who follows the archive sees a message again when its facts were redone."""
    store(tmp_path, MASKED)
    store(tmp_path, message("two@example.org", subject="other", clean_subject="other"))
    with Archive(tmp_path) as archive:
        seen = list(archive.newer_than(0))
    assert seen == [(1, 1), (2, 2)]
    store(tmp_path, WHOLE)
    with Archive(tmp_path) as archive:
        assert list(archive.newer_than(2)) == [(1, 3)]


def test_two_mails_under_one_message_id_stay_two(tmp_path: pathlib.Path) -> None:
    """A robot that reuses its Message-ID sends two messages with keys of their own."""
    later = message(
        timestamp=NOON + 7 * 86400,
        body="Today the clock ticks three times, which nobody has ever asked it to do.\n",
        source=source(offset=5000),
    )
    assert store(tmp_path, message(), later) == Added(new=2)
    with Archive(tmp_path) as archive:
        keys = [key for (key,) in archive.execute("SELECT key FROM mail ORDER BY id")]
    assert keys == ["one@example.org", "one@example.org#2"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_robot_may_send_two_mails_of_one_id_within_hours(
    tmp_path: pathlib.Path, at_once: bool
) -> None:
    """With one subject, too: text and date as they were sent tell them apart."""
    later = message(
        timestamp=NOON + 7200,
        body="Today the clock ticks three times, which nobody has ever asked it to do.\n",
        source=source(offset=5000),
    )
    page = message(
        timestamp=NOON + 3600,  # in the zone of the archive
        source=source("/pages/1.html", fidelity="masked"),
    )
    if at_once:
        store(tmp_path, message(), later, page)
    else:
        for item in (message(), later, page):
            store(tmp_path, item)
    with Archive(tmp_path) as archive:
        rows = archive.execute(
            "SELECT key, count(*) FROM mail JOIN copy ON copy.message = mail.id GROUP BY 1"
        ).fetchall()
    assert rows == [("one@example.org", 2), ("one@example.org#2", 1)]


def test_the_same_subject_from_somebody_else_is_another_mail(tmp_path: pathlib.Path) -> None:
    """Without a Message-ID, another sender on another day is another message."""
    other = message(
        None,
        from_=Person(name="Bo Tern", email_masked="bo@...mple.org"),
        source=source("/pages/2.html", fidelity="masked"),
    )
    assert store(tmp_path, MASKED, other) == Added(new=2)


def test_backports_of_one_commit_without_message_ids_stay_apart(tmp_path: pathlib.Path) -> None:
    """Files of git format-patch for two trees have one title, author and date, and two diffs."""
    for_old, for_new = (
        message(
            None,
            body=f"The clock ticks once where it should tick twice.\n+{number}\n",
            source=source(f"/{number}/fix.patch", format="git-patch"),
        )
        for number in ("4.19", "5.10")
    )
    assert store(tmp_path, for_old, for_new) == Added(new=2)


def test_references_make_threads_with_placeholders(tmp_path: pathlib.Path) -> None:
    """Mails that only share an ancestor that was never seen are in one thread."""
    first = message("a@example.org", references=["root@example.org"])
    second = message(
        "b@example.org", in_reply_to="root@example.org", source=source(offset=9), subject="Re: b"
    )
    apart = message("c@example.org", subject="Re: c", source=source(offset=18))
    store(tmp_path, first, second, apart)
    with Archive(tmp_path) as archive:
        threads = [row[0] for row in archive.execute("SELECT thread FROM mail ORDER BY id")]
    assert threads[0] == threads[1] != threads[2]


def test_a_mail_that_joins_two_threads_makes_them_one(tmp_path: pathlib.Path) -> None:
    """Threads known from earlier batches become one, placeholders among them."""
    store(tmp_path, message("a@example.org", subject="a", clean_subject="a"))
    store(tmp_path, message("b@example.org", subject="b", references=["x@example.org"]))
    store(
        tmp_path,
        message("c@example.org", subject="c", references=["a@example.org", "b@example.org"]),
    )
    with Archive(tmp_path) as archive:
        assert archive.value("SELECT count(DISTINCT thread) FROM mid") == 1


def test_references_that_loop_are_stored(tmp_path: pathlib.Path) -> None:
    """Two mails that answer each other are a thread, not an endless loop."""
    store(
        tmp_path,
        message("a@example.org", subject="a", in_reply_to="b@example.org"),
        message("b@example.org", subject="b", in_reply_to="a@example.org"),
    )
    with Archive(tmp_path) as archive:
        assert archive.value("SELECT count(DISTINCT thread) FROM mid") == 1


def test_each_place_of_a_bug_has_its_line(tmp_path: pathlib.Path) -> None:
    """A bug in a trailer and in an added line is two rows, each with its evidence."""
    lines = [
        "Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=12345",
        "+# see https://gcc.gnu.org/bugzilla/show_bug.cgi?id=12345",
    ]
    made = message(
        body="\n".join(lines),
        line_kinds="t+",
        gcc_prs=[GccBug(number=12345, where=["trailer", "diff-added"])],
        evidence=[
            Evidence(fact="gcc_prs", value="12345", line=number, rule="gcc-url", text=line)
            for number, line in enumerate(lines, 1)
        ],
    )
    store(tmp_path, made)
    with Archive(tmp_path) as archive:
        rows = archive.execute("SELECT place, strength, line, text FROM bug_ref ORDER BY id")
        assert rows.fetchall() == [("trailer", 0, 1, lines[0]), ("diff-added", 1, 2, lines[1])]


def test_people_of_trailers_are_found_by_role(tmp_path: pathlib.Path) -> None:
    """A reviewer is a person with the role of the trailer; a Link is not."""
    made = message(
        trailers=[
            Trailer(key="Reviewed-by", value="Bo Tern <bo@example.org>"),
            Trailer(key="Change-Id", value="I0123"),
        ],
        files=[FileChange(path="kernel/tick.c", added=1, functions=["tick(void)", "tock(void)"])],
    )
    store(tmp_path, made)
    with Archive(tmp_path) as archive:
        people = archive.execute(
            "SELECT role.name, person.email FROM message_person"
            " JOIN role ON role.id = role JOIN person ON person.id = person ORDER BY role.name"
        ).fetchall()
        trailers = archive.execute("SELECT name, value FROM trailer JOIN role ON role.id = role")
        assert trailers.fetchall() == [("change-id", "I0123")]
        assert archive.value("SELECT functions FROM file") == "tick(void)\ntock(void)"
    assert people == [
        ("author", "ada@example.org"),
        ("from", "ada@example.org"),
        ("reviewed-by", "bo@example.org"),
    ]


def test_a_dictionary_is_trained_on_the_first_large_batch(tmp_path: pathlib.Path) -> None:
    """With enough mail the archive has a dictionary, and everything stays readable."""
    store(tmp_path, message("first@example.org", subject="first"))
    mails = [
        message(
            f"{number}@example.org",
            subject=f"[PATCH {number}/300] tick",
            clean_subject=f"tick {number}",
            body="".join(f"{number} line {line} of {hash((number, line))}\n" for line in range(80)),
        )
        for number in range(300)
    ]
    store(tmp_path, *mails)
    with Archive(tmp_path) as archive:
        assert archive.value("SELECT count(*) FROM dictionary") == 1
        assert archive.message(2) == mails[0]
        assert archive.message(1).subject == "first"


def test_commits_are_found_by_prefix(tmp_path: pathlib.Path) -> None:
    """Commits named by abbreviation are found by prefix in both directions."""
    store(tmp_path, message(fixes=[CommitRef(sha=OTHER[:12])], author=ADA))
    with Archive(tmp_path) as archive:
        found = archive.value(
            "SELECT message FROM commit_ref WHERE sha >= ? AND sha < ?",
            (OTHER[:8], OTHER[:8] + "g"),
        )
    assert found == 1

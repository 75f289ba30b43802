"""``patchlore search`` and ``index``: output, exit status, what a terminal gets to see."""

from __future__ import annotations

import json
import pathlib

import pytest

from patchlore.cli import main
from patchlore.commands.search import join_query
from patchlore.ingest.raw import Raw, Source
from tests.index.letters import fill_archive, letters, mail, mid


def run(archive: pathlib.Path, *arguments: str) -> int:
    """Run a command on an archive and return its exit status."""
    return main(["--archive", str(archive), *arguments])


def test_text_shows_date_author_subject_and_line(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hit has its date, author, subject and Message-ID, and the author's line."""
    assert run(archive_path, "search", "night") == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "2024-01-05  Mira Skov                 Plans for 4.15.7",
        f"            {mid(5)}",
        "            We test the testers at night, 100% of them.",
    ]


def test_revisions_are_folded_unless_flat(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Revisions of a patch are one entry; with --flat each stands by itself."""
    run(archive_path, "search", "dfn:ring.c")
    folded = capsys.readouterr().out
    assert mid(6) in folded
    assert mid(1) not in folded
    assert "other revisions: v2 2024-01-01" in folded
    run(archive_path, "search", "--flat", "dfn:ring.c")
    assert mid(1) in capsys.readouterr().out


def posted(number: int, subject: str, sender: str = "Bo <bo@example.org>") -> Raw:
    """Return a patch that is sent by the hour."""
    text = (
        f"From: {sender}\nSubject: {subject}\nMessage-ID: <{number}@example.org>\n"
        f"Date: Tue, 2 Jan 2024 {number:02}:00:00 +0000\n\nThe tail was copied too late.\n---\n"
        "diff --git a/t.c b/t.c\nindex 5626abf..f719efd 100644\n--- a/t.c\n+++ b/t.c\n"
        "@@ -1 +1 @@\n-one\n+two\n"
    )
    source = Source(path=f"/mail/{number}", format="rfc822", list="larch-devel")
    return Raw(data=text.encode(), source=source)


def test_only_revisions_are_folded(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the same patch for a stable tree, a resend, a notice or somebody else's patch."""
    mails = [
        posted(1, "[PATCH] tick: copy the tail"),
        posted(2, "[PATCH v2] tick: copy the tail"),
        posted(3, "[PATCH RESEND v2] tick: copy the tail"),
        posted(4, "[PATCH AUTOSEL 5.10] tick: copy the tail"),
        posted(5, "[PATCH AUTOSEL 5.4] tick: copy the tail"),
        posted(6, 'Patch "tick: copy the tail" has been added to the 5.10-stable tree'),
        posted(7, "[PATCH v3] tick: copy the tail", "Cy <cy@example.org>"),
    ]
    fill_archive(tmp_path, mails)
    assert run(tmp_path, "search", "l:larch") == 0
    out = capsys.readouterr().out
    assert out.count("@example.org") == 6
    assert out.count("other revisions") == 1
    assert "3@example.org\n            other revisions: v1 2024-01-02\n" in out


def part(number: int, subject: str, cover: int, sender: str = "Bo <bo@example.org>") -> Raw:
    """Return a patch that is sent in answer to a cover letter."""
    raw = posted(number, subject, sender)
    head = f"In-Reply-To: <{cover}@example.org>\nMessage-ID:".encode()
    raw.data = raw.data.replace(b"Message-ID:", head, 1)
    return raw


def test_a_series_is_one_entry(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its patches stand below the first that is found, whichever revision has them.

    What AUTOSEL numbers in one thread is no series, nor is somebody else's patch in it.
    """
    mails = [
        posted(1, "[PATCH 0/3] tick: tails"),
        part(2, "[PATCH 1/3] tick: copy the tail", 1),
        part(3, "[PATCH 2/3] tick: cut the tail", 1),
        part(4, "[PATCH 3/3] tick: free the tail", 1),
        posted(5, "[PATCH v2 0/2] tick: tails"),
        part(6, "[PATCH v2 1/2] tick: copy the tail", 5),
        part(7, "[PATCH v2 2/2] tick: free the tail", 5),
        part(8, "[PATCH 2/3] tick: another tail", 1, "Cy <cy@example.org>"),
        posted(9, "[PATCH AUTOSEL 5.4 1/9] tick: a first pick"),
        part(10, "[PATCH AUTOSEL 5.4 2/9] tick: a second pick", 9),
    ]
    fill_archive(tmp_path, mails)
    assert run(tmp_path, "search", "f:bo -is:autosel") == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "2024-01-02  Bo                        [PATCH v2 2/2] tick: free the tail",
        "            7@example.org",
        "            other revisions: v1 2024-01-02",
        "            3 others of the series:",
        "              [PATCH v2 1/2] tick: copy the tail",
        "                6@example.org (also v1)",
        "              [PATCH v2 0/2] tick: tails",
        "                5@example.org (also v1)",
        "              [PATCH 2/3] tick: cut the tail",
        "                3@example.org",
    ]
    for query in ("--flat f:bo", "is:autosel"):
        run(tmp_path, "search", *query.split())
        assert "of the series" not in capsys.readouterr().out


def test_series_are_joined_by_a_patch_of_both(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What of v2 and of v1 is found first is one series when a later hit is in both."""
    mails = [
        part(1, "[PATCH 1/2] tick: copy the tail", 21),
        part(2, "[PATCH v2 1/2] tick: copy the tail", 22),
        part(3, "[PATCH 2/2] tick: cut the tail", 21),
        part(4, "[PATCH v2 2/2] tick: free the tail", 22),
    ]
    fill_archive(tmp_path, mails)
    assert run(tmp_path, "search", "--limit", "1", "f:bo") == 0
    shown = capsys.readouterr()
    assert [line.strip() for line in shown.out.splitlines() if "@" in line] == [
        "4@example.org",
        "3@example.org",
        "2@example.org (also v1)",
    ]
    assert "messages" not in shown.err


def test_the_limit_counts_entries(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight revisions and two other patches are three entries."""
    mails = [posted(n, f"[PATCH v{n}] tick: copy the tail") for n in range(3, 11)]
    fill_archive(
        tmp_path, [posted(1, "[PATCH] tick: end"), posted(2, "[PATCH] tick: begin"), *mails]
    )
    assert run(tmp_path, "search", "--limit", "3", "dfn:t.c") == 0
    out, err = capsys.readouterr()
    assert [line.strip() for line in out.splitlines() if "@" in line] == [
        "10@example.org",
        "2@example.org",
        "1@example.org",
    ]
    assert "of 10 messages" not in err
    run(tmp_path, "search", "--limit", "2", "dfn:t.c")
    assert "9 of 10 messages" in capsys.readouterr().err


def test_a_phrase_of_the_subject_needs_no_line(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line with one of three words would only mislead below a subject that has all."""
    fill_archive(tmp_path, [posted(1, "[PATCH] tick: copy the long tail")])
    assert run(tmp_path, "index") == 0
    capsys.readouterr()
    assert run(tmp_path, "search", '"copy the long tail"') == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert run(tmp_path, "search", "tail late") == 0
    assert "The tail was copied too late." in capsys.readouterr().out


def test_ids_are_one_a_line_newest_first(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--format ids prints Message-IDs only."""
    assert run(archive_path, "search", "--format", "ids", "--limit", "0", "s:ring") == 0
    assert capsys.readouterr().out.split() == [mid(6), mid(4), mid(2), mid(1)]


@pytest.mark.parametrize("form", ["ids", "json", "mbox", "text"])
def test_each_form_says_that_there_are_more(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    """Whoever pipes ids or an mbox on has to know that it is not all."""
    assert run(archive_path, "search", "--format", form, "--limit", "2", "s:ring", "--flat") == 0
    assert "2 of 4 messages; --limit 0 shows all." in capsys.readouterr().err
    assert run(archive_path, "search", "--format", form, "--limit", "0", "s:ring") == 0
    assert capsys.readouterr().err == ""


def test_json_has_one_object_a_line(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--json prints JSON Lines with the names of facts.md."""
    run(archive_path, "search", "night", "--json")
    (line,) = capsys.readouterr().out.splitlines()
    hit = json.loads(line)
    assert hit["message_id"] == mid(5)
    assert hit["from"] == {"name": "Mira Skov", "email": "mira@example.org"}
    assert hit["snippet"]["line"] == 1


def test_mbox_is_the_mail_as_sent(
    archive_path: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """--format mbox prints the raw mails behind separators."""
    run(archive_path, "search", "night", "--format", "mbox")
    out = capfdbinary.readouterr().out
    assert out.startswith(b"From mboxrd@z ")
    assert letters()[4].data in out


def test_nothing_found_is_status_1(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search that finds nothing prints nothing and says so by its status."""
    assert run(archive_path, "search", "absentword") == 1
    assert capsys.readouterr().out == ""


def test_a_query_error_is_status_2_and_points(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A prefix that does not exist is shown with a caret."""
    assert run(archive_path, "search", "subjet:x") == 2
    error = capsys.readouterr().err
    assert "Did you mean 'subject:'?" in error
    assert "\n  ^^^^^^^" in error


def test_dashes_belong_to_the_query(
    archive_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ "-is:patch" is no option, wherever it stands, and options may follow."""
    assert run(archive_path, "search", "-is:patch", "s:ring", "-is:cover", "--format", "ids") == 0
    assert capsys.readouterr().out.split() == [mid(2)]


def test_arguments_with_blanks_are_phrases() -> None:
    """The shell's quotation marks are put back; one argument is the query as it is."""
    assert join_query(["a b"]) == "a b"
    assert join_query(["s:stack depth", "x"]) == 's:"stack depth" x'
    assert join_query(["a b", "-c"]) == '"a b" -c'
    assert join_query(["(a OR b)", "c"]) == "(a OR b) c"


def test_what_mail_says_can_not_steer_the_terminal(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters from mail are escaped in every text that is shown."""
    evil = mail(1, "=?utf-8?q?red_=1B[31m_title?=", "a clear \x1b[2J screen\u202e word\n")
    fill_archive(tmp_path, [evil])
    assert run(tmp_path, "index") == 0
    assert run(tmp_path, "search", "screen") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "screen" in out


def test_a_search_says_what_is_not_indexed(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words of mails that are not indexed yet are counted on standard error."""
    fill_archive(tmp_path, letters()[:4])
    assert run(tmp_path, "index") == 0
    fill_archive(tmp_path, letters())
    assert run(tmp_path, "search", "ring") == 0
    assert "the words of 2 messages are not indexed yet" in capsys.readouterr().err


def test_without_an_archive_the_status_is_2(tmp_path: pathlib.Path) -> None:
    """A command that reads says that there is no archive."""
    assert run(tmp_path / "none", "search", "x") == 2


def test_a_series_without_references_is_one_entry(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sent within minutes, with one number of parts; what has a part that is there begins anew."""

    def sent(number: int, minute: int, subject: str) -> Raw:
        raw = posted(number, subject)
        raw.data = raw.data.replace(b" %02d:00:00 " % number, b" 12:%02d:00 " % minute)
        return raw

    mails = [
        sent(1, 0, "[PATCH 0/2] tick: tails"),
        sent(2, 1, "[PATCH 1/2] tick: copy the tail"),
        sent(3, 2, "[PATCH 2/2] tick: cut the tail"),
        sent(4, 3, "[PATCH 1/2] tock: copy the head"),
        sent(5, 4, "[PATCH 2/2] tock: cut the head"),
        sent(6, 45, "[PATCH 2/2] tack: cut both"),
    ]
    fill_archive(tmp_path, mails)
    for limit in ("1", "3"):
        assert run(tmp_path, "search", "f:bo d:..20240102", "--limit", limit) == 0
    ids = [line.strip() for line in capsys.readouterr().out.splitlines() if "@" in line]
    every = ["6@example.org", "5@example.org", "4@example.org"]
    every += ["3@example.org", "2@example.org", "1@example.org"]
    assert ids == [every[0], *every]


def test_members_far_behind_are_shown(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other patches of a series and old revisions, however much was sent between them."""
    mails = [part(1, "[PATCH 1/2] tick: copy the tail", 21)]
    mails += [posted(n, f"[PATCH] tock: {n}") for n in range(2, 12)]
    mails += [part(12, "[PATCH v2 1/2] tick: copy the tail", 22)]
    mails += [part(13, "[PATCH v2 2/2] tick: cut the tail", 22)]
    fill_archive(tmp_path, mails)
    assert run(tmp_path, "search", "--limit", "1", "f:bo") == 0
    shown = capsys.readouterr()
    assert [line.strip() for line in shown.out.splitlines() if "@" in line] == [
        "13@example.org",
        "12@example.org (also v1)",
    ]
    assert "3 of 13 messages" in shown.err


def test_json_names_the_group(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line has the key of the hit below which the text form shows it."""
    mails = [
        part(1, "[PATCH 1/2] tick: copy the tail", 21),
        part(2, "[PATCH v2 1/2] tick: copy the tail", 22),
        part(3, "[PATCH v2 2/2] tick: cut the tail", 22),
        posted(4, "[PATCH] tock: go"),
    ]
    fill_archive(tmp_path, mails)
    assert run(tmp_path, "search", "--json", "f:bo") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["group"], row["version"]) for row in rows] == [
        ("4@example.org", 1),
        ("3@example.org", 2),
        ("3@example.org", 2),
        ("3@example.org", 1),
    ]
    assert run(tmp_path, "search", "--json", "--flat", "--limit", "1", "f:bo") == 0
    assert json.loads(capsys.readouterr().out)["group"] is None


def test_ids_are_message_ids(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two different mails under one Message-ID are one line, without the number of the second."""
    one, other = posted(1, "[PATCH] tick: copy"), posted(2, "[PATCH] tock: something else")
    other.data = other.data.replace(b"<2@", b"<1@").replace(b"The tail was", b"Other heads were")
    fill_archive(tmp_path, [one, other])
    assert run(tmp_path, "search", "--format", "ids", "f:bo") == 0
    assert capsys.readouterr().out.splitlines() == ["1@example.org"]
    assert run(tmp_path, "search", "--json", "f:bo") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["key"] for row in rows} == {"1@example.org", "1@example.org#2"}

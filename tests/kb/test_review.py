"""Review rounds: which there are, what their mails say, and what came of them."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable

import pytest

from patchlore.cli import main
from patchlore.kb.errors import NotFoundError
from patchlore.kb.review import Review, review
from patchlore.kb.review_rounds import all_rounds, find_rounds, nearest_rounds
from patchlore.kb.store import Archive
from tests.kb.git_repositories import Repository

SHAS = {number: f"{number}c0ffee{number}" * 5 for number in range(1, 6)}
TITLES = {number: f"clock: mend wheel {number}" for number in range(1, 6)}
KEEPER = "Pell Anwick <pell@example.org>"


def mail(
    message_id: str,
    subject: str,
    body: str,
    *,
    day: int = 11,
    sender: str = KEEPER,
    answers: Iterable[str] = (),
) -> str:
    """Return a mail of December 2023; ``answers`` are its References, the nearest last."""
    above = list(answers)
    head = f"From: {sender}\nDate: {day} Dec 2023 15:30:00 +0100\nSubject: {subject}\n"
    head += f"Message-ID: <{message_id}>\nTo: stable@lists.example.org\n"
    if above:
        head += f"In-Reply-To: <{above[-1]}>\n"
        head += f"References: {' '.join(f'<{id_}>' for id_ in above)}\n"
    return f"{head}\n{body}\n"


def cover(candidate: int, numbers: Iterable[int], *, day: int = 11, announced: int = 3) -> str:
    """Return the cover of a round of 6.6.9 whose shortlog has these patches."""
    titles = "".join(f"Ada Quill <ada@example.org>\n    {TITLES[n]}\n\n" for n in numbers)
    return mail(
        f"rc{candidate}-0@example.org",
        f"[PATCH 6.6 000/{announced:03}] 6.6.9-rc{candidate} review",
        "The clock of 6.6.9 wants your ears.\n\n"
        f"Responses should be made by Wed, {day + 2} Dec 2023 20:00:00 +0530. Later is late.\n\n"
        "-------------\nPseudo-Shortlog of commits:\n\n"
        f"Pell Anwick <pell@example.org>\n    Linux 6.6.9-rc{candidate}\n\n{titles}"
        "-------------\n\nDiffstat:\n\n clock.c | 2 +-\n",
        day=day,
    )


def diff(path: str = "clock.c") -> str:
    """Return a diff of one line."""
    return (
        f"---\ndiff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-one\n+two\n"
    )


def patch(candidate: int, number: int, *, day: int = 11, announced: int = 3) -> str:
    """Return a patch of a round."""
    return mail(
        f"rc{candidate}-{number}@example.org",
        f"[PATCH 6.6 {number:03}/{announced:03}] {TITLES[number]}",
        "6.6-stable review patch.  If anyone has any objections, please let me know.\n\n"
        "------------------\n\nFrom: Ada Quill <ada@example.org>\n\n"
        f"commit {SHAS[number]} upstream.\n\nWheel {number} slips.\n\n"
        f"Signed-off-by: Ada Quill <ada@example.org>\n{diff()}",
        day=day,
        answers=[f"rc{candidate}-0@example.org"],
    )


def answer(
    name: str, text: str, *above: str, sender: str = "Bo Tern <bo@example.org>", day: int = 12
) -> str:
    """Return a reply to the last of ``above``, which are the mails over it."""
    number = next(id_ for id_ in reversed(above) if id_.startswith("rc"))[4:].partition("@")[0]
    subject = (
        "Re: [PATCH 6.6 000/003] 6.6.9-rc1 review"
        if number == "0"
        else f"Re: [PATCH 6.6 {number:>03}/003] clock: mend wheel {number}"
    )
    return mail(f"{name}@example.org", subject, text, sender=sender, answers=above, day=day)


RC1 = [cover(1, [1, 2, 3]), patch(1, 1), patch(1, 2), patch(1, 3)]


def fill(path: pathlib.Path, *mails: str) -> pathlib.Path:
    """Store mails; return the archive's folder."""
    folder = path / "mails"
    folder.mkdir()
    for number, text in enumerate(mails):
        (folder / f"{number:03}.eml").write_text(text)
    assert main(["--archive", str(path / "archive"), "ingest", "--no-index", str(folder)]) == 0
    return path / "archive"


def read(path: pathlib.Path, name: str, *mails: str) -> Review:
    """Store mails and return the dossier of a round."""
    with Archive(fill(path, *mails)) as archive:
        return review(archive, name)


def test_the_deadline_is_a_date_with_its_zone(tmp_path: pathlib.Path) -> None:
    """The deadline keeps the zone of the mail, is told in words, and has its line."""
    found = read(tmp_path, "6.6.9-rc1", *RC1).deadline
    assert found is not None
    assert found.date_iso == "2023-12-13T20:00:00+05:30"
    assert found.words == "Wednesday, 13 December 2023, 20:00:00 +0530, 48 hours after the cover"
    assert (found.evidence.message_id, found.evidence.line) == ("rc1-0@example.org", 3)


def test_patches_are_told_by_number_and_missing_ones_named(tmp_path: pathlib.Path) -> None:
    """Each patch has its upstream commit with the line; what is announced and not there is said."""
    found = read(tmp_path, "6.6.9-rc1", cover(1, [1, 2, 3]), patch(1, 1), patch(1, 3))
    assert found.announced == 3
    assert [(item.part, item.sha, item.state) for item in found.patches] == [
        (1, SHAS[1], "queued"),
        (3, SHAS[3], "queued"),
    ]
    evidence = found.patches[0].upstream_evidence
    assert evidence is not None
    assert evidence.text == f"commit {SHAS[1]} upstream."
    assert (found.missing, found.missing_titles) == ([2], [TITLES[2]])


def test_a_request_to_drop_is_an_objection_to_its_patch(tmp_path: pathlib.Path) -> None:
    """The line is shown, and what a keeper of the queue answered; the keeper's mail is none."""
    asked = answer("ask", "> Wheel 2 slips.\n\nPlease drop this one.", "rc1-0@example.org",
                   "rc1-2@example.org")  # fmt: skip
    gone = answer("gone", "Now dropped, thanks.", "rc1-0@example.org", "rc1-2@example.org",
                  "ask@example.org", sender=KEEPER)  # fmt: skip
    found = read(tmp_path, "6.6.9-rc1", *RC1, asked, gone)
    (objection,) = found.objections
    assert (objection.kinds, objection.parts) == (["drop-request"], [2])
    assert (objection.evidence[0].line, objection.evidence[0].text) == (3, "Please drop this one.")
    assert objection.answered is not None
    assert objection.answered.key == "gone@example.org"


def test_what_is_dropped_is_told_with_the_reply(tmp_path: pathlib.Path) -> None:
    """ "Now dropped" of a keeper in the round takes the patch out, and its state says so."""
    gone = answer("gone", "Now dropped, thanks.", "rc1-0@example.org", "rc1-2@example.org",
                  sender=KEEPER)  # fmt: skip
    found = read(tmp_path, "6.6.9-rc1", *RC1, gone)
    assert [(item.part, item.evidence.message_id) for item in found.dropped] == [
        (2, "gone@example.org")
    ]
    assert [item.state for item in found.patches] == ["queued", "dropped", "queued"]


def test_an_answer_to_the_cover_takes_out_what_it_is_about(tmp_path: pathlib.Path) -> None:
    """Not the whole round: the commit that the report names which it answers, or none."""
    text = f'It does not boot, bisected to {SHAS[2][:12]} ("{TITLES[2]}").\n'
    told = answer("told", text, "rc1-0@example.org")
    gone = answer("gone", "I've now dropped this patch.", "rc1-0@example.org",
                  "told@example.org", sender=KEEPER)  # fmt: skip
    vague = answer("vague", "Ok, now dropped.", "rc1-0@example.org", sender=KEEPER)
    found = read(tmp_path, "6.6.9-rc1", *RC1, told, gone, vague)
    assert [item.state for item in found.patches] == ["queued", "dropped", "queued"]
    assert [(item.part, item.evidence.message_id) for item in found.dropped] == [
        (2, "gone@example.org")
    ]


def test_what_an_answer_asks_for_beside_its_patch_is_pending(tmp_path: pathlib.Path) -> None:
    """By the commit that it names; not the patch itself, another one of the round, or a quote."""
    text = (
        f'> Please also take {"b" * 12} ("bell: no").\n\nYou also need {"a" * 12} '
        f'("bell: strike") as a fix\nfor this, after {SHAS[1][:12]} and {SHAS[2][:12]}, also.\n'
    )
    asked = answer("ask", text, "rc1-0@example.org", "rc1-2@example.org")
    (fix,) = read(tmp_path, "6.6.9-rc1", *RC1, asked).pending
    assert (fix.sha, fix.subject, fix.relation, fix.part) == (
        "a" * 12,
        "bell: strike",
        "wanted-with",
        2,
    )
    assert (fix.where, fix.evidence.message_id) == (
        ["named in an answer 2023-12-12"],
        "ask@example.org",
    )


def test_tags_are_given_to_the_round_or_to_a_patch(tmp_path: pathlib.Path) -> None:
    """Who gave what, to what, and the line."""
    tested = answer("t", "Fine here.\n\nTested-by: Bo Tern <bo@example.org>", "rc1-0@example.org")
    acked = answer("a", "Acked-by: Cy Marlow <cy@example.org>", "rc1-0@example.org",
                   "rc1-3@example.org", sender="Cy Marlow <cy@example.org>")  # fmt: skip
    found = read(tmp_path, "6.6.9-rc1", *RC1, tested, acked)
    assert {(tag.key, tag.value, tag.part, tag.evidence.line) for tag in found.tags} == {
        ("Tested-by", "Bo Tern <bo@example.org>", None, 3),
        ("Acked-by", "Cy Marlow <cy@example.org>", 3, 1),
    }


def test_an_answer_to_the_cover_is_about_the_commit_that_it_names(tmp_path: pathlib.Path) -> None:
    """A tester who names the guilty commit need not answer its patch."""
    said = answer("t", f"A regression, commit {SHAS[3][:12]} is to blame.", "rc1-0@example.org")
    (objection,) = read(tmp_path, "6.6.9-rc1", *RC1, said).objections
    assert objection.parts == [3]


FIX = mail(
    "fix@example.org",
    "[PATCH] clock: mend the mended wheel",
    f'It slips the other way.\n\nFixes: {SHAS[2][:12]} ("{TITLES[2]}")\n'
    f"Signed-off-by: Ada Quill <ada@example.org>\n{diff()}",
    day=9,
    sender="Ada Quill <ada@example.org>",
)


def test_fixes_that_the_tree_lacks_are_pending(tmp_path: pathlib.Path) -> None:
    """A patch elsewhere that mends one of the round is told with the line of its tag."""
    (fix,) = read(tmp_path, "6.6.9-rc1", *RC1, FIX).pending
    assert (fix.part, fix.fixes, fix.relation, fix.state) == (2, SHAS[2], "fixes", None)
    assert fix.where == ["posted 2023-12-09"]
    assert (fix.evidence.message_id, fix.evidence.line) == ("fix@example.org", 3)


def test_where_a_fix_is_tells_each_place_once(tmp_path: pathlib.Path) -> None:
    """Of revisions the newest day, other trees by name, a patch that stands in a reply."""
    again = FIX.replace("fix@", "fix2@").replace("[PATCH]", "[PATCH v2]").replace("9 Dec", "10 Dec")
    other = FIX.replace("fix@", "fix3@").replace("[PATCH]", "[PATCH 6.1.y]")
    (fix,) = read(tmp_path, "6.6.9-rc1", *RC1, FIX, again, other).pending
    assert sorted(fix.where) == ["posted 2023-12-10", "posted for 6.1"]


def test_a_revert_is_pending_like_a_fix(tmp_path: pathlib.Path) -> None:
    """Who takes a commit back upstream tells that the tree should not have it."""
    revert = mail(
        "revert@example.org",
        f'[PATCH] Revert "{TITLES[3]}"',
        f"This reverts commit {SHAS[3]}.\n\nThe hand stands still.\n\n"
        f"Signed-off-by: Ada Quill <ada@example.org>\n{diff()}",
        sender="Ada Quill <ada@example.org>",
    )
    (found,) = read(tmp_path, "6.6.9-rc1", *RC1, revert).pending
    assert (found.relation, found.part) == ("reverts", 3)


def test_a_report_elsewhere_is_an_objection(tmp_path: pathlib.Path) -> None:
    """A robot that finds a commit of the round guilty need not know of the round."""
    report = mail(
        "robot@example.org",
        f"[linux:master] [clock] {SHAS[1][:10]}: clock.ticks -18.3% regression",
        "Hello,\n\nexample test robot noticed a -18.3% regression of clock.ticks on:\n\n"
        f'commit: {SHAS[1]} ("{TITLES[1]}")\n',
        sender="example test robot <robot@example.net>",
        day=4,
    )
    (objection,) = read(tmp_path, "6.6.9-rc1", *RC1, report).objections
    assert (objection.parts, objection.words) == ([1], "regression reported elsewhere")
    assert objection.evidence[0].message_id == "robot@example.org"


def test_a_fix_in_the_same_round_is_not_pending(tmp_path: pathlib.Path) -> None:
    """What the round has already is not missing from it."""
    own = patch(1, 3).replace(
        "Wheel 3 slips.\n", f'Wheel 3 slips.\n\nFixes: {SHAS[2][:12]} ("{TITLES[2]}")\n'
    )
    mails = [RC1[0], RC1[1], RC1[2], own]
    assert read(tmp_path, "6.6.9-rc1", *mails).pending == []


def test_a_fix_in_a_git_tree_is_pending_with_its_commit(tmp_path: pathlib.Path) -> None:
    """A commit of the mainline with the tag counts, and says since when it is there."""
    repository = Repository(tmp_path / "linux")
    sha = repository.commit(f'clock: mend it again\n\nFixes: {SHAS[1][:12]} ("{TITLES[1]}")\n')
    repository.tag("v6.7")
    path = fill(tmp_path, *RC1)
    tree = ["ingest", "--no-index", "--tree", "mainline", str(tmp_path / "linux")]
    assert main(["--archive", str(path), *tree]) == 0
    with Archive(path) as archive:
        (fix,) = review(archive, "6.6.9-rc1").pending
    assert (fix.sha, fix.part, fix.evidence.commit) == (sha, 1, sha)
    assert fix.where == ["in mainline since v6.7"]


def test_a_later_candidate_tells_what_was_dropped_since(tmp_path: pathlib.Path) -> None:
    """6.6.9 means rc2; what rc1 had and rc2 has not is dropped; each names the other."""
    second = [cover(2, [1, 3], day=13, announced=2), patch(2, 1, day=13, announced=2)]
    path = fill(tmp_path, *RC1, *second)
    with Archive(path) as archive:
        new, old = review(archive, "6.6.9"), review(archive, "6.6.9-rc1")
    assert new.release == "6.6.9-rc2"
    assert [(item.part, item.words) for item in new.dropped] == [
        (2, "in 6.6.9-rc1, not in 6.6.9-rc2")
    ]
    assert [item.release for item in new.earlier] == ["6.6.9-rc1"]
    assert [item.release for item in old.later] == ["6.6.9-rc2"]


def test_the_announcement_ends_the_round(tmp_path: pathlib.Path) -> None:
    """How many patches were released; those that its shortlog lacks are told as dropped."""
    released = mail(
        "out@example.org",
        "Linux 6.6.9",
        "It is out.\n\n------------\n\n clock.c | 2 +-\n\nAda Quill (2):\n"
        f"      {TITLES[1]}\n      {TITLES[3]}\n",
        day=14,
    )
    found = read(tmp_path, "6.6.9-rc1", *RC1, released)
    assert found.released is not None
    assert (found.released.release, found.released.patches) == ("6.6.9", 2)
    assert [(item.part, item.words) for item in found.dropped] == [
        (2, "not in the shortlog of 6.6.9")
    ]


def test_a_round_is_known_from_its_answers_alone(tmp_path: pathlib.Path) -> None:
    """Without the cover its replies name the round; the deadline is quoted, and less sure."""
    text = "> Responses should be made by Wed, 13 Dec 2023 14:30:00 +0000.\n\nNo regressions.\n"
    found = read(tmp_path, "6.6", answer("t", text, "rc1-0@example.org"), RC1[2])
    assert (found.release, found.message_id, found.cover) == (
        "6.6.9-rc1",
        "rc1-0@example.org",
        None,
    )
    assert found.deadline is not None
    assert (found.deadline.date_iso, found.deadline.evidence.confidence) == (
        "2023-12-13T14:30:00+00:00",
        "high",
    )
    assert ([item.part for item in found.patches], found.missing) == ([2], [1, 3])


def test_a_round_of_patches_alone_gets_its_name_from_the_release(tmp_path: pathlib.Path) -> None:
    """The first announcement behind them that has one of their titles."""
    shortlog = f"Out.\n\n------------\n\nAda Quill (1):\n      {TITLES[2]}\n"
    released = mail("out@example.org", "Linux 6.6.9", shortlog, day=14)
    with Archive(fill(tmp_path, RC1[2], released)) as archive:
        (found,) = all_rounds(archive)
        assert review(archive, "6.6.9-rc2").release == "6.6.9"  # it may have been that one
    assert (found.release, found.named_by and found.named_by.key) == ("6.6.9", "out@example.org")


def test_a_round_of_patches_alone_is_found_by_the_tag_of_a_git_tree(tmp_path: pathlib.Path) -> None:
    """Where no mail names the release, the tree that has its patches does."""
    repository = Repository(tmp_path / "linux")
    repository.commit("clock: begin")
    repository.tag("v6.6")
    repository.git("checkout", "-q", "-b", "linux-6.6.y")
    for number in (1, 2):
        repository.commit(f"{TITLES[number]}\n\ncommit {SHAS[number]} upstream.\n\nIt slips.\n")
    repository.tag("v6.6.9")
    path = fill(tmp_path, RC1[1], RC1[2])
    assert main(["--archive", str(path), "review", "6.6.9"]) == 1
    tree = ["ingest", "--no-index", "--tree", "linux", str(tmp_path / "linux")]
    assert main(["--archive", str(path), *tree]) == 0
    with Archive(path) as archive:
        for name in ("6.6.9", "v6.6.9", "6.6.9-rc1"):
            found = review(archive, name)
            assert (found.release, [item.part for item in found.patches]) == ("6.6.9", [1, 2])
        with pytest.raises(NotFoundError, match=r"of 1 round of 6\.6 no mail names the release"):
            review(archive, "6.6.8")
        with pytest.raises(NotFoundError, match=r"the archive has rounds of 6\.6\."):
            review(archive, "4.19.78")


def test_an_unknown_round_names_the_nearest(tmp_path: pathlib.Path) -> None:
    """The sentence offers what there is."""
    with Archive(fill(tmp_path, *RC1)) as archive:
        with pytest.raises(NotFoundError, match=r"6\.6\.10; the nearest are 6\.6\.9-rc1\."):
            review(archive, "6.6.10")
        rounds = all_rounds(archive)
    for name in ("6.6", "6.6.y", "v6.6", "linux-6.6.y", "6.6.9", "v6.6.9-rc1"):
        assert [item.release for item in find_rounds(rounds, name)] == ["6.6.9-rc1"], name
    for name in ("6.6.9-rc2", "6.1", "clock", ""):
        assert find_rounds(rounds, name) == []
        assert nearest_rounds(rounds, name) == ["6.6.9-rc1"]


def test_a_mail_names_its_round(tmp_path: pathlib.Path) -> None:
    """The cover, a patch, an answer; also a cover that only answers name."""
    asked = answer("ask", "Please drop this one.", "rc1-0@example.org", "rc1-2@example.org")
    second = answer("two", "Fine.", "rc2-0@example.org").replace("rc1 review", "rc2 review")
    with Archive(fill(tmp_path, *RC1, asked, second, FIX)) as archive:
        for name in ("rc1-0@example.org", "<rc1-3@example.org>", "ask@example.org"):
            assert review(archive, name).release == "6.6.9-rc1", name
        for name in ("rc2-0@example.org", "two@example.org"):
            assert review(archive, name).release == "6.6.9-rc2", name
        for name in ("fix@example.org", "absent@example.org"):
            with pytest.raises(NotFoundError, match=f"round {name}; the nearest are"):
                review(archive, name)


def test_an_archive_without_rounds_says_so(tmp_path: pathlib.Path) -> None:
    """Nothing is near then."""
    with (
        Archive(fill(tmp_path, FIX)) as archive,
        pytest.raises(NotFoundError, match="no review round at all"),
    ):
        review(archive, "6.6")

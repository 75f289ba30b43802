"""A review round in the form that the stable maintainers and their testers write."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.cli import main
from patchlore.kb.review import Review, review
from patchlore.kb.store import Archive
from tests.kb.test_review import KEEPER, SHAS, TITLES, diff, fill, mail

COVER = "20231214-clock-000@example.org"
SUBJECT = "[PATCH 6.6 000/005] 6.6.9-rc1 review"
SHORTLOG = "".join(f"Ada Quill <ada@example.org>\n    {TITLES[n]}\n\n" for n in range(1, 6))
TEXT = f"""\
This is the start of the stable review cycle for the 6.6.9 release.
There are 5 patches in this series, all will be posted as a response
to this one.  If anyone has any issues with these being applied, please
let me know.

Responses should be made by Sat, 16 Dec 2023 18:17:11 +0000.
Anything received after that time might be too late.

The whole patch series can be found in one patch at:
\thttps://clocks.example.org/stable-review/patch-6.6.9-rc1.gz
or in the git tree and branch at:
\tgit://clocks.example.org/linux-stable-rc.git linux-6.6.y
and the diffstat can be found below.

thanks,

-------------
Pseudo-Shortlog of commits:

Pell Anwick <pell@example.org>
    Linux 6.6.9-rc1

{SHORTLOG}
-------------

Diffstat:

 Makefile      |    4 +-
 clock/clock.c |    2 +-
 5 files changed, 12 insertions(+), 9 deletions(-)
"""


def part(number: int) -> str:
    """Return the Message-ID of a patch."""
    return f"20231214-clock-{number:03}@example.org"


def patch(number: int) -> str:
    """Return a patch of the round."""
    return mail(
        part(number),
        f"[PATCH 6.6 {number:03}/005] {TITLES[number]}",
        "6.6-stable review patch.  If anyone has any objections, please let me know.\n\n"
        "------------------\n\nFrom: Ada Quill <ada@example.org>\n\n"
        f"[ Upstream commit {SHAS[number]} ]\n\nIt slips.\n\n"
        'Fixes: 0123456789ab ("clock: begin")\n'
        "Signed-off-by: Ada Quill <ada@example.org>\n"
        f"Signed-off-by: Pell Anwick <pell@example.org>\n{diff()}-- \n2.43.0\n\n\n",
        day=14,
        sender=KEEPER,
        answers=[COVER],
    )


def quoted(text: str, who: str) -> str:
    """Return a text as an answer quotes it, cut as people do."""
    lines = "".join(f"> {line}\n" for line in text.split("\n")[:24])
    return f"On Thu, 14 Dec 2023 at 23:50, {who}\nwrote:\n>\n{lines}\n"


def reply(name: str, text: str, *above: str, who: str, number: int = 0) -> str:
    """Return an answer to the cover or a patch."""
    subject = SUBJECT if not number else f"[PATCH 6.6 {number:03}/005] {TITLES[number]}"
    ids = [COVER, *([part(number)] if number else []), *above]
    sender = f"{who} <{who.split()[0].lower()}@example.org>" if "<" not in who else who
    return mail(f"{name}@example.org", f"Re: {subject}", text, day=15, sender=sender, answers=ids)


@pytest.fixture
def found(tmp_path: pathlib.Path) -> Review:
    """Return the dossier of a round that many have answered."""
    whole = quoted(TEXT, "Pell Anwick")
    answers = [
        reply("farm", f"{whole}Results from the test farm.\nNo regressions on arm64 and x86_64.\n\n"
              "Tested-by: Clock Tests <tests@example.org>\n\n## Build\n* kernel: 6.6.9-rc1\n"
              "* git describe: v6.6.8-157-g1234567890ab\n\n"
              "## Test Regressions (compared to v6.6.8)\n\n"
              "## Build Summary\n* arc: 5 total, 5 passed, 0 failed\n", who="Nell Farm"),
        reply("counts", f"{whole}All tests passing ...\n\n    10 builds:\t10 pass, 0 fail\n"
              "    26 boots:\t26 pass, 0 fail\n    116 tests:\t116 pass, 0 fail\n\n"
              "Tested-by: Jo Hunter <jo@example.org>\n", who="Jo Hunter"),
        reply("builds", f"{whole}Build results:\n\ttotal: 158 pass: 156 fail: 2\nFailed builds:\n"
              "\tpowerpc:defconfig\nQemu test results:\n\ttotal: 545 pass: 545 fail: 0\n",
              who="Gus Roek"),
        reply("not", "> 6.6-stable review patch.\n\nThis one should not go to 6.6: it has no such\n"
              "hand. Please\ndrop it.\n", who="Dora Fenn", number=3),
        reply("gone", "> drop it.\n\nNow dropped, thanks!\n", "not@example.org",
              who=KEEPER, number=3),
        reply("also", f"> [...]\n\nYou will also want to pick up {'f' * 12} (\"bell: strike\"),\n"
              "which fixes this commit.\n", who="Cy Marlow", number=4),
        reply("boot", f"{whole}6.6.9-rc1 fails to boot on my clock, bisected to\n\n"
              f"  {SHAS[1][:12]} (\"{TITLES[1]}\")\n", who="Wen Quist"),
        reply("gone-1", f"> {SHAS[1][:12]} (\"{TITLES[1]}\")\n\nThanks, I've now dropped this patch"
              " from the queue.  I'll push out\na -rc2 soon.\n", "boot@example.org", who=KEEPER),
    ]  # fmt: skip
    fix = mail(
        "fix@example.org",
        "[PATCH] clock: wheel 5 again",
        f'Fixes: {SHAS[5][:12]} ("{TITLES[5]}")\nCc: stable@vger.kernel.org\n{diff()}',
        day=13,
    )
    cover = mail(COVER, SUBJECT, TEXT, day=14, sender=KEEPER)
    path = fill(tmp_path, cover, *(patch(number) for number in range(1, 6)), *answers, fix)
    assert main(["--archive", str(path), "review", "6.6.9-rc1"]) == 0
    with Archive(path) as archive:
        return review(archive, "6.6.9")


def test_the_round_is_read(found: Review) -> None:
    """Deadline, patches with their commits, nothing missing."""
    assert (found.release, found.announced, found.replies) == ("6.6.9-rc1", 5, 8)
    assert found.deadline is not None
    assert found.deadline.date_iso == "2023-12-16T18:17:11+00:00"
    assert [patch.sha for patch in found.patches] == [SHAS[number] for number in range(1, 6)]
    assert (found.missing, found.missing_titles) == ([], [])


def test_what_testers_say_is_read(found: Review) -> None:
    """Tags of those who are content; counts of failures, a request over lines, a bisection."""
    assert {tag.value for tag in found.tags} == {
        "Clock Tests <tests@example.org>",
        "Jo Hunter <jo@example.org>",
    }
    assert [
        (item.message.key, item.kinds, item.parts, item.answered and item.answered.key)
        for item in sorted(found.objections, key=lambda item: item.message.key)
    ] == [
        ("boot@example.org", ["bisect"], [1], "gone-1@example.org"),
        ("builds@example.org", ["build"], [], None),
        ("not@example.org", ["drop-request"], [3], "gone@example.org"),
    ]


def test_what_becomes_of_patches_is_read(found: Review) -> None:
    """Two are dropped, the rest is queued; two more are wanted."""
    assert [item.part for item in found.dropped] == [1, 3]
    states = [patch.state for patch in found.patches]
    assert states == ["dropped", "queued", "dropped", "queued", "queued"]
    assert [(fix.part, fix.relation, fix.subject) for fix in found.pending] == [
        (4, "wanted-with", "bell: strike"),
        (5, "fixes", "clock: wheel 5 again"),
    ]

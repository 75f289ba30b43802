"""What robots say, and what people tell them, as commits that can be looked up."""

from __future__ import annotations

import pytest

from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.shaping import HEAD, Shaped, shape
from tests.kb.mails import UPSTREAM

SHORT = UPSTREAM[:12]

BUILD = f"""\
From: kernel test robot <lkp@example.org>
Subject: [widgets:main 12/34] tick.c:56:7: error: implicit declaration of function 'tock'
Message-ID: <one@example.org>

tree:   https://git.example.org/widgets main
head:   fedcba9876543210fedcba9876543210fedcba98
commit: {UPSTREAM} [12/34] tick: use two
config: x86_64-allyesconfig
compiler: gcc-12 (Debian 12.2.0-14) 12.2.0

If you fix the issue in a separate patch, kindly add following tag
| Reported-by: kernel test robot <lkp@example.org>

All errors (new ones prefixed by >>):

>> tick.c:56:7: error: implicit declaration of function 'tock'
"""

TOLD = """\
From: Ada Quill <ada@example.org>
Subject: Re: the clock stands still
Message-ID: <two@example.org>
In-Reply-To: <one@example.org>

It stands still here, too.

{command}
"""


def shaped(text: str) -> Shaped:
    """Return the rows of a mail."""
    source = Source(path="x", format="rfc822")
    return shape(parse_raw(Raw(data=text.encode(), source=source)))


def named(made: Shaped, relation: str) -> list[tuple[object, ...]]:
    """Return sha, kind, line and text of the commits with this relation."""
    return [(row[2], row[5], row[8], row[10]) for row in made.commits if row[0] == relation]


def test_a_robot_names_the_commit_that_broke_the_build() -> None:
    """As its report of a regression does, with the line."""
    made = shaped(BUILD)
    assert named(made, "first-bad") == [
        (UPSTREAM, "build", 3, f"commit: {UPSTREAM} [12/34] tick: use two")
    ]
    assert made.head[HEAD.split(", ").index("is_report")]


def test_who_tells_regzbot_of_a_regression_names_its_commit() -> None:
    """With the very line."""
    made = shaped(TOLD.format(command=f"#regzbot introduced: {SHORT}"))
    assert named(made, "first-bad") == [(SHORT, "regzbot", 3, f"#regzbot introduced: {SHORT}")]


@pytest.mark.parametrize("value", ["v6.1..v6.2", f"{SHORT}..fedcba987654", "next-20240102"])
def test_a_range_names_no_commit(value: str) -> None:
    """It is somewhere in it."""
    assert named(shaped(TOLD.format(command=f"#regzbot introduced: {value}")), "first-bad") == []


@pytest.mark.parametrize("command", ["fix", "fixed-by", "resolve"])
def test_who_tells_regzbot_of_a_fix_names_it(command: str) -> None:
    """A mention that says what the commit did."""
    made = shaped(TOLD.format(command=f"#regzbot {command}: {SHORT}"))
    assert [row[:2] for row in named(made, "mention")] == [(SHORT, "fixed-by")]

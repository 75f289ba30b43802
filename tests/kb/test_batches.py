"""Where one batch ends and the next begins is nothing that an archive shows."""

from __future__ import annotations

import pathlib
import random

import pytest

from patchlore.ingest.message import Message, Person
from patchlore.ingest.raw import FIDELITIES
from patchlore.kb.store import Archive
from tests.kb.dumping import canonical
from tests.kb.mails import ADA, BO, NOON, message, raw_of, source

#: What copies of few mails look like in archives that change much.
SUBJECTS = ("tick: use two", "[lamp] tick: use two", "Re: tick: use two", "tock: use one", "")
SENDERS = (ADA, BO, Person(name="Ada Quill via lamp", email="lamp@example.org"),
           Person(name="Ada Quill", email_masked="ada@...mple.org"), None)  # fmt: skip
BODIES = ("The clock ticks once where it should tick twice, says its manual.\n",
          "The clock ticks twice where it should once, says Bo.\n", "Ok.\n", "")  # fmt: skip
TIMES = (NOON, NOON + 60, NOON + 3600, NOON + 90000, None)
FORMATS = ("mbox", "maildir", "openwall-html", "mhonarc-html")


def some(chance: random.Random) -> Message:
    """Return a mail that may be a copy of many others."""
    form = chance.choice(FORMATS)
    subject = chance.choice(SUBJECTS)
    return message(
        chance.choice((None, None, "one@example.org", "two@example.org")),
        source=source(
            f"/mail/{form}{chance.randrange(2)}",
            offset=chance.randrange(3),
            format=form,
            fidelity=chance.choice(FIDELITIES),
        ),
        subject=subject,
        clean_subject=subject.rpartition("] ")[2],
        from_=chance.choice(SENDERS),
        timestamp=chance.choice(TIMES),
        body=chance.choice(BODIES),
    )


@pytest.mark.parametrize("seed", range(40))
def test_copies_merge_alike_in_whatever_batches(tmp_path: pathlib.Path, seed: int) -> None:
    """One batch, one for each mail, or some: the same messages with the same copies."""
    chance = random.Random(seed)
    mails = [some(chance) for _ in range(chance.randrange(3, 14))]
    raws = [raw_of(made) for made in mails]
    cuts = sorted({chance.randrange(1, len(mails)) for _ in range(3)})
    found = []
    for name, ends in (
        ("one", [len(mails)]),
        ("each", range(1, len(mails) + 1)),
        ("some", [*cuts, len(mails)]),
    ):
        with Archive(tmp_path / name, write=True) as archive:
            start = 0
            for end in ends:
                archive.add(mails[start:end], raws[start:end])
                start = end
            found.append(canonical(archive))
    for other in found[1:]:
        # How often something changed; names that only a copy had which is no longer the best.
        for table in other.keys() - {"meta", "person", "mid"}:
            assert other[table] == found[0][table], table

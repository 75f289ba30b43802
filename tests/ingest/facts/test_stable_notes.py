"""``Cc: stable`` in every form that people write, and what looks like it and is none."""

from __future__ import annotations

import pytest

from patchlore.ingest.facts.stable_notes import is_range
from tests.ingest.letters import SHA, evidence, parse_letter, parse_patch

VGER = "stable@vger.kernel.org"


@pytest.mark.parametrize(
    "line",
    [
        "Cc: stable@vger.kernel.org",
        "Cc: <stable@vger.kernel.org>",
        "CC: stable@kernel.org",
        "cc: stable@vger.kernel.org",
        "Cc: Stable <stable@vger.kernel.org>",
        'Cc: "stable" <stable@vger.kernel.org>',
        "Cc: linux-stable <stable@vger.kernel.org>",
        "Cc:stable@vger.kernel.org",
        'Cc: "stable@vger.kernel.org" <stable@vger.kernel.org>',
        'Cc: "stable@vger.kernel.org" <stable@vger.kernel.org>, "Nora Finch" <nora@example.org>',
    ],
)
def test_address_alone_asks_for_every_tree(line: str) -> None:
    """Each spelling of the address is a request without a range."""
    (note,) = parse_patch(f"Text.\n\n{line}").cc_stable
    assert (note.range, note.prereqs, note.comment, note.after, note.text) == (
        None,
        [],
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (f"Cc: {VGER} # 5.4+", "5.4+"),
        (f"Cc: {VGER} # v4.9+", "v4.9+"),
        (f"Cc: {VGER} [4.20+]", "4.20+"),
        (f"Cc: {VGER} (v2.6.12+)", "v2.6.12+"),
        (f"Cc: {VGER} # for v4.15 and up", "for v4.15 and up"),
        (f"Cc: {VGER} # >= v4.19", ">= v4.19"),
        (f"Cc: {VGER} [4.7 onwards]", "4.7 onwards"),
        (f"Cc: {VGER} # +v5.13", "+v5.13"),
        (f"Cc: {VGER} # 2.6.31", "2.6.31"),
        (f"Cc: {VGER} #v3.6", "v3.6"),
        (f"Cc: {VGER} # 5.15.*", "5.15.*"),
        (f"Cc: {VGER} # 3.3.x", "3.3.x"),
        (f"Cc: {VGER} # 5.4.x-", "5.4.x-"),
        (f"Cc: {VGER} # before 4.15", "before 4.15"),
        (f"Cc: {VGER} # 5.12 and older", "5.12 and older"),
        (f"Cc: {VGER} # between 4.19 and 5.4", "between 4.19 and 5.4"),
        (f"Cc: {VGER} # 4.9 only", "4.9 only"),
        (f"Cc: {VGER} # v6.18-rc1", "v6.18-rc1"),
        (f"Cc: {VGER} @ v4.19+", "v4.19+"),
        (f"Cc: {VGER} # linux-5.5+", "linux-5.5+"),
        (f"Cc: {VGER} # v5.4.49", "v5.4.49"),
        (f"Cc: Stable <{VGER}>  #4.9+", "4.9+"),
        (f"Cc: <{VGER}> v5.10+", "v5.10+"),
        (f"Cc: {VGER} # since v5.2", "since v5.2"),
        (f"Cc: {VGER} # from 5.2 on", "from 5.2 on"),
        (f"Cc: {VGER} # 5.10.y", "5.10.y"),
    ],
)
def test_range_is_kept_as_written(line: str, wanted: str) -> None:
    """The note that speaks of versions only is a range, in the words of its writer."""
    message = parse_patch(f"Text.\n\n{line}")
    (note,) = message.cc_stable
    assert (note.range, note.comment, note.after) == (wanted, None, None)
    assert note.text == wanted
    (proof,) = evidence(message, "cc_stable")
    assert (proof.line, proof.rule, proof.text) == (3, "cc-stable", line)


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ("4.4,4.9,4.14,4.18,5.4", ["4.4", "4.9", "4.14", "4.18", "5.4"]),
        ("4.4, 4.9", ["4.4", "4.9"]),
        ("4.4/4.9/4.14/4.19", ["4.4", "4.9", "4.14", "4.19"]),
        ("5.10 and 5.15", ["5.10", "5.15"]),
        ("v5.10 v5.15", ["v5.10", "v5.15"]),
        ("5.10.x, 5.15.x, and 6.1.x", ["5.10.x", "5.15.x", "6.1.x"]),
    ],
)
def test_list_of_versions_is_one_entry_each(note: str, wanted: list[str]) -> None:
    """``# 4.4, 4.9`` asks for two trees."""
    entries = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert [entry.range for entry in entries] == wanted
    assert {entry.text for entry in entries} == {note}


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (
            "5.1.x: 3be232f11a3c: LAMP: hold the lock",
            ("5.1.x", "3be232f11a3c", "LAMP: hold the lock"),
        ),
        ("5.7+: 6aa09a5bccd8 lamp: glow", ("5.7+", "6aa09a5bccd8", "lamp: glow")),
        ('b566d38857fc ("lamp: glow")', (None, "b566d38857fc", "lamp: glow")),
        ("6.1.x: 95982fad lamp: 8 digits", ("6.1.x", "95982fad", "lamp: 8 digits")),
        (f"3.3.x: {SHA}: lamp: glow", ("3.3.x", SHA, "lamp: glow")),
    ],
)
def test_prerequisite_is_picked_before_the_patch(
    note: str, wanted: tuple[str | None, str, str | None]
) -> None:
    """A commit behind the ``#`` has to be in the tree first."""
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    (ref,) = entry.prereqs
    assert (entry.range, ref.sha, ref.subject) == wanted


@pytest.mark.parametrize(
    "note", [f"{SHA[:12]} + 1b9508f61d3e", f"5.4+: {SHA[:12]}, 1b9508f61d3e and a1f84a3a1b2c"]
)
def test_a_note_may_name_several_prerequisites(note: str) -> None:
    """Each of them has to be in the tree first."""
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    wanted = [SHA[:12], "1b9508f61d3e", "a1f84a3a1b2c"][: 2 + note.count("and")]
    assert [ref.sha for ref in entry.prereqs] == wanted


def test_prerequisites_of_one_range_stand_together_in_order() -> None:
    """The kernel's own example: several lines for one tree, to be picked in this order."""
    message = parse_patch(
        f"Text.\n\nCc: {VGER} # 3.3.x: a1f84a3a1b2c: lamp: one\n"
        f"Cc: {VGER} # 3.3.x: 1b9508f61d3e: lamp: two\nCc: {VGER} # 3.3.x"
    )
    (entry,) = message.cc_stable
    assert entry.range == "3.3.x"
    assert [ref.sha for ref in entry.prereqs] == ["a1f84a3a1b2c", "1b9508f61d3e"]


@pytest.mark.parametrize("word", ["depends on", "requires", "requires:", "needs commit"])
def test_dependency_in_words_is_a_comment_and_a_dependency(word: str) -> None:
    """``# depends on <sha>`` is kept as written, and the commit is on record."""
    message = parse_patch(f"Text.\n\nCc: {VGER} # {word} 941f7298c70c: lamp: glow")
    (entry,) = message.cc_stable
    assert entry.comment == f"{word} 941f7298c70c: lamp: glow"
    assert [(d.kind, d.value) for d in message.dependencies] == [("depends-on", "941f7298c70c")]


@pytest.mark.parametrize(
    ("note", "after"),
    [
        ("after -rc3", "-rc3"),
        ("after 4 weeks in mainline", "4 weeks in mainline"),
        ("after 3 weeks", "3 weeks"),
        ("after 5.15-rc2 is out, give it time to bake", "5.15-rc2 is out, give it time to bake"),
    ],
)
def test_delay(note: str, after: str) -> None:
    """``# after …`` asks to wait."""
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert (entry.after, entry.range) == (after, None)


@pytest.mark.parametrize(
    "note",
    [
        "see patch description, needs adjustments for <= 6.3",
        "way, way back",
        "depends on the previous three patches",
        "vX.Y",
    ],
)
def test_free_text_is_a_comment(note: str) -> None:
    """What no rule understands is kept word for word, and is no range."""
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert (entry.range, entry.prereqs, entry.comment, entry.text) == (None, [], note, note)


def test_free_text_behind_a_range_is_its_comment() -> None:
    """What follows ``v5.19+`` in words explains the range and does not hide it."""
    note = "v5.19+ with another port for v5.9 - v5.18"
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert (entry.range, entry.comment, entry.text) == (
        "v5.19+",
        "with another port for v5.9 - v5.18",
        note,
    )


@pytest.mark.parametrize(
    "address", ["<stable+noautosel@kernel.org>", "stable+noautosel@kernel.org"]
)
def test_noautosel_is_the_opposite_of_a_request(address: str) -> None:
    """``stable+noautosel`` asks robots to stay away, and gives the reason."""
    message = parse_patch(f"Text.\n\nCc: {address} # needs the new lamp firmware")
    assert message.no_autosel == "needs the new lamp firmware"
    assert message.cc_stable == []


def test_copied_cc_header_is_no_tag() -> None:
    """A mail client's Cc header copied into a text names many people at once."""
    message = parse_patch(f"Text.\n\nCc: Ada Quill; linux-mips@vger.kernel.org; {VGER}")
    assert message.cc_stable == []
    assert [entry.rule for entry in message.rejected] == ["copied-header"]


@pytest.mark.parametrize(
    "line",
    [
        "Cc: unstable@vger.kernel.org",
        "Cc: stable@example.org",
        "Please Cc: stable@vger.kernel.org next time.",
        f"> Cc: {VGER} # 5.4+",
        f"    Cc: {VGER} # 5.4+",
        f"Cced: {VGER}",
    ],
)
def test_what_is_no_request(line: str) -> None:
    """Other addresses, sentences, quotations and examples ask for nothing."""
    assert parse_patch(f"Text.\n\n{line}\n\nMore.").cc_stable == []


def test_reply_asks_for_nothing() -> None:
    """A reply has no commit message: its tag is advice to the patch's author."""
    message = parse_letter(
        f"Please add\n\nCc: {VGER} # 5.4+\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH] lamp: dim",
    )
    assert message.cc_stable == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for v4.15 and up", True),
        (">= 6.1", True),
        ("and up", False),
        ("lamp 5.4", False),
        ("", False),
    ],
)
def test_range_speaks_of_versions_only(text: str, wanted: bool) -> None:
    """Words that are neither versions nor their neighbours make a comment."""
    assert is_range(text) is wanted


def test_a_note_behind_further_people_counts() -> None:
    """``Cc: stable@…, bo@… # 6.1+``: the note is that of the line."""
    message = parse_patch("Text.\n\nCc: stable@vger.kernel.org, bo@example.com # 6.1+")
    assert [note.range for note in message.cc_stable] == ["6.1+"]


@pytest.mark.parametrize(
    ("note", "range_", "comment"),
    [
        ("5.10+ but not 6.1", "5.10+ but not 6.1", None),
        ("5.10+ (except 5.15)", "5.10+ (except 5.15)", None),
        ("all but 5.4", "all but 5.4", None),
        ("Needed in 6.12 and up (lamps were new)", "Needed in 6.12 and up", "lamps were new"),
        ("6.12.y and later (lamps were", "6.12.y and later", "lamps were"),
        ("5.14 (need a port for older lamps)", "5.14", "need a port for older lamps"),
        ("6.11, see the note above.", "6.11", "see the note above"),
        ("Only v6.9 and above; depends on the lamp", "Only v6.9 and above", "depends on the lamp"),
        ("5.10+ (needs oil), not 6.1", "5.10+ (needs oil), not 6.1", None),
        ("not for 6.1", None, "not for 6.1"),
        ("needs to use lamp_old for <= 6.10", None, "needs to use lamp_old for <= 6.10"),
        ("5.10, 5.15 not affected", None, "5.10, 5.15 not affected"),
    ],
)  # fmt: skip
def test_versions_may_stand_beside_words(
    note: str, range_: str | None, comment: str | None
) -> None:
    """What speaks of versions is the range, what says why is a comment; nothing is lost."""
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert (entry.range, entry.comment, entry.text) == (range_, comment, note)


@pytest.mark.parametrize(
    ("note", "ranges", "after"),
    [
        ("5.10+ after 4 weeks", ["5.10+"], "4 weeks"),
        (
            "5.10+, after it was in mainline for 4 weeks",
            ["5.10+"],
            "it was in mainline for 4 weeks",
        ),
        ("5.4 # after -rc3", ["5.4"], "-rc3"),
        ("5.10+ (after -rc3)", ["5.10+"], "-rc3"),
        ("5.10+ but only after 6 weeks in mainline", ["5.10+"], "6 weeks in mainline"),
        ("5.4, 5.10 after 2 weeks", ["5.4", "5.10"], "2 weeks"),
        ("after 4 weeks, 5.10+", ["5.10+"], "4 weeks"),
        ("after -rc3 for 5.10+", ["5.10+"], "-rc3"),
        ("5.10+; wait 4 weeks", ["5.10+"], "4 weeks"),
        ("5.10+ not before -rc3", ["5.10+"], "-rc3"),
        ("5.10+ but not 6.1, after 4 weeks", ["5.10+ but not 6.1"], "4 weeks"),
        ("5.10+ please let it soak for 2 weeks", ["5.10+"], "2 weeks"),
        ("wait 2 weeks", [None], "2 weeks"),
        ("5.10+ after the merge window", ["5.10+"], "the merge window"),
    ],
)
def test_a_delay_may_stand_beside_versions(note: str, ranges: list[str | None], after: str) -> None:
    """Each entry of the note has the delay."""
    entries = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert [entry.range for entry in entries] == ranges
    assert {entry.after for entry in entries} == {after}


@pytest.mark.parametrize("note", [f"5.10+ after {SHA[:12]}", "5.10+ after 6.1"])
def test_after_a_commit_or_a_version_is_no_delay(note: str) -> None:
    """It says what has to be there first."""
    (entry,) = parse_patch(f"Text.\n\nCc: {VGER} # {note}").cc_stable
    assert entry.after is None

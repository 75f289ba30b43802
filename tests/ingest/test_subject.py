"""The grammar of subjects: tags, reply marks, notices, as they stand on lists."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.subject import read_subject, stable_tree

TAGS: list[tuple[str, dict[str, Any]]] = [
    ("[PATCH]", {}),
    ("[PATCH 3/5]", {"index": 3, "total": 5}),
    ("[PATCH v2 3/5]", {"version": 2, "index": 3, "total": 5}),
    ("[PATCH v2]", {"version": 2}),
    ("[PATCH V2 3/5]", {"version": 2, "index": 3, "total": 5}),
    ("[PATCH V2]", {"version": 2}),
    ("[RFC PATCH V2 3/5]", {"version": 2, "index": 3, "total": 5, "prefixes": ["RFC"]}),
    ("[RFC PATCH 3/5]", {"index": 3, "total": 5, "prefixes": ["RFC"]}),
    ("[PATCH RFC v2 3/5]", {"version": 2, "index": 3, "total": 5, "prefixes": ["RFC"]}),
    (
        "[PATCH Part1 RFC v2 3/5]",
        {"version": 2, "index": 3, "total": 5, "prefixes": ["Part1", "RFC"]},
    ),
    (
        "[PATCH AUTOSEL 5.4 03/15]",
        {"index": 3, "total": 15, "prefixes": ["AUTOSEL"], "target_tree": "5.4.y"},
    ),
    (
        "[PATCH AUTOSEL for 4.15 003/115]",
        {"index": 3, "total": 115, "prefixes": ["AUTOSEL"], "target_tree": "4.15.y"},
    ),
    (
        "[PATCH AUTOSEL 6.17-6.1]",
        {
            "prefixes": ["AUTOSEL"],
            "target_tree": "6.17.y",
            "target_range": {"newest": "6.17.y", "oldest": "6.1.y"},
        },
    ),
    (
        "[PATCH AUTOSEL 6.18-5.10]",
        {
            "prefixes": ["AUTOSEL"],
            "target_tree": "6.18.y",
            "target_range": {"newest": "6.18.y", "oldest": "5.10.y"},
        },
    ),
    ("[PATCH AUTOSEL 6.17]", {"prefixes": ["AUTOSEL"], "target_tree": "6.17.y"}),
    ("[PATCH 5.10 034/122]", {"index": 34, "total": 122, "target_tree": "5.10.y"}),
    ("[PATCH 5.10.y]", {"target_tree": "5.10.y"}),
    ("[5.15.y PATCH]", {"target_tree": "5.15.y"}),
    ("[PATCH stable 4.14]", {"target_tree": "4.14.y"}),
    ("[PATCH -stable]", {"prefixes": ["-stable"]}),
    ("[PATCH 4.19 v2 1/3]", {"version": 2, "index": 1, "total": 3, "target_tree": "4.19.y"}),
    (
        "[PATCH 6.1 CANDIDATE v2 3/9]",
        {
            "version": 2,
            "index": 3,
            "total": 9,
            "prefixes": ["CANDIDATE"],
            "target_tree": "6.1.y",
        },
    ),
    ("[PATCH -stable,5.4 3/5]", {"index": 3, "total": 5, "target_tree": "5.4.y"}),
    ("[PATCH -stable,5.10.x]", {"target_tree": "5.10.y"}),
    ("[PATCH v2 3/5 5.4.y]", {"version": 2, "index": 3, "total": 5, "target_tree": "5.4.y"}),
    ("[PATCH 3/5 5.15.y]", {"index": 3, "total": 5, "target_tree": "5.15.y"}),
    ("[PATCH 5.10 / 5.15 v2]", {"version": 2, "target_tree": ["5.10.y", "5.15.y"]}),
    ("[PATCH 5.10/5.15]", {"target_tree": ["5.10.y", "5.15.y"]}),
    ("[PATCH 5.4, 5.10]", {"target_tree": ["5.4.y", "5.10.y"]}),
    (
        "[PATCH net-next 3/5]",
        {"index": 3, "total": 5, "prefixes": ["net-next"], "target_tree": "net-next"},
    ),
    (
        "[PATCH v2 net-next 3/5]",
        {"version": 2, "index": 3, "total": 5, "prefixes": ["net-next"], "target_tree": "net-next"},
    ),
    (
        "[PATCH net-next,v2 3/5]",
        {"version": 2, "index": 3, "total": 5, "prefixes": ["net-next"], "target_tree": "net-next"},
    ),
    (
        "[PATCH v2,net-next,3/5]",
        {"version": 2, "index": 3, "total": 5, "prefixes": ["net-next"], "target_tree": "net-next"},
    ),
    (
        "[v2,net,1/3]",
        {"version": 2, "index": 1, "total": 3, "prefixes": ["net"], "target_tree": "net"},
    ),
    (
        "[PATCH bpf-next v2 3/5]",
        {"version": 2, "index": 3, "total": 5, "prefixes": ["bpf-next"], "target_tree": "bpf-next"},
    ),
    (
        "[PATCH mm-unstable v2 3/5]",
        {
            "version": 2,
            "index": 3,
            "total": 5,
            "prefixes": ["mm-unstable"],
            "target_tree": "mm-unstable",
        },
    ),
    ("[PATCH -next]", {"prefixes": ["-next"], "target_tree": "-next"}),
    ("[PATCH nft 3/5]", {"index": 3, "total": 5, "prefixes": ["nft"]}),
    ("[nft PATCH 3/5]", {"index": 3, "total": 5, "prefixes": ["nft"]}),
    (
        "[iptables PATCH v2 3/5]",
        {"version": 2, "index": 3, "total": 5, "prefixes": ["iptables"]},
    ),
    ("[PATCHSET v2 0/5]", {"version": 2, "index": 0, "total": 5}),
    ("[PATCHSET 0/5]", {"index": 0, "total": 5}),
    ("[PATCHSET v2.1 0/5]", {"version": 2, "version_text": "2.1", "index": 0, "total": 5}),
    ("[PATCH v2.1 3/5]", {"version": 2, "version_text": "2.1", "index": 3, "total": 5}),
    ("[PATCHSET v24.0 0/5]", {"version": 24, "version_text": "24.0", "index": 0, "total": 5}),
    ("[PATCHSET v5.3 0/5]", {"version": 5, "version_text": "5.3", "index": 0, "total": 5}),
    ("[PATCH v24.5.1 3/5]", {"version": 24, "version_text": "24.5.1", "index": 3, "total": 5}),
    ("[MEGAPATCHSET v26]", {"version": 26}),
    ("[PATCHBOMB 6.11]", {"target_tree": "6.11.y"}),
    ("[iptables RFC 1/2]", {"index": 1, "total": 2, "prefixes": ["iptables", "RFC"]}),
    ("[conntrack-tools 0/6]", {"index": 0, "total": 6, "prefixes": ["conntrack-tools"]}),
    (
        "[PATH 5.10 0/4]",
        {"index": 0, "total": 4, "prefixes": ["PATH"], "target_tree": "5.10.y"},
    ),
    (
        "[PATCH-next v2 0/2]",
        {"version": 2, "index": 0, "total": 2, "prefixes": ["-next"], "target_tree": "-next"},
    ),
    ("[RFC-PATCH]", {"prefixes": ["RFC"]}),
    ("[PATCHv2 3/5]", {"version": 2, "index": 3, "total": 5}),
    ("[v2 PATCH 3/5]", {"version": 2, "index": 3, "total": 5}),
    ("[PATCH 3/5 v2]", {"version": 2, "index": 3, "total": 5}),
    ("[patch V2 3/5]", {"version": 2, "index": 3, "total": 5}),
    ("[patch 3/5]", {"index": 3, "total": 5}),
    ("[PATCH3/5]", {"index": 3, "total": 5}),
    ("[PATCH 3 of 5]", {"index": 3, "total": 5}),
    ("[PATCH RESEND v2 3/5]", {"version": 2, "index": 3, "total": 5, "prefixes": ["RESEND"]}),
    ("[RESEND PATCH v2]", {"version": 2, "prefixes": ["RESEND"]}),
    ("[PATCH v4.19]", {"target_tree": "4.19.y"}),
    ("[PATCH 2.6.32]", {"target_tree": "2.6.32.y"}),
    ("[PATCH v10 3/12]", {"version": 10, "index": 3, "total": 12}),
]


@pytest.mark.parametrize(("tag", "wanted"), TAGS, ids=[tag for tag, _ in TAGS])
def test_tag(tag: str, wanted: dict[str, Any]) -> None:
    """Version, counter, trees and the other words of each tag that lists know."""
    found = read_subject(f"{tag} lamp: dim")
    assert found.clean == "lamp: dim"
    assert found.tags is not None
    absent: dict[str, Any] = {
        "version": 1,
        "version_text": None,
        "index": None,
        "total": None,
        "prefixes": [],
        "target_tree": None,
        "target_range": None,
    }
    got = {name: getattr(found.tags, name) for name in absent}
    assert got == absent | wanted


@pytest.mark.parametrize(
    ("subject", "clean"),
    [
        ("[PATCH] [media] lamp: dim", "[media] lamp: dim"),
        ("[PATCH] [RFT] lamp: dim", "lamp: dim"),
        ("[PATCH] lamp: dim [again]", "lamp: dim [again]"),
        ("[lamps] [PATCH] lamp: dim", "lamp: dim"),
        ("[PATCH 1/2 lamp: dim", "lamp: dim"),
        ("[PATCH]lamp: dim", "lamp: dim"),
        ("[GIT PULL] lamps for v6.5", "lamps for v6.5"),
        ("lamp: patch 2/3 of v4", "lamp: patch 2/3 of v4"),
        ("[lamp] dim", "[lamp] dim"),
        ("", ""),
        ("[PATCH]", ""),
    ],
)
def test_clean_subject(subject: str, clean: str) -> None:
    """The title without tags; a bracket that is none of them belongs to it."""
    assert read_subject(subject).clean == clean


@pytest.mark.parametrize(
    "subject", ["lamp: patch 2/3 of v4", "[lamp] dim", "Re: lamp", "[5 lamps] dim", "lamp [PATCH]"]
)
def test_no_tag(subject: str) -> None:
    """Without a patch tag there are no tag facts."""
    assert read_subject(subject).tags is None


@pytest.mark.parametrize(
    "mark",
    [
        "Re:",
        "RE:",
        "re:",
        "AW:",
        "Antwort:",
        "SV:",
        "Re[2]:",
        "Re: Re:",
        "Re: AW: Re:",
        "回复：",
        "Fwd: Re:",
    ],
)
def test_reply_marks(mark: str) -> None:
    """Reply marks of many languages, also several, leave tag and title alone."""
    found = read_subject(f"{mark} [PATCH v2 1/2] lamp: dim")
    assert found.is_reply
    assert found.clean == "lamp: dim"
    assert found.tags is not None
    assert found.tags.version == 2


def test_list_tag_before_the_reply_mark() -> None:
    """``[lamps] Re: [PATCH]`` is a reply on the list "lamps"."""
    found = read_subject("[lamps] Re: [PATCH] lamp: dim")
    assert (found.is_reply, found.list_tags, found.clean) == (True, ["lamps"], "lamp: dim")


def test_forwarded_mail_is_no_reply() -> None:
    """``Fwd:`` passes a mail on."""
    assert not read_subject("Fwd: [PATCH] lamp: dim").is_reply


@pytest.mark.parametrize("tag", ["[GIT PULL]", "[PULL]", "[GIT PULL v2]", "[git pull]"])
def test_pull_request(tag: str) -> None:
    """A pull request is known by its tag."""
    assert read_subject(f"{tag} lamps for v6.5").is_pull


@pytest.mark.parametrize(
    ("subject", "kind", "tree"),
    [
        ('Patch "lamp: dim" has been added to the 6.6-stable tree', "added", "6.6.y"),
        ('patch "lamp: dim" has been added to the 4.19-stable tree', "added", "4.19.y"),
        ('FAILED: patch "[PATCH] lamp: dim" failed to apply to 5.4-stable tree', "failed", "5.4.y"),
        ('failed: patch "lamp: dim" failed to apply to 5.10-stable tree', "failed", "5.10.y"),
        ('Patch "lamp: dim" has been dropped from the 6.6-stable tree', "dropped", "6.6.y"),
    ],
)
def test_stable_notice(subject: str, kind: str, tree: str) -> None:
    """A stable maintainer's notice names a patch and a tree; that tree is its tag."""
    found = read_subject(subject)
    assert (found.notice, found.clean) == (kind, "lamp: dim")
    assert found.tags is not None
    assert (found.tags.version, found.tags.target_tree) == (1, tree)


def test_reply_to_a_notice() -> None:
    """Somebody answers a notice: the tree is known, and that it is an answer."""
    found = read_subject('Re: Patch "lamp: dim" has been added to the 6.6-stable tree')
    assert (found.notice, found.is_reply) == ("added", True)


@pytest.mark.parametrize(
    ("version", "tree"),
    [
        ("5.10", "5.10.y"),
        ("v5.10.3", "5.10.y"),
        ("6.6.9", "6.6.y"),
        ("2.6.32.7", "2.6.32.y"),
        ("2.6.32", "2.6.32.y"),
        ("3.4", "3.4.y"),
    ],
)
def test_stable_tree(version: str, tree: str) -> None:
    """Trees are named by two numbers, those of 2.6 by three."""
    assert stable_tree(version) == tree


@given(st.text(max_size=300))
def test_never_raises(subject: str) -> None:
    """Any subject can be read."""
    read_subject(subject)


@given(
    st.lists(
        st.sampled_from(
            [
                "[",
                "]",
                "PATCH",
                "Re: ",
                "v2",
                " ",
                "3/5",
                "5.10",
                "-next",
                ",",
                "/",
                "6.17-6.1",
                '"',
                "added to",
            ]
        ),
        max_size=40,
    )
)
def test_never_raises_on_pieces_of_tags(pieces: list[str]) -> None:
    """Any arrangement of what tags are made of can be read, and gives a title from it."""
    subject = "".join(pieces)
    found = read_subject(subject)
    assert len(found.clean) <= len(subject)


@pytest.mark.parametrize("words", ["5.4 to 4.14", "4.14 to 5.4", "5.4-4.14", "v4.14.y - v5.4.y"])
def test_a_range_of_trees_in_words(words: str) -> None:
    """Each tree from the one to the other, not these two alone."""
    tags = read_subject(f"[PATCH {words}] lamp: dim").tags
    assert tags is not None
    assert tags.target_tree == "5.4.y"
    assert tags.target_range == {"newest": "5.4.y", "oldest": "4.14.y"}


@pytest.mark.parametrize("words", ["5.4 4.14", "5.4, 4.14", "for 5.4 and 4.14"])
def test_two_trees_are_no_range(words: str) -> None:
    """They are named one by one."""
    tags = read_subject(f"[PATCH {words}] lamp: dim").tags
    assert tags is not None
    assert tags.target_tree == ["5.4.y", "4.14.y"]
    assert tags.target_range is None


@pytest.mark.parametrize("piece", ["[7/en] ", "[PATCH IT PH] ", "[x] ", "Re: ", "[", "[PATCH "])
def test_subjects_of_megabytes(piece: str) -> None:
    """Of a subject that is no subject the start is read."""
    start = time.process_time()
    read_subject(piece * (2_000_000 // len(piece)))
    assert time.process_time() - start < 2

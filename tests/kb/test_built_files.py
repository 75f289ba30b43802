"""Lists of what a configuration builds, in the forms in which they are made."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.kb.built_files import BuiltFiles, read_built_files
from patchlore.kb.errors import UsageError

KNOWN = (
    "drivers/clock/hand.c",
    "drivers/clock/bell.c",
    "lib/string.c",
    "tools/lib/string.c",
    "fs/tarnfs/inline.c",
    "arch/x86/kernel/head_64.S",
)

STEMS = frozenset({"drivers/clock/hand", "lib/string", "arch/x86/kernel/head_64"})


def read(text: str) -> BuiltFiles:
    """Read a list."""
    return read_built_files(text.encode(), KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        "drivers/clock/hand.o\nlib/string.o\narch/x86/kernel/head_64.o\n",
        "./drivers/clock/hand.o\n./lib/string.o\n./arch/x86/kernel/head_64.o\n",
        "/home/ada/linux/drivers/clock/hand.o\r\n/home/ada/linux/lib/string.o\r\n"
        "/home/ada/linux/arch/x86/kernel/head_64.o\r\n",
        "drivers/clock/hand.c\nlib/string.c\narch/x86/kernel/head_64.S\n",
        "./drivers/clock/.hand.o.cmd\n./lib/.string.o.cmd\n./arch/x86/kernel/.head_64.o.cmd\n",
        "# what vmlinux is made of\narch/x86/kernel/head_64.o lib/string.o\n\n"
        "drivers/clock/built-in.a drivers/clock/hand.o\n",
        "linux-6.6/drivers/clock/hand.o\nlinux-6.6/lib/string.o\n"
        "linux-6.6/arch/x86/kernel/head_64.o",
        json.dumps(
            [
                {"directory": "/build", "file": "/home/ada/linux/drivers/clock/hand.c"},
                {"directory": "/home/ada/linux", "file": "lib/string.c", "command": "gcc"},
                {"directory": "/home/ada/linux/lib", "file": "../arch/x86/kernel/head_64.S"},
            ]
        ),
    ],
)
def test_every_form_names_the_same_files(text: str) -> None:
    """Whatever stands before the paths of the tree, and whatever the suffix."""
    assert read(text).stems == STEMS
    assert read(text).unknown == 0


def test_the_beginning_is_that_of_most_paths() -> None:
    """tools/lib/string.o is no lib/string.o, though the name ends so."""
    built = read("/src/tools/lib/string.o\n/src/drivers/clock/hand.o\n/src/fs/tarnfs/inline.o\n")
    assert "lib/string" not in built.stems
    assert not built.touched_by(["lib/string.c"])


def test_what_is_outside_of_the_tree_is_left_out() -> None:
    """A list can have objects of other folders, too."""
    built = read("/src/lib/string.o\n/src/drivers/clock/hand.o\n/opt/clock/hand.o\n")
    assert built.stems == {"lib/string", "drivers/clock/hand"}


@pytest.mark.parametrize(
    ("paths", "touched"),
    [
        (["drivers/clock/hand.c"], True),
        (["drivers/clock/bell.c"], False),
        (["drivers/clock/bell.c", "drivers/clock/hand.c"], True),
        (["arch/x86/kernel/head_64.S"], True),
        (["include/linux/clock.h"], True),
        (["include/linux/clock.h", "Documentation/clock.rst"], True),
        (["include/linux/clock.h", "drivers/clock/bell.c"], False),
        (["drivers/clock/hand.h"], True),
        (["fs/tarnfs/inline.h"], False),
        (["arch/x86/include/asm/page.h"], True),
        (["arch/mips/include/asm/page.h"], False),
        (["drivers/clock/Kconfig"], True),
        (["drivers/clock/Makefile"], True),
        (["fs/tarnfs/Makefile"], False),
        (["Makefile"], True),
        (["arch/x86/kernel/vmlinux.lds.S"], True),
        (["Documentation/clock.c"], False),
        (["tools/lib/string.c"], False),
        (["tools/testing/selftests/clock/hand.c"], False),
        (["MAINTAINERS"], False),
        (["drivers/clock/notes.txt"], False),
        ([], False),
    ],
)
def test_what_touches_the_build(paths: list[str], touched: bool) -> None:
    """Sources by their objects, headers and Makefiles where they can reach something."""
    built = read("drivers/clock/hand.o\nlib/string.o\narch/x86/kernel/head_64.o\n")
    assert built.touched_by(paths) is touched


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# nothing\n", "hello\n", "[", "[]", '{"a": 1}', "[1]"]
)
def test_what_is_no_list_is_a_mistake(text: str) -> None:
    """An empty list would silently choose nothing."""
    with pytest.raises(UsageError):
        read(text)


def test_lines_that_are_no_paths_are_counted() -> None:
    """They are told, so that a wrong file is noticed; archives and modules are known to be none."""
    built = read("lib/string.o\nhello world\nlib/lib.a\ndrivers/clock/clock.ko\n")
    assert built.stems == {"lib/string"}
    assert built.unknown == 1


@given(st.binary(max_size=500))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """A file of any content is a list or a mistake, never anything else."""
    try:
        built = read_built_files(data, KNOWN)
    except UsageError:
        return
    for path in KNOWN:
        assert built.touched_by([path]) in (True, False)


_NAMES = st.text(alphabet="abcdefgh_-", min_size=1, max_size=6)
_STEMS = st.lists(_NAMES, min_size=2, max_size=4).map("/".join)


@given(
    st.sets(_STEMS, min_size=1, max_size=8),
    st.sampled_from(["", "./", "/home/ada/linux/", "/b/", "../linux-6.6/"]),
    st.sampled_from([".o", ".c", ".S", ".rs"]),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
)
def test_a_list_gives_back_what_it_was_made_of(
    stems: set[str], prefix: str, suffix: str, end: str, is_json: bool
) -> None:
    """Any set of files, with anything before it, in any form."""
    paths = [f"{prefix}{stem}{suffix}" for stem in sorted(stems)]
    text = (
        json.dumps([{"file": path, "directory": "/"} for path in paths])
        if is_json
        else end.join(paths)
    )
    built = read_built_files(text.encode(), [f"{stem}.c" for stem in stems])
    assert stems <= {stem.removeprefix("linux-6.6/") for stem in built.stems}
    assert all(built.touched_by([f"{stem}.c"]) for stem in stems)

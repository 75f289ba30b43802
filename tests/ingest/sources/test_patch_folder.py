"""Folders of patches: the order of a series, and what the folders' names say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.ingest.raw import Place
from patchlore.ingest.sources.patch_folder import parse_series, place_of
from tests.ingest.sources.samples import GIT_LINE, Marks, mail, read, write

SERIES = b"""\
# what waits
lamp-dim.patch -p0
\tlamp-on.patch -p ab # twice as bright
+needs_update lamp-off.patch
lamp-hum.patch #+stable #-rt
lamp-dim.patch
-R
sub/dir/../lamp-glow.patch\t-R -p2
"""


def test_a_series_has_options_comments_and_guards() -> None:
    """quilt's, SUSE's and Mercurial's ways in one."""
    entries = parse_series(SERIES)
    assert [(entry.name, entry.strip, entry.guards) for entry in entries] == [
        ("lamp-dim.patch", 0, ()),
        ("lamp-on.patch", 1, ()),
        ("lamp-off.patch", None, ("+needs_update",)),
        ("lamp-hum.patch", None, ("+stable", "-rt")),
        ("sub/lamp-glow.patch", 2, ()),
    ]
    assert entries[-1].line == 8


@given(st.binary(max_size=300))
def test_any_bytes_are_a_series(data: bytes) -> None:
    """Nothing raises."""
    parse_series(data)
    parse_series(b"-p" + data)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("q/queue-6.6/lamp.patch", Place(tree="6.6.y", state="queued")),
        ("queue-2.6.32/lamp.patch", Place(tree="2.6.32.y", state="queued")),
        (
            "q/releases/6.6.9/lamp.patch",
            Place(tree="6.6.y", state="released", release="6.6.9"),
        ),
        (
            "q.tar!releases/2.6.32.61/lamp.patch",
            Place(tree="2.6.32.y", state="released", release="2.6.32.61"),
        ),
        (
            "fixes/CVE-2023-90001/4.19/0001.patch",
            Place(tree="4.19.y", state="posted", cve="CVE-2023-90001"),
        ),
        (
            "fixes.tar!CVE-2023-90001/linux-4.19.y/0001.patch",
            Place(tree="4.19.y", state="posted", cve="CVE-2023-90001"),
        ),
        ("CVE-2023-90001/ANY/0001.patch", None),
        ("CVE-2023-90001/4.19/old/0001.patch", None),
        ("q/queue-6.6/old/lamp.patch", None),
        ("q/queue-next/lamp.patch", None),
        ("releases/6.6/lamp.patch", None),
        ("my-queue-6.6/lamp.patch", None),
    ],
)
def test_folders_say_tree_and_state(path: str, place: Place | None) -> None:
    """queue-6.6 waits for a release of 6.6.y, releases/6.6.9 is out, CVE/4.19 is for 4.19.y."""
    assert place_of(path) == place


def test_a_listed_patch_has_its_order_and_options(tmp_path: Path) -> None:
    """Beside what its folder says; what the series does not list has no order."""
    for number, name in enumerate(("b", "a", "c"), 1):
        write(tmp_path / f"queue-6.6/{name}.patch", GIT_LINE + mail(number))
    write(tmp_path / "queue-6.6/series", b"b.patch\na.patch -p0\n")
    raws, problems, _ = read(tmp_path)
    assert [raw.source.place for raw in raws] == [
        Place(tree="6.6.y", state="queued", order=1),
        Place(tree="6.6.y", state="queued", order=2, strip=0),
        Place(tree="6.6.y", state="queued"),
    ]
    assert not problems


def test_a_series_of_folders_below_is_read_once(tmp_path: Path) -> None:
    """SUSE's series.conf stands beside the folders of patches."""
    write(tmp_path / "patches.suse/a.patch", GIT_LINE + mail(2))
    write(tmp_path / "patches.suse/b.patch", GIT_LINE + mail(1))
    write(tmp_path / "patches.suse/c.patch", GIT_LINE + mail(3))
    write(tmp_path / "series.conf", b"\tpatches.suse/b.patch\n+x\tpatches.suse/a.patch\n")
    marks = Marks()
    raws, problems = marks.run(tmp_path)
    assert [raw.data for raw in raws] == [GIT_LINE + mail(number) for number in (1, 2, 3)]
    assert raws[1].source.place == Place(order=2, guards=["+x"])
    assert not problems
    assert marks.run(tmp_path) == ([], [])


def test_a_series_leads_nowhere_else(tmp_path: Path) -> None:
    """A folder from elsewhere must not have other files read."""
    write(tmp_path / "secret", mail(9))
    write(tmp_path / "q/a.patch", GIT_LINE + mail(1))
    write(tmp_path / "q/series", f"a.patch\n../secret\n{tmp_path}/secret\n".encode())
    raws, problems, _ = read(tmp_path / "q")
    assert len(raws) == 1
    assert len(problems) == 2


def test_many_missing_patches_are_counted(tmp_path: Path) -> None:
    """The first ones by name."""
    write(tmp_path / "a.patch", GIT_LINE + mail(1))
    lost = "".join(f"lost-{number}.patch\n" for number in range(50))
    write(tmp_path / "series", b"a.patch\n" + lost.encode())
    _, problems, _ = read(tmp_path)
    assert len(problems) == 21
    assert "30 more patches" in problems[-1].text

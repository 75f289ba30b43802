"""Searches find the mail around an attached patch, and patches by the folder that they lie in."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.index.facts import Facts
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive
from tests.kb.attachments import BOTH, letter, patch
from tests.kb.mails import OTHER, UPSTREAM

QUEUED = patch("[PATCH] tock: use two", "tock.c", OTHER).partition("\n")[2]


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    """An archive of a mail with two patches, a forwarded one, and a queue."""
    (tmp_path / "mail" / "queue-6.6").mkdir(parents=True)
    (tmp_path / "mail" / "queue-6.6" / "tock.patch").write_text(QUEUED)
    (tmp_path / "mail" / "both.eml").write_bytes(BOTH)
    inner = patch("[PATCH] lamp: dim", "deep/lamp.c", "aabbccddeeff").partition("\n")[2]
    forward = letter("forward", ("x.eml", inner), form="message/rfc822")
    (tmp_path / "mail" / "forward.eml").write_bytes(forward)
    with Archive(tmp_path / "archive", write=True) as archive:
        fill(archive, [str(tmp_path / "mail")], jobs=0)
    return tmp_path / "archive"


@pytest.mark.parametrize(
    ("prefix", "value", "found"),
    [
        ("dfn", "old/tick.c", "both@example.org"),
        ("dfn", "deep/lamp.c", "forward@example.org"),
        ("commit", UPSTREAM, "both@example.org"),
        ("commit", "aabbccddeeff", "forward@example.org"),
        ("stable", "5.4", "both@example.org"),
        ("event", "posted", "both@example.org"),
        ("event", "queued", None),
        ("stable", "6.6", None),
        ("status", "queued", None),
    ],
)
def test_a_mail_is_found_by_what_is_around_it(
    path: pathlib.Path, prefix: str, value: str, found: str | None
) -> None:
    """None is the patch of the queue, which has no Message-ID."""
    with Archive(path) as archive:
        (id_,) = Facts(archive).look_up(prefix, value)
        assert archive.value("SELECT message_id FROM mail WHERE id = ?", (id_,)) == found


def test_the_patch_id_of_an_attached_patch_finds_its_mail(path: pathlib.Path) -> None:
    """Each of several has its own, of which the mail itself has one at most."""
    with Archive(path) as archive:
        ids = [id_ for (id_,) in archive.execute("SELECT patch_id FROM attached ORDER BY position")]
        mail = archive.value("SELECT id FROM mail WHERE message_id = 'both@example.org'")
        assert len(set(ids)) == len(ids) == 3
        assert [Facts(archive).look_up("patchid", id_) == {mail} for id_ in ids].count(True) == 2

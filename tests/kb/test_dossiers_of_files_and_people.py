"""Dossiers of files, folders, people and CVEs."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from patchlore.ingest.message import (
    CommitRef,
    CvePair,
    CveRecord,
    FileChange,
    Person,
    Trailer,
    UpstreamRef,
)
from patchlore.kb.dossiers.cves import cve_dossier
from patchlore.kb.dossiers.files import file_dossier
from patchlore.kb.dossiers.people import person_dossier
from patchlore.kb.errors import NotFoundError
from tests.kb.mails import BO, OTHER, UPSTREAM, tags
from tests.kb.test_dossiers import filled, mail


def patch(number: int, *paths: str, **fields: Any) -> Any:
    """Return a patch to these files."""
    files = [FileChange(path=path, functions=[f"turn_{number}"]) for path in paths]
    return mail(number, is_patch=True, files=files, **fields)


def test_folder_holds_what_is_below(tmp_path: pathlib.Path) -> None:
    """A folder means the files below it and no path that only begins with its name."""
    with filled(
        tmp_path,
        patch(1, "net/ring/a.c", "net/ring/sub/b.c"),
        patch(2, "net/ring/a.c"),
        patch(3, "net/ringlet.c"),
        mail(4, quoted_files=["net/ring/a.c"]),
    ) as archive:
        dossier = file_dossier(archive, "net/ring")
        assert (dossier.path, dossier.is_folder, dossier.patches) == ("net/ring/", True, 2)
        assert dossier.quotations == 1
        assert [(one.name, one.messages) for one in dossier.below] == [("a.c", 2), ("sub/", 1)]
        assert [brief.key for brief in dossier.latest] == ["2@example.org", "1@example.org"]


@pytest.mark.parametrize("name", ["a.c", "ring/a.c", "./net/ring/a.c", "/net/ring/a.c"])
def test_end_of_a_path_will_do(tmp_path: pathlib.Path, name: str) -> None:
    """The end of a path means the one file that has it."""
    with filled(tmp_path, patch(1, "net/ring/a.c")) as archive:
        assert file_dossier(archive, name).path == "net/ring/a.c"


def test_end_of_several_paths_names_them(tmp_path: pathlib.Path) -> None:
    """The end of several paths is an error that names them."""
    with (
        filled(tmp_path, patch(1, "net/Makefile", "lib/Makefile")) as archive,
        pytest.raises(NotFoundError, match="lib/Makefile, net/Makefile"),
    ):
        file_dossier(archive, "Makefile")


def test_file_has_backports_fixes_and_renames(tmp_path: pathlib.Path) -> None:
    """The dossier tells upstream commits with trees, what patches fix, and other names."""
    renamed = FileChange(path="new.c", old_path="old.c", status="renamed")
    with filled(
        tmp_path,
        patch(
            1,
            "new.c",
            subject_tags=tags("5.10.y"),
            primary_upstream=UPSTREAM,
            upstream_refs=[UpstreamRef(sha=UPSTREAM, form="commit-upstream")],
            fixes=[CommitRef(sha=OTHER, subject="ring: begin")],
        ),
        mail(2, is_patch=True, files=[renamed]),
    ) as archive:
        dossier = file_dossier(archive, "new.c")
        (commit,) = dossier.commits
        assert (commit.sha, commit.trees) == (UPSTREAM, ["5.10.y"])
        assert [(fix.sha, fix.subject) for fix in dossier.fixes] == [(OTHER, "ring: begin")]
        (rename,) = dossier.renames
        assert (rename.status, rename.old_path, rename.new_path) == ("renamed", "old.c", "new.c")
        assert file_dossier(archive, "old.c").patches == 1


def test_limit_bounds_the_lists(tmp_path: pathlib.Path) -> None:
    """With a limit the lists are short and the numbers are whole; 0 is no limit."""
    with filled(tmp_path, *(patch(number, "a.c") for number in range(1, 6))) as archive:
        assert len(file_dossier(archive, "a.c", 2).latest) == 2
        assert file_dossier(archive, "a.c", 2).patches == 5
        assert len(file_dossier(archive, "a.c", 0).latest) == 5
        assert len(person_dossier(archive, "ada@example.org", 2).patches) == 2
        assert len(person_dossier(archive, "ada@example.org", 0).patches) == 5


def test_name_means_all_its_addresses(tmp_path: pathlib.Path) -> None:
    """A name is somebody with all addresses; an address is only that one and tells the others."""
    work = Person(name="Ada Quill", email="quill@work.example.org")
    with filled(tmp_path, mail(1), mail(2, from_=work, author=work)) as archive:
        by_name = person_dossier(archive, "ada quill")
        assert set(by_name.addresses) == {"ada@example.org", "quill@work.example.org"}
        assert len(by_name.mails) == 2
        by_address = person_dossier(archive, "Ada Quill <ada@example.org>")
        assert by_address.addresses == ["ada@example.org"]
        assert by_address.other_addresses == ["quill@work.example.org"]
        assert len(by_address.mails) == 1


def test_somebody_else_s_name_beside_an_address_is_left_out(tmp_path: pathlib.Path) -> None:
    """A robot that sends for others does not give them its names."""
    robot = Person(name="Zoe Lint via lists", email="ada@example.org")
    with filled(tmp_path, mail(1), mail(2, from_=robot, author=robot)) as archive:
        assert person_dossier(archive, "Ada Quill").names == ["Ada Quill"]


def test_roles_of_a_person_are_counted(tmp_path: pathlib.Path) -> None:
    """Reviews count as such; who sends on a patch is not its author."""
    review = [Trailer(key="Reviewed-by", value="Ada Quill <ada@example.org>")]
    with filled(tmp_path, patch(1, "a.c", from_=BO, author=BO, trailers=review)) as archive:
        dossier = person_dossier(archive, "ada@example.org")
        assert {one.name: one.messages for one in dossier.roles}["reviewed-by"] == 1
        assert dossier.patches == []
        assert [one.name for one in person_dossier(archive, "bo@example.org").files] == ["a.c"]


def test_what_a_person_reviewed_is_listed(tmp_path: pathlib.Path) -> None:
    """With the tags, the newest mail of each title; what they only passed on is no share."""
    ada = "Ada Quill <ada@example.org>"
    both = [Trailer(key="Reviewed-by", value=ada), Trailer(key="Tested-by", value=ada)]
    other = {"from_": BO, "author": BO}
    with filled(
        tmp_path,
        patch(1, "a.c", **other, trailers=both[:1], clean_subject="a"),
        patch(2, "a.c", **other, trailers=both, clean_subject="a"),
        patch(3, "b.c", **other, trailers=[Trailer(key="Acked-by", value=ada)], clean_subject="b"),
        patch(4, "c.c", **other, trailers=[Trailer(key="Signed-off-by", value=ada)]),
        patch(5, "c.c", trailers=[Trailer(key="Signed-off-by", value=ada)]),
    ) as archive:
        shares = person_dossier(archive, "ada@example.org").shares
        found = {(share.message.key, *share.tags) for share in shares}
        assert found == {
            ("3@example.org", "acked-by"),
            ("2@example.org", "reviewed-by", "tested-by"),
        }
        assert len(person_dossier(archive, "ada@example.org", 1).shares) == 1


def test_several_people_are_named(tmp_path: pathlib.Path) -> None:
    """A part of a name that several people have is an error that names them."""
    other = Person(name="Adam Reed", email="reed@example.org")
    with (
        filled(tmp_path, mail(1), mail(2, from_=other, author=other)) as archive,
        pytest.raises(NotFoundError, match=r"Ada Quill <ada@example.org>.*Adam Reed"),
    ):
        person_dossier(archive, "ada")


def test_record_of_a_cve_gives_fixes_and_causes(tmp_path: pathlib.Path) -> None:
    """What an announcement says, and what patches that name the CVE say, is one list."""
    record = CveRecord(
        id="CVE-2024-12345",
        title="ring: wrap",
        pairs=[CvePair(vulnerable_sha=OTHER, fixed_version="5.10.9", fixed_sha=UPSTREAM)],
        files=["ring.c"],
    )
    with filled(
        tmp_path,
        mail(1, cves=["CVE-2024-12345"], cve_record=record),
        patch(
            2,
            "ring.c",
            cves=["CVE-2024-12345"],
            subject_tags=tags("5.10.y"),
            primary_upstream=UPSTREAM[:12],
            upstream_refs=[UpstreamRef(sha=UPSTREAM[:12], form="commit-upstream")],
        ),
    ) as archive:
        dossier = cve_dossier(archive, "cve-2024-12345")
        assert (dossier.title, dossier.files) == ("ring: wrap", ["ring.c"])
        fix, cause = dossier.commits
        assert (fix.role, fix.sha, len(fix.reasons)) == ("fix", UPSTREAM, 2)
        assert [(state.tree, state.state) for state in fix.trees] == [("5.10.y", "in-flight")]
        assert (cause.role, cause.sha) == ("cause", OTHER)
        assert len(dossier.namings) == 2

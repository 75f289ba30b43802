"""Masked addresses: completed when there is one choice, and said to be inferred."""

from __future__ import annotations

import pathlib

import pytest

from patchlore.cli import main
from patchlore.ingest.message import Message, Person
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.reading import read_source
from patchlore.kb.inferring import infer_address
from patchlore.kb.store import Archive
from tests.kb.mails import message, raw_of, source

SEED = pathlib.Path(__file__).parents[3] / "shared/seeds/002/input.txt"

MASKED = Person(name="Ada Quill", email_masked="ada@...mple.org")


def known(number: int, email: str, name: str = "Ada Quill") -> Message:
    """Return a mail from a whole address."""
    return message(
        f"{number}@example.org", from_=Person(name=name, email=email), author=None,
        subject=f"mail {number}", clean_subject=f"mail {number}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("addresses", "inferred"),
    [
        ([], None),
        ([("ada@example.org", "Ada Quill")], "ada@example.org"),
        ([("ada@example.org", "Quill, Ada"), ("ada@example.com", "Ada Quill")], "ada@example.org"),
        ([("ada@example.org", "Ada Quill"), ("ada@sample.org", "Ada Quill")], None),
        ([("ada@example.org", "Ada Lovage")], None),
        ([("ada.q@example.org", "Ada Quill")], None),
    ],
)
def test_an_address_is_completed_when_only_one_fits(
    tmp_path: pathlib.Path, addresses: list[tuple[str, str]], inferred: str | None
) -> None:
    """The local part, the end of the domain and the name must fit, and nothing else may."""
    mails = [known(n, email, name) for n, (email, name) in enumerate(addresses)]
    with Archive(tmp_path, write=True) as archive:
        archive.add(mails, [raw_of(item) for item in mails])
        assert infer_address(archive, MASKED) == inferred


def test_a_whole_address_is_left_alone(tmp_path: pathlib.Path) -> None:
    """There is nothing to complete."""
    with Archive(tmp_path, write=True) as archive:
        assert infer_address(archive, Person(name="Ada", email="ada@example.org")) is None
        assert infer_address(archive, Person(name="Ada")) is None
        assert infer_address(archive, None) is None


def test_show_marks_what_is_inferred(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The address of the page stands there, too."""
    page = message(
        "page@example.org", from_=MASKED, author=MASKED,
        source=source("/pages/1.html", fidelity="masked", format="openwall-html"),
    )  # fmt: skip
    mails = [known(1, "ada@example.org"), page]
    with Archive(tmp_path, write=True) as archive:
        archive.add(mails, [raw_of(item) for item in mails])
    assert main(["--archive", str(tmp_path), "show", "page@example.org"]) == 0
    out = capfd.readouterr().out
    assert "Ada Quill <ada@...mple.org> (inferred: ada@example.org)" in out


@pytest.mark.skipif(not SEED.exists(), reason="needs ../shared/seeds")
@pytest.mark.parametrize("raw_first", [True, False])
def test_a_real_page_and_its_raw_mail_are_one_message(
    tmp_path: pathlib.Path, raw_first: bool
) -> None:
    """In either order: one message, two sightings, and the facts of the raw mail."""
    (page,) = [item for item in read_source(str(SEED)) if isinstance(item, Raw)]
    text = page.data.decode()
    lines = text[text.index("Date:   ") :].split("\n")
    mail = "\n".join(["Message-ID: <whole@example.org>", *lines])
    for mask, whole in (("@...el.com", "@intel.com"), ("@...utronix.de", "@linutronix.de"),
                        ("@...nel.org", "@kernel.org"), ("@...r.kernel.org", "@vger.kernel.org"),
                        ("@...ts.linux.dev", "@lists.linux.dev")):  # fmt: skip
        mail = mail.replace(mask, whole)
    raw = Raw(data=mail.encode(), source=source("/mail/whole.eml", format="rfc822", list=None))
    pair = [raw, page] if raw_first else [page, raw]
    with Archive(tmp_path, write=True) as archive:
        for item in pair:
            archive.add([parse_raw(item)], [item])
        assert archive.value("SELECT count(*) FROM message") == 1
        assert archive.value("SELECT count(*) FROM copy") == 2
        found = archive.message(1)
        assert found == parse_raw(raw)
        assert archive.raw(1) == raw.data
        assert found.from_ is not None
        assert found.from_.email == "feng.tang@intel.com"
        key, fidelity = archive.execute("SELECT key, fidelity FROM mail").fetchone()
        assert (key, fidelity) == ("whole@example.org", 0)

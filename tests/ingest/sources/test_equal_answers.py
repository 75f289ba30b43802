"""Equal answers from equal mail: a list gives the same facts in whatever container it comes."""

from __future__ import annotations

import base64
import lzma
import quopri
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from patchlore.ingest.message import Message
from patchlore.ingest.mime import read_mail
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.ingest.sources.reading import read_source
from tests.ingest.letters import DIFF, OTHER, SHA
from tests.ingest.sources.containers import CONTAINERS, mask, openwall_page

CORPORA = Path(__file__).parents[4] / "shared/corpora"
needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="needs ../shared/corpora")

Facts = dict[str, Any]


def mail(number: int, subject: str, body: str, *headers: str) -> bytes:
    """A mail of an invented list."""
    lines = [
        "Received: from a.example.org by b.example.org; Thu, 8 Jun 2023 07:06:06 +0000",
        "From: Nora Finch <nora@example.org>",
        "To: lamp-devel@example.org, Ole Brandt <ole@lists.example.net>",
        "Cc: stable@vger.example.org",
        f"Date: Thu, 8 Jun 2023 09:{number:02}:05 +0200",
        f"Message-ID: <lamp-{number}@example.org>",
        f"Subject: {subject}",
        *headers,
    ]
    return ("\n".join(lines) + "\n\n" + body).encode()


PATCH = f"""commit {SHA} upstream.

From the log it looks like a race, see GCC PR108477.

Fixes: {OTHER[:12]} ("lamp: glow")
Reported-by: Bo Reed <bo@example.org>
Cc: stable@vger.kernel.org # 5.4+
Link: https://lore.kernel.org/r/lamp-0@example.org
Signed-off-by: Nora Finch <nora@example.org>
---
 lamp.c | 2 +-

{DIFF}-- \n2.41.0
"""
MASKED_DIFF = DIFF.replace("lamp->level = 1;", "lamp->level = serial@12340000;")
MULTIPART = f"""--=-x
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

{base64.b64encode("Grüße, the patch is attached.".encode()).decode()}
--=-x
Content-Type: text/x-patch; name="lamp.patch"
Content-Disposition: attachment; filename="lamp.patch"

{DIFF}
--=-x--
"""
QUOTED = quopri.encodestring("Größe: a = b\n\nFrom here on it is dim.\n".encode()).decode()

#: One of each kind of mail, with what containers stumble over.
MAILS = [
    mail(0, "[PATCH 5.10.y v2 0/2] lamp: two fixes", "Two fixes.\n\n lamp.c | 2 +-\n"),
    mail(1, "[PATCH 5.10.y v2 1/2] lamp: dim", PATCH, "In-Reply-To: <lamp-0@example.org>"),
    mail(2, "[PATCH] lamp: serial", f"Dim.\n---\n{MASKED_DIFF}"),
    mail(
        3,
        "Re: [PATCH 5.10.y v2 1/2] lamp: dim",
        f"On Thu, Nora wrote:\n>commit {SHA} upstream.\n>\n>we saw this\n>From the log on\n\n"
        "It is.\n\n"
        "Reviewed-by: Bo Reed <bo@example.org>\n",
        "References: <lamp-0@example.org>\n <lamp-1@example.org>",
    ),
    mail(4, "[PATCH] lamp: attached", MULTIPART, "MIME-Version: 1.0",
         'Content-Type: multipart/mixed; boundary="=-x"'),
    mail(5, "=?utf-8?q?Gr=C3=B6=C3=9Fe?= of lamps", QUOTED, "MIME-Version: 1.0",
         "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable"),
    mail(6, "lamps from the start", "From here on it is dim.\n\nFrom there, too.\n"),
    mail(7, "apply this instead", f"Here:\n\nFrom {SHA} Mon Sep 17 00:00:00 2001\n"
         f"From: Ole Brandt <ole@example.org>\nDate: Wed, 7 Jun 2023 10:00:00 +0200\n"
         f"Subject: [PATCH] lamp: blink\n\nBlink.\n---\n{DIFF}"),
    mail(8, "FAILED: patch \"[PATCH] lamp: dim\" failed to apply to 5.10-stable tree",
         f"The patch below does not apply.\n\n------------------ original commit in Linus's tree "
         f"------------------\n\nFrom {SHA} Mon Sep 17 00:00:00 2001\nFrom: Ole Brandt "
         f"<ole@example.org>\nSubject: [PATCH] lamp: dim\n\nDim.\n---\n{DIFF}"),
    mail(9, "[PATCH] lamp: last", f"Dim.\n---\n{DIFF} \n".removesuffix(" \n") + " "),
    mail(10, "no line end", "The last line has none."),
    mail(11, "[GIT PULL] lamps", "The following changes since commit 1:\n\n  are in git\n"),
    mail(12, "Revert \"lamp: dim\"", f"This reverts commit {SHA}.\n---\n{DIFF}"),
]  # fmt: skip


def facts(message: Message) -> Facts:
    """Everything but where the message was found."""
    made: Facts = msgspec.to_builtins(message)
    return _without_source(made)


def _without_source(made: Facts) -> Facts:
    made.pop("source")
    made["nested"] = [_without_source(nested) for nested in made["nested"]]
    # Mailboxes end each mail with a line end, whether it had one or not.
    made["body"] = made["body"].rstrip("\n")
    return made


def answers(folder: Path) -> list[Facts]:
    """The facts of all mails in FOLDER."""
    found = []
    for item in read_source(str(folder)):
        if isinstance(item, Raw):
            found.append(facts(parse_raw(item)))
    return sorted(found, key=lambda made: made["message_id"] or "")


@pytest.fixture(scope="module")
def expected() -> list[Facts]:
    """The facts of the mails as they were sent."""
    source = Source(path="sent", format="rfc822")
    made = [facts(parse_raw(Raw(data=data, source=source))) for data in MAILS]
    return sorted(made, key=lambda each: each["message_id"])


@pytest.mark.parametrize("name", sorted(CONTAINERS))
def test_a_container_changes_no_fact(name: str, tmp_path: Path, expected: list[Facts]) -> None:
    """Whatever the mails are kept in, each has the facts that it had when it was sent."""
    CONTAINERS[name](tmp_path / "list", MAILS)
    found = answers(tmp_path / "list")
    assert [each["message_id"] for each in found] == [each["message_id"] for each in expected]
    for each, sent in zip(found, expected, strict=True):
        assert each == sent


#: What a page has no header for, or shows otherwise (an attachment is a link).
NOT_SHOWN = frozenset(
    "received_timestamp references in_reply_to lists page attachments body format_flowed "
    "line_kinds nested evidence rejected".split()
)
#: Ids in links of archives, which the mask destroys: what is left of one names nothing.
MASKED_IDS = frozenset(["mentioned_message_ids", "link_message_ids"])
#: What a mask in the diff takes away, and with right.
LOSSY = frozenset(["patch_id", "applicable"])


def masked(value: Any) -> Any:
    """VALUE with every text masked, and addresses in one place whether masked or not."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, (list, tuple)):
        return [masked(each) for each in value]
    if isinstance(value, dict):
        if "email_masked" in value:
            address = masked(value["email"] or value["email_masked"])
            return {"name": masked(value["name"]), "address": address}
        return {key: masked(each) for key, each in value.items()}
    return value


def placed(made: Facts) -> list[Any]:
    """The evidence of what no mask destroys, counted from the first line that is not empty."""
    body = made["body"]
    above = len(body) - len(body.lstrip("\n"))
    found = []
    for each in made["evidence"] + made["rejected"]:
        if each["fact"] in MASKED_IDS:
            continue
        span = each.get("span")
        line = each["line"] - above if each["line"] else 0
        found.append({**each, "line": line, "span": span and [place - above for place in span]})
    return found


def compare(shown: Facts, sent: Facts) -> None:
    """Hold the facts of a page against those of the mail."""
    for name in sorted(sent):
        if name in NOT_SHOWN or (name in LOSSY and shown["applicable"] is False):
            continue
        if name == "is_reply" and sent["in_reply_to"] and not sent["subject"].startswith("Re:"):
            continue
        if name in MASKED_IDS:
            assert not any("..." in (each or "") for each in shown[name])
            continue
        assert masked(shown[name]) == masked(sent[name]), name
    assert masked(placed(shown)) == masked(placed(sent))
    if not sent["format_flowed"]:  # pages don't join the lines of such a mail
        assert masked(shown["body"]).strip() == masked(sent["body"]).strip()


def page_of(data: bytes) -> bytes:
    """The page that openwall would make of a mail; its attachments are left to their links."""
    made = read_mail(Raw(data=data, source=Source(path="sent", format="rfc822")))
    return openwall_page(made.headers, made.parts[0].text)


def test_openwall_changes_no_fact_but_by_its_mask(tmp_path: Path, expected: list[Facts]) -> None:
    """Pages of the same mails: equal where nothing is masked, and lossy diffs are known as such."""
    kept = [data for data in MAILS if b"multipart/" not in data]
    for number, data in enumerate(kept):
        path = tmp_path / f"lamp-devel/2023/06/08/{number}/index.html"
        path.parent.mkdir(parents=True)
        path.write_bytes(page_of(data))
    by_id = {each["message_id"]: each for each in expected}
    found = answers(tmp_path)
    assert len(found) == len(kept)
    for each in found:
        compare(each, by_id[each["message_id"]])
    lossy = [each["message_id"] for each in found if each["is_patch"] and not each["applicable"]]
    assert lossy == ["lamp-2@example.org"]
    assert by_id["lamp-2@example.org"]["applicable"]


def epoch(folder: Path, bundle: str) -> Path:
    """A clone of a shared epoch as an inbox."""
    target = folder / "list/git/0.git"
    clone = ["git", "clone", "-q", "--bare", str(CORPORA / bundle), str(target)]
    subprocess.run(clone, check=True, capture_output=True)
    return folder / "list"


def loses_escapes(data: bytes) -> bool:
    """Whether mboxo can't keep DATA: a line looks escaped before it is."""
    return any(line.lstrip(b">").startswith(b"From ") and line[:1] == b">"
               for line in data.split(b"\n"))  # fmt: skip


@needs_corpora
def test_a_shared_epoch_in_every_container(tmp_path: Path) -> None:
    """Every twentieth mail of a real list."""
    inbox = epoch(tmp_path, "lore-kernel-hardening.lists.openwall.com.0.bundle")
    raws = [item for item in read_source(str(inbox)) if isinstance(item, Raw)][::20]
    raws = [raw for raw in raws if not loses_escapes(raw.data)]
    sent = sorted((facts(parse_raw(raw)) for raw in raws), key=lambda each: each["message_id"])
    for name, write in CONTAINERS.items():
        if name == "public-inbox":
            continue
        write(tmp_path / name, [raw.data for raw in raws])
        found = answers(tmp_path / name)
        assert len(found) == len(sent), name
        for each, other in zip(found, sent, strict=True):
            assert each == other, name


@needs_corpora
def test_shared_pages_of_openwall(tmp_path: Path) -> None:
    """Pages that were made of mails of that epoch; some mails are on the list twice."""
    with tarfile.open(fileobj=lzma.open(CORPORA / "archive-pages.tar.xz")) as archive:
        names = [each for each in archive.getmembers() if "synthetic-openwall" in each.name]
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        archive.extractall(tmp_path / "pages", names)
    shown = [each for each in answers(tmp_path / "pages") if each["message_id"]]
    wanted = {each["message_id"] for each in shown}
    inbox = epoch(tmp_path, "lore-kernel-hardening.lists.openwall.com.0.bundle")
    sent = {}
    for item in read_source(str(inbox)):
        if isinstance(item, Raw):
            made = read_mail(item).get("message-id") or ""
            if made.strip("<> ") in wanted:
                sent[made.strip("<> ")] = facts(parse_raw(item))
    assert len(shown) > 100
    for each in shown:
        original = sent[each["message_id"]]
        for name in ("to", "cc"):  # names in brackets behind an address were lost on these pages
            for person, other in zip(each[name], original[name], strict=True):
                person["name"] = other["name"] if person["name"] is None else person["name"]
        if each["attachments"] and original["compilers"] != each["compilers"]:
            continue  # an attached configuration names its compiler; the page has a link to it
        compare(each, original)

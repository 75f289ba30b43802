"""Patchwork exports that lost their line ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchlore.ingest.detect import detect
from patchlore.ingest.sources.patchwork_text import read_patchwork_text
from tests.ingest.sources.samples import page, read, write

START = (
    'From patchwork Thu Jun  8 07:06:05 2023 Content-Type: text/plain; charset="utf-8" '
    "MIME-Version: 1.0 Content-Transfer-Encoding: 7bit X-Patchwork-Submitter: Nora Finch "
    "X-Patchwork-Id: 4711 "
)
RECEIVED = (
    "Received: by 192.0.2.1 with SMTP id x1csp; Thu, 8 Jun 2023 00:07:00 -0700 (PDT) "
    "DKIM-Signature: v=1; h=From:To:Cc:Subject:Date :Message-ID; b=abc def= Return-Path: "
)
MAIN = (
    'From: Nora Finch To: "lamp@example.org" , Ole Brandt CC: Pia Lund Subject: [PATCH v2 '
    "1/2] lamp: dim to: half Date: Thu, 8 Jun 2023 09:06:05 +0200 Message-ID: <7@example.org> "
)
BODY = (
    "Dim the lamp. From: here on it blinks. Cc: stable@vger.kernel.org # 5.4+ Signed-off-by: "
    "Nora Finch --- lamp.c | 2 +- diff --git a/lamp.c b/lamp.c"
)


def test_an_export_is_a_mail() -> None:
    """Headers are cut at their names, the body stays one line."""
    text = START + RECEIVED + MAIN + BODY
    form = detect(text.encode())
    assert form is not None
    assert form.name == "patchwork-text"
    made = read_patchwork_text(page(text + "\n", form.name, "flattened"))
    assert made.flat
    assert made.hints == {"patchwork_id": "4711"}
    assert made.get("from") == "Nora Finch"
    assert made.get("to") == '"lamp@example.org" , Ole Brandt'
    assert made.get("cc") == "Pia Lund"
    assert made.get("subject") == "[PATCH v2 1/2] lamp: dim to: half"
    assert made.get("date") == "Thu, 8 Jun 2023 09:06:05 +0200"
    assert made.get("message-id") == "<7@example.org>"
    assert made.get("return-path") == ""
    assert made.parts[0].text == BODY


@pytest.mark.parametrize(
    "last",
    [
        "In-Reply-To: <6@example.org> References: <5@example.org> <6@example.org> ",
        "Sender: lamp@example.org Precedence: bulk List-ID: X-Mailing-List: lamp@example.org ",
        "X-Mailer: git-send-email 2.41.0 ",
        "User-Agent: Mutt/1.5.21 (2010-09-15) ",
        "Content-Type: text/plain; charset=utf-8; format=flowed ",
        "MIME-Version: 1.0 (made here) ",
        "List-Id: Lamps and bulbs <lamp.example.org> ",
        "Errors-To: lamp-bounces@example.org Sender: <lamp-bounces@example.org> ",
        "Date: Thu, 8 Jun 2023 09:06:05 +0200 (CEST) ",
    ],
)
def test_the_last_header_ends_by_its_form(last: str) -> None:
    """Nothing but the form of its value tells where the body begins."""
    main = MAIN.replace("Date: Thu, 8 Jun 2023 09:06:05 +0200 ", "") if "Date" in last else MAIN
    made = read_patchwork_text(page(START + main + last + BODY, "patchwork-text"))
    assert made.parts[0].text == BODY
    assert made.get(last.split(":")[0]) is not None


def test_the_bodys_own_from_ends_the_headers() -> None:
    """The author's From stands where the body begins; a backport's marker follows it."""
    body = "From: Ole Brandt [ Upstream commit " + "1f" * 20 + " ] Dim. Signed-off-by: Ole"
    text = START + MAIN + "X-Odd-Header: free text of any form " + body
    made = read_patchwork_text(page(text, "patchwork-text"))
    assert made.get("from") == "Nora Finch"
    assert made.parts[0].text == body


def test_a_subject_at_the_end_stops_before_the_message() -> None:
    """Where Subject is the last header, a marker is what shows the body's start."""
    text = (
        START + "Message-ID: <7@example.org> From: Nora Finch Date: Thu, 8 Jun 2023 09:06:05 +0200 "
        "Subject: lamp: dim commit " + "1f" * 20 + " upstream. Dim. Signed-off-by: Nora Finch"
    )
    made = read_patchwork_text(page(text, "patchwork-text"))
    assert made.get("subject") == "lamp: dim"
    assert made.parts[0].text.startswith("commit 1f1f")


def test_encoded_words_are_decoded() -> None:
    """Patchwork keeps headers as they were sent."""
    text = START.replace("Nora Finch", "=?utf-8?q?N=C3=B3ra?=") + MAIN + BODY
    made = read_patchwork_text(page(text, "patchwork-text"))
    assert made.get("x-patchwork-submitter") == "Nóra"


def test_a_file_of_several_exports(tmp_path: Path) -> None:
    """One a line; a line that starts none belongs to the one before."""
    first = (START + MAIN + BODY + "\n").encode()
    second = (START + MAIN + BODY + "\nFrom patchwork with love\n").encode()
    raws, problems, _ = read(write(tmp_path / "exports", first + second))
    assert [raw.data for raw in raws] == [first, second]
    assert [raw.source.offset for raw in raws] == [0, len(first)]
    assert {raw.source.fidelity for raw in raws} == {"flattened"}
    assert not problems

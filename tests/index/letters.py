"""Mails for the tests of the index: invented people, patches and bugs at example.org."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw, Source
from patchlore.kb.parsed import prepare
from patchlore.kb.store import Archive
from patchlore.kb.writing import Writer

ADA = "Ada Quill <ada@example.org>"
BO = "Bo Tern <bo.tern@example.org>"
MIRA = "Mira Skov <mira@example.org>"
LIST = "widgets@lists.example.org"

UPSTREAM = "0123456789abcdef0123456789abcdef01234567"
FIXED = "fedcba987654"

#: The end of a patch, and an empty line of context: their blanks at the end matter.
SIGNATURE = "-- \n2.40.0\n"
EMPTY = " "

PATCH = f"""\
The ring of a widget can wrap while vector_mmsg_rx() still reads it.
Randomizing the start makes that rarer; Wendy's tester saw it with gcc 8.

Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=83356
Fixes: {FIXED} ("widget: add the ring")
Reviewed-by: {MIRA}
Signed-off-by: {ADA}
---
 drivers/widget/ring.c | 4 ++--
 1 file changed, 2 insertions(+), 2 deletions(-)

diff --git a/drivers/widget/ring.c b/drivers/widget/ring.c
index 1111111aaaaa..2222222bbbbb 100644
--- a/drivers/widget/ring.c
+++ b/drivers/widget/ring.c
@@ -10,7 +10,7 @@ static int ring_poll(struct ring *ring)
 \tstruct slot *slot = ring->slots;
 \tint budget = 64;
{EMPTY}
-\treturn old_wrap_helper(slot, budget);
+\treturn ring_wrap_safely(slot, budget);
 }}
{SIGNATURE}"""

REPLY = """\
On Mon, Jan 1, 2024, Ada Quill wrote:
> The ring of a widget can wrap while vector_mmsg_rx() still reads it.
> Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=83356
> +\treturn ring_wrap_safely(slot, budget);

Does the wrapping helper sleep? It must not, see foo->bar() in a/b_c.h.
"""

BACKPORT = f"""\
From: {ADA}

[ Upstream commit {UPSTREAM} ]

Take the lock before the clock ticks.

Signed-off-by: {ADA}
Signed-off-by: {BO}
---
 kernel/tick.c | 1 +
 1 file changed, 1 insertion(+)

diff --git a/kernel/tick.c b/kernel/tick.c
index 3333333ccccc..4444444ddddd 100644
--- a/kernel/tick.c
+++ b/kernel/tick.c
@@ -1,3 +1,4 @@ void tick(void)
 void tick(void)
 {{
+\tspin_lock(&clock_lock);
 \tadvance();
{SIGNATURE}"""


def mail(
    number: int,
    subject: str,
    body: str,
    *,
    sender: str = ADA,
    to: str = LIST,
    cc: str = "",
    day: int | None = None,
    reply_to: str | None = None,
    headers: Sequence[str] = (),
) -> Raw:
    """Return a mail ``<20240101.NUMBER-widget@example.org>`` of January NUMBER (or DAY), 2024."""
    lines = [
        f"From: {sender}",
        f"To: {to}",
        *([f"Cc: {cc}"] if cc else []),
        f"Subject: {subject}",
        f"Date: {day or number} Jan 2024 12:00:00 +0000",
        f"Message-ID: <{mid(number)}>",
        "List-Id: <widgets.lists.example.org>",
        *([f"In-Reply-To: <{reply_to}>", f"References: <{reply_to}>"] if reply_to else []),
        *headers,
        "Content-Type: text/plain; charset=utf-8",
        "",
        body,
    ]
    return Raw(
        data="\n".join(lines).encode(),
        source=Source(path="/mail/widgets.mbox", format="mbox", offset=number, list="widgets"),
    )


def mid(number: int) -> str:
    """Return the Message-ID of the mail NUMBER."""
    return f"20240101.{number}-widget@example.org"


def letters() -> list[Raw]:
    """Return the mails of the test archive, numbered from 1."""
    return [
        mail(1, "[PATCH v2 1/2] widget: let the ring wrap", PATCH, cc=BO),
        mail(2, "Re: [PATCH v2 1/2] widget: let the ring wrap", REPLY, sender=BO, reply_to=mid(1)),
        mail(3, "[PATCH AUTOSEL 5.10 3/9] tick: take the lock", BACKPORT, sender=BO, to=ADA),
        mail(4, "[PATCH 0/2] widget: rings", "Two patches for rings of tests.\n", sender=MIRA),
        mail(5, "Plans for 4.15.7", "We test the testers at night, 100% of them.\n", sender=MIRA),
        mail(6, "[PATCH v3 1/2] widget: let the ring wrap", PATCH.replace("gcc 8", "gcc 9")),
    ]


def fill_archive(path: pathlib.Path, mails: Sequence[Raw]) -> None:
    """Store MAILS in the archive at PATH, which is made when absent; nothing is indexed."""
    with Archive(path, write=True) as archive:
        Writer(archive).add([prepare(parse_raw(raw), raw) for raw in mails])

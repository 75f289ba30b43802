"""Many invented mails: series with covers and replies, copies, duplicates, damaged ones."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

_PATCH = """\
From: Ada Quill <ada@example.org>
Date: Tue, {day} Jan 2024 03:{minute:02}:05 +0000
Subject: [PATCH v{version} {part}/{parts}] tick: use {number}
Message-ID: <{number}-v{version}@example.org>
In-Reply-To: <cover-{series}-v{version}@example.org>
References: <cover-{series}-v{version}@example.org>
List-Id: <widgets.example.org>

Let the clock tick {number} times, as the manual of {number} has it.

Fixes: {sha} ("tick: begin")
Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id={bug}
Reviewed-by: Cy Marlow <cy{number}@example.org>
Signed-off-by: Ada Quill <ada@example.org>
---
 tick{number}.c | 2 +-

diff --git a/tick{number}.c b/tick{number}.c
index 5626abf..f719efd 100644
--- a/tick{number}.c
+++ b/tick{number}.c
@@ -1 +1 @@
-one
+{number}
"""

_REPLY = """\
From: Bo Tern <bo@example.org>
Date: Wed, {day} Jan 2024 04:{minute:02}:05 +0000
Subject: Re: [PATCH v{version} {part}/{parts}] tick: use {number}
Message-ID: <re-{number}@example.org>
In-Reply-To: <{number}-v{version}@example.org>
List-Id: <widgets.example.org>

> Let the clock tick {number} times, as the manual of {number} has it.

Why {number}? See CVE-2024-{bug}.
"""


def mails(number: int) -> Iterator[bytes]:
    """Yield so many mails: patches in series of five, two of three answered."""
    made = count = 0
    while made < number:
        series, place = divmod(count, 5)
        values = {
            "number": count,
            "series": series,
            "part": place + 1,
            "parts": 5,
            "version": 1 + series % 2,
            "day": 1 + count % 28,
            "minute": count % 60,
            "sha": f"{count * 7919 + 0xABCDEF:012x}",
            "bug": 10000 + count % 50,
        }
        yield _PATCH.format(**values).encode()
        made += 1
        if count % 3 and made < number:
            yield _REPLY.format(**values).encode()
            made += 1
        count += 1


def write_mails(folder: pathlib.Path, number: int) -> None:
    """Write so many mails into files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, data in enumerate(mails(number)):
        (folder / f"{n:05}.eml").write_bytes(data)


def write_mbox(path: pathlib.Path, number: int) -> None:
    """Write so many mails into a mailbox."""
    path.parent.mkdir(parents=True, exist_ok=True)
    separator = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
    path.write_bytes(b"".join(separator + data + b"\n" for data in mails(number)))

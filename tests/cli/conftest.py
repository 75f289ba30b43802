"""An archive of a few invented mails, filled once, and a way to run commands on it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import NamedTuple

import pytest

from patchlore.cli import main

UPSTREAM = "0123456789abcdef0123456789abcdef01234567"

BACKPORT = f"""\
From: Bo Tern <bo@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0000
Subject: [PATCH AUTOSEL 5.10 15/24] tick: use two
Message-ID: <backport@example.org>
In-Reply-To: <cover@example.org>
References: <cover@example.org>
List-Id: <widgets.example.org>

From: Ada Quill <ada@example.org>

[ Upstream commit {UPSTREAM} ]

GCC 13 makes one tick of two.

Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=123456
Fixes: fedcba987654 ("tick: begin")
Signed-off-by: Ada Quill <ada@example.org>
Signed-off-by: Bo Tern <bo@example.org>
---
 tick.c | 3 ++-
 1 file changed, 2 insertions(+), 1 deletion(-)

diff --git a/tick.c b/tick.c
index 5626abf..f719efd 100644
--- a/tick.c
+++ b/tick.c
@@ -1,2 +1,3 @@ int tick(void)
-one
+two
+/* https://gcc.gnu.org/bugzilla/show_bug.cgi?id=123456 */
 /* https://gcc.gnu.org/bugzilla/show_bug.cgi?id=99999 */
"""

REPLY = """\
From: Cy Marlow <cy@example.org>
Date: Wed, 3 Jan 2024 03:04:05 +0000
Subject: Re: [PATCH AUTOSEL 5.10 15/24] tick: use two
Message-ID: <reply@example.org>
In-Reply-To: <backport@example.org>
References: <cover@example.org> <backport@example.org>
List-Id: <widgets.example.org>

On Tue, Bo Tern wrote:
> Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=123456

Does 5.10 need this? \x1b[31mred\x1b[0m
"""

FIX = f"""\
From: Cy Marlow <cy@example.org>
Date: Thu, 4 Jan 2024 03:04:05 +0000
Subject: [PATCH] tick: use three after all
Message-ID: <fix@example.org>
List-Id: <widgets.example.org>

Two were not enough, see CVE-2024-12345.

Fixes: {UPSTREAM[:12]} ("tick: use two")
Cc: stable@vger.kernel.org # 5.4+
Closes: https://lore.kernel.org/r/reply@example.org/
Cc: Dora Fenn <dora@example.org>
Signed-off-by: Cy Marlow <cy@example.org>
---
diff --git a/tick.c b/tick.c
index f719efd..2bdf67a 100644
--- a/tick.c
+++ b/tick.c
@@ -1,3 +1,3 @@ int tick(void)
-two
+three
 /* https://gcc.gnu.org/bugzilla/show_bug.cgi?id=123456 */
 /* https://gcc.gnu.org/bugzilla/show_bug.cgi?id=99999 */
"""


class Result(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of the archive."""
    folder = tmp_path_factory.mktemp("mails")
    for name, text in (("1", BACKPORT), ("2", REPLY), ("3", FIX)):
        (folder / f"{name}.eml").write_text(text)
    path = tmp_path_factory.mktemp("archive")
    status = main(
        ["--archive", str(path), "ingest", "--no-index", "--list", "widgets", str(folder)]
    )
    assert status == 0
    return path


@pytest.fixture
def run(archive: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command on the archive."""

    def command(*arguments: str) -> Result:
        capfdbinary.readouterr()
        status = main(["--archive", str(archive), *arguments])
        out, err = capfdbinary.readouterr()
        return Result(status, out.decode(), err.decode())

    return command

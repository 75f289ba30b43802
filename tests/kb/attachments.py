"""Mails with patches attached, made by hand: backports of one commit for several trees."""

from __future__ import annotations

from tests.kb.mails import UPSTREAM

HEAD = """\
From: Ada Quill <ada@example.org>
To: stable@vger.kernel.org
Date: Tue, 2 Jan 2024 03:04:05 +0000
Subject: {subject}
Message-ID: <{name}@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="limit"

--limit
Content-Type: text/plain

The patches for the older trees are attached.
"""


def patch(subject: str, path: str, sha: str | None = UPSTREAM, new: str = "two") -> str:
    """Return a file of git format-patch by Bo Tern."""
    marker = f"commit {sha} upstream.\n\n" if sha else ""
    return f"""\
From {"1" * 40} Mon Sep 17 00:00:00 2001
From: Bo Tern <bo@example.org>
Date: Mon, 1 Jan 2024 03:04:05 +0000
Subject: {subject}

{marker}Let it tick.

Signed-off-by: Bo Tern <bo@example.org>
---
diff --git a/{path} b/{path}
index 5626abf..f719efd 100644
--- a/{path}
+++ b/{path}
@@ -1 +1 @@
-one
+{new}
"""


def letter(
    name: str, *files: tuple[str, str], subject: str = "Backports", form: str = "text/x-patch"
) -> bytes:
    """Return a mail with attached files (name, content)."""
    text = HEAD.format(name=name, subject=subject)
    for filename, content in files:
        text += f"""\

--limit
Content-Type: {form}; name="{filename}"
Content-Disposition: attachment; filename="{filename}"

{content}"""
    return f"{text}\n--limit--\n".encode()


BOTH = letter(
    "both",
    ("0001-tick.patch", patch("[PATCH 5.10] tick: use two", "tick.c")),
    ("5.4-tick.patch", patch("[PATCH] tick: use two", "old/tick.c", new="three")),
)

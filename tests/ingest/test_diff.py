"""Diffs as mail carries them: every kind of header, damage, and what only looks like a diff."""

from __future__ import annotations

import pytest

from patchlore.ingest.message import FileChange, Message
from tests.ingest.letters import DIFF, letter, parse, parse_letter


def files(message: Message) -> list[tuple[str, str, int | None, int | None]]:
    """Path, status and counts of each file."""
    return [(f.path, f.status, f.added, f.removed) for f in message.files]


def only(message: Message) -> FileChange:
    """The one file of a message."""
    (change,) = message.files
    return change


EDIT = "@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n"


@pytest.mark.parametrize(
    ("header", "path", "status"),
    [
        ("--- a/lamp.c\n+++ b/lamp.c\n", "lamp.c", "modified"),
        ("--- linux-5.4.orig/mm/lamp.c\n+++ linux-5.4/mm/lamp.c\n", "mm/lamp.c", "modified"),
        (
            "--- linux.orig/mm/lamp.c\t2023-06-08 09:06:05.000000000 +0200\n"
            "+++ linux/mm/lamp.c\t2023-06-08 09:07:05.000000000 +0200\n",
            "mm/lamp.c",
            "modified",
        ),
        (
            "--- a/lamp.c 2023-06-08 09:06:05.000000000 +0200\n"
            "+++ b/lamp.c 2023-06-08 09:07:05.000000000 +0200\n",
            "lamp.c",
            "modified",
        ),
        (
            "--- a/lamp.c\tThu Jun  8 09:06:05 2023\n+++ b/lamp.c\tThu Jun  8 09:07:05 2023\n",
            "lamp.c",
            "modified",
        ),
        (
            "Index: trunk/lamp.c\n"
            "===================================================================\n"
            "--- trunk/lamp.c\t(revision 12)\n+++ trunk/lamp.c\t(working copy)\n",
            "trunk/lamp.c",
            "modified",
        ),
        (
            "Index: linux/lamp.c\n"
            "===================================================================\n"
            "--- linux.orig/lamp.c\n+++ linux/lamp.c\n",
            "lamp.c",
            "modified",
        ),
        ("diff -Naur a/lamp.c b/lamp.c\n--- a/lamp.c\n+++ b/lamp.c\n", "lamp.c", "modified"),
        ("diff -r 0123456789ab lamp.c\n--- a/lamp.c\n+++ b/lamp.c\n", "lamp.c", "modified"),
        (
            "--- a/lamp.c\t1970-01-01 01:00:00.000000000 +0100\n"
            "+++ b/lamp.c\t1970-01-01 01:00:00.000000000 +0100\n",
            "lamp.c",
            "modified",
        ),
        ("diff --git a/lamp.c b/lamp.c\n--- a/lamp.c\n+++ b/lamp.c\n", "lamp.c", "modified"),
        (
            "diff --git i/lamp.c w/lamp.c\nindex 1a2b3c4..4c3b2a1 100644\n--- i/lamp.c\n"
            "+++ w/lamp.c\n",
            "lamp.c",
            "modified",
        ),
        (
            "diff --git lamp.c lamp.c\nindex 1a2b3c4..4c3b2a1 100644\n--- lamp.c\n+++ lamp.c\n",
            "lamp.c",
            "modified",
        ),
        (
            "diff --git b/lamp.c b/lamp.c\nindex 1a2b3c4..4c3b2a1 100644\n--- b/lamp.c\n"
            "+++ b/lamp.c\n",
            "b/lamp.c",
            "modified",
        ),
        (
            'diff --git "a/l\\303\\244mp.c" "b/l\\303\\244mp.c"\nindex 1a2b3c4..4c3b2a1 100644\n'
            '--- "a/l\\303\\244mp.c"\n+++ "b/l\\303\\244mp.c"\n',
            "lämp.c",
            "modified",
        ),
        ("--- a/lamp one.c\n+++ b/lamp one.c\n", "lamp one.c", "modified"),
        ("--- a/mm/lamp.c~dim-it\n+++ a/mm/lamp.c\n", "mm/lamp.c", "modified"),
    ],
)
def test_header(header: str, path: str, status: str) -> None:
    """Prefixes, trees, dates and quotes are taken off; what is left is the path."""
    message = parse_letter(f"Text.\n---\n{header}{EDIT}-- \n2.41.0\n")
    assert files(message) == [(path, status, 1, 1)]
    assert not message.malformed
    assert message.is_patch


@pytest.mark.parametrize(
    ("diff", "wanted"),
    [
        (
            "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
            [("run", "mode_change", 0, 0)],
        ),
        (
            "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\n"
            "rename to new name\n",
            [("new name", "renamed", 0, 0)],
        ),
        (
            "diff --git a/one b/two\nsimilarity index 100%\ncopy from one\ncopy to two\n",
            [("two", "copied", 0, 0)],
        ),
        (
            "diff --git a/x b/y b/x b/y\nnew file mode 100644\nindex 0000000..e69de29\n",
            [("x b/y", "added", 0, 0)],
        ),
        (
            "diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1a2b3c4..0000000\n"
            "--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
            [("gone", "deleted", 0, 2)],
        ),
        (
            "diff --git a/fresh b/fresh\nnew file mode 100644\nindex 0000000..1a2b3c4\n"
            "--- /dev/null\n+++ b/fresh\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
            [("fresh", "added", 1, 0)],
        ),
        (
            "diff --git a/lib b/lib\nindex 1a2b3c4..4c3b2a1 160000\n--- a/lib\n+++ b/lib\n"
            "@@ -1 +1 @@\n-Subproject commit 1a2b3c4\n+Subproject commit 4c3b2a1\n",
            [("lib", "submodule", 1, 1)],
        ),
        (
            "diff --git a/pic b/pic\nindex 1a2b3c4..4c3b2a1 100644\n"
            "Binary files a/pic and b/pic differ\n",
            [("pic", "modified", None, None)],
        ),
        (
            "diff --git a/pic b/pic\nnew file mode 100644\nindex 0000000..4c3b2a1\n"
            "GIT binary patch\n"
            "literal 3\nKcmZQzU|?VV0AT<C\n\nliteral 0\nHcmV?d00001\n\n" + DIFF,
            [("pic", "added", None, None), ("lamp.c", "modified", 1, 1)],
        ),
        (
            "Only in a: notes\nBinary files a/pic and b/pic differ\ndiff -ru a/lamp.c b/lamp.c\n"
            f"--- a/lamp.c\n+++ b/lamp.c\n{EDIT}Only in b: more\n",
            [("pic", "modified", None, None), ("lamp.c", "modified", 1, 1)],
        ),
        (
            "diff -ru a/this and that b/this and that\n"
            "Binary files a/this and that and b/this and that differ\n",
            [("this and that", "modified", None, None)],
        ),
        (
            "--- /dev/null\n+++ b/fresh.c\n@@ -0,0 +1,2 @@\n+a\n+b\n",
            [("fresh.c", "added", 2, 0)],
        ),
        (
            "diff --cc lamp.c\nindex 1a2b3c4,4c3b2a1..5d6e7f8\n--- a/lamp.c\n+++ b/lamp.c\n"
            "@@@ -1,2 -1,2 +1,3 @@@ static void f(void)\n  a\n- b\n -c\n++d\n +e\n",
            [("lamp.c", "modified", 2, 2)],
        ),
        (
            "*** a/lamp.c\tThu Jun  8 09:06:05 2023\n--- b/lamp.c\tThu Jun  8 09:07:05 2023\n"
            "***************\n*** 1,3 ****\n  a\n! b\n  d\n--- 1,4 ----\n  a\n! c\n+ e\n  d\n",
            [("lamp.c", "modified", 2, 1)],
        ),
        (
            "--- a/sql\n+++ b/sql\n@@ -1,2 +1,2 @@\n--- first draft\n+++ counter\n a\n",
            [("sql", "modified", 1, 1)],
        ),
        (
            "--- a/l\n+++ b/l\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n",
            [("l", "modified", 1, 1)],
        ),
        (
            "--- a/l\n+++ b/l\n@@ -1,2 +1,2 @@\n-a\u2028b\x0cc\x85d\x1ce\n+a\n z\n",
            [("l", "modified", 1, 1)],
        ),
        (
            "--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
            "\\ No newline at end of file\n",
            [("l", "modified", 1, 1)],
        ),
    ],
    ids=[
        "mode only", "rename of a blank name", "copy", "b/ inside the name", "deletion", "creation",
        "submodule", "binary", "binary data, then text", "diff -r's chatter", "and in a name",
        "creation without git", "merge", "context diff", "content like headers",
        "stripped blank line", "odd line separators", "no line end",
    ],
)  # fmt: skip
def test_kinds_of_change(diff: str, wanted: list[tuple[str, str, int | None, int | None]]) -> None:
    """Each kind of file change, with git's counts."""
    message = parse_letter(f"Text.\n---\n{diff}-- \n2.41.0\n")
    assert files(message) == wanted
    assert not message.malformed


def test_names_modes_and_blobs() -> None:
    """What git's header says of a rename with an edit."""
    change = only(
        parse_letter(
            "Text.\n---\ndiff --git a/old.c b/lib/new.c\nold mode 100644\nnew mode 100755\n"
            "similarity index 90%\nrename from old.c\nrename to lib/new.c\n"
            f"index 1a2b3c4d5e6f..6f5e4d3c2b1a\n--- a/old.c\n+++ b/lib/new.c\n{EDIT}"
        )
    )
    assert (change.path, change.old_path, change.status) == ("lib/new.c", "old.c", "renamed")
    assert (change.old_mode, change.new_mode) == ("100644", "100755")
    assert (change.old_blob, change.new_blob) == ("1a2b3c4d5e6f", "6f5e4d3c2b1a")


def test_function_names_of_hunks() -> None:
    """The text behind a hunk's ``@@`` names the function, each once."""
    hunk = "@@ -{0},3 +{0},3 @@ {1}\n a\n-b\n+c\n d\n"
    change = only(
        parse_letter(
            "--- a/l\n+++ b/l\n"
            + hunk.format(1, "static int lamp_open(struct lamp *lamp)")
            + hunk.format(11, "static int lamp_open(struct lamp *lamp)")
            + hunk.format(21, "struct lamp_ops {")
            + "@@ -31,3 +31,3 @@\n a\n-b\n+c\n d\n"
        )
    )
    assert change.functions == ["lamp_open", "lamp_ops"]
    assert (change.added, change.removed) == (4, 4)


@pytest.mark.parametrize(
    "text",
    [
        "diff is a tool that compares files.",
        "diff --git a/x b/x is what git prints.",
        "Index: see below",
        "--- a/lamp.c was changed",
        "--- old\n+++ new\nand so on",
        "@@ -1,3 +1,3 @@",
        "Binary files differ, as they say.",
        "*** important ***",
        "+ added\n- removed",
        "--- \n+++ \n",
    ],
)
def test_prose_that_looks_like_a_diff(text: str) -> None:
    """Lines that begin like a diff and do not go on as one are prose."""
    message = parse_letter(f"Text.\n\n{text}\n\nMore.\n", subject="lamp")
    assert not message.is_patch
    assert message.files == []
    assert not message.malformed


def test_prose_around_two_diffs() -> None:
    """Text between and below diffs is neither lost nor context."""
    message = parse_letter(f"One:\n\n{DIFF}\nTwo:\n\n{DIFF.replace('lamp', 'bulb')}\nBye.\n")
    assert [path for path, *_ in files(message)] == ["lamp.c", "bulb.c"]
    assert [(f.added, f.removed) for f in message.files] == [(1, 1), (1, 1)]
    kinds = dict(zip(message.body.split("\n"), message.line_kinds, strict=False))
    assert (kinds["One:"], kinds["Two:"], kinds["Bye."]) == ("t", "t", "t")


@pytest.mark.parametrize(
    ("code", "diff", "counts"),
    [
        ("truncated-hunk", "@@ -1,9 +1,9 @@\n a\n-b\n+c\n", (1, 1)),
        ("hunk-count-too-small", "@@ -1,2 +1,2 @@\n-b\n+c\n d\n+e\n+f\n", (3, 1)),
        (
            "wrapped-line",
            "@@ -1,2 +1,2 @@\n-int a = lamp_level_of_the_first_bulb(lamp, LAMP_BULB_FIRST,\n"
            "LAMP_LEVEL_DEFAULT_ANYWHERE);\n+int a;\n b\n",
            (1, 1),
        ),
        ("lost-blank", "@@ -1,3 +1,3 @@\n\tif (lamp)\n-b\n+c\n d\n", (1, 1)),
        ("lost-blank", "@@ -1,4 +1,4 @@\nint a;\n{\n-b\n+c\n}\n", (1, 1)),
    ],
)
def test_damage_is_reported_and_got_over(code: str, diff: str, counts: tuple[int, int]) -> None:
    """A damaged patch keeps its file and counts; it is malformed and has no patch id."""
    message = parse_letter(f"Text.\n---\n--- a/lamp.c\n+++ b/lamp.c\n{diff}-- \n2.41.0\n")
    change = only(message)
    assert (change.path, change.added, change.removed) == ("lamp.c", *counts)
    assert code in [defect.code for defect in message.defects]
    assert (message.malformed, message.applicable, message.patch_id) == (True, False, None)
    defect = next(defect for defect in message.defects if defect.code == code)
    assert 1 <= defect.line <= message.body.count("\n") + 1


def test_prose_below_a_truncated_hunk_is_no_context() -> None:
    """Text that is as long as what a hunk lacks is still text."""
    message = parse_letter(
        "--- a/lamp.c\n+++ b/lamp.c\n@@ -1,5 +1,5 @@\n a\n-b\n+c\nHello.\nBo\nReed\n"
    )
    assert "truncated-hunk" in [defect.code for defect in message.defects]
    assert message.line_kinds.endswith("ttt")


def test_wrapped_header() -> None:
    """A mailer that wraps git's first line: the names come from the lines below."""
    name = "drivers/lamp/very/long/folder/names/that/mailers/wrap/lamp.c"
    message = parse_letter(
        f"Text.\n---\ndiff --git a/{name}\nb/{name}\nindex 1a2b3c4d5e6f..6f5e4d3c2b1a 100644\n"
        f"--- a/{name}\n+++ b/{name}\n{EDIT}"
    )
    assert only(message).path == name
    assert message.malformed


def test_carriage_returns_of_content() -> None:
    """A diff with LF lines of a file with CRLF lines: the CR is content, never part of a name."""
    message = parse_letter(
        "Text.\n---\ndiff --git a/l b/l\nindex 1a2b3c4..4c3b2a1 100644\n--- a/l\n+++ b/l\n"
        "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"
    )
    assert files(message) == [("l", "modified", 1, 1)]
    assert "+c\r\n" in message.body


def test_quoted_diff_is_not_offered() -> None:
    """A reply's quoted diff is somebody else's: no files, no patch, paths on record as quoted."""
    quoted = "".join(f"> {line}\n" for line in DIFF.splitlines())
    message = parse_letter(
        f"On Thu, Bo wrote:\n{quoted}\nLooks good.\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH] lamp: dim",
    )
    assert not message.is_patch
    assert message.is_reply
    assert message.files == []
    assert message.quoted_files == ["lamp.c"]
    assert not message.applicable


def test_own_diff_in_a_reply() -> None:
    """A reply may offer a diff of its own: a patch and a reply."""
    quoted = "".join(f"> {line}\n" for line in DIFF.splitlines())
    message = parse_letter(
        f"{quoted}\nHow about\n\n{DIFF.replace('lamp', 'bulb')}",
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH] lamp: dim",
    )
    assert message.is_patch
    assert message.is_reply
    assert [path for path, *_ in files(message)] == ["bulb.c"]
    assert message.quoted_files == ["lamp.c"]


def test_full_quote_without_marks() -> None:
    """Below "Original Message" everything is somebody else's."""
    message = parse_letter(
        f"Applied.\n\n-----Original Message-----\nFrom: Bo Reed\nSent: Thursday\n\n{DIFF}",
        subject="RE: [PATCH] lamp: dim",
    )
    assert not message.is_patch
    assert set(message.line_kinds[2:]) == {"o"}


def test_range_diff_of_a_cover_is_no_diff() -> None:
    """A range-diff has hunks and hashes; the cover letter carries no patch."""
    message = parse_letter(
        "Cover.\n\nRange-diff against v1:\n1:  5e0ac1d27f3b ! 1:  9b41f0e6d2c8 lamp: dim\n"
        "    @@ lamp.c: static void lamp_dim(struct lamp *lamp)\n     {\n    -+\told();\n"
        "    ++\tnew();\n"
        "2:  c07fd3b8a16e = 2:  f8d1b63a0e97 lamp: glow\n-- \n2.41.0\n",
        subject="[PATCH v2 0/2] lamps",
    )
    assert message.is_cover_letter
    assert not message.is_patch
    assert message.upstream_commits == []


def test_patch_file_without_a_mail() -> None:
    """A quilt or plain patch file: text above the diff is its message."""
    message = parse(f"lamp: dim\n\nText.\n\n{DIFF}".encode(), "patch")
    assert only(message).path == "lamp.c"
    assert message.commit_message == "lamp: dim\n\nText."
    assert message.message_id is None


def test_mercurial_export() -> None:
    """Mercurial's git-style diffs have no index lines; its node is no upstream commit."""
    message = parse(
        (
            "# HG changeset patch\n# User Nora Finch <nora@example.org>\n"
            "# Node ID 5e0ac1d27f3b94866a1fd0c2b7e8934d5a6f7b01\nlamp: dim\n\n"
            f"diff --git a/lamp.c b/lamp.c\n--- a/lamp.c\n+++ b/lamp.c\n{EDIT}"
        ).encode(),
        "patch",
    )
    assert only(message).path == "lamp.c"
    assert message.upstream_commits == []


def test_kinds_of_the_lines_of_a_patch_mail() -> None:
    """The whole frame of a patch mail, line by line."""
    message = parse(
        letter(
            "From: Ada Quill <ada@example.org>\n\nText.\n---\nv2: shorter\n\n lamp.c | 2 +-\n"
            f" 1 file changed\n\n{DIFF}-- \n2.41.0\n"
        )
    )
    # 4 header lines of the diff, a hunk header, context, removed, added, context.
    assert message.line_kinds == "httcnnssn" + "dddd@=-+=" + "gg"


def test_a_tree_that_one_file_shows_is_taken_off_new_files_of_the_patch() -> None:
    """``linux`` is a tree, not a folder, where another file differs in it alone."""
    hunk = "@@ -0,0 +1 @@\n+dim\n"
    message = parse_letter(
        "Text.\n---\n--- /dev/null\n+++ linux/mm/new.c\n" + hunk + "--- linux.orig/mm/lamp.c\n"
        "+++ linux/mm/lamp.c\n@@ -1 +1 @@\n-a\n+b\n--- linux.orig/mm/old.c\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-dim\n"
    )
    assert [(file.path, file.status) for file in message.files] == [
        ("mm/new.c", "added"),
        ("mm/lamp.c", "modified"),
        ("mm/old.c", "deleted"),
    ]


def test_a_folder_named_like_a_prefix_of_git_stays() -> None:
    """``b/a/dim.c`` is the file ``a/dim.c``, whatever the other files show."""
    message = parse_letter(
        "Text.\n---\n--- a/lamp.c\n+++ b/lamp.c\n@@ -1 +1 @@\n-a\n+b\n"
        "--- /dev/null\n+++ b/a/dim.c\n@@ -0,0 +1 @@\n+dim\n"
    )
    assert [file.path for file in message.files] == ["lamp.c", "a/dim.c"]

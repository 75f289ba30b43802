"""Backport lists as a POSIX shell script of ``git cherry-pick -x`` that can be run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from patchlore.kb.backports import Row
from patchlore.kb.export.patches import full_sha, left_out
from patchlore.kb.store import Archive
from patchlore.kb.text import count, printable, shorten
from patchlore.kb.versions import short_name

#: Nothing of mail stands outside of comments but commit ids that were checked.  What is
#: picked already is known by the line that -x writes or by the marker of a stable tree;
#: the branch's own commits are searched for them once.
_HEAD = """\
#!/bin/sh
# Backports for {tree}: {number}, in order.
#
# Run it in a work tree with the branch of {tree}.  It stops where a commit does
# not apply: resolve that, end it with git cherry-pick --continue (or --skip, and
# name the commit in $SKIP), and run the script again: it goes on from there.
set -eu

if [ -e "$(git rev-parse --git-path CHERRY_PICK_HEAD)" ]; then
    echo "A cherry-pick is under way: end it with --continue, --skip or --abort." >&2
    exit 1
fi
picked=

pick() {{
    case " ${{SKIP-}} " in *" $1 "*) return ;; esac
    if ! git cat-file -e "$1^{{commit}}" 2>/dev/null; then
        echo "$1 is not in this repository: fetch it first." >&2
        exit 1
    fi
    ! git merge-base --is-ancestor "$1" HEAD || return 0
    [ -n "$picked" ] || picked="from $(git log --format=%b HEAD --not "$1" |
        sed -n -e 's/^(cherry picked from commit \\([0-9a-f]*\\))$/\\1/p' \\
            -e 's/^\\[ *[Uu]pstream commit \\([0-9a-f]*\\).*/\\1/p' \\
            -e 's/^[Cc]ommit \\([0-9a-f]*\\) upstream.*/\\1/p')"
    case "$picked" in *"$1"*) return ;; esac
    git cherry-pick -x "$1"
}}
"""

_TAIL = """
echo "All of the list is in the branch."
"""

_TITLE = 120


def write(archive: Archive, tree: str, rows: Sequence[Row], out: BinaryIO) -> list[str]:
    """Write the script; commits that are not known in full are comments at its end."""
    whole = {sha: row for row in reversed(rows) if (sha := full_sha(row))}
    order = list(dict.fromkeys(sha for row in rows if (sha := full_sha(row))))
    partly = [row for row in rows if full_sha(row) is None]
    lines = [
        _HEAD.format(tree=printable(short_name(tree)), number=count(len(order), "commit")).rstrip()
    ]
    for sha in order:
        lines += ["", f"# {_title(whole[sha])}", f"pick {sha}"]
    if partly:
        lines += ["", "# Not picked, the upstream commit is not known in full:"]
        lines += [f"#   {printable(row.sha) or 'not known'}  {_title(row)}" for row in partly]
    out.write(("\n".join(lines) + "\n" + _TAIL).encode("utf-8", "replace"))
    return left_out(partly, "the upstream commit is not known in full")


def _title(row: Row) -> str:
    # A comment ends with its line, and printable() leaves no line end in a text.
    return shorten(printable(row.subject) or "(no title)", _TITLE)

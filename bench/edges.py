"""Measure how well mails find their commits: precision and recall, each rule, and the time.

    python -m bench.edges EPOCH... [--archive DIR] [--write docs/accuracy.md]

EPOCHs are public-inbox repositories (or anything that `patchlore ingest`
takes) that hold patches, and linux-tip-commits, in which each mail is a commit
with its sha, its people and dates, its message and its diff. The truth is what
such a commit says itself: the mail that the last of its `Link:` tags names in
the form in which maintainers' tools write it (https://…/r/<Message-ID>,
patch.msgid.link). The rule `link` is switched off, and so is `notice`: the
mails of tip-bot answer the patch because of that same tag. What is left must
find the commit by patch id, author date, title and changed lines.

Of each mail in the truth its best edge (kb/edges_reading.py) is compared:
precision is right ones by found ones, recall right ones by all. A second table
has every `Link:` to a mail with a patch for the truth, discussions among them:
there a miss is often right.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time

from bench.sections import write_section
from patchlore.kb.edges import update_edges
from patchlore.kb.edges_reading import commit_of
from patchlore.kb.edges_rules import IS_POSTED, RULES
from patchlore.kb.filling import fill
from patchlore.kb.store import Archive, transaction

#: Rules that know no more than the tag itself.
_SAME_AS_LINK = ("link", "notice")
_BY_TOOL = "(k.url LIKE '%/r/%' OR k.url LIKE '%patch.msgid.link/%')"

Truth = dict[int, set[str]]


def main() -> int:
    """Fill an archive, or take one, and print and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", nargs="*", help="epochs with patches and with tip-bot's mails")
    parser.add_argument("--archive", help="fill and keep this archive; without: a temporary one")
    parser.add_argument("--write", metavar="FILE", help="write the report to this file, too")
    parser.add_argument("--errors", action="store_true", help="list what is wrong or missed")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch,
        Archive(args.archive or scratch, write=True) as archive,
    ):
        if args.sources:
            print(fill(archive, args.sources).line(), file=sys.stderr)
        report = measure(archive, show_errors=args.errors)
    print(report)
    if args.write:
        write_section(pathlib.Path(args.write), "edges", report)
    return 0


def measure(archive: Archive, *, show_errors: bool) -> str:
    """Return the report: tables of precision and recall with rules switched off in turn."""
    start = time.monotonic()
    redo(archive, RULES)
    seconds = time.monotonic() - start
    number = archive.value("SELECT count(*) FROM git_commit WHERE message IS NOT NULL")
    mails = archive.value("SELECT count(*) FROM message")
    patches = archive.value(f"SELECT count(*) FROM message AS m WHERE {IS_POSTED}")
    tool, every = truth(archive, by_tool=True), truth(archive, by_tool=False)
    by_rule = archive.execute(
        "SELECT rule, count(*), count(DISTINCT message) FROM edge GROUP BY rule"
    ).fetchall()
    names = _lists(archive)
    lines = [
        "## Edges: which mail became which commit",
        "",
        "Made by `bench/edges.py`; what an edge is: [trees.md](trees.md#edges).",
        "",
        f"* Mails: {mails:,}, {patches:,} of them posted patches; lists:",
        *(f"  {name}" for name in names),
        f"* Commits: {number:,}, each carried by a mail of tip-bot.",
        f"* All edges from nothing: {seconds:.1f} s.",
        "",
        "### With the tag switched off",
        "",
        f"{len(tool):,} mails are named by the last tool-made `Link:` of a commit. What finds them",
        "when neither `link` nor `notice` may:",
        "",
        "| rules | mails | found | right | precision | recall |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    others = tuple(rule for rule in RULES if rule not in _SAME_AS_LINK)
    tried = [others, *((rule,) for rule in others)]
    tried += [tuple(rule for rule in others if rule != left) for left in others]
    rows = {}
    for rules in tried:
        redo(archive, rules)
        rows[rules] = score(archive, tool, show_errors=show_errors and rules == others)
        if rules == others:
            name = f"**all but {' and '.join(_SAME_AS_LINK)}**"
            wide = score(archive, every)
        elif len(rules) == 1:
            name = f"{rules[0]} alone"
        else:
            name = f"without {next(rule for rule in others if rule not in rules)}"
        lines.append(row(name, len(tool), *rows[rules]))
    lines += [
        "",
        "The rules were shaped on a part of these mails (those of clang-built-linux), the others",
        "were measured afterwards. Then two rules were made stricter (an author date needs a title",
        "or files alike, a likeness needs a file in common), which changed none of the figures of",
        "all rules together. Mails that no commit names are not judged here.",
        "",
        "### Every link to a patch",
        "",
        "A commit also links discussions and reports, in which somebody may have sketched another",
        "patch. With each of them for the truth:",
        "",
        "| rules | mails | found | right | precision | recall |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        row(f"all but {' and '.join(_SAME_AS_LINK)}", len(every), *wide),
        "",
        "### All rules",
        "",
        "| rule | edges | mails |",
        "| --- | ---: | ---: |",
        *(
            f"| {rule} | {edges:,} | {count:,} |"
            for rule, edges, count in sorted(by_rule, key=lambda item: RULES.index(item[0]))
        ),
        "",
    ]
    redo(archive, RULES)
    return "\n".join(lines)


def redo(archive: Archive, rules: tuple[str, ...]) -> None:
    """Make all edges anew by some of the rules."""
    with transaction(archive):
        archive.execute("DELETE FROM edge")
        archive.execute("DELETE FROM meta WHERE name LIKE 'edges_%'")
    update_edges(archive, rules=rules)


def truth(archive: Archive, *, by_tool: bool) -> Truth:
    """Return the commits of each mail that a commit names by a Link tag."""
    condition = ""
    if by_tool:
        condition = (
            f" AND {_BY_TOOL} AND k.position = (SELECT max(k.position) FROM git_link AS k"
            f" WHERE k.git_commit = c.id AND k.kind = 'link' AND {_BY_TOOL})"
        )
    rows = archive.execute(
        "SELECT m.id, c.sha FROM git_link AS k JOIN mid ON mid.text = k.message_id"
        " JOIN message AS m ON m.mid = mid.id JOIN git_commit AS c ON c.id = k.git_commit"
        f" WHERE k.kind = 'link' AND {IS_POSTED}{condition}"
    )
    found: Truth = {}
    for message, sha in rows:
        found.setdefault(message, set()).add(sha)
    return found


def score(archive: Archive, named: Truth, *, show_errors: bool = False) -> tuple[int, int]:
    """Return how many mails of the truth have an edge, and how many of those the right one."""
    found = right = 0
    for message, shas in sorted(named.items()):
        sha = commit_of(archive, message)
        found += sha is not None
        right += sha in shas
        if show_errors and sha not in shas:
            key = archive.value("SELECT key FROM mail WHERE id = ?", (message,))
            print(f"{'wrong' if sha else 'missed'}: <{key}> is {', '.join(shas)}", file=sys.stderr)
    return found, right


def row(name: str, mails: int, found: int, right: int) -> str:
    """Return a row of a table."""
    precision = f"{right / found:.1%}" if found else "-"
    recall = f"{right / mails:.1%}" if mails else "-"
    return f"| {name} | {mails:,} | {found:,} | {right:,} | {precision} | {recall} |"


def _lists(archive: Archive) -> list[str]:
    """The names of the lists with the most mails."""
    rows = archive.execute(
        "SELECT list.name FROM message_list JOIN list ON list.id = message_list.list"
        " GROUP BY list.id ORDER BY count(*) DESC LIMIT 4"
    )
    return [name for (name,) in rows]


if __name__ == "__main__":
    raise SystemExit(main())

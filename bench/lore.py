"""Ask patchlore and a public-inbox the same questions about the same mails, and compare the sets.

    python -m bench.lore [EPOCH] [--mails N] [--queries N] [--seed N] [--engine NAME]
                         [--all] [--json]

EPOCH is a repository of public-inbox (v2); without one mails are invented. It is
filled into a public-inbox with full text (Debian's package public-inbox) and
into an archive with each engine. Questions are made from the mails: every
prefix that lore's search box has, words, phrases, ranges, boolean
combinations. Printed are, for each form, how many were asked, how many answers
were one set, and the mean and the smallest Jaccard index (common mails by all
mails found); then each answer that differs, with some of the mails that only
one side found (--all: with all of them).

The status is 1 when an exact form differs or a set of words differs much:
an index below 0.85, or a mean below 0.95.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.lore_queries import Question, make_questions
from bench.material import invented_mails, make_epoch, prepare
from bench.peer_programs import Patchlore, PublicInbox
from patchlore.index.errors import QueryError
from patchlore.index.search import Searcher
from patchlore.kb.store import Archive

ENGINES = ("whoosh", "sqlite")

#: What a set of words must come up to, and the mean of all.
LEAST, LEAST_MEAN = 0.85, 0.95

#: Mails that are invented when no epoch is named.
_INVENTED = 1000

#: Ids that are shown of each side of a difference.
_SHOWN = 3

# One process answers all questions: a line of JSON each.
_ASK = r"""
use strict; use JSON::PP; use PublicInbox::Inbox; use PublicInbox::Search;
my $inbox = PublicInbox::Inbox->new({inboxdir=>$ARGV[0], version=>2, name=>'bench'});
my $search = $inbox->search or die "no full text\n"; my $over = $inbox->over;
my $json = JSON::PP->new->utf8; $| = 1;
while (my $line = <STDIN>) {
  my $query = $json->decode($line)->{query}; my @ids; my $error;
  eval { $search->query_approxidate($inbox->git, $query);
    my $found = $search->mset($query, {limit=>1000000, relevance=>-2});
    for (@{$search->mset_to_artnums($found)}) { my $mail = $over->get_art($_) or next; push @ids, $mail->{mid}; }
    1 } or $error = "$@";
  print $json->encode({ids=>\@ids, error=>$error}), "\n";
}
"""


class Answer(Struct):
    """What public-inbox found; ``error`` where it could not read the query."""

    ids: list[str]
    error: str | None = None


class Comparison(Struct, kw_only=True):
    """One question and the two answers."""

    form: str
    query: str
    exact: bool
    theirs: int
    ours: int
    #: Common mails by all mails that were found; 1 for equal sets.
    index: float
    only_theirs: list[str] = []
    only_ours: list[str] = []
    error: str | None = None


class Agreement(Struct, kw_only=True):
    """What the questions of one form came to."""

    asked: int
    equal: int
    mean: float
    least: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and print it."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("epoch", nargs="?", type=Path, help="repository; invented mail without it")
    parser.add_argument("--mails", type=int, default=0, help="only the first N mails")
    parser.add_argument("--queries", type=int, default=200, help="at least so many (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="other questions for another number")
    parser.add_argument("--engine", choices=ENGINES, help="only this one (default: both)")
    parser.add_argument("--all", action="store_true", help="name all mails of a difference")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(arguments)
    reason = PublicInbox().missing()
    if reason:
        print(f"Nothing to compare with: {reason} (Debian: public-inbox, libsearch-xapian-perl).")
        return 1
    engines = [args.engine] if args.engine else list(ENGINES)
    with tempfile.TemporaryDirectory(prefix="patchlore-bench-") as scratch:
        report = run(Path(scratch), args.epoch, engines, args.mails, args.queries, args.seed)
    if args.json:
        print(msgspec.json.encode(report).decode())
    else:
        for engine, rows in report.items():
            print("\n".join([f"\n{engine}", *lines(rows, None if args.all else _SHOWN)]))
    return 0 if all(map(is_good, report.values())) else 1


def run(
    scratch: Path, epoch: Path | None, engines: Sequence[str], mails: int, queries: int, seed: int
) -> dict[str, list[Comparison]]:
    """Fill both sides in SCRATCH and compare their answers, by engine."""
    if epoch is None:
        epoch = make_epoch(invented_mails(mails or _INVENTED), scratch / "invented")
    material = prepare(epoch, scratch / "mail", mails)
    homes = {name: scratch / name for name in ("public-inbox", *engines)}
    for home in homes.values():
        home.mkdir()
    PublicInbox().fill(homes["public-inbox"], material)
    for engine in engines:
        Patchlore("patchlore", engine).fill(homes[engine], material)
    with Archive(homes[engines[0]] / "archive") as archive:
        questions = make_questions(archive, queries, seed)
    theirs = ask_public_inbox(homes["public-inbox"], [item.query for item in questions])
    report = {}
    for engine in engines:
        with Archive(homes[engine] / "archive") as archive, Searcher(archive) as searcher:
            report[engine] = [
                compare(question, answer, *ask(archive, searcher, question.query))
                for question, answer in zip(questions, theirs, strict=True)
            ]
    return report


def ask_public_inbox(home: Path, queries: Iterable[str]) -> list[Answer]:
    """Ask the public-inbox in HOME; answers in the order of the queries."""
    asked = "".join(json.dumps({"query": query}) + "\n" for query in queries)
    answers = subprocess.run(
        ["perl", "-e", _ASK, str(home / "inbox")],
        input=asked.encode(),
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "HOME": str(home), "PI_CONFIG": str(home / "config")},
    ).stdout
    return [msgspec.json.decode(line, type=Answer) for line in answers.splitlines()]


def ask(archive: Archive, searcher: Searcher, query: str) -> tuple[set[str], str | None]:
    """Ask an archive: the Message-IDs that are found, and what is wrong with the query."""
    try:
        found = searcher.find(query)
    except QueryError as error:
        return set(), str(error)
    rows = archive.execute(
        "SELECT mid.text FROM json_each(?) AS wanted JOIN message ON message.id = wanted.value"
        " JOIN mid ON mid.id = message.mid",
        (json.dumps(sorted(found)),),
    )
    return {text for (text,) in rows}, None


def compare(
    question: Question, answer: Answer, ours: set[str], error: str | None = None
) -> Comparison:
    """Return how the two answers to a question differ."""
    theirs = set(answer.ids)
    every = theirs | ours
    return Comparison(
        form=question.form,
        query=question.query,
        exact=question.exact,
        theirs=len(theirs),
        ours=len(ours),
        index=len(theirs & ours) / len(every) if every else 1.0,
        only_theirs=sorted(theirs - ours),
        only_ours=sorted(ours - theirs),
        error=error or answer.error,
    )


def agreements(rows: Iterable[Comparison]) -> dict[str, Agreement]:
    """Return what each form came to, in the order of the questions."""
    by_form: dict[str, list[float]] = {}
    for row in rows:
        by_form.setdefault(row.form, []).append(row.index)
    return {
        form: Agreement(
            asked=len(found),
            equal=sum(index == 1.0 for index in found),
            mean=sum(found) / len(found),
            least=min(found),
        )
        for form, found in by_form.items()
    }


def is_good(rows: Sequence[Comparison]) -> bool:
    """Whether exact answers are one set and those of words nearly so."""
    words = [row.index for row in rows if not row.exact]
    return (
        all(row.index == 1.0 for row in rows if row.exact)
        and min(words, default=1.0) >= LEAST
        and sum(words) >= LEAST_MEAN * len(words)
    )


def lines(rows: Sequence[Comparison], shown: int | None) -> list[str]:
    """The comparison as text, with so many ids of each side of a difference (None: all)."""
    text = [f"  {'form':16} {'asked':>6} {'equal':>6} {'mean':>7} {'least':>7}"]
    for form, found in agreements(rows).items():
        text.append(
            f"  {form:16} {found.asked:>6} {found.equal:>6} {found.mean:>7.3f} {found.least:>7.3f}"
        )
    exact = [row for row in rows if row.exact]
    words = [row.index for row in rows if not row.exact]
    equal = sum(row.index == 1.0 for row in exact)
    text.append(
        f"  exact {equal}/{len(exact)}; words: {sum(index == 1.0 for index in words)}/{len(words)}"
        f" equal, mean {sum(words) / max(1, len(words)):.4f}, least {min(words, default=1.0):.3f};"
        f" {'as aimed at' if is_good(rows) else 'LESS THAN AIMED AT'}"
    )
    for row in rows:
        if row.index == 1.0 and not row.error:
            continue
        text.append(
            f"    {row.index:.3f} {row.query}: theirs {row.theirs}, ours {row.ours}"
            + (f"; {row.error.strip()}" if row.error else "")
        )
        for name, ids in (("only theirs", row.only_theirs), ("only ours", row.only_ours)):
            if ids:
                more = "" if shown is None or len(ids) <= shown else " …"
                text.append(f"          {name}: {' '.join(ids[:shown])}{more}")
    return text


if __name__ == "__main__":
    raise SystemExit(main())

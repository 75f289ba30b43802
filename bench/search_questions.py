"""Questions to an archive, made from itself: values of facts, words, expressions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator

from patchlore.index.search import Searcher
from patchlore.kb.store import Archive

#: Regular expressions that people ask; {} is an identifier of the archive's diffs.
REGEXES = [
    r"/\b{}\(/", r"dfb:/{}\w*\(.*\)/", r"dfa:/{}/", r"dfctx:/if \(.*{}/", r"/->{}\b/",
    r"dfb:/^\s+return {}/",
    r"/(kmalloc|kzalloc)\(.*GFP_ATOMIC/", r"dfb:/\bBUG_ON\(/", r"dfb:/[a-z]+_lock\(&\w+->lock\)/",
    r"/#\s*if\s+(GCC|CLANG)_VERSION/", r"fn:/^ext4_\w+_write/", r"dfb:/goto (out|err)_[a-z]+;/",
    r"dfa:/strcpy\(/", r"dfb:/WARN_ON_ONCE/i", r"dfhh:/struct \w+_operations/",
]  # fmt: skip

#: Words that stand in about half of all mails of a development list, to choose from.
FREQUENT = ["patch", "linux", "kernel", "file", "this", "that", "diff", "with", "return", "subject"]

#: Subjects of so many messages are taken apart for words.
_SAMPLE = 400


_FACTS = {
    "mid": "SELECT text FROM mid JOIN message ON message.mid = mid.id",
    "commit": "SELECT sha FROM commit_ref",
    "fixes": "SELECT sha FROM commit_ref WHERE relation = 'fixes'",
    "upstream": "SELECT sha FROM commit_ref WHERE relation = 'upstream'",
    "dfpost": "SELECT new_blob FROM file WHERE new_blob IS NOT NULL",
    "patchid": "SELECT patch_id FROM message WHERE patch_id IS NOT NULL",
    "dfn": "SELECT text FROM path",
    "f": "SELECT email FROM person WHERE email <> ''",
    "pr": "SELECT number FROM bug_ref WHERE tracker = 'gcc'",
    "references": "SELECT mid.text FROM reference JOIN mid ON mid.id = reference.mid",
    "reviewed-by": "SELECT email FROM message_person JOIN person ON person.id = person JOIN role"
    " ON role.id = role WHERE role.name = 'reviewed-by' AND email <> ''",
    "cve": "SELECT name FROM cve",
    "d": "SELECT strftime('%Y-%m-%d', timestamp, 'unixepoch') FROM message",
}


def facts_of(archive: Archive, chance: random.Random, number: int) -> Iterator[str]:
    """Yield questions for facts: values that the archive has, as many of each kind."""
    each = max(1, number // len(_FACTS))
    for prefix, sql in _FACTS.items():
        rows = archive.execute(f"SELECT * FROM ({sql} LIMIT 200000)").fetchall()
        for (value,) in chance.sample(rows, min(each, len(rows))):
            if re.fullmatch(r"[\w@./+:-]+", str(value)):
                yield f"{prefix}:{value}"


def words_of(archive: Archive, chance: random.Random, number: int) -> Iterator[str]:
    """Yield questions for words: alone, two, a phrase, in the subject, in the diff, a beginning."""
    last = archive.value("SELECT max(id) FROM message")
    subjects = [
        re.findall(r"[A-Za-z_]{4,}", str(subject))
        for (subject,) in archive.execute(
            "SELECT subject FROM message WHERE subject IS NOT NULL AND id IN"
            " (SELECT value FROM json_each(?))",
            (json.dumps(sorted(chance.sample(range(1, last + 1), min(last, _SAMPLE)))),),
        )
    ]
    subjects = [words for words in subjects if len(words) > 3]
    identifiers = identifiers_of(archive, chance)
    makers: list[Callable[[], str]] = [
        lambda: chance.choice(chance.choice(subjects)),
        lambda: " ".join(chance.sample(chance.choice(subjects), 2)),
        lambda: '"{} {}"'.format(*chance.choice(subjects)[-2:]),
        lambda: f"s:{chance.choice(chance.choice(subjects))}",
        lambda: f"dfb:{chance.choice(identifiers)}",
        lambda: f"{chance.choice(chance.choice(subjects))[:5].lower()}*",
        lambda: f"{chance.choice(identifiers)} is:patch",
        lambda: f"b:{chance.choice(chance.choice(subjects))} d:2020..2022",
    ]
    for index in range(number):
        yield makers[index % len(makers)]()


def identifiers_of(archive: Archive, chance: random.Random) -> list[str]:
    """Identifiers of hunk headers."""
    rows = archive.execute(
        "SELECT functions FROM file WHERE functions IS NOT NULL LIMIT 50000"
    ).fetchall()
    text = "\n".join(row[0] for row in chance.sample(rows, min(len(rows), 2000)))
    return sorted(set(re.findall(r"\b[a-z]+_[a-z_]{3,}\b", text))) or ["spin_lock"]


def regexes_of(archive: Archive, chance: random.Random, number: int) -> list[str]:
    """Regular expressions with identifiers of the archive in them."""
    identifiers = identifiers_of(archive, chance)
    return [
        REGEXES[index % len(REGEXES)].replace("{}", chance.choice(identifiers))
        for index in range(max(number, len(REGEXES)))
    ]


def frequent_word(archive: Archive, searcher: Searcher) -> str:
    """The word that comes nearest to standing in half of all mails."""
    half = archive.value("SELECT count(*) FROM message") / 2
    return min(FREQUENT, key=lambda word: abs(len(searcher.find(word)) - half))


def misspelt(word: str, chance: random.Random) -> str:
    """WORD with two letters swapped."""
    place = chance.randrange(1, len(word) - 2)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]

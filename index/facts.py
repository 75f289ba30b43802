"""Facts: what the exact prefixes of a query find, answered from the archive's own tables.

Nothing here needs the text index. Each question gives a set of row ids of
``message``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from patchlore.index.commits import Commits
from patchlore.index.paths import Paths
from patchlore.index.tables import FactError, Tables, hex_condition
from patchlore.index.words import message_id_words
from patchlore.kb.columns import json_list
from patchlore.kb.reading import message_names
from patchlore.kb.store import Archive
from patchlore.kb.text import unescaped
from patchlore.kb.versions import rank, tree_name

_RELATIONS = {
    "upstream": ("upstream",),
    "fixes": ("fixes", "fixes-after-cut"),
    "reverts": ("reverts", "partial-revert", "reverted-upstream"),
    "dep": ("stable-dep-of", "prerequisite"),
}

#: The conditions on the table ``message`` that the values of ``is:`` stand for.
KINDS_OF_MAIL = {
    "patch": "is_patch",
    "cover": "is_cover",
    "reply": "is_reply",
    "pull": "is_pull",
    "report": "is_report",
    "autosel": "prefixes LIKE '% AUTOSEL %'",
    "backport": "id IN (SELECT message FROM commit_ref WHERE relation = 'upstream')",
    "revert": "id IN (SELECT message FROM commit_ref WHERE relation IN"
    " ('reverts', 'partial-revert', 'reverted-upstream'))",
    "notice": "notice IS NOT NULL",
    "malformed": "malformed",
    "applicable": "applicable",
}

_TAKES_BACK = (
    "id IN (SELECT message FROM commit_ref WHERE relation IN ('reverts', 'reverted-upstream'))"
    " AND id IN (SELECT message FROM target_tree)"
)
#: As kb/undoing.py reads titles: Reapply "x", Revert "Revert "x"".
_AGAIN = (
    "(is_reapply OR revert_depth > 0 AND revert_depth % 2 = 0"
    " AND coalesce(commit_subject, clean_subject) NOT LIKE '%reapply \"%')"
)
_EVENT = {
    "nominated": "(id IN (SELECT message FROM stable_note)"
    " OR id IN (SELECT message FROM commit_ref WHERE kind = 'request'))",
    "autosel": "prefixes LIKE '% AUTOSEL %'",
    "posted": "(is_patch AND notice IS NULL AND prefixes NOT LIKE '% AUTOSEL %' AND id IN"
    " (SELECT message FROM target_tree WHERE kind = 'tag' AND tree GLOB '[0-9]*')"
    " OR id IN (SELECT message FROM attached_tree WHERE tree GLOB '[0-9]*'))",
    "queued": "(notice = 'added'"
    " OR id IN (SELECT message FROM message_place WHERE state = 'queued'))",
    "review": "notice = 'review'",
    "failed": "notice = 'failed'",
    "dropped": "notice = 'dropped'",
    "released": "(notice = 'released'"
    " OR id IN (SELECT message FROM message_place WHERE state = 'released'))",
    "reverted": f"{_TAKES_BACK} AND NOT {_AGAIN}",
    "re-applied": f"{_TAKES_BACK} AND {_AGAIN}",
}

_FIDELITIES = ("exact", "rewritten", "masked", "flattened")


class Facts(Tables):
    """Looks values up in an archive."""

    def __init__(self, archive: Archive) -> None:
        """Look into ARCHIVE, which stays open until its owner closes it."""
        super().__init__(archive)
        self._paths = Paths(archive)
        commits = Commits(archive)
        self._lookups: dict[str, Callable[[str, bool], set[int]]] = {
            "mid": self._mid,
            "m": self._part_of_mid,
            "references": self._references,
            "thread": self._thread,
            "series": self._series,
            "l": self._list,
            "lid": self._list_exact,
            "n": self._attachment,
            "dfn": self._file,
            "dfpre": lambda value, _: self._blob(value, "old_blob"),
            "dfpost": lambda value, _: self._blob(value, "new_blob"),
            "dfblob": lambda value, _: self._blob(value, "old_blob", "new_blob"),
            "patchid": lambda value, _: self._patch_id(value),
            "forpatchid": lambda value, _: self._dependency("for-patch-id", value),
            "changeid": self._change_id,
            "pr": lambda value, _: self.bugs(f"gcc:{value}"),
            "bug": lambda value, _: self.bugs(value),
            "where": lambda value, _: self.bugs(None, [value]),
            "commit": lambda value, _: commits.find(value),
            "cherry": lambda value, _: commits.cherry_picks(value),
            "link": lambda value, _: self._link(value, ("link", "link-after-cut")),
            "closes": lambda value, _: self._link(value, ("closes",)),
            "stable": lambda value, _: self._tree(value),
            "cve": lambda value, _: self._cve(value),
            "syzbot": lambda value, _: self.bugs(f"syzbot:{value}"),
            "is": lambda value, _: self.where(KINDS_OF_MAIL[value]),
            "event": lambda value, _: self.where(_EVENT[value]),
            "status": lambda value, _: self.backports(value),
            "v": lambda value, _: self._version(value),
            "src": self._source,
            "fidelity": lambda value, _: self.where(f"fidelity = {_FIDELITIES.index(value)}"),
        }
        for name, relations in _RELATIONS.items():
            self._lookups[name] = partial(_related, commits, relations)

    def look_up(self, prefix: str, value: str, quoted: bool = False) -> set[int]:
        """The messages for which the exact PREFIX has VALUE; raises FactError for a bad value."""
        return self._lookups[prefix](value.strip(), quoted)

    def where(self, condition: str, parameters: Sequence[object] = ()) -> set[int]:
        """The messages for which a condition on the table ``message`` holds."""
        return self._set(f"SELECT id FROM message WHERE {condition}", parameters)

    def within(
        self, condition: str, parameters: Sequence[object], ids: Collection[int]
    ) -> set[int]:
        """Those of IDS for which a condition on the table ``message`` holds."""
        return self._set(
            f"SELECT id FROM message WHERE id IN (SELECT value FROM json_each(?)) AND {condition}",
            (json_list(ids), *parameters),
        )

    def all(self) -> set[int]:
        """All messages of the archive."""
        return self._set("SELECT id FROM message")

    def bugs(
        self, bug: str | None, places: Iterable[str] = (), besides: Iterable[str] = ()
    ) -> set[int]:
        """The messages that name BUG (``gcc:target/89587``, ``llvm:143908``; None: any).

        Only where it stands in one of PLACES, and in some place other than BESIDES.
        """
        sql = "SELECT message FROM bug_ref WHERE 1"
        parameters: list[object] = []
        if bug is not None:
            condition, parameters = _bug_condition(bug)
            sql += f" AND {condition}"
        asked = [place for place in places if place != "own"]
        without = [*besides, *(["quoted"] if "own" in places else [])]
        if asked:
            sql += " AND place IN (SELECT value FROM json_each(?))"
            parameters.append(json_list(asked))
        if without:
            sql += " AND place NOT IN (SELECT value FROM json_each(?))"
            parameters.append(json_list(without))
        return self._set(sql, parameters)

    def strengths(self, bug: str) -> dict[int, int]:
        """How strongly each message is tied to BUG: 0 is the strongest (``bug_ref.strength``)."""
        condition, parameters = _bug_condition(bug)
        rows = self._archive.execute(
            f"SELECT message, min(strength) FROM bug_ref WHERE {condition} GROUP BY message",
            parameters,
        )
        return {int(message): int(strength) for message, strength in rows}

    def backports(self, state: str, trees: Iterable[str] = ()) -> set[int]:
        """The messages in the history of a backport that is in STATE, in TREES or in any tree."""
        from patchlore.kb.backports import backports

        names = [tree_name(tree) for tree in trees]
        if not names:
            rows = self._archive.execute(
                "SELECT tree FROM target_tree UNION SELECT tree FROM attached_tree"
                " UNION SELECT tree FROM message_place"
            )
            names = [tree for (tree,) in rows if rank(tree) is not None]
        return {
            event.message
            for tree in names
            for row in backports(self._archive, tree, states=(state,))
            for event in row.events
            if event.commit is None  # a commit of a git tree is no message
        }

    # -- single prefixes ------------------------------------------------------------

    def _mid(self, value: str, quoted: bool) -> set[int]:
        text, ordinal = _plain_mid(value), None
        if match := re.fullmatch(r"(.*@patchlore|.*)#(\d{1,6})", text, re.DOTALL):
            ordinal = int(match[2])
        found = self._set(
            "SELECT message.id FROM mid JOIN message ON message.mid = mid.id"
            " WHERE mid.text IN (?1, ?2) UNION SELECT alias.message FROM mid"
            " JOIN alias ON alias.mid = mid.id WHERE mid.text IN (?1, ?2)",
            (text, unescaped(text)),
        )
        if not found and ordinal is not None:
            found = self._set(
                "SELECT message.id FROM mid JOIN message ON message.mid = mid.id"
                " WHERE mid.text IN (?1, ?2) AND message.ordinal = ?3",
                (name := text.rpartition("#")[0], unescaped(name), ordinal - 1),
            )
        return found

    def _part_of_mid(self, value: str, quoted: bool) -> set[int]:
        mids = self._matching_all(
            "SELECT id, text FROM mid", "text", _plain_mid(value), quoted, message_id_words
        )
        return self._set(
            "SELECT id FROM message WHERE has_message_id AND mid IN"
            " (SELECT value FROM json_each(?1)) UNION SELECT message FROM alias WHERE mid IN"
            " (SELECT value FROM json_each(?1))",
            (json_list(mids),),
        )

    def _references(self, value: str, quoted: bool) -> set[int]:
        return self._set(
            "SELECT reference.message FROM mid JOIN reference ON reference.mid = mid.id"
            " WHERE mid.text IN (?1, ?2)",
            (name := _plain_mid(value), unescaped(name)),
        )

    def _thread(self, value: str, quoted: bool) -> set[int]:
        return self._set(
            "SELECT message.id FROM mid AS named JOIN mid ON mid.thread = named.thread"
            " JOIN message ON message.mid = mid.id WHERE named.text IN (?1, ?2)",
            (name := _plain_mid(value), unescaped(name)),
        )

    def _series(self, value: str, quoted: bool) -> set[int]:
        """The cover letters and patches of all revisions of the series that a mail belongs to."""
        from patchlore.kb.errors import NotFoundError
        from patchlore.kb.series import series_of

        try:
            found = series_of(self._archive, value)
        except NotFoundError:
            return set()
        return {posting.id for revision in found.revisions for posting in revision.sending.postings}

    def _list(self, value: str, quoted: bool) -> set[int]:
        lists = self._matching_all("SELECT id, name FROM list", "name", value, quoted)
        return self._set(
            "SELECT message FROM message_list WHERE list IN (SELECT value FROM json_each(?))",
            (json_list(lists),),
        )

    def _list_exact(self, value: str, quoted: bool) -> set[int]:
        return self._set(
            "SELECT message_list.message FROM list JOIN message_list ON message_list.list = list.id"
            " WHERE list.name = ? COLLATE NOCASE",
            (value.strip("<>"),),
        )

    def _attachment(self, value: str, quoted: bool) -> set[int]:
        found = self._matching_all(
            "SELECT DISTINCT filename, filename FROM attachment", "filename", value, quoted
        )
        return self._set(
            "SELECT message FROM attachment WHERE filename IN (SELECT value FROM json_each(?))",
            (json_list(found),),
        )

    def _file(self, value: str, quoted: bool) -> set[int]:
        paths = self._paths.find(value, quoted)
        return self._set(
            "SELECT message FROM file WHERE kind <> 'quoted' AND path IN"
            " (SELECT value FROM json_each(?1)) UNION SELECT message FROM file"
            " WHERE kind <> 'quoted' AND old_path IN (SELECT value FROM json_each(?1))",
            (json_list(paths),),
        )

    def _blob(self, value: str, *columns: str) -> set[int]:
        found: set[int] = set()
        for column in columns:
            condition, parameters = hex_condition(column, value)
            found |= self._set(
                f"SELECT message FROM file WHERE kind <> 'quoted' AND {column} IS NOT NULL"
                f" AND {condition}",
                parameters,
            )
        return found

    def _patch_id(self, value: str) -> set[int]:
        condition, parameters = hex_condition("patch_id", value)
        found = self.where(f"patch_id IS NOT NULL AND {condition}", parameters)
        return found | self._set(
            f"SELECT message FROM attached WHERE patch_id IS NOT NULL AND {condition}", parameters
        )

    def _dependency(self, kind: str, value: str) -> set[int]:
        return self._set(
            "SELECT message FROM dependency WHERE value IN (?, ?) AND kind = ?",
            (value, value.lower(), kind),
        )

    def _change_id(self, value: str, quoted: bool) -> set[int]:
        """b4's change-id of a series, and Gerrit's, which is a trailer."""
        return self._dependency("change-id", value) | self._set(
            "SELECT trailer.message FROM role JOIN trailer ON trailer.role = role.id"
            " WHERE role.name = 'change-id' AND trailer.value = ?",
            (value,),
        )

    def _link(self, value: str, kinds: Sequence[str]) -> set[int]:
        from urllib.parse import unquote

        urls = [value, f"https://{value}", f"http://{value}"]
        # A URL stands for itself, for what is below it, and for the mail that it names.
        named = _plain_mid(unquote(value))
        if "/" in named and "@" in named:
            named = next((part for part in named.split("/") if "@" in part), named)
        found = self._set(
            "SELECT link.message FROM mid JOIN link ON link.mid = mid.id WHERE mid.text = ?"
            " AND link.kind IN (SELECT value FROM json_each(?))",
            (named, json_list(kinds)),
        )
        for url in urls:
            found |= self._set(
                "SELECT message FROM link WHERE kind NOT IN ('url', 'mention')"
                " AND url >= ?1 AND url < ?1 || char(1114111)"
                " AND kind IN (SELECT value FROM json_each(?2))",
                (url, json_list(kinds)),
            )
        return found

    def _tree(self, value: str) -> set[int]:
        tree = tree_name(value)
        found = self._set(
            "SELECT message FROM target_tree WHERE tree = ?1"
            " UNION SELECT message FROM attached_tree WHERE tree = ?1"
            " UNION SELECT message FROM message_place WHERE tree = ?1",
            (tree,),
        )
        number = rank(tree)
        if number is not None and tree.endswith(".y"):
            found |= self._set(
                "SELECT message FROM tree_range WHERE newest >= ?1 AND oldest <= ?1"
                " UNION SELECT message FROM attached_range WHERE newest >= ?1 AND oldest <= ?1",
                (number,),
            )
        return found

    def _cve(self, value: str) -> set[int]:
        name = value.upper()
        if not name.startswith("CVE-"):
            name = f"CVE-{name}"
        return self._set("SELECT message FROM cve WHERE name = ?", (name,))

    def _version(self, value: str) -> set[int]:
        number = value.lower().removeprefix("v")
        if not number.isdecimal() or len(number) > 6:
            raise FactError(f"'v:' takes the number of a version, not '{value}'.")
        return self.where("has_tags AND version = ?", (int(number),))

    def _source(self, value: str, quoted: bool) -> set[int]:
        sources = self._ids("SELECT id FROM source WHERE format = ?1 OR list = ?1", (value,))
        sources += self._matching_all("SELECT id, path FROM source", "path", value, quoted)
        return self._set(
            "SELECT message FROM copy WHERE source IN (SELECT value FROM json_each(?))",
            (json_list(sources),),
        )


def _related(commits: Commits, relations: Sequence[str], value: str, quoted: bool) -> set[int]:
    return commits.find(value, relations)


def _plain_mid(value: str) -> str:
    """The Message-ID that is meant: without brackets, or that of a mail's URL in an archive."""
    if value.startswith(("http://", "https://")):
        return list(message_names(value))[-1]
    return value.strip().removeprefix("<").removesuffix(">")


def _bug_condition(bug: str) -> tuple[str, list[object]]:
    tracker, _, rest = bug.rpartition(":")
    component, _, number = rest.rpartition("/")
    conditions: list[str] = []
    parameters: list[object] = []
    if tracker:
        conditions.append("tracker = ?")
        parameters.append(tracker.lower())
    number = number.lstrip("#")
    number = number[2:] if number.lower().startswith("pr") else number
    if number.isdecimal() and len(number) < 18:
        conditions.append("(number = ? OR name = ?)" if tracker != "gcc" else "number = ?")
        parameters += [int(number), number] if tracker != "gcc" else [int(number)]
    elif tracker == "gcc":
        raise FactError(f"'{rest}' is no bug of GCC: write pr:83356 or pr:target/89587.")
    else:
        conditions.append("name = ?")
        parameters.append(rest)
    if component and number.isdecimal():
        conditions.append("component = ? COLLATE NOCASE")
        parameters.append(component)
    return " AND ".join(conditions), parameters

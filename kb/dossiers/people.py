"""The dossier of a person: what they wrote, reviewed, tested and reported, where and when."""

from __future__ import annotations

import email.utils
from collections.abc import Callable, Iterable

from msgspec import Struct

from patchlore.kb.columns import json_list
from patchlore.kb.dossiers.counts import NameCount, in_order, name_counts
from patchlore.kb.errors import DossierError, NotFoundError
from patchlore.kb.reading import Brief, briefs
from patchlore.kb.store import Archive

_FOUND = "(SELECT value FROM json_each(?))"

#: Somebody who was only written to has no share in a mail.
_ACTIVE = "role.name NOT IN ('to', 'cc')"


#: Tags by which one has a share in somebody else's patch.
_GAVE = "role.name LIKE '%-by' AND role.name NOT IN ('signed-off-by', 'co-developed-by')"


class Share(Struct, kw_only=True):
    """A patch, or an answer to one, that names a person by these tags (``reviewed-by``)."""

    message: Brief
    tags: list[str]


class PersonDossier(Struct, kw_only=True):
    """What is known about a person: somebody with these names and addresses.

    ``roles`` counts mails by what the person is to them: ``from``, ``author``
    (of a patch), ``to``, ``cc``, or the key of a trailer (``reviewed-by``).
    ``first`` and ``last`` are of mails that they have a share in.
    """

    names: list[str]
    addresses: list[str]
    #: Addresses that were used with the same name, but were not asked for.
    other_addresses: list[str]
    first: int | None
    last: int | None
    roles: list[NameCount]
    lists: list[NameCount]
    years: list[NameCount]
    files: list[NameCount]
    #: Stable trees that their patches were sent for.
    trees: list[NameCount]
    bugs: list[NameCount]
    cves: list[NameCount]
    #: The newest patches that they wrote, and the newest other mails.
    patches: list[Brief]
    mails: list[Brief]
    #: The newest patches of others that they reviewed, tested or reported the bug of: of each
    #: title the newest mail.
    shares: list[Share]


def person_dossier(archive: Archive, text: str, limit: int = 20) -> PersonDossier:
    """Return the dossier of the person with this address, or with this name.

    An address means itself under all its names; a name all its addresses. A
    part of a name will do where only one person has it. LIMIT (0: none) bounds
    the lists. Raises NotFoundError, which names the people who come into question.
    """
    limit = limit or -1
    rows = _find(archive, text)
    people = json_list(id_ for id_, _, _, _ in rows)
    names = _by_use(archive, rows, lambda row: row[1])
    addresses = _by_use(archive, rows, lambda row: row[2] or row[3])
    active = _messages(archive, people, _ACTIVE)
    wrote = _messages(archive, people, "role.name IN ('from', 'author')")
    # Who passes on somebody else's patch is its sender, not its author.
    patches = [
        id_
        for (id_,) in archive.execute(
            f"SELECT id FROM message WHERE id IN {_FOUND} AND is_patch"
            f" AND coalesce(author, sender) IN {_FOUND}",
            (json_list(wrote), people),
        )
    ]
    authored = json_list(patches)
    first, last = archive.execute(
        f"SELECT min(timestamp), max(timestamp) FROM message WHERE id IN {_FOUND}",
        (json_list(active),),
    ).fetchone()
    return PersonDossier(
        names=names,
        addresses=addresses,
        other_addresses=_other_addresses(archive, names, addresses),
        first=first,
        last=last,
        roles=name_counts(
            archive,
            "SELECT role.name, count(DISTINCT message) FROM message_person JOIN role"
            f" ON role.id = message_person.role WHERE person IN {_FOUND}"
            " GROUP BY role.name ORDER BY 2 DESC, 1",
            (people,),
        ),
        lists=name_counts(
            archive,
            "SELECT list.name, count(*) FROM message_list JOIN list"
            f" ON list.id = message_list.list WHERE message IN {_FOUND}"
            " GROUP BY list.name ORDER BY 2 DESC, 1 LIMIT ?",
            (json_list(wrote), limit),
        ),
        years=name_counts(
            archive,
            "SELECT strftime('%Y', timestamp, 'unixepoch') AS year, count(*) FROM message"
            f" WHERE id IN {_FOUND} GROUP BY year ORDER BY year",
            (json_list(wrote),),
        ),
        files=name_counts(
            archive,
            "SELECT path.text, count(DISTINCT message) FROM file JOIN path ON path.id = file.path"
            f" WHERE message IN {_FOUND} AND kind = 'own'"
            " GROUP BY path.id ORDER BY 2 DESC, 1 LIMIT ?",
            (authored, limit),
        ),
        trees=name_counts(
            archive,
            f"SELECT tree, count(DISTINCT message) FROM target_tree WHERE message IN {_FOUND}"
            " GROUP BY tree ORDER BY 2 DESC, 1 LIMIT ?",
            (authored, limit),
        ),
        bugs=name_counts(
            archive,
            "SELECT CASE tracker WHEN 'gcc' THEN 'PR ' || number"
            " ELSE tracker || ' ' || coalesce(number, name) END AS bug, count(DISTINCT message)"
            f" FROM bug_ref WHERE message IN {_FOUND} AND strength <= 2"
            " GROUP BY bug ORDER BY 2 DESC, bug LIMIT ?",
            (json_list(wrote), limit),
        ),
        cves=name_counts(
            archive,
            f"SELECT name, count(*) FROM cve WHERE message IN {_FOUND}"
            " GROUP BY name ORDER BY 2 DESC, name DESC LIMIT ?",
            (json_list(wrote), limit),
        ),
        patches=_newest(archive, patches, limit),
        mails=_newest(archive, set(wrote).difference(patches), limit),
        shares=_shares(archive, people, limit),
    )


_Row = tuple[int, str, str, str]


def _find(archive: Archive, text: str) -> list[_Row]:
    """The rows of ``person`` (id, name, address, masked address) that are meant."""
    name, address = email.utils.parseaddr(text)
    if "@" in address:
        found = _people(archive, "email = ?1 OR masked = ?1 COLLATE NOCASE", address.lower())
        if found:
            return found
        raise NotFoundError(f"Nobody in the archive has the address {address}.")
    name = " ".join((name or text).split())
    found = _people(archive, "name = ? COLLATE NOCASE", name) if name else []
    if found:
        return _with_addresses(archive, found)
    words = [word for word in name.lower().split() if word]
    if not words:
        raise DossierError("Give a name or an address.")
    likely = [
        row
        for row in _people(archive, "name LIKE ? ESCAPE '!'", f"%{_escaped(max(words, key=len))}%")
        if all(word in row[1].lower() for word in words)
    ]
    people = {row[2] or row[1].lower(): row for row in likely}
    alike = {row[1].lower() for row in likely}
    if likely and (len(people) == 1 or len(alike) == 1):
        return _with_addresses(archive, likely)
    if not likely:
        raise NotFoundError(f"Nobody in the archive is called {text}.")
    raise NotFoundError(
        f"Several people are called {text}: {_candidates(archive, likely)}."
        " Give the whole name or an address."
    )


def _people(archive: Archive, condition: str, value: str) -> list[_Row]:
    return archive.execute(
        f"SELECT id, name, email, masked FROM person WHERE {condition}", (value,)
    ).fetchall()


def _with_addresses(archive: Archive, rows: list[_Row]) -> list[_Row]:
    """ROWS and the other spellings of their addresses.

    Mails that were sent on have somebody else's name beside an address: a
    spelling has to share a word with the name, or to be none.
    """
    found = {row[0]: row for row in rows}
    words = {word for row in rows for word in row[1].lower().split() if len(word) > 2}
    for address in {row[2] for row in rows if row[2]}:
        for row in _people(archive, "email = ?", address):
            if not row[1] or words.intersection(row[1].lower().split()):
                found[row[0]] = row
    return list(found.values())


def _escaped(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _candidates(archive: Archive, rows: list[_Row]) -> str:
    """Those who come into question, who has a share in the most mails first."""
    counts: dict[str, int] = {}
    for id_, name, address, masked in rows:
        shown = f"{name} <{address or masked}>"
        number = archive.value(
            "SELECT count(DISTINCT message) FROM message_person WHERE person = ?", (id_,)
        )
        counts[shown] = counts.get(shown, 0) + number
    ordered = sorted(counts, key=lambda shown: (-counts[shown], shown))
    more = f" and {len(ordered) - 8} more" if len(ordered) > 8 else ""
    return ", ".join(ordered[:8]) + more


def _messages(archive: Archive, people: str, condition: str) -> list[int]:
    return [
        id_
        for (id_,) in archive.execute(
            "SELECT DISTINCT message FROM message_person JOIN role"
            f" ON role.id = message_person.role WHERE person IN {_FOUND} AND {condition}",
            (people,),
        )
    ]


def _other_addresses(archive: Archive, names: list[str], addresses: list[str]) -> list[str]:
    """Addresses with one of NAMES, if it is a whole name: "Ada" may be anybody."""
    whole = [name for name in names if " " in name]
    found = archive.execute(
        f"SELECT DISTINCT email FROM person WHERE name IN {_FOUND} AND email <> '' ORDER BY email",
        (json_list(whole),),
    )
    return [address for (address,) in found if address not in addresses]


def _newest(archive: Archive, ids: Iterable[int], limit: int) -> list[Brief]:
    rows = archive.execute(
        f"SELECT id FROM message WHERE id IN {_FOUND} ORDER BY timestamp DESC, id DESC LIMIT ?",
        (json_list(ids), limit),
    )
    return in_order(archive, (id_ for (id_,) in rows))


def _shares(archive: Archive, people: str, limit: int) -> list[Share]:
    rows = archive.execute(
        "SELECT id, tags FROM (SELECT message.id, message.timestamp, group_concat(role.name) AS"
        " tags, row_number() OVER (PARTITION BY coalesce(title_hash, -message.id)"
        " ORDER BY timestamp DESC, message.id DESC) AS place FROM (SELECT DISTINCT message, role"
        f" FROM message_person WHERE person IN {_FOUND}) AS named JOIN role ON role.id = named.role"
        f" JOIN message ON message.id = named.message WHERE {_GAVE} AND notice IS NULL"
        " GROUP BY message.id) WHERE place = 1 ORDER BY timestamp DESC, id DESC LIMIT ?",
        (people, limit),
    ).fetchall()
    shown = briefs(archive, [id_ for id_, _ in rows])
    return [
        Share(message=shown[id_], tags=sorted(tags.split(",")))
        for id_, tags in rows
        if id_ in shown
    ]


def _by_use(archive: Archive, rows: list[_Row], value: Callable[[_Row], str]) -> list[str]:
    """The values of ROWS, the one that stands in the most mails first."""
    counts: dict[str, int] = {}
    for row in rows:
        if value(row):
            number = archive.value(
                "SELECT count(*) FROM message_person WHERE person = ?", (row[0],)
            )
            counts[value(row)] = counts.get(value(row), 0) + number
    return sorted(counts, key=lambda name: (-counts[name], name))

"""The dossier of a file or a folder: patches that touch it, who wrote them, what they fix."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchlore.kb.columns import json_list
from patchlore.kb.dossiers.counts import NameCount, in_order, name_counts
from patchlore.kb.dossiers.touches import FileTouch, count_touches, touches
from patchlore.kb.errors import DossierError, NotFoundError
from patchlore.kb.reading import Brief, briefs
from patchlore.kb.store import Archive
from patchlore.kb.trees import trees_of

_FOUND = "(SELECT value FROM json_each(?))"


class FileCommit(Struct, kw_only=True):
    """An upstream commit whose backports touch the file, and the trees they were sent for."""

    sha: str
    subject: str | None
    trees: list[str]
    message: Brief


class FileFix(Struct, kw_only=True):
    """A patch to the file that fixes an earlier commit."""

    sha: str
    subject: str | None
    message: Brief


class Rename(Struct, kw_only=True):
    """The file under another name, and the patch that renames or copies it."""

    status: str
    old_path: str
    new_path: str
    message: Brief


class FileDossier(Struct, kw_only=True):
    """What is known about a file, or about a folder and all that is below it.

    ``patches`` are mails that change it, ``quotations`` mails that only quote
    such a change, ``git_commits`` commits of git trees that change it; lists hold
    the newest or the most frequent up to a limit.
    """

    path: str
    is_folder: bool
    patches: int
    quotations: int
    first: int | None
    last: int | None
    #: What lies directly in a folder, with a "/" at the end of folders.
    below: list[NameCount]
    authors: list[NameCount]
    functions: list[NameCount]
    bugs: list[NameCount]
    cves: list[NameCount]
    renames: list[Rename]
    commits: list[FileCommit]
    fixes: list[FileFix]
    latest: list[Brief]
    git_commits: int
    latest_commits: list[FileTouch]


def file_dossier(archive: Archive, path: str, limit: int = 20) -> FileDossier:
    """Return the dossier of the file or folder with this path, or with this end of a path.

    LIMIT (0: none) bounds the lists. Raises NotFoundError, which names paths
    that are like it.
    """
    limit = limit or -1
    path, is_folder, paths = _find(archive, path)
    asked = json_list(paths)
    own = [
        id_
        for (id_,) in archive.execute(
            f"SELECT message FROM file WHERE kind <> 'quoted' AND path IN {_FOUND}"
            f" UNION SELECT message FROM file WHERE kind <> 'quoted' AND old_path IN {_FOUND}",
            (asked, asked),
        )
    ]
    quoting = archive.value(
        f"SELECT count(DISTINCT message) FROM file WHERE path IN {_FOUND} AND kind = 'quoted'"
        f" AND message NOT IN {_FOUND}",
        (asked, json_list(own)),
    )
    found = json_list(own)
    newest = archive.execute(
        f"SELECT id, timestamp FROM message WHERE id IN {_FOUND} ORDER BY timestamp DESC, id DESC",
        (found,),
    ).fetchall()
    times = [time for _, time in newest if time is not None]
    return FileDossier(
        path=path,
        is_folder=is_folder,
        patches=len(own),
        quotations=quoting,
        first=times[-1] if times else None,
        last=times[0] if times else None,
        below=_below(archive, path, paths, limit) if is_folder else [],
        authors=_authors(archive, found, limit),
        functions=_functions(archive, asked, limit),
        bugs=name_counts(
            archive,
            "SELECT CASE tracker WHEN 'gcc' THEN 'PR ' || number"
            " ELSE tracker || ' ' || coalesce(number, name) END AS bug, count(DISTINCT message)"
            f" FROM bug_ref WHERE message IN {_FOUND} AND strength <= 2"
            " GROUP BY bug ORDER BY 2 DESC, bug LIMIT ?",
            (found, limit),
        ),
        cves=name_counts(
            archive,
            f"SELECT name, count(*) FROM cve WHERE message IN {_FOUND}"
            " GROUP BY name ORDER BY 2 DESC, name DESC LIMIT ?",
            (found, limit),
        ),
        renames=_renames(archive, asked, limit),
        commits=_commits(archive, found, limit),
        fixes=_fixes(archive, found, limit),
        latest=in_order(archive, (id_ for id_, _ in newest[: limit if limit > 0 else None])),
        git_commits=count_touches(archive, asked),
        latest_commits=touches(archive, asked, limit),
    )


def _find(archive: Archive, text: str) -> tuple[str, bool, list[int]]:
    """The path that is meant, whether it is a folder, and the rows of ``path`` in it."""
    path = text.strip().removeprefix("./").lstrip("/")
    if not path:
        raise DossierError("Give the path of a file or a folder.")
    if not path.endswith("/"):
        row = archive.value("SELECT id FROM path WHERE text = ?", (path,))
        if row is not None:
            return path, False, [row]
    folder = path.rstrip("/") + "/"
    below = [
        id_
        for (id_,) in archive.execute(
            # "0" is the character behind "/".
            "SELECT id FROM path WHERE text >= ? AND text < ?",
            (folder, folder[:-1] + "0"),
        )
    ]
    if below and folder != "/":
        return folder, True, below
    ends = _ends_with(archive, "/" + path.rstrip("/")) if path.strip("/") else []
    if len(ends) == 1:
        return ends[0][1], False, [ends[0][0]]
    like = ends or _like(archive, path.rstrip("/").rpartition("/")[2])
    hint = f" There are: {', '.join(name for _, name in like[:8])}." if like else ""
    raise NotFoundError(f"No patch and no commit in the archive touches {text}.{hint}")


def _ends_with(archive: Archive, end: str) -> list[tuple[int, str]]:
    return archive.execute(
        "SELECT id, text FROM path WHERE substr(text, -length(?1)) = ?1 ORDER BY text", (end,)
    ).fetchall()


def _like(archive: Archive, name: str) -> list[tuple[int, str]]:
    """Paths whose last part is like NAME."""
    import difflib

    if not name:
        return []
    by_name: dict[str, list[tuple[int, str]]] = {}
    for id_, text in archive.execute("SELECT id, text FROM path"):
        by_name.setdefault(text.rpartition("/")[2], []).append((id_, text))
    close = difflib.get_close_matches(name, by_name, n=5, cutoff=0.75)
    return [path for other in close for path in sorted(by_name[other])[:3]]


def _below(archive: Archive, folder: str, paths: Sequence[int], limit: int) -> list[NameCount]:
    """What lies directly in a folder, by the patches that touch it."""
    return name_counts(
        archive,
        "SELECT CASE WHEN instr(rest, '/') THEN substr(rest, 1, instr(rest, '/')) ELSE rest END"
        " AS child, count(DISTINCT message) FROM (SELECT substr(path.text, ?) AS rest,"
        " file.message FROM path JOIN file ON file.path = path.id"
        f" WHERE path.id IN {_FOUND} AND file.kind <> 'quoted')"
        " GROUP BY child ORDER BY 2 DESC, child LIMIT ?",
        (len(folder) + 1, json_list(paths), limit),
    )


def _authors(archive: Archive, found: str, limit: int) -> list[NameCount]:
    return name_counts(
        archive,
        "SELECT max(CASE WHEN name <> '' THEN name || ' <' || coalesce(nullif(email, ''), masked)"
        " || '>' ELSE email END), count(*) FROM message JOIN person"
        f" ON person.id = coalesce(author, sender) WHERE message.id IN {_FOUND}"
        " GROUP BY coalesce(nullif(email, ''), name) ORDER BY 2 DESC, 1 LIMIT ?",
        (found, limit),
    )


def _functions(archive: Archive, paths: str, limit: int) -> list[NameCount]:
    """The hunk headers of changes, the most frequent first."""
    counts: dict[str, int] = {}
    for (text,) in archive.execute(
        f"SELECT functions FROM file WHERE path IN {_FOUND} AND kind = 'own'"
        " AND functions IS NOT NULL",
        (paths,),
    ):
        for name in set(text.split("\n")):
            if name.strip():
                counts[name.strip()] = counts.get(name.strip(), 0) + 1
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return [
        NameCount(name=name, messages=counts[name])
        for name in ordered[: limit if limit > 0 else None]
    ]


def _renames(archive: Archive, paths: str, limit: int) -> list[Rename]:
    rows = archive.execute(
        "SELECT file.message, file.status, old.text, new.text FROM file"
        " JOIN path AS old ON old.id = file.old_path JOIN path AS new ON new.id = file.path"
        " JOIN message ON message.id = file.message"
        f" WHERE (file.path IN {_FOUND} OR file.old_path IN {_FOUND}) AND file.kind = 'own'"
        " AND file.status IN ('renamed', 'copied') AND old.text <> new.text"
        " ORDER BY message.timestamp DESC LIMIT ?",
        (paths, paths, limit),
    ).fetchall()
    shown = briefs(archive, (row[0] for row in rows))
    return [
        Rename(status=status, old_path=old, new_path=new, message=shown[id_])
        for id_, status, old, new in rows
    ]


def _commits(archive: Archive, found: str, limit: int) -> list[FileCommit]:
    rows = archive.execute(
        "SELECT primary_upstream, id, timestamp, coalesce(commit_subject, clean_subject)"
        f" FROM message WHERE id IN {_FOUND} AND is_patch AND primary_upstream IS NOT NULL"
        " ORDER BY timestamp DESC, id DESC",
        (found,),
    ).fetchall()
    first: dict[str, tuple[int, str | None]] = {}
    mails: dict[str, list[tuple[int, int | None]]] = {}
    for sha, id_, timestamp, subject in rows:
        if sha not in first and 0 <= limit <= len(first):
            continue
        first.setdefault(sha, (id_, subject))
        mails.setdefault(sha, []).append((id_, timestamp))
    shown = briefs(archive, (id_ for id_, _ in first.values()))
    return [
        FileCommit(
            sha=sha,
            subject=subject,
            trees=list(
                dict.fromkeys(
                    tree
                    for message, time in mails[sha]
                    for tree in trees_of(archive, message, time)
                )
            ),
            message=shown[id_],
        )
        for sha, (id_, subject) in first.items()
    ]


def _fixes(archive: Archive, found: str, limit: int) -> list[FileFix]:
    rows = archive.execute(
        "SELECT r.sha, r.subject, min(r.message) FROM commit_ref AS r JOIN message AS m"
        f" ON m.id = r.message WHERE r.message IN {_FOUND} AND r.relation = 'fixes'"
        " AND m.is_patch AND NOT r.quoted GROUP BY substr(r.sha, 1, 12), m.title_hash"
        " ORDER BY max(m.timestamp) DESC LIMIT ?",
        (found, limit),
    ).fetchall()
    shown = briefs(archive, (row[2] for row in rows))
    return [FileFix(sha=sha, subject=subject, message=shown[id_]) for sha, subject, id_ in rows]

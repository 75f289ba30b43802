"""The statements of the fact tables, and the rows of one message for them."""

from __future__ import annotations

from patchlore.kb.interning import MessageIds, Names
from patchlore.kb.shaping import Shaped

#: Ancestors beyond these are left out: a mail with thousands is a damaged or hostile one.
_MAX_REFERENCES = 1000

#: The columns that are written of each table.
COLUMNS = {
    "reference": "message, position, mid",
    "message_person": "message, role, person",
    "trailer": "message, position, role, value",
    "message_list": "list, message",
    "commit_ref": (
        "message, relation, position, sha, subject, form, kind, tree, quoted, line, rule, text,"
        " confidence"
    ),
    "bug_ref": (
        "message, tracker, component, number, name, place, strength, line, rule, text, confidence"
    ),
    "link": "message, position, kind, url, mid",
    "file": (
        "message, position, kind, path, old_path, status, added, removed, is_binary, combined,"
        " old_blob, new_blob, old_mode, new_mode, functions"
    ),
    "target_tree": "tree, message, kind",
    "tree_range": "message, newest, oldest",
    "stable_note": "message, position, range, low, high, after, comment, text, line",
    "taken": "message, line, text",
    "shortlog": "title_hash, message, line",
    "cve": "name, message",
    "vulnerability": (
        "message, position, cve, introduced_version, introduced, fixed_version, fixed,"
        " is_rejected, line, text"
    ),
    "gcc_commit": "name, message",
    "dependency": "message, position, kind, value",
    "attachment": "message, position, filename, content_type, size, href, is_patch",
    "page": "message, url, prev, next",
    "defect": "message, position, code, line, text",
    "attached": (
        "message, position, subject, author, version, part, parts, prefixes, applicable,"
        " patch_id, primary_upstream"
    ),
    "attached_tree": "tree, message, position",
    "attached_range": "message, position, newest, oldest",
    "attached_ref": (
        "message, position, number, relation, sha, subject, kind, line, rule, text, confidence"
    ),
}

#: The tables that are emptied for a message whose facts are redone; its lists
#: stay, since copies of lesser fidelity put it on theirs.
FACT_TABLES = tuple(table for table in COLUMNS if table != "message_list")

#: The statement that fills each table.
INSERTS = {
    table: (
        f"INSERT OR IGNORE INTO {table} ({columns})"
        f" VALUES ({', '.join('?' * (columns.count(',') + 1))})"
    )
    for table, columns in COLUMNS.items()
}


def fact_rows(
    rows: dict[str, list[tuple[object, ...]]],
    message: int,
    shaped: Shaped,
    names: Names,
    mids: MessageIds,
    own_mid: int,
) -> None:
    """Append the rows of one message to ``rows`` (table to rows) and join its thread."""
    people, paths, roles = names.people.id_of, names.paths.id_of, names.roles.id_of
    for position, text in enumerate(shaped.references[-_MAX_REFERENCES:]):
        mid = mids.id_of(text)
        mids.join(own_mid, mid)
        rows["reference"].append((message, position, mid))
    rows["message_person"].extend(
        (message, roles((role,)), people(person)) for role, person in shaped.people
    )
    rows["trailer"].extend(
        (message, position, roles((key,)), value) for position, key, value in shaped.trailers
    )
    rows["link"].extend(
        (message, position, kind, url, mids.id_of(named) if named else None)
        for position, kind, url, named in shaped.links
    )
    rows["file"].extend(
        (
            message,
            position,
            kind,
            paths((path,)),
            paths((old_path,)) if old_path else None,
            *columns,
        )
        for position, kind, path, old_path, columns in shaped.files
    )
    rows["target_tree"].extend((tree, message, kind) for tree, kind in shaped.trees)
    if shaped.tree_range is not None:
        rows["tree_range"].append((message, *shaped.tree_range))
    if shaped.page is not None:
        rows["page"].append((message, *shaped.page))
    if shaped.taken is not None:
        rows["taken"].append((message, *shaped.taken))
    for item in shaped.attached:
        author = people(item.author) if item.author is not None else None
        rows["attached"].append((message, item.position, item.subject, author, *item.columns))
        rows["attached_tree"].extend((tree, message, item.position) for tree in item.trees)
        if item.tree_range is not None:
            rows["attached_range"].append((message, item.position, *item.tree_range))
        rows["attached_ref"].extend((message, item.position, *row) for row in item.refs)
    rows["shortlog"].extend((title, message, line) for title, line in shaped.shortlog)
    rows["cve"].extend((name, message) for name in shaped.cves)
    rows["gcc_commit"].extend((name, message) for name in shaped.gcc_commits)
    for table, values in (
        ("commit_ref", shaped.commits),
        ("bug_ref", shaped.bugs),
        ("stable_note", shaped.notes),
        ("vulnerability", shaped.vulnerabilities),
        ("dependency", shaped.dependencies),
        ("attachment", shaped.attachments),
        ("defect", shaped.defects),
    ):
        rows[table].extend((message, *row) for row in values)

"""From a Message to the rows of the fact tables: pure, so that it can run beside the parser."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

import msgspec
from msgspec import Struct

from patchlore.ingest.addresses import parse_address
from patchlore.ingest.facts.links import message_id_of
from patchlore.ingest.message import FileChange, Message, Person
from patchlore.kb.merge import PersonKey, body_hash, person_key, title_hash
from patchlore.kb.nested import (
    Attached,
    attached_mails,
    attached_rows,
    quoted_commits,
    tag_range,
    tag_trees,
)
from patchlore.kb.referring import MAX_TEXT, FoundAt, Row, bug_rows, commit_rows, is_report
from patchlore.kb.versions import note_intervals, rank, tree_name


class Shaped(Struct, kw_only=True, array_like=True):
    """The rows of one message, without row ids; the writer puts those in.

    People, paths, Message-IDs, roles and lists stand here as text.
    """

    #: Columns of `message` that need no look-up: in the order of HEAD.
    head: Row
    malformed: bool
    message_id: str | None
    aliases: list[str]
    references: list[str]
    in_reply_to: str | None
    subject: str
    timestamp: int | None
    title_hash: int | None
    body_hash: int | None
    sender: PersonKey | None
    author: PersonKey | None
    people: list[tuple[str, PersonKey]]
    trailers: list[tuple[int, str, str]]
    lists: list[str]
    commits: list[Row]
    bugs: list[Row]
    links: list[tuple[int, str, str, str | None]]
    #: (position, kind, path, old path, then the other columns)
    files: list[tuple[int, str, str, str | None, Row]]
    trees: list[tuple[str, str]]
    tree_range: tuple[int, int] | None
    notes: list[Row]
    #: (line, text) of a reply that says in free words that a patch was taken
    taken: Row | None
    #: (hash of the title, line) of a release announcement
    shortlog: list[tuple[int, int]]
    cves: list[str]
    vulnerabilities: list[Row]
    gcc_commits: list[str]
    dependencies: list[Row]
    attachments: list[Row]
    defects: list[Row]
    #: url, thread_prev, thread_next
    page: Row | None
    attached: list[Attached]
    #: What patchwork says, as JSON.
    patchwork: str | None


#: The columns of `message` that `Shaped.head` fills.
HEAD = (
    "timestamp, received, date_iso, author_date_iso, subject, clean_subject, commit_subject, "
    "title_hash, body_hash, is_patch, is_reply, is_cover, is_pull, is_reapply, is_report, "
    "malformed, applicable, flattened, has_tags, version, part, parts, prefixes, patch_id, "
    "own_commit, primary_upstream, not_upstream, revert_depth, notice, notice_tree, "
    "notice_release, queue_file, no_autosel, patchwork_id, mainline_tag, defects, unmatched"
)
HEAD_SIZE = HEAD.count(",") + 1


def shape(message: Message) -> Shaped:
    """Return the rows of a message."""
    evidence = FoundAt(message)
    title, text = title_hash(message.clean_subject), body_hash(message)
    tags, notice = message.subject_tags, message.notification
    references = [id_ for id_ in message.references if id_]
    if message.in_reply_to and message.in_reply_to not in references:
        references.append(message.in_reply_to)
    commits = list(commit_rows(message, evidence))
    if message.nested:
        commits += quoted_commits(message, commits)
    return Shaped(
        head=(
            message.timestamp,
            message.received_timestamp,
            message.date_iso,
            message.author_date_iso,
            message.subject,
            message.clean_subject,
            message.commit_subject,
            title,
            text,
            message.is_patch,
            message.is_reply,
            message.is_cover_letter,
            message.is_pull_request,
            message.is_reapply,
            is_report(message),
            message.malformed,
            message.applicable,
            message.flattened,
            tags is not None,
            tags.version if tags else None,
            tags.index if tags else None,
            tags.total if tags else None,
            f" {' '.join(tags.prefixes)} " if tags and tags.prefixes else "",
            message.patch_id,
            _sha(message.own_commit),
            _sha(message.primary_upstream),
            message.not_upstream,
            message.revert_depth,
            notice.kind if notice else None,
            tree_name(notice.tree) if notice and notice.tree else None,
            notice.release if notice else None,
            notice.queue_file if notice else None,
            message.no_autosel,
            message.patchwork_id,
            message.mainline_tag,
            len(message.defects),
            len(message.unmatched),
        ),
        malformed=message.malformed,
        message_id=message.message_id,
        aliases=[id_ for id_ in message.message_id_aliases if id_ != message.message_id],
        references=references,
        in_reply_to=message.in_reply_to,
        subject=message.subject or "",
        timestamp=message.timestamp,
        title_hash=title,
        body_hash=text,
        sender=_person(message.from_),
        author=_person(message.author),
        people=list(_people(message)),
        trailers=[
            (position, trailer_role(trailer.key), trailer.value)
            for position, trailer in enumerate(message.trailers)
            if _trailer_person(trailer.key.lower(), trailer.value) is None
        ],
        lists=list(dict.fromkeys(message.lists)),
        commits=commits,
        bugs=list(bug_rows(message, evidence)),
        links=list(_links(message)),
        files=list(_files(message)),
        trees=list(dict.fromkeys(_trees(message))),
        tree_range=tag_range(tags),
        notes=list(_notes(message, evidence)),
        taken=_taken(message, evidence),
        shortlog=list(_shortlog(message)),
        cves=_cves(message),
        vulnerabilities=list(_vulnerabilities(message, evidence)),
        gcc_commits=list(dict.fromkeys([*message.gcc_commits, *_described(message)])),
        dependencies=[
            (position, item.kind, item.value) for position, item in enumerate(message.dependencies)
        ],
        attachments=[
            (n, item.filename, item.content_type, item.size, item.href, item.is_patch)
            for n, item in enumerate(message.attachments)
        ],
        page=(
            (message.page.url, message.page.thread_prev, message.page.thread_next)
            if message.page is not None
            else None
        ),
        attached=attached_rows(message),
        patchwork=(
            msgspec.json.encode(message.patchwork).decode()
            if message.patchwork is not None
            else None
        ),
        defects=[
            (position, item.code, item.line, item.text[:MAX_TEXT])
            for position, item in enumerate(message.defects)
        ],
    )


def _sha(sha: str | None) -> str | None:
    return sha.lower() if sha else None


def _person(person: Person | None) -> PersonKey | None:
    key = person_key(person)
    return key if any(key) else None


#: Roles of the headers: a trailer of that name is somebody else's word.
HEADER_ROLES = frozenset({"from", "author", "to", "cc"})


def trailer_role(key: str) -> str:
    """Return the role of those whom a trailer names: its key, ``cc-trailer`` for ``Cc:``.

    Who stands in a ``Cc:`` of the commit message has not been sent the mail.
    """
    key = key.strip().lower()
    return f"{key}-trailer" if key in HEADER_ROLES else key


def _cves(message: Message) -> list[str]:
    place = message.source.place
    names = [*message.cves, place.cve] if place is not None and place.cve else message.cves
    return list(dict.fromkeys(name.upper() for name in names))


def _trailer_person(key: str, value: str) -> PersonKey | None:
    """The person that a trailer names: of ``…-by``, Cc and the like; None for other trailers."""
    if not (key.endswith("-by") or key in ("cc", "to", "from", "author")):
        return None
    if key == "cc" and "stable" in value:
        return None
    person = parse_address(value.partition("#")[0])
    return _person(person)


def _people(message: Message) -> Iterable[tuple[str, PersonKey]]:
    written = [
        ("from", person_key(message.from_)),
        ("author", person_key(message.author)),
        *(("to", person_key(person)) for person in message.to),
        *(("cc", person_key(person)) for person in message.cc),
        *(
            (trailer_role(trailer.key), _trailer_person(trailer.key.lower(), trailer.value))
            for trailer in message.trailers
        ),
        *(_given(text) for text in message.trailers_given),
    ]
    return [
        (role, person)
        for role, person in dict.fromkeys(written)
        if person is not None and any(person)
    ]


def _given(text: str) -> tuple[str, PersonKey | None]:
    """A tag that a reviewer gives: ``Reviewed-by: Ada Quill <ada@example.org>``."""
    key, _, value = text.partition(":")
    return trailer_role(key), _trailer_person(key.strip().lower(), value.strip())


def _links(message: Message) -> Iterable[tuple[int, str, str, str | None]]:
    position = 0
    seen: set[tuple[str, str]] = set()
    named: set[str] = set()
    ids = message.link_message_ids + [None] * (len(message.links) - len(message.link_message_ids))
    written = [
        *(("link", url, id_) for url, id_ in zip(message.links, ids, strict=False)),
        *(("link-after-cut", url, message_id_of(url)) for url in message.links_after_cut),
        *(("closes", url, message_id_of(url)) for url in message.closes),
        *(("fixes-url", url, message_id_of(url)) for url in message.fixes_urls),
        *(("url", url, None) for url in message.urls),
    ]
    for kind, url, message_id in written:
        if (kind, url) in seen:
            continue
        seen.add((kind, url))
        if message_id:
            named.add(message_id)
        yield position, kind, url, message_id
        position += 1
    for message_id in dict.fromkeys(message.mentioned_message_ids):
        if message_id not in named:
            yield position, "mention", "", message_id
            position += 1


def _files(message: Message) -> Iterable[tuple[int, str, str, str | None, Row]]:
    position = 0
    for kind, files in (("own", message.files), ("original", message.original_patch_files)):
        for file in files:
            yield position, kind, file.path, file.old_path, _file_row(file)
            position += 1
    known = {file.path for file in message.files}
    for inner in attached_mails(message) if message.nested else ():
        for file in inner.files:
            if file.path not in known:
                known.add(file.path)
                yield position, "attached", file.path, file.old_path, _file_row(file)
                position += 1
    for path in message.quoted_files:
        yield position, "quoted", path, None, (None, None, None, 0, 0, None, None, None, None, None)
        position += 1


def _file_row(file: FileChange) -> Row:
    return (
        file.status,
        file.added,
        file.removed,
        file.binary,
        file.combined,
        _sha(file.old_blob),
        _sha(file.new_blob),
        file.old_mode,
        file.new_mode,
        "\n".join(file.functions) or None,
    )


def _trees(message: Message) -> Iterable[tuple[str, str]]:
    for ref in message.upstream_refs:
        if ref.relation == "request" and ref.tree and rank(ref.tree) is not None:
            yield tree_name(ref.tree), "request"
    tags, notice = message.subject_tags, message.notification
    if notice is not None and notice.tree:
        yield tree_name(notice.tree), "notice"
    for tree in tag_trees(tags):
        yield tree, "tag"


def _taken(message: Message, evidence: FoundAt) -> Row | None:
    if not message.is_reply or not any(item.sha is None for item in message.applied):
        return None
    found = next((item for item in message.evidence if item.fact == "applied"), None)
    return None if found is None else (found.line, evidence.text(found))


def _shortlog(message: Message) -> Iterable[tuple[int, int]]:
    """The titles of a release's commits: ``git shortlog`` indents them by six blanks."""
    if message.notification is None or message.notification.kind != "released":
        return
    for number, line in enumerate(message.body.split("\n"), 1):
        if line.startswith("      ") and len(line) <= MAX_TEXT:
            title = title_hash(line)
            if title is not None:
                yield title, number


def _notes(message: Message, evidence: FoundAt) -> Iterable[Row]:
    notes = message.cc_stable
    intervals = note_intervals([(note.range, note.comment, note.text) for note in notes])
    position = 0
    for note, pieces in zip(notes, intervals, strict=True):
        said = note.text or note.range or ""
        found = evidence.of(said.lower(), "cc_stable")
        for range_, interval in pieces:
            yield (
                position,
                range_,
                interval.low if interval else None,
                interval.high if interval else None,
                note.after,
                note.comment,
                evidence.text(found) or note.text,
                found.line if found else None,
            )
            position += 1


def _described(message: Message) -> Iterable[str]:
    """Yield the hashes of GCC's commits behind their numbers: ``r12-7719-g8ca61ad148f``."""
    for item in message.evidence:
        if item.fact == "gcc_commits":
            _, mark, digits = item.text.lower().partition("-g")
            if mark and len(digits) >= 7 and not digits.strip("0123456789abcdef"):
                yield digits


def _vulnerabilities(message: Message, evidence: FoundAt) -> Iterable[Row]:
    """What ended a vulnerability where, with the sentence; a rejected CVE has one empty row."""
    record = message.cve_record
    if record is None or record.id is None:
        return
    name = record.id.upper()
    if record.rejected:
        yield 0, name, None, None, None, None, True, 0, message.subject
        return
    proofs = [item for item in message.evidence if item.fact == "cve_record"]
    # The first evidence may be of the CVE's name; those of the pairs stand in their order.
    proofs = proofs[-len(record.pairs) :] if record.pairs else []
    told = zip_longest(record.pairs, proofs[: len(record.pairs)])
    for position, (pair, proof) in enumerate(told):
        yield (
            position,
            name,
            pair.vulnerable_version,
            _sha(pair.vulnerable_sha),
            pair.fixed_version,
            _sha(pair.fixed_sha),
            False,
            None if proof is None else proof.line,
            evidence.text(proof),
        )

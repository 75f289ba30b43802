"""From a Message to the rows of the fact tables: pure, so that it can run beside the parser."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from patchlore.ingest.addresses import parse_address
from patchlore.ingest.message import (
    CONFIDENCES,
    KIND_ADDED,
    KIND_CONTEXT,
    KIND_FOREIGN,
    KIND_QUOTED,
    KIND_REMOVED,
    Confidence,
    Evidence,
    FileChange,
    Message,
    Person,
)
from patchlore.kb.merge import PersonKey, body_hash, person_key, title_hash
from patchlore.kb.versions import intervals, rank, tree_name

#: Evidence is shown in one line; a flattened mail's "line" is the whole mail.
MAX_TEXT = 300

#: How much a place proves; the order of `bug_ref.strength`.
PLACES = {
    "trailer": 0,
    "subject": 0,
    "diff-added": 1,
    "diff-removed": 1,
    "body": 2,
    "quoted": 3,
    "diff-context": 4,
}

_PLACE_OF_KIND = {
    KIND_ADDED: "diff-added",
    KIND_REMOVED: "diff-removed",
    KIND_CONTEXT: "diff-context",
    KIND_QUOTED: "quoted",
    KIND_FOREIGN: "quoted",
}


Row = tuple[object, ...]


class Shaped(Struct, kw_only=True):
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
    cves: list[str]
    gcc_commits: list[str]
    dependencies: list[Row]
    attachments: list[Row]
    defects: list[Row]


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
    evidence = _Evidence(message)
    title, text = title_hash(message.clean_subject), body_hash(message)
    tags, notice = message.subject_tags, message.notification
    regression = message.regression
    references = [id_ for id_ in message.references if id_]
    if message.in_reply_to and message.in_reply_to not in references:
        references.append(message.in_reply_to)
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
            regression is not None,
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
            (position, trailer.key.lower(), trailer.value)
            for position, trailer in enumerate(message.trailers)
            if _trailer_person(trailer.key.lower(), trailer.value) is None
        ],
        lists=list(dict.fromkeys(message.lists)),
        commits=list(_commits(message, evidence)),
        bugs=list(_bugs(message, evidence)),
        links=list(_links(message)),
        files=list(_files(message)),
        trees=list(dict.fromkeys(_trees(message))),
        tree_range=_tree_range(message),
        notes=list(_notes(message, evidence)),
        cves=list(dict.fromkeys(name.upper() for name in message.cves)),
        gcc_commits=list(dict.fromkeys(message.gcc_commits)),
        dependencies=[
            (position, item.kind, item.value) for position, item in enumerate(message.dependencies)
        ],
        attachments=[
            (n, item.filename, item.content_type, item.size, item.href, item.is_patch)
            for n, item in enumerate(message.attachments)
        ],
        defects=[
            (position, item.code, item.line, item.text[:MAX_TEXT])
            for position, item in enumerate(message.defects)
        ],
    )


class _Evidence:
    """The evidence of a message by fact, to put the line that proves it into its row."""

    def __init__(self, message: Message) -> None:
        self._by_fact: dict[str, list[Evidence]] = {}
        for item in message.evidence:
            self._by_fact.setdefault(item.fact, []).append(item)
        self._kinds = message.line_kinds

    def of(self, value: str, *facts: str) -> Evidence | None:
        """Return the evidence for ``value`` under the first of ``facts`` that has any."""
        for fact in facts:
            items = self._by_fact.get(fact, ())
            for item in items:
                if item.value == value:
                    return item
            for item in items:
                if value in item.value.lower() or value in item.text.lower():
                    return item
        return None

    def all_of(self, value: str, *facts: str) -> list[Evidence]:
        """Return each evidence for ``value`` under ``facts``."""
        return [
            item for fact in facts for item in self._by_fact.get(fact, ()) if item.value == value
        ]

    def place(self, item: Evidence) -> str | None:
        """Return the place of a diff or a quotation where the evidence stands."""
        if not 0 < item.line <= len(self._kinds):
            return None
        return _PLACE_OF_KIND.get(self._kinds[item.line - 1])


def _confidence(confidence: Confidence) -> int:
    return CONFIDENCES.index(confidence)


def _sha(sha: str | None) -> str | None:
    return sha.lower() if sha else None


def _person(person: Person | None) -> PersonKey | None:
    key = person_key(person)
    return key if any(key) else None


def _trailer_person(key: str, value: str) -> PersonKey | None:
    """The person that a trailer names: of ``…-by``, Cc and the like; None for other trailers."""
    if not (key.endswith("-by") or key in ("cc", "to", "from", "author")):
        return None
    if key == "cc" and "stable" in value:
        return None
    person = parse_address(value.partition("#")[0])
    return _person(person)


def _people(message: Message) -> Iterable[tuple[str, PersonKey]]:
    seen = set()
    written = [
        ("from", _person(message.from_)),
        ("author", _person(message.author)),
        *(("to", _person(person)) for person in message.to),
        *(("cc", _person(person)) for person in message.cc),
        *(
            (trailer.key.lower(), _trailer_person(trailer.key.lower(), trailer.value))
            for trailer in message.trailers
        ),
        *(_given(text) for text in message.trailers_given),
    ]
    for role, person in written:
        if person is not None and (role, person) not in seen:
            seen.add((role, person))
            yield role, person


def _given(text: str) -> tuple[str, PersonKey | None]:
    """A tag that a reviewer gives: ``Reviewed-by: Ada Quill <ada@example.org>``."""
    key, _, value = text.partition(":")
    return key.strip().lower(), _trailer_person(key.strip().lower(), value.strip())


def _commits(message: Message, evidence: _Evidence) -> Iterable[Row]:
    position = 0
    seen: set[tuple[str, str]] = set()

    def row(
        relation: str,
        sha: str | None,
        facts: tuple[str, ...],
        *,
        subject: str | None = None,
        form: str | None = None,
        kind: str | None = None,
        tree: str | None = None,
        quoted: bool = False,
    ) -> Iterable[Row]:
        nonlocal position
        if not sha or (relation, sha) in seen:
            return
        sha = sha.lower()
        seen.add((relation, sha))
        found = evidence.of(sha, *facts)
        yield (
            relation,
            position,
            sha,
            subject,
            form,
            kind,
            tree,
            quoted,
            found.line if found else None,
            found.rule if found else None,
            found.text[:MAX_TEXT] if found else None,
            _confidence(found.confidence) if found else 0,
        )
        position += 1

    for ref in message.upstream_refs:
        yield from row(
            "upstream",
            ref.sha,
            ("upstream_refs", "upstream_commits"),
            subject=ref.subject,
            form=ref.form,
            kind=ref.relation,
            tree=ref.tree,
        )
    for sha in message.upstream_commits:
        yield from row("upstream", sha, ("upstream_commits",), kind="backport")
    for relation, refs, fact in (
        ("fixes", message.fixes, "fixes"),
        ("fixes-after-cut", message.fixes_after_cut, "fixes_after_cut"),
        ("suggested-fix", message.suggested_fixes, "suggested_fixes"),
        ("stable-dep-of", message.stable_dep_of, "stable_dep_of"),
        ("reverts", message.reverts, "reverts"),
    ):
        for commit in refs:
            yield from row(relation, commit.sha, (fact,), subject=commit.subject)
    for sha in message.partial_reverts:
        yield from row("partial-revert", sha, ("partial_reverts", "reverts"))
    for sha in message.reverted_upstream:
        yield from row("reverted-upstream", sha, ("reverted_upstream", "reverts"))
    for note in message.cc_stable:
        for commit in note.prereqs:
            yield from row("prerequisite", commit.sha, ("cc_stable",), subject=commit.subject)
    yield from row("own", message.own_commit, ("own_commit",), subject=message.clean_subject)
    notice = message.notification
    for original in (message.original_commit, notice.original_commit if notice else None):
        yield from row("original", original, ("original_commit", "notification"))
    yield from row("base", message.base_commit, ("base_commit", "dependencies"))
    if message.regression is not None:
        yield from row(
            "first-bad",
            message.regression.first_bad_commit,
            ("regression",),
            quoted=message.regression.quoted,
        )
    for applied in message.applied:
        yield from row(
            "applied", applied.sha, ("applied",), subject=applied.title, tree=applied.tree
        )
    for mention in message.mentioned_commits:
        yield from row(
            "mention",
            mention.sha,
            ("mentioned_commits",),
            subject=mention.subject,
            kind=mention.relation,
            quoted=mention.quoted,
        )


def _bugs(message: Message, evidence: _Evidence) -> Iterable[Row]:
    for bug in message.gcc_prs:
        found = evidence.all_of(str(bug.number), "gcc_prs")
        found += [
            item
            for item in evidence.all_of(f"{bug.component}/{bug.number}", "gcc_prs")
            if item not in found
        ]
        for place, item in _match_places(bug.where, found, evidence):
            yield (
                "gcc",
                bug.component,
                bug.number,
                None,
                place,
                PLACES.get(place, PLACES["body"]),
                item.line if item else None,
                item.rule if item else None,
                item.text[:MAX_TEXT] if item else None,
                _confidence(item.confidence if item else bug.confidence),
            )
    for other in message.other_prs:
        value = str(other.number) if other.number is not None else (other.id or "")
        item = evidence.of(value.lower(), "other_prs") if value else None
        place = (evidence.place(item) if item else None) or "body"
        yield (
            other.tracker,
            other.component,
            other.number,
            other.id,
            place,
            PLACES[place],
            item.line if item else None,
            item.rule if item else None,
            item.text[:MAX_TEXT] if item else None,
            _confidence(item.confidence) if item else 0,
        )


def _match_places(
    where: list[str], found: list[Evidence], evidence: _Evidence
) -> Iterable[tuple[str, Evidence | None]]:
    """Pair each place of a bug with the first evidence that stands there.

    The kind of a line tells diff and quotation; the line tells the subject; what
    is left are the author's words, a trailer where its text starts with a key.
    """
    left = list(found)
    for place in where or ["body"]:
        item = next((item for item in left if _stands_at(item, place, evidence)), None)
        if item is None:
            item = left[0] if len(where) == 1 and left else None
        if item is not None:
            left.remove(item)
        yield place, item


def _stands_at(item: Evidence, place: str, evidence: _Evidence) -> bool:
    if place == item.rule or item.rule.endswith(f":{place}"):
        return True
    kind = evidence.place(item)
    if kind is not None or place in ("diff-added", "diff-removed", "diff-context", "quoted"):
        return kind == place
    if place == "subject" or item.line == 0:
        return place == "subject" and item.line == 0
    key, colon, _ = item.text.partition(":")
    is_trailer = bool(colon) and " " not in key.strip() and not key.strip().startswith("http")
    return is_trailer == (place == "trailer")


def _links(message: Message) -> Iterable[tuple[int, str, str, str | None]]:
    position = 0
    seen: set[tuple[str, str]] = set()
    named: set[str] = set()
    ids = message.link_message_ids + [None] * (len(message.links) - len(message.link_message_ids))
    written = [
        *(("link", url, id_) for url, id_ in zip(message.links, ids, strict=False)),
        *(("link-after-cut", url, None) for url in message.links_after_cut),
        *(("closes", url, None) for url in message.closes),
        *(("fixes-url", url, None) for url in message.fixes_urls),
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
    tags, notice = message.subject_tags, message.notification
    if notice is not None and notice.tree:
        yield tree_name(notice.tree), "notice"
    if tags is not None and tags.target_tree:
        trees = [tags.target_tree] if isinstance(tags.target_tree, str) else tags.target_tree
        for tree in trees:
            yield tree_name(tree), "tag"
        if tags.target_range:
            for end in tags.target_range.values():
                yield tree_name(end), "tag"


def _tree_range(message: Message) -> tuple[int, int] | None:
    tags = message.subject_tags
    if tags is None or not tags.target_range:
        return None
    newest = rank(tags.target_range.get("newest", ""))
    oldest = rank(tags.target_range.get("oldest", ""))
    if newest is None or oldest is None:
        return None
    return max(newest, oldest), min(newest, oldest)


def _notes(message: Message, evidence: _Evidence) -> Iterable[Row]:
    ranges = intervals([(note.range, note.text) for note in message.cc_stable])
    for position, (note, interval) in enumerate(zip(message.cc_stable, ranges, strict=True)):
        found = evidence.of((note.text or note.range or "").lower(), "cc_stable")
        yield (
            position,
            note.range,
            interval.low if interval else None,
            interval.high if interval else None,
            note.after,
            note.comment,
            note.text,
            found.line if found else None,
        )

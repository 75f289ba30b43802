"""The facts of a message: the values that the parser makes and every floor above reads.

Field names are those of the public form (``patchlore parse --json``); a fact
that is absent is ``None``, ``[]`` or ``False``, never missing.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from patchlore.ingest.bug import Bug
from patchlore.ingest.errors import Defect
from patchlore.ingest.raw import Source
from patchlore.ingest.robot import BotCommand, Robot

Confidence = Literal["certain", "high", "medium", "low"]

#: From the strongest to the weakest.
CONFIDENCES: tuple[Confidence, ...] = ("certain", "high", "medium", "low")


class Person(Struct, kw_only=True, gc=False):
    """A name and an address; a masked address is kept as shown, never as ``email``."""

    name: str | None = None
    email: str | None = None
    email_masked: str | None = None


class SubjectTags(Struct, kw_only=True, gc=False):
    """What the brackets of a subject say (``[PATCH v2 net-next 3/5]``)."""

    version: int = 1
    #: As written where it is no whole number: ``v2.1``.
    version_text: str | None = None
    index: int | None = None
    total: int | None = None
    prefixes: list[str] = []
    target_tree: str | list[str] | None = None
    #: ``{"newest": "6.17", "oldest": "5.4"}`` for ``AUTOSEL 6.17-5.4``.
    target_range: dict[str, str] | None = None


class CommitRef(Struct, kw_only=True, gc=False):
    """A commit that a tag names: ``Fixes: <sha> ("subject")``."""

    sha: str
    subject: str | None = None


class UpstreamRef(Struct, kw_only=True, gc=False):
    """A commit named by a backport marker.

    ``form`` is the slug of the notation; ``relation`` one of ``backport``,
    ``partial``, ``derived``, ``cherry-pick``, ``request``.
    """

    sha: str
    form: str
    tree: str | None = None
    relation: str = "backport"
    subject: str | None = None


class CommitMention(Struct, kw_only=True, gc=False):
    """A commit named in prose; ``relation`` ``introduced-by``, ``fixed-by`` or ``mention``."""

    sha: str
    subject: str | None = None
    relation: str = "mention"
    quoted: bool = False


class StableNote(Struct, kw_only=True, gc=False):
    """One range of a ``Cc: stable`` line; ``text`` is the note as written."""

    range: str | None = None
    prereqs: list[CommitRef] = []
    comment: str | None = None
    after: str | None = None
    text: str | None = None


class GccBug(Struct, kw_only=True, gc=False):
    """A GCC bug and where it stands.

    ``where`` holds, in order of appearance, ``subject``, ``trailer``,
    ``body``, ``quoted``, ``diff-added``, ``diff-removed``, ``diff-context``.
    """

    component: str | None = None
    number: int
    where: list[str] = []
    confidence: Confidence = "certain"


class OtherBug(Struct, kw_only=True, gc=False):
    """A bug of another tracker; syzbot and the like have an ``id`` and no number."""

    tracker: str
    component: str | None = None
    number: int | None = None
    id: str | None = None


class FileChange(Struct, kw_only=True, gc=False):
    """One file of a diff; counts are ``None`` for a binary one.

    ``status``: added, deleted, modified, renamed, copied, mode_change, submodule.
    """

    path: str
    old_path: str | None = None
    status: str = "modified"
    added: int | None = 0
    removed: int | None = 0
    binary: bool = False
    combined: bool = False
    old_blob: str | None = None
    new_blob: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    functions: list[str] = []


class Trailer(Struct, kw_only=True, gc=False):
    """A tag line of a commit message (``Reviewed-by: …``), its key as written."""

    key: str
    value: str


class Attachment(Struct, kw_only=True, gc=False):
    """An attached file; ``size`` in bytes, ``href`` where a page links it."""

    filename: str | None = None
    content_type: str | None = None
    size: int | None = None
    href: str | None = None
    is_patch: bool = False


class Unmatched(Struct, kw_only=True, gc=False):
    """A line with the word "upstream" beside a hex run that no rule knows."""

    line: int
    text: str


class Notification(Struct, kw_only=True, gc=False):
    """A notice of the stable maintainers: added, failed, review, dropped, released."""

    kind: str
    tree: str | None = None
    queue_file: str | None = None
    original_commit: str | None = None
    #: The release under review or made (``6.6.9-rc1``, ``6.6.9``).
    release: str | None = None


class Regression(Struct, kw_only=True, gc=False):
    """A test robot's finding; ``quoted`` when it stands in quoted text."""

    metric: str | None = None
    change: str | None = None
    first_bad_commit: str | None = None
    quoted: bool = False


class Dependency(Struct, kw_only=True, gc=False):
    """What a patch builds on: base-commit, prerequisite-patch-id, depends-on …

    ``message_id`` where the value names a mail, in brackets or by an archive's URL.
    """

    kind: str
    value: str
    message_id: str | None = None


class Applied(Struct, kw_only=True, gc=False):
    """A notice that a patch was taken."""

    sha: str | None = None
    title: str | None = None
    tree: str | None = None
    branch: str | None = None
    by: str | None = None


class Compiler(Struct, kw_only=True, gc=False):
    """A compiler and its version, and where it was named."""

    name: str
    version: str | None = None
    where: str = "body"


class TableRow(Struct, kw_only=True, gc=False):
    """One row of a table of measurements; an empty cell is ``None``."""

    compiler: str
    values: list[float | str | None] = []


class Table(Struct, kw_only=True, gc=False):
    """Measurements by compiler version."""

    unit: str | None = None
    columns: list[str] = []
    rows: list[TableRow] = []


class Page(Struct, kw_only=True, gc=False):
    """The archive's page that a message came from, and its neighbours in the thread.

    All three are keys of pages (ingest/sources/links.py): equal keys are one
    page. ``thread_prev`` is the mail before this one in the thread's order,
    which is not always the one it answers; it is never of another thread.
    """

    url: str
    thread_prev: str | None = None
    thread_next: str | None = None


class PatchworkCheck(Struct, kw_only=True, gc=False):
    """What a robot said of a patch in patchwork: success, warning, fail or pending."""

    context: str
    state: str
    description: str | None = None
    url: str | None = None


class Patchwork(Struct, kw_only=True, gc=False):
    """What patchwork knows of a patch beside its mail; ``related`` are Message-IDs."""

    state: str | None = None
    archived: bool = False
    commit: str | None = None
    delegate: str | None = None
    series: int | None = None
    series_name: str | None = None
    checks: list[PatchworkCheck] = []
    related: list[str] = []


class CvePair(Struct, kw_only=True, gc=False):
    """Where a vulnerability came from and what ended it there; ``None``: not known, not fixed."""

    vulnerable_version: str | None = None
    vulnerable_sha: str | None = None
    fixed_version: str | None = None
    fixed_sha: str | None = None


class CveRecord(Struct, kw_only=True, gc=False):
    """What an announcement, a CVE record or a dyad file says of a vulnerability."""

    id: str | None = None
    title: str | None = None
    rejected: bool = False
    pairs: list[CvePair] = []
    files: list[str] = []
    references: list[str] = []


class Evidence(Struct, kw_only=True, gc=False):
    """Where a fact stands: 1-based line of the body (0: headers), span in characters of it."""

    fact: str
    value: str
    line: int
    span: tuple[int, int] | None = None
    rule: str
    text: str
    confidence: Confidence = "certain"


class Rejected(Struct, kw_only=True, gc=False):
    """A candidate that was considered and not taken, and the rule that says why."""

    fact: str
    line: int
    rule: str
    text: str


# What a line of the body is; Message.line_kinds holds one of these a line.
KIND_PROSE = "t"  # the author's own words, commit messages among them
KIND_HEADER = "h"  # in-body header
KIND_QUOTED = "q"  # quoted with a mark (">", "|")
KIND_FOREIGN = "o"  # somebody else's text without marks: below "-----Original Message-----"
KIND_CUT = "c"  # the "---" line below a commit message
KIND_NOTE = "n"  # between the cut and the diff: change log, notes
KIND_STAT = "s"  # diffstat
KIND_DIFF = "d"  # header lines of a diff
KIND_HUNK = "@"  # hunk header
KIND_ADDED = "+"
KIND_REMOVED = "-"
KIND_CONTEXT = "="
KIND_BINARY = "b"  # data of a binary patch
KIND_SIGNATURE = "g"  # from "-- " on
KIND_FOOTER = "f"  # added by a list or an archive
KIND_PREAMBLE = "p"  # a robot's or a stable maintainer's frame around the patch


class Message(Struct, kw_only=True, gc=False):
    """A message with its facts. The meaning of each field: docs/facts.md."""

    source: Source
    message_id: str | None = None
    #: Further Message-ID headers of the same mail.
    message_id_aliases: list[str] = []
    in_reply_to: str | None = None
    references: list[str] = []
    subject: str | None = None
    clean_subject: str | None = None
    subject_tags: SubjectTags | None = None
    from_: Person | None = field(default=None, name="from")
    author: Person | None = None
    to: list[Person] = []
    cc: list[Person] = []
    lists: list[str] = []
    date_iso: str | None = None
    effective_date_iso: str | None = None
    author_date_iso: str | None = None
    #: Seconds since 1970 (UTC) of the effective date and of the newest Received.
    timestamp: int | None = None
    received_timestamp: int | None = None
    is_patch: bool = False
    is_reply: bool = False
    is_cover_letter: bool = False
    is_pull_request: bool = False
    is_reapply: bool = False
    body: str = ""
    #: One character a line of ``body`` (the KIND_ constants above).
    line_kinds: str = ""
    commit_message: str | None = None
    commit_subject: str | None = None
    files: list[FileChange] = []
    quoted_files: list[str] = []
    #: What a failure notice encloses: a patch, but not offered for that tree.
    original_patch_files: list[FileChange] = []
    patch_id: str | None = None
    applicable: bool = False
    malformed: bool = False
    defects: list[Defect] = []
    unmatched: list[Unmatched] = []
    trailers: list[Trailer] = []
    trailers_given: list[str] = []
    upstream_commits: list[str] = []
    upstream_refs: list[UpstreamRef] = []
    primary_upstream: str | None = None
    not_upstream: bool = False
    fixes: list[CommitRef] = []
    stable_dep_of: list[CommitRef] = []
    reverts: list[CommitRef] = []
    fixes_after_cut: list[CommitRef] = []
    links_after_cut: list[str] = []
    suggested_fixes: list[CommitRef] = []
    partial_reverts: list[str] = []
    reverted_upstream: list[str] = []
    revert_depth: int = 0
    mentioned_commits: list[CommitMention] = []
    own_commit: str | None = None
    base_commit: str | None = None
    original_commit: str | None = None
    links: list[str] = []
    link_message_ids: list[str | None] = []
    closes: list[str] = []
    fixes_urls: list[str] = []
    urls: list[str] = []
    mentioned_message_ids: list[str] = []
    cc_stable: list[StableNote] = []
    no_autosel: str | None = None
    gcc_prs: list[GccBug] = []
    other_prs: list[OtherBug] = []
    cves: list[str] = []
    reported_by: list[str] = []
    attachments: list[Attachment] = []
    nested: list[Message] = []
    patchwork_id: int | None = None
    patchwork: Patchwork | None = None
    page: Page | None = None
    flattened: bool = False
    format_flowed: bool = False
    list_tags: list[str] = []
    mainline_tag: str | None = None
    applied: list[Applied] = []
    notification: Notification | None = None
    regression: Regression | None = None
    robot: Robot | None = None
    commands: list[BotCommand] = []
    dependencies: list[Dependency] = []
    gcc_commits: list[str] = []
    compilers: list[Compiler] = []
    tables: list[Table] = []
    cve_record: CveRecord | None = None
    bug: Bug | None = None
    dep3: dict[str, str] | None = None
    recovered_headers: dict[str, str] | None = None
    evidence: list[Evidence] = []
    rejected: list[Rejected] = []

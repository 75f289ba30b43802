-- The tables of an archive (ARCHIVE/archive.sqlite), explained.
--
-- One message is one row of `message`, however many copies of it were found;
-- each copy is a row of `copy`.  What a mail says is kept twice over, each for
-- its purpose:
--
--   * `content` holds, compressed together, the raw bytes of the best copy and
--     the whole Message made of it (body, line kinds, every fact, all evidence,
--     all rejected candidates).  Showing, explaining, exporting and indexing a
--     message read this one row; nothing is ever parsed again.  Text that
--     stands in the raw mail, in the body and in the evidence is compressed as
--     one piece, so that it costs its space once.
--   * the fact tables hold what is looked up: commits, bugs, people, files,
--     trees.  They are narrow, can be rebuilt from `content`, and are deleted
--     and written anew when a better copy of the message arrives.
--
-- Conventions: a column named after a table holds its id.  Booleans are 0 or 1.
-- Times are seconds since 1970, UTC.  `confidence` is 0 certain, 1 high,
-- 2 medium, 3 low; `fidelity` is 0 exact, 1 rewritten, 2 masked, 3 flattened.
-- `line` is 1-based in the body, 0 for the headers, NULL when not known.
-- Commit ids are lower-case text, whole or abbreviated as written; they are
-- looked up by prefix: sha >= p AND sha < p || 'g'.
-- PRAGMA user_version is the version of this schema (patchlore.kb.schema).

-- Single values.  `revision` is the counter behind message.revision;
-- `dictionary` the id of the compression dictionary in use.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- Compression dictionaries, trained on the first mails of the archive.  A
-- compressed blob names its dictionary itself (zstd frame header).
CREATE TABLE dictionary (
    id   INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

-- How far each source has been read: written in the transaction that stores
-- what was read up to there.
CREATE TABLE mark (
    source TEXT PRIMARY KEY,
    state  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Message-IDs: of mails in the archive and of mails that are only referred to
-- (their placeholders in a thread).  A mail without a Message-ID has a row of
-- its own with a text made of its content, `sha256:<32 hex>@patchlore`.
-- `thread` is the smallest mid.id of all that References and In-Reply-To
-- connect; two threads become one when a mail connects them.
CREATE TABLE mid (
    id     INTEGER PRIMARY KEY,
    text   TEXT NOT NULL UNIQUE,
    thread INTEGER NOT NULL
) STRICT;
CREATE INDEX mid_thread ON mid (thread);

-- One mail.  Two really different mails under one Message-ID are two rows with
-- the same `mid`, told apart by `ordinal` (0, 1, …).  `revision` is taken from
-- one counter for the whole archive whenever the facts of a row are written or
-- redone: what must follow the archive (the text index) asks for all rows with
-- a revision above the last one that it has seen, in this order.
CREATE TABLE message (
    id             INTEGER PRIMARY KEY,
    mid            INTEGER NOT NULL REFERENCES mid (id),
    ordinal        INTEGER NOT NULL DEFAULT 0,
    has_message_id INTEGER NOT NULL,
    revision       INTEGER NOT NULL,
    best_copy      INTEGER NOT NULL, -- the copy whose facts these are
    fidelity       INTEGER NOT NULL, -- of the best copy
    timestamp      INTEGER,          -- effective date
    received       INTEGER,          -- newest Received
    date_iso       TEXT,             -- the Date header as stated, with its offset
    author_date_iso TEXT,
    subject        TEXT,
    clean_subject  TEXT,
    commit_subject TEXT,             -- of the carried patch, where it differs
    title_hash     INTEGER,          -- 64 bits of the title of the patch or mail, white space and case evened out
    body_hash      INTEGER,          -- 64 bits of the text without white space and footers
    sender         INTEGER REFERENCES person (id), -- From
    author         INTEGER REFERENCES person (id), -- of the patch
    in_reply_to    INTEGER REFERENCES mid (id),
    is_patch       INTEGER NOT NULL DEFAULT 0,
    is_reply       INTEGER NOT NULL DEFAULT 0,
    is_cover       INTEGER NOT NULL DEFAULT 0,
    is_pull        INTEGER NOT NULL DEFAULT 0,
    is_reapply     INTEGER NOT NULL DEFAULT 0,
    is_report      INTEGER NOT NULL DEFAULT 0, -- a robot's report, or one of a regression quoted
    malformed      INTEGER NOT NULL DEFAULT 0,
    applicable     INTEGER NOT NULL DEFAULT 0,
    flattened      INTEGER NOT NULL DEFAULT 0,
    has_tags       INTEGER NOT NULL DEFAULT 0, -- the subject carries a patch tag
    version        INTEGER,
    part           INTEGER,          -- 3 of [PATCH 3/5]
    parts          INTEGER,          -- 5 of [PATCH 3/5]
    prefixes       TEXT NOT NULL DEFAULT '', -- other words of the tag, a space on both sides of each: ' RFC AUTOSEL '
    patch_id       TEXT,
    own_commit     TEXT,
    primary_upstream TEXT,
    not_upstream   INTEGER NOT NULL DEFAULT 0,
    revert_depth   INTEGER NOT NULL DEFAULT 0,
    notice         TEXT,             -- added, failed, review, dropped, released
    notice_tree    TEXT,             -- 5.10.y
    notice_release TEXT,             -- 6.6.9-rc1, 6.6.9
    queue_file     TEXT,
    no_autosel     TEXT,
    patchwork_id   INTEGER,
    mainline_tag   TEXT,
    size           INTEGER NOT NULL, -- bytes of the raw mail of the best copy
    defects        INTEGER NOT NULL DEFAULT 0,
    unmatched      INTEGER NOT NULL DEFAULT 0,
    UNIQUE (mid, ordinal)
) STRICT;
CREATE UNIQUE INDEX message_revision ON message (revision);
CREATE INDEX message_timestamp ON message (timestamp);
CREATE INDEX message_title ON message (title_hash);
CREATE INDEX message_title_no_id ON message (title_hash) WHERE has_message_id = 0;
CREATE INDEX message_patch_id ON message (patch_id) WHERE patch_id IS NOT NULL;
CREATE INDEX message_notice ON message (notice, notice_tree) WHERE notice IS NOT NULL;

-- Further names of a message: second Message-ID headers, and the made-up id
-- under which it was known before a copy with a Message-ID was found.
CREATE TABLE alias (
    mid     INTEGER NOT NULL REFERENCES mid (id),
    message INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (mid, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_message ON alias (message);

-- Raw mail and Message of the best copy: zstd of msgpack [raw, Message]
-- (patchlore.kb.content).
CREATE TABLE content (
    message INTEGER PRIMARY KEY REFERENCES message (id),
    data    BLOB NOT NULL
) STRICT;

-- Where copies come from: a file or a repository.
CREATE TABLE source (
    id     INTEGER PRIMARY KEY,
    path   TEXT NOT NULL,
    format TEXT NOT NULL,
    list   TEXT NOT NULL DEFAULT '',
    UNIQUE (path, format, list)
) STRICT;

-- Each copy that was seen.  The same bytes found again in the same source are
-- the same copy (`offset` follows them when the container grows at its head).
-- Its raw mail is in `raw`; in `content` when it is the best copy; nowhere of
-- its own when `same_as` names an earlier copy with the same bytes.
CREATE TABLE copy (
    id       INTEGER PRIMARY KEY,
    message  INTEGER NOT NULL REFERENCES message (id),
    source   INTEGER NOT NULL REFERENCES source (id),
    offset   INTEGER NOT NULL DEFAULT 0,
    blob     TEXT,                  -- id of the blob in a public-inbox repository
    same_as  INTEGER REFERENCES copy (id),
    fidelity INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    digest   INTEGER NOT NULL,      -- the first 64 bits of sha256, for look-ups
    sha256   BLOB NOT NULL
) STRICT;
CREATE INDEX copy_message ON copy (message);
CREATE INDEX copy_digest ON copy (digest);

CREATE TABLE raw (
    copy INTEGER PRIMARY KEY REFERENCES copy (id),
    data BLOB NOT NULL              -- zstd
) STRICT;

-- References and In-Reply-To, nearest ancestor last.
CREATE TABLE reference (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    mid      INTEGER NOT NULL REFERENCES mid (id),
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX reference_mid ON reference (mid);

-- People as they were written: each distinct spelling is a row.  Empty text
-- stands for "not given".
CREATE TABLE person (
    id     INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,
    email  TEXT NOT NULL,           -- lower case
    masked TEXT NOT NULL,           -- as shown by an archive that masks addresses
    UNIQUE (email, name, masked)
) STRICT;
CREATE INDEX person_name ON person (name);

-- What somebody is to a message: from, author, to, cc of the headers, or the
-- lower-case key of a trailer (reviewed-by); trailers with the name of a header
-- are cc-trailer, to-trailer …: who stands in one was sent nothing.
CREATE TABLE role (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE message_person (
    message INTEGER NOT NULL REFERENCES message (id),
    role    INTEGER NOT NULL REFERENCES role (id),
    person  INTEGER NOT NULL REFERENCES person (id),
    PRIMARY KEY (message, role, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_person_person ON message_person (person, role);

-- Trailers whose value is no person (Link, Fixes, Change-Id …); those that
-- name a person are in message_person.  `role` is the lower-case key.
CREATE TABLE trailer (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    role     INTEGER NOT NULL REFERENCES role (id),
    value    TEXT NOT NULL,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX trailer_role ON trailer (role);

-- Mailing lists: of the headers and of the sources that held a copy.
CREATE TABLE list (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE message_list (
    message INTEGER NOT NULL REFERENCES message (id),
    list    INTEGER NOT NULL REFERENCES list (id),
    PRIMARY KEY (list, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_list_message ON message_list (message);

-- Commits that a message names.  `relation`:
--   upstream          a backport marker; `form` is its notation, `kind` one of
--                     backport, partial, derived, cherry-pick, request
--   fixes, fixes-after-cut, suggested-fix
--   reverts, partial-revert, reverted-upstream
--   stable-dep-of, prerequisite (named in a Cc: stable note)
--   own               the "From <sha>" of a format-patch
--   original          the sha in a notice of the stable maintainers
--   base              base-commit
--   first-bad         a report of a regression: a robot's, or #regzbot introduced; `kind`
--                     is then build, boot, performance, bisection, regzbot
--   applied           a notice that a patch was taken
--   mention           prose; `kind` is introduced-by, fixed-by or mention
CREATE TABLE commit_ref (
    id         INTEGER PRIMARY KEY,
    message    INTEGER NOT NULL REFERENCES message (id),
    relation   TEXT NOT NULL,
    position   INTEGER NOT NULL,
    sha        TEXT NOT NULL,
    subject    TEXT,
    form       TEXT,
    kind       TEXT,
    tree       TEXT,
    quoted     INTEGER NOT NULL DEFAULT 0,
    line       INTEGER,
    rule       TEXT,
    text       TEXT,
    confidence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX commit_ref_sha ON commit_ref (sha, relation);
CREATE INDEX commit_ref_message ON commit_ref (message);

-- Bugs of any tracker; one row for each place where the bug stands.  `place`:
-- subject, trailer, body, diff-added, diff-removed, diff-context, quoted.
-- `strength` sorts: 0 trailer or subject, 1 added or removed line of a patch,
-- 2 body, 3 quoted, 4 context line of a diff only.
CREATE TABLE bug_ref (
    id         INTEGER PRIMARY KEY,
    message    INTEGER NOT NULL REFERENCES message (id),
    tracker    TEXT NOT NULL,
    component  TEXT,
    number     INTEGER,
    name       TEXT,                -- the id of a tracker without numbers (syzbot)
    place      TEXT NOT NULL,
    strength   INTEGER NOT NULL,
    line       INTEGER,
    rule       TEXT,
    text       TEXT,
    confidence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX bug_ref_number ON bug_ref (tracker, number);
CREATE INDEX bug_ref_name ON bug_ref (tracker, name) WHERE name IS NOT NULL;
CREATE INDEX bug_ref_message ON bug_ref (message);

-- URLs and the Message-IDs in them.  `kind`: link, link-after-cut, closes,
-- fixes-url (tags), url (anywhere else), mention (a Message-ID that the text
-- names; url is empty).
CREATE TABLE link (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    url      TEXT NOT NULL,
    mid      INTEGER REFERENCES mid (id),
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_url ON link (url) WHERE kind NOT IN ('url', 'mention');
CREATE INDEX link_mid ON link (mid) WHERE mid IS NOT NULL;

CREATE TABLE path (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- Files of diffs.  `kind`: own (offered by this mail), quoted (path only),
-- original (what a failure notice encloses).  `functions` are the hunk
-- headers' texts, one a line.
CREATE TABLE file (
    message   INTEGER NOT NULL REFERENCES message (id),
    position  INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    path      INTEGER NOT NULL REFERENCES path (id),
    old_path  INTEGER REFERENCES path (id),
    status    TEXT,
    added     INTEGER,
    removed   INTEGER,
    is_binary INTEGER NOT NULL DEFAULT 0,
    combined  INTEGER NOT NULL DEFAULT 0,
    old_blob  TEXT,
    new_blob  TEXT,
    old_mode  TEXT,
    new_mode  TEXT,
    functions TEXT,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_path ON file (path);
CREATE INDEX file_old_path ON file (old_path) WHERE old_path IS NOT NULL;
CREATE INDEX file_old_blob ON file (old_blob) WHERE old_blob IS NOT NULL;
CREATE INDEX file_new_blob ON file (new_blob) WHERE new_blob IS NOT NULL;

-- The trees that a message is meant for.  Stable trees are written 5.10.y
-- (patchlore.kb.versions), others as in the tag (net-next).  `kind`: tag,
-- notice, request (the tree is named in the text; commit_ref.tree says for what).
CREATE TABLE target_tree (
    tree    TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES message (id),
    kind    TEXT NOT NULL,
    PRIMARY KEY (tree, message, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX target_tree_message ON target_tree (message);

-- `AUTOSEL 6.17-5.4`: every supported tree from the newest down to the oldest,
-- as ranks (patchlore.kb.versions.rank) so that a tree is found between them.
CREATE TABLE tree_range (
    message INTEGER PRIMARY KEY REFERENCES message (id),
    newest  INTEGER NOT NULL,
    oldest  INTEGER NOT NULL
) STRICT;

-- `Cc: stable` lines, a row for each range: `low` and `high` are ranks, both
-- ends included, NULL when open; a line without a range has neither.
CREATE TABLE stable_note (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    range    TEXT,
    low      INTEGER,
    high     INTEGER,
    after    TEXT,
    comment  TEXT,
    text     TEXT,
    line     INTEGER,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;

-- Titles in the shortlogs of release announcements (`Linux 6.6.9`), as
-- message.title_hash: which commits a release has.
CREATE TABLE shortlog (
    title_hash INTEGER NOT NULL,
    message    INTEGER NOT NULL REFERENCES message (id),
    line       INTEGER NOT NULL,
    PRIMARY KEY (title_hash, message, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX shortlog_message ON shortlog (message);

-- Replies that say in free words that a patch was taken ("Now queued up,
-- thanks."): the line.  Whose word counts for what, patchlore.kb.history knows.
CREATE TABLE taken (
    message INTEGER PRIMARY KEY REFERENCES message (id),
    line    INTEGER,
    text    TEXT
) STRICT;

CREATE TABLE cve (
    name    TEXT NOT NULL,          -- CVE-2024-12345
    message INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (name, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX cve_message ON cve (message);

-- Since version 4: what announcements, CVE records and dyad files say of a
-- vulnerability: where it came from and what ended it there.  Versions and commits
-- as written, NULL for what is not known or not fixed; `line` and `text` prove it.
-- A rejected CVE has one row without any of them.
CREATE TABLE vulnerability (
    message            INTEGER NOT NULL REFERENCES message (id),
    position           INTEGER NOT NULL,
    cve                TEXT NOT NULL,
    introduced_version TEXT,
    introduced         TEXT,
    fixed_version      TEXT,
    fixed              TEXT,
    is_rejected        INTEGER NOT NULL DEFAULT 0,
    line               INTEGER,
    text               TEXT,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX vulnerability_cve ON vulnerability (cve);
CREATE INDEX vulnerability_introduced ON vulnerability (introduced)
    WHERE introduced IS NOT NULL;
CREATE INDEX vulnerability_fixed ON vulnerability (fixed) WHERE fixed IS NOT NULL;

-- Commits of GCC (r12-7719, g:e3b3b59683c1): never mixed with the kernel's.
CREATE TABLE gcc_commit (
    name    TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (name, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX gcc_commit_message ON gcc_commit (message);

-- What a patch builds on: base-commit, prerequisite-patch-id, depends-on,
-- based-on, change-id, stable-base.
CREATE TABLE dependency (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_value ON dependency (value);

CREATE TABLE attachment (
    message      INTEGER NOT NULL REFERENCES message (id),
    position     INTEGER NOT NULL,
    filename     TEXT,
    content_type TEXT,
    size         INTEGER,
    href         TEXT,
    is_patch     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;

-- The page of a web archive that a message came from, and those before and
-- behind it in the thread, as keys (patchlore.ingest.sources.links): they say
-- what is a thread where mails have no References.
CREATE TABLE page (
    message INTEGER PRIMARY KEY REFERENCES message (id),
    url     TEXT NOT NULL,
    prev    TEXT,
    next    TEXT
) STRICT;
CREATE INDEX page_url ON page (url);
CREATE INDEX page_prev ON page (prev) WHERE prev IS NOT NULL;

-- What was wrong with a mail and was got over.
CREATE TABLE defect (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    code     TEXT NOT NULL,
    line     INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX defect_code ON defect (code);

-- A message with its Message-ID, thread and people as text: for those who read
-- by hand and for lists that are shown.  `message_id` is NULL when the mail
-- has none, `key` never is and names exactly one message.
CREATE VIEW mail AS
SELECT message.*,
       CASE WHEN message.has_message_id THEN mid.text END AS message_id,
       CASE WHEN message.ordinal = 0 THEN mid.text
            ELSE mid.text || '#' || (message.ordinal + 1) END AS key,
       mid.thread AS thread,
       sender.name AS sender_name,
       sender.email AS sender_email,
       sender.masked AS sender_masked,
       writer.name AS author_name,
       writer.email AS author_email,
       writer.masked AS author_masked
  FROM message
  JOIN mid ON mid.id = message.mid
  LEFT JOIN person AS sender ON sender.id = message.sender
  LEFT JOIN person AS writer ON writer.id = message.author;


-- ---- since version 2: git trees, and which mail became which commit ----------
--
-- A commit is one row of `git_commit`, in however many trees it is.  Where it is
-- (the branches that contain it, the first tags) is the same for the thousands
-- of commits between two tags: each distinct answer is one row of `git_place`,
-- and a commit names its place.  So reachability costs one number a commit
-- whatever the number of branches.

-- A tree that was read: a repository under a name that people use for it.
CREATE TABLE git_tree (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE, -- 5.10.y, mainline (patchlore.kb.versions.tree_name)
    path       TEXT NOT NULL,        -- the git directory that was read last
    state      TEXT NOT NULL DEFAULT '', -- a hash of the refs that were read last
    is_shallow INTEGER NOT NULL DEFAULT 0,
    patch_ids  INTEGER NOT NULL DEFAULT 0 -- whether they were asked for
) STRICT;

-- Branches and tags.  `stable_tree` is the tree whose branch this is (5.10.y of
-- linux-5.10.y, and of each branch of a repository read as 5.10).  `is_release`:
-- the tag names a version that is no release candidate.  A row stays when its
-- ref is gone from the repository (`sha` is then empty).
CREATE TABLE git_ref (
    id          INTEGER PRIMARY KEY,
    tree        INTEGER NOT NULL REFERENCES git_tree (id),
    kind        TEXT NOT NULL,      -- branch, tag
    name        TEXT NOT NULL,
    sha         TEXT NOT NULL,      -- the commit that it points to
    timestamp   INTEGER,            -- when the tag was made
    stable_tree TEXT,
    is_release  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tree, kind, name)
) STRICT;
CREATE INDEX git_ref_stable_tree ON git_ref (stable_tree) WHERE stable_tree IS NOT NULL;

-- A commit.  `data` is the commit object as git has it, compressed; NULL for a
-- commit that only a notice carries (tip-bot2), which `message` then names.
-- `patch_id` is git patch-id --stable of the change against the first parent.
CREATE TABLE git_commit (
    id          INTEGER PRIMARY KEY,
    sha         TEXT NOT NULL UNIQUE,
    place       INTEGER REFERENCES git_place (id), -- NULL: in no tree that was read
    message     INTEGER REFERENCES message (id),
    author      INTEGER REFERENCES person (id),
    author_time INTEGER,
    committer   INTEGER REFERENCES person (id),
    commit_time INTEGER,
    subject     TEXT NOT NULL,
    title_hash  INTEGER,
    parents     INTEGER NOT NULL DEFAULT 1, -- how many
    patch_id    TEXT,               -- '' when it was asked for and there is none
    data        BLOB
) STRICT;
CREATE INDEX git_commit_title ON git_commit (title_hash);
CREATE INDEX git_commit_patch_id ON git_commit (patch_id) WHERE patch_id IS NOT NULL;
CREATE INDEX git_commit_author ON git_commit (author);
CREATE INDEX git_commit_author_time ON git_commit (author_time);
CREATE INDEX git_commit_message ON git_commit (message) WHERE message IS NOT NULL;
CREATE INDEX git_commit_place ON git_commit (place);

-- Places.  `text` is what makes one: its rows of git_place_ref, written out.
CREATE TABLE git_place (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- `role`: branch (contains the commits of this place), tag and release (the
-- first of its tree that does; the release is no candidate).
CREATE TABLE git_place_ref (
    place INTEGER NOT NULL REFERENCES git_place (id),
    ref   INTEGER NOT NULL REFERENCES git_ref (id),
    role  TEXT NOT NULL,
    PRIMARY KEY (place, ref, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX git_place_ref_ref ON git_place_ref (ref, role);

-- What commits' messages say, as commit_ref, bug_ref, link, cve, stable_note
-- and trailer have it of mails.  `line` is 1-based in the commit message.
CREATE TABLE git_commit_ref (
    id         INTEGER PRIMARY KEY,
    git_commit INTEGER NOT NULL REFERENCES git_commit (id),
    relation   TEXT NOT NULL,
    position   INTEGER NOT NULL,
    sha        TEXT NOT NULL,
    subject    TEXT,
    form       TEXT,
    kind       TEXT,
    tree       TEXT,
    quoted     INTEGER NOT NULL DEFAULT 0,
    line       INTEGER,
    rule       TEXT,
    text       TEXT,
    confidence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX git_commit_ref_sha ON git_commit_ref (sha, relation);
CREATE INDEX git_commit_ref_commit ON git_commit_ref (git_commit);

CREATE TABLE git_bug_ref (
    id         INTEGER PRIMARY KEY,
    git_commit INTEGER NOT NULL REFERENCES git_commit (id),
    tracker    TEXT NOT NULL,
    component  TEXT,
    number     INTEGER,
    name       TEXT,
    place      TEXT NOT NULL,
    strength   INTEGER NOT NULL,
    line       INTEGER,
    rule       TEXT,
    text       TEXT,
    confidence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX git_bug_ref_number ON git_bug_ref (tracker, number);
CREATE INDEX git_bug_ref_name ON git_bug_ref (tracker, name) WHERE name IS NOT NULL;
CREATE INDEX git_bug_ref_commit ON git_bug_ref (git_commit);

-- `message_id` as text: the mail may come into the archive later.
CREATE TABLE git_link (
    git_commit INTEGER NOT NULL REFERENCES git_commit (id),
    position   INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    url        TEXT NOT NULL,
    message_id TEXT,
    PRIMARY KEY (git_commit, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX git_link_message_id ON git_link (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE git_cve (
    name       TEXT NOT NULL,
    git_commit INTEGER NOT NULL REFERENCES git_commit (id),
    PRIMARY KEY (name, git_commit)
) STRICT, WITHOUT ROWID;

CREATE TABLE git_stable_note (
    git_commit INTEGER NOT NULL REFERENCES git_commit (id),
    position   INTEGER NOT NULL,
    range      TEXT,
    low        INTEGER,
    high       INTEGER,
    after      TEXT,
    comment    TEXT,
    text       TEXT,
    line       INTEGER,
    PRIMARY KEY (git_commit, position)
) STRICT, WITHOUT ROWID;

-- Which posted patch became which commit, as each rule sees it; rules that
-- disagree both stand.  `sha` is as the rule knows it: a notice may abbreviate.
-- `rule` (patchlore.kb.edges): link, notice, patch-id, author-date, title, diff.
-- `witness` is the mail with the notice, `line` and `text` what proves it.
CREATE TABLE edge (
    message    INTEGER NOT NULL REFERENCES message (id),
    sha        TEXT NOT NULL,
    rule       TEXT NOT NULL,
    confidence INTEGER NOT NULL,
    witness    INTEGER REFERENCES message (id),
    line       INTEGER,
    text       TEXT,
    PRIMARY KEY (message, sha, rule)
) STRICT, WITHOUT ROWID;
CREATE INDEX edge_sha ON edge (sha);
CREATE INDEX edge_witness ON edge (witness) WHERE witness IS NOT NULL;


-- ---- since version 5: what stands around a mail ------------------------------
--
-- Patches attached to a mail as mails of their own form (files of git
-- format-patch, forwarded mails): each is a posting of its own, for trees of its
-- own.  `position` counts them from 0, in the order of Message.nested, those
-- inside another behind it.  Searches find the outer mail: what is not in its own
-- rows of `file` and `commit_ref` stands there as `attached` and as quoted.
CREATE TABLE attached (
    message          INTEGER NOT NULL REFERENCES message (id),
    position         INTEGER NOT NULL,
    subject          TEXT,
    author           INTEGER REFERENCES person (id),
    version          INTEGER,
    part             INTEGER,
    parts            INTEGER,
    prefixes         TEXT NOT NULL DEFAULT '',
    applicable       INTEGER NOT NULL DEFAULT 0,
    patch_id         TEXT,
    primary_upstream TEXT,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX attached_patch_id ON attached (patch_id) WHERE patch_id IS NOT NULL;

CREATE TABLE attached_tree (
    tree     TEXT NOT NULL,
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    PRIMARY KEY (tree, message, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX attached_tree_message ON attached_tree (message);

-- As tree_range, of the subject of an attached patch.
CREATE TABLE attached_range (
    message  INTEGER NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    newest   INTEGER NOT NULL,
    oldest   INTEGER NOT NULL,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;

-- The commits that an attached patch is a backport or a revert of; columns as in
-- commit_ref.  `line` is in the body of the outer mail, NULL where the attached
-- text is no part of that.
CREATE TABLE attached_ref (
    message    INTEGER NOT NULL REFERENCES message (id),
    position   INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    relation   TEXT NOT NULL,
    sha        TEXT NOT NULL,
    subject    TEXT,
    kind       TEXT,
    line       INTEGER,
    rule       TEXT,
    text       TEXT,
    confidence INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (message, position, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX attached_ref_sha ON attached_ref (sha);

-- What the folder in which a patch was found says of it: `state` queued or released
-- in `tree` 6.6.y, `release` 6.6.9, '' while it is queued (stable-queue's layout);
-- posted for the tree of CVE-2023-90001/4.19.
CREATE TABLE message_place (
    tree    TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES message (id),
    state   TEXT NOT NULL,
    release TEXT NOT NULL,
    source  INTEGER NOT NULL REFERENCES source (id),
    PRIMARY KEY (tree, message, state, release, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_place_message ON message_place (message);

-- What patchwork knew of a message when this copy was saved, as JSON
-- (patchlore.ingest.message.Patchwork): the newest copy's counts, whichever copy
-- of the message is the best one.
CREATE TABLE patchwork (
    copy    INTEGER PRIMARY KEY REFERENCES copy (id),
    message INTEGER NOT NULL REFERENCES message (id),
    data    TEXT NOT NULL
) STRICT;
CREATE INDEX patchwork_message ON patchwork (message);

-- Index pages of archives (by day, month or thread): the mails in their order.
-- `page` is the key of a mail's page (page.url), `mid` its Message-ID where the
-- index has it; `parent` is the position of the entry that this one answers.
CREATE TABLE listing (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    list TEXT,
    kind TEXT NOT NULL               -- thread, date, subject, author
) STRICT;
CREATE TABLE listed (
    listing  INTEGER NOT NULL REFERENCES listing (id),
    position INTEGER NOT NULL,
    page     TEXT,
    mid      INTEGER REFERENCES mid (id),
    parent   INTEGER,
    subject  TEXT,
    sender   TEXT,
    PRIMARY KEY (listing, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX listed_page ON listed (page) WHERE page IS NOT NULL;
CREATE INDEX listed_mid ON listed (mid) WHERE mid IS NOT NULL;
CREATE INDEX listed_parent ON listed (listing, parent) WHERE parent IS NOT NULL;

-- The files that a commit of a git tree changes against its first parent, both
-- names of a renamed one; merges have none.
CREATE TABLE git_file (
    path       INTEGER NOT NULL REFERENCES path (id),
    git_commit INTEGER NOT NULL REFERENCES git_commit (id),
    PRIMARY KEY (path, git_commit)
) STRICT, WITHOUT ROWID;
CREATE INDEX git_file_commit ON git_file (git_commit);

-- The trees whose commits all had their files read.
CREATE TABLE git_filed (
    tree INTEGER PRIMARY KEY REFERENCES git_tree (id)
) STRICT;

"""What the modules of the edges share: the rules by name, how sure they are, what is a posting."""

from __future__ import annotations

#: Every rule, the one that proves most first.
RULES = ("link", "notice", "patch-id", "author-date", "title", "diff")

CERTAIN, HIGH, MEDIUM, LOW = range(4)

#: Mails that can become a commit: not the notices that a commit was made.
IS_POSTED = (
    "m.is_patch AND coalesce(m.notice, '') NOT IN ('added', 'failed', 'released')"
    " AND NOT EXISTS (SELECT 1 FROM git_commit AS told WHERE told.message = m.id)"
)

#: A row of table edge.
Edge = tuple[int, str, str, int, int | None, int | None, str | None]

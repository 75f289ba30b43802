"""``Event``: one thing that happened to an upstream commit in a stable tree."""

from __future__ import annotations

from msgspec import Struct

from patchlore.ingest.message import Confidence

#: The kinds of events, in the order in which a backport usually passes them.
KINDS = (
    "nominated",
    "autosel",
    "posted",
    "failed",
    "queued",
    "review",
    "dropped",
    "released",
    "reverted",
    "re-applied",
)

#: Kinds that are no happenings but conclusions: what a line of a commit or mail
#: means for a tree in which nothing has happened yet (patchlore.kb.needs).
VERDICTS = ("affected", "not-affected", "opted-out")

#: The rule by which a commit is needed since another one builds on it.
BY_DEPENDENT = "prerequisite"

#: Kinds whose mail or commit is the patch itself, unless it is a reply or another's line.
_CARRIES = frozenset(
    {
        "nominated", "autosel", "posted", "failed", "queued", "review", "re-applied", "affected",
        "opted-out",
    }
)  # fmt: skip


class Event(Struct, kw_only=True):
    """One thing that happened to an upstream commit in a tree, and the line that says so."""

    kind: str
    tree: str
    #: None where the mail names no commit and none with its title is known.
    sha: str | None
    subject: str | None
    timestamp: int | None
    #: Row id and key (Message-ID) of the mail; where a git tree says it, 0 and the
    #: commit that is the evidence.
    message: int
    key: str
    #: The evidence where it is a commit of a git tree; ``line`` is in its message.
    commit: str | None = None
    #: Which of the patches attached to the mail it is (``attached.position``, from 0);
    #: None where the mail itself is.
    attachment: int | None = None
    author: str | None = None
    by: str | None = None
    version: int | None = None
    part: int | None = None
    parts: int | None = None
    release: str | None = None
    range: str | None = None
    #: ``partial``, ``derived`` …: how the mail's patch relates to the commit.
    relation: str | None = None
    is_patch: bool = False
    applicable: bool = False
    line: int | None = None
    text: str | None = None
    rule: str | None = None
    confidence: Confidence = "certain"
    #: A conclusion in words.
    reason: str | None = None

    @property
    def names_no_tree(self) -> bool:
        """Whether this is a nomination that leaves open which trees it is for."""
        return self.kind == "nominated" and self.rule == "cc-stable" and self.range is None

    @property
    def is_about_undoing(self) -> bool:
        """Whether it tells of a revert, of what applies again, or of a drop of either."""
        return self.kind in ("reverted", "re-applied") or (
            self.kind == "dropped" and self.relation == "reverts"
        )

    @property
    def is_of_patch(self) -> bool:
        """Whether the mail or commit is the patch itself, not one that only speaks of it."""
        if self.rule == BY_DEPENDENT or (self.rule or "").startswith("reply to"):
            return False
        return self.kind in _CARRIES or (self.kind == "released" and self.is_patch)

    def words(self) -> str:
        """Return the event in words: ``picked by AUTOSEL, 115 of 124``."""
        if self.reason is not None:
            return self.reason
        place = f", {self.part} of {self.parts}" if self.part is not None and self.parts else ""
        revision = f", v{self.version}" if self.version and self.version > 1 else ""
        match self.kind:
            case "nominated":
                asked = "Cc: stable" if self.rule == "cc-stable" else "asked for"
                if self.names_no_tree:
                    asked += ", no version given"
                return f"nominated ({asked}{f' # {self.range}' if self.range else ''}){revision}"
            case "autosel":
                return f"picked by AUTOSEL{place}{revision}"
            case "posted":
                how = "posted" if self.is_patch else "named in a mail without a patch"
                return f"{how}{place}{revision}"
            case "failed":
                return "failed to apply"
            case "queued":
                return "committed, not yet released" if self.commit else "added to the queue"
            case "review":
                return f"in review{f' for {self.release}' if self.release else ''}{place}"
            case "dropped":
                return "dropped by the stable maintainers"
            case "released":
                return f"released in {self.release}" if self.release else "released"
            case "re-applied":
                again = f" in {self.release}" if self.release else ""
                return f"applied again{again}" if self.commit else f"posted again{place}"
        return ("reverted by a commit" if self.commit else "revert posted") + place

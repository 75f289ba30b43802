"""The prefixes of the query language: their names, their synonyms, what each of them takes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

#: What stands behind the colon: words of the text index, words of people's
#: names and addresses, a span of time, a span of sizes, or one exact value.
Kind = Literal["text", "people", "time", "size", "exact"]


class Prefix(Struct, frozen=True):
    """A prefix of the query language.

    ``choices``: the only values allowed, if there are only some.  ``either``:
    several of one kind side by side mean any of them, as Xapian does for
    identifiers, since no mail can have both.
    """

    name: str
    kind: Kind
    help: str
    choices: tuple[str, ...] = ()
    either: bool = False


#: Those that take a regular expression over lines: ``dfb:/k[mz]alloc\\(/``.
CODE_PREFIXES = ("dfa", "dfb", "dfctx", "dfhh", "fn")

IS_CHOICES = (
    "patch", "cover", "reply", "pull", "report", "autosel", "backport", "revert", "notice",
    "malformed", "applicable",
)  # fmt: skip
#: As kb/backports.py has them, which is not loaded for every search.
STATUS_CHOICES = (
    "needed", "nominated", "in-flight", "queued", "failed", "released", "dropped", "opted-out",
    "not-affected", "reverted", "unknown",
)  # fmt: skip
EVENT_CHOICES = (
    "nominated", "autosel", "posted", "queued", "review", "failed", "dropped", "released",
    "reverted", "re-applied",
)  # fmt: skip
FIDELITY_CHOICES = ("exact", "rewritten", "masked", "flattened")
WHERE_CHOICES = (
    "subject", "trailer", "body", "quoted", "diff-added", "diff-removed", "diff-context", "own",
)  # fmt: skip

_ALL = (
    Prefix("s", "text", "words of the subject"),
    Prefix("b", "text", "the body: prose, quoted text and diff"),
    Prefix("nq", "text", "what the author wrote: prose and diff, not quoted text"),
    Prefix("q", "text", "quoted text"),
    Prefix("bs", "text", "subject and body"),
    Prefix("dfa", "text", "removed lines of a diff; dfa:/regex/"),
    Prefix("dfb", "text", "added lines of a diff; dfb:/regex/"),
    Prefix("dfctx", "text", "context lines of a diff; dfctx:/regex/"),
    Prefix("dfhh", "text", "hunk headers; dfhh:/regex/"),
    Prefix("fn", "text", "function of a hunk header, its whole name or a part; fn:/regex/"),
    Prefix("dfn", "exact", "file of a diff: a path, or words of it"),
    Prefix("n", "exact", "name of an attachment"),
    Prefix("f", "people", "From"),
    Prefix("t", "people", "To"),
    Prefix("c", "people", "Cc"),
    Prefix("tc", "people", "To or Cc"),
    Prefix("a", "people", "From, To or Cc"),
    Prefix("author", "people", "From, or the author of the patch where that is somebody else"),
    Prefix("tag", "people", "anybody named by a trailer"),
    Prefix("d", "time", "date of sending: d:20180101..20180401, d:2.weeks.ago.., d:2020-02-14"),
    Prefix("dt", "time", "date of sending to the second: dt:20200214120000.."),
    Prefix("rt", "time", "date of receiving"),
    Prefix("z", "size", "size in bytes: z:10k..1m"),
    Prefix("l", "exact", "words of a list's id"),
    Prefix("lid", "exact", "list id, exact", either=True),
    Prefix("m", "exact", "part of the Message-ID"),
    Prefix("mid", "exact", "Message-ID, exact", either=True),
    Prefix("references", "exact", "Message-ID that is replied or referred to"),
    Prefix("thread", "exact", "all messages of the thread of this Message-ID"),
    Prefix("dfpre", "exact", "blob id before the change", either=True),
    Prefix("dfpost", "exact", "blob id after the change", either=True),
    Prefix("dfblob", "exact", "blob id before or after the change", either=True),
    Prefix("patchid", "exact", "git patch-id --stable", either=True),
    Prefix("forpatchid", "exact", "X-For-Patch-ID: a reply about the patch with this id"),
    Prefix("changeid", "exact", "change-id of a series"),
    Prefix("pr", "exact", "GCC bug: pr:83356, pr:target/89587"),
    Prefix("bug", "exact", "bug of a tracker: bug:llvm:143908, bug:kernel:217000"),
    Prefix("where", "exact", "where the bug of pr: stands", choices=WHERE_CHOICES),
    Prefix("commit", "exact", "commit named in any way, by 7 or more digits"),
    Prefix("upstream", "exact", "upstream commit of a backport"),
    Prefix("fixes", "exact", "commit that is fixed"),
    Prefix("reverts", "exact", "commit that is reverted"),
    Prefix("cherry", "exact", "commit that was cherry-picked"),
    Prefix("dep", "exact", "commit that is needed as a dependency"),
    Prefix("link", "exact", "URL, or Message-ID in it, of a Link: tag"),
    Prefix("closes", "exact", "URL, or Message-ID in it, of a Closes: tag"),
    Prefix("stable", "exact", "stable tree: stable:4.15, stable:5.10.y"),
    Prefix("status", "exact", "state of a backport, in stable: or in any", choices=STATUS_CHOICES),
    Prefix("event", "exact", "what happened to a backport", choices=EVENT_CHOICES),
    Prefix("cve", "exact", "CVE number"),
    Prefix("syzbot", "exact", "id of a syzbot report"),
    Prefix("is", "exact", "kind of mail", choices=IS_CHOICES),
    Prefix("series", "exact", "all revisions of the series of this Message-ID"),
    Prefix("v", "exact", "version of the patch: v:2"),
    Prefix("src", "exact", "where a copy came from: path, format or list"),
    Prefix("fidelity", "exact", "how good the best copy is", choices=FIDELITY_CHOICES),
)  # fmt: skip

PREFIXES = {prefix.name: prefix for prefix in _ALL}

#: Habits from notmuch, mu and web search boxes.
SYNONYMS = {
    "from": "f",
    "to": "t",
    "cc": "c",
    "recip": "tc",
    "contact": "a",
    "tcf": "a",
    "subject": "s",
    "body": "b",
    "id": "mid",
    "msgid": "mid",
    "message-id": "mid",
    "date": "d",
    "list": "l",
    "list-id": "l",
    "file": "dfn",
    "path": "dfn",
    "attachment": "n",
    "size": "z",
    "gcc": "pr",
    "refs": "references",
    "version": "v",
    "change-id": "changeid",
    "patch-id": "patchid",
}


#: Trailers that mistakes are compared with; any other is as good, where the archive has it.
_TRAILERS = (
    "reviewed-by", "signed-off-by", "reported-by", "tested-by", "acked-by", "suggested-by",
    "co-developed-by", "reported-and-tested-by", "reviewed-and-tested-by", "debugged-by",
    "requested-by", "bisected-by",
)  # fmt: skip


def find_prefix(name: str) -> Prefix | None:
    """The prefix called NAME (any case; a synonym counts), or None.

    The name of a trailer that says what somebody did (``reviewed-by``) is a
    prefix too, of the people it names.
    """
    name = name.lower()
    found = PREFIXES.get(SYNONYMS.get(name, name))
    if found is None and name.endswith("-by"):
        return trailer_prefix(name)
    return found


def trailer_prefix(name: str) -> Prefix:
    """The prefix for the trailer NAME (``reviewed-by``)."""
    return Prefix(name.lower(), "people", f"named by the trailer {name}")


def nearest_trailer(name: str) -> str | None:
    """The trailer that NAME (``reviewd-by``) seems to be a mistake for; None for one that is."""
    import difflib

    if name.lower() in _TRAILERS:
        return None
    near = difflib.get_close_matches(name.lower(), _TRAILERS, n=1, cutoff=0.85)
    return near[0] if near else None


def nearest_prefix(name: str) -> str | None:
    """The name of the prefix that NAME was probably meant to be."""
    import difflib

    known = [*PREFIXES, *SYNONYMS, *_TRAILERS]
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    if near:
        return near[0]
    kin = [
        other
        for other in known
        if min(len(other), len(name)) > 1
        and (other.startswith(name.lower()) or name.lower().startswith(other))
    ]
    return max(kin, key=len) if kin else None
